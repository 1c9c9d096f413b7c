use super::*;
use crate::client::Settings;
use crate::client::simulation::Simulation;
use crate::http::memory::{ok, status};

/// The line for the model after a call of an agent whose task is in this state, with this text.
fn line(state: &str, text: &str) -> String {
    let simulation = Simulation::default();
    let said = json!({"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": text}]});
    let task = json!({"id": "t", "contextId": "c", "status": {"state": state, "message": said}});
    let answer = json!({"jsonrpc": "2.0", "id": "1", "result": {"task": task}}).to_string();
    simulation.http().answer_with(move |request, _| {
        Ok(ok(if request.method == "GET" { CARD } else { &answer }))
    });
    called(&simulation, &json!({"prompt": "do it"}))
}

fn called(simulation: &Simulation, arguments: &Value) -> String {
    let client = Client::new(Settings::new("https://a.example"), simulation.ports());
    let card = RemoteCard::parse(CARD).expect("a card");
    let tool = create_a2a_tool(&client, &card, Some("helper"));
    assert_eq!(tool.name, "helper");
    simulation.run(tool.call(arguments, || false)).to_string()
}

const CARD: &str = r#"{"name": "A", "version": "1", "capabilities": {},
    "supportedInterfaces": [{"url": "https://a.example/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]}"#;

#[test]
fn each_outcome_is_a_line_for_the_model() {
    for (state, expected) in [
        ("TASK_STATE_COMPLETED", "[COMPLETED] said"),
        ("TASK_STATE_INPUT_REQUIRED", "[INPUT_REQUIRED:task_id=t] said"),
        ("TASK_STATE_AUTH_REQUIRED", "[AUTH_REQUIRED:task_id=t] said"),
        ("TASK_STATE_FAILED", "[FAILED] said"),
        ("TASK_STATE_REJECTED", "[FAILED] said"),
        ("TASK_STATE_CANCELED", "[CANCELED]"),
    ] {
        assert_eq!(line(state, "said"), expected);
    }
    let timeout = Observed {
        outcome: Outcome::Timeout,
        text: "late".to_owned(),
        task: None,
        message: None,
        error: None,
    };
    assert_eq!(Delegated::Observed(Box::new(timeout)).to_string(), "[TIMEOUT]");
}

#[test]
fn results_that_are_no_texts_are_told_in_words() {
    let file = json!({"url": "https://a.example/r.pdf", "filename": "r.pdf", "mediaType": "application/pdf"});
    let artifacts = json!([
        {"artifactId": "1", "parts": [{"text": "o"}, {"text": "ne"}, {"data": {"x": 1}}, {"text": "two"}]},
        {"artifactId": "2", "parts": [file, {"raw": "AA=="}]},
    ]);
    let task = json!({"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}, "artifacts": artifacts});
    let task = crate::model::decode::read_json(&task.to_string()).expect("a task");
    let observed = Observed::of(task).expect("its end");
    assert_eq!(
        Delegated::Observed(Box::new(observed)).to_string(),
        "[COMPLETED] one\n{\"x\":1}\ntwo\nr.pdf (application/pdf): https://a.example/r.pdf\na file"
    );
}

#[test]
fn what_stands_beside_the_text_of_a_message_is_told_too() {
    let parts = json!([{"text": "Which size?"}, {"data": {"sizes": ["S", "M"]}}, {"raw": "AA==", "filename": "s.png"}]);
    let message = json!({"messageId": "m", "role": "ROLE_AGENT", "parts": parts});
    let task = |state: &str, artifacts: Value| {
        let status = json!({"state": state, "message": message});
        let task = json!({"id": "t", "contextId": "c", "status": status, "artifacts": artifacts});
        let task = crate::model::decode::read_json(&task.to_string()).expect("a task");
        Observed::of(task).expect("what it came to")
    };
    let file = json!([{"artifactId": "1", "parts": [{"raw": "AA==", "filename": "r.pdf"}]}]);
    let text = json!([{"artifactId": "1", "parts": [{"text": "done"}]}]);
    let said = "Which size?\n{\"sizes\":[\"S\",\"M\"]}\ns.png";
    let message = crate::model::decode::read_json(&message.to_string()).expect("a message");
    for (observed, expected) in [
        (
            task("TASK_STATE_INPUT_REQUIRED", json!([])),
            format!("[INPUT_REQUIRED:task_id=t] {said}"),
        ),
        (
            task("TASK_STATE_AUTH_REQUIRED", file.clone()),
            format!("[AUTH_REQUIRED:task_id=t] {said}"),
        ),
        (task("TASK_STATE_COMPLETED", json!([])), format!("[COMPLETED] {said}")),
        (task("TASK_STATE_COMPLETED", file), format!("[COMPLETED] {said}\nr.pdf")),
        (task("TASK_STATE_COMPLETED", text), "[COMPLETED] done".to_owned()),
        (task("TASK_STATE_FAILED", json!([])), "[FAILED] Which size?".to_owned()),
        (Observed::answered(&message), format!("[COMPLETED] {said}")),
    ] {
        assert_eq!(Delegated::Observed(Box::new(observed)).to_string(), expected);
    }
}

#[test]
fn an_agent_that_cannot_be_called_is_a_failure() {
    let simulation = Simulation::default();
    simulation.http().answer_with(|_, _| Ok(status(404)));
    let line = called(&simulation, &json!({"prompt": "do it"}));
    assert!(line.starts_with("[FAILED] ") && line.contains("404"), "{line}");
}

#[test]
fn arguments_that_cannot_be_used_are_told_to_the_model() {
    let simulation = Simulation::default();
    for (arguments, reason) in [
        (json!({}), "the argument prompt is missing"),
        (json!({"prompt": "  "}), "the argument prompt is missing"),
        (json!({"prompt": 7}), "the argument prompt must be a string"),
        (json!({"prompt": "a", "task_id": 7}), "the argument task_id must be a string"),
        (json!("text"), "the argument prompt is missing"),
    ] {
        let line = called(&simulation, &arguments);
        assert!(line.starts_with(&format!("[FAILED] {reason}")), "{line}");
    }
    assert_eq!(simulation.http().called(), [""; 0]);
}

#[test]
fn an_answer_goes_to_the_task_that_asked() {
    let simulation = Simulation::default();
    simulation.http().answer_with(|request, body| {
        if request.method == "GET" {
            return Ok(ok(CARD));
        }
        let sent: Value = serde_json::from_str(body).expect("JSON");
        let message = &sent["params"]["message"];
        assert_eq!((&message["taskId"], &message["parts"][0]["text"]), (&json!("t"), &json!("blue")));
        let result = json!({"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "done"}]}});
        Ok(ok(json!({"jsonrpc": "2.0", "id": "1", "result": result}).to_string()))
    });
    let line = called(&simulation, &json!({"prompt": "blue", "task_id": "t"}));
    assert_eq!(line, "[COMPLETED] done");
}
