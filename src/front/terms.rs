//! The limits of a message: the number of unfinished tasks of its caller (`MAX_ACTIVE_TASKS`), and the daily usage of
//! models of a caller, if the agent limits it. The credentials of a message are sealed in the same step.

use super::facts::{FoundTerms, Need, TermsNeed, Unsealed};
use super::failure::Failure;
use super::identify::Request;
use super::seen::Seen;
use crate::forms::command::Command;
use crate::usage::{CallerLimits, Usage};
use a2a::Call;
use a2a::error::Error;
use a2a::model::{TaskId, UnixMillis};

/// Returns the need to find the limits of a message before its object is called. Returns the command if there are no
/// limits to find, or they were found already.
pub(super) fn need(
    request: Request<'_>,
    command: Command<Call>,
    key: Option<&str>,
) -> Result<Command<Call>, Need> {
    let limit = request.deployment.settings.max_active_tasks;
    let quota = (command.call.begins_task() && limit > 0).then_some(limit);
    let has_allowance =
        command.call.message().is_some() && !limits_of(request, &command.agent).is_none();
    let has_credentials = command.unsealed.is_some() && command.may_go_on();
    let is_needed = quota.is_some() || has_allowance || has_credentials;
    if !is_needed || request.facts.terms.is_some() {
        return Ok(command);
    }
    let key = key.map(str::to_owned);
    let need = TermsNeed { command, key, quota, has_allowance, has_credentials };
    Err(Need::Terms(Box::new(need)))
}

/// Refuses a message that exceeds a limit, or adds the limits and the sealed credentials to the command for the object.
///
/// # Errors
///
/// [`Error::TooManyTasks`], [`Error::UsedUp`], or the error for credentials that were not sealed.
pub(super) fn apply(
    request: Request<'_>,
    found: &FoundTerms,
    command: &mut Command<Call>,
    seen: &mut Seen,
) -> Result<(), Error> {
    let FoundTerms { quota, used, sealed } = found;
    apply_quota(*quota, command)?;
    if let Some((used, at)) = used {
        apply_usage(limits_of(request, &command.agent), *used, *at, command)?;
    }
    match sealed {
        Some(Ok(sealed)) => command.credentials = Some(sealed.clone()),
        Some(Err(unsealed)) => return Err(unsealed_error(unsealed, command.call.task_id(), seen)),
        None => {}
    }
    Ok(())
}

fn unsealed_error(unsealed: &Unsealed, task: Option<&TaskId>, seen: &mut Seen) -> Error {
    match (unsealed, task) {
        (Unsealed::NoObject(Failure::Unknown), Some(task)) => Error::TaskNotFound(task.clone()),
        (Unsealed::NoObject(failure), _) => failure.unreachable(None, seen),
        (Unsealed::NoKey, _) => Error::UnsupportedOperation(NO_KEY.to_owned()),
    }
}

/// The limits on the daily usage of callers of the agent with this slug.
fn limits_of(request: Request<'_>, agent: &str) -> CallerLimits {
    let agent = request.deployment.agents.find(Some(agent));
    let runner = agent.and_then(|agent| agent.runner.as_ref().ok());
    runner.map(|runner| runner.executor.caller_limits()).unwrap_or_default()
}

/// Refuses a call that would begin a task if its caller has reached the quota. A send with an idempotency key is
/// admitted, with the quota in its terms: only its object knows that the send is a repeated one, which begins no task.
///
/// # Errors
///
/// [`Error::TooManyTasks`].
fn apply_quota<C>(reached: Option<u64>, command: &mut Command<C>) -> Result<(), Error> {
    match reached {
        Some(limit) if command.fingerprint.is_none() => Err(Error::TooManyTasks(limit)),
        reached => {
            command.terms.over_quota = reached;
            Ok(())
        }
    }
}

/// Refuses a message if its caller has used up its daily limit; otherwise records the rest of the limit in the terms.
/// Like for the quota, a send with an idempotency key is admitted: only its object knows that the send is a repeated
/// one, which begins no task.
///
/// # Errors
///
/// [`Error::UsedUp`].
fn apply_usage<C>(
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

const NO_KEY: &str =
    "this server takes no credentials in messages: its STATE_KEY is not set, or cannot be used";

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
    fn a_send_over_the_quota_is_refused_unless_its_key_may_make_it_a_repetition() {
        for (fingerprint, reached, outcome, told) in [
            (None, None, Ok(()), None),
            (None, Some(3), Err(Error::TooManyTasks(3)), None),
            (Some("f"), None, Ok(()), None),
            (Some("f"), Some(3), Ok(()), Some(3)),
        ] {
            let mut command = command(fingerprint);
            assert_eq!(apply_quota(reached, &mut command), outcome, "{fingerprint:?} {reached:?}");
            assert_eq!(command.terms.over_quota, told, "{fingerprint:?} {reached:?}");
        }
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
            assert_eq!(
                apply_usage(limits, used, at, &mut command),
                outcome,
                "{fingerprint:?} {tokens}"
            );
            assert_eq!(command.terms.used_up, told, "{fingerprint:?} {tokens}");
            assert_eq!(command.terms.allowance, allowance, "{fingerprint:?} {tokens}");
        }
    }
}
