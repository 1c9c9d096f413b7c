//! Converts questions of MCP servers into text for the client, and messages of the client into answers.

use serde_json::{Map, Value, json};

use ::mcp::model::{Answer, Question, QuestionKind};
use a2a::model::{Message, Part, TaskState};
use a2a_agents::tool::{example, required, takes_string, validate_as};

/// The state that the task enters, and the parts of its message to the client. `unfit` is the reason why the last
/// message was no answer.
pub(in crate::executor) fn said(
    questions: &[Question],
    unfit: Option<&str>,
) -> (TaskState, Vec<Part>) {
    let is_url = |question: &Question| matches!(question.kind, QuestionKind::Url(_));
    let is_auth = !questions.is_empty() && questions.iter().all(is_url);
    let state = if is_auth { TaskState::AuthRequired } else { TaskState::InputRequired };
    let mut text = unfit.map(|reason| format!("{reason}. ")).unwrap_or_default();
    let mut parts = Vec::new();
    for question in questions {
        let name =
            if questions.len() > 1 { format!("\n{}: ", question.key) } else { String::new() };
        text.push_str(&format!("{name}{}", question.message));
        if let QuestionKind::Url(url) = &question.kind {
            text.push_str(&format!("\nVisit {url} for that"));
            parts.push(Part::url(url.clone()));
        }
    }
    match questions {
        [Question { kind: QuestionKind::Form(schema), .. }] => {
            let by_text = if string_of(schema).is_some() { "a text, or " } else { "" };
            let hint = format!("\nAnswer with {by_text}a data part such as {}", example(schema));
            text.push_str(&hint);
            parts.push(Part::data(schema.clone()));
        }
        _ if is_auth => text.push_str("\nThen send any message to go on"),
        _ => {
            let forms = forms(questions);
            let shown: Map<String, Value> =
                forms.iter().map(|(key, schema)| ((*key).to_owned(), example(schema))).collect();
            text.push_str(&format!("\nAnswer with a data part such as {}", Value::Object(shown)));
            let schemas: Map<String, Value> =
                forms.iter().map(|(key, schema)| ((*key).to_owned(), (*schema).clone())).collect();
            let names: Vec<&String> = schemas.keys().collect();
            let whole = json!({"type": "object", "properties": schemas, "required": names});
            parts.push(Part::data(whole));
        }
    }
    let hint = ". {\"action\": \"decline\"} as a data part declines";
    text.push_str(hint);
    parts.insert(0, Part::text(text));
    (state, parts)
}

/// The answers in a message, one for each of the questions.
///
/// # Errors
///
/// The reason why the message does not answer the questions.
pub(in crate::executor) fn answers(
    message: &Message,
    questions: &[Question],
) -> Result<Vec<(String, Answer)>, String> {
    let data = message.parts.iter().find_map(|part| match part.as_data() {
        Some(Value::Object(members)) => Some(members),
        _ => None,
    });
    let forms = forms(questions);
    let asks_action = forms.iter().any(|(_, schema)| has_property(schema, "action"));
    let refusal = data.as_ref().filter(|_| !asks_action).and_then(refusal_of);
    let text = message.parts.iter().any(|part| part.as_text().is_some()).then(|| message.text());
    let is_single = forms.len() == 1;
    let answer = |question: &Question| {
        let key = question.key.as_str();
        let schema = match (&refusal, &question.kind) {
            (Some(refusal), _) => return Ok(refusal.clone()),
            (None, QuestionKind::Url(_)) => return Ok(Answer::Accept(None)),
            (None, QuestionKind::Form(schema)) => schema,
        };
        let own = data.as_ref().and_then(|data| data.get(key)).and_then(Value::as_object);
        // With several questions, each form is a member of the data; for a single form, the data is the content itself.
        let (answer, name) = match (own, &data) {
            (Some(own), _) if questions.len() > 1 => (content_of(own, schema), key),
            (_, Some(data)) if is_single => (content_of(data, schema), "answer"),
            (_, Some(_)) => return Err(NO_MEMBER.to_owned()),
            (_, None) => match (string_of(schema).filter(|_| is_single), &text) {
                (Some(name), Some(text)) => (Answer::Accept(Some(json!({name: text}))), "answer"),
                _ => return Err(NO_DATA.to_owned()),
            },
        };
        fits(&answer, schema, name).map(|()| answer)
    };
    questions.iter().map(|question| Ok((question.key.clone(), answer(question)?))).collect()
}

/// Validates the content of an answer. `name` is the name of the content in the error message.
fn fits(answer: &Answer, schema: &Value, name: &str) -> Result<(), String> {
    let Answer::Accept(content) = answer else { return Ok(()) };
    let nothing = json!({});
    let problems = validate_as(name, schema, content.as_ref().unwrap_or(&nothing));
    match problems.as_slice() {
        [] => Ok(()),
        problems => Err(format!("that answer does not fit: {}", problems.join("; "))),
    }
}

/// The questions that are forms, each with its schema.
fn forms(questions: &[Question]) -> Vec<(&str, &Value)> {
    let mut forms = Vec::new();
    for Question { key, kind, .. } in questions {
        if let QuestionKind::Form(schema) = kind {
            forms.push((key.as_str(), schema));
        }
    }
    forms
}

/// The answer `decline` or `cancel`, if the data is one of them.
fn refusal_of(data: &Map<String, Value>) -> Option<Answer> {
    let answer = Answer::read(&Value::Object(data.clone()))?;
    (!matches!(answer, Answer::Accept(_))).then_some(answer)
}

/// Reads an object as the answer to a form: either the form's content, or an answer in the notation of the protocol
/// (`action`, `content`).
fn content_of(data: &Map<String, Value>, schema: &Value) -> Answer {
    let whole = Value::Object(data.clone());
    let is_written_out =
        !has_property(schema, "action") && data.get("action").is_some_and(Value::is_string);
    match Answer::read(&whole).filter(|_| is_written_out) {
        Some(answer) => answer,
        None => Answer::Accept(Some(whole)),
    }
}

/// The field of a form that a plain text fills: the form's only string, if no other field is required.
fn string_of(schema: &Value) -> Option<&str> {
    let properties = schema.get("properties").and_then(Value::as_object)?;
    let mut strings = properties.keys().filter(|name| takes_string(schema, name));
    let only = strings.next().filter(|_| strings.next().is_none())?;
    required(schema).iter().all(|name| name == only).then_some(only.as_str())
}

fn has_property(schema: &Value, name: &str) -> bool {
    schema.get("properties").is_some_and(|properties| properties.get(name).is_some())
}

const NO_DATA: &str = "that is no answer: the answer is a data part";
const NO_MEMBER: &str = "that is no answer: each question has a member of the data part, an object";

#[cfg(test)]
mod tests {
    use super::*;
    use a2a::model::Role;

    fn form(key: &str, properties: Value, required: &[&str]) -> Question {
        let schema = json!({"type": "object", "properties": properties, "required": required});
        Question {
            key: key.to_owned(),
            message: "Which?".to_owned(),
            kind: QuestionKind::Form(schema),
        }
    }

    fn url(key: &str) -> Question {
        let kind = QuestionKind::Url("https://a.example/login".to_owned());
        Question { key: key.to_owned(), message: "Log in.".to_owned(), kind }
    }

    fn message(parts: Vec<Part>) -> Message {
        Message {
            message_id: "m".to_owned(),
            context_id: None,
            task_id: None,
            role: Role::User,
            parts,
            metadata: None,
            extensions: Vec::new(),
            reference_task_ids: Vec::new(),
        }
    }

    fn given(questions: &[Question], parts: Vec<Part>) -> Value {
        match answers(&message(parts), questions) {
            Ok(answers) => answers
                .into_iter()
                .map(|(key, answer)| (key, answer.to_json()))
                .collect::<Map<_, _>>()
                .into(),
            Err(reason) => json!(reason),
        }
    }

    fn seat() -> Question {
        form("q", json!({"seat": {"type": "string"}, "window": {"type": "boolean"}}), &["seat"])
    }

    #[test]
    fn a_form_is_answered_by_data_by_a_text_or_not() {
        let accepted = |content: Value| json!({"q": {"action": "accept", "content": content}});
        let seat = [seat()];
        let data = |data: Value| vec![Part::data(data)];
        for (parts, expected) in [
            (
                data(json!({"seat": "4A", "window": true})),
                accepted(json!({"seat": "4A", "window": true})),
            ),
            (vec![Part::text("4A")], accepted(json!({"seat": "4A"}))),
            (
                vec![Part::text("so:"), Part::data(json!({"seat": "4A"}))],
                accepted(json!({"seat": "4A"})),
            ),
            (
                data(json!({"action": "accept", "content": {"seat": "4A"}})),
                accepted(json!({"seat": "4A"})),
            ),
            (data(json!({"action": "decline"})), json!({"q": {"action": "decline"}})),
            (data(json!({"action": "cancel"})), json!({"q": {"action": "cancel"}})),
            (data(json!(["4A"])), json!(NO_DATA)),
            (vec![Part::url("https://a.example")], json!(NO_DATA)),
        ] {
            assert_eq!(given(&seat, parts.clone()), expected, "{parts:?}");
        }
        let two = [form("q", json!({"a": {"type": "string"}, "b": {"type": "string"}}), &[])];
        assert_eq!(given(&two, vec![Part::text("x")]), json!(NO_DATA));
        let number = [form("q", json!({"a": {"type": "string"}, "n": {"type": "number"}}), &["n"])];
        assert_eq!(given(&number, vec![Part::text("x")]), json!(NO_DATA));
        let action = [form("q", json!({"action": {"type": "string"}}), &["action"])];
        assert_eq!(
            given(&action, data(json!({"action": "decline"}))),
            accepted(json!({"action": "decline"}))
        );
    }

    #[test]
    fn a_url_is_accepted_by_any_message_and_can_be_declined() {
        for part in [Part::text("done"), Part::data(json!({})), Part::url("https://a.example")] {
            assert_eq!(given(&[url("u")], vec![part]), json!({"u": {"action": "accept"}}));
        }
        let decline = vec![Part::data(json!({"action": "decline"}))];
        assert_eq!(given(&[url("u")], decline), json!({"u": {"action": "decline"}}));
    }

    #[test]
    fn several_questions_have_a_member_each() {
        let both = [seat(), form("r", json!({"n": {"type": "number"}}), &["n"]), url("u")];
        let parts = vec![Part::data(json!({"q": {"seat": "4A"}, "r": {"action": "decline"}}))];
        assert_eq!(
            given(&both, parts),
            json!({"q": {"action": "accept", "content": {"seat": "4A"}}, "r": {"action": "decline"},
                "u": {"action": "accept"}})
        );
        assert_eq!(given(&both, vec![Part::data(json!({"q": {"seat": "4A"}}))]), json!(NO_MEMBER));
        assert_eq!(given(&both, vec![Part::text("4A")]), json!(NO_DATA));
        let one = [seat(), url("u")];
        let expected = json!({"q": {"action": "accept", "content": {"seat": "4A"}}, "u": {"action": "accept"}});
        assert_eq!(given(&one, vec![Part::text("4A")]), expected);
        assert_eq!(given(&one, vec![Part::data(json!({"seat": "4A"}))]), expected);
    }

    #[test]
    fn a_question_is_told_with_what_answers_it() {
        let (state, parts) = said(&[seat()], None);
        assert_eq!(state, TaskState::InputRequired);
        assert_eq!(
            parts[0].as_text().unwrap(),
            "Which?\nAnswer with a text, or a data part such as {\"seat\":\"…\"}. {\"action\": \"decline\"} as a \
             data part declines"
        );
        assert_eq!(parts[1].as_data().unwrap()["required"], json!(["seat"]));
        let (state, parts) = said(&[url("u")], None);
        assert_eq!(state, TaskState::AuthRequired);
        assert!(
            parts[0]
                .as_text()
                .unwrap()
                .starts_with("Log in.\nVisit https://a.example/login for that\nThen send")
        );
        assert_eq!(parts[1], Part::url("https://a.example/login"));
        let (state, parts) = said(&[seat(), url("u")], Some(NO_DATA));
        assert_eq!((state, parts.len()), (TaskState::InputRequired, 3));
        assert!(
            parts[0]
                .as_text()
                .unwrap()
                .starts_with("that is no answer: the answer is a data part. \nq: Which?")
        );
        assert_eq!(parts[2].as_data().unwrap()["properties"]["q"]["required"], json!(["seat"]));
    }
}
