//! The JSON-RPC binding (spec §9).

use serde::Serialize;
use serde_json::{Value, json};

use super::http::HttpResponse;
use super::json;
use super::version::{check_version, not_served};
use crate::error::Error;
use crate::operation::Operation;

/// The id of a JSON-RPC request, given back with its answer: a string, a number or null.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct RequestId(Value);

impl RequestId {
    /// The id of an answer to a request whose id cannot be known.
    pub const NULL: Self = Self(Value::Null);

    pub(super) fn parse(value: Option<Value>) -> Result<Self, Error> {
        match value.unwrap_or_default() {
            value @ (Value::Null | Value::Number(_) | Value::String(_)) => Ok(Self(value)),
            Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
                Err(Error::InvalidRequest("`id` must be a string, a number or null".to_owned()))
            }
        }
    }
}

/// A JSON-RPC request, before its method is looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope {
    /// Its id.
    pub id: RequestId,
    /// The method.
    pub method: String,
    /// The parameters; null if there are none.
    pub params: Value,
}

impl Envelope {
    /// Reads a body of at most `max_values` values.
    ///
    /// # Errors
    ///
    /// What is wrong, with the id as far as it is known.
    pub fn parse(body: &[u8], max_values: usize) -> Result<Self, (RequestId, Error)> {
        let unknown = |error| (RequestId::NULL, error);
        let mut members = match json::parse(body, max_values).map_err(unknown)? {
            Value::Object(members) => members,
            Value::Array(_) => {
                return Err(unknown(invalid(
                    "batches are not supported; send one request at a time",
                )));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                return Err(unknown(invalid("the body must be a JSON object")));
            }
        };
        let id = RequestId::parse(members.remove("id")).map_err(unknown)?;
        if members.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err((id, invalid("`jsonrpc` must be \"2.0\"")));
        }
        let Some(Value::String(method)) = members.remove("method") else {
            return Err((id, invalid("`method` must be a string")));
        };
        let params = members.remove("params").unwrap_or_default();
        Ok(Self { id, method, params })
    }
}

/// Reads a method name, for a request that asks for `version`.
///
/// # Errors
///
/// [`Error::VersionNotSupported`] or [`Error::MethodNotFound`].
pub fn parse_method(
    name: &str,
    version: Option<&str>,
    is_strict: bool,
) -> Result<Operation, Error> {
    let operation = Operation::named(name);
    // A method of an older version, in a request that does not say 1.x: that version is meant.
    let is_older = OLDER_METHODS.contains(&name);
    if operation.is_none() && is_older && check_version(version, true).is_err() {
        return Err(not_served(version.unwrap_or("0.3")));
    }
    check_version(version, is_strict && operation.is_some())?;
    let shown: String = name.chars().take(60).collect();
    operation.ok_or(Error::MethodNotFound(shown))
}

/// The answer with a result that is JSON text already.
pub fn result(id: &RequestId, result: &str) -> HttpResponse {
    let opening = result_opening(id);
    HttpResponse::json(200, [&opening, result, RESULT_CLOSING].concat())
}

/// What stands before the result in an answer; [`RESULT_CLOSING`] stands behind it.
pub(super) fn result_opening(id: &RequestId) -> String {
    let id = serde_json::to_string(id).unwrap_or_else(|_| "null".to_owned());
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#)
}

/// What stands behind the result in an answer.
pub(super) const RESULT_CLOSING: &str = "}";

/// The answer with an error. The HTTP status is 200, except for a body that did not arrive whole.
pub fn error(id: &RequestId, error: &Error) -> HttpResponse {
    let status = if error.is_of_transfer() { error.wire().http } else { 200 };
    let body = json!({
        "jsonrpc": "2.0",
        "id": id,
        "error": {
            "code": error.wire().code,
            "message": error.to_string(),
            "data": error.details(),
        },
    });
    HttpResponse::json(status, body.to_string()).with_retry_after(error)
}

fn invalid(text: &str) -> Error {
    Error::InvalidRequest(text.to_owned())
}

/// The methods of A2A 0.3 and before.
const OLDER_METHODS: [&str; 15] = [
    "message/send",
    "message/stream",
    "tasks/get",
    "tasks/list",
    "tasks/cancel",
    "tasks/resubscribe",
    "tasks/pushNotificationConfig/set",
    "tasks/pushNotificationConfig/get",
    "tasks/pushNotificationConfig/list",
    "tasks/pushNotificationConfig/delete",
    "agent/getAuthenticatedExtendedCard",
    "tasks/send",
    "tasks/sendSubscribe",
    "tasks/pushNotification/set",
    "tasks/pushNotification/get",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(body: &str) -> (Value, i32) {
        let (id, error) = Envelope::parse(body.as_bytes(), 100).expect_err(body);
        (id.0, error.wire().code)
    }

    #[test]
    fn malformed_requests_get_the_code_of_json_rpc() {
        for (body, id, code) in [
            ("", json!(null), -32700),
            ("{", json!(null), -32700),
            ("1", json!(null), -32600),
            ("[]", json!(null), -32600),
            (r#"[{"jsonrpc":"2.0"}]"#, json!(null), -32600),
            (r#"{"id":1}"#, json!(1), -32600),
            (r#"{"jsonrpc":"1.0","id":"a","method":"GetTask"}"#, json!("a"), -32600),
            (r#"{"jsonrpc":2.0,"id":"a","method":"GetTask"}"#, json!("a"), -32600),
            (r#"{"jsonrpc":"2.0","id":7}"#, json!(7), -32600),
            (r#"{"jsonrpc":"2.0","id":7,"method":5}"#, json!(7), -32600),
            (r#"{"jsonrpc":"2.0","id":{},"method":"GetTask"}"#, json!(null), -32600),
            (r#"{"jsonrpc":"2.0","id":[1],"method":"GetTask"}"#, json!(null), -32600),
            (r#"{"jsonrpc":"2.0","id":true,"method":"GetTask"}"#, json!(null), -32600),
        ] {
            assert_eq!(refused(body), (id, code), "{body}");
        }
    }

    #[test]
    fn a_request_without_id_or_params_is_read() {
        let envelope = Envelope::parse(br#"{"jsonrpc":"2.0","method":"GetTask"}"#, 100).unwrap();
        assert_eq!(envelope.id, RequestId::NULL);
        assert_eq!(envelope.params, Value::Null);
    }

    #[test]
    fn methods_and_versions_are_told_apart() {
        for (name, version, code) in [
            ("SendMessage", Some("1.0"), 0),
            ("SendMessage", None, 0),
            ("SendMessage", Some("99.0"), -32009),
            ("message/send", None, -32009),
            ("message/send", Some("0.3"), -32009),
            ("message/send", Some("1.0"), -32601),
            ("tasks/send", None, -32009),
            ("Nonsense", None, -32601),
            ("Nonsense", Some("1.0"), -32601),
            ("Nonsense", Some("99.0"), -32009),
            ("sendmessage", Some("1.0"), -32601),
        ] {
            let outcome = parse_method(name, version, false);
            assert_eq!(
                outcome.err().map_or(0, |error| error.wire().code),
                code,
                "{name} {version:?}"
            );
        }
    }
}
