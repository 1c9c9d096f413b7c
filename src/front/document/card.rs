//! The card of an agent (spec §8), and the card for a caller (§3.1.11).
//!
//! # A card
//!
//! 1. The checker makes the card of 1.0 and puts it into the Worker. `HostedAgent::cards` returns this card with its
//!    older forms and the skills that need permissions (`Cards`). To serve the card, the front replaces the origin
//!    (`at_origin`) and adds signatures. Signatures are made once for each text (`front/signed.rs`) and then kept, so
//!    that `plan` is called only once for a card.
//! 2. An agent that learns skills (`skills_from = ["remote"]`) also has a `Learned`. If its sources were checked within
//!    the last minute, the card is served in the same way. Otherwise the plan is `Need::Skills`, and
//!    `edge/front/facts/skills.rs` checks each source. For a remote agent it gets the card by `RememberedCards`
//!    (memory, the row in D1, the server). For an agent of this Worker it uses the agent's own cards and the sources of
//!    this agent. The check knows the agents that led to a source, so that cycles end. A message that such an agent
//!    would refuse because of its card (`accepts = "declared"`) also waits for the skills first.
//! 3. A check polls the stored value once, which does not wait. A stale value is fetched again in the background, by
//!    the instance that claims its row. While nothing is stored for a source, requests within the first two seconds
//!    wait for the source until these two seconds are over. Later requests do not wait, and their card is partial:
//!    clients keep it for five seconds. If a check finds all sources known and fresh, the next check is after a minute,
//!    otherwise after two seconds.
//! 4. `LearnedSkills::show` (pure) inserts the skills at the position of their source, applies the settings of the
//!    agent file on top, and separates the skills with permissions. The card for a caller, the page, older cards and
//!    signatures follow from `Cards` as for any other agent. A card that has not changed keeps its date and its older
//!    forms.
//!
//! Text of other servers is limited by `take_over`, which also protects the letters `{origin}` (`discovery::verbatim`).
//! Variables are expanded only in the card of the checker, and the page escapes all text. To add another kind of source:
//! add a variant of `LearnedSource`, make it in `skills::learned_of` from the agent file, and handle it in
//! `edge/front/facts/skills.rs`.

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
#[inline(never)]
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
        (Ok(policy), true) => served.varying_by(&policy.access().credential_headers()),
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

/// Identifies the reader who requests the card under its oldest name, with credentials. The request and its credentials
/// count in rate limits and audits like those of a call. With wrong credentials the reader gets the public card.
///
/// # Errors
///
/// [`Error::RateLimited`].
#[inline(never)]
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
/// The errors of [`Cards::extended`](crate::executor::Cards::extended).
#[inline(never)]
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

/// Decides about a card for one caller; `answer` makes the answer from the card.
///
/// # Errors
///
/// The errors of `answer`.
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

/// The mark that distinguishes a signed card at this place from other cards; `None` if cards are not signed at this
/// place, or signing has failed in this request.
fn mark(request: Request<'_>, place: Place<'_>) -> Option<String> {
    let keys = request.deployment.signing.as_ref();
    let keys = keys.filter(|_| place.is_ours && !request.facts.cannot_sign);
    keys.map(|keys| CardSignatures::mark(place.origin, keys))
}

/// The card, with its signatures if `is_to_be_signed`.
///
/// # Errors
///
/// The card whose signatures have to be made first.
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

/// The lifetime in the caches of clients of a card with learned skills, in seconds.
const LEARNED_SECONDS: u32 = 300;

fn without_body(plan: Plan) -> Plan {
    match plan {
        Plan::Answer(answer) => Plan::Answer(HttpResponse { body: String::new(), ..answer }),
        other => other,
    }
}

/// The reader who requests a card.
enum Reader {
    /// An identified caller.
    Known(Caller),
    /// A reader whose identity depends on the check of these tokens.
    Unchecked(Vec<UncheckedToken>),
    /// An anonymous reader, or one with wrong credentials.
    Anybody,
}
