//! Calls an agent for a tool, and follows its task to its end, to a question, or until the client has waited long enough.

use futures_util::StreamExt;
use futures_util::future::{Either, select};

use super::super::decision::Front;
use super::access::Admitted;
use super::catalog::Catalog;
use super::outer::Outer;
use super::respond;
use super::tasks::refused;
use crate::edge::service::random::WorkerRandom;
use crate::port::Random;
use a2a::binding::http::HttpResponse;
use a2a::client::{Client, ClientError, TaskStream, apply};
use a2a::model::{
    SendMessageConfiguration, SendMessageRequest, StreamResponse, Task, TaskId, UnixMillis,
};
use mcp::agents::{Arguments, answered, result_of, say_depth};
use mcp::model::{CallResult, Content};
use mcp::server::{Request, ToolCall};

impl Front {
    /// Answers a call of the tool of an agent, or of its skill of this id.
    pub(super) async fn call_agent(
        &self,
        outer: &Outer,
        catalog: &Catalog<'_>,
        admitted: &Admitted<'_>,
        skill: Option<String>,
        request: &Request,
        call: &ToolCall,
    ) -> HttpResponse {
        let reply = &request.reply;
        let mut arguments = match Arguments::read(&call.arguments) {
            Ok(arguments) => arguments,
            Err(reason) => return respond(reply, refused(&reason)),
        };
        if !arguments.say_something() {
            match &skill {
                // A skill says by itself what is to be done.
                Some(skill) => arguments.message = Some(skill.clone()),
                None => {
                    return respond(
                        reply,
                        refused("the argument message must be a text that is not empty"),
                    );
                }
            }
        }
        let Some(card) = catalog.card(admitted) else {
            return respond(reply, refused("the card of the agent cannot be read"));
        };
        let slug = &admitted.agent.slug;
        let client = outer.client(slug, card);
        let mut message = arguments.to_message(|| WorkerRandom.new_id(), skill.as_deref());
        say_depth(&mut message, request.meta.depth);
        let origin = catalog.origin.to_owned();
        let running =
            Running::send(client, message, origin, slug.clone(), self.settings.mcp.wait_ms);
        respond(reply, Box::pin(running.finish()).await)
    }
}

/// A call that is under way.
struct Running {
    client: Client,
    stream: TaskStream,
    task: Option<Task>,
    /// Whether the message goes on with a task, so that the first look at it may be from before the message.
    is_answer: bool,
    /// Until when the client waits.
    end: UnixMillis,
    origin: String,
    slug: String,
}

impl Running {
    fn send(
        client: Client,
        message: a2a::model::Message,
        origin: String,
        slug: String,
        wait_ms: u64,
    ) -> Self {
        let is_answer = message.task_id.is_some();
        let configuration = SendMessageConfiguration::default();
        let request = SendMessageRequest { tenant: None, message, configuration, metadata: None };
        let stream = client.send_streaming(request);
        let end = client.ports().clock.now().after(wait_ms);
        Self { client, stream, task: None, is_answer, end, origin, slug }
    }

    /// Follows the task, and gives what it comes to.
    async fn finish(mut self) -> CallResult {
        let clock = self.client.ports().clock.clone();
        loop {
            let left_ms = self.end.millis_since(clock.now());
            let event = match select(self.stream.next(), clock.sleep(left_ms)).await {
                Either::Left((event, _)) => event,
                Either::Right(_) => return self.unfinished(),
            };
            let event = match event {
                Some(Ok(event)) => event.event,
                Some(Err(error)) => return failed(&error),
                None => return self.unfinished(),
            };
            if let (StreamResponse::Message(message), None) = (&event, &self.task) {
                return answered(message, &address(&self.origin, &self.slug));
            }
            apply(&mut self.task, &event);
            let Some(task) = &self.task else { continue };
            let state = task.status.state;
            let is_news = !(self.is_answer && matches!(event, StreamResponse::Task(_)));
            if state.is_terminal() || (state.is_interrupted() && is_news) {
                return self.unfinished();
            }
        }
    }

    /// What there is of the task.
    fn unfinished(&self) -> CallResult {
        match &self.task {
            Some(task) => {
                result_of(task, &self.slug, &address_of(&self.origin, &self.slug, &task.id))
            }
            None => refused("the agent has not answered in time"),
        }
    }
}

/// What begins the addresses of what an agent gives.
fn address(origin: &str, slug: &str) -> String {
    let host = origin.split_once("://").map_or(origin, |(_, host)| host);
    format!("a2a://{host}/{slug}")
}

/// The address of a task.
pub(super) fn address_of(origin: &str, slug: &str, task: &TaskId) -> String {
    format!("{}/tasks/{task}", address(origin, slug))
}

/// The result of a call that an agent has refused, or whose agent could not be asked.
pub(super) fn failed(error: &ClientError) -> CallResult {
    let text = match error {
        ClientError::Remote(error) => error.message.clone(),
        error => error.to_string(),
    };
    CallResult { content: vec![Content::Text(text)], structured: None, is_error: true }
}
