//! Runs that call other agents by name: credentials, depth, limits.

use std::cell::RefCell;
use std::rc::Rc;

use a2a::client::{Settings, create_message};
use a2a::http::memory::ok;
use a2a_edge::prelude::*;
use a2a_edge::testing::TestAgent;

/// Calls the remote named in the message, and returns its answer.
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

const TOKEN_URL: &str = "https://login.example/token";

type Sent = Rc<RefCell<Vec<(Vec<(String, String)>, Value)>>>;

/// An agent with a remote that returns the header `Authorization` of each request.
fn agent() -> (TestAgent, Sent) {
    let table = json!({"url": "https://weather.example", "bearer_token": "${WEATHER_TOKEN}", "timeout_ms": 86_400_000});
    let agent = TestAgent::new(Asking).with_remote("weather", table);
    let sent = Sent::default();
    let noted = sent.clone();
    agent.http().answer_with(move |request, body| {
        if request.method == "GET" {
            return Ok(ok(CARD));
        }
        if request.url == TOKEN_URL {
            return Ok(ok(r#"{"access_token": "marker-4d7a", "token_type": "Bearer"}"#));
        }
        let body: Value = serde_json::from_str(body).map_err(|error| error.to_string())?;
        noted.borrow_mut().push((request.headers.clone(), body));
        let header = request.headers.iter().find(|(name, _)| name == "authorization");
        let text = header.map_or("none", |(_, value)| value.as_str());
        let message = json!({"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": text}]});
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
fn a_token_that_was_fetched_for_a_remote_is_seen_by_nobody() {
    let (agent, _) = agent();
    let oauth2 = json!({"token_url": TOKEN_URL, "client_id": "me", "client_secret": "${SECRET}"});
    let table = json!({"url": "https://weather.example", "oauth2": oauth2});
    let agent = agent.with_remote("forecast", table).with_secret("SECRET", "marker-1e0b");
    agent.send("forecast").unwrap();
    assert_eq!(said(&agent), (TaskState::Completed, "Bearer [access token]".to_owned()));
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

/// Reports the limits of the clients that its run makes.
struct Bounded;

#[async_trait(?Send)]
impl AgentExecutor for Bounded {
    async fn execute(&self, turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
        turn.sleep(1_000).await;
        let at = turn.remote_at("https://a.example");
        let long =
            turn.client(Settings { timeout_ms: u64::MAX, ..Settings::new("https://a.example") });
        let short = turn.client(Settings { timeout_ms: 5, ..Settings::new("https://a.example") });
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
    assert_eq!(said(&agent).1, "true 2000 5");
}

#[test]
fn an_agent_of_the_same_worker_is_asked_for_the_caller_and_without_credentials() {
    for name in ["near", "demo"] {
        let (agent, sent) = agent();
        let table = json!({"agent": "demo", "timeout_ms": 5_000});
        let agent = agent.with_agent("demo").with_remote("near", table);
        agent.send(name).unwrap();
        assert_eq!(said(&agent), (TaskState::Completed, "none".to_owned()));
        let (headers, body) = sent.borrow_mut().pop().unwrap();
        assert!(headers.contains(&("caller".to_owned(), "anonymous".to_owned())), "{headers:?}");
        assert_eq!(body["params"]["message"]["metadata"], json!({"urn:a2a-edge:depth": 1}));
        let called = agent.http().called();
        assert!(called.iter().all(|url| url.starts_with("https://agents.example/")), "{called:?}");
    }
}

#[test]
fn a_remote_may_name_no_agent_that_the_worker_lacks() {
    let (agent, sent) = agent();
    let agent = agent.with_remote("near", json!({"agent": "demo"}));
    agent.send("near").unwrap();
    let told = "the remote near: there is no agent \"demo\" in this Worker";
    assert_eq!(said(&agent), (TaskState::Failed, told.to_owned()));
    assert!(sent.borrow().is_empty());
}
