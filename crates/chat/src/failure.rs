//! Answers that report a failure of the request.

use a2a::http::{HttpAnswer, HttpBody, one_line, retry_after_ms, shown_url};
use a2a::model::{MAX_FOREIGN_VALUES, UnixMillis, read_foreign};
use futures_util::future::LocalBoxFuture;
use serde_json::Value;

use crate::{ChatError, ChatErrorKind, Endpoint};

/// The error for an answer with a failure status.
pub(crate) fn refused<'a>(
    answer: HttpAnswer,
    endpoint: &'a Endpoint,
) -> LocalBoxFuture<'a, ChatError> {
    Box::pin(async move {
        let retry_after_ms = retry_after(&answer);
        let HttpAnswer { status, headers, body, .. } = answer;
        if (300..400).contains(&status) {
            let to = headers.iter().find(|(name, _)| name == "location");
            let to = to.map_or_else(
                || "nowhere".to_owned(),
                |(_, url)| excerpt(&endpoint.redacted(&shown_url(url))),
            );
            let text = format!(
                "the model's endpoint answered {status}, a redirect to {to}, which is not followed"
            );
            return ChatError::new(ChatErrorKind::NotFound, text);
        }
        // Secrets are replaced before the text is cut, because a cut could be in the middle of a secret.
        let text = endpoint.redacted(&read_some(body).await);
        let json = read_foreign(text.as_bytes(), MAX_FOREIGN_VALUES)
            .unwrap_or_else(|_| plain(&text).into());
        ChatError { retry_after_ms, ..failed(&json, Some(status), endpoint) }
    })
}

/// The error in an answer or a chunk, with the status of the answer, if the error is the whole answer.
pub(crate) fn failed(json: &Value, status: Option<u16>, endpoint: &Endpoint) -> ChatError {
    let json = json.as_array().and_then(|list| list.first()).unwrap_or(json);
    let error = json.get("error").filter(|error| !error.is_null()).unwrap_or(json);
    let message = message_of(error).or_else(|| message_of(json)).unwrap_or_default();
    let code = word(error, "code").or_else(|| word(json, "code"));
    let class = word(error, "type").or_else(|| word(json, "type"));
    let names: Vec<&str> = [&code, &class].into_iter().flatten().map(String::as_str).collect();
    let told = code.as_ref().and_then(|code| code.parse().ok());
    let shown_status = status.or(told.filter(|code| (400..600).contains(code)));
    let kind = kind_of(shown_status, &names, &message.to_ascii_lowercase());
    let mut text = match shown_status {
        Some(status) => format!("the model's endpoint answered {status}"),
        None => "the model's endpoint reports an error".to_owned(),
    };
    let is_news = |name: &&&str| {
        **name != "error" && shown_status.is_none_or(|status| **name != status.to_string())
    };
    if let Some(name) = names.iter().find(is_news) {
        text.push_str(&format!(" ({})", excerpt(&endpoint.redacted(name))));
    }
    if !message.is_empty() {
        text.push_str(&format!(": {}", excerpt(&endpoint.redacted(&message))));
    }
    ChatError::new(kind, text)
}

/// The kind of an error, by the status, the names in the error (`code`, `type`) and its message in lower case.
fn kind_of(status: Option<u16>, names: &[&str], message: &str) -> ChatErrorKind {
    let is_named = |wanted: &[&str]| names.iter().any(|name| wanted.contains(name));
    let says = |wanted: &[&str]| wanted.iter().any(|words| message.contains(words));
    let is_of_request = matches!(status, None | Some(400 | 413 | 422));
    if is_named(&["insufficient_quota", "billing_hard_limit_reached", "3036"])
        || status == Some(402)
    {
        return ChatErrorKind::QuotaExhausted;
    }
    if is_named(&["context_length_exceeded", "string_above_max_length"])
        || (is_of_request && says(&TOO_LONG))
    {
        return ChatErrorKind::ContextTooLong;
    }
    if is_named(&["content_filter", "content_policy_violation"]) {
        return ChatErrorKind::ContentFilter;
    }
    match status {
        Some(401 | 403) => ChatErrorKind::Unauthorized,
        Some(404) => ChatErrorKind::NotFound,
        Some(413) => ChatErrorKind::ContextTooLong,
        Some(429) => ChatErrorKind::RateLimited,
        Some(503 | 529) => ChatErrorKind::Overloaded,
        Some(408 | 409 | 425 | 500..) => ChatErrorKind::ServerError,
        Some(_) => ChatErrorKind::BadRequest,
        None if is_named(&["rate_limit_exceeded", "rate_limit_error"]) => {
            ChatErrorKind::RateLimited
        }
        None if is_named(&["overloaded_error", "overloaded"]) => ChatErrorKind::Overloaded,
        None if is_named(&["authentication_error", "permission_error", "invalid_api_key"]) => {
            ChatErrorKind::Unauthorized
        }
        None if is_named(&["model_not_found", "not_found_error"]) => ChatErrorKind::NotFound,
        None if is_named(&["invalid_request_error", "BadRequestError"]) => {
            ChatErrorKind::BadRequest
        }
        None => ChatErrorKind::ServerError,
    }
}

/// Words of providers, in lower case, for a conversation that is too long.
const TOO_LONG: [&str; 8] = [
    "context length",
    "context window",
    "maximum context",
    "context size",
    "too many tokens",
    "prompt is too long",
    "input is too long",
    "exceeds the maximum number of tokens",
];

/// The message of an error, in any form that servers use.
fn message_of(json: &Value) -> Option<String> {
    let text =
        |json: &Value| json.as_str().map(str::to_owned).filter(|text| !text.trim().is_empty());
    let detail = &json["detail"];
    let first = |list: &Value, name: &str| text(list.as_array()?.first()?.get(name)?);
    // A router's quote of the provider behind it describes the error better than the router's own message.
    let raw = json.get("metadata").and_then(|metadata| text(&metadata["raw"]));
    match (text(&json["message"]), raw) {
        (Some(message), Some(raw)) => Some(format!("{message}: {raw}")),
        (message, raw) => message.or(raw),
    }
    .or_else(|| text(json))
    .or_else(|| text(detail))
    .or_else(|| first(detail, "msg"))
    .or_else(|| first(&json["errors"], "message"))
}

/// A member whose value is a text or a number.
fn word(json: &Value, name: &str) -> Option<String> {
    match json.get(name)? {
        Value::String(word) if !word.is_empty() => Some(word.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The readable text of a body that is not JSON; for an HTML page, its title.
fn plain(text: &str) -> String {
    if !text.trim_start().starts_with('<') {
        return text.to_owned();
    }
    let title = text.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
    match title {
        Some((title, _)) => format!("a page with the title \"{}\"", excerpt(title)),
        None => "a page".to_owned(),
    }
}

/// The delay that the provider requires, in milliseconds. A date is compared with the date of the answer.
fn retry_after(answer: &HttpAnswer) -> Option<u64> {
    if let Some(thousandths) = answer.header("retry-after-ms").and_then(thousandths) {
        return Some(thousandths / 1_000);
    }
    let text = answer.header("retry-after")?;
    if let Some(millis) = thousandths(text) {
        return Some(millis);
    }
    retry_after_ms(text, answer.header("date").and_then(UnixMillis::parse_http_date)?)
}

/// A decimal number that is not negative, as its thousandths; the rest is dropped. The parser of the standard library for such numbers
/// has tables of 10 KB.
fn thousandths(text: &str) -> Option<u64> {
    let (whole, part) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(part) || whole.len() + part.len() == 0 {
        return None;
    }
    let millis = part.bytes().chain(*b"000").take(3);
    let digits = whole.bytes().chain(millis);
    let digit = |digit: u8| u64::from(digit - b'0');
    Some(digits.fold(0, |number: u64, next| number.saturating_mul(10).saturating_add(digit(next))))
}

/// The beginning of a body.
async fn read_some(mut body: HttpBody) -> String {
    let mut bytes = Vec::new();
    while bytes.len() < MAX_ERROR_BYTES {
        match body.next().await {
            Some(Ok(piece)) => bytes.extend_from_slice(&piece),
            Some(Err(_)) | None => break,
        }
    }
    bytes.truncate(MAX_ERROR_BYTES);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The beginning of a foreign text, on one line.
pub(crate) fn excerpt(text: &str) -> String {
    // Only a beginning is processed, because the text may be large.
    let begin: String = text.chars().take(EXCERPT_CHARS * 4).collect();
    one_line(&begin).chars().take(EXCERPT_CHARS).collect()
}

/// The length of a foreign text in an error, in characters.
const EXCERPT_CHARS: usize = 300;

/// The largest part of a failed answer that is read, in bytes.
const MAX_ERROR_BYTES: usize = 64 * 1024;
