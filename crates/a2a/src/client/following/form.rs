//! Detects event streams by the `Content-Type` of the answer, otherwise by the first bytes, because many servers send no
//! type or a wrong type.

use futures_util::stream::{self, StreamExt};

use crate::http::{HttpAnswer, HttpBody, HttpError};

/// The first value is true if an answer is an event stream. The second value is the answer, with its complete body.
///
/// # Errors
///
/// If the beginning of the body cannot be read.
pub(super) async fn told(answer: HttpAnswer) -> Result<(bool, HttpAnswer), HttpError> {
    let content_type = answer.header("content-type").unwrap_or_default();
    if answer.status != 200 || content_type.to_ascii_lowercase().starts_with(EVENT_STREAM) {
        return Ok((answer.status == 200, answer));
    }
    let HttpAnswer { status, headers, mut body, url } = answer;
    let mut begin = Vec::new();
    while first_sign(&begin).is_none() && begin.len() < MAX_BEGIN_BYTES {
        match body.next().await {
            Some(piece) => begin.extend(piece?),
            None => break,
        }
    }
    let is_stream = is_whole(&begin) == Some(false);
    let body = HttpBody::stream(stream::iter([Ok(begin)]).chain(rest(body)));
    Ok((is_stream, HttpAnswer { status, headers, body, url }))
}

/// True if a body with this beginning is a single text and not an event stream; `None` while all bytes are blank.
pub(super) fn is_whole(begin: &[u8]) -> Option<bool> {
    first_sign(begin).map(|sign| WHOLE.contains(&sign))
}

/// The first byte that is not blank.
fn first_sign(begin: &[u8]) -> Option<u8> {
    begin.iter().copied().find(|byte| !byte.is_ascii_whitespace())
}

/// The unread rest of a body.
fn rest(body: HttpBody) -> stream::LocalBoxStream<'static, Result<Vec<u8>, HttpError>> {
    let pieces = stream::unfold(body, |mut body| async move {
        let piece = body.next().await?;
        Some((piece, body))
    });
    pieces.boxed_local()
}

const EVENT_STREAM: &str = "text/event-stream";

/// The first characters of JSON and HTML. A line of an event stream begins with a letter or a colon.
const WHOLE: [u8; 4] = [b'{', b'[', b'"', b'<'];

/// The largest number of blank bytes at the beginning of an event stream; an answer with more is read as a single text.
const MAX_BEGIN_BYTES: usize = 1024;
