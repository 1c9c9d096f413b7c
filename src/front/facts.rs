//! The facts that have to be awaited before a request can be decided ([`Need`]), and the facts that were found
//! ([`Facts`]). `src/edge/front/facts/` finds them.

use super::failure::Failure;
use super::limit::Limit;
use super::signed::UnsignedCard;
use crate::auth::{Caller, TokenDigest, UncheckedToken, Verdict};
use crate::forms::address::ObjectId;
use crate::forms::callback::CallbackPost;
use crate::forms::command::Command;
use crate::session::SentCredentials;
use crate::trail::AskedBy;
use crate::usage::Usage;
use a2a::error::Error;
use a2a::model::UnixMillis;
use a2a::{Call, Outcome, Quota};

/// The body of a request, if it was received.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Received<'a> {
    /// The whole body.
    Whole(&'a [u8]),
    /// The body was not received yet: it is large, or its length is not declared.
    Nothing,
    /// The body cannot be received, for this reason.
    Refused(Error),
}

/// A fact that a decision lacks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Need {
    /// The body, of at most this many bytes.
    Body(usize),
    /// The body of a post to a callback, if the object confirms that the callback accepts a post.
    CallbackBody(Box<Called>),
    /// The verdicts on the signatures of these tokens.
    Verdicts(Vec<UncheckedToken>),
    /// The skills that the agents with these slugs learn.
    Skills(Vec<String>),
    /// The signatures of a card.
    Signature(Box<UnsignedCard>),
    /// The limits of a message: the quotas, the usage of its caller; and its sealed credentials.
    Terms(Box<TermsNeed>),
    /// The page of a list that takes more than one SQL statement, or the deletion of a page of a context.
    Page(Box<Command<Call>>),
    /// What an operator asks of an agent.
    Operator(OperatorNeed),
}

/// A post to a callback, and the id of the object with this callback. If the post has no body yet, the body is received
/// once the object has confirmed that the callback accepts a post.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Called {
    pub(crate) object: ObjectId,
    pub(crate) post: CallbackPost,
}

/// The limits of a message that have to be found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TermsNeed {
    pub(crate) command: Command<Call>,
    /// The key of an idempotent send.
    pub(crate) key: Option<String>,
    /// The quotas of the caller; empty if the message begins no task.
    pub(crate) quotas: Vec<Quota>,
    /// True if the agent limits the daily usage of a caller.
    pub(crate) has_allowance: bool,
    /// True if the message contains credentials for which a task may wait.
    pub(crate) has_credentials: bool,
}

/// What an operator asks for, or for its own usage a caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asks {
    /// The overview of the agent over this number of hours.
    Overview { hours: u32 },
    /// The usage of the agent by this owner, or by all owners, from one day to another.
    Usage { owner: Option<String>, from: String, to: String },
    /// The next part of a copy of the agent's rows in the index, or the first.
    Copy { is_anew: bool },
    /// The deletion of the next rows of an owner with the agent that belong to no task.
    Forget { owner: String },
}

/// What an operator asks of the agent with this slug.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OperatorNeed {
    pub(crate) agent: String,
    pub(crate) asks: Asks,
}

/// The facts about one request that were found so far.
#[derive(Default)]
pub(crate) struct Facts {
    /// The agent and the caller of the request, if an agent of this Worker sends it.
    pub(crate) inside: Option<Inside>,
    /// True if the outer request, for which this one is sent, has reported the credentials already.
    pub(crate) is_reported: bool,
    /// The verdicts on tokens.
    pub(crate) verdicts: Vec<(TokenDigest, Verdict)>,
    /// True if cards cannot be signed.
    pub(crate) cannot_sign: bool,
    /// True if the sources of learned skills were checked.
    pub(crate) has_learned: bool,
    pub(crate) terms: Option<FoundTerms>,
    pub(crate) page: Option<FoundPage>,
    /// What an operator asks for, as JSON; `Some(None)` if the index cannot give it at the moment.
    pub(crate) operator: Option<Option<String>>,
    /// The reason why the object returned no answer for the client.
    pub(crate) failure: Option<Failure>,
    /// The rate limits that were asked.
    pub(crate) asked: Vec<Limit>,
    /// The number of seconds after which the client may send the request again, if a rate limit refuses it.
    pub(crate) held_s: Option<u32>,
}

/// The sender of a request inside of the Worker.
#[derive(Clone, Debug)]
pub(crate) struct Inside {
    /// The task whose run sends the request, and its agent.
    pub(crate) by: AskedBy,
    /// The caller of the task that runs.
    pub(crate) caller: Caller,
    /// The id of the request that began the run.
    pub(crate) request: Option<String>,
}

/// The limits of a message that were found, and its sealed credentials.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoundTerms {
    /// The place of the new task in the quotas of the caller; `None` if there are none, or if the index does not answer: the message is
    /// taken.
    pub(crate) place: Option<FoundPlace>,
    /// The usage of the caller on the day of this time; `None` if it is unlimited or unknown.
    pub(crate) used: Option<(Usage, UnixMillis)>,
    /// The sealed credentials of the message, if it contains some.
    pub(crate) sealed: Option<Result<SentCredentials, Unsealed>>,
}

/// The place of a new task in the quotas of its caller.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FoundPlace {
    /// A place is reserved for the task of this object.
    Reserved(ObjectId),
    /// The caller has reached this quota.
    Reached(Quota),
}

/// The reason why credentials were not sealed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Unsealed {
    /// The object of the task cannot be addressed.
    NoObject(Failure),
    /// This deployment has no usable key for credentials.
    NoKey,
}

/// The result of reading a list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FoundPage {
    /// The lines that the SQL statement returned, and the total in the first of them.
    Lines { lines: String, total: Option<u64> },
    /// The statement failed.
    NoLines,
    /// The whole page, or the error.
    Whole(Result<Outcome, Error>),
}

impl Facts {
    /// Checks that no rate limit refuses the request.
    ///
    /// # Errors
    ///
    /// [`Error::RateLimited`] if a rate limit refuses the request.
    pub(super) fn check_limits(&self) -> Result<(), Error> {
        self.held_s.map_or(Ok(()), |seconds| Err(Error::RateLimited(seconds)))
    }

    /// The verdict on a token, if it was checked.
    pub(super) fn verdict_of(&self, digest: &TokenDigest) -> Option<Verdict> {
        let found = self.verdicts.iter().find(|(known, _)| known == digest);
        found.map(|(_, verdict)| *verdict)
    }
}

impl FoundPage {
    /// The lines that the SQL statement returned, and the total, as JavaScript passes them.
    pub(crate) fn lines(lines: String, total: Option<f64>) -> Self {
        let total = total.map(|total| total as u64);
        Self::Lines { lines, total }
    }
}
