//! DeleteTask, an operation of our extension: A2A 1.0 has none that deletes a task. `docs/deleting.md` describes it.
//!
//! # A deletion that a caller asks for
//!
//! 1. The front Worker decodes DeleteTask, finds the object by the id, and passes the call to the object.
//! 2. The object opens its session for the caller and checks the owner; other callers get TaskNotFound. A task that the caller has
//!    deleted less than a day ago is deleted again, which changes nothing.
//! 3. `operation/delete_task.rs` refuses a task that has not ended; with `force`, the task is canceled first, as CancelTask does.
//! 4. `session/deletion.rs` replaces what is stored by a tombstone. From here on no request finds the task.
//! 5. The answer waits until the index has removed the row. If that fails, the call fails, and the alarm repeats the removal.

use crate::session::Owned;
use a2a::Terms;
use a2a::error::Error;
use a2a::model::DeleteTaskRequest;

/// Deletes the task. The caller of this function waits for the index.
///
/// # Errors
///
/// [`Error::GenerationMismatch`] if the task is not at the expected generation; [`Error::UnsupportedOperation`] if it has not ended
/// and the request does not say `force`; [`Error::Internal`] if D1 or storage fails. The task is not deleted then.
pub async fn delete_task(
    task: Owned<'_>,
    request: &DeleteTaskRequest,
    terms: Terms,
) -> Result<(), Error> {
    task.check_generation(terms.expected)?;
    if let Some(state) = task.state().filter(|state| !state.is_terminal()) {
        if !request.force {
            let hint = format!("the task is {state}; cancel it first, or delete it with force");
            return Err(Error::UnsupportedOperation(hint));
        }
        task.cancel()?;
    }
    task.delete().await
}
