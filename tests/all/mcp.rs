//! Agents with tools of MCP servers, with servers in memory: the calls, their outcomes, and the effects of a crash.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use a2a_edge::executor::Registry;
use a2a_edge::http::HttpAnswer;
use a2a_edge::http::memory::{MemoryHttp, ok};
use a2a_edge::prelude::*;
use a2a_edge::testing::TestAgent;
use a2a_edge::tool::prelude::{Tool, Value, json, tool};
use a2a_edge::twins::MemoryPlatform;

use crate::support::Made;

/// Says what it is given.
#[tool]
fn say(text: String) -> String {
    text
}

/// The servers of a test: the requests to them, and their answers to calls of tools.
#[derive(Clone, Default)]
struct Servers {
    asked: Rc<RefCell<Vec<(String, Value)>>>,
    headers: Rc<RefCell<Vec<Headers>>>,
    are_down: Rc<Cell<bool>>,
}

type Headers = Vec<(String, String)>;

type Answering = dyn Fn(&str, &Value) -> Value;

impl Servers {
    /// Answers the requests of an agent: lists with the tools of each host, all other requests by `answer`, which receives
    /// the method and the params, and returns a result, or an object with a member `error`.
    fn serve(
        &self,
        agent: &TestAgent,
        tools: &'static [(&'static str, &'static str)],
        answer: Box<Answering>,
    ) {
        self.serve_at(agent.http(), tools, answer);
    }

    /// The same at the servers, or at the bound Worker, of `http`.
    fn serve_at(
        &self,
        http: &MemoryHttp,
        tools: &'static [(&'static str, &'static str)],
        answer: Box<Answering>,
    ) {
        let servers = self.clone();
        http.answer_with(move |request, body| {
            if servers.are_down.get() {
                return Err("it is down".to_owned());
            }
            let body: Value = serde_json::from_str(body).unwrap();
            let method = body["method"].as_str().unwrap();
            servers.asked.borrow_mut().push((method.to_owned(), body["params"].clone()));
            servers.headers.borrow_mut().push(request.headers.clone());
            let mut result = match method {
                "server/discover" => {
                    json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
                }
                "tools/list" => {
                    let listed = tools.iter().filter(|(host, _)| request.url.contains(host));
                    let listed = listed.map(|(_, tool)| serde_json::from_str(tool).unwrap());
                    json!({"tools": listed.collect::<Vec<Value>>(), "ttlMs": 0})
                }
                method => answer(method, &body["params"]),
            };
            let member = if result.get("error").is_some() { "error" } else { "result" };
            if let Some(error) = result.get_mut("error") {
                result = error.take();
            }
            let answer = json!({"jsonrpc": "2.0", "id": body["id"], member: result});
            Ok(json_of(&answer))
        });
    }

    /// The params of all requests with this method.
    fn asked(&self, method: &str) -> Vec<Value> {
        let asked = self.asked.borrow();
        asked
            .iter()
            .filter(|(known, _)| known == method)
            .map(|(_, params)| params.clone())
            .collect()
    }

    /// The calls of tools: their names and arguments.
    fn calls(&self) -> Vec<(String, Value)> {
        let calls = self.asked("tools/call").into_iter();
        calls
            .map(|call| (call["name"].as_str().unwrap().to_owned(), call["arguments"].clone()))
            .collect()
    }
}

fn json_of(json: &Value) -> HttpAnswer<String> {
    let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    HttpAnswer { headers, ..ok(json.to_string()) }
}

const READ: &str = r#"{"name": "read_file", "description": "Reads a file.", "annotations": {"readOnlyHint": true},
    "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"],
        "unknownKeyword": {"of": "the future"}}}"#;
const ADD: &str = r#"{"name": "add", "inputSchema": {"type": "object", "properties": {"a": {"type": "number"},
    "b": {"type": "number"}}, "required": ["a", "b"]}}"#;
const SAY: &str = r#"{"name": "say", "inputSchema": {"type": "object"}}"#;

const TOOLS: &[(&str, &str)] = &[("files", READ), ("files", ADD), ("files", SAY), ("other", ADD)];

/// An agent with tools of this Worker and of servers.
fn agent_with(table: Value, restricted: Value) -> TestAgent {
    let mut registry = Registry::default();
    let say: Rc<dyn Tool> = Rc::new(say());
    registry.add_tool(say);
    let outside = MemoryPlatform::default().outside();
    let embedded = json!({
        "slug": "a", "default": true, "development": false, "card": "{}", "restricted": restricted,
        "capabilities": {"streaming": true}, "executor": {"kind": "tools", "table": table, "run": {}},
    });
    let made = registry.make(&a2a::model::decode::decode(embedded).unwrap(), &outside).unwrap();
    let trusting = json!({"url": "https://files.example/mcp", "bearer_token": "${KEY}"});
    TestAgent::new(Made(made))
        .with_secret("KEY", "s3cr3t-k3y")
        .with_mcp("files", trusting)
        .with_mcp("other", json!({"url": "https://other.example/mcp", "trust_hints": true}))
}

fn agent(mcp: Value) -> TestAgent {
    agent_with(json!({"mcp": mcp}), json!([]))
}

fn call(tool: &str, arguments: Value) -> Vec<Part> {
    vec![Part::data(json!({"tool": tool, "arguments": arguments}))]
}

fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

/// The outcome of the task: its state, the text of its status, and its artifacts as JSON.
fn outcome(agent: &TestAgent) -> (TaskState, String, Vec<Value>) {
    let task = agent.task().unwrap();
    let said = task.status.message.as_ref().map(Message::text).unwrap_or_default();
    let artifacts = task.artifacts.iter();
    (task.status.state, said, artifacts.map(|found| serde_json::to_value(found).unwrap()).collect())
}

#[test]
fn a_tool_of_a_server_is_called_with_the_arguments_as_they_are() {
    let (agent, servers) = (agent(json!(["files"])), Servers::default());
    servers.serve(
        &agent,
        TOOLS,
        Box::new(|_, _| {
            json!({"content": [{"type": "text", "text": "{\"n\":5}"}],
        "structuredContent": {"n": 5}})
        }),
    );
    let arguments = json!({"a": 2, "b": "not a number", "more": [1.5, null]});
    agent.send_parts(call("add", arguments.clone())).unwrap();
    let (state, said, artifacts) = outcome(&agent);
    assert_eq!((state, said.as_str()), (TaskState::Completed, ""));
    assert_eq!(
        artifacts,
        [json!({"artifactId": "add-result", "name": "add-result", "parts": [{"data": {"n": 5}}]})]
    );
    assert_eq!(servers.calls(), [("add".to_owned(), arguments)]);
    let meta = &servers.asked("tools/call")[0]["_meta"];
    assert_eq!(meta["urn:a2a-edge:depth"], 1);
    for headers in servers.headers.borrow().iter() {
        let shown = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("authorization"));
        assert_eq!(shown.unwrap().1, "Bearer s3cr3t-k3y");
    }
}

#[test]
fn a_text_goes_to_the_first_tool_that_wants_one_string() {
    let (agent, servers) = (agent(json!(["files"])), Servers::default());
    servers.serve(&agent, TOOLS, Box::new(|_, _| text("content")));
    agent.send("notes.txt").unwrap();
    assert_eq!(outcome(&agent).2[0]["parts"], json!([{"text": "content"}]));
    assert_eq!(servers.calls(), [("read_file".to_owned(), json!({"path": "notes.txt"}))]);
}

#[test]
fn calls_of_several_tools_are_made_in_order_and_names_are_told_apart() {
    let agent = agent_with(json!({"names": ["say"], "mcp": ["files", "other"]}), json!([]));
    let servers = Servers::default();
    servers.serve(
        &agent,
        TOOLS,
        Box::new(|_, params| text(&format!("{} did", params["name"].as_str().unwrap()))),
    );
    let names = ["say", "files.say", "files.add", "other.add", "files.read_file"];
    let arguments = json!({"text": "hi"});
    agent
        .send_parts(names.iter().flat_map(|name| call(name, arguments.clone())).collect())
        .unwrap();
    let (state, said, artifacts) = outcome(&agent);
    assert_eq!((state, said.as_str()), (TaskState::Completed, ""));
    let shown: Vec<_> =
        artifacts.iter().map(|one| (&one["artifactId"], &one["parts"][0]["text"])).collect();
    assert_eq!(
        json!(shown),
        json!([
            ["say-result", "hi"],
            ["files.say-result-2", "say did"],
            ["files.add-result-3", "add did"],
            ["other.add-result-4", "add did"],
            ["read_file-result-5", "read_file did"],
        ])
    );
}

#[test]
fn patterns_of_the_agent_choose_and_what_is_not_chosen_does_not_exist() {
    let (agent, servers) = (agent(json!(["files:read_*", "other:add"])), Servers::default());
    servers.serve(&agent, TOOLS, Box::new(|_, _| text("")));
    agent.send_parts(call("say", json!({}))).unwrap();
    let (state, said, _) = outcome(&agent);
    assert_eq!(state, TaskState::Rejected);
    assert!(said.starts_with("there is no tool \"say\""), "{said}");
    assert!(said.contains("- read_file: Reads a file. Example: {\"tool\":\"read_file\",\"arguments\":{\"path\":\"…\"}}"), "{said}");
    assert!(said.contains("- add: ") && !said.contains("files.add"), "{said}");
    assert_eq!(servers.calls(), []);
}

#[test]
fn a_tool_needs_the_permissions_of_its_skill_whichever_name_it_has() {
    for id in ["add", "files.add"] {
        let restricted =
            json!([{"permissions": ["calculate"], "position": 0, "skill": {"id": id}}]);
        for mcp in [json!(["files"]), json!(["files", "other"])] {
            for may in [false, true] {
                let agent = agent_with(json!({"mcp": mcp}), restricted.clone());
                let agent = if may { agent.with_permission("calculate") } else { agent };
                let servers = Servers::default();
                servers.serve(&agent, TOOLS, Box::new(|_, _| text("5")));
                agent.send_parts(call("files.add", json!({}))).unwrap();
                let (state, said, _) = outcome(&agent);
                let expected = if may { TaskState::Completed } else { TaskState::Rejected };
                assert_eq!(state, expected, "{id} {mcp} {may} {said}");
                assert_eq!(servers.calls().len(), usize::from(may));
                assert!(!said.contains("files.add:"), "{said}");
            }
        }
    }
}

#[test]
fn a_tool_that_fails_and_a_call_that_is_refused_are_told_apart() {
    let failing: [(Value, &str, Value, Value); 3] = [
        (
            json!({"content": [{"type": "text", "text": "no such file"}], "isError": true}),
            "add failed: no such file",
            json!({"isError": true, "fault": "tool"}),
            json!([{"text": "no such file"}]),
        ),
        (
            json!({"content": [], "isError": true}),
            "add failed, and does not say why",
            json!({"isError": true, "fault": "tool"}),
            json!([{"text": ""}]),
        ),
        (
            json!({"error": {"code": -32602, "message": "bad arguments"}}),
            "add failed: the MCP server files: the server refused: bad arguments (-32602)",
            json!({"isError": true, "fault": "upstream", "code": -32602}),
            json!([{"text": "the MCP server files: the server refused: bad arguments (-32602)"}]),
        ),
    ];
    for (answer, said, metadata, parts) in failing {
        let (agent, servers) = (agent(json!(["files"])), Servers::default());
        servers.serve(&agent, TOOLS, Box::new(move |_, _| answer.clone()));
        agent.send_parts([call("add", json!({})), call("say", json!({}))].concat()).unwrap();
        let (state, text, artifacts) = outcome(&agent);
        assert_eq!((state, text.as_str()), (TaskState::Failed, said));
        assert_eq!((&artifacts[0]["metadata"], &artifacts[0]["parts"]), (&metadata, &parts));
        assert_eq!(servers.calls().len(), 1, "nothing is called behind it");
    }
}

#[test]
fn a_server_that_is_down_is_named_and_its_url_is_not() {
    let (agent, servers) = (agent(json!(["files"])), Servers::default());
    servers.serve(&agent, TOOLS, Box::new(|_, _| text("")));
    servers.are_down.set(true);
    agent.send_parts(call("add", json!({}))).unwrap();
    let (state, said, _) = outcome(&agent);
    assert_eq!(state, TaskState::Failed);
    assert_eq!(
        said,
        "not all tools are known at the moment: the MCP server files cannot be reached"
    );
}

#[test]
fn a_server_may_be_another_worker_that_is_called_by_its_binding_alone() {
    let table = json!({"service": "FILES", "path": "/mcp/files", "bearer_token": "${KEY}"});
    let agent = agent(json!(["bound"])).with_mcp("bound", table);
    let (servers, worker) = (Servers::default(), agent.service("FILES"));
    servers.serve_at(&worker, TOOLS, Box::new(|_, _| text("content")));
    agent.send("notes.txt").unwrap();
    assert_eq!(outcome(&agent).2[0]["parts"], json!([{"text": "content"}]));
    assert_eq!(servers.calls(), [("read_file".to_owned(), json!({"path": "notes.txt"}))]);
    let headers = servers.headers.borrow();
    assert!(headers.iter().flatten().any(|(_, value)| value == "Bearer s3cr3t-k3y"));
    let urls = worker.called();
    assert!(urls.iter().all(|url| url == "https://service.internal/mcp/files"), "{urls:?}");
    assert!(agent.http().called().is_empty(), "nothing leaves the Worker");
}

#[test]
fn what_a_server_lacks_fails_the_task_and_is_named() {
    let agent = agent(json!(["unset"])).with_mcp("unset", json!({"url": "${NOWHERE}"}));
    agent.send_parts(call("add", json!({}))).unwrap();
    let (state, said, _) = outcome(&agent);
    assert_eq!(state, TaskState::Failed);
    assert!(
        said.contains("the MCP server unset: `url`: the secret or variable NOWHERE is not set"),
        "{said}"
    );
}

const SEAT: &str =
    r#"{"type": "object", "properties": {"seat": {"type": "string"}}, "required": ["seat"]}"#;

/// Asks for a seat, and returns the answer.
fn asking(method: &str, params: &Value) -> Value {
    assert_eq!(method, "tools/call");
    let schema: Value = serde_json::from_str(SEAT).unwrap();
    let question = json!({"method": "elicitation/create", "params": {"message": "Which seat?", "requestedSchema": schema}});
    match params.get("inputResponses") {
        None => {
            json!({"resultType": "input_required", "requestState": "sealed", "inputRequests": {"q1": question}})
        }
        Some(answers) => {
            text(&format!("{} {} {}", params["requestState"], answers, params["arguments"]))
        }
    }
}

#[test]
fn a_question_is_asked_and_the_answer_goes_back_with_its_state_after_a_crash_too() {
    for crashes in [false, true] {
        let (agent, servers) = (agent(json!(["files"])), Servers::default());
        servers.serve(&agent, TOOLS, Box::new(asking));
        agent.send_parts(call("add", json!({"a": 1}))).unwrap();
        let (state, said, _) = outcome(&agent);
        assert_eq!(state, TaskState::InputRequired);
        assert!(said.starts_with("Which seat?\nAnswer with a text, or"), "{said}");
        let message = agent.task().unwrap().status.message.unwrap();
        assert_eq!(
            message.parts[1].as_data().unwrap(),
            serde_json::from_str::<Value>(SEAT).unwrap()
        );
        agent.send_parts(vec![Part::url("https://no.answer")]).unwrap();
        let (state, said, _) = outcome(&agent);
        assert_eq!(state, TaskState::InputRequired);
        assert!(said.starts_with("that is no answer"), "{said}");
        if crashes {
            agent.crash().unwrap();
        }
        agent.send("4A").unwrap();
        let (state, said, artifacts) = outcome(&agent);
        assert_eq!((state, said.as_str()), (TaskState::Completed, ""));
        let expected = r#""sealed" {"q1":{"action":"accept","content":{"seat":"4A"}}} {"a":1}"#;
        assert_eq!(artifacts[0]["parts"], json!([{"text": expected}]));
        assert_eq!(servers.calls().len(), 2);
    }
}

#[test]
fn an_answer_that_does_not_fit_the_schema_is_asked_for_again_with_the_reason() {
    let (agent, servers) = (agent(json!(["files"])), Servers::default());
    servers.serve(
        &agent,
        TOOLS,
        Box::new(|_, params| match params.get("inputResponses") {
            None => {
                let properties = json!({
                    "seat": {"type": "string", "enum": ["4A", "4B"], "pattern": "^(?!9)"},
                    "bags": {"type": "integer", "maximum": 3},
                });
                let schema = json!({"type": "object", "properties": properties, "required": ["seat"]});
                json!({"resultType": "input_required", "inputRequests": {"q": {"method": "elicitation/create",
                    "params": {"message": "Which seat?", "requestedSchema": schema}}}})
            }
            Some(answers) => text(&answers["q"]["content"].to_string()),
        }),
    );
    agent.send_parts(call("add", json!({}))).unwrap();
    for (answer, reason) in [
        (json!({"seat": "9Z"}), r#"answer.seat: must be one of "4A", "4B", got "9Z""#),
        (json!({"bags": 1}), "answer.seat: is required"),
        (json!({"seat": "4A", "bags": "1"}), "answer.bags: must be of type integer, got string"),
        (json!({"seat": "4A", "bags": 4}), "answer.bags: must be 3 or less, got 4"),
        (
            json!({"action": "accept", "content": {"seat": 4}}),
            "answer.seat: must be of type string, got number",
        ),
        (json!({"action": "accept"}), "answer.seat: is required"),
    ] {
        agent.send_parts(vec![Part::data(answer.clone())]).unwrap();
        let (state, said, _) = outcome(&agent);
        assert_eq!(state, TaskState::InputRequired, "{answer} {said}");
        let expected = format!("that answer does not fit: {reason}. Which seat?");
        assert!(said.starts_with(&expected), "{answer}: {said}");
    }
    assert_eq!(servers.calls().len(), 1, "the server is not told what does not fit");
    agent.send_parts(vec![Part::data(json!({"seat": "4B", "bags": 2.0}))]).unwrap();
    let (state, _, artifacts) = outcome(&agent);
    assert_eq!(state, TaskState::Completed);
    assert_eq!(artifacts[0]["parts"], json!([{"text": r#"{"seat":"4B","bags":2.0}"#}]));
}

#[test]
fn a_question_in_the_middle_of_several_calls_lets_those_before_it_be() {
    let agent = agent_with(json!({"names": ["say"], "mcp": ["files"]}), json!([]));
    let servers = Servers::default();
    servers.serve(
        &agent,
        TOOLS,
        Box::new(|method, params| match params["name"].as_str() {
            Some("add") => asking(method, params),
            _ => text("read"),
        }),
    );
    let calls = [
        call("read_file", json!({})),
        call("add", json!({"a": 1})),
        call("say", json!({"text": "hi"})),
        call("add", json!({"a": 2})),
    ];
    agent.send_parts(calls.concat()).unwrap();
    for seat in ["4A", "4B"] {
        assert_eq!(outcome(&agent).0, TaskState::InputRequired);
        agent.crash().unwrap();
        agent.send(seat).unwrap();
    }
    let (state, said, artifacts) = outcome(&agent);
    assert_eq!((state, said.as_str()), (TaskState::Completed, ""));
    let ids: Vec<_> = artifacts.iter().map(|one| one["artifactId"].as_str().unwrap()).collect();
    assert_eq!(ids, ["read_file-result", "add-result-2", "say-result-3", "add-result-4"]);
    assert!(artifacts[3]["parts"][0]["text"].as_str().unwrap().contains("4B"));
    assert_eq!(servers.calls().len(), 5);
}

#[test]
fn what_is_asked_can_be_declined_and_a_url_is_no_form() {
    let (agent, servers) = (agent(json!(["files"])), Servers::default());
    servers.serve(&agent, TOOLS, Box::new(|_, params| match params.get("inputResponses") {
        None => json!({"resultType": "input_required", "inputRequests": {"u": {"method": "elicitation/create",
            "params": {"mode": "url", "message": "Log in.", "url": "https://login.example/?x=1"}}}}),
        Some(answers) => text(&answers.to_string()),
    }));
    agent.send_parts(call("add", json!({}))).unwrap();
    let task = agent.task().unwrap();
    assert_eq!(task.status.state, TaskState::AuthRequired);
    assert_eq!(task.status.message.unwrap().parts[1], Part::url("https://login.example/?x=1"));
    agent.send_parts(vec![Part::data(json!({"action": "decline"}))]).unwrap();
    assert_eq!(outcome(&agent).2[0]["parts"], json!([{"text": r#"{"u":{"action":"decline"}}"#}]));
}

#[test]
fn a_server_that_asks_for_ever_is_not_answered_for_ever() {
    let (agent, servers) = (agent(json!(["files"])), Servers::default());
    servers.serve(
        &agent,
        TOOLS,
        Box::new(|method, params| {
            let mut params = params.clone();
            params.as_object_mut().unwrap().remove("inputResponses");
            asking(method, &params)
        }),
    );
    agent.send_parts(call("add", json!({}))).unwrap();
    let mut rounds = 0;
    while outcome(&agent).0 == TaskState::InputRequired {
        rounds += 1;
        agent.send("4A").unwrap();
    }
    assert_eq!(outcome(&agent).0, TaskState::Failed);
    assert!((10..=11).contains(&rounds), "{rounds}");
}

fn task_of(status: &str, more: Value) -> Value {
    let mut task = json!({"taskId": "t1", "status": status, "pollIntervalMs": 2_000, "createdAt": "2026-01-01T00:00:00Z"});
    task.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
    task
}

#[test]
fn a_task_of_a_server_is_followed_for_days_and_through_crashes() {
    let (agent, servers) = (agent(json!(["files"])), Servers::default());
    let looks = Rc::new(Cell::new(0));
    let count = looks.clone();
    servers.serve(
        &agent,
        TOOLS,
        Box::new(move |method, params| match method {
            "tools/call" => task_of("working", json!({"resultType": "task"})),
            "tasks/get" => {
                assert_eq!(params["taskId"], "t1");
                count.set(count.get() + 1);
                match count.get() {
                    ..5 => task_of("working", json!({"statusMessage": "begun"})),
                    5..60 => task_of("working", json!({"statusMessage": "far"})),
                    _ => task_of("completed", json!({"result": text("done")})),
                }
            }
            other => panic!("{other}"),
        }),
    );
    agent.begin_parts(call("add", json!({}))).unwrap();
    agent.pass(30_000);
    assert_eq!(outcome(&agent).1, "far");
    agent.crash().unwrap();
    agent.pass(600_000);
    assert_eq!(outcome(&agent).0, TaskState::Working);
    agent.crash().unwrap();
    agent.run();
    let (state, _, artifacts) = outcome(&agent);
    assert_eq!((state, &artifacts[0]["parts"]), (TaskState::Completed, &json!([{"text": "done"}])));
    assert_eq!(servers.calls().len(), 1);
    assert!(agent.now().0 > 3_600_000, "{}", agent.now().0);
    let said: Vec<String> = agent.task().unwrap().history.iter().map(Message::text).collect();
    assert_eq!(said[1..], ["begun", "far"]);
}

#[test]
fn a_task_that_asks_is_answered_and_goes_on() {
    let (agent, servers) = (agent(json!(["files"])), Servers::default());
    let answered = Rc::new(Cell::new(0));
    let count = answered.clone();
    let question = json!({"method": "elicitation/create", "params": {"message": "Sure?", "requestedSchema": serde_json::from_str::<Value>(SEAT).unwrap()}});
    servers.serve(
        &agent,
        TOOLS,
        Box::new(move |method, params| match method {
            "tools/call" => task_of("working", json!({"resultType": "task"})),
            "tasks/get" => match count.get() {
                // The answer is visible one poll later.
                0 | 2 => {
                    count.set(if count.get() == 2 { 3 } else { 0 });
                    task_of("input_required", json!({"inputRequests": {"k": question}}))
                }
                _ => task_of("completed", json!({"result": text("done")})),
            },
            "tasks/update" => {
                assert_eq!(params["inputResponses"]["k"]["content"]["seat"], "4A");
                count.set(2);
                json!({})
            }
            other => panic!("{other}"),
        }),
    );
    agent.send_parts(call("add", json!({}))).unwrap();
    assert_eq!(outcome(&agent).0, TaskState::InputRequired);
    agent.crash().unwrap();
    agent.send("4A").unwrap();
    agent.run();
    assert_eq!(outcome(&agent).0, TaskState::Completed, "{}", outcome(&agent).1);
    assert_eq!((servers.calls().len(), servers.asked("tasks/update").len()), (1, 1));
}

#[test]
fn a_task_of_a_server_is_canceled_with_ours_whether_its_run_is_in_memory_or_parked() {
    for after_ms in [10_000, 3_600_000] {
        let (agent, servers) = (agent(json!(["files"])), Servers::default());
        servers.serve(
            &agent,
            TOOLS,
            Box::new(|method, _| match method {
                "tools/call" => task_of("working", json!({"resultType": "task"})),
                "tasks/get" => task_of("working", json!({})),
                "tasks/cancel" => json!({}),
                other => panic!("{other}"),
            }),
        );
        agent.begin_parts(call("add", json!({}))).unwrap();
        agent.pass(after_ms);
        agent.cancel().unwrap();
        agent.run();
        assert_eq!(outcome(&agent).0, TaskState::Canceled);
        let canceled = servers.asked("tasks/cancel");
        assert_eq!(canceled.len(), 1, "{after_ms}");
        assert_eq!(canceled[0]["taskId"], "t1");
    }
}

#[test]
fn a_task_of_a_server_that_waits_for_an_answer_is_canceled_with_ours() {
    let (agent, servers) = (agent(json!(["files"])), Servers::default());
    let schema: Value = serde_json::from_str(SEAT).unwrap();
    let question = json!({"method": "elicitation/create", "params": {"message": "Sure?", "requestedSchema": schema}});
    servers.serve(
        &agent,
        TOOLS,
        Box::new(move |method, _| match method {
            "tools/call" => task_of("working", json!({"resultType": "task"})),
            "tasks/get" => task_of("input_required", json!({"inputRequests": {"k": question}})),
            "tasks/cancel" => json!({}),
            other => panic!("{other}"),
        }),
    );
    agent.send_parts(call("add", json!({}))).unwrap();
    assert_eq!(outcome(&agent).0, TaskState::InputRequired);
    agent.crash().unwrap();
    agent.cancel().unwrap();
    // No run is in memory, so the next alarm handles the cancellation.
    agent.pass(120_000);
    assert_eq!(outcome(&agent).0, TaskState::Canceled);
    let canceled = servers.asked("tasks/cancel");
    assert_eq!(canceled.len(), 1);
    assert_eq!(canceled[0]["taskId"], "t1");
}
