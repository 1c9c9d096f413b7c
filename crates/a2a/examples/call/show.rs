//! The output: the content of the agent's answers on standard output, the states of the task on
//! standard error.

use std::collections::BTreeMap;
use std::io::Write;

use a2a::client::{RemoteCard, TaskPage, card_to_prompt, extract_text};
use a2a::model::{
    Artifact, Message, Part, StreamResponse, Task, TaskId, TaskState, TaskStatus, encode,
};

/// Prints a line. Errors are ignored, because the reader may have closed the output.
pub(crate) fn line(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

fn print(text: &str) {
    let mut output = std::io::stdout();
    let _ = output.write_all(text.as_bytes()).and_then(|()| output.flush());
}

/// Prints the card, for people or as received.
pub(crate) fn card(card: &RemoteCard, as_json: bool) {
    if as_json {
        return line(&card.json.to_string());
    }
    print(&card_to_prompt(card));
    let offers = [("streams", card.streams), ("sends webhooks", card.sends_webhooks)];
    let offers: Vec<&str> =
        offers.into_iter().filter(|(_, is)| *is).map(|(name, _)| name).collect();
    if !offers.is_empty() {
        line(&format!("\nIt {}.", offers.join(" and ")));
    }
    line("\nIt answers at:\n");
    for one in &card.interfaces {
        line(&format!("- {} ({} {})", one.url, one.protocol_binding, one.protocol_version));
    }
}

/// Prints the present state of a task.
pub(crate) fn task(task: &Task, as_json: bool) {
    if as_json {
        return json(task);
    }
    state(task.id.as_str(), &task.status);
    let text = extract_text(task).or_else(|| said(&task.status));
    text.iter().for_each(|text| line(text));
}

/// Prints tasks, one per line.
pub(crate) fn page(page: &TaskPage, as_json: bool) {
    for task in &page.tasks {
        if as_json {
            json(task);
        } else {
            let said = said(&task.status).unwrap_or_default().replace('\n', " ");
            line(format!("{}  {}  {said}", task.id, task.status.state).trim_end());
        }
    }
    if !page.next_page_token.is_empty() {
        eprintln!("There are more: --page {}", page.next_page_token);
    }
}

fn json<T: serde::Serialize>(value: &T) {
    match encode(value) {
        Ok(text) => line(&text),
        Err(error) => eprintln!("call: {error}"),
    }
}

fn state(id: &str, status: &TaskStatus) {
    eprintln!("[{}] task {id}", status.state);
}

fn said(status: &TaskStatus) -> Option<String> {
    status.message.as_ref().map(Message::text).filter(|text| !text.is_empty())
}

/// The printed part of a task.
pub(crate) struct Shown {
    as_json: bool,
    /// The id of the task, when it is known.
    pub(crate) task: Option<TaskId>,
    status: Option<TaskStatus>,
    /// The printed text of each artifact.
    texts: BTreeMap<String, String>,
    /// Whether the last printed line has no line end yet.
    is_open: bool,
}

impl Shown {
    pub(crate) fn new(as_json: bool) -> Self {
        Self { as_json, task: None, status: None, texts: BTreeMap::new(), is_open: false }
    }

    /// Prints an event.
    pub(crate) fn event(&mut self, event: &StreamResponse) {
        if self.as_json {
            json(event);
        }
        match event {
            StreamResponse::Message(message) => self.text(&message.text()),
            StreamResponse::Task(task) => {
                self.status(&task.id, &task.status);
                task.artifacts.iter().for_each(|artifact| self.artifact(artifact, false));
            }
            StreamResponse::StatusUpdate(event) => self.status(&event.task_id, &event.status),
            StreamResponse::ArtifactUpdate(event) => self.artifact(&event.artifact, event.append),
        }
    }

    fn status(&mut self, id: &TaskId, status: &TaskStatus) {
        self.task = Some(id.clone());
        let is_news = self
            .status
            .as_ref()
            .is_none_or(|known| known.state != status.state || said(known) != said(status));
        if is_news && !self.as_json {
            self.close();
            match said(status).filter(|_| status.state == TaskState::Working) {
                Some(text) => eprintln!("[{}] {text}", status.state),
                None => state(id.as_str(), status),
            }
        }
        self.status = Some(status.clone());
    }

    fn artifact(&mut self, artifact: &Artifact, is_more: bool) {
        let parts = artifact
            .parts
            .iter()
            .map(|part| part.as_text().map_or_else(|| note(part), str::to_owned));
        let given = parts.collect::<String>();
        let known = self.texts.entry(artifact.artifact_id.clone()).or_default();
        let is_first = known.is_empty();
        let whole = if is_more { format!("{known}{given}") } else { given };
        let more = whole.strip_prefix(known.as_str()).map(str::to_owned);
        *known = whole.clone();
        if is_first || more.is_none() {
            self.close();
        }
        self.text(&more.unwrap_or(whole));
    }

    fn text(&mut self, text: &str) {
        if !self.as_json && !text.is_empty() {
            print(text);
            self.is_open = !text.ends_with('\n');
        }
    }

    /// Ends an open line of the agent's text.
    fn close(&mut self) {
        if self.is_open {
            print("\n");
            self.is_open = false;
        }
    }

    /// Prints the end of the task, and returns the exit code.
    pub(crate) fn end(&mut self, url: &str) -> u8 {
        let status = self.status.take();
        if let Some(text) = status.as_ref().and_then(said)
            && (self.texts.is_empty()
                || status.as_ref().is_some_and(|it| it.state != TaskState::Completed))
        {
            self.close();
            self.text(&text);
        }
        self.close();
        // If the agent answers with a message, there is no task.
        let Some(status) = status else { return 0 };
        let task = self.task.as_ref().map(TaskId::as_str).unwrap_or_default();
        if status.state.is_interrupted() && !self.as_json {
            eprintln!("To answer: call send {url} --task {task} TEXT");
        }
        match status.state {
            TaskState::Completed => 0,
            TaskState::InputRequired => 3,
            TaskState::AuthRequired => 4,
            TaskState::Canceled => 5,
            TaskState::Failed | TaskState::Rejected | TaskState::Submitted | TaskState::Working => {
                1
            }
        }
    }
}

/// The text for a part that is not a text.
fn note(part: &Part) -> String {
    match part.as_data() {
        Some(data) => data.to_string(),
        None => {
            let name = part.filename.as_deref().or(part.media_type.as_deref()).unwrap_or("file");
            format!("[{name}]")
        }
    }
}
