//! Documents: the card of an agent (spec §8), the one that it has for a caller (§3.1.11), and the keys of this server.
//!
//! # A card
//!
//! 1. The build makes the card of 1.0 and puts it into the Worker. `HostedAgent::cards` has it with its older forms and the skills that need permissions (`Cards`). Serving it replaces the origin (`at_origin`) and adds signatures,
//!    which are made once for each text (`signatures.rs`), so a card takes one pass through `plan`.
//! 2. An agent that learns skills (`skills_from = ["remote"]`) has a `Learned` besides. While its sources were looked at within the last minute, its card takes the same way. Else the decision is `Learn`, the plan is `~`, and
//!    `learn.rs` looks at each source: at the card of a remote by `RememberedCards` (memory, the row in D1, the server), at an agent of this Worker by its own cards, and by what that learns itself. The agents that have led there
//!    are known, so circles end. A message that such an agent would refuse for what its card does not list (`accepts = "declared"`) comes to `Learn` first, too.
//! 3. A look polls once what is known, which waits for nothing; a value that is stale is fetched anew beside, by the instance that claims its row. While nothing is known of a source, the requests of the first two seconds
//!    wait for it within these; later ones do not, and their card is partial: clients keep it for five seconds. A look that finds everything is good for a minute, any other for two seconds.
//! 4. `LearnedSkills::show` (pure) puts the skills where their source stands, lets the agent file have the last word, and splits off those with permissions. The card for a caller, the page, older cards and signatures follow
//!    from `Cards` as for any other agent. A card that has not changed keeps its date and its older forms.
//!
//! What others say is text: `take_over` bounds it and protects the letters `{origin}` (`discovery::verbatim`), variables are expanded in the card of the build alone, and the page escapes. Another kind of source is a variant of
//! `LearnedSource`, made by `skills::learned_of` from the agent file, and an arm in `learn.rs`.

use super::decision::{Front, preflight};
use super::facts::Need;
use super::identify::{judge, shows_credentials};
use super::plan::Plan;
use super::signatures::UnsignedCard;
use crate::front::head::Head;

use crate::auth::{Caller, Identity, UncheckedToken};
use crate::config::Place;
use crate::edge::service::keys::signing_keys;
use crate::executor::HostedAgent;
use crate::signing::{CardSignatures, with_signatures};
use a2a::Outcome;
use a2a::binding::Reply;
use a2a::binding::discovery::{self, Known, ServedCard};
use a2a::binding::http::{HttpResponse, split_url};
use a2a::dialect::{CardName, Dialects, dialect_of_card};
use a2a::error::Error;

impl Front {
    /// Decides about a request for the card of an agent.
    ///
    /// # Errors
    ///
    /// [`Error::MethodNotAllowed`], [`Error::VersionNotSupported`].
    pub(super) fn card(
        &self,
        head: &Head<'_>,
        agent: &HostedAgent,
        name: CardName,
    ) -> Result<Plan, Error> {
        let is_head = match head.method() {
            "GET" => false,
            "HEAD" => true,
            "OPTIONS" => return Ok(Plan::Answer(preflight(head, "GET, HEAD, OPTIONS"))),
            _ => return Err(Error::MethodNotAllowed("GET, HEAD, OPTIONS")),
        };
        let (origin, _, query) = split_url(head.url());
        let shown = if self.settings.pure_cards { &Dialects::NONE } else { &agent.dialects };
        let dialect = dialect_of_card(name, head.header("a2a-version"), query, shown)?;
        if let Some(decision) = self.unlearned(agent) {
            return Ok(decision);
        }
        let cards = agent.cards();
        let is_personal =
            name == CardName::Agent && !dialect.is_v1() && agent.capabilities.extended_agent_card;
        if is_personal && shows_credentials(head, agent) {
            match self.reader(head, agent)? {
                Reader::Known(caller) => {
                    let card = cards.extended(&caller, dialect)?;
                    let answer = |card| Ok(HttpResponse::json(200, card));
                    let decision = self.private_card(&card, origin, answer)?;
                    return Ok(if is_head { without_body(decision) } else { decision });
                }
                Reader::Unchecked(tokens) => return Ok(Plan::Need(Need::Verdicts(tokens))),
                Reader::Anybody => {}
            }
        }
        let known = Known {
            etag: head.header("if-none-match").map(str::to_owned),
            modified: head.header("if-modified-since").map(str::to_owned),
        };
        let place = self.settings.place_of(origin);
        let body = discovery::at_origin(cards.card_in(dialect)?, place.origin);
        let mark = self.mark(place);
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
        match self.signed(body.clone(), place, mark.is_some()) {
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
    fn reader(&self, head: &Head<'_>, agent: &HostedAgent) -> Result<Reader, Error> {
        self.seen.note_agent(agent);
        self.seen.note_call();
        self.seen.check()?;
        let judged = judge(head, agent, &self.facts.verdicts);
        self.seen.note_judged(agent, &judged);
        Ok(match judged.identity {
            Identity::Caller(caller) if !caller.is_anonymous() => Reader::Known(caller),
            Identity::Pending(tokens) => Reader::Unchecked(tokens),
            Identity::Caller(_) | Identity::Refused(_) => Reader::Anybody,
        })
    }

    /// Decides about GetExtendedAgentCard, which came in at `origin`.
    ///
    /// # Errors
    ///
    /// As [`Cards::extended`](crate::executor::Cards::extended).
    pub(super) fn extended_card(
        &self,
        agent: &HostedAgent,
        caller: &Caller,
        reply: &Reply,
        origin: &str,
    ) -> Result<Plan, Error> {
        if let Some(decision) = self.unlearned(agent) {
            return Ok(decision);
        }
        let card = agent.cards().extended(caller, reply.dialect())?;
        self.private_card(&card, origin, |card| reply.outcome(&Outcome::Card(card)))
    }

    /// Decides about a card for one caller, which `answer` answers with.
    ///
    /// # Errors
    ///
    /// Those of `answer`.
    fn private_card(
        &self,
        card: &str,
        origin: &str,
        answer: impl FnOnce(String) -> Result<HttpResponse, Error>,
    ) -> Result<Plan, Error> {
        let place = self.settings.place_of(origin);
        let body = discovery::at_origin(card, place.origin);
        let is_to_be_signed = self.mark(place).is_some();
        match self.signed(body, place, is_to_be_signed) {
            Ok(body) => {
                let answer = answer(body)?.with_header("cache-control", "private, no-store");
                Ok(Plan::Answer(answer))
            }
            Err(unsigned) => Ok(Plan::Need(Need::Signature(Box::new(unsigned)))),
        }
    }

    /// What tells a signed card at this place from others; `None` if cards are not signed there, or could not be in this
    /// request.
    fn mark(&self, place: Place<'_>) -> Option<String> {
        let keys =
            signing_keys(&self.env).filter(|_| place.is_ours && !self.facts.cannot_sign.get());
        keys.map(|keys| CardSignatures::mark(place.origin, &keys))
    }

    /// A card, with its signatures if it is to have any.
    ///
    /// # Errors
    ///
    /// What has to be signed first.
    fn signed(
        &self,
        card: String,
        place: Place<'_>,
        is_to_be_signed: bool,
    ) -> Result<String, UnsignedCard> {
        if !is_to_be_signed {
            return Ok(card);
        }
        let unsigned = UnsignedCard { card, origin: place.origin.to_owned() };
        match unsigned.signatures() {
            Some(member) => Ok(with_signatures(&unsigned.card, &member)),
            None => Err(unsigned),
        }
    }
}

/// For how long clients keep a card with skills that are learned.
const LEARNED_SECONDS: u32 = 300;

/// For how long they keep one that lacks some.
pub(super) const PARTIAL_SECONDS: u32 = 5;

fn without_body(decision: Plan) -> Plan {
    match decision {
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

/// Answers a request for the set of public keys.
///
/// # Errors
///
/// [`Error::MethodNotAllowed`].
pub(super) fn key_set(head: &Head<'_>, keys: String) -> Result<HttpResponse, Error> {
    match head.method() {
        "GET" | "HEAD" => {
            let response = HttpResponse::json(200, keys);
            Ok(response.with_header("cache-control", "public, max-age=300"))
        }
        "OPTIONS" => Ok(preflight(head, "GET, HEAD, OPTIONS")),
        _ => Err(Error::MethodNotAllowed("GET, HEAD, OPTIONS")),
    }
}
