//! The plan for a request: the action of `js/hop.js`. `src/edge/front/plan.rs` converts it to text.

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

/// The action for a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Plan {
    /// Send this answer.
    Answer(HttpResponse),
    /// Call the object of a task, which answers.
    Call(TaskAddress, Box<Command<TaskCall>>),
    /// Open a stream from the object of a task.
    Stream(TaskAddress, Box<StreamCommand>),
    /// Pass a post to a callback to the object of a task.
    CallBack(Box<Called>),
    /// Run this query in D1, or if the index is in objects, in that of the owner.
    List { is_in_objects: bool, query: Box<TaskQuery> },
    /// Call a guest, which answers: MCP, the console, the scripts of test doubles.
    Visit,
    /// Find a missing fact, then decide the request again.
    Need(Need),
}

/// The format of an answer for the client of a command.
pub(crate) struct Form {
    reply: Reply,
    is_stream: bool,
    task: Option<TaskId>,
}

impl Form {
    /// The error answer to a command whose object returned no answer.
    pub(super) fn refusal(&self, failure: &Failure, seen: &mut Seen) -> HttpResponse {
        let error = failure.error(self.task.as_ref(), seen);
        self.reply.refusal(self.is_stream, &error)
    }
}

impl Plan {
    /// The format of the error answer for the case that the object does not answer; `None` if the plan calls no object
    /// for a client of A2A.
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
            Self::Answer(_)
            | Self::CallBack(_)
            | Self::List { .. }
            | Self::Visit
            | Self::Need(_) => None,
        }
    }
}
