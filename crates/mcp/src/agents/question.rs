//! Translates the question of an interrupted task to a question for the user of a client, and the answer to a message.

use a2a::model::{Message, Part, PartContent, Task, TaskId, TaskState, fnv1a};
use serde_json::{Map, Value, json};

use crate::model::{Answer, Question, QuestionKind};

/// The question of an interrupted task.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    task: TaskId,
    turn: String,
    /// The question; `None` if the agent requires an authorization without a URL.
    pub question: Option<Question>,
    /// True if the form is the standard form, for an agent that accepts any text.
    is_plain: bool,
}

impl Waiting {
    /// The question of a task; `None` for a task that is not interrupted.
    pub fn of(task: &Task) -> Option<Self> {
        let message = task.status.message.as_ref();
        let turn = match (message, &task.status.timestamp) {
            (Some(message), _) => format!("{:016x}", fnv1a(message.message_id.as_bytes())),
            (None, Some(timestamp)) => timestamp.0.to_string(),
            (None, None) => "0".to_owned(),
        };
        let text = message.map(Message::text).filter(|text| !text.trim().is_empty());
        let parts = message.map(|message| message.parts.as_slice()).unwrap_or_default();
        let (kind, is_plain) = match task.status.state {
            TaskState::InputRequired => match parts.iter().find_map(form) {
                Some(schema) => (Some(QuestionKind::Form(schema)), false),
                None => (Some(QuestionKind::Form(plain_form())), true),
            },
            TaskState::AuthRequired => (parts.iter().find_map(url).map(QuestionKind::Url), false),
            _ => return None,
        };
        let message = text.unwrap_or_else(|| "The agent needs more to go on.".to_owned());
        let key = format!("q{turn}");
        let question = kind.map(|kind| Question { key, message, kind });
        Some(Self { task: task.id.clone(), turn, question, is_plain })
    }

    /// The state that the client returns with the answer: the task, and the turn of the question. The state is not
    /// secret and not trusted: the owner and the question are read from the task.
    pub fn state(&self) -> String {
        format!("1.{}.{}", self.task, self.turn)
    }

    /// The id of the message that answers the question. The id is the same for the same question, so a repeated answer
    /// counts only once.
    pub fn message_id(&self) -> String {
        format!("mcp-{}", self.turn)
    }

    /// The task in a state; `None` for a text that is not a state.
    pub fn task_of(state: &str) -> Option<TaskId> {
        let (task, turn) = state.strip_prefix("1.")?.rsplit_once('.')?;
        let is_turn = (1..=MAX_TURN_BYTES).contains(&turn.len())
            && turn.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_id = task.len() <= MAX_ID_BYTES;
        if is_id && is_turn { TaskId::new(task) } else { None }
    }

    /// True if a state belongs to this question, and not to an earlier question.
    pub fn is_of(&self, state: &str) -> bool {
        self.state() == state
    }

    /// The answer to this question among several.
    pub fn answer_in<'a>(&self, answers: &'a [(String, Answer)]) -> Option<&'a Answer> {
        let key = &self.question.as_ref()?.key;
        answers.iter().find(|(known, _)| known == key).map(|(_, answer)| answer)
    }

    /// The parts of the message for an answer; `None` if the user refuses. The content of a form becomes data, that of the
    /// standard form becomes text.
    pub fn parts(&self, answer: &Answer) -> Option<Vec<Part>> {
        let Answer::Accept(content) = answer else { return None };
        let content = content.clone().unwrap_or_else(|| json!({}));
        let text = content.get(ANSWER).and_then(Value::as_str).filter(|_| self.is_plain);
        let is_url = matches!(self.question, Some(Question { kind: QuestionKind::Url(_), .. }));
        Some(vec![match text {
            Some(text) => Part::text(text),
            None if is_url => Part::text("The authorization is done."),
            None => Part::data(content),
        }])
    }
}

/// The standard form, for an agent that does not send a form.
fn plain_form() -> Value {
    json!({
        "type": "object",
        "properties": {ANSWER: {"type": "string", "title": "Answer"}},
        "required": [ANSWER],
    })
}

/// The form in a part of a question: the part's data is a JSON schema of an object with supported fields, or contains such a
/// schema as `requestedSchema` or `schema`.
fn form(part: &Part) -> Option<Value> {
    let data = part.as_data()?;
    let inner = ["requestedSchema", "schema"].into_iter().find_map(|name| data.get(name));
    let schema = inner.unwrap_or(&data);
    let is_object = schema.get("type").and_then(Value::as_str) == Some("object");
    let properties = schema.get("properties")?.as_object().filter(|_| is_object)?;
    if properties.is_empty() || !properties.values().all(is_field) {
        return None;
    }
    let mut form = Map::from_iter([
        ("type".to_owned(), json!("object")),
        ("properties".to_owned(), Value::Object(properties.clone())),
    ]);
    if let Some(required) = schema.get("required").filter(|required| required.is_array()) {
        form.insert("required".to_owned(), required.clone());
    }
    Some(Value::Object(form))
}

/// True if MCP forms support this field: text, number, boolean, or a choice.
fn is_field(schema: &Value) -> bool {
    match schema.get("type").and_then(Value::as_str) {
        Some("string" | "number" | "integer" | "boolean") => true,
        Some("array") => schema
            .get("items")
            .is_some_and(|items| items.get("enum").is_some() || items.get("anyOf").is_some()),
        _ => false,
    }
}

/// The URL in a part of a question.
fn url(part: &Part) -> Option<String> {
    let url = match &part.content {
        PartContent::Url(url) => url.to_string(),
        PartContent::Data(data) => data.value().get("url")?.as_str()?.to_owned(),
        PartContent::Text(_) | PartContent::Raw(_) => return None,
    };
    let is_web = url.starts_with("https://") || url.starts_with("http://");
    is_web.then_some(url)
}

const ANSWER: &str = "answer";

/// The longest id of a task in a state, in bytes.
const MAX_ID_BYTES: usize = 256;

/// The longest turn in a state, in bytes.
const MAX_TURN_BYTES: usize = 20;

#[cfg(test)]
mod tests {
    use a2a::model::decode::read_json;
    use proptest::prelude::*;

    use super::*;

    fn waiting(state: &str, parts: &Value) -> Option<Waiting> {
        let task = json!({"id": "t", "contextId": "c", "status": {"state": format!("TASK_STATE_{state}"),
            "message": {"messageId": "m", "role": "ROLE_AGENT", "parts": parts}}});
        Waiting::of(&read_json(&task.to_string()).unwrap())
    }

    fn form_of(parts: &Value) -> Value {
        match waiting("INPUT_REQUIRED", parts).unwrap().question.unwrap().kind {
            QuestionKind::Form(form) => form,
            QuestionKind::Url(url) => panic!("{url}"),
        }
    }

    #[test]
    fn a_question_in_words_is_answered_by_a_text() {
        let waiting = waiting("INPUT_REQUIRED", &json!([{"text": "Which seat?"}])).unwrap();
        let question = waiting.question.clone().unwrap();
        assert_eq!(question.message, "Which seat?");
        let answer = Answer::Accept(Some(json!({"answer": "4A"})));
        let given = [("other".to_owned(), Answer::Decline), (question.key, answer.clone())];
        assert_eq!(waiting.answer_in(&given), Some(&answer));
        assert_eq!(waiting.parts(&answer), Some(vec![Part::text("4A")]));
        assert_eq!(waiting.parts(&Answer::Decline), None);
        assert_eq!(waiting.parts(&Answer::Accept(None)), Some(vec![Part::data(json!({}))]));
    }

    #[test]
    fn a_question_with_a_schema_is_a_form() {
        let schema = json!({"type": "object", "properties": {"seat": {"type": "string"}, "n": {"type": "integer"}},
            "required": ["seat"], "additionalProperties": false});
        let form =
            json!({"type": "object", "properties": schema["properties"], "required": ["seat"]});
        for data in [json!(schema), json!({"schema": schema}), json!({"requestedSchema": schema})] {
            assert_eq!(form_of(&json!([{"text": "Where?"}, {"data": data}])), form);
        }
        let waiting = waiting("INPUT_REQUIRED", &json!([{"data": schema}])).unwrap();
        let content = json!({"seat": "4A", "answer": "x"});
        let parts = waiting.parts(&Answer::Accept(Some(content.clone())));
        assert_eq!(parts, Some(vec![Part::data(content)]));
        for deep in [
            json!({"type": "object", "properties": {}}),
            json!({"type": "object", "properties": {"a": {"type": "object"}}}),
            json!({"type": "object", "properties": {"a": {"$ref": "#"}}}),
            json!({"type": "array", "properties": {"a": {"type": "string"}}}),
            json!([1]),
        ] {
            assert_eq!(form_of(&json!([{"data": deep}])), plain_form(), "{deep}");
        }
    }

    #[test]
    fn an_authorization_is_asked_for_at_its_url() {
        for parts in [
            json!([{"text": "Log in."}, {"url": "https://id.example/x"}]),
            json!([{"data": {"url": "https://id.example/x"}}]),
        ] {
            let waiting = waiting("AUTH_REQUIRED", &parts).unwrap();
            let question = waiting.question.clone().unwrap();
            assert_eq!(question.kind, QuestionKind::Url("https://id.example/x".to_owned()));
            let parts = waiting.parts(&Answer::Accept(None));
            assert_eq!(parts, Some(vec![Part::text("The authorization is done.")]));
        }
        for parts in [json!([{"text": "Log in."}]), json!([{"url": "javascript:x"}])] {
            assert_eq!(waiting("AUTH_REQUIRED", &parts).unwrap().question, None);
        }
        assert_eq!(waiting("WORKING", &json!([{"text": "x"}])), None);
    }

    #[test]
    fn a_state_names_its_task_and_its_turn() {
        let waiting = waiting("INPUT_REQUIRED", &json!([{"text": "?"}])).unwrap();
        let state = waiting.state();
        assert_eq!(Waiting::task_of(&state), TaskId::new("t"));
        assert!(waiting.is_of(&state));
        assert!(!waiting.is_of("1.t.0"));
        for changed in
            [format!("{state}-"), format!("2{state}"), "1.t.".to_owned(), "1..0".to_owned()]
        {
            assert_eq!(Waiting::task_of(&changed), None, "{changed}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_state_or_none(text in "\\PC*|1\\.[a-z.]*") {
            let _ = Waiting::task_of(&text);
        }
    }
}
