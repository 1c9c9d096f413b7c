//! Seals the credentials that a message brings for its task, before anything of them travels.

use worker::Env;

use crate::auth::GivenCredentials;
use crate::edge::service::vault::WorkerVault;
use crate::forms::address::ObjectId;
use crate::port::{Observation, Observer};
use crate::session::SentCredentials;
use a2a::error::Error;

/// Seals credentials for the task of an object, so that they may travel.
///
/// # Errors
///
/// [`Error::UnsupportedOperation`] if this deployment has no key for it.
pub(super) async fn seal(
    env: &Env,
    given: &GivenCredentials,
    object: &ObjectId,
    observer: &dyn Observer,
) -> Result<SentCredentials, Error> {
    let GivenCredentials { text, is_part } = given;
    let sealed = (WorkerVault { env: env.clone() }).seal(object, text).await;
    sealed.map(|sealed| SentCredentials { sealed, is_part: *is_part }).map_err(|reason| {
        let task = &object.task_id();
        observer.observe(&Observation::CredentialsUnreadable { task, reason: &reason });
        let fix = "this server takes no credentials in messages: its STATE_KEY is not set, or cannot be used";
        Error::UnsupportedOperation(fix.to_owned())
    })
}
