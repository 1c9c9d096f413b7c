//! The verbs that an agent behind HTTP answers with: what each may hold, and how it is read.

use serde_json::Value;

use a2a::http::one_line;
use a2a::model::decode::{Decode, FieldViolation, Fields, decode_with};
use a2a::model::{Metadata, Part, TaskState};

/// One thing that the agent says.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Verb {
    /// The agent is at work; with parts, a note of progress.
    Working(Option<Vec<Part>>),
    /// An artifact begins, or replaces the one of its id.
    Artifact(Given),
    /// An artifact grows: the one of this id, else the one that was begun last.
    Append { id: Option<String>, parts: Vec<Part>, is_last: bool },
    /// The answer is over.
    End(End),
}

/// An artifact as the agent gives it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Given {
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) description: Option<String>,
    pub(super) parts: Vec<Part>,
    pub(super) metadata: Option<Metadata>,
    /// Whether more of it follows.
    pub(super) has_more: bool,
}

/// What ends an answer: exactly one in each.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum End {
    /// The task enters a state, with something said.
    State(TaskState, Option<Vec<Part>>),
    /// A message instead of a task.
    Reply(Vec<Part>),
}

impl Verb {
    /// Reads a verb.
    ///
    /// # Errors
    ///
    /// What is wrong with it and what would be right, to be read behind the place where it stands.
    pub(super) fn read(value: Value) -> Result<Self, String> {
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
        let state = |state, parts| Some(Self::End(End::State(state, parts)));
        match name {
            "working" => Some(Self::Working(said(fields)?)),
            "artifact" => {
                // Before the parts: one that stands for itself has metadata, too.
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
            "complete" => state(TaskState::Completed, said(fields)?),
            "fail" => state(TaskState::Failed, Some(needed(fields)?)),
            "reject" => state(TaskState::Rejected, Some(needed(fields)?)),
            "input_required" => state(TaskState::InputRequired, Some(needed(fields)?)),
            "auth_required" => state(TaskState::AuthRequired, Some(needed(fields)?)),
            _ => Some(Self::End(End::Reply(content(fields)?))),
        }
    }
}

/// What a verb says beside its state, if anything. `None` if that cannot be read.
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

/// The parts, or the one part that the members of the verb are.
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

/// What is wrong with a verb, in one line.
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

/// The beginning of a text of the agent, on one line.
pub(super) fn short(text: &str) -> String {
    let line = one_line(text);
    match line.char_indices().nth(EXCERPT_CHARS) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

/// The verbs with their keys, besides `do`.
pub(super) const VERBS: [(&str, &[&str]); 9] = [
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
    ("complete", SAID),
    ("fail", SAID),
    ("reject", SAID),
    ("input_required", SAID),
    ("auth_required", SAID),
    ("reply", &["text", "data", "raw", "url", "parts", "filename", "mediaType"]),
];

const SAID: &[&str] = &["text", "parts"];

/// How much of a text of the agent stands in an error, in characters.
const EXCERPT_CHARS: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    /// The same verbs are tried against `docs/http-agent-verbs.schema.json`, by `tests/docs/http-agents.test.mjs`.
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
    fn a_refusal_says_what_would_be_right() {
        for (verb, told) in [
            (
                r#"{"do": "reply", "text": "a", "id": "i"}"#,
                "`reply` takes no `id`; it takes: text, data, raw, url, parts, filename, mediaType",
            ),
            (
                r#"{"do": "append", "parts": [{"text": 1}, {}]}"#,
                "`parts[0].text` of `append` must be a string, got 1; `parts[1]` of `append` needs exactly one of",
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
