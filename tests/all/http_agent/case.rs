//! One case of the table.

use a2a::model::{Message, TaskState};
use a2a_edge::twins::MemoryPlatform;
use serde_json::{Value, json};

use crate::support::http_agent::{Answer, Fate, HttpAgent, SIGNING_SECRET, TOKEN};

/// An agent that misbehaves, and what its task must come to.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// More keys of its table.
    settings: Value,
    /// What it answers to one request after the other; the last one also to all further ones.
    answers: Vec<Answer>,
    state: TaskState,
    /// What the task must tell.
    tells: &'static str,
    /// How often the agent must be asked.
    requests: usize,
    /// The texts of the artifacts that the task must have.
    artifacts: Option<&'static [&'static str]>,
}

/// An agent that answers like this: its task fails, and is not asked again.
pub(crate) fn case(name: &'static str, answer: Answer) -> Case {
    Case {
        name,
        settings: json!({}),
        answers: vec![answer],
        state: TaskState::Failed,
        tells: "",
        requests: 1,
        artifacts: Some(&[]),
    }
}

impl Case {
    /// What the task tells: this stands in the text of its status.
    pub(crate) fn tells(self, tells: &'static str) -> Self {
        Self { tells, ..self }
    }

    /// What the agent answers when it is asked again.
    pub(crate) fn then(mut self, answer: Answer) -> Self {
        self.answers.push(answer);
        self
    }

    pub(crate) fn with(self, settings: Value) -> Self {
        Self { settings, ..self }
    }

    pub(crate) fn ends(self, state: TaskState) -> Self {
        Self { state, ..self }
    }

    pub(crate) fn asked(self, requests: usize) -> Self {
        Self { requests, ..self }
    }

    pub(crate) fn keeps(self, artifacts: &'static [&'static str]) -> Self {
        Self { artifacts: Some(artifacts), ..self }
    }

    /// What the task has taken before does not matter.
    pub(crate) fn keeps_anything(self) -> Self {
        Self { artifacts: None, ..self }
    }

    /// Plays the case.
    ///
    /// # Errors
    ///
    /// What was not as it must be.
    pub(crate) fn run(&self) -> Result<(), String> {
        let platform = MemoryPlatform::default();
        let (front, agent) = HttpAgent::front(&platform, &self.settings);
        agent.answers(self.answers.clone());
        front.send("hello");
        front.settle();
        front.finish();
        let wrong = |what: String| Err(format!("{}: {what}", self.name));
        let Some(task) = front.task() else { return wrong("there is no task".to_owned()) };
        let text = task.status.message.as_ref().map(Message::text).unwrap_or_default();
        if task.status.state != self.state || !text.contains(self.tells) {
            return wrong(format!("{:?}: {text}", task.status.state));
        }
        if self.state == TaskState::Failed && (self.tells.is_empty() || text.len() > 1_000) {
            return wrong(format!("the reason is of no use: {text}"));
        }
        let asked = agent.asked();
        if asked.len() != self.requests {
            return wrong(format!("{} requests: {text}", asked.len()));
        }
        let whole = serde_json::to_string(&task).expect("JSON");
        for secret in [TOKEN, SIGNING_SECRET] {
            if whole.contains(secret) {
                return wrong(format!("it tells a secret: {whole}"));
            }
        }
        let keys: Vec<_> = asked.iter().map(|asked| asked.header("idempotency-key")).collect();
        if keys.iter().any(|key| key.is_none() || *key != keys[0]) {
            return wrong(format!("idempotency keys {keys:?}"));
        }
        if asked.iter().any(|asked| asked.fate() == Fate::UnderWay) {
            return wrong("an exchange is still open".to_owned());
        }
        let artifacts: Vec<String> =
            task.artifacts.iter().map(|artifact| artifact.text().unwrap_or_default()).collect();
        if self.artifacts.is_some_and(|wanted| artifacts != wanted) {
            return wrong(format!("artifacts {artifacts:?}"));
        }
        Ok(())
    }
}
