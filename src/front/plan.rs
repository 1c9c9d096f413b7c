//! What is to be done with a request. `src/edge/front/plan.rs` has the text in which `js/hop.js` gets it.

use super::facts::{Called, Need};
use super::failure::Failure;
use super::seen::Seen;
use crate::forms::address::TaskAddress;
use crate::forms::command::{Command, StreamCommand};
use crate::operation::list_tasks::TaskQuery;
use a2a::TaskCall;
use a2a::binding::Reply;
use a2a::binding::http::HttpResponse;
use a2a::model::TaskId;

/// What is to be done with a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Plan {
    /// Give this answer.
    Answer(HttpResponse),
    /// Let the object of a task answer a call.
    Call(TaskAddress, Box<Command<TaskCall>>),
    /// Open a stream from the object of a task.
    Stream(TaskAddress, Box<StreamCommand>),
    /// Let the object of a task take a post to a callback.
    CallBack(Box<Called>),
    /// Let D1 carry out this query.
    List(Box<TaskQuery>),
    /// Let a guest answer: MCP, the console, the scripts of test doubles.
    Visit,
    /// Find a fact, and plan again.
    Need(Need),
}

/// How an answer is written for the client of a command.
pub(crate) struct Form {
    reply: Reply,
    is_stream: bool,
    task: Option<TaskId>,
}

impl Form {
    /// The answer to a command whose object has none.
    pub(super) fn refusal(&self, failure: &Failure, seen: &mut Seen) -> HttpResponse {
        let error = failure.error(self.task.as_ref(), seen);
        self.reply.refusal(self.is_stream, &error)
    }
}

impl Plan {
    /// How an answer is written that the object does not give; `None` unless this is to ask one for a client.
    pub(crate) fn form(&self) -> Option<Form> {
        match self {
            Self::Call(_, command) => {
                let (reply, task) = (command.reply.clone(), command.call.task_id().cloned());
                Some(Form { reply, is_stream: false, task })
            }
            Self::Stream(_, hello) => {
                let (reply, call) = (hello.command.reply.clone(), &hello.command.call);
                Some(Form { reply, is_stream: true, task: call.task_id().cloned() })
            }
            Self::Answer(_) | Self::CallBack(_) | Self::List(_) | Self::Visit | Self::Need(_) => {
                None
            }
        }
    }
}
