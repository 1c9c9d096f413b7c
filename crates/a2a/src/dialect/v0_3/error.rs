//! Errors of 0.3. Over HTTP+JSON, one body contains the forms of the SDKs in all languages.

use serde_json::Value;

use crate::error::Error;
use crate::wire::http::HttpResponse;

/// The JSON-RPC message of an error. Some clients recognize an unknown task only by the text of the specification.
pub(in crate::dialect) fn error_text(error: &Error) -> String {
    match error {
        Error::TaskNotFound(_) => "Task not found".to_owned(),
        _ => error.to_string(),
    }
}

/// See [`Dialect::rest_error`](crate::dialect::Dialect::rest_error). `code` and `message` are for JavaScript, `type` and
/// `message` for Python, `error` is for Go.
pub(in crate::dialect) fn rest_error(error: &Error) -> HttpResponse {
    let code = error.wire().code;
    HttpResponse::error_with(
        error,
        &[
            ("code", Value::from(code)),
            ("type", Value::from(type_name(code))),
            ("message", Value::from(error.to_string())),
        ],
    )
}

/// The SDKs' name for errors with this code.
fn type_name(code: i32) -> &'static str {
    match code {
        -32700 => "JSONParseError",
        -32600 => "InvalidRequestError",
        -32601 => "MethodNotFoundError",
        -32602 => "InvalidParamsError",
        -32001 => "TaskNotFoundError",
        -32002 => "TaskNotCancelableError",
        -32003 => "PushNotificationNotSupportedError",
        -32004 => "UnsupportedOperationError",
        -32005 => "ContentTypeNotSupportedError",
        -32006 => "InvalidAgentResponseError",
        -32007 => "AuthenticatedExtendedCardNotConfiguredError",
        -32008 => "ExtensionSupportRequiredError",
        -32009 => "VersionNotSupportedError",
        _ => "InternalError",
    }
}
