//! The verbs in the answer of an agent behind HTTP: their members and their parser.

use serde_json::Value;

use crate::usage::Usage;
use crate::usage::models::MODEL_CHARS;
use a2a::http::one_line;
use a2a::model::decode::{Decode, FieldViolation, Fields, decode_with};
use a2a::model::{Metadata, Part, TaskState};

/// One verb of an answer.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::executor) enum Verb {
    /// The agent is at work; with parts, a note of progress.
    Working(Option<Vec<Part>>),
    /// Begins an artifact, or replaces the artifact with the same id.
    Artifact(Given),
    /// Appends to the artifact with this id, or without an id to the artifact that was begun last.
    Append { id: Option<String>, parts: Vec<Part>, is_last: bool },
    /// The usage of the turn so far.
    Usage(Used),
    /// Ends the answer, with the usage of the turn if the verb reports it.
    End(End, Option<Used>),
}

/// The usage of the turn so far, as the agent reports it.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::executor) struct Used {
    /// The model of what was not reported before; empty if its name is not known.
    pub(in crate::executor) model: String,
    pub(in crate::executor) so_far: Usage,
}

/// The content of the verb `artifact`.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::executor) struct Given {
    pub(in crate::executor) id: Option<String>,
    pub(in crate::executor) name: Option<String>,
    pub(in crate::executor) description: Option<String>,
    pub(in crate::executor) parts: Vec<Part>,
    pub(in crate::executor) metadata: Option<Metadata>,
    /// True if more content follows.
    pub(in crate::executor) has_more: bool,
}

/// The ending verb, of which each answer has exactly one.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::executor) enum End {
    /// The task enters a state, with or without a message.
    State(TaskState, Option<Vec<Part>>),
    /// A message instead of a task.
    Reply(Vec<Part>),
}

impl Verb {
    /// Reads a verb.
    ///
    /// # Errors
    ///
    /// The mistake in the verb and its correction, as a text that follows the position of the verb.
    pub(in crate::executor) fn read(value: Value) -> Result<Self, String> {
        let name = match value.get("do") {
            Some(Value::String(name)) => name.clone(),
            Some(_) => return Err("`do` must be a text".to_owned()),
            None if value.is_object() => {
                return Err(format!("it has no `do`, the name of a verb: {}", names()));
            }
            None => return Err(r#"it must be an object such as {"do": "complete"}"#.to_owned()),
        };
        let Some((_, keys)) = VERBS.iter().find(|(known, _)| *known == name) else {
            return Err(format!("there is no verb {:?}; there are: {}", short(&name), names()));
        };
        let given = value.as_object().into_iter().flat_map(|members| members.keys());
        let unknown = given.filter(|key| *key != "do" && !keys.contains(&key.as_str()));
        if let Some(unknown) = unknown.map(|key| short(key)).next() {
            let keys = keys.join(", ");
            return Err(format!("`{name}` takes no `{unknown}`; it takes: {keys}"));
        }
        decode_with(value, |fields| Self::decode_as(&name, fields))
            .map_err(|violations| told(&name, &violations))
    }

    fn decode_as(name: &str, fields: &mut Fields) -> Option<Self> {
        match name {
            "working" => Some(Self::Working(said(fields)?)),
            "artifact" => {
                // Read before the parts, because a part that is written without `parts` has `metadata`, too.
                let metadata = fields.metadata("metadata");
                Some(Self::Artifact(Given {
                    id: fields.string("id"),
                    name: fields.string("name"),
                    description: fields.string("description"),
                    has_more: fields.boolean("more").unwrap_or_default(),
                    parts: content(fields)?,
                    metadata,
                }))
            }
            "append" => Some(Self::Append {
                id: fields.string("id"),
                is_last: fields.boolean("last").unwrap_or_default(),
                parts: content(fields)?,
            }),
            "usage" => usage(fields).map(Self::Usage),
            _ => {
                let used = if fields.has("usage") { Some(usage_in(fields)?) } else { None };
                let end = match name {
                    "complete" => End::State(TaskState::Completed, said(fields)?),
                    "fail" => End::State(TaskState::Failed, Some(needed(fields)?)),
                    "reject" => End::State(TaskState::Rejected, Some(needed(fields)?)),
                    "input_required" => End::State(TaskState::InputRequired, Some(needed(fields)?)),
                    "auth_required" => End::State(TaskState::AuthRequired, Some(needed(fields)?)),
                    _ => End::Reply(content(fields)?),
                };
                Some(Self::End(end, used))
            }
        }
    }
}

/// The member `usage` of a verb that ends the answer.
fn usage_in(fields: &mut Fields) -> Option<Used> {
    let value = fields.member("usage")?;
    let unknown = value.as_object().and_then(|members| {
        members.keys().find(|key| !USED.contains(&key.as_str())).map(|key| short(key))
    });
    if let Some(unknown) = unknown {
        fields.refuse("usage", format!("takes no `{unknown}`; it takes: {}", USED.join(", ")));
        return None;
    }
    usage(&mut fields.nested("usage", value)?)
}

/// The usage that these members describe: a request unless `requests` says another number, and 0 for other members that are absent.
fn usage(fields: &mut Fields) -> Option<Used> {
    let model = match fields.member("model") {
        None => String::new(),
        Some(Value::String(model)) if (1..=MODEL_CHARS).contains(&model.chars().count()) => model,
        Some(value) => {
            let given = short(&value.to_string());
            let told = format!("must be a text of 1 to {MODEL_CHARS} characters, got {given}");
            fields.refuse("model", told);
            return None;
        }
    };
    let mut count = |name: &str, absent: u64| match fields.member(name) {
        None => Some(absent),
        Some(value) => {
            let number = value.as_u64().filter(|number| *number <= MAX_USED);
            if number.is_none() {
                let given = short(&value.to_string());
                fields.refuse(
                    name,
                    format!("must be a whole number from 0 to {MAX_USED}, got {given}"),
                );
            }
            number
        }
    };
    let so_far = Usage {
        requests: count("requests", 1)?,
        input_tokens: count("inputTokens", 0)?,
        output_tokens: count("outputTokens", 0)?,
        cost_micros: count("costMicros", 0)?,
    };
    Some(Used { model, so_far })
}

/// The parts of a verb that sets a state: `Some(None)` if the verb has no parts, `None` if its parts cannot be read.
fn said(fields: &mut Fields) -> Option<Option<Vec<Part>>> {
    if fields.has("text") || fields.has("parts") { content(fields).map(Some) } else { Some(None) }
}

fn needed(fields: &mut Fields) -> Option<Vec<Part>> {
    let said = said(fields)?;
    if said.is_none() {
        fields.refuse("", "needs a `text` or `parts`");
    }
    said
}

/// The list in `parts`, or the one part that the members of the verb describe.
fn content(fields: &mut Fields) -> Option<Vec<Part>> {
    if !fields.has("parts") {
        return Part::decode(fields).map(|part| vec![part]);
    }
    for key in ["text", "data", "raw", "url", "filename", "mediaType"] {
        if fields.has(key) {
            fields.refuse(key, "stands beside `parts`; keep one of the two");
            return None;
        }
    }
    fields.required_list("parts")
}

/// The mistakes in a verb, on one line.
fn told(name: &str, violations: &[FieldViolation]) -> String {
    let each =
        violations.iter().map(|FieldViolation { field, description }| match field.as_str() {
            "" => format!("`{name}` {description}"),
            field => format!("`{field}` of `{name}` {description}"),
        });
    each.collect::<Vec<_>>().join("; ")
}

fn names() -> String {
    VERBS.map(|(name, _)| name).join(", ")
}

/// The beginning of a text that the agent has sent, on one line.
pub(super) fn short(text: &str) -> String {
    let line = one_line(text);
    match line.char_indices().nth(EXCERPT_CHARS) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

/// The verbs with their keys except `do`.
pub(super) const VERBS: [(&str, &[&str]); 10] = [
    ("working", SAID),
    (
        "artifact",
        &[
            "id",
            "name",
            "description",
            "text",
            "data",
            "raw",
            "url",
            "parts",
            "filename",
            "mediaType",
            "metadata",
            "more",
        ],
    ),
    ("append", &["id", "text", "data", "raw", "url", "parts", "filename", "mediaType", "last"]),
    ("usage", USED),
    ("complete", ENDS),
    ("fail", ENDS),
    ("reject", ENDS),
    ("input_required", ENDS),
    ("auth_required", ENDS),
    ("reply", &["text", "data", "raw", "url", "parts", "filename", "mediaType", "usage"]),
];

const SAID: &[&str] = &["text", "parts"];
const ENDS: &[&str] = &["text", "parts", "usage"];
const USED: &[&str] = &["model", "requests", "inputTokens", "outputTokens", "costMicros"];

/// The largest number in a usage. The index has exact sums up to 2^53, so the largest turns of a caller in a day may be 9,000.
const MAX_USED: u64 = 1_000_000_000_000;

/// The largest number of characters of the agent's text that an error quotes.
const EXCERPT_CHARS: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    /// `tests/docs/http-agents.test.mjs` tests the same verbs against `docs/http-agent-verbs.schema.json`.
    #[test]
    fn verbs_are_taken_and_refused_as_the_schema_says() {
        let text = include_str!("../../../tests/docs/http-agent-verbs.json");
        let table: Value = serde_json::from_str(text).unwrap();
        for (kind, is_good) in [("good", true), ("bad", false)] {
            let verbs = table[kind].as_array().unwrap();
            assert!(verbs.len() > 20);
            for verb in verbs {
                let read = Verb::read(verb.clone());
                assert_eq!(read.is_ok(), is_good, "{verb}: {read:?}");
            }
        }
    }

    #[test]
    fn a_usage_is_a_request_unless_it_says_another_number() {
        let used = |json: &str| Verb::read(serde_json::from_str(json).unwrap()).unwrap();
        let (input_tokens, output_tokens, cost_micros) = (12, 3, 45);
        let so_far = Usage { requests: 1, input_tokens, output_tokens, cost_micros };
        let usage = Used { model: String::new(), so_far };
        let numbers = r#""inputTokens": 12, "outputTokens": 3, "costMicros": 45"#;
        assert_eq!(used(&format!(r#"{{"do": "usage", {numbers}}}"#)), Verb::Usage(usage.clone()));
        let named = used(&format!(r#"{{"do": "usage", "model": "m-1", {numbers}}}"#));
        assert_eq!(named, Verb::Usage(Used { model: "m-1".to_owned(), so_far }));
        assert_eq!(
            used(&format!(r#"{{"do": "complete", "usage": {{"requests": 4, {numbers}}}}}"#)),
            Verb::End(
                End::State(TaskState::Completed, None),
                Some(Used { so_far: Usage { requests: 4, ..so_far }, ..usage })
            )
        );
        let nothing = Some(Used { model: String::new(), so_far: Usage::NOTHING });
        let Verb::End(_, used) = used(r#"{"do": "reply", "text": "a", "usage": {"requests": 0}}"#)
        else {
            panic!("a reply ends the answer")
        };
        assert_eq!(used, nothing);
    }

    #[test]
    fn a_refusal_says_what_would_be_right() {
        for (verb, told) in [
            (
                r#"{"do": "reply", "text": "a", "id": "i"}"#,
                "`reply` takes no `id`; it takes: text, data, raw, url, parts, filename, mediaType, usage",
            ),
            (
                r#"{"do": "append", "parts": [{"text": 1}, {}]}"#,
                "`parts[0].text` of `append` must be a string, got 1; `parts[1]` of `append` needs exactly one of",
            ),
            (
                r#"{"do": "usage", "inputTokens": -1}"#,
                "`inputTokens` of `usage` must be a whole number from 0 to 1000000000000, got -1",
            ),
            (
                r#"{"do": "complete", "usage": {"inputTokens": "12"}}"#,
                "`usage.inputTokens` of `complete` must be a whole number from 0 to 1000000000000, got \"12\"",
            ),
            (
                r#"{"do": "complete", "usage": {"input_tokens": 12}}"#,
                "`usage` of `complete` takes no `input_tokens`; it takes: model, requests, inputTokens, outputTokens, costMicros",
            ),
            (
                r#"{"do": "usage", "model": ""}"#,
                "`model` of `usage` must be a text of 1 to 100 characters, got \"\"",
            ),
            (r#"{"do": "fail"}"#, "`fail` needs a `text` or `parts`"),
        ] {
            let refused = Verb::read(serde_json::from_str(verb).unwrap()).unwrap_err();
            assert!(refused.starts_with(told), "{refused}");
        }
        let long = Verb::read(serde_json::json!({"do": "x".repeat(5_000)})).unwrap_err();
        assert!(long.len() < 400, "{long}");
    }
}
