//! The callbacks of a task: how a run makes one, and what happens to what is posted there.

use super::journal::LogSize;
use super::{TaskSession, parking, run};
use crate::executor::{Callback, CallbackTerms, ExecutorError};
use crate::task::{Admission, CallbackCall, CallbackName, CallbackRecord, Input};
use a2a::error::Error;
use a2a::model::{Part, Secret, UnixMillis, hex, measure};

/// The callback of this name, or a new one.
///
/// # Errors
///
/// If the run may make none.
pub(super) fn make(
    session: &TaskSession,
    name: &str,
    terms: CallbackTerms,
) -> Result<Callback, ExecutorError> {
    if name.is_empty() || name.len() > MAX_NAME_BYTES {
        return refused(format!("the name of a callback has 1 to {MAX_NAME_BYTES} bytes"));
    }
    parking::check_parking(session)?;
    let name = session.run.begin_callback(name);
    let (known, count) = session
        .life
        .with_machine(|machine| (machine.callback(&name).cloned(), machine.callback_count()))
        .unwrap_or_default();
    if let Some(record) = known {
        return Ok(callback_of(session, &record));
    }
    if count >= MAX_CALLBACKS {
        return refused(format!("a run makes at most {MAX_CALLBACKS} callbacks"));
    }
    let origin = session.life.with_machine(|machine| machine.run()?.request.origin.clone());
    let Some(origin) = origin.flatten() else {
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
    // Whoever is told of it may post at once, also where this process dies now.
    session.flush().map_err(|_| ExecutorError("the task cannot be stored".to_owned()))?;
    Ok(callback_of(session, &record))
}

fn callback_of(session: &TaskSession, record: &CallbackRecord) -> Callback {
    let agent = session.life.facts().map(|facts| facts.agent).unwrap_or_default();
    let CallbackRecord { name, token, origin, uses: _, expires_ms } = record;
    // Whoever posts there knows nothing of the caller, so the id of the object leads to the task.
    let (object, token) = (session.object(), token.reveal());
    Callback {
        name: name.clone(),
        url: format!("{origin}/{agent}/callbacks/{object}{token}"),
        expires: UnixMillis(*expires_ms),
    }
}

/// The next body of a callback that the run has not taken. Nothing is kept of that: a run that resumes takes the same
/// ones at the same waits.
///
/// # Errors
///
/// If there is none.
pub(super) fn take(session: &TaskSession, name: &CallbackName) -> Result<Part, ExecutorError> {
    let body = session.run.take_call(name);
    body.ok_or_else(|| ExecutorError(format!("nothing was posted to the callback {name}")))
}

/// Takes what was posted to a callback of this token, which belongs to this agent. `key` is what its sender calls it.
///
/// # Errors
///
/// [`Error::NotFound`] if no callback takes it, for whatever reason; [`Error::Unavailable`] if its agent cannot run now;
/// [`Error::UnsupportedOperation`] if the task is full; [`Error::Internal`] if storage fails.
pub(super) fn call(
    session: &TaskSession,
    agent: &str,
    token: &str,
    key: Option<String>,
    body: Part,
) -> Result<(), Error> {
    let is_of_agent = session.life.facts().is_some_and(|facts| facts.agent == agent);
    let now = session.now();
    let admission =
        session.life.with_machine(|machine| machine.admit_call(token, key.as_deref(), now));
    let (name, number) = match admission.filter(|_| is_of_agent) {
        None | Some(Admission::Unknown) => return Err(no_callback()),
        Some(Admission::Repeated) => return Ok(()),
        Some(Admission::Open(name, number)) => (name, number),
    };
    session.announce();
    if session.runner().is_none() {
        return Err(Error::Unavailable(
            "the agent of this callback cannot run now; try again later",
        ));
    }
    let call = CallbackCall { name, number, key, body };
    let (bytes, values) = measure(&call);
    let room = session.journal.check_addition(LogSize { bytes, values });
    room.map_err(Error::UnsupportedOperation)?;
    session.step(Input::Called(call)).map_err(|_| no_callback())?;
    session.flush().map_err(|_| session.internal())?;
    run::start_soon(session);
    Ok(())
}

/// What is told of a callback that takes nothing, whatever the reason.
pub(crate) fn no_callback() -> Error {
    Error::NotFound("there is no such callback, or it is over".to_owned())
}

fn refused<T>(reason: impl Into<String>) -> Result<T, ExecutorError> {
    Err(ExecutorError(reason.into()))
}

/// The longest name of a callback.
const MAX_NAME_BYTES: usize = 256;

/// How many callbacks a turn has at most.
const MAX_CALLBACKS: usize = 100;
