//! What has to be waited for before a request can be decided ([`Need`]), and what was found ([`Facts`]). Finding it is a matter of
//! `src/edge/front/facts/`.

use super::failure::Failure;
use super::limit::Limit;
use super::signed::UnsignedCard;
use crate::auth::{Caller, TokenDigest, UncheckedToken, Verdict};
use crate::forms::address::ObjectId;
use crate::forms::callback::CallbackPost;
use crate::forms::command::Command;
use crate::overview::Overview;
use crate::session::SentCredentials;
use crate::usage::Usage;
use a2a::error::Error;
use a2a::model::UnixMillis;
use a2a::{Call, Outcome};

/// The body of a request, as far as it is there.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Received<'a> {
    /// All of it.
    Whole(&'a [u8]),
    /// Nothing yet: it is large, or does not tell its length.
    Nothing,
    /// It cannot be had, for this reason.
    Refused(Error),
}

/// A fact that a decision lacks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Need {
    /// The body, of at most this many bytes.
    Body(usize),
    /// The body of a post to a callback, unless its object says that the callback takes none.
    CallbackBody(Box<Called>),
    /// Whether the signatures of these tokens are genuine.
    Verdicts(Vec<UncheckedToken>),
    /// The skills that the agents of these slugs learn.
    Skills(Vec<String>),
    /// The signatures of a card.
    Signature(Box<UnsignedCard>),
    /// What bounds a message: the quota, the usage of its caller, its sealed credentials.
    Terms(Box<TermsNeed>),
    /// The page of a list that takes more than one statement.
    Page(Box<Command<Call>>),
    /// The overview of an agent.
    Overview(OverviewNeed),
}

/// A post to a callback, and the object that knows it. The body is to be received if the post has none yet.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Called {
    pub(crate) object: ObjectId,
    pub(crate) post: CallbackPost,
}

/// The bounds of a message to find.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TermsNeed {
    pub(crate) command: Command<Call>,
    /// The key of an idempotent send.
    pub(crate) key: Option<String>,
    /// The number of unfinished tasks that its caller may have, if it begins a task and that is limited.
    pub(crate) quota: Option<u64>,
    /// Whether its agent limits what a caller uses in a day.
    pub(crate) has_allowance: bool,
    /// Whether it brings credentials that a task may wait for.
    pub(crate) has_credentials: bool,
}

/// An overview of the agent of this slug over this number of hours.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OverviewNeed {
    pub(crate) agent: String,
    pub(crate) hours: u32,
}

/// The facts that are known of one request.
#[derive(Default)]
pub(crate) struct Facts {
    /// Whose request it is, if an agent of this Worker makes it.
    pub(crate) inside: Option<Inside>,
    /// Whether its credentials were reported already, by the request of which it is a part.
    pub(crate) is_reported: bool,
    /// The verdicts on tokens.
    pub(crate) verdicts: Vec<(TokenDigest, Verdict)>,
    /// Whether cards cannot be signed.
    pub(crate) cannot_sign: bool,
    /// Whether the skills that agents learn were looked at.
    pub(crate) has_learned: bool,
    pub(crate) terms: Option<FoundTerms>,
    pub(crate) page: Option<FoundPage>,
    /// The overview; `None` in it if it cannot be had at the moment.
    pub(crate) overview: Option<Option<Box<Overview>>>,
    /// Why the object of the request gave no answer for the client.
    pub(crate) failure: Option<Failure>,
    /// The rate limits that were asked.
    pub(crate) asked: Vec<Limit>,
    /// After how many seconds to send the request again, if a rate limit refuses it.
    pub(crate) held_s: Option<u32>,
}

/// For whom a request is made inside of the Worker.
#[derive(Clone, Debug)]
pub(crate) struct Inside {
    /// The agent whose run makes it.
    pub(crate) agent: String,
    /// The caller of its task.
    pub(crate) caller: Caller,
    /// The id of the request that began the run.
    pub(crate) request: Option<String>,
}

/// What bounds a message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoundTerms {
    /// The quota, if the caller has reached it.
    pub(crate) quota: Option<u64>,
    /// What the caller has used in the day of this instant, where that is known.
    pub(crate) used: Option<(Usage, UnixMillis)>,
    /// The credentials that came with it.
    pub(crate) sealed: Option<Result<SentCredentials, Unsealed>>,
}

/// Why credentials were not sealed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Unsealed {
    /// The object of their task cannot be addressed.
    NoObject(Failure),
    /// This deployment has no key for it that can be used.
    NoKey,
}

/// What was found of a list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FoundPage {
    /// The lines of the rows that the statement has found, and the total of the first one.
    Lines { lines: String, total: Option<u64> },
    /// The statement failed.
    NoLines,
    /// All of it.
    Whole(Result<Outcome, Error>),
}

impl Facts {
    /// Checks that no rate limit refuses the request.
    ///
    /// # Errors
    ///
    /// [`Error::RateLimited`] if one does.
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
    /// What JavaScript says of the rows that the statement has found.
    pub(crate) fn lines(lines: String, total: Option<f64>) -> Self {
        let total = total.map(|total| total as u64);
        Self::Lines { lines, total }
    }
}
