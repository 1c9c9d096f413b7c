//! How much of models a caller may use in a day, with an agent that limits it.

use std::time::Duration;

use futures_util::future::{Either, select};
use worker::{Delay, Env};

use super::decision::Front;
use crate::edge::service::usage::D1Usage;
use crate::forms::command::Command;
use crate::usage::{CallerLimits, Usage};
use a2a::error::Error;
use a2a::model::UnixMillis;

impl Front {
    /// What the agent of this slug lets its callers use in a day.
    pub(super) fn caller_limits(&self, agent: &str) -> CallerLimits {
        let runner = self.agents.find(Some(agent)).and_then(|agent| agent.runner.as_ref().ok());
        runner.map(|runner| runner.executor.caller_limits()).unwrap_or_default()
    }
}

/// What the caller of a command has used of its agent in the day of an instant.
///
/// # Errors
///
/// Why that is not known.
pub(super) async fn used<C>(
    env: &Env,
    command: &Command<C>,
    at: UnixMillis,
) -> Result<Usage, String> {
    let sums = D1Usage { env: env.clone() };
    let read = Box::pin(sums.used(command.caller.owner(), &command.agent, at));
    match select(read, Delay::from(PATIENCE)).await {
        Either::Left((Ok(used), _)) => Ok(used),
        Either::Left((Err(error), _)) => Err(error.to_string()),
        Either::Right(_) => Err("no answer in time".to_owned()),
    }
}

/// Refuses a message if its caller has used up what it may use in the day, or records in its terms how much is left. As with
/// the quota of tasks, one under a key is let through: its object knows whether it is repeated and so begins nothing.
///
/// # Errors
///
/// [`Error::UsedUp`].
pub(super) fn apply<C>(
    limits: CallerLimits,
    used: Usage,
    at: UnixMillis,
    command: &mut Command<C>,
) -> Result<(), Error> {
    match limits.left(used, at) {
        Ok(allowance) => command.terms.allowance = Some(allowance),
        Err(used_up) if command.fingerprint.is_none() => return Err(Error::UsedUp(used_up)),
        Err(used_up) => command.terms.used_up = Some(used_up),
    }
    Ok(())
}

/// How long a message waits at most for what its caller has used.
const PATIENCE: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::Caller;
    use a2a::binding::{MediaType, Reply};
    use a2a::{Allowance, DayLimit, UsedUp};

    fn command(fingerprint: Option<&str>) -> Command<()> {
        let reply = Reply::rest(MediaType::Json);
        let command = Command::new("a".to_owned(), Caller::anonymous(), reply, ());
        Command { fingerprint: fingerprint.map(str::to_owned), ..command }
    }

    #[test]
    fn a_message_of_a_caller_without_anything_left_is_refused_unless_its_key_may_make_it_a_repetition()
     {
        let at = UnixMillis::parse("2026-01-05T23:59:00Z").unwrap();
        let limits = CallerLimits { tokens_per_day: Some(10), cost_micros_per_day: None };
        let used_up = UsedUp { limit: DayLimit::Tokens(10), seconds: 61 };
        let left = Allowance { tokens: Some(4), cost_micros: None };
        for (tokens, fingerprint, outcome, told, allowance) in [
            (6, None, Ok(()), None, Some(left)),
            (6, Some("f"), Ok(()), None, Some(left)),
            (10, None, Err(Error::UsedUp(used_up)), None, None),
            (10, Some("f"), Ok(()), Some(used_up), None),
        ] {
            let mut command = command(fingerprint);
            let used = Usage { output_tokens: tokens, ..Usage::NOTHING };
            assert_eq!(apply(limits, used, at, &mut command), outcome, "{fingerprint:?} {tokens}");
            assert_eq!(command.terms.used_up, told, "{fingerprint:?} {tokens}");
            assert_eq!(command.terms.allowance, allowance, "{fingerprint:?} {tokens}");
        }
    }
}
