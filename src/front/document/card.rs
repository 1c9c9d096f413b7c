//! The card of an agent (spec §8), and the one that it has for a caller (§3.1.11).
//!
//! # A card
//!
//! 1. The build makes the card of 1.0 and puts it into the Worker. `HostedAgent::cards` has it with its older forms and the skills that need permissions (`Cards`). Serving it replaces the origin (`at_origin`) and adds signatures,
//!    which are made once for each text (`front/signed.rs`), so a card takes one pass through `plan`.
//! 2. An agent that learns skills (`skills_from = ["remote"]`) has a `Learned` besides. While its sources were looked at within the last minute, its card takes the same way. Else the plan is `Need::Skills`, and
//!    `edge/front/facts/skills.rs` looks at each source: at the card of a remote by `RememberedCards` (memory, the row in D1, the server), at an agent of this Worker by its own cards, and by what that learns itself. The agents that have led there
//!    are known, so circles end. A message that such an agent would refuse for what its card does not list (`accepts = "declared"`) needs the skills first, too.
//! 3. A look polls once what is known, which waits for nothing; a value that is stale is fetched anew beside, by the instance that claims its row. While nothing is known of a source, the requests of the first two seconds
//!    wait for it within these; later ones do not, and their card is partial: clients keep it for five seconds. A look that finds everything is good for a minute, any other for two seconds.
//! 4. `LearnedSkills::show` (pure) puts the skills where their source stands, lets the agent file have the last word, and splits off those with permissions. The card for a caller, the page, older cards and signatures follow
//!    from `Cards` as for any other agent. A card that has not changed keeps its date and its older forms.
//!
//! What others say is text: `take_over` bounds it and protects the letters `{origin}` (`discovery::verbatim`), variables are expanded in the card of the build alone, and the page escapes. Another kind of source is a variant of
//! `LearnedSource`, made by `skills::learned_of` from the agent file, and an arm in `edge/front/facts/skills.rs`.

use super::PARTIAL_SECONDS;
use crate::auth::{Caller, Identity, UncheckedToken};
use crate::config::Place;
use crate::executor::HostedAgent;
use crate::front::facts::Need;
use crate::front::identify::{Request, shows_credentials};
use crate::front::plan::Plan;
use crate::front::seen::Seen;
use crate::front::signed::UnsignedCard;
use crate::signing::{CardSignatures, with_signatures};
use a2a::Outcome;
use a2a::binding::Reply;
use a2a::binding::discovery::{self, Known, ServedCard};
use a2a::binding::http::{HttpResponse, split_url};
use a2a::dialect::{CardName, Dialects, dialect_of_card};
use a2a::error::Error;

/// Decides about a request for the card of an agent.
///
/// # Errors
///
/// [`Error::MethodNotAllowed`], [`Error::VersionNotSupported`].
pub(in crate::front) fn card<'a>(
    request: Request<'a>,
    agent: &'a HostedAgent,
    name: CardName,
    seen: &mut Seen,
) -> Result<Plan, Error> {
    let Request { deployment, head, .. } = request;
    let is_head = match head.method() {
        "GET" => false,
        "HEAD" => true,
        "OPTIONS" => return Ok(Plan::Answer(head.preflight("GET, HEAD, OPTIONS"))),
        _ => return Err(Error::MethodNotAllowed("GET, HEAD, OPTIONS")),
    };
    let (origin, _, query) = split_url(head.url());
    let shown = if deployment.settings.pure_cards { &Dialects::NONE } else { &agent.dialects };
    let dialect = dialect_of_card(name, head.header("a2a-version"), query, shown)?;
    if let Some(need) = request.unlearned(agent) {
        return Ok(Plan::Need(need));
    }
    let cards = agent.cards();
    let is_personal =
        name == CardName::Agent && !dialect.is_v1() && agent.capabilities.extended_agent_card;
    if is_personal && shows_credentials(head, agent) {
        match reader(request, agent, seen)? {
            Reader::Known(caller) => {
                let card = cards.extended(&caller, dialect)?;
                let answer = |card| Ok(HttpResponse::json(200, card));
                let plan = private_card(request, &card, answer)?;
                return Ok(if is_head { without_body(plan) } else { plan });
            }
            Reader::Unchecked(tokens) => return Ok(Plan::Need(Need::Verdicts(tokens))),
            Reader::Anybody => {}
        }
    }
    let known = Known {
        etag: head.header("if-none-match").map(str::to_owned),
        modified: head.header("if-modified-since").map(str::to_owned),
    };
    let place = deployment.settings.place_of(origin);
    let body = discovery::at_origin(cards.card_in(dialect)?, place.origin);
    let mark = mark(request, place);
    let served = ServedCard::new(&body, mark.as_deref().unwrap_or_default(), &cards.date);
    let served = match (&agent.learned, cards.is_partial) {
        (None, _) => served,
        (Some(_), false) => served.fresh_for(LEARNED_SECONDS),
        (Some(_), true) => served.fresh_for(PARTIAL_SECONDS),
    };
    let served = match (&agent.policy, is_personal) {
        (Ok(policy), true) => served.varying_by(&policy.headers()),
        (Ok(_) | Err(_), _) => served,
    };
    if served.is_known(&known) {
        return Ok(Plan::Answer(served.not_modified()));
    }
    if is_head {
        return Ok(Plan::Answer(served.answer(String::new())));
    }
    match signed(request, body.clone(), place, mark.is_some()) {
        Ok(body) => Ok(Plan::Answer(served.answer(body))),
        Err(unsigned) => Ok(Plan::Need(Need::Signature(Box::new(unsigned)))),
    }
}

/// Who asks for the card under its oldest name, and shows credentials. They count in rate limits and in audits as those of
/// calls do; with bad ones everybody's card can still be had.
///
/// # Errors
///
/// [`Error::RateLimited`].
fn reader<'a>(
    request: Request<'a>,
    agent: &'a HostedAgent,
    seen: &mut Seen,
) -> Result<Reader, Error> {
    seen.note_agent(agent);
    seen.note_call();
    request.facts.check_limits()?;
    let judged = request.judge_credentials(agent);
    seen.note_judged(agent, &judged, request.facts.is_reported);
    Ok(match judged.identity {
        Identity::Caller(caller) if !caller.is_anonymous() => Reader::Known(caller),
        Identity::Pending(tokens) => Reader::Unchecked(tokens),
        Identity::Caller(_) | Identity::Refused(_) => Reader::Anybody,
    })
}

/// Decides about GetExtendedAgentCard.
///
/// # Errors
///
/// Those of [`Cards::extended`](crate::executor::Cards::extended).
pub(in crate::front) fn extended_card(
    request: Request<'_>,
    agent: &HostedAgent,
    caller: &Caller,
    reply: &Reply,
) -> Result<Plan, Error> {
    if let Some(need) = request.unlearned(agent) {
        return Ok(Plan::Need(need));
    }
    let card = agent.cards().extended(caller, reply.dialect())?;
    private_card(request, &card, |card| reply.outcome(&Outcome::Card(card)))
}

/// Decides about a card for one caller, which `answer` answers with.
///
/// # Errors
///
/// Those of `answer`.
fn private_card(
    request: Request<'_>,
    card: &str,
    answer: impl FnOnce(String) -> Result<HttpResponse, Error>,
) -> Result<Plan, Error> {
    let (origin, _, _) = split_url(request.head.url());
    let place = request.deployment.settings.place_of(origin);
    let body = discovery::at_origin(card, place.origin);
    let is_to_be_signed = mark(request, place).is_some();
    match signed(request, body, place, is_to_be_signed) {
        Ok(body) => {
            let answer = answer(body)?.with_header("cache-control", "private, no-store");
            Ok(Plan::Answer(answer))
        }
        Err(unsigned) => Ok(Plan::Need(Need::Signature(Box::new(unsigned)))),
    }
}

/// What tells a signed card at this place from others; `None` if cards are not signed there, or could not be in this
/// request.
fn mark(request: Request<'_>, place: Place<'_>) -> Option<String> {
    let keys = request.deployment.signing.as_ref();
    let keys = keys.filter(|_| place.is_ours && !request.facts.cannot_sign);
    keys.map(|keys| CardSignatures::mark(place.origin, keys))
}

/// A card, with its signatures if it is to have any.
///
/// # Errors
///
/// What has to be signed first.
fn signed(
    request: Request<'_>,
    card: String,
    place: Place<'_>,
    is_to_be_signed: bool,
) -> Result<String, UnsignedCard> {
    if !is_to_be_signed {
        return Ok(card);
    }
    let unsigned = UnsignedCard { card, origin: place.origin.to_owned() };
    match request.deployment.signed.find(&unsigned) {
        Some(member) => Ok(with_signatures(&unsigned.card, &member)),
        None => Err(unsigned),
    }
}

/// For how long clients keep a card with skills that are learned.
const LEARNED_SECONDS: u32 = 300;

fn without_body(plan: Plan) -> Plan {
    match plan {
        Plan::Answer(answer) => Plan::Answer(HttpResponse { body: String::new(), ..answer }),
        other => other,
    }
}

/// Who asks for a card.
enum Reader {
    /// This caller.
    Known(Caller),
    /// Somebody who is known when these tokens are checked.
    Unchecked(Vec<UncheckedToken>),
    /// Nobody of whom anything is known.
    Anybody,
}
