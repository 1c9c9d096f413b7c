//! Round trips in every version and over both bindings: our server decodes each request of the client to the same call, and
//! the client decodes each answer of our server to the same outcome, except for the losses in docs/dialects.md.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::losses::{expected, told, without_id, without_ids};
use super::*;
use crate::binding::jsonrpc::{Envelope, RequestId};
use crate::binding::rest::Endpoint;
use crate::binding::{MediaType, Reply};
use crate::dialect::{Dialect, Dialects, ReadCall, Spoken, StreamState};
use crate::http::HttpBody;
use crate::model::decode::decode;
use crate::model::{ShownWebhook, Task};
use crate::{Outcome, ShownTask};
use arbitrary::{less_0_1, less_0_3};

#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../../../tests/all/arbitrary/mod.rs"]
pub(super) mod arbitrary;

const FORMS: [(Dialect, Binding); 6] = [
    (Dialect::V1, Binding::JsonRpc),
    (Dialect::V1, Binding::Rest),
    (Dialect::V0_3, Binding::JsonRpc),
    (Dialect::V0_3, Binding::Rest),
    (Dialect::Legacy, Binding::JsonRpc),
    (Dialect::Legacy, Binding::Rest),
];

fn wire(dialect: Dialect, binding: Binding, tenant: Option<&str>) -> Wire {
    let connection = Connection {
        url: BASE.to_owned(),
        binding,
        dialect,
        tenant: tenant.map(str::to_owned),
        is_trusted: true,
        streams: true,
    };
    Wire::new(&Rc::new(connection), &Settings::new(BASE))
}

fn answer(status: u16, body: &str) -> HttpAnswer<String> {
    let url = BASE.to_owned();
    HttpAnswer { status, headers: Vec::new(), body: body.to_owned(), url }
}

const BASE: &str = "https://a.example/agent";

/// The call that our server decodes from a request.
fn served(dialect: Dialect, binding: Binding, request: &HttpRequest) -> ReadCall {
    let version = request.headers.iter().find(|(name, _)| name == "a2a-version");
    let version = version.map(|(_, value)| value.as_str());
    let body = match &request.body {
        HttpBody::Text(text) => text.as_bytes(),
        _ => b"",
    };
    let (dialect, operation, params) = match binding {
        Binding::JsonRpc => {
            assert_eq!((request.method, request.url.as_str()), ("POST", BASE));
            let envelope = Envelope::parse(body, 10_000).expect("an envelope");
            let spoken = Spoken::method(&envelope.method, version, true, &Dialects::ALL);
            let spoken = spoken.expect("a known method");
            let is_legacy = dialect == Dialect::Legacy;
            let told = spoken.dialect_for(&Dialects::ALL, is_legacy).expect("it is spoken");
            assert_eq!(told, dialect, "{}", envelope.method);
            (told, spoken.operation, envelope.params)
        }
        Binding::Rest => {
            let path = request.url.strip_prefix(BASE).expect("it begins so");
            let (path, query) = path.split_once('?').unwrap_or((path, ""));
            let path = path.strip_prefix('/').expect("a path");
            let told = Spoken::dialect_of_path(path, version, true, &Dialects::ALL);
            assert_eq!(told, Ok(dialect), "{path}");
            let endpoint = Endpoint::find(dialect, None, path).expect("it is there");
            let operation = endpoint.operation(request.method).expect("the verb");
            let params = match request.method {
                "POST" => endpoint.params_of_body(body, 10_000).expect("a body"),
                _ => endpoint.params_of_query(query),
            };
            (dialect, operation, params)
        }
    };
    dialect.decode(binding, operation, params).expect("a call")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn what_the_client_asks_the_server_reads(call in arbitrary::call::call()) {
        for (dialect, binding) in FORMS {
            let asked = wire(dialect, binding, None).request(&call, &CallOptions::default());
            match (expected(dialect, binding, call.clone()), asked) {
                (Some(expected), Ok(request)) => {
                    prop_assert_eq!(served(dialect, binding, &request), expected, "{:?} {:?}", dialect, binding);
                }
                (None, Err(ClientError::NotInVersion(text))) => {
                    prop_assert!(text.contains(dialect.version()) && text.contains(call.operation().name()));
                }
                (expected, asked) => prop_assert!(false, "{:?} {:?}: {:?} {:?}", dialect, binding, expected, asked),
            }
        }
    }

    #[test]
    fn what_the_server_tells_the_client_reads(event in arbitrary::event()) {
        for (dialect, binding) in FORMS {
            if (dialect, binding) == (Dialect::Legacy, Binding::Rest) {
                continue;
            }
            let json = encode(&event).unwrap();
            let frames = match dialect {
                Dialect::V1 => vec![match binding {
                    Binding::JsonRpc => format!(r#"data: {{"jsonrpc":"2.0","id":1,"result":{json}}}"#),
                    Binding::Rest => format!("data: {json}"),
                }],
                _ => {
                    let told = reply(dialect, binding).stream_text(&json, None, &mut StreamState::default());
                    told.expect("an event").text.split_terminator("\n\n").map(str::to_owned).collect()
                }
            };
            let wire = wire(dialect, binding, None);
            let read: Vec<_> = frames.iter().map(|frame| {
                let name = frame.lines().find_map(|line| line.strip_prefix("event: "));
                let data = frame.lines().find_map(|line| line.strip_prefix("data: ")).expect("data");
                wire.event(name, data).map(without_ids(dialect))
            }).collect();
            let expected: Vec<_> = told(dialect, binding, event.clone()).into_iter().map(Ok).collect();
            prop_assert_eq!(read, expected, "{:?} {:?}", dialect, binding);
        }
    }

    #[test]
    fn what_the_server_answers_the_client_reads(
        task in arbitrary::task(), message in arbitrary::message(), webhook in arbitrary::call::webhook(),
    ) {
        let shown = ShownTask { json: encode(&task).unwrap().into(), ..ShownTask::default() };
        let page = json!({"tasks": [task], "nextPageToken": "next", "pageSize": 1, "totalSize": 7}).to_string();
        let webhook = TaskPushNotificationConfig { tenant: None, signing_secret: None, events: Default::default(), ..webhook };
        let stored = TaskPushNotificationConfig { id: "id".to_owned(), ..webhook };
        let shown_webhook = ShownWebhook { config: stored.clone(), has: None };
        let task_id = stored.task_id.clone();
        let named = json!({"taskId": task_id, "id": "id"});
        let get: Call = Call::Task(TaskCall::GetTask(decode(json!({"id": "t"})).unwrap()));
        let send = Call::Task(TaskCall::SendMessage(Box::new(decode(json!({"message": message})).unwrap())));
        let get_webhook = Call::from(WebhookCall::GetTaskPushNotificationConfig(decode(named.clone()).unwrap()));
        let webhooks = Call::from(WebhookCall::ListTaskPushNotificationConfigs(decode(named.clone()).unwrap()));
        let delete = Call::from(WebhookCall::DeleteTaskPushNotificationConfig(decode(named).unwrap()));
        let list = Call::List(decode(json!({})).unwrap());
        for (dialect, binding) in FORMS {
            let read = |call: &Call, outcome: &Outcome| {
                let told = reply(dialect, binding).outcome(outcome).expect("an answer");
                wire(dialect, binding, None).answer(call, answer(told.status, &told.body))
            };
            if (dialect, binding) == (Dialect::Legacy, Binding::Rest) {
                let Ok(Answer::Task(read)) = read(&get, &Outcome::Task(shown.clone())) else { panic!("no task") };
                prop_assert_eq!(&read.id, &task.id);
                prop_assert_eq!(&read.context_id, &task.context_id);
                prop_assert_eq!(read.status.timestamp, task.status.timestamp);
                prop_assert!(read.history.len() >= task.history.len(), "{:?}", read);
                prop_assert_eq!(read.status.state.is_terminal(), task.status.state.is_terminal());
                continue;
            }
            let less = |task: Task| match dialect {
                Dialect::V1 => task,
                Dialect::V0_3 => less_0_3::task(binding, task),
                Dialect::Legacy => less_0_1::task(task),
            };
            let plain = |read: Result<Answer, ClientError>| read.map(|read| match read {
                Answer::Task(task) => match without_ids(dialect)(StreamResponse::Task(task)) {
                    StreamResponse::Task(task) => Answer::Task(task),
                    other => panic!("{other:?}"),
                },
                other => other,
            });
            let expected = Ok(Answer::Task(less(task.clone())));
            prop_assert_eq!(&plain(read(&get, &Outcome::Task(shown.clone()))), &expected);
            prop_assert_eq!(&plain(read(&send, &Outcome::SentTask(shown.clone()))), &expected);

            let said = read(&send, &Outcome::SentMessage(Box::new(message.clone())));
            match (dialect, said) {
                (Dialect::Legacy, Ok(Answer::Task(task))) => {
                    let said = task.status.message.map(without_id);
                    prop_assert_eq!(said, Some(less_0_1::message(message.clone())));
                }
                (_, said) => {
                    let mut expected = message.clone();
                    if dialect == Dialect::V0_3 {
                        less_0_3::message(binding, &mut expected);
                    }
                    prop_assert_eq!(said, Ok(Answer::Message(expected)));
                }
            }
            let of_dialect = match dialect {
                Dialect::Legacy => TaskPushNotificationConfig { id: String::new(), ..stored.clone() },
                _ => stored.clone(),
            };
            let shown = Outcome::PushConfig(Box::new(shown_webhook.clone()));
            prop_assert_eq!(read(&get_webhook, &shown), Ok(Answer::Webhook(Box::new(of_dialect))));
            prop_assert_eq!(read(&delete, &Outcome::Deleted), Ok(Answer::Done));
            if dialect == Dialect::Legacy {
                continue;
            }
            let shown = Outcome::PushConfigs(vec![shown_webhook.clone()]);
            prop_assert_eq!(read(&webhooks, &shown), Ok(Answer::Webhooks(vec![stored.clone()])));
            let Ok(Answer::Tasks(found)) = read(&list, &Outcome::Tasks(page.clone())) else { panic!("no page") };
            prop_assert_eq!(found.tasks, vec![less(task.clone())]);
            prop_assert_eq!(found.next_page_token, "next");
            prop_assert_eq!(found.total_size, (dialect == Dialect::V1).then_some(7));
        }
    }

    #[test]
    fn whatever_a_server_answers_is_an_answer_or_an_error(
        call in arbitrary::call::call(), json in arbitrary::value(), status in 100..600_u16, text in "\\PC{0,20}",
    ) {
        for (dialect, binding) in FORMS {
            let wire = wire(dialect, binding, None);
            for body in [json.to_string(), json!({"jsonrpc": "2.0", "result": json}).to_string(), text.clone()] {
                let _ = wire.answer(&call, answer(status, &body));
                let _ = wire.event(None, &body);
            }
        }
    }
}

fn reply(dialect: Dialect, binding: Binding) -> Reply {
    match binding {
        Binding::JsonRpc => Reply::json_rpc(RequestId::NULL).in_dialect(dialect),
        Binding::Rest => Reply::rest(MediaType::Json).in_dialect(dialect),
    }
}

#[test]
fn the_tenant_of_the_interface_goes_along() {
    let call = |tenant: Value| -> Call {
        Call::Task(TaskCall::GetTask(decode(json!({"id": "t", "tenant": tenant})).unwrap()))
    };
    for (dialect, binding) in FORMS {
        for (own, expected) in [(Value::Null, "acme \"x\""), (json!("mine"), "mine")] {
            let wire = wire(dialect, binding, Some("acme \"x\""));
            let request = wire.request(&call(own), &CallOptions::default()).unwrap();
            let read = served(dialect, binding, &request).call;
            // The tenant in the path of an interface overrides all others.
            let expected = if binding == Binding::Rest { "acme \"x\"" } else { expected };
            let expected = (dialect == Dialect::V1).then_some(expected);
            assert_eq!(read.tenant(), expected, "{dialect:?} {binding:?}");
        }
    }
    let wire = wire(Dialect::V1, Binding::JsonRpc, Some("acme"));
    let request = wire.request(&Call::Card, &CallOptions::default()).unwrap();
    let HttpBody::Text(body) = request.body else { panic!("no text") };
    assert!(body.ends_with(r#""params":{"tenant":"acme"}}"#), "{body}");
}
