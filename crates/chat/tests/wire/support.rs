//! A server in memory, and the bodies of its answers.

use std::cell::RefCell;
use std::rc::Rc;

use a2a::http::memory::MemoryHttp;
use a2a::http::{HttpAnswer, HttpBody, HttpError, HttpRequest};
use chat::{ChatAnswer, ChatError, ChatMessage, ChatRequest, Delta, Endpoint, open};
use futures_executor::block_on;
use futures_util::stream;
use serde_json::Value;

/// The pieces for a listener, and the result of an answer.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) deltas: Vec<Delta>,
    pub(crate) answer: Result<ChatAnswer, ChatError>,
}

impl Outcome {
    pub(crate) fn answer(self) -> ChatAnswer {
        self.answer.expect("an answer")
    }

    pub(crate) fn error(self) -> ChatError {
        self.answer.expect_err("an error")
    }
}

/// An endpoint with a small limit.
pub(crate) fn endpoint() -> Endpoint {
    Endpoint { max_bytes: 20_000, ..Endpoint::new("https://models.example/v1") }
}

pub(crate) fn request() -> ChatRequest {
    ChatRequest::new("small", vec![ChatMessage::user("Hi")])
}

/// The outcome for this answer of a server.
pub(crate) fn asked(
    endpoint: &Endpoint,
    request: &ChatRequest,
    answer: impl Fn(&HttpRequest) -> Result<HttpAnswer, HttpError> + 'static,
) -> Outcome {
    let http = MemoryHttp::default();
    http.respond_with(move |request, _| answer(request));
    block_on(async {
        let mut deltas = Vec::new();
        let mut stream = match open(&http, endpoint, request).await {
            Ok(stream) => stream,
            Err(error) => return Outcome { deltas, answer: Err(error) },
        };
        let answer = loop {
            match stream.next().await {
                Ok(Some(delta)) => deltas.push(delta),
                Ok(None) => break stream.into_answer(),
                Err(error) => {
                    assert_eq!(stream.next().await, Err(error.clone()), "the same from then on");
                    assert_eq!(stream.into_answer(), Err(error.clone()), "and no answer");
                    break Err(error);
                }
            }
        };
        Outcome { deltas, answer }
    })
}

/// The outcome for this body.
pub(crate) fn read(body: &str) -> Outcome {
    read_pieces(vec![Ok(body.as_bytes().to_vec())])
}

/// The outcome for a body in these pieces.
pub(crate) fn read_pieces(pieces: Vec<Result<Vec<u8>, HttpError>>) -> Outcome {
    asked(&endpoint(), &request(), move |_| Ok(answer(200, &[], pieces.clone())))
}

pub(crate) fn answer(
    status: u16,
    headers: &[(&str, &str)],
    pieces: Vec<Result<Vec<u8>, HttpError>>,
) -> HttpAnswer {
    let headers = headers.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    let body = HttpBody::stream(stream::iter(pieces));
    HttpAnswer { status, headers: headers.collect(), body, url: String::new() }
}

/// The request as a server receives it, with its body.
pub(crate) fn sent(endpoint: &Endpoint, request: &ChatRequest) -> (HttpRequest, Value) {
    let http = MemoryHttp::default();
    let seen = Rc::new(RefCell::new(None));
    let noted = Rc::clone(&seen);
    http.respond_with(move |request, body| {
        let HttpRequest { method, url, headers, timeout_ms, max_bytes, is_guarded, .. } = request;
        let copy = HttpRequest {
            method,
            url: url.clone(),
            headers: headers.clone(),
            body: HttpBody::Empty,
            timeout_ms: *timeout_ms,
            max_bytes: *max_bytes,
            is_guarded: *is_guarded,
        };
        noted.replace(Some((copy, serde_json::from_str(body).expect("JSON"))));
        Ok(answer(200, &[], Vec::new()))
    });
    block_on(open(&http, endpoint, request)).map(|_| ()).expect("an answer");
    seen.take().expect("a request")
}

/// The events of a stream, in the form of most servers.
pub(crate) fn events(chunks: &[&str]) -> String {
    chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect()
}

/// A chunk with this delta and this end, in the form of OpenAI.
pub(crate) fn chunk(delta: &str, end: &str) -> String {
    format!(
        r#"{{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1763800000,"model":"small-2026","service_tier":"default","system_fingerprint":null,"choices":[{{"index":0,"delta":{delta},"logprobs":null,"finish_reason":{end}}}],"usage":null,"obfuscation":"x8"}}"#
    )
}

/// A stream of these deltas that ends for this reason.
pub(crate) fn streamed(deltas: &[&str], end: &str) -> String {
    let mut chunks: Vec<String> = deltas.iter().map(|delta| chunk(delta, "null")).collect();
    chunks.push(chunk("{}", &format!("\"{end}\"")));
    chunks.push("[DONE]".to_owned());
    events(&chunks.iter().map(String::as_str).collect::<Vec<_>>())
}
