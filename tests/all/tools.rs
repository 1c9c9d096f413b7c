//! Agents with tools: their requests, their failures, and the effects of a crash.

use std::rc::Rc;

use a2a_edge::executor::Registry;
use a2a_edge::http::memory::ok;
use a2a_edge::prelude::*;
use a2a_edge::testing::TestAgent;
use a2a_edge::tool::prelude::{Tool, ToolCall, ToolError, Value, json, tool};
use a2a_edge::twins::MemoryPlatform;

use crate::support::Made;

/// Says what it is given.
#[tool]
fn say(
    text: String,
    #[limit(1..=3)]
    #[default(1)]
    times: usize,
) -> String {
    text.repeat(times)
}

/// Books a room.
#[tool]
fn book(
    /// Where.
    city: String,
    nights: u8,
    guest: Guest,
) -> Value {
    json!([city, nights, guest.name])
}

#[a2a_edge::tool::arguments]
struct Guest {
    name: String,
}

/// Pays, waits, and ships.
#[tool]
async fn order(what: String, call: &dyn ToolCall) -> Result<String, ToolError> {
    for name in ["pay", "ship"] {
        call.progress(&format!("{name} at {}", call.now()))?;
        let request = || HttpRequest::post(format!("http://shop/{what}/{name}"));
        call.step(name, async || Ok(call.fetch(request()).await?.status)).await?;
        call.sleep(20_000).await;
    }
    Ok(what)
}

/// Fails.
#[tool]
fn fail(#[default("tool")] fault: String, call: &dyn ToolCall) -> Result<Vec<Part>, ToolError> {
    let key = call.secret("KEY")?;
    call.progress(&format!("with {}", key.reveal()))?;
    let text = format!("not with {}", key.reveal());
    match fault.as_str() {
        "arguments" => Err(ToolError::Arguments(text)),
        "tool" => Err(ToolError::Tool(text)),
        "upstream" => Err(ToolError::Upstream(text)),
        _ => Ok(vec![Part::data(json!({"key": key.reveal()})), Part::raw(b"1", "text/plain")]),
    }
}

fn agent(table: Value) -> TestAgent {
    agent_with(table, json!([]))
}

/// An agent with some skills that require permissions.
fn agent_with(table: Value, restricted: Value) -> TestAgent {
    let mut registry = Registry::default();
    let tools: [Rc<dyn Tool>; 4] =
        [Rc::new(say()), Rc::new(book()), Rc::new(order()), Rc::new(fail())];
    for tool in tools {
        registry.add_tool(tool);
    }
    let outside = MemoryPlatform::default().outside();
    let embedded = json!({
        "slug": "a", "default": true, "development": false, "card": "{}", "restricted": restricted,
        "capabilities": {"streaming": true}, "executor": {"kind": "tools", "table": table, "run": {}},
    });
    let made = registry.make(&a2a::model::decode::decode(embedded).unwrap(), &outside).unwrap();
    let agent = TestAgent::new(Made(made)).with_secret("KEY", "s3cr3t-k3y");
    agent.http().answer_with(|_, _| Ok(ok("done")));
    agent
}

fn call(tool: &str, arguments: Value) -> Part {
    Part::data(json!({"tool": tool, "arguments": arguments}))
}

/// The outcome of the task: its state, the text of its status, and its artifacts as JSON.
fn outcome(agent: &TestAgent) -> (TaskState, String, Vec<Value>) {
    let task = agent.task().unwrap();
    let said = task.status.message.as_ref().map(Message::text).unwrap_or_default();
    let artifacts = task.artifacts.iter();
    (task.status.state, said, artifacts.map(|found| serde_json::to_value(found).unwrap()).collect())
}

#[test]
fn a_text_goes_to_the_first_tool_that_wants_one_string() {
    let agent = agent(json!({"names": ["fail", "book", "say"]}));
    agent.send("hi").unwrap();
    let (state, _, artifacts) = outcome(&agent);
    assert_eq!(state, TaskState::Completed);
    assert_eq!(artifacts[0]["artifactId"], "say-result");
    assert_eq!(artifacts[0]["parts"], json!([{"text": "hi"}]));
}

#[test]
fn a_text_that_no_tool_takes_fails_with_what_can_be_asked() {
    let agent = agent(json!({"names": ["book"]}));
    agent.send("Lisbon").unwrap();
    let (state, said, artifacts) = outcome(&agent);
    assert_eq!(state, TaskState::Failed);
    let example = r#"{"tool":"book","arguments":{"city":"…","nights":0,"guest":{"name":"…"}}}"#;
    let listed = format!("- book: Books a room. Example: {example}");
    assert!(said.contains(&listed), "{said}");
    assert!(artifacts.is_empty());
    let message = agent.task().unwrap().status.message.unwrap();
    let data = message.parts[1].as_data().unwrap();
    assert_eq!(data["tools"][0]["example"].to_string(), example);
}

#[test]
fn a_failing_tool_leaves_its_reason_and_says_who_is_at_fault_without_secrets() {
    for (fault, said) in [
        ("arguments", "fail was called with wrong arguments: not with [KEY]"),
        ("tool", "fail failed: not with [KEY]"),
        ("upstream", "fail failed because of something that it called: not with [KEY]"),
    ] {
        let agent = agent(json!({"names": ["say", "fail"]}));
        let calls = vec![call("say", json!({"text": "a"})), call("fail", json!({"fault": fault}))];
        agent.send_parts(calls).unwrap();
        let (state, text, artifacts) = outcome(&agent);
        assert_eq!((state, text.as_str()), (TaskState::Failed, said));
        let metadata = json!({"isError": true, "fault": fault});
        assert_eq!(
            artifacts[1],
            json!({"artifactId": "fail-result-2", "name": "fail-result", "metadata": metadata,
                "parts": [{"text": "not with [KEY]"}]})
        );
        let whole = serde_json::to_string(&agent.task().unwrap()).unwrap();
        assert!(!whole.contains("s3cr3t"), "{whole}");
    }
    let agent = agent(json!({"names": ["fail"]}));
    agent.send_parts(vec![call("fail", json!({"fault": "none"}))]).unwrap();
    let parts = json!([{"data": {"key": "[KEY]"}}, {"raw": "MQ==", "mediaType": "text/plain"}]);
    assert_eq!(outcome(&agent).2[0]["parts"], parts);
}

#[test]
fn arguments_that_are_missing_are_asked_for_over_several_rounds_and_a_crash() {
    let agent = agent(json!({"names": ["book"], "ask_missing": true}));
    agent.send("Lisbon").unwrap();
    let (state, said, _) = outcome(&agent);
    assert_eq!(state, TaskState::InputRequired);
    assert!(said.starts_with("book needs nights, guest. Answer with a data part"), "{said}");
    let message = agent.task().unwrap().status.message.unwrap();
    let schema = message.parts[1].as_data().unwrap();
    assert_eq!(schema["required"], json!(["nights", "guest"]));
    assert_eq!(schema["properties"]["nights"]["type"], "integer");

    agent.send_parts(vec![Part::data(json!({"nights": 3}))]).unwrap();
    assert_eq!(outcome(&agent).0, TaskState::InputRequired);
    agent.send("no idea").unwrap();
    assert_eq!(outcome(&agent).0, TaskState::InputRequired, "a text is no guest");
    agent.crash().unwrap();
    agent.send_parts(vec![Part::data(json!({"guest": {"name": "Ada"}}))]).unwrap();
    let (state, _, artifacts) = outcome(&agent);
    assert_eq!(state, TaskState::Completed);
    assert_eq!(artifacts[0]["parts"], json!([{"data": ["Lisbon", 3, "Ada"]}]));
}

#[test]
fn a_text_answers_for_the_one_string_that_is_missing() {
    let agent = agent(json!({"names": ["book"], "ask_missing": true}));
    let given = json!({"nights": 1, "guest": {"name": "Ada"}});
    agent.send_parts(vec![call("book", given)]).unwrap();
    let (_, said, _) = outcome(&agent);
    let question =
        "book needs city (Where). Answer with a text, or a data part such as {\"city\":\"…\"}";
    assert_eq!(said, question);
    agent.send("Faro").unwrap();
    assert_eq!(outcome(&agent).2[0]["parts"], json!([{"data": ["Faro", 1, "Ada"]}]));
}

#[test]
fn what_does_not_fit_is_asked_for_again_with_the_reason_like_what_is_missing() {
    let agent = agent(json!({"names": ["book", "say"], "ask_missing": true}));
    agent.send_parts(vec![call("book", json!({"city": 5, "nights": 2}))]).unwrap();
    let rounds = [
        (
            json!({"city": "Lisbon"}),
            "city: must be of type string, got number. book needs city (Where), guest. ",
        ),
        (json!({"guest": "Ada", "nights": "three"}), "book needs guest. "),
        (
            json!({"nights": 300}),
            "nights: must be of type integer, got string. guest: must be of type object, got string. book needs nights, guest. ",
        ),
        (
            json!({"guest": {}}),
            "nights: must be 255 or less, got 300. guest: must be of type object, got string. ",
        ),
        (
            json!({"nights": 3}),
            "nights: must be 255 or less, got 300. guest.name: is required. book needs nights, guest. ",
        ),
        (
            json!({"guest": {"name": "Ada"}}),
            "guest.name: is required. book needs guest. Answer with a data part such as",
        ),
    ];
    for (answer, question) in rounds {
        let (state, said, _) = outcome(&agent);
        assert_eq!(state, TaskState::InputRequired, "{said}");
        assert!(said.starts_with(question), "{said}");
        agent.crash().unwrap();
        agent.send_parts(vec![Part::data(answer)]).unwrap();
    }
    let (state, said, artifacts) = outcome(&agent);
    assert_eq!(state, TaskState::Completed, "{said}");
    assert_eq!(artifacts[0]["parts"], json!([{"data": ["Lisbon", 3, "Ada"]}]));

    // The question also lists an invalid optional argument (`times`); a text message supplies the
    // missing argument `text`.
    let agent = self::agent(json!({"names": ["say"], "ask_missing": true}));
    agent.send_parts(vec![call("say", json!({"times": 9}))]).unwrap();
    let (_, said, _) = outcome(&agent);
    assert!(said.starts_with("times: must be 3 or less, got 9. say needs text, times. "), "{said}");
    agent.send("ho").unwrap();
    let (_, said, _) = outcome(&agent);
    assert!(said.starts_with("times: must be 3 or less, got 9. say needs times. "), "{said}");
    agent.send_parts(vec![Part::data(json!({"times": 2}))]).unwrap();
    assert_eq!(outcome(&agent).2[0]["parts"], json!([{"text": "hoho"}]));
}

#[test]
fn what_no_answer_puts_right_fails_also_where_missing_arguments_are_asked_for() {
    for (ask_missing, arguments) in [
        (true, json!({"city": "a", "more": 1})),
        (false, json!({})),
        (false, json!({"city": 5, "nights": 1, "guest": {"name": "Ada"}})),
    ] {
        let agent = agent(json!({"names": ["book"], "ask_missing": ask_missing}));
        agent.send_parts(vec![call("book", arguments)]).unwrap();
        let (state, said, _) = outcome(&agent);
        assert_eq!(state, TaskState::Failed);
        assert!(said.starts_with("book was called with wrong arguments: arguments."), "{said}");
    }
}

#[test]
fn what_cannot_be_understood_is_declined_with_what_can_be_asked() {
    for data in [json!({"tool": "none"}), json!({"tool": 5}), json!({}), json!([1])] {
        let agent = agent(json!({"names": ["say"]}));
        agent.send_parts(vec![Part::data(data)]).unwrap();
        let (state, said, _) = outcome(&agent);
        assert_eq!(state, TaskState::Rejected);
        assert!(said.contains("- say: Says what it is given."), "{said}");
    }
}

#[test]
fn a_tool_that_is_interrupted_between_its_steps_does_no_step_twice() {
    let agent = agent(json!({"names": ["order"]}));
    agent.begin("tea").unwrap();
    agent.crash().unwrap();
    agent.run();
    let (state, _, artifacts) = outcome(&agent);
    assert_eq!(state, TaskState::Completed);
    assert_eq!(artifacts[0]["parts"], json!([{"text": "tea"}]));
    assert_eq!(agent.http().called(), ["http://shop/tea/pay", "http://shop/tea/ship"]);
}

#[test]
fn of_several_calls_those_that_were_done_are_not_made_again() {
    let agent = agent(json!({"names": ["order", "say"]}));
    let orders = ["a", "b", "c"].map(|what| call("order", json!({"what": what})));
    agent.begin_parts(orders.to_vec()).unwrap();
    // Each call takes 40 seconds: the crashes are in the middle of the first and of the second.
    for millis in [10_000, 50_000] {
        agent.pass(millis);
        agent.crash().unwrap();
    }
    agent.run();
    let (state, said, artifacts) = outcome(&agent);
    assert_eq!((state, said.as_str()), (TaskState::Completed, ""));
    let given: Vec<&Value> = artifacts.iter().map(|found| &found["parts"][0]["text"]).collect();
    assert_eq!(given, ["a", "b", "c"]);
    let ids: Vec<&Value> = artifacts.iter().map(|found| &found["artifactId"]).collect();
    assert_eq!(ids, ["order-result", "order-result-2", "order-result-3"]);
    let expected = ["a/pay", "a/ship", "b/pay", "b/ship", "c/pay", "c/ship"];
    assert_eq!(agent.http().called(), expected.map(|path| format!("http://shop/{path}")));
}

/// The skills that require `pay`, and those that require `pay` and `ship`.
fn restricted() -> Value {
    let skill = |id: &str, permissions: Value| json!({"permissions": permissions, "position": 0, "skill": {"id": id}});
    json!([skill("say", json!(["pay"])), skill("order", json!(["pay", "ship"]))])
}

#[test]
fn a_tool_that_a_caller_may_not_use_does_not_exist_for_it() {
    let sent: [(&str, Vec<Part>); 6] = [
        ("a call", vec![call("order", json!({"what": "tea"}))]),
        ("a call that is wrong", vec![call("order", json!({"what": 5}))]),
        (
            "a call behind another",
            vec![call("fail", json!({"fault": "none"})), call("order", json!({}))],
        ),
        ("a call that lacks arguments", vec![call("order", json!({}))]),
        ("a text", vec![Part::text("tea")]),
        ("what is understood by none", vec![Part::data(json!({}))]),
    ];
    for ask_missing in [false, true] {
        let table = |names: &[&str]| json!({"names": names, "ask_missing": ask_missing});
        for (what, parts) in &sent {
            let told = |agent: TestAgent| {
                agent.send_parts(parts.clone()).unwrap();
                (serde_json::to_string(&agent.task().unwrap()).unwrap(), agent.http().called())
            };
            let all = || agent_with(table(&["say", "order", "fail", "book"]), restricted());
            let few = || agent(table(&["fail", "book"]));
            assert_eq!(told(all()), told(few()), "{what}");
            let some = || agent(table(&["say", "fail", "book"]));
            let held = all().with_permission("pay");
            assert_eq!(told(held), told(some().with_permission("pay")), "{what}");
        }
    }
}

#[test]
fn a_caller_with_all_permissions_uses_a_tool_also_after_a_crash() {
    let agent = agent_with(json!({"names": ["order"]}), restricted());
    let agent = agent.with_permission("ship").with_permission("pay");
    agent.begin_parts(vec![call("order", json!({"what": "tea"}))]).unwrap();
    agent.crash().unwrap();
    agent.run();
    assert_eq!(outcome(&agent).0, TaskState::Completed);
    assert_eq!(agent.http().called(), ["http://shop/tea/pay", "http://shop/tea/ship"]);
}
