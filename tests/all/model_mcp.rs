//! Agents of kind `model` with tools of MCP servers: the offered tools, the calls, the questions, and the
//! effects of a crash.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::{Poll, Waker};

use a2a_edge::executor::Registry;
use a2a_edge::http::{HttpAnswer, HttpBody, HttpError};
use a2a_edge::prelude::*;
use a2a_edge::testing::TestAgent;
use a2a_edge::tool::prelude::{Value, json};
use a2a_edge::twins::MemoryPlatform;
use futures_util::stream::{self, StreamExt};

/// A wrapper for an executor.
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
    /// The requests to the model.
    asked: Rc<RefCell<Vec<Value>>>,
    /// The calls of tools that the server has received.
    calls: Rc<RefCell<Vec<Value>>>,
    is_down: Rc<Cell<bool>>,
}

type Serving = dyn Fn(&Value) -> Value;

impl Scene {
    /// A scene whose model returns these answers in order, and whose server answers calls by `serve`.
    fn new(answers: Vec<Value>, serve: Box<Serving>) -> Self {
        Self::of("model", answers, serve, None)
    }

    /// A scene with a server of revision 2025-06-18, which asks for a seat during each call.
    fn older(answers: Vec<Value>) -> (Self, Older) {
        let older = Older::default();
        (Self::of("model", answers, Box::new(|_| json!(null)), Some(older.clone())), older)
    }

    fn of(kind: &str, answers: Vec<Value>, serve: Box<Serving>, older: Option<Older>) -> Self {
        let registry = Registry::default();
        let outside = MemoryPlatform::default().outside();
        let mut table = json!({"mcp": ["files"]});
        if kind == "model" {
            table["model"] = json!("m");
            table["base_url"] = json!("https://models.example/v1");
        }
        let embedded = json!({
            "slug": "a", "default": true, "development": false, "card": "{}",
            "capabilities": {"streaming": true}, "executor": {"kind": kind, "table": table, "run": {}},
        });
        let made = registry.make(&a2a::model::decode::decode(embedded).unwrap(), &outside).unwrap();
        let server = json!({"url": "https://files.example/mcp", "trust_hints": true, "call_timeout_ms": 60_000});
        let agent = TestAgent::new(Made(made)).with_mcp("files", server);
        let (asked, calls) = (Rc::new(RefCell::new(Vec::new())), Rc::new(RefCell::new(Vec::new())));
        let is_down = Rc::new(Cell::new(false));
        let left = RefCell::new(answers.into_iter().collect::<VecDeque<_>>());
        let (noted, called, down) = (asked.clone(), calls.clone(), is_down.clone());
        agent.http().respond_with(move |request, body| {
            let body: Value = serde_json::from_str(body).unwrap();
            if request.url.starts_with("https://models.example/") {
                noted.borrow_mut().push(body);
                let answer = left.borrow_mut().pop_front().expect("an answer");
                return Ok(if answer == "hangs" { hanging() } else { json_of(&answer) });
            }
            if down.get() {
                let (url, reason) = (request.url.clone(), "it is down".to_owned());
                return Err(HttpError::Failed { url, reason });
            }
            if let Some(older) = &older {
                if body["method"] == "tools/call" {
                    called.borrow_mut().push(body["params"].clone());
                }
                return Ok(older.answer(&body));
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
                return Ok(hanging());
            }
            let member = if result.get("error").is_some() { "error" } else { "result" };
            if let Some(error) = result.get_mut("error") {
                result = error.take();
            }
            Ok(json_of(&json!({"jsonrpc": "2.0", "id": body["id"], member: result})))
        });
        Self { agent, asked, calls, is_down }
    }

    /// The results of calls in the newest request to the model.
    fn results(&self) -> Vec<String> {
        let asked = self.asked.borrow();
        let messages = asked.last().unwrap()["messages"].as_array().unwrap();
        let results = messages.iter().filter(|message| message["role"] == "tool");
        results.map(|result| result["content"].as_str().unwrap().to_owned()).collect()
    }

    /// The text in the task's status.
    fn says(&self) -> String {
        let message = self.agent.task().unwrap().status.message;
        message.as_ref().map(Message::text).unwrap_or_default()
    }

    fn state(&self) -> TaskState {
        self.agent.task().unwrap().status.state
    }
}

/// A server of revision 2025-06-18, which asks for a seat during each call.
#[derive(Clone, Default)]
struct Older {
    /// The number of calls that the server has received.
    calls: Rc<Cell<usize>>,
    /// The received answers to its questions, by the ids of the questions.
    answers: Rc<RefCell<Vec<(String, Value)>>>,
    wakers: Rc<RefCell<Vec<Waker>>>,
    /// The number of the call, from 1, that does not end.
    hangs: Rc<Cell<usize>>,
}

impl Older {
    fn answer(&self, body: &Value) -> HttpAnswer {
        let accepted =
            || HttpAnswer { status: 202, body: HttpBody::Empty, ..json_of(&json!(null)) };
        let Some(method) = body["method"].as_str() else {
            let id = body["id"].as_str().unwrap().to_owned();
            self.answers.borrow_mut().push((id, body["result"].clone()));
            self.wakers.take().into_iter().for_each(Waker::wake);
            return accepted();
        };
        let result = match method {
            "server/discover" => json!({"supportedVersions": [], "capabilities": {}}),
            "initialize" => json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                "serverInfo": {"name": "old", "version": "1"}}),
            "tools/list" => json!({"tools": tools()}),
            "tools/call" => return self.call(body),
            _ => return accepted(),
        };
        json_of(&json!({"jsonrpc": "2.0", "id": body["id"], "result": result}))
    }

    /// The stream of a call: its question and, after the answer, its result.
    fn call(&self, body: &Value) -> HttpAnswer {
        let number = self.calls.get() + 1;
        self.calls.set(number);
        let question = format!("q{number}");
        let seats = json!({"type": "string", "enum": ["4A", "4B"]});
        let asks = json!({"jsonrpc": "2.0", "id": question, "method": "elicitation/create", "params": {
            "message": format!("Which seat, {question}?"),
            "requestedSchema": {"type": "object", "properties": {"seat": seats}, "required": ["seat"]}}});
        let (older, id, mut is_over) = (self.clone(), body["id"].clone(), false);
        let ends = stream::poll_fn(move |context| {
            if is_over {
                return Poll::Ready(None);
            }
            let answers = older.answers.borrow();
            let answer = answers.iter().find(|(known, _)| *known == question);
            let Some((_, answer)) = answer.filter(|_| older.hangs.get() != number) else {
                older.wakers.borrow_mut().push(context.waker().clone());
                return Poll::Pending;
            };
            is_over = true;
            let text = format!("{question}: {answer}");
            let result = json!({"content": [{"type": "text", "text": text}]});
            Poll::Ready(Some(json!({"jsonrpc": "2.0", "id": id, "result": result})))
        });
        let events = stream::iter([asks]).chain(ends);
        let body =
            HttpBody::stream(events.map(|event| Ok(format!("data: {event}\n\n").into_bytes())));
        let headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
        HttpAnswer { headers, body, ..json_of(&json!(null)) }
    }
}

/// An answer whose body never arrives.
fn hanging() -> HttpAnswer {
    HttpAnswer { body: HttpBody::stream(stream::pending()), ..json_of(&json!(null)) }
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
    calls_all(&[name], arguments)
}

fn calls_all(names: &[&str], arguments: &str) -> Value {
    let calls = names.iter().enumerate().map(|(index, name)| {
        let function = json!({"name": name, "arguments": arguments});
        json!({"id": format!("c{}", index + 1), "type": "function", "function": function})
    });
    let calls: Vec<Value> = calls.collect();
    answer(json!({"role": "assistant", "content": null, "tool_calls": calls}), "tool_calls")
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
            "error: the agent was interrupted while it called book; it is not known whether the MCP server files has",
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

/// The answer as an older server receives it.
fn accepted(question: &str, seat: &str) -> String {
    format!(r#"{question}: {{"action":"accept","content":{{"seat":"{seat}"}}}}"#)
}

#[test]
fn an_older_server_asks_the_user_while_its_call_is_open_until_the_answer_fits() {
    let (scene, older) = Scene::older(vec![calls("book", "{}"), says("It is booked.")]);
    scene.agent.send("book").unwrap();
    assert_eq!(scene.state(), TaskState::InputRequired, "{:?}", scene.agent.task());
    assert!(
        scene.says().starts_with("Which seat, q1?\nAnswer with a text, or"),
        "{}",
        scene.says()
    );
    scene.agent.send("9Z").unwrap();
    assert_eq!(scene.state(), TaskState::InputRequired, "{:?}", scene.agent.task());
    let reason = r#"that answer does not fit: answer.seat: must be one of "4A", "4B", got "9Z". Which seat, q1?"#;
    assert!(scene.says().starts_with(reason), "{}", scene.says());
    scene.agent.send("4A").unwrap();
    assert_eq!(scene.state(), TaskState::Completed, "{:?}", scene.agent.task());
    assert_eq!(scene.results(), [accepted("q1", "4A")]);
    assert_eq!((older.calls.get(), scene.asked.borrow().len()), (1, 2));
}

#[test]
fn calls_of_older_servers_that_ask_at_the_same_time_ask_one_after_the_other() {
    let answers = vec![calls_all(&["book", "files_read"], "{}"), says("Both are booked.")];
    let (scene, _) = Scene::older(answers);
    scene.agent.send("book").unwrap();
    assert!(scene.says().starts_with("Which seat, q1?"), "{}", scene.says());
    scene.agent.send("4A").unwrap();
    assert_eq!(scene.state(), TaskState::InputRequired, "{:?}", scene.agent.task());
    assert!(scene.says().starts_with("Which seat, q2?"), "{}", scene.says());
    scene.agent.send("4B").unwrap();
    assert_eq!(scene.state(), TaskState::Completed, "{:?}", scene.agent.task());
    assert_eq!(scene.results(), [accepted("q1", "4A"), accepted("q2", "4B")]);
}

#[test]
fn a_question_on_a_connection_that_nobody_answers_is_told_to_the_model() {
    let (scene, _) = Scene::older(vec![calls("book", "{}"), json!("hangs")]);
    scene.agent.begin("book").unwrap();
    scene.agent.pass(10_000);
    assert_eq!(scene.state(), TaskState::InputRequired, "{:?}", scene.agent.task());
    scene.agent.pass(60_000);
    assert_eq!(scene.state(), TaskState::Working, "{:?}", scene.agent.task());
    let told = "error: the MCP server files: nobody has answered its question within";
    assert!(scene.results()[0].starts_with(told), "{:?}", scene.results());
}

#[test]
fn a_question_that_a_crash_has_lost_is_told_to_the_model_with_what_the_user_says() {
    let answers = vec![calls_all(&["book", "files_read"], "{}"), says("I am sorry.")];
    let (scene, older) = Scene::older(answers);
    scene.agent.send("book").unwrap();
    scene.agent.send("4A").unwrap();
    assert!(scene.says().starts_with("Which seat, q2?"), "{}", scene.says());
    scene.agent.crash().unwrap();
    scene.agent.send("4B").unwrap();
    assert_eq!(scene.state(), TaskState::Completed, "{:?}", scene.agent.task());
    let results = scene.results();
    assert_eq!(results[0], accepted("q1", "4A"));
    let lost = "error: the agent was interrupted while this call was open";
    assert!(results[1].starts_with(lost), "{results:?}");
    let asked = scene.asked.borrow();
    let newest = asked.last().unwrap()["messages"].as_array().unwrap().last().unwrap();
    assert_eq!((&newest["role"], &newest["content"]), (&json!("user"), &json!("4B")));
    assert_eq!(older.calls.get(), 2, "nothing is called again by itself");
}

#[test]
fn what_has_answered_a_question_is_no_further_message_to_a_run_that_resumes() {
    let answers = vec![calls("book", "{}"), json!("hangs"), says("It is booked.")];
    let (scene, _) = Scene::older(answers);
    scene.agent.send("book").unwrap();
    scene.agent.begin("4A").unwrap();
    scene.agent.pass(1_000);
    assert_eq!(scene.results(), [accepted("q1", "4A")]);
    scene.agent.crash().unwrap();
    scene.agent.run();
    assert_eq!(scene.state(), TaskState::Completed, "{:?}", scene.agent.task());
    let artifacts = scene.agent.task().unwrap().artifacts;
    let ids: Vec<&str> = artifacts.iter().map(|found| found.artifact_id.as_str()).collect();
    assert_eq!((ids, scene.asked.borrow().len()), (vec!["answer"], 3));
}

#[test]
fn what_has_answered_a_question_of_a_call_that_is_done_answers_no_other_one() {
    let older = Older::default();
    let scene = Scene::of("tools", Vec::new(), Box::new(|_| json!(null)), Some(older.clone()));
    let call = |tool: &str| Part::data(json!({"tool": tool}));
    scene.agent.send_parts(vec![call("book"), call("files/read"), call("files/read")]).unwrap();
    assert!(scene.says().starts_with("Which seat, q1?"), "{}", scene.says());
    older.hangs.set(2);
    scene.agent.send("4A").unwrap();
    assert!(scene.says().starts_with("Which seat, q2?"), "{}", scene.says());
    scene.agent.begin("4B").unwrap();
    scene.agent.pass(1_000);
    scene.agent.crash().unwrap();
    scene.agent.pass(45_000);
    // The second call is repeated: it asks again, and already has its answer. The third call has no answer
    // yet.
    assert!(scene.says().starts_with("Which seat, q4?"), "{}", scene.says());
    scene.agent.send("4A").unwrap();
    assert_eq!(scene.state(), TaskState::Completed, "{:?}", scene.agent.task());
    let artifacts = scene.agent.task().unwrap().artifacts.into_iter();
    let told: Vec<String> =
        artifacts.map(|found| found.parts[0].as_text().unwrap().to_owned()).collect();
    assert_eq!(told, [accepted("q1", "4A"), accepted("q3", "4B"), accepted("q4", "4A")]);
}
