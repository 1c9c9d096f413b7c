//! A span of OpenTelemetry as JSON (OTLP 1.x, `opentelemetry.proto.trace.v1.Span`), made of an observation.

use Attribute::{Nothing, Number, Text};

use crate::port::{AnsweredRequest, Moment, Observation, SpanPlace, Work, WorkEnd};
use crate::usage::Usage;
use a2a::model::{TaskId, UnixMillis, encode};

/// The span of an observation, as JSON. `None` if the observation is none of work that a trace records.
pub fn span_of(observation: &Observation<'_>) -> Option<String> {
    match observation {
        Observation::RequestAnswered { request, at } => of_request(request, at),
        Observation::FactsFound { at } => span(INTERNAL, &["facts"], at, &[], None),
        Observation::ObjectAsked { at } => span(CLIENT, &["object"], at, &[], None),
        Observation::RunEnded { agent, task, context, attempt, ending, state, at } => {
            let failure = match (*ending, *state) {
                ("returned" | "parked", Some("TASK_STATE_FAILED")) => Some("task_failed"),
                ("returned" | "parked" | "canceled", _) => None,
                (ending, _) => Some(ending),
            };
            let attributes = [
                ("gen_ai.operation.name", Text("invoke_agent")),
                ("gen_ai.agent.name", Text(agent)),
                ("gen_ai.conversation.id", text(*context)),
                ("a2a.task.id", Text(task.as_str())),
                ("a2a.task.state", text(*state)),
                ("a2a_edge.run.attempt", Number((*attempt).into())),
                ("a2a_edge.run.ending", Text(ending)),
            ];
            span(INTERNAL, &["invoke_agent ", agent], at, &attributes, failure)
        }
        Observation::WorkDone { agent, task, work, end, at } => {
            of_work(agent, task, *work, end, at)
        }
        Observation::HttpRequested { agent, task, method, host, status, at } => {
            let sent = Sent { name: method, method, host: *host, status: *status };
            of_sent(&sent, agent, task, Nothing, at)
        }
        Observation::NotificationAttempted { agent, task, webhook, host, status, at, .. } => {
            let sent = Sent { name: "webhook", method: "POST", host: *host, status: *status };
            of_sent(&sent, agent, task, Text(webhook), at)
        }
        Observation::IndexWritten { task, has_failed, at } => {
            let attributes = [("a2a.task.id", Text(task.as_str()))];
            span(CLIENT, &["index"], at, &attributes, has_failed.then_some("failed"))
        }
        _ => None,
    }
}

fn of_request(request: &AnsweredRequest<'_>, at: &Moment) -> Option<String> {
    let AnsweredRequest { method, route, agent, operation, version, status, code, .. } = *request;
    let failure = match (code, status) {
        (Some(code), _) => Some(code.to_string()),
        (None, 400..) => Some(status.to_string()),
        (None, _) => None,
    };
    let attributes = [
        ("http.request.method", Text(method)),
        ("http.route", Text(route)),
        ("http.response.status_code", Number(status.into())),
        ("a2a.method.name", text(operation)),
        ("a2a.protocol.version", text(version)),
        ("gen_ai.agent.name", text(agent)),
        ("gen_ai.conversation.id", text(request.context)),
        ("a2a.task.id", text(request.task)),
        ("a2a.message.id", text(request.message)),
    ];
    let (operation, by_route) = ([operation.unwrap_or_default()], [method, " ", route]);
    let name: &[&str] = if request.operation.is_some() { &operation } else { &by_route };
    span(SERVER, name, at, &attributes, failure.as_deref())
}

fn of_work(
    agent: &str,
    task: &TaskId,
    work: Work<'_>,
    end: &WorkEnd,
    at: &Moment,
) -> Option<String> {
    let (kind, operation, of, [first, second]) = match work {
        Work::Model { provider, model } => (
            CLIENT,
            "chat",
            model,
            [("gen_ai.request.model", Text(model)), ("gen_ai.provider.name", Text(provider))],
        ),
        Work::Tool(tool) => (
            INTERNAL,
            "execute_tool",
            tool,
            [("gen_ai.tool.name", Text(tool)), ("gen_ai.tool.type", Text("function"))],
        ),
        Work::McpTool { server, tool } => (
            CLIENT,
            "execute_tool",
            tool,
            [("gen_ai.tool.name", Text(tool)), ("a2a_edge.mcp.server", Text(server))],
        ),
        Work::Agent(name) => (
            CLIENT,
            "invoke_agent",
            name,
            [("a2a_edge.caller", Text(agent)), ("gen_ai.agent.name", Text(name))],
        ),
        Work::Step(name) => {
            (INTERNAL, "step", name, [("a2a_edge.step", Text(name)), ("", Nothing)])
        }
    };
    let (is_agent, is_step) = (matches!(work, Work::Agent(_)), matches!(work, Work::Step(_)));
    let tokens = |count: fn(Usage) -> u64| end.usage.map_or(Nothing, |used| Number(count(used)));
    let attributes = [
        ("gen_ai.operation.name", if is_step { Nothing } else { Text(operation) }),
        first,
        second,
        ("gen_ai.agent.name", if is_agent { Nothing } else { Text(agent) }),
        ("a2a.task.id", Text(task.as_str())),
        ("gen_ai.usage.input_tokens", tokens(|used| used.input_tokens)),
        ("gen_ai.usage.output_tokens", tokens(|used| used.output_tokens)),
    ];
    span(kind, &[operation, " ", of], at, &attributes, end.failure)
}

/// A request to another server.
struct Sent<'a> {
    name: &'a str,
    method: &'a str,
    host: Option<&'a str>,
    status: Option<u16>,
}

fn of_sent(
    sent: &Sent<'_>,
    agent: &str,
    task: &TaskId,
    webhook: Attribute<'_>,
    at: &Moment,
) -> Option<String> {
    let Sent { name, method, host, status } = *sent;
    let (address, port) = split(host);
    let failure = match status {
        None => Some("no_answer".to_owned()),
        Some(200..400) => None,
        Some(status) => Some(status.to_string()),
    };
    let attributes = [
        ("http.request.method", Text(method)),
        ("server.address", text(address)),
        ("server.port", port.map_or(Nothing, Number)),
        ("http.response.status_code", status.map_or(Nothing, |status| Number(status.into()))),
        ("gen_ai.agent.name", Text(agent)),
        ("a2a.task.id", Text(task.as_str())),
        ("a2a_edge.webhook.id", webhook),
    ];
    span(CLIENT, &[name], at, &attributes, failure.as_deref())
}

/// The value of an attribute; `Nothing` leaves the attribute out.
#[derive(Clone, Copy)]
enum Attribute<'a> {
    Nothing,
    Text(&'a str),
    Number(u64),
}

fn text(text: Option<&str>) -> Attribute<'_> {
    text.map_or(Nothing, Text)
}

/// A span as JSON. Its name has these parts; `failure` is the kind of the failure if the work has failed. `None` if no trace records
/// the work.
fn span(
    kind: u8,
    name: &[&str],
    at: &Moment,
    attributes: &[(&str, Attribute<'_>)],
    failure: Option<&str>,
) -> Option<String> {
    let SpanPlace { trace, id, parent, follows } = at.place.as_ref()?;
    let mut span = format!(
        r#"{{"traceId":"{}","spanId":"{id}","name":{},"kind":{kind},"startTimeUnixNano":"{}","endTimeUnixNano":"{}","flags":1,"#,
        trace.trace_id(),
        quoted(&name.concat()),
        nanos(at.begun),
        nanos(at.ended.max(at.begun)),
    );
    if let Some(parent) = parent {
        span.push_str(&format!(r#""parentSpanId":"{parent}","#));
    }
    if let Some(state) = trace.tracestate() {
        span.push_str(&format!(r#""traceState":{},"#, quoted(state)));
    }
    if let Some(before) = follows {
        let trace = trace.trace_id();
        span.push_str(&format!(r#""links":[{{"traceId":"{trace}","spanId":"{before}"}}],"#));
    }
    if failure.is_some() {
        span.push_str(r#""status":{"code":2},"#);
    }
    span.push_str(r#""attributes":["#);
    let begins = span.len();
    for (key, value) in attributes.iter().chain(&[("error.type", text(failure))]) {
        // JSON of protocol buffers writes numbers of 64 bits as texts.
        let (form, value) = match value {
            Nothing => continue,
            Text(text) => ("stringValue", quoted(text)),
            Number(number) => ("intValue", format!(r#""{number}""#)),
        };
        if span.len() > begins {
            span.push(',');
        }
        span.push_str(&format!(r#"{{"key":"{key}","value":{{"{form}":{value}}}}}"#));
    }
    span.push_str("]}");
    Some(span)
}

/// The beginning of a text, as JSON.
fn quoted(text: &str) -> String {
    let text = text.get(..text.floor_char_boundary(MAX_TEXT_BYTES)).unwrap_or_default();
    encode(&text).unwrap_or_default()
}

/// The name or the address of a host, and its port.
fn split(host: Option<&str>) -> (Option<&str>, Option<u64>) {
    let Some(host) = host else { return (None, None) };
    match host.rsplit_once(':').and_then(|(name, port)| Some((name, port.parse().ok()?))) {
        Some((name, port)) => (Some(name), Some(port)),
        None => (Some(host), None),
    }
}

fn nanos(at: UnixMillis) -> String {
    format!("{}000000", at.0.max(0))
}

/// The kinds of spans, by their numbers in OTLP.
const INTERNAL: u8 = 1;
const SERVER: u8 = 2;
const CLIENT: u8 = 3;

/// The longest text of a span, in bytes: callers and agents choose some of them.
const MAX_TEXT_BYTES: usize = 256;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::port::SpanId;
    use a2a::http::trace::TraceContext;
    use a2a::model::Generation;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    fn at(follows: Option<&str>) -> Moment {
        let place = SpanPlace {
            trace: TraceContext::read(PARENT, Some("a=1")).unwrap(),
            id: SpanId::parse("00000000000000aa").unwrap(),
            parent: SpanId::parse("00f067aa0ba902b7"),
            follows: follows.and_then(SpanId::parse),
        };
        Moment { begun: UnixMillis(1_500), ended: UnixMillis(1_750), place: Some(place) }
    }

    fn span(observation: &Observation<'_>) -> Value {
        serde_json::from_str(&span_of(observation).expect("a span")).unwrap()
    }

    /// The attributes of a span, by key; numbers as texts.
    fn attributes(span: &Value) -> Value {
        let attributes = span["attributes"].as_array().unwrap().iter();
        let values = attributes.map(|attribute| {
            let value = attribute["value"].as_object().unwrap().values().next().unwrap();
            (attribute["key"].as_str().unwrap().to_owned(), value.clone())
        });
        Value::Object(values.collect())
    }

    #[test]
    fn a_request_is_a_span_of_a_server_in_the_trace_of_its_client() {
        let request = AnsweredRequest {
            method: "POST",
            route: "/{agent}",
            agent: Some("demo"),
            operation: Some("GetTask"),
            version: Some("1.0"),
            task: Some("t"),
            status: 200,
            ..AnsweredRequest::default()
        };
        let span = span(&Observation::RequestAnswered { request, at: &at(None) });
        assert_eq!(
            span,
            json!({"traceId": TRACE, "spanId": "00000000000000aa", "name": "GetTask", "kind": 2,
                "startTimeUnixNano": "1500000000", "endTimeUnixNano": "1750000000", "flags": 1,
                "parentSpanId": "00f067aa0ba902b7", "traceState": "a=1",
                "attributes": span["attributes"]})
        );
        assert_eq!(
            attributes(&span),
            json!({"http.request.method": "POST", "http.route": "/{agent}", "a2a.method.name": "GetTask",
                "http.response.status_code": "200", "a2a.protocol.version": "1.0",
                "gen_ai.agent.name": "demo", "a2a.task.id": "t"})
        );
    }

    #[test]
    fn a_failure_is_the_status_of_a_span_and_its_kind() {
        let at = at(None);
        for (status, code, kind) in
            [(200, Some(-32001), "-32001"), (401, None, "401"), (503, None, "503")]
        {
            let request = AnsweredRequest { status, code, ..AnsweredRequest::default() };
            let span = span(&Observation::RequestAnswered { request, at: &at });
            assert_eq!(
                (&span["status"], &attributes(&span)["error.type"]),
                (&json!({"code": 2}), &json!(kind))
            );
        }
        let task = TaskId::new("t").unwrap();
        for (ending, has_failed) in [
            ("returned", false),
            ("parked", false),
            ("canceled", false),
            ("failed", true),
            ("interrupted", true),
        ] {
            let (agent, context, attempt, state) = ("a", None, 1, None);
            let task = &task;
            let span = span(&Observation::RunEnded {
                agent,
                task,
                context,
                attempt,
                ending,
                state,
                at: &at,
            });
            assert_eq!(span.get("status").is_some(), has_failed, "{ending}");
        }
    }

    #[test]
    fn a_run_links_to_the_one_that_it_continues() {
        let (task, at) = (TaskId::new("t").unwrap(), at(Some("00000000000000bb")));
        let span = span(&Observation::RunEnded {
            agent: "demo",
            task: &task,
            context: Some("c"),
            attempt: 2,
            ending: "returned",
            state: Some("TASK_STATE_COMPLETED"),
            at: &at,
        });
        assert_eq!(span["name"], "invoke_agent demo");
        assert_eq!(span["links"], json!([{"traceId": TRACE, "spanId": "00000000000000bb"}]));
        assert_eq!(attributes(&span)["gen_ai.conversation.id"], "c");
    }

    #[test]
    fn work_has_the_names_of_the_conventions() {
        let (task, at) = (TaskId::new("t").unwrap(), at(None));
        let usage = Usage { requests: 1, input_tokens: 7, output_tokens: 2, cost_micros: 0 };
        for (work, name, kind, attribute) in [
            (
                Work::Model { provider: "openai", model: "m" },
                "chat m",
                3,
                ("gen_ai.usage.input_tokens", "7"),
            ),
            (Work::Tool("dice"), "execute_tool dice", 1, ("gen_ai.tool.name", "dice")),
            (
                Work::McpTool { server: "s", tool: "x" },
                "execute_tool x",
                3,
                ("a2a_edge.mcp.server", "s"),
            ),
            (Work::Agent("travel"), "invoke_agent travel", 3, ("a2a_edge.caller", "demo")),
            (Work::Step("reserve"), "step reserve", 1, ("a2a_edge.step", "reserve")),
        ] {
            let end = WorkEnd { failure: None, usage: Some(usage) };
            let span =
                span(&Observation::WorkDone { agent: "demo", task: &task, work, end, at: &at });
            assert_eq!((&span["name"], &span["kind"]), (&json!(name), &json!(kind)));
            assert_eq!(attributes(&span)[attribute.0], attribute.1);
        }
    }

    #[test]
    fn other_servers_are_named_by_host_and_port() {
        let (task, at) = (TaskId::new("t").unwrap(), at(None));
        for (host, address, port) in [
            ("a.example", json!("a.example"), Value::Null),
            ("a.example:8443", json!("a.example"), json!("8443")),
            ("[::1]", json!("[::1]"), Value::Null),
            ("[::1]:8787", json!("[::1]"), json!("8787")),
        ] {
            let (agent, host) = ("demo", Some(host));
            let http = Observation::HttpRequested {
                agent,
                task: &task,
                method: "GET",
                host,
                status: Some(404),
                at: &at,
            };
            let webhook = Observation::NotificationAttempted {
                agent,
                task: &task,
                webhook: "w",
                host,
                generation: Generation(1),
                status: Some(404),
                error: None,
                at: &at,
            };
            for observation in [http, webhook] {
                let told = attributes(&span(&observation));
                assert_eq!((&told["server.address"], &told["server.port"]), (&address, &port));
                assert_eq!(told["error.type"], "404");
            }
        }
    }

    #[test]
    fn a_span_has_no_long_text_and_work_without_a_trace_has_no_span() {
        let task = TaskId::new("t").unwrap();
        let (long, end) = ("é".repeat(1_000), WorkEnd::of(true));
        let of = |at: &Moment| {
            span_of(&Observation::WorkDone {
                agent: "demo",
                task: &task,
                work: Work::Step(&long),
                end,
                at,
            })
        };
        assert!(of(&at(None)).unwrap().len() < 1_500);
        assert_eq!(of(&Moment { place: None, ..at(None) }), None);
        assert_eq!(span_of(&Observation::CommandUnreadable { reason: "no" }), None);
    }
}
