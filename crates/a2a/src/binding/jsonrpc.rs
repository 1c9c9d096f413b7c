//! The JSON-RPC binding (spec §9).

use serde::Serialize;
use serde_json::{Value, json};

use super::http::HttpResponse;
use super::json;
use super::media_type::accepts_event_stream;
use super::reply::Reply;
use super::sse::single_event;
use super::version::{check_version, not_served};
use crate::Operation;
use crate::error::Error;

/// The id of a JSON-RPC request, given back with its answer: a string, a number or null.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct RequestId(Id);

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
enum Id {
    Plain(Value),
    /// A number that [`Value`] does not keep as it was written, as `1e3` or one beyond 64 bits.
    Digits {
        digits: String,
    },
}

impl RequestId {
    /// The id of an answer to a request whose id cannot be known.
    pub const NULL: Self = Self(Id::Plain(Value::Null));

    /// Reads the member `id` of a request. `text` gives it as it was written, if it is found.
    fn parse<'a>(
        value: Option<Value>,
        text: impl FnOnce() -> Option<&'a str>,
    ) -> Result<Self, Error> {
        let value = value.unwrap_or_default();
        match &value {
            Value::Null | Value::String(_) => Ok(Self(Id::Plain(value))),
            Value::Number(number) => {
                let digits = if number.is_f64() { text() } else { None };
                let digits = digits.filter(|digits| digits.len() <= MAX_ID_DIGITS);
                Ok(Self(
                    digits.map_or(Id::Plain(value), |digits| Id::Digits {
                        digits: digits.to_owned(),
                    }),
                ))
            }
            Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
                Err(Error::InvalidRequest("`id` must be a string, a number or null".to_owned()))
            }
        }
    }

    /// Reads it back as it was serialized.
    pub(super) fn read(value: Value) -> Option<Self> {
        if let Value::Object(members) = &value {
            let digits = members.get("digits")?.as_str()?.to_owned();
            return Some(Self(Id::Digits { digits }));
        }
        Self::parse(Some(value), || None).ok()
    }

    /// The JSON of it.
    fn json(&self) -> String {
        match &self.0 {
            Id::Plain(value) => value.to_string(),
            Id::Digits { digits } => digits.clone(),
        }
    }
}

/// The longest number that is given back as it was written.
const MAX_ID_DIGITS: usize = 1_000;

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
        let text = || json::member(std::str::from_utf8(body).ok()?, "id");
        let id = RequestId::parse(members.remove("id"), text).map_err(unknown)?;
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

/// The answer with a result that is JSON text already, in pieces.
pub fn result(id: &RequestId, result: &[&str]) -> HttpResponse {
    let opening = result_opening(id);
    let pieces = [&[opening.as_str()], result, &[RESULT_CLOSING]].concat();
    HttpResponse::json(200, pieces.concat())
}

/// What stands before the result in an answer; [`RESULT_CLOSING`] stands behind it.
pub(super) fn result_opening(id: &RequestId) -> String {
    let id = id.json();
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#)
}

/// What stands behind the result in an answer.
pub(super) const RESULT_CLOSING: &str = "}";

/// The answer with an error. The HTTP status is 200, except for a body that did not arrive whole.
pub fn error(id: &RequestId, error: &Error) -> HttpResponse {
    let status = if error.is_of_transfer() { error.wire().http } else { 200 };
    let id = id.json();
    let object = json!({
        "code": error.wire().code,
        "message": error.to_string(),
        "data": error.details(),
    });
    let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{object}}}"#);
    HttpResponse::json(status, body).with_retry_after(error)
}

/// The answer to a request whose method was refused. The clients of older versions take nothing but an
/// event stream as the answer to a streaming method, and show their users no reason otherwise. Those of
/// 1.0 read both, and get JSON as for any refusal before the first event.
pub fn refused_method(
    method: &str,
    accept: Option<&str>,
    reply: &Reply,
    error: &Error,
) -> HttpResponse {
    let answer = reply.error(error);
    match OLDER_STREAMS.contains(&method) && accepts_event_stream(accept) {
        true => single_event(&answer.body),
        false => answer,
    }
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

/// Those of them that are answered by a stream.
const OLDER_STREAMS: [&str; 3] = ["message/stream", "tasks/resubscribe", "tasks/sendSubscribe"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::decode::{Decode, Fields, read_json};

    struct Kept(RequestId);

    impl Decode for Kept {
        fn decode(fields: &mut Fields) -> Option<Self> {
            fields.nullable("id").and_then(RequestId::read).map(Self)
        }
    }

    #[test]
    fn ids_come_back_as_they_were_written() {
        for id in [
            "null",
            "1",
            "-5",
            "\"a\\n\"",
            "18446744073709551615",
            "18446744073709551616",
            "-9223372036854775809",
            "123456789012345678901234567890123456789012345678901234567890",
            "1e3",
            "1.0",
            "-0",
            "1.50",
            "2E+5",
        ] {
            for body in [
                format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"GetTask","params":{{"id":7}}}}"#),
                format!(
                    r#"{{ "params":[{{"id":"\"id\":3"}}], "method":"x", "jsonrpc":"2.0" , "id" : {id} }}"#
                ),
                format!(r#"{{"id":1.5,"jsonrpc":"2.0","method":"x","id":{id}}}"#),
            ] {
                let envelope = Envelope::parse(body.as_bytes(), 100).expect(&body);
                let answer = error(&envelope.id, &Error::BodyTimeout);
                assert!(answer.body.contains(&format!(r#""id":{id},"#)), "{body}: {}", answer.body);
                let kept = format!(r#"{{"id":{}}}"#, serde_json::to_string(&envelope.id).unwrap());
                assert_eq!(read_json::<Kept>(&kept).unwrap().0, envelope.id, "{kept}");
            }
        }
    }

    #[test]
    fn older_streams_are_refused_by_a_stream() {
        let reply = Reply::json_rpc(RequestId::NULL);
        let both = Some("application/json, text/event-stream");
        for (method, accept, is_stream) in [
            ("message/stream", Some("text/event-stream"), true),
            ("tasks/resubscribe", both, true),
            ("tasks/sendSubscribe", both, true),
            ("message/stream", Some("application/json"), false),
            ("message/stream", None, false),
            ("message/send", both, false),
            ("SendStreamingMessage", both, false),
        ] {
            let answer = refused_method(method, accept, &reply, &Error::BodyTimeout);
            let is_event = answer.body.starts_with("data: {") && answer.body.ends_with("}\n\n");
            assert_eq!(is_event, is_stream, "{method} {accept:?}");
            let stream = ("content-type", "text/event-stream".to_owned());
            assert_eq!(answer.headers.contains(&stream), is_stream);
        }
    }

    fn refused(body: &str) -> (Value, i32) {
        let (RequestId(id), error) = Envelope::parse(body.as_bytes(), 100).expect_err(body);
        (serde_json::to_value(id).unwrap(), error.wire().code)
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
