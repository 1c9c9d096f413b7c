//! The JSON-RPC binding (spec §9).

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, json};

use super::http::HttpResponse;
use super::json;
use crate::error::Error;

/// The id of a JSON-RPC request, which the answer repeats: a string, a number or null.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct RequestId(Id);

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
enum Id {
    Plain(Value),
    /// A number whose digits [`Value`] does not preserve, for example `1e3` or a number beyond 64
    /// bits.
    Digits {
        digits: String,
    },
}

impl RequestId {
    /// The id of an answer to a request whose id is unknown.
    pub const NULL: Self = Self(Id::Plain(Value::Null));

    /// An id that is a string.
    pub(crate) fn of_text(text: &str) -> Self {
        Self(Id::Plain(text.into()))
    }

    /// An id that is a number.
    pub(crate) fn of_number(number: u32) -> Self {
        Self(Id::Plain(number.into()))
    }

    /// Parses the member `id` of a request. `text` returns the member's unparsed text, if it is
    /// found.
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

    /// Parses an id that was serialized by this type.
    pub(crate) fn read(value: Value) -> Option<Self> {
        if let Value::Object(members) = &value {
            let digits = members.get("digits")?.as_str()?.to_owned();
            return Some(Self(Id::Digits { digits }));
        }
        Self::parse(Some(value), || None).ok()
    }

    /// The JSON text of the id.
    fn json(&self) -> String {
        match &self.0 {
            Id::Plain(value) => value.to_string(),
            Id::Digits { digits } => digits.clone(),
        }
    }
}

/// The longest number that an answer repeats with its original digits.
const MAX_ID_DIGITS: usize = 1_000;

/// A JSON-RPC request whose method was not checked yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope {
    /// The id of the request.
    pub id: RequestId,
    /// The method.
    pub method: String,
    /// The parameters; null if there are none.
    pub params: Value,
}

impl Envelope {
    /// Parses a body of at most `max_values` values.
    ///
    /// # Errors
    ///
    /// The error, with the id if it is known.
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

/// The answer with a result that is already JSON text, in pieces.
pub(crate) fn result(id: &RequestId, result: &[Cow<'_, str>]) -> HttpResponse {
    let opening = result_opening(id);
    let length: usize = result.iter().map(|piece| piece.len()).sum();
    let mut body = String::with_capacity(opening.len() + length + RESULT_CLOSING.len());
    body.push_str(&opening);
    result.iter().for_each(|piece| body.push_str(piece));
    body.push_str(RESULT_CLOSING);
    HttpResponse::json(200, body)
}

/// The text before the result in an answer; [`RESULT_CLOSING`] is the text after it.
pub(crate) fn result_opening(id: &RequestId) -> String {
    let id = id.json();
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#)
}

/// The text after the result in an answer.
pub(crate) const RESULT_CLOSING: &str = "}";

/// The answer with an error. The HTTP status is 200, except for a request that HTTP itself refuses.
pub fn error(id: &RequestId, error: &Error) -> HttpResponse {
    failure(id, error, error.wire().code, &error.to_string(), &error.details().into())
}

/// The answer with an error, with the code, message and data of the request's dialect.
pub(crate) fn failure(
    id: &RequestId,
    error: &Error,
    code: i32,
    message: &str,
    data: &Value,
) -> HttpResponse {
    let wire = error.wire();
    let id = id.json();
    let object = json!({"code": code, "message": message, "data": data});
    let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{object}}}"#);
    HttpResponse::json(wire.json_rpc_http, body).with_headers(wire.headers)
}

fn invalid(text: &str) -> Error {
    Error::InvalidRequest(text.to_owned())
}

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
}
