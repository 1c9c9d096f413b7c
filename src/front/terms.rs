//! The limits of a message: the quotas of its caller (`MAX_ACTIVE_TASKS`, `[quota]` of the agent's file), and the daily usage of models
//! of a caller, if the agent limits it. The credentials of a message are sealed in the same step.

use super::facts::{FoundPlace, FoundTerms, Need, TermsNeed, Unsealed};
use super::failure::Failure;
use super::identify::Request;
use super::seen::Seen;
use crate::executor::HostedAgent;
use crate::forms::address::TaskAddress;
use crate::forms::command::Command;
use crate::usage::{CallerLimits, Usage, micros};
use a2a::error::Error;
use a2a::model::{TaskId, UnixMillis};
use a2a::{Call, Quota};
use a2a_agents::QuotaTable;

/// Returns the need to find the limits of a message before its object is called. Returns the command if there are no
/// limits to find, or they were found already.
pub(super) fn need(
    request: Request<'_>,
    command: Command<Call>,
    key: Option<&str>,
) -> Result<Command<Call>, Need> {
    let agent = request.deployment.agents.find(Some(&command.agent));
    let quotas = if command.call.begins_task() { quotas_of(request, agent) } else { Vec::new() };
    let has_allowance = command.call.message().is_some() && !limits_of(agent).is_none();
    let has_credentials = command.unsealed.is_some() && command.may_go_on();
    let is_needed = !quotas.is_empty() || has_allowance || has_credentials;
    if !is_needed || request.facts.terms.is_some() {
        return Ok(command);
    }
    let key = key.map(str::to_owned);
    let need = TermsNeed { command, key, quotas, has_allowance, has_credentials };
    Err(Need::Terms(Box::new(need)))
}

/// Refuses a message that exceeds a limit, or adds the limits and the sealed credentials to the command for the object.
///
/// # Errors
///
/// [`Error::OverQuota`], [`Error::UsedUp`], or the error for credentials that were not sealed.
pub(super) fn apply(
    request: Request<'_>,
    found: &FoundTerms,
    command: &mut Command<Call>,
    seen: &mut Seen,
) -> Result<(), Error> {
    let FoundTerms { place, used, sealed } = found;
    if let Some(place) = place {
        apply_place(place, command)?;
    }
    if let Some((used, at)) = used {
        let agent = request.deployment.agents.find(Some(&command.agent));
        apply_usage(limits_of(agent), *used, *at, command)?;
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

/// The limits on the daily usage of callers of an agent: those of its executor, and those of `[quota]` in its file.
pub(crate) fn limits_of(agent: Option<&HostedAgent>) -> CallerLimits {
    let Some(agent) = agent else { return CallerLimits::default() };
    let runner = agent.runner.as_ref().ok();
    let of_executor = runner.map(|runner| runner.executor.caller_limits()).unwrap_or_default();
    let QuotaTable { tokens_per_day, cost_per_day, .. } = agent.quota;
    let cost_micros_per_day = cost_per_day.map(micros);
    of_executor.stricter(CallerLimits { tokens_per_day, cost_micros_per_day })
}

/// The quotas of the callers of an agent.
fn quotas_of(request: Request<'_>, agent: Option<&HostedAgent>) -> Vec<Quota> {
    let of_all = request.deployment.settings.max_active_tasks;
    let quota = agent.map(|agent| agent.quota).unwrap_or_default();
    let QuotaTable { active_tasks, stored_bytes, .. } = quota;
    let of_all = (of_all > 0).then_some(Quota::Tasks(of_all));
    let tasks = active_tasks.map(Quota::AgentTasks);
    let bytes = stored_bytes.map(Quota::StoredBytes);
    [of_all, tasks, bytes].into_iter().flatten().collect()
}

/// Refuses a call that would begin a task if its caller has reached a quota; otherwise notes that its place is reserved. A send with an
/// idempotency key, or with an id that its client has chosen, is admitted, with the quota in its terms: only its object knows whether it
/// begins a task.
///
/// # Errors
///
/// [`Error::OverQuota`].
fn apply_place<C>(place: &FoundPlace, command: &mut Command<C>) -> Result<(), Error> {
    let may_be_known = command.fingerprint.is_some() || command.chosen_id.is_some();
    match place {
        FoundPlace::Reserved(_) => command.terms.is_reserved = true,
        FoundPlace::Reached(quota) if may_be_known => command.terms.over_quota = Some(*quota),
        FoundPlace::Reached(quota) => return Err(Error::OverQuota(*quota)),
    }
    Ok(())
}

/// The address of the object to which a command is sent: for a task that begins, the object for which a place is reserved.
pub(super) fn address(address: TaskAddress, found: Option<&FoundTerms>) -> TaskAddress {
    match (address, found.and_then(|found| found.place.as_ref())) {
        (TaskAddress::New, Some(FoundPlace::Reserved(object))) => {
            TaskAddress::NewObject(object.clone())
        }
        (address, _) => address,
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
    use crate::forms::address::ObjectId;
    use a2a::binding::{MediaType, Reply};
    use a2a::{Allowance, DayLimit, UsedUp};

    fn command(fingerprint: Option<&str>) -> Command<()> {
        let reply = Reply::rest(MediaType::Json);
        let command = Command::new("a".to_owned(), Caller::anonymous(), reply, ());
        Command { fingerprint: fingerprint.map(str::to_owned), ..command }
    }

    #[test]
    fn a_send_over_a_quota_is_refused_unless_its_task_may_be_there_already() {
        let object = ObjectId::new("0a").unwrap();
        let reserved = FoundPlace::Reserved(object);
        let quota = Quota::AgentTasks(3);
        let reached = FoundPlace::Reached(quota);
        let refused = Err(Error::OverQuota(quota));
        for (fingerprint, chosen, place, outcome, told) in [
            (None, None, &reserved, Ok(()), None),
            (None, None, &reached, refused, None),
            (Some("f"), None, &reserved, Ok(()), None),
            (Some("f"), None, &reached, Ok(()), Some(quota)),
            (None, Some("mine"), &reached, Ok(()), Some(quota)),
        ] {
            let mut command = command(fingerprint);
            command.chosen_id = chosen.and_then(TaskId::new);
            let told_of = format!("{fingerprint:?} {chosen:?} {place:?}");
            assert_eq!(apply_place(place, &mut command), outcome, "{told_of}");
            assert_eq!(command.terms.over_quota, told, "{told_of}");
            assert_eq!(command.terms.is_reserved, *place == reserved, "{told_of}");
        }
    }

    #[test]
    fn a_task_begins_in_the_object_for_which_its_place_is_reserved() {
        let object = ObjectId::new("0a").unwrap();
        let found = |place| FoundTerms { place, used: None, sealed: None };
        let reserved = found(Some(FoundPlace::Reserved(object.clone())));
        let named = TaskAddress::Named("a".to_owned());
        for (at, found, expected) in [
            (TaskAddress::New, Some(&reserved), TaskAddress::NewObject(object)),
            (TaskAddress::New, Some(&found(None)), TaskAddress::New),
            (TaskAddress::New, None, TaskAddress::New),
            (named.clone(), Some(&reserved), named),
        ] {
            assert_eq!(address(at, found), expected);
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
