//! A model with chat completions in memory: it records its requests, and returns the answers of a test, in simulated time.
//! It implements [`Http`], so it is used in place of other servers:
//!
//! ```ignore
//! let model = Model::new(&platform);
//! model.answers([Answer::call("c1", "clock", "{}"), Answer::said(&["It is ", "noon."]).pace(50)]);
//! // Here the test calls the agent.
//! assert_eq!(model.asked().len(), 2);
//! assert_eq!(model.last().results(), [("c1".to_owned(), "12:00".to_owned())]);
//! ```

mod answer;
mod shop;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use a2a::http::{Http, HttpAnswer, HttpBody, HttpError, HttpRequest};
use a2a_edge::port::{Clock, yield_once};
use a2a_edge::twins::MemoryPlatform;
use futures_util::future::LocalBoxFuture;
use futures_util::stream;
use serde_json::Value;

pub use answer::{Answer, Piece, chunk, delta, finished, usage_of};
pub use shop::Shop;

/// The URL of the model: the `base_url` of agents.
pub const BASE_URL: &str = "https://models.example/v1";

/// A model. Clones share its state.
#[derive(Clone)]
pub struct Model(Rc<State>);

struct State {
    clock: Rc<dyn Clock>,
    plan: RefCell<Rc<Plan>>,
    asked: RefCell<Vec<Asked>>,
    gate: RefCell<Option<Rc<Cell<usize>>>>,
    others: RefCell<Option<Rc<dyn Http>>>,
    pieces: Cell<u64>,
}

type Plan = dyn Fn(&Asked) -> Answer;

/// A request to the model. Clones share its fate.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The number of the request, from 1.
    pub number: usize,
    /// When the request arrived.
    pub at_ms: i64,
    /// The URL of the request.
    pub url: String,
    pub headers: Vec<(String, String)>,
    /// The body; null if it is not JSON.
    pub body: Value,
    fate: Rc<Cell<Fate>>,
}

/// The end of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The answer is in progress.
    UnderWay,
    /// The whole answer was read.
    Whole,
    /// The model broke off, or sent nothing until the caller's timeout.
    Broken,
    /// The caller closed the connection before the end.
    Left,
}

impl Model {
    /// A model in the time of this platform. Until its answers are set, it answers 500.
    pub fn new(platform: &MemoryPlatform) -> Self {
        let state = State {
            clock: Rc::new(platform.clone()),
            plan: RefCell::new(Rc::new(|_| {
                Answer::error(500, "unscripted", "nothing is left to say")
            })),
            asked: RefCell::default(),
            gate: RefCell::default(),
            others: RefCell::default(),
            pieces: Cell::default(),
        };
        Self(Rc::new(state))
    }

    /// Sets the function that makes the answers.
    pub fn answer_with(&self, plan: impl Fn(&Asked) -> Answer + 'static) {
        self.0.plan.replace(Rc::new(plan));
    }

    /// Sets the answers in order; after the last one, the model answers 500.
    pub fn answers(&self, answers: impl IntoIterator<Item = Answer>) {
        let left = RefCell::new(answers.into_iter().collect::<VecDeque<_>>());
        self.answer_with(move |_| {
            let next = left.borrow_mut().pop_front();
            next.unwrap_or_else(|| Answer::error(500, "unscripted", "nothing is left to say"))
        });
    }

    /// Delays requests until this counter increases, which means that the earlier writes are durable.
    pub fn gate(&self, commits: Rc<Cell<usize>>) {
        self.0.gate.replace(Some(commits));
    }

    /// Sets the server for requests to other URLs; without it they fail.
    pub fn others(&self, others: Rc<dyn Http>) {
        self.0.others.replace(Some(others));
    }

    /// All requests, in order.
    pub fn asked(&self) -> Vec<Asked> {
        self.0.asked.borrow().clone()
    }

    /// The newest request.
    pub fn last(&self) -> Asked {
        self.0.asked.borrow().last().cloned().expect("a request")
    }

    /// A number that changes with each request and with each sent piece of an answer.
    pub fn mark(&self) -> u64 {
        self.0.pieces.get()
    }

    fn note(&self, request: &HttpRequest, body: &[u8]) -> Asked {
        self.count();
        let mut all = self.0.asked.borrow_mut();
        let asked = Asked {
            number: all.len() + 1,
            at_ms: self.0.clock.now().0,
            url: request.url.clone(),
            headers: request.headers.clone(),
            body: serde_json::from_slice(body).unwrap_or_default(),
            fate: Rc::new(Cell::new(Fate::UnderWay)),
        };
        all.push(asked.clone());
        asked
    }

    fn count(&self) {
        self.0.pieces.set(self.0.pieces.get() + 1);
    }
}

impl Asked {
    /// The value of a header; the case of its name is ignored.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().rfind(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// The roles of the messages and their texts; calls as `name(arguments)`.
    pub fn lines(&self) -> Vec<String> {
        self.messages().iter().map(line).collect()
    }

    /// The text of the newest message with this role.
    pub fn said_by(&self, role: &str) -> String {
        let newest = self.messages().iter().rfind(|message| message["role"] == role);
        newest.map(|message| text_of(&message["content"])).unwrap_or_default()
    }

    /// The results of calls after the newest message of the model: ids and texts.
    pub fn results(&self) -> Vec<(String, String)> {
        let newest = self.messages().iter().rposition(|message| message["role"] == "assistant");
        let behind = &self.messages()[newest.map_or(0, |at| at + 1)..];
        let results = behind.iter().filter(|message| message["role"] == "tool");
        let id = |result: &Value| result["tool_call_id"].as_str().unwrap_or_default().to_owned();
        results.map(|result| (id(result), text_of(&result["content"]))).collect()
    }

    /// The names of the offered tools.
    pub fn tools(&self) -> Vec<&str> {
        let tools = self.body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        tools.iter().filter_map(|tool| tool["function"]["name"].as_str()).collect()
    }

    pub fn wants_stream(&self) -> bool {
        self.body["stream"] == true
    }

    pub fn fate(&self) -> Fate {
        self.fate.get()
    }

    /// Mistakes that a provider would refuse: a result without its call, a call without its result, a repeated id.
    pub fn mistakes(&self) -> Vec<String> {
        let mut open: Vec<&str> = Vec::new();
        let mut mistakes = Vec::new();
        for message in self.messages() {
            if message["role"] == "tool" {
                let id = message["tool_call_id"].as_str().unwrap_or_default();
                match open.iter().position(|known| *known == id) {
                    Some(at) => drop(open.remove(at)),
                    None => mistakes.push(format!("the result {id:?} has no call")),
                }
                continue;
            }
            mistakes.extend(open.drain(..).map(|id| format!("the call {id:?} has no result")));
            let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
            for call in calls {
                let id = call["id"].as_str().unwrap_or_default();
                if id.is_empty() || open.contains(&id) {
                    mistakes.push(format!("the id {id:?} of a call is none, or stands twice"));
                }
                open.push(id);
                let arguments = call["function"]["arguments"].as_str();
                if arguments.is_none_or(|text| serde_json::from_str::<Value>(text).is_err()) {
                    mistakes.push(format!("the arguments of {id:?} are not JSON"));
                }
            }
        }
        mistakes.extend(open.drain(..).map(|id| format!("the call {id:?} has no result")));
        mistakes
    }
}

fn line(message: &Value) -> String {
    let role = message["role"].as_str().unwrap_or_default();
    let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
    let call = |call: &Value| {
        let function = &call["function"];
        let text = |name: &str| function[name].as_str().unwrap_or_default().to_owned();
        format!("{}({})", text("name"), text("arguments"))
    };
    let said = std::iter::once(text_of(&message["content"])).chain(calls.iter().map(call));
    let said: Vec<String> = said.filter(|said| !said.is_empty()).collect();
    format!("{role}: {}", said.join(" "))
}

/// The text of a content: a string, or parts; a part without text is shown by its type.
fn text_of(content: &Value) -> String {
    let part = |part: &Value| match part["text"].as_str() {
        Some(text) => text.to_owned(),
        None => format!("[{}]", part["type"].as_str().unwrap_or_default()),
    };
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(part).collect(),
        _ => String::new(),
    }
}

impl Http for Model {
    fn send(
        &self,
        mut request: HttpRequest,
    ) -> LocalBoxFuture<'static, Result<HttpAnswer, HttpError>> {
        let model = self.clone();
        let others = self.0.others.borrow().clone();
        if let Some(others) = others.filter(|_| !request.url.starts_with("https://models.example/"))
        {
            return others.send(request);
        }
        Box::pin(async move {
            let gate = model.0.gate.borrow().clone();
            let before = gate.as_ref().map(|commits| commits.get());
            while gate.as_ref().map(|commits| commits.get()) == before && before.is_some() {
                yield_once().await;
            }
            let body = std::mem::take(&mut request.body).bytes().await?;
            let asked = model.note(&request, &body);
            let plan = model.0.plan.borrow().clone();
            let answer = plan(&asked);
            let listening = Listening(asked.fate.clone());
            let url = request.url.clone();
            let silent = HttpError::Silent { url: url.clone(), timeout_ms: request.timeout_ms };
            if answer.delay_ms >= request.timeout_ms {
                model.0.clock.sleep(request.timeout_ms).await;
                listening.ends(Fate::Broken);
                return Err(silent);
            }
            if answer.delay_ms > 0 {
                model.0.clock.sleep(answer.delay_ms).await;
            }
            if let Some(reason) = answer.down {
                listening.ends(Fate::Broken);
                return Err(HttpError::Failed { url, reason });
            }
            let status = answer.status;
            let (headers, pieces) = answer.render(asked.wants_stream());
            let left = VecDeque::from(pieces);
            if left.is_empty() {
                listening.ends(Fate::Whole);
            }
            let way =
                Way { model, left, left_bytes: request.max_bytes, request, listening, silent };
            let body = HttpBody::stream(stream::unfold(Some(way), Way::next));
            Ok(HttpAnswer { status, headers, body, url })
        })
    }
}

/// The caller, while it listens.
struct Listening(Rc<Cell<Fate>>);

impl Listening {
    fn ends(&self, fate: Fate) {
        self.0.set(fate);
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        if self.0.get() == Fate::UnderWay {
            self.0.set(Fate::Left);
        }
    }
}

/// A body that is being sent.
struct Way {
    model: Model,
    left: VecDeque<Piece>,
    left_bytes: usize,
    request: HttpRequest,
    listening: Listening,
    silent: HttpError,
}

type Next = Option<(Result<Vec<u8>, HttpError>, Option<Way>)>;

impl Way {
    async fn next(way: Option<Self>) -> Next {
        let mut way = way?;
        let (url, timeout_ms) = (way.request.url.clone(), way.request.timeout_ms);
        let mut waited = 0;
        loop {
            let wait = match way.left.pop_front()? {
                Piece::Bytes(bytes) => {
                    way.model.count();
                    let Some(left) = way.left_bytes.checked_sub(bytes.len()) else {
                        way.listening.ends(Fate::Broken);
                        let max_bytes = way.request.max_bytes;
                        return Some((Err(HttpError::TooLarge { url, max_bytes }), None));
                    };
                    way.left_bytes = left;
                    if way.left.is_empty() {
                        way.listening.ends(Fate::Whole);
                    }
                    return Some((Ok(bytes), Some(way)));
                }
                Piece::Break(reason) => {
                    way.listening.ends(Fate::Broken);
                    return Some((Err(HttpError::Failed { url, reason }), None));
                }
                Piece::Wait(millis) => millis,
                Piece::Hang => u64::MAX,
            };
            let left = timeout_ms.saturating_sub(waited);
            waited = waited.saturating_add(wait);
            way.model.0.clock.sleep(wait.min(left)).await;
            if wait >= left {
                way.listening.ends(Fate::Broken);
                return Some((Err(way.silent), None));
            }
        }
    }
}
