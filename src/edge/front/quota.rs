//! The quota: how many unfinished tasks a caller may have (`MAX_ACTIVE_TASKS`).

use std::time::Duration;

use futures_util::future::{Either, select};
use worker::{Delay, Env};

use crate::auth::Caller;
use crate::edge::service::index::D1Index;
use crate::forms::command::Command;
use crate::port::{Observation, Observer};
use a2a::error::Error;

/// Counts the unfinished tasks of a caller and gives `limit` if there are as many. 0 is no limit. An index that does
/// not answer lets the call through.
pub(super) async fn reached(
    env: &Env,
    limit: u64,
    caller: &Caller,
    observer: &dyn Observer,
) -> Option<u64> {
    if limit == 0 {
        return None;
    }
    let index = D1Index { env: env.clone() };
    let counted = Box::pin(index.count_unfinished(caller.owner(), limit));
    let reason = match select(counted, Delay::from(PATIENCE)).await {
        Either::Left((Ok(count), _)) => return (count >= limit).then_some(limit),
        Either::Left((Err(error), _)) => error.to_string(),
        Either::Right(_) => "no answer in time".to_owned(),
    };
    observer.observe(&Observation::QuotaUnknown { reason: &reason });
    None
}

/// Refuses a call that would begin a task if its caller has reached the quota. A send under a key is let through
/// with the quota in its terms: its object knows whether it is repeated and so begins nothing.
///
/// # Errors
///
/// [`Error::TooManyTasks`].
pub(super) fn apply<C>(reached: Option<u64>, command: &mut Command<C>) -> Result<(), Error> {
    match reached {
        Some(limit) if command.fingerprint.is_none() => Err(Error::TooManyTasks(limit)),
        reached => {
            command.terms.over_quota = reached;
            Ok(())
        }
    }
}

/// How long a send waits at most for its caller's tasks to be counted.
const PATIENCE: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;
    use a2a::binding::{MediaType, Reply};

    fn command(fingerprint: Option<&str>) -> Command<()> {
        let reply = Reply::rest(MediaType::Json);
        let command = Command::new("a".to_owned(), Caller::anonymous(), reply, ());
        Command { fingerprint: fingerprint.map(str::to_owned), ..command }
    }

    #[test]
    fn a_send_over_the_quota_is_refused_unless_its_key_may_make_it_a_repetition() {
        for (fingerprint, reached, outcome, told) in [
            (None, None, Ok(()), None),
            (None, Some(3), Err(Error::TooManyTasks(3)), None),
            (Some("f"), None, Ok(()), None),
            (Some("f"), Some(3), Ok(()), Some(3)),
        ] {
            let mut command = command(fingerprint);
            assert_eq!(apply(reached, &mut command), outcome, "{fingerprint:?} {reached:?}");
            assert_eq!(command.terms.over_quota, told, "{fingerprint:?} {reached:?}");
        }
    }
}
