//! The messages of the earlier tasks of a conversation.

use std::rc::Rc;

use super::{ExecutorError, Turn};
use crate::port::join_all;
use a2a::binding::Binding;
use a2a::client::{Client, Connection, Settings};
use a2a::dialect::Dialect;
use a2a::model::{GetTaskRequest, ListTasksRequest, Message, Part, Role, Task};

impl Turn {
    /// The messages of the newest `count` earlier tasks of this conversation, oldest first. The messages of a task are those
    /// of the client, followed by the agent's answer as one message of texts and data. Only the caller's own tasks with this
    /// agent are read; a file is replaced by its name. Empty if the client has named no conversation.
    ///
    /// The read is a [step](Self::step): a run that resumes, and a later turn of the task, get the same messages.
    ///
    /// # Errors
    ///
    /// If the tasks cannot be read at the moment.
    pub(crate) async fn earlier_tasks(&self, count: u8) -> Result<Vec<Message>, ExecutorError> {
        if count == 0 || !self.joins_context && self.number == 1 {
            return Ok(Vec::new());
        }
        if self.number > 1 {
            return Ok(self.last_kept::<Vec<Message>>(STEP)?.unwrap_or_default());
        }
        self.step(STEP, async || Box::pin(self.look_at_tasks(count)).await).await
    }

    async fn look_at_tasks(&self, count: u8) -> Result<Vec<Message>, ExecutorError> {
        let client = self.own_agent();
        let failed = |error| {
            ExecutorError(format!("the earlier tasks of the conversation cannot be read: {error}"))
        };
        let request = ListTasksRequest {
            tenant: None,
            context_id: Some(self.context_id.clone()),
            status: None,
            // One more than `count`, because the list may contain this task, too.
            page_size: count.saturating_add(1),
            page_token: None,
            history_length: Some(0),
            status_timestamp_after: None,
            include_artifacts: false,
            text: None,
            waiting: false,
            include_summary: false,
        };
        let listed = client.list(request).await.map_err(failed)?.tasks.into_iter();
        let others = listed.map(|task| task.id).filter(|id| *id != self.task_id);
        let others = others.take(count.into()).map(|id| {
            let request = GetTaskRequest { tenant: None, id, history_length: None };
            let client = &client;
            async move { client.get(request).await }
        });
        // A task that was deleted meanwhile is left out.
        let tasks: Vec<Task> = join_all(others).await.into_iter().flatten().collect();
        let mut said = Vec::new();
        let mut size = 0;
        for task in tasks {
            let of_task = said_in(task);
            let lengths = of_task.iter().flat_map(|message| &message.parts);
            size += lengths.map(|part| part.as_text().map_or(0, str::len)).sum::<usize>();
            if size > MAX_BYTES {
                break;
            }
            said.push(of_task);
        }
        // The list has the newest task first.
        Ok(said.into_iter().rev().flatten().collect())
    }

    /// A client of the turn's own agent, whose requests are made for the same caller, without HTTP.
    fn own_agent(&self) -> Client {
        let settings =
            Settings { request_timeout_ms: TIMEOUT_MS, max_retries: 1, ..Settings::new("") };
        let client = self.hosted(&self.agent, settings);
        let connection = Connection {
            url: client.settings().url.clone(),
            binding: Binding::JsonRpc,
            dialect: Dialect::V1,
            tenant: None,
            is_trusted: true,
            streams: false,
        };
        client.with_connection(Rc::new(connection))
    }
}

/// The messages of a task: those of the client, and then the answer.
fn said_in(task: Task) -> Vec<Message> {
    let Task { id, context_id, status, artifacts, history, .. } = task;
    let ids = (context_id, Some(id.clone()));
    let texts = |parts: Vec<Part>| -> Vec<Part> {
        let text = |part: Part| match (part.as_text(), part.as_data()) {
            (Some(_), _) => Some(part),
            (None, Some(data)) => Some(Part::text(data.to_string())),
            (None, None) => {
                let name = part.filename.as_deref().or(part.media_type.as_deref());
                Some(Part::text(format!("[file {}]", name.unwrap_or_default())))
            }
        };
        parts.into_iter().filter_map(text).collect()
    };
    let of_client = history.into_iter().filter(|message| message.role == Role::User);
    let mut said: Vec<Message> =
        of_client.map(|message| Message { parts: texts(message.parts), ..message }).collect();
    let mut answer: Vec<Part> = Vec::new();
    for artifact in artifacts {
        // A streamed text is stored as one part per chunk, so its parts are joined.
        let (chunks, others): (Vec<Part>, Vec<Part>) =
            artifact.parts.into_iter().partition(|part| part.as_text().is_some());
        let text: String = chunks.iter().filter_map(Part::as_text).collect();
        answer.extend((!text.is_empty()).then(|| Part::text(text)));
        answer.extend(texts(others));
    }
    answer.extend(texts(status.message.map(|message| message.parts).unwrap_or_default()));
    if !answer.is_empty() {
        let (context_id, task_id) = ids;
        said.push(Message {
            message_id: format!("{id}-answer"),
            context_id,
            task_id,
            role: Role::Agent,
            parts: answer,
            metadata: None,
            extensions: Vec::new(),
            reference_task_ids: Vec::new(),
        });
    }
    said
}

/// The step that stores the messages.
const STEP: &str = "context";

/// The timeout for one request, in milliseconds.
const TIMEOUT_MS: u64 = 5_000;

/// The largest size of the earlier tasks' texts, in bytes. Older tasks beyond this size are left out.
const MAX_BYTES: usize = 128 * 1024;
