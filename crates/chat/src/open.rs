//! Sends a request.

use a2a::http::{Http, HttpError, HttpRequest};
use futures_util::future::LocalBoxFuture;

use crate::failure::refused;
use crate::stream::MAX_STREAM_FACTOR;
use crate::write::write;
use crate::{AnswerStream, ChatError, ChatErrorKind, ChatMessage, ChatRequest, Endpoint};

/// Sends a request once, and returns the answer as soon as its head has arrived. Dropping the future or the stream ends the
/// exchange.
///
/// # Errors
///
/// If there is no answer, or if it reports a failure.
pub fn open<'a>(
    http: &'a dyn Http,
    endpoint: &'a Endpoint,
    request: &'a ChatRequest,
) -> LocalBoxFuture<'a, Result<AnswerStream, ChatError>> {
    Box::pin(async move {
        let sent = http.send(post(endpoint, request));
        let answer = sent.await.map_err(|error| unsent(endpoint, &error))?;
        if answer.is_success() {
            Ok(AnswerStream::new(answer, endpoint.clone(), known_ids(request)))
        } else {
            Err(refused(answer, endpoint).await)
        }
    })
}

fn post(endpoint: &Endpoint, request: &ChatRequest) -> HttpRequest {
    let mut post = HttpRequest::post(endpoint.url(&request.model))
        .with_header("accept", "application/json, text/event-stream")
        .with_json(&write(request, endpoint.dialect));
    if let Some(key) = &endpoint.api_key {
        post = post.with_header("authorization", format!("Bearer {}", key.reveal()));
    }
    for (name, value) in &endpoint.headers {
        post = post.with_header(name, value.reveal());
    }
    post.timeout_ms = endpoint.timeout_ms;
    post.max_bytes = endpoint.max_bytes.saturating_mul(MAX_STREAM_FACTOR);
    post
}

/// The ids of all calls in the conversation.
fn known_ids(request: &ChatRequest) -> Vec<String> {
    let calls = request.messages.iter().filter_map(|message| match message {
        ChatMessage::Assistant { calls, .. } => Some(calls),
        ChatMessage::System(_) | ChatMessage::User(_) | ChatMessage::Tool { .. } => None,
    });
    calls.flatten().map(|call| call.id.clone()).collect()
}

/// The error for a request without an answer.
fn unsent(endpoint: &Endpoint, error: &HttpError) -> ChatError {
    let kind = match error {
        HttpError::Refused { .. } | HttpError::Unbound { .. } => ChatErrorKind::NotSent,
        HttpError::Silent { .. } => ChatErrorKind::Silent,
        HttpError::TooLarge { .. } => ChatErrorKind::TooLarge,
        HttpError::Failed { .. } | HttpError::Status { .. } | HttpError::Misfit { .. } => {
            ChatErrorKind::Unreachable
        }
    };
    ChatError::new(kind, endpoint.redacted(&error.to_string()))
}
