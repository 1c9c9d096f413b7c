//! A case of the table.

use a2a::model::{Message, TaskState};
use a2a_edge::twins::MemoryPlatform;
use serde_json::{Value, json};

use crate::support::http_agent::{Answer, Fate, HttpAgent, SIGNING_SECRET, TOKEN};

/// An agent that misbehaves, and the expected outcome of its task.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Further keys of the agent's table.
    settings: Value,
    /// The answers to the requests in order; the last one is repeated.
    answers: Vec<Answer>,
    state: TaskState,
    /// The expected part of the text in the task's status.
    tells: &'static str,
    /// The expected number of requests to the agent.
    requests: usize,
    /// The expected texts of the task's artifacts.
    artifacts: Option<&'static [&'static str]>,
}

/// A case whose agent answers with `answer`: the task fails after a single request.
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
    /// Sets the expected part of the text in the task's status.
    pub(crate) fn tells(self, tells: &'static str) -> Self {
        Self { tells, ..self }
    }

    /// Adds the answer to the next request.
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

    /// Ignores the artifacts that the task has received.
    pub(crate) fn keeps_anything(self) -> Self {
        Self { artifacts: None, ..self }
    }

    /// Runs the case.
    ///
    /// # Errors
    ///
    /// The difference from the expectation.
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
