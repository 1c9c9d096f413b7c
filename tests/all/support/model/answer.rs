//! The answers of a model in memory.

use serde_json::{Map, Value, json};

/// An answer of the model. Its content ([`say`](Self::say), [`call`](Self::call), [`refuse`](Self::refuse)) is sent whole or
/// as a stream, depending on the request; other answers are bytes ([`json`](Self::json), [`raw`](Self::raw),
/// [`stream`](Self::stream)) or a failed connection ([`down`](Self::down)).
#[derive(Clone, Debug)]
pub struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) delay_ms: u64,
    pub(super) down: Option<String>,
    body: Body,
    is_whole: bool,
    pace_ms: u64,
    splits: Vec<usize>,
    size: Option<usize>,
    breaks: Option<(usize, Piece)>,
}

#[derive(Clone, Debug)]
enum Body {
    Said(Said),
    Events(Vec<String>),
    Bytes(Vec<u8>),
}

#[derive(Clone, Debug)]
struct Said {
    texts: Vec<String>,
    refusal: Option<String>,
    calls: Vec<Call>,
    finish: Option<Value>,
    usage: Option<Value>,
    is_done: bool,
}

#[derive(Clone, Debug)]
struct Call {
    id: Option<String>,
    name: String,
    arguments: String,
}

/// A piece of a body, or an event in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// These bytes arrive.
    Bytes(Vec<u8>),
    /// Nothing arrives for this number of milliseconds.
    Wait(u64),
    /// The connection breaks, for this reason.
    Break(String),
    /// Nothing more arrives, and the connection stays open.
    Hang,
}

/// Answers with content. The default usage is 10 and 5 tokens.
impl Answer {
    /// A text in one piece.
    pub fn say(text: &str) -> Self {
        Self::said(&[text])
    }

    /// A text in pieces, each an event of a stream.
    pub fn said(texts: &[&str]) -> Self {
        let said = Said {
            texts: texts.iter().map(|&text| text.to_owned()).collect(),
            refusal: None,
            calls: Vec::new(),
            finish: Some(json!("stop")),
            usage: Some(usage_of(10, 5)),
            is_done: true,
        };
        Self::of(200, Body::Said(said))
    }

    /// A call of a tool. The arguments are text, so that they may be invalid JSON.
    pub fn call(id: &str, name: &str, arguments: &str) -> Self {
        Self::said(&[]).and_call(id, name, arguments)
    }

    /// Adds another call of a tool.
    #[must_use]
    pub fn and_call(self, id: &str, name: &str, arguments: &str) -> Self {
        let id = Some(id.to_owned());
        let call = Call { id, name: name.to_owned(), arguments: arguments.to_owned() };
        self.with(|said| {
            said.calls.push(call);
            said.finish = Some(json!("tool_calls"));
        })
    }

    /// Removes the id of the newest call.
    #[must_use]
    pub fn without_id(self) -> Self {
        self.with(|said| said.calls.last_mut().expect("a call").id = None)
    }

    /// A refusal.
    pub fn refuse(text: &str) -> Self {
        Self::said(&[]).and_refusal(text)
    }

    /// Adds a refusal after the content.
    #[must_use]
    pub fn and_refusal(self, text: &str) -> Self {
        self.with(|said| said.refusal = Some(text.to_owned()))
    }

    /// Sets the reason why the model stopped; any JSON.
    #[must_use]
    pub fn finish(self, reason: impl Into<Value>) -> Self {
        self.with(|said| said.finish = Some(reason.into()))
    }

    /// Removes the reason why the model stopped.
    #[must_use]
    pub fn without_finish(self) -> Self {
        self.with(|said| said.finish = None)
    }

    /// Sets the usage: the tokens of the request, and those of the answer.
    #[must_use]
    pub fn usage(self, input: u64, output: u64) -> Self {
        self.with_usage(usage_of(input, output))
    }

    /// Sets the usage; any JSON.
    #[must_use]
    pub fn with_usage(self, usage: Value) -> Self {
        self.with(|said| said.usage = Some(usage))
    }

    /// Removes the usage.
    #[must_use]
    pub fn without_usage(self) -> Self {
        self.with(|said| said.usage = None)
    }

    /// Removes the `[DONE]` at the end of a stream.
    #[must_use]
    pub fn without_done(self) -> Self {
        self.with(|said| said.is_done = false)
    }

    fn with(mut self, change: impl FnOnce(&mut Said)) -> Self {
        if let Body::Said(said) = &mut self.body {
            change(said);
        }
        self
    }
}

/// Answers with arbitrary bytes.
impl Answer {
    /// JSON with this status.
    pub fn json(status: u16, json: &Value) -> Self {
        Self::raw(status, "application/json", json.to_string())
    }

    /// An error of a provider: its status, code and text.
    pub fn error(status: u16, code: &str, message: &str) -> Self {
        let kind = if status < 500 { "invalid_request_error" } else { "server_error" };
        let error = json!({"message": message, "type": kind, "param": null, "code": code});
        Self::json(status, &json!({"error": error}))
    }

    /// These bytes, with this status and content type; an empty type means no header.
    pub fn raw(status: u16, content_type: &str, bytes: impl Into<Vec<u8>>) -> Self {
        let answer = Self::of(status, Body::Bytes(bytes.into()));
        match content_type {
            "" => answer,
            content_type => answer.header("content-type", content_type),
        }
    }

    /// A stream of events with these data, which include `[DONE]` if it is needed.
    pub fn stream(data: impl IntoIterator<Item = impl ToString>) -> Self {
        let events = data.into_iter().map(|data| format!("data: {}\n\n", data.to_string()));
        Self::of(200, Body::Events(events.collect())).header("content-type", "text/event-stream")
    }

    /// A failed connection, for this reason.
    pub fn down(reason: &str) -> Self {
        Self { down: Some(reason.to_owned()), ..Self::of(0, Body::Bytes(Vec::new())) }
    }

    fn of(status: u16, body: Body) -> Self {
        Self {
            status,
            headers: Vec::new(),
            delay_ms: 0,
            down: None,
            body,
            is_whole: false,
            pace_ms: 0,
            splits: Vec::new(),
            size: None,
            breaks: None,
        }
    }
}

/// The transport of an answer.
impl Answer {
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_ascii_lowercase(), value.to_owned()));
        self
    }

    /// Delays the head by this number of milliseconds.
    #[must_use]
    pub fn after(self, delay_ms: u64) -> Self {
        Self { delay_ms, ..self }
    }

    /// Sends one JSON document, independent of the request.
    #[must_use]
    pub fn whole(self) -> Self {
        Self { is_whole: true, ..self }
    }

    /// Sets the pause between two events of a stream, in milliseconds.
    #[must_use]
    pub fn pace(self, pace_ms: u64) -> Self {
        Self { pace_ms, ..self }
    }

    /// Splits the bytes of the body at these positions.
    #[must_use]
    pub fn split_at(self, positions: &[usize]) -> Self {
        Self { splits: positions.to_vec(), ..self }
    }

    /// Splits the bytes of the body into pieces of this size.
    #[must_use]
    pub fn split_every(self, size: usize) -> Self {
        Self { size: Some(size), ..self }
    }

    /// Breaks the connection after this number of events of a stream; for another body, bytes.
    #[must_use]
    pub fn cut_after(self, events: usize) -> Self {
        let reason = "the connection was reset".to_owned();
        Self { breaks: Some((events, Piece::Break(reason))), ..self }
    }

    /// Ends the stream without an error after this number of events; another body, bytes.
    #[must_use]
    pub fn end_after(self, events: usize) -> Self {
        Self { breaks: Some((events, Piece::Wait(0))), ..self }
    }

    /// Sends nothing more after this number of events of a stream; for another body, bytes.
    #[must_use]
    pub fn hang_after(self, events: usize) -> Self {
        Self { breaks: Some((events, Piece::Hang)), ..self }
    }
}

/// The wire form of answers.
impl Answer {
    /// The headers and the body in pieces, for a request with or without a stream.
    pub(super) fn render(self, wants_stream: bool) -> (Vec<(String, String)>, Vec<Piece>) {
        let mut headers = self.headers;
        let (units, is_bytes) = match &self.body {
            Body::Bytes(bytes) => (vec![bytes.clone()], true),
            Body::Events(events) => {
                (events.iter().map(|event| event.clone().into()).collect(), false)
            }
            Body::Said(said) => {
                let is_streamed = wants_stream && !self.is_whole;
                let kind = if is_streamed { "text/event-stream" } else { "application/json" };
                headers.push(("content-type".to_owned(), kind.to_owned()));
                if is_streamed {
                    (said.events(), false)
                } else {
                    (vec![said.whole().to_string().into_bytes()], true)
                }
            }
        };
        let mut units = units;
        if let (Some((count, _)), true) = (&self.breaks, is_bytes) {
            units = units.into_iter().map(|bytes| bytes[..*count].to_vec()).collect();
        } else if let Some((count, _)) = &self.breaks {
            units.truncate(*count);
        }
        let mut pieces = Vec::new();
        for (nth, unit) in units.into_iter().enumerate() {
            if self.pace_ms > 0 && nth > 0 {
                pieces.push(Piece::Wait(self.pace_ms));
            }
            pieces.push(Piece::Bytes(unit));
        }
        if self.size.is_some() || !self.splits.is_empty() {
            pieces = split(pieces, self.size, &self.splits);
        }
        pieces.extend(self.breaks.map(|(_, piece)| piece).filter(|piece| *piece != Piece::Wait(0)));
        (headers, pieces)
    }
}

/// The same bytes, split again; pauses remain in their places.
fn split(pieces: Vec<Piece>, size: Option<usize>, splits: &[usize]) -> Vec<Piece> {
    let mut position = 0;
    let mut cut = Vec::new();
    for piece in pieces {
        let Piece::Bytes(bytes) = piece else {
            cut.push(piece);
            continue;
        };
        let mut begun = Vec::new();
        for byte in bytes {
            let is_cut =
                size.is_some_and(|size| position % size == 0) || splits.contains(&position);
            if is_cut && !begun.is_empty() {
                cut.push(Piece::Bytes(std::mem::take(&mut begun)));
            }
            begun.push(byte);
            position += 1;
        }
        cut.push(Piece::Bytes(begun));
    }
    cut
}

impl Said {
    fn whole(&self) -> Value {
        let call = |call: &Call| {
            let function = json!({"name": call.name, "arguments": call.arguments});
            with_id(json!({"type": "function", "function": function}), call.id.as_ref())
        };
        let text = self.texts.concat();
        let text =
            if text.is_empty() && !self.calls.is_empty() { json!(null) } else { json!(text) };
        let mut message = json!({"role": "assistant", "content": text, "refusal": self.refusal});
        if !self.calls.is_empty() {
            message["tool_calls"] = self.calls.iter().map(call).collect();
        }
        let mut choice = json!({"index": 0, "message": message});
        set(&mut choice, "finish_reason", self.finish.as_ref());
        let mut whole = framed("chat.completion", json!([choice]));
        set(&mut whole, "usage", self.usage.as_ref());
        whole
    }

    /// The events of a stream: the role, each piece of text, the refusal, two for each call, the end, the usage, `[DONE]`.
    fn events(&self) -> Vec<Vec<u8>> {
        let mut deltas = vec![json!({"role": "assistant", "content": ""})];
        deltas.extend(self.texts.iter().map(|text| json!({"content": text})));
        deltas.extend(self.refusal.iter().map(|text| json!({"refusal": text})));
        for (index, call) in self.calls.iter().enumerate() {
            let halves = halves(&call.arguments);
            let function = json!({"name": call.name, "arguments": halves.0});
            let begin = json!({"index": index, "type": "function", "function": function});
            let more = json!({"index": index, "function": {"arguments": halves.1}});
            deltas.push(json!({"tool_calls": [with_id(begin, call.id.as_ref())]}));
            deltas.push(json!({"tool_calls": [more]}));
        }
        let choice = |delta| json!({"index": 0, "delta": delta, "finish_reason": null});
        let mut choices: Vec<Value> = deltas.into_iter().map(choice).collect();
        if let Some(finish) = &self.finish {
            choices.push(json!({"index": 0, "delta": {}, "finish_reason": finish}));
        }
        let chunks = choices.into_iter().map(|choice| chunk(json!([choice])));
        let usage = self.usage.iter().map(|usage| {
            let mut last = chunk(json!([]));
            last["usage"] = usage.clone();
            last
        });
        let lines = chunks.chain(usage).map(|chunk| chunk.to_string());
        let done = self.is_done.then(|| "[DONE]".to_owned());
        lines.chain(done).map(|data| format!("data: {data}\n\n").into_bytes()).collect()
    }
}

/// One event of a stream with these choices.
pub fn chunk(choices: Value) -> Value {
    framed("chat.completion.chunk", choices)
}

/// An event of a stream with this delta of the first choice.
pub fn delta(delta: Value) -> Value {
    chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}]))
}

/// The last event of a stream with a choice.
pub fn finished(reason: &str) -> Value {
    chunk(json!([{"index": 0, "delta": {}, "finish_reason": reason}]))
}

fn framed(object: &str, choices: Value) -> Value {
    json!({"id": "chatcmpl-1", "object": object, "created": 1, "model": "said-model", "choices": choices})
}

/// The usage with these numbers of tokens, in the form of providers.
pub fn usage_of(input: u64, output: u64) -> Value {
    json!({"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output})
}

fn with_id(mut call: Value, id: Option<&String>) -> Value {
    let mut members = Map::new();
    if let Some(id) = id {
        members.insert("id".to_owned(), json!(id));
    }
    members.append(call.as_object_mut().expect("an object"));
    Value::Object(members)
}

fn set(object: &mut Value, name: &str, value: Option<&Value>) {
    if let Some(value) = value {
        object[name] = value.clone();
    }
}

fn halves(text: &str) -> (&str, &str) {
    let middle = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at));
    text.split_at(middle.unwrap_or_default())
}
