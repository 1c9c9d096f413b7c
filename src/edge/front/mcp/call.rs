//! Calls of the tools that are agents: a message to the agent, or the answer to an earlier question of the agent.

use serde_json::Value;

use super::super::deployment::Front;
use super::access::Admitted;
use super::address::Place;
use super::catalog::Catalog;
use super::outcome::{TASK_NOT_FOUND, answer_to, failed, refused};
use super::outer::Outer;
use super::running::{Running, message_of};
use crate::edge::service::random::WorkerRandom;
use crate::port::Random;
use a2a::client::{Client, ClientError};
use a2a::model::{GetTaskRequest, Message};
use mcp::agents::{Arguments, Callee, Waiting, result_of, say_depth};
use mcp::model::{Answer, CallResult, Content, RpcError, code};
use mcp::server::{Request, ToolCall};

/// A call of a tool that is still running, or the message that answers it already.
pub(super) type Called = std::result::Result<Running, Value>;

impl Front {
    /// Begins a call of an agent's tool, or of the tool of its skill with this id.
    pub(super) async fn call_agent(
        &self,
        outer: &Outer,
        catalog: &Catalog<'_>,
        admitted: &Admitted<'_>,
        skill: Option<String>,
        request: &Request,
        call: &ToolCall,
    ) -> Called {
        let answered = |result: CallResult| request.reply.called(result);
        let card = catalog.card(admitted);
        let card = card.ok_or_else(|| answered(refused("the card of the agent cannot be read")))?;
        let place = catalog.place(&admitted.agent.slug);
        let client = outer.client(&place.slug, card);
        if let Some(state) = &call.state {
            return self.go_on(client, place, state, &call.answers, request).await;
        }
        let callee = match &skill {
            Some(skill) => Callee::Skill(admitted.input_schema(skill)),
            None => Callee::Agent,
        };
        let arguments = Arguments::read(&call.arguments, callee);
        let arguments = arguments.map_err(|reason| answered(refused(&reason)))?;
        // The call of a skill needs no text: the skill defines the work.
        if skill.is_none() && !arguments.say_something() {
            return Err(answered(refused(NOTHING_SAID)));
        }
        let message = arguments.to_message(|| WorkerRandom.new_id().into(), skill.as_deref());
        Ok(self.send(client, message, place, request))
    }

    fn send(
        &self,
        client: Client,
        mut message: Message,
        place: Place,
        request: &Request,
    ) -> Running {
        say_depth(&mut message, request.meta.depth);
        Running::send(client, message, place, request, self.deployment.settings.mcp.wait_ms)
    }

    /// Continues a call whose agent has asked a question. The client sends back a state with the id of the task; the task itself
    /// determines its owner and its question.
    async fn go_on(
        &self,
        client: Client,
        place: Place,
        state: &str,
        answers: &[(String, Answer)],
        request: &Request,
    ) -> Called {
        let reply = &request.reply;
        let unknown = || {
            let message = "requestState must be one that was given out to this caller";
            reply.error_message(&RpcError::new(code::INVALID_PARAMS, message))
        };
        let id = Waiting::task_of(state).ok_or_else(unknown)?;
        let asked = GetTaskRequest { tenant: None, id, history_length: None };
        let task = client.get(asked).await.map_err(|error| match error {
            ClientError::Remote(error) if error.code == TASK_NOT_FOUND => unknown(),
            error => reply.called(failed(&error)),
        })?;
        let Some(waiting) = Waiting::of(&task) else {
            // The task continues already: the answer was delivered, and only the result was lost.
            let wait_ms = self.deployment.settings.mcp.wait_ms;
            return Ok(Running::resume(client, task, place, request, wait_ms));
        };
        let answer = waiting.answer_in(answers).filter(|_| waiting.is_of(state));
        let Some(answer) = answer else { return Err(message_of(reply, &task, &place)) };
        match waiting.parts(answer) {
            Some(parts) => {
                // The same answer makes the same message, so a repetition is recognized.
                let message = answer_to(&task.id, waiting.message_id(), parts, &client);
                Ok(self.send(client, message, place, request))
            }
            None => {
                let mut result = result_of(&task, &place.slug, &place.address_of(&task.id));
                result.content.insert(0, Content::Text(UNANSWERED.to_owned()));
                Err(reply.called(result))
            }
        }
    }
}

const NOTHING_SAID: &str = "the argument message must be a text that is not empty";

const UNANSWERED: &str = "The user has not answered.";
