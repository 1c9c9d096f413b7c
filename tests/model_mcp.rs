//! Agents of kind `model` with tools of MCP servers: what is offered, called, asked, and left by a crash.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests fail by panicking"
)]

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use a2a_edge::executor::Registry;
use a2a_edge::http::{HttpAnswer, HttpBody, HttpError};
use a2a_edge::port::memory::MemoryPlatform;
use a2a_edge::prelude::*;
use a2a_edge::testing::TestAgent;
use a2a_edge::tool::prelude::{Value, json};

/// An executor that was made.
struct Made(Rc<dyn AgentExecutor>);

#[async_trait(?Send)]
impl AgentExecutor for Made {
    async fn execute(&self, turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
        self.0.execute(turn, events).await
    }

    fn recovery(&self) -> Recovery {
        self.0.recovery()
    }
}

/// An agent with a model and the MCP server `files`, both in memory.
struct Scene {
    agent: TestAgent,
    /// What the model was asked.
    asked: Rc<RefCell<Vec<Value>>>,
    /// The calls of tools that the server got.
    calls: Rc<RefCell<Vec<Value>>>,
    is_down: Rc<Cell<bool>>,
}

type Serving = dyn Fn(&Value) -> Value;

impl Scene {
    /// The model gives these answers, one after the other; the server answers calls by `serve`.
    fn new(answers: Vec<Value>, serve: Box<Serving>) -> Self {
        let registry = Registry::default();
        let outside = MemoryPlatform::default().outside();
        let table =
            json!({"model": "m", "base_url": "https://models.example/v1", "mcp": ["files"]});
        let embedded = json!({
            "slug": "a", "default": true, "development": false, "card": "{}",
            "capabilities": {"streaming": true}, "executor": {"kind": "model", "table": table, "run": {}},
        });
        let made = registry.make(&serde_json::from_value(embedded).unwrap(), &outside).unwrap();
        let server = json!({"url": "https://files.example/mcp", "trust_hints": true});
        let agent = TestAgent::new(Made(made)).with_mcp("files", server);
        let (asked, calls) = (Rc::new(RefCell::new(Vec::new())), Rc::new(RefCell::new(Vec::new())));
        let is_down = Rc::new(Cell::new(false));
        let left = RefCell::new(answers.into_iter().collect::<VecDeque<_>>());
        let (noted, called, down) = (asked.clone(), calls.clone(), is_down.clone());
        agent.http().respond_with(move |request, body| {
            let body: Value = serde_json::from_str(body).unwrap();
            if request.url.starts_with("https://models.example/") {
                noted.borrow_mut().push(body);
                return Ok(json_of(&left.borrow_mut().pop_front().expect("an answer")));
            }
            if down.get() {
                let (url, reason) = (request.url.clone(), "it is down".to_owned());
                return Err(HttpError::Failed { url, reason });
            }
            let mut result = match body["method"].as_str().unwrap() {
                "server/discover" => {
                    json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
                }
                "tools/list" => json!({"tools": tools(), "ttlMs": 0}),
                _ => {
                    called.borrow_mut().push(body["params"].clone());
                    serve(&body["params"])
                }
            };
            if result == json!("hangs") {
                let body = HttpBody::stream(futures_util::stream::pending());
                return Ok(HttpAnswer { body, ..json_of(&json!(null)) });
            }
            let member = if result.get("error").is_some() { "error" } else { "result" };
            if let Some(error) = result.get_mut("error") {
                result = error.take();
            }
            Ok(json_of(&json!({"jsonrpc": "2.0", "id": body["id"], member: result})))
        });
        Self { agent, asked, calls, is_down }
    }

    /// What the model was told of the results of its calls, in its newest request.
    fn results(&self) -> Vec<String> {
        let asked = self.asked.borrow();
        let messages = asked.last().unwrap()["messages"].as_array().unwrap();
        let results = messages.iter().filter(|message| message["role"] == "tool");
        results.map(|result| result["content"].as_str().unwrap().to_owned()).collect()
    }

    fn state(&self) -> TaskState {
        self.agent.task().unwrap().status.state
    }
}

fn tools() -> Value {
    json!([
        {"name": "files/read", "description": "Reads a file.", "annotations": {"readOnlyHint": true},
            "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}}},
        {"name": "book", "inputSchema": {"type": "object"}},
    ])
}

fn json_of(json: &Value) -> HttpAnswer {
    let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    HttpAnswer { status: 200, headers, body: json.to_string().into(), url: String::new() }
}

fn calls(name: &str, arguments: &str) -> Value {
    let call =
        json!({"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}});
    answer(json!({"role": "assistant", "content": null, "tool_calls": [call]}), "tool_calls")
}

fn says(text: &str) -> Value {
    answer(json!({"role": "assistant", "content": text}), "stop")
}

fn answer(message: Value, reason: &str) -> Value {
    json!({"id": "x", "object": "chat.completion", "created": 0, "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}})
}

#[test]
fn tools_of_servers_are_offered_by_names_that_models_take_and_called() {
    let serve = |_: &Value| json!({"content": [{"type": "text", "text": "twelve lines"}], "resultType": "complete"});
    let scene = Scene::new(
        vec![calls("files_read", r#"{"path": "a.md"}"#), says("Done.")],
        Box::new(serve),
    );
    scene.agent.send("read").unwrap();
    assert_eq!(scene.state(), TaskState::Completed, "{:?}", scene.agent.task());
    let offered = &scene.asked.borrow()[0]["tools"];
    let names: Vec<&str> = offered
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["files_read", "book"]);
    assert_eq!(scene.calls.borrow()[0]["name"], "files/read");
    assert_eq!(scene.calls.borrow()[0]["arguments"], json!({"path": "a.md"}));
    assert_eq!(scene.results(), ["twelve lines"]);
}

#[test]
fn a_tool_that_fails_and_a_server_that_is_down_are_told_to_the_model() {
    let serve = |_: &Value| json!({"content": [{"type": "text", "text": "no such file"}], "isError": true, "resultType": "complete"});
    let scene = Scene::new(vec![calls("files_read", "{}"), says("Sorry.")], Box::new(serve));
    scene.agent.send("read").unwrap();
    assert_eq!(scene.results(), ["error: no such file"]);
    assert_eq!(scene.state(), TaskState::Completed);

    let scene = Scene::new(vec![says("I cannot read files.")], Box::new(|_| json!({})));
    scene.is_down.set(true);
    scene.agent.send("read").unwrap();
    assert_eq!(scene.state(), TaskState::Completed);
    let asked = scene.asked.borrow()[0].clone();
    assert_eq!(asked.get("tools"), None);
    let told = asked["messages"][0]["content"].as_str().unwrap();
    assert!(
        told.starts_with("Some tools are missing at the moment: the MCP server files"),
        "{told}"
    );
}

#[test]
fn what_a_server_asks_the_user_is_asked_and_the_call_goes_on() {
    let serve = |params: &Value| match params.get("inputResponses") {
        None => json!({
            "resultType": "input_required", "requestState": "sealed",
            "inputRequests": {"when": {"method": "elicitation/create", "params": {"mode": "form", "message": "Which day?",
                "requestedSchema": {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]}}}},
        }),
        Some(answers) => {
            assert_eq!(params["requestState"], "sealed");
            let day = &answers["when"]["content"]["day"];
            json!({"content": [{"type": "text", "text": format!("booked for {day}")}], "resultType": "complete"})
        }
    };
    let scene = Scene::new(vec![calls("book", "{}"), says("It is booked.")], Box::new(serve));
    scene.agent.send("book").unwrap();
    assert_eq!(scene.state(), TaskState::InputRequired, "{:?}", scene.agent.task());
    let question = scene.agent.task().unwrap().status.message.unwrap().text();
    assert!(question.starts_with("Which day?"), "{question}");
    scene.agent.send("Monday").unwrap();
    assert_eq!(scene.state(), TaskState::Completed, "{:?}", scene.agent.task());
    assert_eq!(scene.results(), ["booked for \"Monday\""]);
    assert_eq!(scene.calls.borrow().len(), 2);
}

#[test]
fn a_call_that_was_interrupted_is_made_again_only_where_that_is_harmless() {
    let done = || json!({"content": [{"type": "text", "text": "done"}], "resultType": "complete"});
    for (name, calls_made, told) in [
        ("files_read", 2, "done"),
        (
            "book",
            1,
            "error: this agent was interrupted while it called book; it is not known whether the MCP server files has",
        ),
    ] {
        let is_first = Cell::new(true);
        let serve = move |_: &Value| if is_first.replace(false) { json!("hangs") } else { done() };
        let scene = Scene::new(vec![calls(name, "{}"), says("Done.")], Box::new(serve));
        scene.agent.begin("go").unwrap();
        scene.agent.pass(1_000);
        assert_eq!(scene.calls.borrow().len(), 1, "{name}: it is under way");
        scene.agent.crash().unwrap();
        scene.agent.run();
        assert_eq!(scene.state(), TaskState::Completed, "{:?}", scene.agent.task());
        assert_eq!(scene.calls.borrow().len(), calls_made, "{name}");
        assert_eq!(
            scene.asked.borrow().len(),
            2,
            "{name}: the stored answer was not asked for again"
        );
        assert!(scene.results()[0].starts_with(told), "{:?}", scene.results());
    }
}
