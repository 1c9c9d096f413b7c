//! The questions of servers of 2026-07-28.

use a2a::client::simulation::SimulatedRequest;
use serde_json::{Value, json};

use super::case::{Case, case};
use super::said::{answer, plain, result};

/// A result with these questions and this state.
fn wants(request: &SimulatedRequest, questions: Value, state: Option<&str>) -> Value {
    let mut result = json!({"resultType": "input_required", "inputRequests": questions});
    if let Some(state) = state {
        result["requestState"] = json!(state);
    }
    answer(request, result)
}

fn question(message: &str) -> Value {
    json!({"method": "elicitation/create", "params": {"mode": "form", "message": message, "requestedSchema": {"type": "object"}}})
}

pub(crate) fn cases() -> Vec<Case> {
    let state = " {\"sealed\": \"\u{e9}\\n\"}\t=";
    vec![
        case("a question", move |request| {
            let params = &request.json()["params"];
            let yes = json!({"q1": {"action": "accept", "content": {"answer": "yes"}}});
            match params["requestState"].as_str() {
                None => plain(&wants(request, json!({"q1": question("Which seat?")}), Some(state))),
                Some(given) if given == state && params["inputResponses"] == yes => plain(&answer(request, result("hello"))),
                Some(_) => plain(&answer(request, result("wrong"))),
            }
        })
        .is("asked Which seat?; hello")
        .requests(3),
        case("two questions without a state", |request| {
            let params = &request.json()["params"];
            let has_state = params.get("requestState").is_some();
            match params["inputResponses"].as_object().map(serde_json::Map::len) {
                None => plain(&wants(request, json!({"a": question("One?"), "b": question("Two?")}), None)),
                Some(2) if !has_state => plain(&answer(request, result("hello"))),
                Some(_) => plain(&answer(request, result("wrong"))),
            }
        })
        .is("asked One?, Two?; hello"),
        case("questions without end", |request| plain(&wants(request, json!({"q": question("Sure?")}), Some("s"))))
            .is(format!("{}error: the server has asked 10 times without a result", "asked Sure?; ".repeat(11)))
            .requests(12),
        case("a state alone", |request| match request.json()["params"]["requestState"].as_str() {
            None => plain(&wants(request, json!({}), Some("again"))),
            Some("again") => plain(&answer(request, result("hello"))),
            Some(_) => plain(&answer(request, result("wrong"))),
        })
        .requests(3)
        .ends(0, 0),
        case("states without end", |request| plain(&wants(request, json!(null), Some("again"))))
            .is("error: the server has asked 10 times without a result")
            .requests(12)
            .ends(10_000, 10_000),
        case("input that is wanted, and nothing asked", |request| plain(&wants(request, json!({}), None)))
            .is("error: the server wants input, and asks nothing"),
        case("a question for a model", |request| {
            plain(&wants(request, json!({"q": {"method": "sampling/createMessage", "params": {}}}), Some("s")))
        })
        .is("error: the server asks for \"sampling/createMessage\" in a way that is not offered"),
        case("a question of an unknown kind", |request| {
            let dance = json!({"method": "elicitation/create", "params": {"mode": "dance", "message": "?"}});
            plain(&wants(request, json!({"q": dance}), Some("s")))
        })
        .is("error: the server asks for \"elicitation/create\" in a way that is not offered"),
    ]
}
