//! Unknown or invalid verbs.

use a2a::model::TaskState;
use serde_json::{Value, json};

use super::case::{Case, case};
use crate::support::http_agent::Answer;

pub(crate) fn cases() -> Vec<Case> {
    let says = |verb: Value| Answer::lines(&[verb, json!({"do": "complete"})]);
    let done = || json!({"do": "complete"});
    let given =
        |has_more: bool| json!({"do": "artifact", "id": "a", "text": "one", "more": has_more});
    vec![
        case("says an unknown verb", says(json!({"do": "dance"})))
            .tells("line 1: there is no verb \"dance\"; there are: working, artifact, append"),
        case("says a verb in another case", says(json!({"do": "Complete"})))
            .tells("no verb \"Complete\""),
        case("says a verb that is a number", says(json!({"do": 7}))).tells("line 1: `do` must be a text"),
        case("says a key that is none", says(json!({"do": "working", "txt": "x"})))
            .tells("line 1: `working` takes no `txt`; it takes: text, parts"),
        case("says one verb, with a key that is none", Answer::json(&json!({"do": "complete", "txt": "x"})))
            .tells("cannot be used: verb 1: `complete` takes no `txt`; it takes: text, parts"),
        case("says one verb, with a text that is a number", Answer::json(&json!({"do": "artifact", "text": 5})))
            .tells("cannot be used: verb 1: `text` of `artifact` must be a string, got 5"),
        case(
            "writes a key with an underscore",
            says(json!({"do": "artifact", "text": "x", "media_type": "a/b"})),
        )
        .tells("`artifact` takes no `media_type`; it takes: id, name"),
        case("says a text that is a number", says(json!({"do": "working", "text": 5})))
            .tells("line 1: `text` of `working` must be a string, got 5"),
        case("begins an artifact of nothing", says(json!({"do": "artifact", "id": "a"})))
            .tells("`artifact` needs exactly one of text, raw, url and data, got none"),
        case(
            "begins an artifact of two things",
            says(json!({"do": "artifact", "text": "a", "url": "https://a.example"})),
        )
        .tells("exactly one of text, raw, url and data, got more than one"),
        case(
            "begins an artifact of parts and a text",
            says(json!({"do": "artifact", "text": "a", "parts": [{"text": "a"}]})),
        )
        .tells("`text` of `artifact` stands beside `parts`"),
        case("begins an artifact without parts", says(json!({"do": "artifact", "parts": []})))
            .tells("`parts` of `artifact` is required and needs at least one element"),
        case(
            "begins an artifact of a part that is none",
            says(json!({"do": "artifact", "parts": [{"txt": "a"}]})),
        )
        .tells("`parts[0]` of `artifact` needs exactly one of text, raw, url and data"),
        case(
            "begins an artifact of bytes that are no base64",
            says(json!({"do": "artifact", "raw": "%%"})),
        )
        .tells("`raw` of `artifact` must be base64"),
        case(
            "says that more comes, in words",
            says(json!({"do": "artifact", "text": "a", "more": "yes"})),
        )
        .tells("`more` of `artifact` must be true or false"),
        case("appends to nothing", says(json!({"do": "append", "text": "x"})))
            .tells("line 1: it appends to nothing: this answer has begun no artifact"),
        case(
            "appends to an artifact that nobody began",
            says(json!({"do": "append", "id": "b", "text": "x"})),
        )
        .tells("line 1: artifact b was never begun"),
        case(
            "appends data to an artifact that nobody began",
            says(json!({"do": "append", "id": "b", "data": {}})),
        )
        .tells("line 1: artifact b was never begun"),
        case(
            "appends to an artifact that it gave whole",
            Answer::lines(&[given(false), json!({"do": "append", "text": " two"}), done()]),
        )
        .tells("line 2: artifact a is complete, so nothing can be appended to it: give it with `\"more\": true`")
        .keeps(&["one"]),
        case(
            "appends data, by id, to an artifact that it gave whole",
            Answer::json(&json!([given(false), {"do": "append", "id": "a", "data": 2, "last": true}, done()])),
        )
        .tells("verb 2: artifact a is complete")
        .keeps(&["one"]),
        case(
            "appends behind the last piece",
            Answer::events(&[
                given(true),
                json!({"do": "append", "text": " two", "last": true}),
                json!({"do": "append", "text": " three"}),
                done(),
            ]),
        )
        .tells("event 3: artifact a is complete, so nothing can be appended to it: let only the last `append` have `\"last\": true`")
        .keeps(&["one two"]),
        case(
            "gives an artifact again, and more of it",
            Answer::lines(&[given(false), given(true), json!({"do": "append", "text": " two"}), done()]),
        )
        .ends(TaskState::Completed)
        .keeps(&["one two"]),
        case("reports a usage that is negative", says(json!({"do": "usage", "inputTokens": -1})))
            .tells("line 1: `inputTokens` of `usage` must be a whole number from 0 to 1000000000000, got -1"),
        case("reports a usage that is too large", says(json!({"do": "usage", "costMicros": 1_000_000_000_001_u64})))
            .tells("line 1: `costMicros` of `usage` must be a whole number from 0 to 1000000000000, got 1000000000001"),
        case("reports a usage with an unknown key", says(json!({"do": "usage", "tokens": 1})))
            .tells("line 1: `usage` takes no `tokens`; it takes: model, requests, inputTokens, outputTokens, costMicros"),
        case(
            "ends with a usage that is a number",
            Answer::json(&json!({"do": "complete", "usage": 5})),
        )
        .tells("cannot be used: verb 1: `usage` of `complete` must be an object, got 5"),
        case(
            "ends with a usage in text",
            Answer::events(&[json!({"do": "fail", "text": "no", "usage": {"requests": "2"}})]),
        )
        .tells("cannot be used: event 1: `usage.requests` of `fail` must be a whole number from 0 to"),
        case("fails without a reason", Answer::json(&json!({"do": "fail"})))
            .tells("`fail` needs a `text` or `parts`"),
        case("asks nothing", Answer::json(&json!({"do": "input_required"})))
            .tells("`input_required` needs a `text`"),
        case("replies with nothing", Answer::json(&json!({"do": "reply"})))
            .tells("`reply` needs exactly one of"),
        case(
            "begins a thousand and one artifacts",
            Answer::lines(&vec![json!({"do": "artifact", "text": ""}); 1_001]),
        )
        .tells("line 1001: a task holds at most 1000 artifacts")
        .keeps(&[""; 1_000]),
        case(
            "fails, with a page of text",
            Answer::json(&json!({"do": "fail", "text": "out of\nseats"})),
        )
        .tells("out of\nseats"),
        case("rejects", Answer::json(&json!({"do": "reject", "text": "not my field"})))
            .tells("not my field")
            .ends(TaskState::Rejected),
        case("names a null", says(json!({"do": "working", "text": null})))
            .ends(TaskState::Completed),
        case(
            "says the token that it was called with",
            says(json!({"do": "artifact", "text": "I know token-4f1d0c"})),
        )
        .ends(TaskState::Completed)
        .keeps(&["I know [AGENT_TOKEN]"]),
    ]
}
