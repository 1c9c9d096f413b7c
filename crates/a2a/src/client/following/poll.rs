//! Polls a task for which there is no stream.

use super::{Following, Source, Start};
use crate::call::{Call, TaskCall};
use crate::client::{Answer, CallOptions, ClientError};
use crate::model::{StreamResponse, TaskState, UnixMillis};

/// The state of polling a task.
pub(super) struct Polling {
    /// True if a stream was open before, so that further events are expected.
    is_fallback: bool,
    /// The instant of the task's last change.
    silent_since: UnixMillis,
    /// The number of further snapshots that may be older than the message that this call has sent.
    old_looks: u32,
}

impl Following {
    /// Sends the message, or fetches the task, without a stream.
    pub(super) async fn begin_to_poll(&mut self) -> Result<(), ClientError> {
        let task = match &self.start {
            Start::Send(request) => {
                let mut request = request.clone();
                request.configuration.return_immediately = true;
                let call = Call::Task(TaskCall::SendMessage(request));
                let options = CallOptions { last_event_id: None, ..self.options.clone() };
                let answer = self.client.exchange(&call, &options).await?;
                return self.answered(answer);
            }
            Start::Subscribe(request) => request.id.clone(),
        };
        let task = self.look(&task).await?;
        self.answered(Answer::Task(task))
    }

    /// Handles a single answer to a call that requested events.
    pub(super) fn answered(&mut self, answer: Answer) -> Result<(), ClientError> {
        match answer {
            Answer::Message(message) => {
                self.telling.message(StreamResponse::Message(message), None);
                self.source = Source::Over;
            }
            Answer::Task(task) => {
                self.telling.look(task);
                self.go_on_polling(false);
            }
            _ => return Err(ClientError::unexpected("the request for events")),
        }
        Ok(())
    }

    /// Polls the task from now on, unless everything is reported.
    pub(super) fn go_on_polling(&mut self, is_fallback: bool) {
        let old_looks = if self.may_be_old() && !is_fallback { MAX_OLD_LOOKS } else { 0 };
        self.source = if self.is_done() && old_looks == 0 {
            Source::Ending
        } else {
            Source::Polling(Polling { is_fallback, silent_since: self.now(), old_looks })
        };
    }

    /// True if the snapshot may be older than the sent message: the message answers the task, but the task is in the
    /// state input-required without a message in its status.
    fn may_be_old(&self) -> bool {
        let Some(task) = self.telling.told() else { return false };
        let is_answer =
            matches!(&self.start, Start::Send(request) if request.message.task_id.is_some());
        let asks = task.status.state == TaskState::InputRequired;
        is_answer && asks && task.status.message.is_none()
    }

    /// Fetches the task after the interval.
    pub(super) async fn poll(&mut self) -> Result<(), ClientError> {
        let Some(id) = self.telling.told().map(|task| task.id.clone()) else {
            return Err(ClientError::Ended);
        };
        self.sleep(self.client.settings().poll_interval_ms.max(1)).await?;
        let task = self.look(&id).await?;
        let has_news = self.telling.look(task);
        self.telling.check_size()?;
        let (now, is_done, may_be_old) = (self.now(), self.is_done(), self.may_be_old());
        let Source::Polling(polling) = &mut self.source else { return Ok(()) };
        if has_news {
            polling.silent_since = now;
        }
        polling.old_looks = polling.old_looks.saturating_sub(1);
        if is_done && !(may_be_old && polling.old_looks > 0) {
            self.source = Source::Ending;
            return Ok(());
        }
        let silent_ms = now.millis_since(polling.silent_since);
        if polling.is_fallback && silent_ms >= self.client.settings().timeout_ms {
            return Err(ClientError::Ended);
        }
        Ok(())
    }
}

/// The largest number of snapshots that may be older than the sent message.
const MAX_OLD_LOOKS: u32 = 5;
