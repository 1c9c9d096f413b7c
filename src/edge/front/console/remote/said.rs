//! What an agent elsewhere says, in the words of A2A 1.0 over JSON-RPC: results, and why there is none.

use serde::Serialize;
use serde_json::{Map, Value, json};

use a2a::binding::Binding;
use a2a::client::{Answer, CardText, ClientError, Connection, RemoteCard};
use a2a::http::HttpError;
use a2a::model::{AgentCapabilities, AgentCard};
use a2a::{Call, TaskCall};

/// The result of a call, as 1.0 has it.
///
/// # Errors
///
/// If a value cannot be written.
pub(super) fn result_of(call: &Call, answer: &Answer) -> serde_json::Result<Value> {
    let is_send = matches!(call, Call::Task(TaskCall::SendMessage(_)));
    Ok(match answer {
        Answer::Task(task) if is_send => json!({"task": to_value(task)?}),
        Answer::Task(task) => to_value(task)?,
        Answer::Message(message) => json!({"message": to_value(message)?}),
        Answer::Tasks(page) => json!({
            "tasks": to_value(&page.tasks)?,
            "nextPageToken": page.next_page_token,
            "pageSize": page.tasks.len(),
            "totalSize": page.total_size.unwrap_or(page.tasks.len() as u64),
        }),
        Answer::Webhook(webhook) => to_value(webhook)?,
        Answer::Webhooks(webhooks) => json!({"configs": to_value(webhooks)?, "nextPageToken": ""}),
        Answer::Card(card) => card_of(card)?,
        Answer::Done => json!({}),
    })
}

/// A card that was found: in the words of 1.0 and as it was served, and the interface that is called, or why none can be.
///
/// # Errors
///
/// If a value cannot be written.
pub(super) fn found(
    text: &CardText,
    card: &RemoteCard,
    is_local: bool,
    connection: &Result<std::rc::Rc<Connection>, ClientError>,
) -> serde_json::Result<Value> {
    let (found_at, _) = text.url.split_once('?').unwrap_or((&text.url, ""));
    let mut found = json!({
        "card": card_of(card)?,
        "text": text.text,
        "foundAt": found_at,
        "isLocal": is_local,
        "interface": null,
        "dialect": null,
    });
    let members = match connection {
        Ok(connection) => {
            json!({"interface": interface_of(connection), "dialect": connection.dialect.version()})
        }
        Err(error) => json!({"problem": error.to_string()}),
    };
    if let (Value::Object(found), Value::Object(members)) = (&mut found, members) {
        found.extend(members);
    }
    Ok(found)
}

fn interface_of(connection: &Connection) -> Value {
    let binding = match connection.binding {
        Binding::JsonRpc => "JSONRPC",
        Binding::Rest => "HTTP+JSON",
    };
    json!({
        "url": connection.url,
        "protocolBinding": binding,
        "protocolVersion": connection.dialect.version(),
        "tenant": connection.tenant,
        "streams": connection.streams,
    })
}

/// A card of any version as 1.0 has it, with the members of ours that clients do not need.
fn card_of(card: &RemoteCard) -> serde_json::Result<Value> {
    let text = |name: &str| card.json.get(name).and_then(Value::as_str).map(str::to_owned);
    let RemoteCard { name, description, version, .. } = card.clone();
    let shown = AgentCard {
        name,
        description,
        version,
        supported_interfaces: card.interfaces.clone(),
        provider: card.provider.clone(),
        documentation_url: text("documentationUrl"),
        capabilities: AgentCapabilities {
            streaming: card.streams,
            push_notifications: card.sends_webhooks,
            extended_agent_card: card.has_extended_card,
            extensions: card.extensions.clone(),
        },
        security_schemes: card.security_schemes.clone(),
        security_requirements: card.security_requirements.clone(),
        default_input_modes: card.input_modes.clone(),
        default_output_modes: card.output_modes.clone(),
        skills: card.skills.clone(),
        icon_url: text("iconUrl"),
    };
    let mut shown = to_value(&shown)?;
    let signatures = card.json.get("signatures").filter(|signatures| signatures.is_array());
    if let (Value::Object(shown), Some(signatures)) = (&mut shown, signatures) {
        shown.insert("signatures".to_owned(), signatures.clone());
    }
    Ok(shown)
}

/// An answer of JSON-RPC with a result.
pub(super) fn answered(id: &Value, result: &Value) -> Map<String, Value> {
    Map::from_iter([
        ("jsonrpc".to_owned(), json!("2.0")),
        ("id".to_owned(), id.clone()),
        ("result".to_owned(), result.clone()),
    ])
}

/// An answer of JSON-RPC with an error: what the agent said, or why there is no answer of its.
pub(super) fn failed(id: &Value, error: &ClientError) -> Map<String, Value> {
    let error = match error {
        ClientError::Remote(remote) => json!({
            "code": remote.code,
            "message": remote.message,
            "data": remote.data,
            "httpStatus": remote.status,
        }),
        error => {
            let (reason, status) = reason_of(error);
            let mut info = Map::from_iter([
                ("@type".to_owned(), "type.googleapis.com/google.rpc.ErrorInfo".into()),
                ("reason".to_owned(), reason.into()),
                ("domain".to_owned(), "a2a-edge".into()),
            ]);
            if let Some(status) = status {
                let metadata = json!({"httpStatus": status.to_string()});
                info.insert("metadata".to_owned(), metadata);
            }
            let mut data = vec![Value::Object(info)];
            if let ClientError::UnfitCard(fields) = error {
                let fields = fields
                    .iter()
                    .map(|one| json!({"field": one.field, "description": one.description}));
                data.push(json!({
                    "@type": "type.googleapis.com/google.rpc.BadRequest",
                    "fieldViolations": fields.collect::<Vec<Value>>(),
                }));
            }
            json!({"code": INTERNAL, "message": error.to_string(), "data": data, "httpStatus": status})
        }
    };
    Map::from_iter([
        ("jsonrpc".to_owned(), json!("2.0")),
        ("id".to_owned(), id.clone()),
        ("error".to_owned(), error),
    ])
}

/// Why there is no answer, and the status of HTTP that came instead of one.
fn reason_of(error: &ClientError) -> (&'static str, Option<u16>) {
    match error {
        ClientError::Http(error) => http_reason(error),
        ClientError::Busy { error, .. } => ("REMOTE_BUSY", http_reason(error).1),
        ClientError::Card(_) | ClientError::UnfitCard(_) => ("REMOTE_CARD_UNUSABLE", None),
        ClientError::NoInterface(_) => ("REMOTE_NO_INTERFACE", None),
        ClientError::NotInVersion(_) => ("REMOTE_NOT_IN_VERSION", None),
        ClientError::Remote(_) | ClientError::Unexpected(_) => ("REMOTE_UNEXPECTED", None),
        ClientError::Ended => ("REMOTE_STREAM_ENDED", None),
        ClientError::Credentials(_) | ClientError::Settings(_) => ("REMOTE_NOT_CALLED", None),
        ClientError::Timeout => ("REMOTE_TIMEOUT", None),
        ClientError::TooDeep { .. } => ("REMOTE_TOO_DEEP", None),
    }
}

fn http_reason(error: &HttpError) -> (&'static str, Option<u16>) {
    match error {
        HttpError::Failed { .. } => ("REMOTE_UNREACHABLE", None),
        HttpError::Silent { .. } => ("REMOTE_TIMEOUT", None),
        HttpError::TooLarge { .. } => ("REMOTE_TOO_LARGE", None),
        HttpError::Status { status, .. } => ("REMOTE_STATUS", Some(*status)),
        HttpError::Misfit { .. } => ("REMOTE_MISFIT", None),
        HttpError::Refused { .. } | HttpError::Unbound { .. } => ("REMOTE_NOT_ALLOWED", None),
    }
}

fn to_value<T: Serialize>(value: &T) -> serde_json::Result<Value> {
    serde_json::to_value(value)
}

/// The code of JSON-RPC for whatever has none of A2A.
const INTERNAL: i32 = -32603;

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use a2a::client::RemoteError;
    use a2a::dialect::Dialect;

    #[test]
    fn a_card_of_an_older_version_is_told_in_the_words_of_1_0() {
        let text = r#"{"protocolVersion": "0.3.0", "name": "Old", "description": "d", "version": "1", "url": "https://old.example/a2a",
            "capabilities": {"streaming": true}, "skills": [{"id": "s", "name": "S", "description": "d", "tags": [], "evil": 1}],
            "defaultInputModes": ["text"], "defaultOutputModes": ["text/plain"], "iconUrl": "https://old.example/i.png", "signatures": [{"protected": "p", "signature": "s"}]}"#;
        let card = RemoteCard::parse(text).unwrap();
        let text = CardText {
            url: "https://old.example/.well-known/agent.json?key=k".to_owned(),
            text: text.to_owned(),
            fresh_ms: 0,
            etag: None,
            last_modified: None,
        };
        let connection = Connection {
            url: "https://old.example/a2a".to_owned(),
            binding: Binding::JsonRpc,
            dialect: Dialect::V0_3,
            tenant: None,
            is_trusted: true,
            streams: true,
        };
        let told = found(&text, &card, false, &Ok(Rc::new(connection))).unwrap();
        assert_eq!(told["foundAt"], "https://old.example/.well-known/agent.json");
        assert_eq!(told["dialect"], "0.3");
        assert_eq!(
            told["interface"],
            json!({"url": "https://old.example/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "0.3", "tenant": null, "streams": true})
        );
        let card = &told["card"];
        assert_eq!(card["supportedInterfaces"][0]["protocolBinding"], "JSONRPC");
        assert_eq!(
            (&card["iconUrl"], &card["signatures"][0]["signature"]),
            (&json!("https://old.example/i.png"), &json!("s"))
        );
        assert_eq!(card["capabilities"]["streaming"], true);
        assert!(card["skills"][0].get("evil").is_none());
        assert!(told["text"].as_str().unwrap().contains("evil"));
        let none = found(
            &text,
            &RemoteCard::parse(&text.text).unwrap(),
            true,
            &Err(ClientError::NoInterface("grpc alone".to_owned())),
        )
        .unwrap();
        assert_eq!((&none["problem"], &none["interface"]), (&json!("grpc alone"), &Value::Null));
    }

    #[test]
    fn of_a_card_that_cannot_be_used_every_wrong_field_is_told() {
        let error = RemoteCard::parse(
            r#"{"name": "N", "description": 5, "supportedInterfaces": [], "skills": [{"id": "s"}]}"#,
        )
        .unwrap_err();
        let answer = Value::Object(failed(&json!(1), &error));
        let data = &answer["error"]["data"];
        assert_eq!(data[0]["reason"], "REMOTE_CARD_UNUSABLE");
        let fields = data[1]["fieldViolations"].as_array().unwrap().iter();
        let fields: Vec<&str> = fields.map(|one| one["field"].as_str().unwrap()).collect();
        for field in ["version", "capabilities", "defaultOutputModes", "skills[0].name"] {
            assert!(fields.contains(&field), "{fields:?}");
        }
    }

    #[test]
    fn failures_are_errors_of_json_rpc_with_a_reason() {
        let url = || "https://a.example/x?key=s3cret".to_owned();
        let remote =
            RemoteError { code: -32001, message: "no task".to_owned(), data: None, status: 404 };
        for (error, code, reason, status) in [
            (ClientError::Remote(Box::new(remote)), -32001, None, json!(404)),
            (
                HttpError::Refused { url: url(), reason: "must be public".to_owned() }.into(),
                INTERNAL,
                Some("REMOTE_NOT_ALLOWED"),
                Value::Null,
            ),
            (
                HttpError::Status { url: url(), status: 401, begins: String::new() }.into(),
                INTERNAL,
                Some("REMOTE_STATUS"),
                json!(401),
            ),
            (
                HttpError::TooLarge { url: url(), max_bytes: 1 }.into(),
                INTERNAL,
                Some("REMOTE_TOO_LARGE"),
                Value::Null,
            ),
            (ClientError::Timeout, INTERNAL, Some("REMOTE_TIMEOUT"), Value::Null),
        ] {
            let answer = Value::Object(failed(&json!(7), &error));
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(code)));
            assert_eq!(answer["error"]["httpStatus"], status, "{answer}");
            let found = answer["error"]["data"].get(0).and_then(|info| info["reason"].as_str());
            assert_eq!(found, reason);
            assert!(!answer.to_string().contains("s3cret"), "{answer}");
        }
    }
}
