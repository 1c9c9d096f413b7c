//! The subject of an observed request: what its observation says about it, apart from how it ended. It is found with the plan, and
//! comes back as text when the request is answered.

use super::head::{Head, OBSERVED};
use super::plan::Plan;
use super::route::route;
use crate::executor::Agents;
use crate::port::AnsweredRequest;
use a2a::Operation;
use a2a::binding::http::split_url;
use a2a::model::{SendMessageRequest, TaskId};

/// The text of a subject: its parts, each after a control character, empty if it is not known.
pub(crate) type Subject = String;

/// The subject of the request with this head, which has this plan. `None` if the request is not observed.
pub(super) fn subject(agents: &Agents, head: &Head<'_>, plan: &Plan) -> Option<Subject> {
    head.header(OBSERVED)?;
    let (_, path, _) = split_url(head.url());
    // Clients may name agents that there are not; of these nothing is kept.
    let named = || {
        let route = route(path);
        let found = if route.is_of_agent() { agents.find(route.agent()) } else { None };
        found.map(|agent| agent.slug.to_string()).unwrap_or_default()
    };
    let (agent, operation, task, sent) = match plan {
        Plan::Call(_, command) => {
            let call = &command.call;
            (command.agent.clone(), Some(call.operation()), call.task_id(), call.message())
        }
        Plan::Stream(_, hello) => {
            let (agent, call) = (&hello.command.agent, &hello.command.call);
            (agent.clone(), Some(call.operation()), call.task_id(), call.message())
        }
        Plan::List { .. } => (named(), Some(Operation::ListTasks), None, None),
        Plan::Answer(_) | Plan::CallBack(_) | Plan::Visit | Plan::Need(_) => {
            (named(), None, None, None)
        }
    };
    // A version is the client's word, so only one that has the form of versions is kept.
    let is_version =
        |text: &&str| text.len() <= 8 && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let version = head.header("a2a-version").filter(is_version).unwrap_or_default();
    Some(text(&agent, operation, version, task, sent))
}

fn text(
    agent: &str,
    operation: Option<Operation>,
    version: &str,
    task: Option<&TaskId>,
    sent: Option<&SendMessageRequest>,
) -> Subject {
    let message = sent.map(|sent| &sent.message);
    let context = message.and_then(|message| message.context_id.as_ref());
    let parts = [
        agent,
        operation.map(Operation::name).unwrap_or_default(),
        version,
        task.map(TaskId::as_str).unwrap_or_default(),
        context.map(a2a::model::ContextId::as_str).unwrap_or_default(),
        message.map(|message| message.message_id.as_str()).unwrap_or_default(),
    ];
    // Clients choose some of the parts; a control character in them would end the part.
    parts.map(|part| part.replace(|c: char| c.is_control(), " ")).join(SEPARATOR)
}

/// The answered request with this subject and head, as far as it is known before its end.
pub(crate) fn request_of<'a>(subject: &'a str, head: &Head<'a>) -> AnsweredRequest<'a> {
    let (_, path, _) = split_url(head.url());
    let mut parts = subject.split(SEPARATOR).map(|part| Some(part).filter(|part| !part.is_empty()));
    let mut part = || parts.next().flatten();
    AnsweredRequest {
        method: head.method(),
        route: route(path).pattern(),
        agent: part(),
        operation: part(),
        version: part(),
        task: part(),
        context: part(),
        message: part(),
        ..AnsweredRequest::default()
    }
}

const SEPARATOR: &str = "\u{1e}";

#[cfg(test)]
mod tests {
    use super::*;
    use a2a::model::decode::read_json;

    #[test]
    fn a_subject_comes_back_as_it_was_found() {
        let head = Head::parse("POST\nhttps://a.example/demo/message:send");
        let sent = |text: &str| read_json::<SendMessageRequest>(text).expect("a message");
        let message = sent(
            r#"{"message": {"messageId": "m\u001e1", "contextId": "c", "role": "ROLE_USER", "parts": [{"text": "confidential"}]}}"#,
        );
        let task = TaskId::new("t").unwrap();
        let operation = Some(Operation::SendMessage);
        let whole = text("demo", operation, "1.0", Some(&task), Some(&message));
        assert!(!whole.contains("confidential"));
        let expected = AnsweredRequest {
            method: "POST",
            route: "/{agent}/*",
            agent: Some("demo"),
            operation: Some("SendMessage"),
            version: Some("1.0"),
            task: Some("t"),
            context: Some("c"),
            message: Some("m 1"),
            status: 0,
            code: None,
        };
        assert_eq!(request_of(&whole, &head), expected);
    }

    #[test]
    fn a_request_without_a_plan_has_its_route_alone() {
        let head = Head::parse("GET\nhttps://a.example/demo/callbacks/secret?x=secret");
        for subject in ["", text("", None, "", None, None).as_str()] {
            let request = request_of(subject, &head);
            let (method, route) = ("GET", "/{agent}/callbacks/{callback}");
            assert_eq!(request, AnsweredRequest { method, route, ..AnsweredRequest::default() });
        }
    }
}
