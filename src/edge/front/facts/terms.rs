//! The limits of a message: the number of its caller's unfinished tasks, and the caller's usage of models on the
//! current day. Its credentials are sealed here, before the message is sent to an object.

use std::time::Duration;

use futures_util::future::{Either, join3, select};
use worker::{Delay, Env};

use crate::auth::{Caller, GivenCredentials};
use crate::edge::objects::Object;
use crate::edge::service::clock::now;
use crate::edge::service::index::Index;
use crate::edge::service::usage::UsageTable;
use crate::edge::service::vault::WorkerVault;
use crate::forms::address::{ObjectId, TaskAddress};
use crate::forms::command::Command;
use crate::front::facts::{FoundTerms, TermsNeed, Unsealed};
use crate::front::failure::Failure;
use crate::port::{Observation, Observer};
use crate::session::SentCredentials;
use crate::usage::Usage;
use a2a::model::UnixMillis;

/// The limits of a message, and its sealed credentials.
pub(super) async fn find(env: &Env, need: &TermsNeed, observer: &dyn Observer) -> FoundTerms {
    let TermsNeed { command, quota, has_allowance, has_credentials, .. } = need;
    let quota = async {
        let limit = (*quota)?;
        reached(env, limit, &command.caller, observer).await
    };
    let usage = async { if *has_allowance { used(env, command, observer).await } else { None } };
    let sealed = async {
        let given = command.unsealed.as_ref().filter(|_| *has_credentials)?;
        Some(seal(env, need, given, observer).await)
    };
    let (quota, used, sealed) = join3(quota, usage, sealed).await;
    FoundTerms { quota, used, sealed }
}

/// Counts the unfinished tasks of a caller. Returns `limit` if the caller has at least `limit` of them. If the index
/// does not answer, the result is `None`, which admits the call.
async fn reached(env: &Env, limit: u64, caller: &Caller, observer: &dyn Observer) -> Option<u64> {
    let index = Index::of(env);
    let counted = Box::pin(index.count_unfinished(caller.owner(), limit));
    let reason = match select(counted, Delay::from(PATIENCE)).await {
        Either::Left((Ok(count), _)) => return (count >= limit).then_some(limit),
        Either::Left((Err(error), _)) => error.to_string(),
        Either::Right(_) => LATE.to_owned(),
    };
    observer.observe(&Observation::QuotaUnknown { reason: &reason });
    None
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
    let read = Box::pin(sums.used(command.caller.owner(), agent, at));
    let reason = match select(read, Delay::from(PATIENCE)).await {
        Either::Left((Ok(used), _)) => return Some((used, at)),
        Either::Left((Err(error), _)) => error.to_string(),
        Either::Right(_) => LATE.to_owned(),
    };
    observer.observe(&Observation::UsageUnknown { agent, reason: &reason });
    None
}

/// Seals the credentials of a message for the object of its task, so that only sealed credentials leave this Worker.
async fn seal(
    env: &Env,
    need: &TermsNeed,
    given: &GivenCredentials,
    observer: &dyn Observer,
) -> Result<SentCredentials, Unsealed> {
    let TermsNeed { command, key, .. } = need;
    let address = TaskAddress::of_command(command, command.call.task_id(), key.as_deref());
    let object = Object::at(env, &address);
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
