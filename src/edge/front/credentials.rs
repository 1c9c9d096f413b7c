//! Seals the credentials that a message brings for its task, before anything of them travels.

use worker::Env;

use crate::auth::GivenCredentials;
use crate::edge::address::ObjectId;
use crate::edge::command::Command;
use crate::edge::service::vault::WorkerVault;
use crate::port::{Observation, Observer};
use crate::session::SentCredentials;
use a2a::Call;
use a2a::error::Error;

/// Seals what a command brings for the task of an object, so that it may travel.
///
/// # Errors
///
/// [`Error::UnsupportedOperation`] if this deployment has no key for it.
pub(super) async fn seal(
    env: &Env,
    command: &mut Command<Call>,
    object: &ObjectId,
    observer: &dyn Observer,
) -> Result<(), Error> {
    let Some(GivenCredentials { text, is_part }) = command.unsealed.take() else { return Ok(()) };
    match (WorkerVault { env: env.clone() }).seal(object, &text).await {
        Ok(sealed) => {
            command.credentials = Some(SentCredentials { sealed, is_part });
            Ok(())
        }
        Err(reason) => {
            let task = &object.task_id();
            observer.observe(&Observation::CredentialsUnreadable { task, reason: &reason });
            let fix = "this server takes no credentials in messages: its STATE_KEY is not set, or cannot be used";
            Err(Error::UnsupportedOperation(fix.to_owned()))
        }
    }
}
