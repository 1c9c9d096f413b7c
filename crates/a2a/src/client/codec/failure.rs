//! Parses errors of other servers, in every form: JSON-RPC (under any HTTP status), `google.rpc.Status` (1.0 over
//! HTTP+JSON), the members that the SDKs of 0.3 write, `application/problem+json`, and a bare text.

use serde_json::{Map, Value};

use super::super::RemoteError;

/// The error in an answer with this status, if it is an error of the protocol.
pub(super) fn read(json: &Value, status: u16) -> Option<RemoteError> {
    let members = json.as_object()?;
    let inner = match members.get("error") {
        None | Some(Value::Null) => return outer(members, status),
        Some(Value::Object(inner)) => inner,
        Some(Value::String(text)) => {
            let message = text_of(members, &["error_description", "message"]).unwrap_or(text);
            return error(members, message, status);
        }
        Some(_) => return None,
    };
    // In 0.1 the message only repeats the code, and the data contains the description.
    let said =
        inner.get("data").and_then(Value::as_object).and_then(|data| text_of(data, &["text"]));
    let message = said.or_else(|| text_of(inner, &["message", "detail"])).unwrap_or_default();
    // A code outside of the error object is a JSON-RPC code (0.3 over HTTP+JSON).
    let mut codes =
        [inner, members].into_iter().filter_map(|members| members.get("code")?.as_i64());
    let is_code = |code: &i64| is_of_protocol(*code) || members.contains_key("jsonrpc");
    let code = codes.find(is_code);
    match code.and_then(|code| i32::try_from(code).ok()) {
        Some(code) => {
            Some(RemoteError { code, message: message.to_owned(), data: data(inner), status })
        }
        None => error(inner, message, status),
    }
}

/// An error that is not wrapped in a member `error`, if the answer has a failure status.
fn outer(members: &Map<String, Value>, status: u16) -> Option<RemoteError> {
    if (200..300).contains(&status) {
        return None;
    }
    let message = text_of(members, &["message", "detail", "title"])?;
    let code = members.get("code").and_then(Value::as_i64).filter(|code| is_of_protocol(*code));
    match code.and_then(|code| i32::try_from(code).ok()) {
        Some(code) => {
            Some(RemoteError { code, message: message.to_owned(), data: data(members), status })
        }
        None => error(members, message, status),
    }
}

/// An error without a JSON-RPC code: the code is chosen by a name in the error, otherwise by the status.
fn error(members: &Map<String, Value>, message: &str, status: u16) -> Option<RemoteError> {
    let data = data(members);
    let details = data.as_ref().and_then(Value::as_array).into_iter().flatten();
    let reasons = details.filter_map(|detail| detail.get("reason")?.as_str());
    let names = ["type", "reason"].into_iter().filter_map(|name| members.get(name)?.as_str());
    let named = reasons.chain(names).find_map(code_named);
    let code = match (named, status) {
        (Some(code), _) => code,
        // The errors of a gateway, not of the agent.
        (None, 401 | 403 | 408 | 425 | 429 | 502..=504) => return None,
        (None, 400 | 422) => -32602,
        (None, 404 | 501) => code_told(message, status),
        (None, 405) => -32601,
        (None, 409) => -32002,
        (None, 415) => -32005,
        (None, _) => -32603,
    };
    Some(RemoteError { code, message: message.to_owned(), data, status })
}

/// The code of an error that has only a text, as the Python SDK of 0.3 sends it, chosen by words in the text.
fn code_told(message: &str, status: u16) -> i32 {
    let message = message.to_ascii_lowercase();
    match status {
        _ if message.contains("method") => -32601,
        404 if message.contains("task") => -32001,
        404 if message.contains("card") => -32007,
        404 => -32601,
        _ if message.contains("notification") => -32003,
        _ => -32004,
    }
}

/// The additional data of an error.
fn data(members: &Map<String, Value>) -> Option<Value> {
    let found = members.get("data").or_else(|| members.get("details"));
    found.filter(|data| !data.is_null()).cloned()
}

/// The first of these members whose value is a text.
fn text_of<'a>(members: &'a Map<String, Value>, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| members.get(*name)?.as_str())
}

/// True if a number is a code of JSON-RPC or A2A, and not an HTTP status.
fn is_of_protocol(code: i64) -> bool {
    (-32_768..=-32_000).contains(&code)
}

/// The code of an error by its name, for example `TASK_NOT_FOUND`, `TaskNotFoundError` or
/// `https://…/task-not-found`.
fn code_named(name: &str) -> Option<i32> {
    let name = name.rsplit(['/', '.', '#']).next()?;
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    let letters: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
    let name = letters.strip_suffix("error").unwrap_or(&letters);
    CODES.iter().find(|(known, _)| *known == name).map(|(_, code)| *code)
}

/// The names of errors (spec §5.4) in lower case, and their codes.
const CODES: [(&str, i32); 18] = [
    ("tasknotfound", -32001),
    ("tasknotcancelable", -32002),
    ("pushnotificationnotsupported", -32003),
    ("unsupportedoperation", -32004),
    ("contenttypenotsupported", -32005),
    ("invalidagentresponse", -32006),
    ("extendedagentcardnotconfigured", -32007),
    ("authenticatedextendedcardnotconfigured", -32007),
    ("extensionsupportrequired", -32008),
    ("versionnotsupported", -32009),
    ("generationmismatch", -32010),
    ("parse", -32700),
    ("jsonparse", -32700),
    ("invalidrequest", -32600),
    ("methodnotfound", -32601),
    ("invalidparams", -32602),
    ("internal", -32603),
    ("unauthenticated", -32000),
];
