//! Agents that return a secret in pieces.

use a2a::model::{Part, TaskState};
use a2a_edge::twins::MemoryPlatform;
use serde_json::{Value, json};

use crate::support::http_agent::{Answer, HttpAgent, TOKEN};

/// The halves of the token, split at this byte.
fn halves(at: usize) -> (&'static str, &'static str) {
    TOKEN.split_at(at)
}

/// Runs an agent with these verbs; returns the texts of the artifacts and of the status. Checks that nothing stored
/// contains a piece of the token.
fn told(verbs: &[Value], pace_ms: u64) -> (Vec<String>, Vec<String>) {
    let platform = MemoryPlatform::default();
    let (front, agent) = HttpAgent::front(&platform, &json!({"event_interval_ms": 0}));
    agent.answers(vec![Answer::events(verbs).paced(pace_ms)]);
    front.send("hello");
    front.settle();
    front.finish();
    let task = front.task().expect("a task");
    assert_eq!(task.status.state, TaskState::Completed, "{task:?}");
    let rows = serde_json::to_string(&front.entries()).expect("JSON");
    assert!(!rows.contains("4f1d") && !rows.contains("token-4"), "{rows}");
    let texts = |parts: &[Part]| parts.iter().filter_map(Part::as_text).collect::<String>();
    let artifacts = task.artifacts.iter().map(|artifact| texts(&artifact.parts)).collect();
    let said = task.history.iter().skip(1).chain(&task.status.message);
    (artifacts, said.map(|message| texts(&message.parts)).collect())
}

#[test]
fn a_secret_in_two_chunks_is_replaced() {
    // If no further text arrives, at most five characters of the token are released.
    for (at, pace_ms, shown) in [
        (7, 0, ""),
        (7, 300, ""),
        (6, 300, ""),
        (12, 300, ""),
        (5, 300, "token"),
        (1, 300, "t"),
        (3, 100, ""),
    ] {
        let (first, second) = halves(at);
        let (artifacts, _) = told(
            &[
                json!({"do": "artifact", "id": "a", "text": format!("it is {first}"), "more": true}),
                json!({"do": "append", "id": "a", "text": format!("{second}, and")}),
                json!({"do": "append", "id": "a", "text": " more", "last": true}),
                json!({"do": "complete"}),
            ],
            pace_ms,
        );
        assert_eq!(artifacts, [format!("it is {shown}[AGENT_TOKEN], and more")], "{at} {pace_ms}");
    }
}

#[test]
fn a_secret_in_two_parts_is_replaced() {
    let (first, second) = halves(8);
    let parts = json!([{"text": format!("it is {first}")}, {"text": second}, {"text": "."}]);
    let (artifacts, said) = told(
        &[
            json!({"do": "working", "parts": parts}),
            json!({"do": "artifact", "id": "a", "parts": parts}),
            json!({"do": "artifact", "id": "b", "parts": parts, "more": true}),
            json!({"do": "append", "id": "b", "parts": [{"text": first}, {"text": second}], "last": true}),
            json!({"do": "complete", "parts": parts}),
        ],
        0,
    );
    let whole = "it is [AGENT_TOKEN].";
    assert_eq!(artifacts, [whole.to_owned(), format!("{whole}[AGENT_TOKEN]")]);
    assert_eq!(said, [whole, whole]);
}

#[test]
fn pieces_of_two_artifacts_are_two_texts() {
    let (first, second) = halves(8);
    let append = |id: &str, text: &str| json!({"do": "append", "id": id, "text": text});
    let begun = |id: &str| json!({"do": "artifact", "id": id, "text": "", "more": true});
    let (artifacts, _) = told(
        &[
            begun("a"),
            begun("b"),
            append("a", first),
            append("b", "b "),
            append("b", first),
            append("a", second),
            append("b", second),
            json!({"do": "complete"}),
        ],
        50,
    );
    assert_eq!(artifacts, ["[AGENT_TOKEN]", "b [AGENT_TOKEN]"]);
}
