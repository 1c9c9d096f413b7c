//! The callbacks of a task: makes callbacks for a run, and admits and stores posts to callbacks.

use super::parking;
use super::state::RunState;
use crate::executor::{Callback, CallbackTerms, ExecutorError};
use crate::session::journal::LogSize;
use crate::session::{TaskSession, run};
use crate::task::{Admission, CallbackCall, CallbackName, CallbackRecord, Input};
use a2a::error::Error;
use a2a::model::{Part, Secret, UnixMillis, hex, measure};

/// Returns the run's next callback of this name: the callback that an earlier attempt has made, or a new callback.
///
/// # Errors
///
/// If the run must not make a callback; the text of the error has the reason.
pub(in crate::session) fn make(
    session: &TaskSession,
    name: &str,
    terms: CallbackTerms,
) -> Result<Callback, ExecutorError> {
    if name.is_empty() || name.len() > MAX_NAME_BYTES {
        return refused(format!("the name of a callback has 1 to {MAX_NAME_BYTES} bytes"));
    }
    let (name, agent, known, count, origin) = parking::parkable(session, |facts, machine| {
        let name = session.run.begin_callback(name);
        let known = machine.callback(&name).cloned();
        let origin = machine.run().and_then(|run| run.request.origin.clone());
        (name, facts.agent.clone(), known, machine.callback_count(), origin)
    })?;
    if let Some(record) = known {
        return Ok(callback_of(session.object(), &agent, &record));
    }
    if count >= MAX_CALLBACKS {
        return refused(format!("a run makes at most {MAX_CALLBACKS} callbacks"));
    }
    let Some(origin) = origin else {
        return refused("the origin of this server is not known; set PUBLIC_URL, and send again");
    };
    let random = session.ports.random.secret_bytes();
    let record = CallbackRecord {
        name,
        token: Secret::new(hex(&random)),
        origin,
        uses: terms.uses,
        expires_ms: session.now().after(terms.lifetime_ms).0,
    };
    let (bytes, values) = measure(&record);
    session.journal.check_addition(LogSize { bytes, values }).map_err(ExecutorError)?;
    session.step(Input::CallbackMade(record.clone()))?;
    // Store the callback before the run gets the URL: a post may arrive at once, and must be admitted even if this process dies
    // now.
    session.flush().map_err(|_| ExecutorError("the task cannot be stored".to_owned()))?;
    Ok(callback_of(session.object(), &agent, &record))
}

/// The callback as the run gets it. The sender of a post does not know the caller, so the URL has the id of the object instead of
/// the id of the task.
fn callback_of(object: &str, agent: &str, record: &CallbackRecord) -> Callback {
    let CallbackRecord { name, token, origin, uses: _, expires_ms } = record;
    let token = token.reveal();
    Callback {
        name: name.clone(),
        url: format!("{origin}/{agent}/callbacks/{object}{token}"),
        expires: UnixMillis(*expires_ms),
    }
}

/// Takes the oldest body of a callback that the run has not taken. The log does not record which bodies were taken: a resumed run
/// takes the same bodies at the same waits.
///
/// # Errors
///
/// If no such body is left.
pub(super) fn take(run: &RunState, name: &CallbackName) -> Result<Part, ExecutorError> {
    let body = run.take_call(name);
    body.ok_or_else(|| ExecutorError(format!("nothing was posted to the callback {name}")))
}

/// The result of a post to a callback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Posted {
    /// The post is stored, or was stored before under the same key.
    Accepted,
    /// There is no such callback, or the callback accepts no more bodies.
    Unknown,
    /// The callback exists, but no body can be stored at the moment. The sender may repeat the post later.
    Busy,
    /// The body is larger than the remaining room of the task. The text is for the sender. A smaller body may be stored.
    NoRoom(String),
}

impl Posted {
    /// The answer for the sender.
    ///
    /// # Errors
    ///
    /// If the post is not stored.
    pub fn check(self) -> Result<(), Error> {
        match self {
            Self::Accepted => Ok(()),
            Self::Unknown => Err(no_callback()),
            Self::Busy => Err(callback_is_busy()),
            Self::NoRoom(reason) => Err(Error::NoRoom(reason)),
        }
    }
}

/// Returns the callback with this token and the number of the next body of that callback, if the callback belongs to this agent.
/// `None` if a post with this `key` (the sender's `Idempotency-Key`) was stored before. Writes nothing.
///
/// # Errors
///
/// The result of the post, if its body must not be stored.
pub(in crate::session) fn admit(
    session: &TaskSession,
    agent: &str,
    token: &str,
    key: Option<&str>,
) -> Result<Option<(CallbackName, u32)>, Posted> {
    let is_of_agent = session.life.facts().is_some_and(|facts| facts.agent == agent);
    let now = session.now();
    let admission = session.life.with_machine(|machine| machine.admit_call(token, key, now));
    match admission.filter(|_| is_of_agent) {
        None | Some(Admission::Unknown) => Err(Posted::Unknown),
        Some(Admission::Repeated) => Ok(None),
        Some(Admission::Open(..)) if session.agents.of(&session.life).is_none() => {
            Err(Posted::Busy)
        }
        Some(Admission::Open(name, number)) => Ok(Some((name, number))),
    }
}

/// Stores a post to the callback with this token, if the callback belongs to this agent. `key` is the sender's `Idempotency-Key`.
pub(in crate::session) fn call(
    session: &TaskSession,
    agent: &str,
    token: &str,
    key: Option<String>,
    body: Part,
) -> Posted {
    let (name, number) = match admit(session, agent, token, key.as_deref()) {
        Err(refused) => return refused,
        Ok(None) => return Posted::Accepted,
        Ok(Some(open)) => open,
    };
    session.announce();
    let call = CallbackCall { name, number, key, body };
    let (bytes, values) = measure(&call);
    let limit = session.limits.max_event_bytes;
    if bytes > limit {
        return Posted::NoRoom(format!(
            "the body takes {bytes} bytes as JSON; a task takes up to {limit} at once: post a smaller one"
        ));
    }
    // A part of the task's room is reserved for the other entries of the run. An event that repeats the body does not count the
    // body again.
    if let Err(reason) = session.journal.check_post(LogSize { bytes, values }) {
        return Posted::NoRoom(reason);
    }
    // The callback exists, so the sender may repeat a post that fails here.
    if session.step(Input::Called(call)).is_err() || session.flush().is_err() {
        return Posted::Busy;
    }
    run::start_soon(session);
    Posted::Accepted
}

/// The error for a callback that does not exist or is over. The error does not show the reason.
pub(crate) fn no_callback() -> Error {
    Error::NotFound("there is no such callback, or it is over".to_owned())
}

/// The error for a callback for which no body can be stored at the moment.
pub(crate) fn callback_is_busy() -> Error {
    Error::Unavailable(BUSY)
}

fn refused<T>(reason: impl Into<String>) -> Result<T, ExecutorError> {
    Err(ExecutorError(reason.into()))
}

/// The longest name of a callback.
const MAX_NAME_BYTES: usize = 256;

/// The largest number of callbacks of a turn.
const MAX_CALLBACKS: usize = 100;

const BUSY: &str = "this callback can take nothing at the moment; post again later";
