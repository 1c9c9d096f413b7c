//! Calls of MCP tools through crashes: the process dies between any two polls, while the server continues and counts its
//! requests.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use a2a::http::{Http, HttpAnswer, HttpBody, HttpError, HttpRequest};
use a2a::model::{Part, TaskState};
use a2a_agents::{McpServer, Table};
use a2a_edge::executor::Registry;
use a2a_edge::mcp::McpServers;
use a2a_edge::port::{Clock, Outside, yield_once};
use a2a_edge::twins::MemoryPlatform;
use futures_util::future::LocalBoxFuture;
use futures_util::stream;
use serde_json::{Value, json};

use crate::support::front::{Crash, Front};

/// A server in memory. Clones share its state.
#[derive(Clone)]
struct Server(Rc<State>);

struct State {
    platform: MemoryPlatform,
    commits: Rc<Cell<usize>>,
    /// The calls of tools, with the answers to questions in them.
    calls: RefCell<Vec<Value>>,
    updates: Cell<usize>,
    looks: Cell<usize>,
    canceled: Cell<usize>,
    /// Whether the server has an older revision, and so asks its question during the call.
    is_legacy: Cell<bool>,
    answer: RefCell<Option<Value>>,
}

impl Server {
    /// The result of a request, and the messages of the server before it, with pauses.
    fn answer(&self, method: &str, params: &Value) -> (Vec<Value>, Value) {
        let text = |text: &str| json!({"content": [{"type": "text", "text": text}]});
        let note = |progress: u32| {
            let token = &params["_meta"]["progressToken"];
            json!({"jsonrpc": "2.0", "method": "notifications/progress",
                "params": {"progressToken": token, "progress": progress, "message": format!("note {progress}")}})
        };
        let task =
            |status: &str| json!({"taskId": "t", "status": status, "pollIntervalMs": 40_000});
        let with = |mut task: Value, name: &str, value: Value| {
            task[name] = value;
            task
        };
        let question = json!({"q": {"method": "elicitation/create", "params": {"message": "Which?", "requestedSchema":
            {"type": "object", "properties": {"seat": {"type": "string"}}, "required": ["seat"]}}}});
        let mut notes = Vec::new();
        let result = match method {
            "server/discover" if self.0.is_legacy.get() => {
                json!({"supportedVersions": [], "capabilities": {}})
            }
            "server/discover" => {
                json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
            }
            "initialize" => json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                "serverInfo": {"name": "old", "version": "1"}}),
            "notifications/initialized" | "notifications/cancelled" => json!(null),
            "tools/call" if self.0.is_legacy.get() => {
                self.0.calls.borrow_mut().push(json!([params["name"], null]));
                notes.push(json!({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create",
                    "params": question["q"]["params"]}));
                json!(null)
            }
            "tools/list" => {
                let tool = |name: &str| json!({"name": name, "annotations": {"readOnlyHint": true}, "inputSchema": {"type": "object"}});
                let tools = ["plain", "ask", "long"].map(tool);
                json!({"tools": tools})
            }
            "tools/call" => {
                let answers = params.get("inputResponses").cloned().unwrap_or_default();
                self.0
                    .calls
                    .borrow_mut()
                    .push(json!([params["name"], answers["q"]["content"]["seat"]]));
                match (params["name"].as_str().unwrap(), answers.is_null()) {
                    ("ask", true) => {
                        json!({"resultType": "input_required", "requestState": "s", "inputRequests": question})
                    }
                    ("long", _) => with(task("working"), "resultType", json!("task")),
                    _ => {
                        notes.extend([note(1), note(2)]);
                        text("done")
                    }
                }
            }
            "tasks/get" => {
                self.0.looks.set(self.0.looks.get() + 1);
                match (self.0.looks.get(), self.0.updates.get()) {
                    (..4, 0) => with(task("working"), "statusMessage", json!("begun")),
                    (_, 0) => with(task("input_required"), "inputRequests", question),
                    _ => with(task("completed"), "result", text("done")),
                }
            }
            "tasks/update" => {
                self.0.updates.set(self.0.updates.get() + 1);
                json!({})
            }
            "tasks/cancel" => {
                self.0.canceled.set(self.0.canceled.get() + 1);
                json!({})
            }
            other => panic!("{other}"),
        };
        (notes, result)
    }

    /// The number of calls of this tool with this answer (or without one).
    fn count(&self, tool: &str, seat: Option<&str>) -> usize {
        let call = json!([tool, seat]);
        self.0.calls.borrow().iter().filter(|known| **known == call).count()
    }
}

impl Http for Server {
    fn send(
        &self,
        mut request: HttpRequest,
    ) -> LocalBoxFuture<'static, Result<HttpAnswer, HttpError>> {
        let server = self.clone();
        Box::pin(async move {
            if request.url.contains("silent") {
                return std::future::pending().await;
            }
            // The writes before this request must be durable first.
            let before = server.0.commits.get();
            while server.0.commits.get() == before {
                yield_once().await;
            }
            let body = std::mem::take(&mut request.body).bytes().await?;
            let body: Value = serde_json::from_slice(&body).unwrap();
            if request.url.contains("models") {
                return Ok(answer_of_model(&body["messages"]));
            }
            let Some(method) = body["method"].as_str() else {
                server.0.answer.replace(Some(body["result"].clone()));
                return Ok(accepted(request.url));
            };
            let (notes, result) = server.answer(method, &body["params"]);
            if body.get("id").is_none() {
                return Ok(accepted(request.url));
            }
            yield_once().await;
            let whole = json!({"jsonrpc": "2.0", "id": body["id"], "result": result});
            let events = notes.into_iter().chain([whole]);
            let pieces = stream::unfold((server, events), |(server, mut events)| async {
                let mut event = events.next()?;
                server.0.platform.sleep(2_000).await;
                if event["result"].is_null() && event.get("method").is_none() {
                    // The call waits for the answer to its question.
                    while server.0.answer.borrow().is_none() {
                        server.0.platform.sleep(500).await;
                    }
                    let answer = server.0.answer.take();
                    let said = answer.unwrap()["content"]["seat"].clone();
                    event["result"] = json!({"content": [{"type": "text", "text": said}]});
                }
                Some((Ok(format!("data: {event}\n\n").into_bytes()), (server, events)))
            });
            Ok(HttpAnswer {
                status: 200,
                headers: vec![("content-type".to_owned(), "text/event-stream".to_owned())],
                body: HttpBody::stream(pieces),
                url: request.url,
            })
        })
    }
}

/// A model that calls the tool named by the user, and returns the text of the result.
fn answer_of_model(messages: &Value) -> HttpAnswer {
    let messages = messages.as_array().unwrap();
    let user = messages.iter().find(|message| message["role"] == "user").unwrap();
    let named: Value = serde_json::from_str(user["content"].as_str().unwrap()).unwrap();
    let told = messages.iter().rev().find(|message| message["role"] == "tool");
    let (message, reason) = match told {
        Some(told) => (json!({"role": "assistant", "content": told["content"]}), "stop"),
        None => {
            let call = json!({"id": "c", "type": "function", "function": {"name": named["tool"], "arguments": "{}"}});
            (json!({"role": "assistant", "content": null, "tool_calls": [call]}), "tool_calls")
        }
    };
    let choice = json!({"index": 0, "message": message, "finish_reason": reason});
    let answer = json!({"id": "x", "object": "chat.completion", "choices": [choice]});
    HttpAnswer {
        status: 200,
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: answer.to_string().into(),
        url: String::new(),
    }
}

fn accepted(url: String) -> HttpAnswer {
    HttpAnswer { status: 202, headers: Vec::new(), body: HttpBody::Empty, url }
}

fn front(trusts: bool) -> (Front, Server) {
    front_of(trusts, &["tools"])
}

/// An agent with these tools of servers.
fn front_of(trusts: bool, choices: &[&str]) -> (Front, Server) {
    front_with("tools", json!({"mcp": choices}), trusts)
}

/// An agent of this kind with this table.
fn front_with(kind: &str, agent: Value, trusts: bool) -> (Front, Server) {
    let platform = MemoryPlatform::default();
    let table = json!({"url": "https://tools.example/mcp", "trust_hints": trusts});
    let server = |name: &str, table: &Value| McpServer {
        name: name.to_owned(),
        table: Table::of(table).unwrap(),
        needs: Vec::new(),
    };
    let silent = json!({"url": "https://silent.example/mcp"});
    let servers = vec![server("tools", &table), server("silent", &silent)];
    let outside = Outside { mcp: Rc::new(McpServers::new(servers)), ..platform.outside() };
    let embedded = json!({
        "slug": "a", "default": true, "development": false, "card": "{}", "capabilities": {"streaming": true},
        "executor": {"kind": kind, "table": agent, "run": {}},
    });
    let made =
        Registry::default().make(&a2a::model::decode::decode(embedded).unwrap(), &outside).unwrap();
    let found = Rc::new(RefCell::new(None));
    let kept = found.clone();
    let of = platform.clone();
    let front = Front::over(&platform, made, outside, move |commits| {
        let state = State {
            platform: of,
            commits,
            calls: RefCell::default(),
            updates: Cell::default(),
            looks: Cell::default(),
            canceled: Cell::default(),
            is_legacy: Cell::default(),
            answer: RefCell::default(),
        };
        let server = Server(Rc::new(state));
        kept.replace(Some(server.clone()));
        Rc::new(server)
    });
    let server = found.take().unwrap();
    (front, server)
}

/// Calls a tool, answers its questions, and lets the process die once. Returns the final state of the task.
fn live(tool: &str, trusts: bool, crash: Option<Crash>) -> (Front, Server, TaskState) {
    live_of(front(trusts), tool, crash)
}

/// As `live`, for this agent.
fn live_of(
    (front, server): (Front, Server),
    tool: &str,
    crash: Option<Crash>,
) -> (Front, Server, TaskState) {
    let call = || vec![Part::data(json!({"tool": tool, "arguments": {}}))];
    let mut crash = crash;
    let mut answered = 0;
    for _ in 0..20 {
        match front.state() {
            None => front.send_whole("m1", call(), None),
            Some(TaskState::InputRequired) => {
                answered += 1;
                front.send_whole(&format!("answer {answered}"), vec![Part::text("4A")], None);
            }
            Some(state) if state.is_terminal() => return (front, server, state),
            Some(_) => {}
        }
        let before = front.polls();
        if front.run(crash, || front.state().is_some_and(crate::support::front::is_settled)) {
            let polls = front.polls() - before;
            crash = crash.and_then(|(at, keeps)| Some((at.checked_sub(polls)?, keeps)));
        } else {
            crash = None;
        }
    }
    panic!("{tool}: {:?}", front.transcript());
}

/// Crashes at every third poll, and at each of the first 60, with and without the last writes.
fn crashes(tool: &str, trusts: bool) -> impl Iterator<Item = Crash> {
    let polls = live(tool, trusts, None).0.polls();
    assert!(polls > 10, "{polls}");
    let each = (0..polls).filter(move |at| *at < 60 || at % 3 == 0);
    each.flat_map(|at| [(at, false), (at, true)])
}

#[test]
fn a_call_is_made_once_at_most_and_its_end_is_told() {
    for tool in ["plain", "ask", "long"] {
        let (mut whole, mut failed) = (0, 0);
        for crash in crashes(tool, false) {
            let (front, server, state) = live(tool, false, Some(crash));
            let said = front.transcript();
            let told = format!("{tool} {crash:?} {said:?}");
            assert!(server.count(tool, None) <= 1, "{told}");
            assert!(server.count(tool, Some("4A")) <= 1, "{told}");
            match state {
                TaskState::Completed => {
                    whole += 1;
                    assert_eq!(said.last().unwrap(), &format!("{tool}-result: done"), "{told}");
                }
                TaskState::Failed => {
                    failed += 1;
                    let reason = format!(
                        "the agent was interrupted while it called {tool}; it is not known"
                    );
                    assert!(said.iter().any(|said| said.starts_with(&reason)), "{told}");
                }
                other => panic!("{other:?} {told}"),
            }
        }
        assert!(failed > 0 && whole > 0, "{tool}: {whole} {failed}");
    }
}

#[test]
fn a_call_that_may_be_repeated_comes_to_its_end_whenever_the_process_dies() {
    for tool in ["plain", "ask", "long"] {
        let mut most = 0;
        for crash in crashes(tool, true) {
            let (front, server, state) = live(tool, true, Some(crash));
            let said = front.transcript();
            assert_eq!(state, TaskState::Completed, "{tool} {crash:?} {said:?}");
            assert_eq!(said.last().unwrap(), &format!("{tool}-result: done"));
            let notes = said.iter().filter(|said| *said == "begun").count();
            assert!(notes <= 1, "{said:?}");
            most = most.max(server.count(tool, None));
        }
        assert_eq!(most, 2, "{tool}");
    }
}

#[test]
fn a_task_of_a_server_is_canceled_though_the_process_dies_meanwhile() {
    for at_ms in [1_000, 90_000] {
        for at in 0..20 {
            for keeps in [false, true] {
                let (front, server) = front(false);
                front.send_parts(vec![Part::data(json!({"tool": "long"}))], None);
                front.run(None, || front.platform.now().0 >= at_ms && server.0.looks.get() > 0);
                assert_eq!(front.state(), Some(TaskState::Working));
                front.cancel();
                front.run(Some((at, keeps)), || false);
                if front.state() != Some(TaskState::Canceled) {
                    front.cancel();
                }
                front.finish();
                assert_eq!(front.state(), Some(TaskState::Canceled));
                assert!(server.0.canceled.get() >= 1, "{at_ms} {at} {keeps}");
            }
        }
    }
}

/// Lets an older server ask a question, answers it, and lets the process die once.
fn live_older(
    agent: impl Fn() -> (Front, Server),
    crash: Option<Crash>,
) -> (Front, Server, TaskState) {
    let (front, server) = agent();
    server.0.is_legacy.set(true);
    let mut crash = crash;
    for _ in 0..10 {
        match front.state() {
            None => {
                front.send_whole("m1", vec![Part::data(json!({"tool": "ask"}))], None);
            }
            Some(TaskState::InputRequired) => {
                let data = Part::data(json!({"seat": "4A"}));
                front.send_whole("answer", vec![data], None);
            }
            Some(state) if state.is_terminal() => return (front, server, state),
            Some(_) => {}
        }
        let before = front.polls();
        let asked = front.state() == Some(TaskState::InputRequired);
        let until = || match front.state() {
            Some(TaskState::InputRequired) => !asked,
            state => state.is_some_and(TaskState::is_terminal),
        };
        if front.run(crash, until) {
            let polls = front.polls() - before;
            crash = crash.and_then(|(at, keeps)| Some((at.checked_sub(polls)?, keeps)));
        } else {
            crash = None;
        }
    }
    panic!("{crash:?} {:?}", front.transcript());
}

#[test]
fn an_older_server_is_answered_on_its_connection_and_a_lost_one_is_told() {
    let live = |crash: Option<Crash>| live_older(|| front(false), crash);
    let (front, server, state) = live(None);
    assert_eq!(
        (state, server.count("ask", None)),
        (TaskState::Completed, 1),
        "{:?}",
        front.transcript()
    );
    assert_eq!(front.transcript().last().unwrap(), "ask-result: 4A");
    let (mut lost, mut interrupted) = (0, 0);
    for at in (0..front.polls()).step_by(2) {
        for keeps in [false, true] {
            let (front, server, state) = live(Some((at, keeps)));
            let said = front.transcript().join("\n");
            assert!(server.count("ask", None) <= 1, "{at} {keeps} {said}");
            let is_lost =
                said.contains("the MCP server tools had asked on a connection that was lost");
            let is_interrupted = said.contains("the agent was interrupted while it called ask");
            assert_eq!(
                state == TaskState::Failed,
                is_lost || is_interrupted,
                "{at} {keeps} {said}"
            );
            lost += usize::from(is_lost);
            interrupted += usize::from(is_interrupted);
        }
    }
    assert!(lost > 0 && interrupted > 0, "{lost} {interrupted}");
}

/// An agent with a model and all tools.
fn modeled(trusts: bool) -> (Front, Server) {
    let table = json!({"model": "m", "base_url": "https://models.example/v1", "mcp": ["tools"]});
    front_with("model", table, trusts)
}

#[test]
fn behind_a_model_a_call_comes_to_its_end_too_and_is_made_once_where_it_may_not_be_repeated() {
    for (tool, trusts) in
        ["plain", "ask", "long"].into_iter().flat_map(|tool| [(tool, false), (tool, true)])
    {
        let polls = live_of(modeled(trusts), tool, None).0.polls();
        let (mut whole, mut interrupted, mut most) = (0, 0, 0);
        for at in (0..polls).step_by(7) {
            for keeps in [false, true] {
                let (front, server, state) = live_of(modeled(trusts), tool, Some((at, keeps)));
                let said = front.transcript();
                let told = format!("{tool} {trusts} {at} {keeps} {said:?}");
                assert_eq!(state, TaskState::Completed, "{told}");
                let answer = said.last().unwrap();
                whole += usize::from(answer == "answer: done");
                let reason =
                    format!("answer: error: the agent was interrupted while it called {tool}");
                interrupted += usize::from(answer.starts_with(&reason));
                most = most.max(server.count(tool, None)).max(server.count(tool, Some("4A")));
            }
        }
        let all = polls.div_ceil(7) * 2;
        assert_eq!(whole + interrupted, all, "{tool} {trusts}");
        assert_eq!(
            (interrupted == 0, most),
            (trusts, if trusts { 2 } else { 1 }),
            "{tool} {trusts}"
        );
    }
}

#[test]
fn behind_a_model_an_older_server_is_answered_too_and_a_lost_call_is_told_to_the_model() {
    let live = |crash: Option<Crash>| live_older(|| modeled(false), crash);
    let (front, server, state) = live(None);
    assert_eq!((state, server.count("ask", None)), (TaskState::Completed, 1));
    assert_eq!(front.transcript().last().unwrap(), "answer: 4A");
    let (mut lost, mut interrupted) = (0, 0);
    for at in (0..front.polls()).step_by(5) {
        for keeps in [false, true] {
            let (front, server, state) = live(Some((at, keeps)));
            let told = format!("{at} {keeps} {:?}", front.transcript());
            assert_eq!(state, TaskState::Completed, "{told}");
            assert!(server.count("ask", None) <= 1, "{told}");
            let answers = front.transcript().into_iter().filter(|said| said.starts_with("answer"));
            let answers: Vec<String> = answers.collect();
            let is_lost = told.contains("was interrupted while this call was open");
            let is_interrupted = told.contains("the agent was interrupted while it called ask");
            // If the call is not repeated, the user's answer goes to the model, which then answers a second time.
            let count = if is_interrupted { 1..=2 } else { 1..=1 };
            assert!(count.contains(&answers.len()), "{told}");
            assert_eq!(answers == ["answer: 4A"], !is_lost && !is_interrupted, "{told}");
            lost += usize::from(is_lost);
            interrupted += usize::from(is_interrupted);
        }
    }
    assert!(lost > 0 && interrupted > 0, "{lost} {interrupted}");
}

#[test]
fn a_question_that_nobody_answers_on_a_connection_ends_with_the_time_of_the_call() {
    let (front, server) = front(false);
    server.0.is_legacy.set(true);
    front.send_parts(vec![Part::data(json!({"tool": "ask"}))], None);
    front.run(None, || front.state().is_some_and(TaskState::is_terminal));
    assert_eq!(front.state(), Some(TaskState::Failed));
    let reason = "ask failed: the MCP server tools: nobody has answered its question within";
    let said = front.transcript();
    assert!(said.iter().any(|said| said.starts_with(reason)), "{said:?}");
}

#[test]
fn a_server_that_is_silent_is_not_waited_for_if_others_have_what_is_called() {
    let (front, server) = front_of(false, &["silent", "tools"]);
    front.send_parts(vec![Part::data(json!({"tool": "plain"}))], None);
    front.settle();
    assert_eq!(front.state(), Some(TaskState::Completed), "{:?}", front.transcript());
    assert_eq!(server.count("plain", None), 1);
    let (front, _) = front_of(false, &["silent", "tools"]);
    front.send_parts(vec![Part::data(json!({"tool": "unknown"}))], None);
    front.settle();
    let said = front.transcript();
    let reason = "not all tools are known at the moment: the MCP server silent";
    assert!(said.iter().any(|said| said.starts_with(reason)), "{said:?}");
}
