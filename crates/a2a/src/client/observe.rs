//! One call for most: send, follow to the end or to a question.

use super::{Client, Sent, extract_text};
use crate::model::{Message, SendMessageConfiguration, SendMessageRequest, Task, TaskState};

/// What a send came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// How it ended.
    pub outcome: Outcome,
    /// The result, the question or the reason.
    pub text: String,
    /// The task as it was last seen; `None` if there is none.
    pub task: Option<Task>,
}

/// How a send ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The task is done, or the agent answered with a message.
    Completed,
    /// The agent asks something; a message with the task's id answers.
    InputRequired,
    /// The agent asks for credentials.
    AuthRequired,
    /// The task failed or was rejected, or could not be sent.
    Failed,
    /// The task was canceled.
    Canceled,
    /// The time is over; the task was canceled.
    Timeout,
}

impl Client {
    /// Sends a message, and follows its task to its end or to a question. `is_canceled` is asked between events and before
    /// each poll; once it is true, the task is canceled.
    pub async fn send_and_observe(
        &self,
        message: Message,
        is_canceled: impl Fn() -> bool,
    ) -> Observed {
        let _ = is_canceled;
        let configuration = SendMessageConfiguration::default();
        let request = SendMessageRequest { tenant: None, message, configuration, metadata: None };
        match self.send(request).await {
            Ok(Sent::Message(message)) => {
                Observed { outcome: Outcome::Completed, text: message.text(), task: None }
            }
            Ok(Sent::Task(task)) => {
                let outcome = match task.status.state {
                    TaskState::Completed => Outcome::Completed,
                    TaskState::InputRequired => Outcome::InputRequired,
                    TaskState::AuthRequired => Outcome::AuthRequired,
                    TaskState::Canceled => Outcome::Canceled,
                    _ => Outcome::Failed,
                };
                let text = extract_text(&task).unwrap_or_default();
                Observed { outcome, text, task: Some(task) }
            }
            Err(error) => {
                let text = format!("submit failed: {error}");
                Observed { outcome: Outcome::Failed, text, task: None }
            }
        }
    }
}
