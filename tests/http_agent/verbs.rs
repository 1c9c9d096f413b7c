//! Verbs that are none, or do not fit.

use a2a::model::TaskState;
use serde_json::{Value, json};

use crate::case::{Case, case};
use crate::support::http_agent::Answer;

pub(crate) fn cases() -> Vec<Case> {
    let says = |verb: Value| Answer::lines(&[verb, json!({"do": "complete"})]);
    vec![
        case("says an unknown verb", says(json!({"do": "dance"})))
            .tells("line 1 there is no verb \"dance\"; there are: working, artifact, append"),
        case("says a verb in another case", says(json!({"do": "Complete"})))
            .tells("no verb \"Complete\""),
        case("says a verb that is a number", says(json!({"do": 7}))).tells("`do` must be a text"),
        case("says a key that is none", says(json!({"do": "working", "txt": "x"})))
            .tells("`working` takes no `txt`; it takes: text, parts"),
        case(
            "writes a key with an underscore",
            says(json!({"do": "artifact", "text": "x", "media_type": "a/b"})),
        )
        .tells("`artifact` takes no `media_type`; it takes: id, name"),
        case("says a text that is a number", says(json!({"do": "working", "text": 5})))
            .tells("`text` of `working` must be a string, got 5"),
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
            .tells("appends to nothing: this answer has begun no artifact"),
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
