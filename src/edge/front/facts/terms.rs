//! The limits of a message: a place in its caller's quotas is reserved, and the caller's usage of models on the current day
//! is read. Its credentials are sealed here, before the message is sent to an object.

use std::time::Duration;

use futures_util::future::{Either, join3, select};
use worker::{Delay, Env};

use crate::auth::GivenCredentials;
use crate::edge::objects::{AskError, Object};
use crate::edge::service::clock::now;
use crate::edge::service::index::{Index, NewTask};
use crate::edge::service::usage::UsageTable;
use crate::edge::service::vault::WorkerVault;
use crate::forms::address::{ObjectId, TaskAddress};
use crate::forms::command::Command;
use crate::front::facts::{FoundPlace, FoundTerms, TermsNeed, Unsealed};
use crate::front::failure::Failure;
use crate::port::{Observation, Observer};
use crate::session::SentCredentials;
use crate::usage::Usage;
use a2a::model::UnixMillis;

/// The limits of a message, and its sealed credentials.
pub(super) async fn find(env: &Env, need: &TermsNeed, observer: &dyn Observer) -> FoundTerms {
    let TermsNeed { command, quotas, has_allowance, has_credentials, .. } = need;
    let place = async { if quotas.is_empty() { None } else { reserve(env, need, observer).await } };
    let usage = async { if *has_allowance { used(env, command, observer).await } else { None } };
    let sealed = async {
        let given = command.unsealed.as_ref().filter(|_| *has_credentials)?;
        Some(seal(env, need, given, observer).await)
    };
    let (place, used, sealed) = join3(place, usage, sealed).await;
    FoundTerms { place, used, sealed }
}

/// Reserves a place for the new task in the quotas of its caller; `None` if the index does not answer.
async fn reserve(env: &Env, need: &TermsNeed, observer: &dyn Observer) -> Option<FoundPlace> {
    // The call finds out why the object cannot be addressed.
    let object = object_of(env, need).ok()?;
    let TermsNeed { command, quotas, .. } = need;
    let (owner, agent) = (command.caller.owner(), command.agent.as_str());
    let (index, object) = (Index::of(env), object.id());
    let task = NewTask { owner, agent, object, now: now() };
    match in_time(index.reserve(task, quotas)).await {
        Ok(Some(quota)) => Some(FoundPlace::Reached(quota)),
        Ok(None) => Some(FoundPlace::Reserved(object.clone())),
        Err(reason) => {
            observer.observe(&Observation::QuotaUnknown { reason: &reason });
            None
        }
    }
}

/// The object to which the command is sent.
fn object_of(env: &Env, need: &TermsNeed) -> Result<Object, AskError> {
    let TermsNeed { command, key, .. } = need;
    let address = TaskAddress::of_command(command, command.call.task_id(), key.as_deref());
    Object::at(env, &address)
}

/// The usage of a command's caller with its agent on the current day, and the time of reading it; `None` if D1 does not
/// answer.
async fn used<C>(
    env: &Env,
    command: &Command<C>,
    observer: &dyn Observer,
) -> Option<(Usage, UnixMillis)> {
    let (sums, at) = (UsageTable::of(env), now());
    let agent = &command.agent;
    match in_time(sums.used(command.caller.owner(), agent, at)).await {
        Ok(used) => Some((used, at)),
        Err(reason) => {
            observer.observe(&Observation::UsageUnknown { agent, reason: &reason });
            None
        }
    }
}

/// What the index answers within [`PATIENCE`], or the reason why it does not.
async fn in_time<T>(asked: impl Future<Output = worker::Result<T>>) -> Result<T, String> {
    match select(Box::pin(asked), Delay::from(PATIENCE)).await {
        Either::Left((answer, _)) => answer.map_err(|error| error.to_string()),
        Either::Right(_) => Err(LATE.to_owned()),
    }
}

/// Seals the credentials of a message for the object of its task, so that only sealed credentials leave this Worker.
async fn seal(
    env: &Env,
    need: &TermsNeed,
    given: &GivenCredentials,
    observer: &dyn Observer,
) -> Result<SentCredentials, Unsealed> {
    let object = object_of(env, need);
    let object = object.map_err(|failure| Unsealed::NoObject(Failure::from(&failure)))?;
    seal_for(env, given, object.id(), observer).await
}

async fn seal_for(
    env: &Env,
    given: &GivenCredentials,
    object: &ObjectId,
    observer: &dyn Observer,
) -> Result<SentCredentials, Unsealed> {
    let GivenCredentials { text, is_part } = given;
    let sealed = (WorkerVault { env: env.clone() }).seal(object, text).await;
    sealed.map(|sealed| SentCredentials { sealed, is_part: *is_part }).map_err(|reason| {
        let task = object.task_id();
        observer.observe(&Observation::CredentialsUnreadable { task, reason: &reason });
        Unsealed::NoKey
    })
}

/// The longest time that a message waits for each of its limits.
const PATIENCE: Duration = Duration::from_secs(2);

const LATE: &str = "no answer in time";
