//! The plan for an admitted command: a list, the deletion of a context, or a call of the object of its task.

use super::identify::Request;
use super::listing;
use super::plan::Plan;
use super::seen::Seen;
use super::terms;
use crate::forms::address::{ObjectId, TaskAddress};
use crate::forms::command::{Command, StreamCommand};
use a2a::binding::ServiceParameters;
use a2a::error::Error;
use a2a::model::Generation;
use a2a::{Call, FollowCall};

/// The plan for a command.
pub(super) fn plan(
    request: Request<'_>,
    parameters: &ServiceParameters,
    command: Command<Call>,
    seen: &mut Seen,
) -> Plan {
    let (reply, is_stream) = (command.reply.clone(), command.call.is_stream());
    let planned = try_to_plan(request, parameters, command, seen);
    planned.unwrap_or_else(|error| Plan::Answer(reply.refusal(is_stream, &error)))
}

fn try_to_plan(
    request: Request<'_>,
    parameters: &ServiceParameters,
    command: Command<Call>,
    seen: &mut Seen,
) -> Result<Plan, Error> {
    if let Some(failure) = &request.facts.failure {
        return Err(failure.error(command.call.task_id(), seen));
    }
    if matches!(command.call, Call::List(_) | Call::Webhooks(_) | Call::Context(_)) {
        return listing::plan(request, command, seen);
    }
    let key = parameters.idempotency_key()?;
    let mut command = match terms::need(request, command, key) {
        Ok(command) => command,
        Err(need) => return Ok(Plan::Need(need)),
    };
    if let Some(found) = &request.facts.terms {
        terms::apply(request, found, &mut command, seen)?;
    }
    let (command, call) = command.take_call();
    let address = TaskAddress::of_command(&command, call.task_id(), key);
    let address = terms::address(address, request.facts.terms.as_ref());
    if let TaskAddress::Object(id) = &address
        && !ObjectId::is_well_formed(id.as_str())
    {
        return Err(Error::TaskNotFound(id.task_id().clone()));
    }
    match call {
        Call::Task(call) => Ok(Plan::Call(address, Box::new(command.with_call(call)))),
        Call::Follow(call) => {
            let hello = hello(request, parameters, command.with_call(call))?;
            Ok(Plan::Stream(address, Box::new(hello)))
        }
        // `Exchange` has answered requests for the card, and what the index answers has returned above.
        Call::Card | Call::List(_) | Call::Webhooks(_) | Call::Context(_) => {
            Err(Error::Internal { task: None })
        }
    }
}

/// The command that opens a stream at the object of a task.
///
/// # Errors
///
/// If the header with the client's last event is invalid.
fn hello(
    request: Request<'_>,
    parameters: &ServiceParameters,
    command: Command<FollowCall>,
) -> Result<StreamCommand, Error> {
    let after = match &command.call {
        _ if !command.reply.dialect().resumes_by_event() => None,
        FollowCall::SubscribeToTask(_) => parameters.after()?,
        FollowCall::SendStreamingMessage(_) if parameters.idempotency_key()?.is_some() => {
            parameters.after()?
        }
        FollowCall::SendStreamingMessage(_) => None,
    };
    let agent = request.deployment.agents.find(Some(&command.agent));
    let most_streams = agent.and_then(|agent| agent.quota.streams);
    Ok(StreamCommand { command, most_streams, after: after.map(Generation) })
}
