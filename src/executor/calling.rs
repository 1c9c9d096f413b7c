//! Calls to other agents from a run.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;

use super::{ExecutorError, Turn, TurnHost};
use crate::port::{Clock, Http, HttpAnswer, HttpError, HttpRequest, Random};
use crate::remotes::credentials;
use a2a::client::{Client, Ports, Settings, depth_of};
use a2a::model::UnixMillis;

impl Turn {
    /// A client of the agent of this name: one of `remotes.toml`, else one of this Worker. Its secrets and variables are read
    /// now, and kept out of what the run says; requests belong to the trace of the run. What the client waits for ends
    /// a little before the run has to, so that the other agent's task is still canceled. Its messages say how deep agents
    /// have called each other.
    ///
    /// What a client does is done again by a run that resumes; see [`step`](Self::step).
    ///
    /// ```
    /// use a2a::client::{Outcome, create_message};
    /// use a2a_edge::prelude::*;
    ///
    /// async fn execute(turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
    ///     let weather = turn.remote("weather")?;
    ///     let question = create_message("Will it rain?", weather.ports());
    ///     let observed = weather.send_and_observe(question, || turn.is_canceled()).await;
    ///     match observed.outcome {
    ///         Outcome::Completed => events.complete(Some(&observed.text)),
    ///         _ => events.fail(&observed.text),
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// If there is no agent of this name, or a secret or a variable that it needs is not set or does not fit. The text
    /// names it.
    pub fn remote(&self, name: &str) -> Result<Client, ExecutorError> {
        let found = self.outside.remotes.find(name, self).map_err(ExecutorError)?;
        let client = self.client(found.client);
        Ok(match credentials(found.credentials) {
            Some(credentials) => client.with_credentials(credentials),
            None => client,
        })
    }

    /// A client of the agent at a URL that somebody else has chosen, such as the caller: it calls nothing that a webhook may
    /// not call ([guarded](HttpRequest::guarded)), and has no credentials.
    pub fn remote_at(&self, url: &str) -> Client {
        self.client(Settings { is_guarded: true, ..Settings::new(url) })
    }

    /// A client of another agent, whose requests belong to this run: they carry its trace, and its messages the
    /// [depth](Self::depth). The times of the settings are bounded by that of the run.
    ///
    /// What a client does is done again by a run that resumes; see [`step`](Self::step).
    pub fn client(&self, settings: Settings) -> Client {
        let left_ms = self.time_left_ms();
        let observed_ms = left_ms.saturating_sub(CLOSING_MS.min(left_ms / 2)).max(1);
        let settings = Settings {
            timeout_ms: settings.timeout_ms.min(observed_ms),
            request_timeout_ms: settings.request_timeout_ms.min(left_ms.max(1)),
            depth: settings.depth.max(self.depth().saturating_add(1)),
            max_depth: self.host.max_depth(),
            ..settings
        };
        Client::new(settings, self.ports())
    }

    /// How many agents have called each other before the message of this turn. The server refuses a message that is
    /// deeper than `MAX_DEPTH`.
    pub fn depth(&self) -> u32 {
        depth_of(&self.message)
    }

    /// What a client gets of this run.
    fn ports(&self) -> Ports {
        let run = Rc::new(Run(Rc::clone(&self.host)));
        Ports { http: run.clone(), clock: run.clone(), random: run }
    }
}

/// The time that is kept at the end of a run to cancel the tasks of other agents, in milliseconds.
const CLOSING_MS: u64 = 2_000;

/// A run as the machine of its clients.
struct Run(Rc<dyn TurnHost>);

impl Http for Run {
    fn send(&self, request: HttpRequest) -> LocalBoxFuture<'static, Result<HttpAnswer, HttpError>> {
        self.0.http().send(request)
    }
}

impl Clock for Run {
    fn now(&self) -> UnixMillis {
        self.0.now()
    }

    fn sleep(&self, millis: u64) -> LocalBoxFuture<'static, ()> {
        self.0.sleep(millis)
    }
}

impl Random for Run {
    fn new_id(&self) -> String {
        self.0.random().new_id()
    }

    fn secret_bytes(&self) -> [u8; 32] {
        self.0.random().secret_bytes()
    }

    fn chance(&self) -> f64 {
        self.0.random().chance()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use async_trait::async_trait;
    use serde_json::{Value, json};

    use super::*;
    use crate::executor::{AgentExecutor, Events};
    use crate::testing::TestAgent;
    use a2a::client::create_message;
    use a2a::http::memory::ok;
    use a2a::model::{Message, TaskState};

    /// Asks the remote that the message names, and says what it answers.
    struct Asking;

    #[async_trait(?Send)]
    impl AgentExecutor for Asking {
        async fn execute(&self, turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
            let remote = turn.remote(&turn.message.text())?;
            let question = create_message("hello", remote.ports());
            let observed = remote.send_and_observe(question, || false).await;
            events.complete(Some(&observed.text))
        }
    }

    const CARD: &str = r#"{"name": "W", "description": "", "version": "1", "capabilities": {}, "skills": [],
        "defaultInputModes": [], "defaultOutputModes": [], "supportedInterfaces":
        [{"url": "https://weather.example/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]}"#;

    type Sent = Rc<RefCell<Vec<(Vec<(String, String)>, Value)>>>;

    /// An agent with a remote that repeats the header `Authorization` of the requests that it gets.
    fn agent() -> (TestAgent, Sent) {
        let table = json!({"url": "https://weather.example", "bearer_token": "${WEATHER_TOKEN}", "timeout_ms": 86_400_000});
        let agent = TestAgent::new(Asking).with_remote("weather", table);
        let sent = Sent::default();
        let noted = sent.clone();
        agent.http().answer_with(move |request, body| {
            if request.method == "GET" {
                return Ok(ok(CARD));
            }
            let body: Value = serde_json::from_str(body).map_err(|error| error.to_string())?;
            noted.borrow_mut().push((request.headers.clone(), body));
            let header = request.headers.iter().find(|(name, _)| name == "Authorization");
            let text = header.map_or("none", |(_, value)| value.as_str());
            let message =
                json!({"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": text}]});
            Ok(ok(json!({"jsonrpc": "2.0", "id": "1", "result": {"message": message}}).to_string()))
        });
        (agent, sent)
    }

    fn said(agent: &TestAgent) -> (TaskState, String) {
        let status = agent.task().unwrap().status;
        (status.state, status.message.as_ref().map(Message::text).unwrap_or_default())
    }

    #[test]
    fn a_remote_is_called_by_its_name_with_its_credentials_which_nobody_sees() {
        let (agent, sent) = agent();
        let agent = agent.with_secret("WEATHER_TOKEN", "marker-8c1f");
        agent.send("weather").unwrap();
        assert_eq!(said(&agent), (TaskState::Completed, "Bearer [WEATHER_TOKEN]".to_owned()));
        let (_, body) = &sent.borrow()[0];
        assert_eq!(body["params"]["message"]["metadata"], json!({"urn:a2a-edge:depth": 1}));
    }

    #[test]
    fn what_a_remote_lacks_fails_the_task_and_is_named() {
        let (agent, sent) = agent();
        agent.send("weather").unwrap();
        let (state, text) = said(&agent);
        assert_eq!(state, TaskState::Failed);
        let told =
            "the remote weather: `bearer_token`: the secret or variable WEATHER_TOKEN is not set";
        assert!(text.starts_with(told), "{text}");
        assert!(sent.borrow().is_empty());
    }

    #[test]
    fn a_remote_that_there_is_not_is_told_from_those_that_there_are() {
        let (agent, _) = agent();
        agent.send("wether").unwrap();
        let told = "there is no remote \"wether\"; there are: weather";
        assert_eq!(said(&agent), (TaskState::Failed, told.to_owned()));
    }

    /// Says how its clients are bounded.
    struct Bounded;

    #[async_trait(?Send)]
    impl AgentExecutor for Bounded {
        async fn execute(&self, turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
            turn.sleep(1_000).await;
            let at = turn.remote_at("https://a.example");
            let long = turn
                .client(Settings { timeout_ms: u64::MAX, ..Settings::new("https://a.example") });
            let short =
                turn.client(Settings { timeout_ms: 5, ..Settings::new("https://a.example") });
            let guarded = at.settings().is_guarded && !long.settings().is_guarded;
            let left_ms = turn.time_left_ms();
            let within = left_ms - long.settings().timeout_ms;
            events.complete(Some(&format!("{guarded} {within} {}", short.settings().timeout_ms)))
        }
    }

    #[test]
    fn a_client_ends_before_its_run_has_to() {
        let agent = TestAgent::new(Bounded);
        agent.send("x").unwrap();
        assert_eq!(said(&agent).1, format!("true {CLOSING_MS} 5"));
    }
}
