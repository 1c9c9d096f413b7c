//! Calls as requests, and answers read: the version and the binding of one interface.

use serde_json::{Map, Value, json};

use super::{Answer, CallOptions, ClientError, Connection, RemoteError};
use crate::call::{Call, FollowCall, TaskCall};
use crate::dialect::Dialect;
use crate::http::{HttpAnswer, HttpRequest};
use crate::model::StreamResponse;
use crate::model::decode::decode;

/// How one interface is spoken to.
#[derive(Clone, Debug)]
pub(super) struct Wire {
    url: String,
    dialect: Dialect,
}

impl Wire {
    pub(super) fn new(connection: &Connection) -> Self {
        Self { url: connection.url.clone(), dialect: connection.dialect }
    }

    /// The request of a call.
    pub(super) fn request(
        &self,
        call: &Call,
        options: &CallOptions,
    ) -> Result<HttpRequest, ClientError> {
        let params = match call {
            Call::Task(TaskCall::SendMessage(request))
            | Call::Follow(FollowCall::SendStreamingMessage(request)) => {
                serde_json::to_value(request)
            }
            Call::Task(TaskCall::GetTask(request)) => serde_json::to_value(request),
            Call::Task(TaskCall::CancelTask(request)) => serde_json::to_value(request),
            Call::Task(TaskCall::Webhook(call)) => serde_json::to_value(call),
            Call::Follow(FollowCall::SubscribeToTask(request)) => serde_json::to_value(request),
            Call::List(request) => serde_json::to_value(request),
            Call::Card => Ok(Value::Object(Map::new())),
        };
        let params = params.map_err(|error| ClientError::Unexpected(error.to_string()))?;
        let body = json!({"jsonrpc": "2.0", "id": "1", "method": call.operation().name(), "params": params});
        let mut request = HttpRequest::post(&self.url)
            .with_header("A2A-Version", self.dialect.version())
            .with_json(&body);
        if let Some(key) = &options.idempotency_key {
            request = request.with_header("Idempotency-Key", key);
        }
        if let Some(id) = &options.last_event_id {
            request = request.with_header("Last-Event-ID", id);
        }
        Ok(request)
    }

    /// Reads the whole answer of a call.
    pub(super) fn answer(
        &self,
        call: &Call,
        answer: HttpAnswer<String>,
    ) -> Result<Answer, ClientError> {
        let status = answer.status;
        let result = envelope(answer.json()?, status)?;
        if matches!(call, Call::Task(TaskCall::SendMessage(_))) {
            return match decode(result).map_err(misfit)? {
                StreamResponse::Task(task) => Ok(Answer::Task(task)),
                StreamResponse::Message(message) => Ok(Answer::Message(message)),
                _ => Err(ClientError::unexpected(call.operation().name())),
            };
        }
        decode(result).map(Answer::Task).map_err(misfit)
    }

    /// Reads the data of one event of a stream.
    pub(super) fn event(&self, data: &str) -> Result<StreamResponse, ClientError> {
        let json = serde_json::from_str(data)
            .map_err(|error| ClientError::Unexpected(error.to_string()))?;
        decode(envelope(json, 200)?).map_err(misfit)
    }
}

/// The result of an envelope of JSON-RPC.
fn envelope(mut json: Value, status: u16) -> Result<Value, ClientError> {
    if let Some(error) = json.get("error").and_then(Value::as_object) {
        let message = error.get("message").and_then(Value::as_str).unwrap_or_default().to_owned();
        let code = error.get("code").and_then(Value::as_i64);
        let code = code.and_then(|code| i32::try_from(code).ok()).unwrap_or_default();
        let data = error.get("data").cloned();
        return Err(ClientError::Remote(Box::new(RemoteError { code, message, data, status })));
    }
    let none =
        || ClientError::Unexpected("the answer has neither a result nor an error".to_owned());
    json.get_mut("result").map(Value::take).ok_or_else(none)
}

fn misfit(found: Vec<crate::model::FieldViolation>) -> ClientError {
    ClientError::Unexpected(crate::error::Error::from(found).to_string())
}
