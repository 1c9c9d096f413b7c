//! The JSON-RPC messages of servers.

use serde_json::{Value, json};

use super::McpError;
use super::error::excerpt;
use crate::model::RpcError;

/// A message of a server, in its relation to one request.
#[derive(Debug, PartialEq)]
pub(super) enum Message {
    /// The result of the request.
    Result(Value),
    /// The error that ends the request.
    Error(RpcError),
    /// A notification.
    Notification {
        /// The method of the notification.
        method: String,
        /// The params of the notification.
        params: Value,
    },
    /// A request of the server (legacy).
    Request {
        /// The id, as the server has written it.
        id: Value,
        /// The method of the request.
        method: String,
        /// The params of the request.
        params: Value,
    },
    /// Anything else: the answer to another request, or an invalid message.
    Other,
}

impl Message {
    /// Parses a message during the request with this id. `is_sole`: the message is the whole answer to the request, so an
    /// error without an id belongs to the request.
    pub(super) fn read(mut message: Value, id: u64, is_sole: bool) -> Self {
        let mut take =
            |name: &str| message.get_mut(name).map(Value::take).filter(|value| !value.is_null());
        let (own, method, params) = (take("id"), take("method"), take("params"));
        if let Some(Value::String(method)) = method {
            let params = params.unwrap_or_else(|| json!({}));
            return match own {
                Some(id) => Self::Request { id, method, params },
                None => Self::Notification { method, params },
            };
        }
        let error = take("error").and_then(|error| RpcError::read(&error));
        let is_own = own.as_ref() == Some(&json!(id));
        match (error, take("result")) {
            (Some(error), _) if is_own || (is_sole && own.is_none()) => Self::Error(error),
            (None, Some(result)) if is_own => Self::Result(result),
            _ => Self::Other,
        }
    }
}

/// The kind of a result of a server of 2026-07-28. Older servers send only `complete` results, without a `resultType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResultType {
    /// The request is complete.
    Complete,
    /// The server requires answers first.
    InputRequired,
    /// A task continues the call.
    Task,
}

impl ResultType {
    /// # Errors
    ///
    /// If the kind is unknown, or was not offered by the client.
    pub(super) fn of(result: &Value) -> Result<Self, McpError> {
        match result.get("resultType") {
            None | Some(Value::Null) => Ok(Self::Complete),
            Some(Value::String(kind)) => match kind.as_str() {
                "complete" => Ok(Self::Complete),
                "input_required" => Ok(Self::InputRequired),
                "task" => Ok(Self::Task),
                other => Err(unknown(other)),
            },
            Some(other) => Err(unknown(&other.to_string())),
        }
    }
}

fn unknown(kind: &str) -> McpError {
    McpError::Unexpected(format!(
        "the result is of the type \"{}\", which is not known here",
        excerpt(kind)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_answers_to_the_request_count() {
        let result = |id: Value| json!({"jsonrpc": "2.0", "id": id, "result": {"a": 1}});
        let error =
            |id: Value| json!({"jsonrpc": "2.0", "id": id, "error": {"code": -1, "message": "m"}});
        let refused = || Message::Error(RpcError::new(-1, "m"));
        for (message, is_sole, expected) in [
            (result(json!(7)), true, Message::Result(json!({"a": 1}))),
            (
                json!({"result": {"a": 1}, "error": null, "id": 7}),
                false,
                Message::Result(json!({"a": 1})),
            ),
            (result(json!("7")), true, Message::Other),
            (result(json!(8)), true, Message::Other),
            (result(json!(null)), true, Message::Other),
            (error(json!(7)), false, refused()),
            (error(json!(8)), true, Message::Other),
            (error(json!(null)), true, refused()),
            (error(json!(null)), false, Message::Other),
            (json!({"id": 7}), true, Message::Other),
            (json!({"id": 7, "error": "no"}), true, Message::Other),
            (json!([]), true, Message::Other),
            (json!(null), true, Message::Other),
        ] {
            assert_eq!(Message::read(message.clone(), 7, is_sole), expected, "{message}");
        }
    }

    #[test]
    fn what_has_a_method_is_a_request_or_a_notification() {
        let (method, params) = ("ping".to_owned(), json!({}));
        let request = json!({"id": "7", "method": "ping"});
        let id = json!("7");
        assert_eq!(
            Message::read(request, 7, true),
            Message::Request { id, method: method.clone(), params: params.clone() }
        );
        let notification = json!({"method": "ping", "id": null, "params": null});
        assert_eq!(Message::read(notification, 7, true), Message::Notification { method, params });
    }

    #[test]
    fn a_result_of_a_kind_that_is_not_known_is_none() {
        for (kind, expected) in [
            (json!(null), Ok(ResultType::Complete)),
            (json!("complete"), Ok(ResultType::Complete)),
            (json!("input_required"), Ok(ResultType::InputRequired)),
            (json!("task"), Ok(ResultType::Task)),
            (json!("partial"), Err(())),
            (json!(7), Err(())),
        ] {
            let read = ResultType::of(&json!({"resultType": kind}));
            assert_eq!(read.map_err(|_| ()), expected, "{kind}");
        }
        assert_eq!(ResultType::of(&json!({})), Ok(ResultType::Complete));
    }
}
