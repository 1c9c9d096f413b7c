//! An agent behind HTTP in memory: it records its requests, and returns the answers of a test, in the time of the
//! platform.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use a2a::http::{Http, HttpAnswer, HttpBody, HttpError, HttpRequest};
use a2a::model::Secret;
use a2a_edge::executor::Registry;
use a2a_edge::port::{Clock, Outside, yield_once};
use a2a_edge::twins::MemoryPlatform;
use futures_util::future::LocalBoxFuture;
use futures_util::stream;
use serde_json::{Value, json};

use super::front::Front;

pub const URL: &str = "https://agent.example/turn";

/// The secrets of the deployment that are used for calls to the agent.
pub const TOKEN: &str = "token-4f1d0c";
pub const SIGNING_SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

/// An agent. Clones share its state.
#[derive(Clone)]
pub struct HttpAgent(Rc<State>);

struct State {
    platform: MemoryPlatform,
    commits: RefCell<Option<Rc<Cell<usize>>>>,
    asked: RefCell<Vec<Asked>>,
    answering: RefCell<Option<Rc<Answering>>>,
}

type Answering = dyn Fn(&Asked) -> Answer;

/// A request to the agent.
#[derive(Clone)]
pub struct Asked {
    /// The number of the request, from 1.
    pub number: usize,
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub text: String,
    pub at_ms: i64,
    fate: Rc<Cell<Fate>>,
}

/// The end of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    UnderWay,
    /// The answer was read to its end.
    Whole,
    /// The agent broke off the answer.
    Broken,
    /// The caller closed the connection.
    Left,
}

impl Asked {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub fn body(&self) -> Value {
        serde_json::from_str(&self.text).expect("JSON")
    }

    pub fn fate(&self) -> Fate {
        self.fate.get()
    }
}

/// An answer in its wire form.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    acts: Vec<Act>,
    head_ms: u64,
    down: Option<&'static str>,
}

#[derive(Clone, Debug)]
enum Act {
    Piece(Vec<u8>),
    Wait(u64),
    Break(&'static str),
    Hang,
}

impl Answer {
    pub fn raw(content_type: &str, body: impl AsRef<[u8]>) -> Self {
        Self {
            status: 200,
            headers: vec![("content-type".to_owned(), content_type.to_owned())],
            acts: vec![Act::Piece(body.as_ref().to_vec())],
            head_ms: 0,
            down: None,
        }
    }

    pub fn json(body: &Value) -> Self {
        Self::raw("application/json", body.to_string())
    }

    /// Verbs as lines, each a separate piece.
    pub fn lines(verbs: &[Value]) -> Self {
        let pieces = verbs.iter().map(|verb| Act::Piece(format!("{verb}\n").into_bytes()));
        Self { acts: pieces.collect(), ..Self::raw("application/x-ndjson", "") }
    }

    /// Verbs as events, each a separate piece.
    pub fn events(verbs: &[Value]) -> Self {
        let pieces = verbs.iter().map(|verb| Act::Piece(format!("data: {verb}\n\n").into_bytes()));
        Self { acts: pieces.collect(), ..Self::raw("text/event-stream", "") }
    }

    pub fn status(status: u16, body: &str) -> Self {
        Self { status, ..Self::raw("text/plain; charset=utf-8", body) }
    }

    /// No answer: the connection fails.
    pub fn down(reason: &'static str) -> Self {
        Self { down: Some(reason), ..Self::raw("", "") }
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn without_header(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self
    }

    /// Delays the head by this number of milliseconds.
    pub fn after(self, head_ms: u64) -> Self {
        Self { head_ms, ..self }
    }

    /// Adds a pause of this number of milliseconds before each piece.
    pub fn paced(mut self, millis: u64) -> Self {
        self.acts = self.acts.into_iter().flat_map(|act| [Act::Wait(millis), act]).collect();
        self
    }

    /// Breaks the connection after the pieces.
    pub fn then_breaks(mut self) -> Self {
        self.acts.push(Act::Break("the connection was reset"));
        self
    }

    /// Keeps the connection open without further pieces.
    pub fn then_hangs(mut self) -> Self {
        self.acts.push(Act::Hang);
        self
    }

    /// Adds another piece after a pause.
    pub fn then(mut self, millis: u64, piece: impl AsRef<[u8]>) -> Self {
        self.acts.extend([Act::Wait(millis), Act::Piece(piece.as_ref().to_vec())]);
        self
    }

    /// Adds these pieces after those of another answer.
    pub fn behind(mut self, mut first: Self) -> Self {
        first.acts.append(&mut self.acts);
        first
    }

    /// Splits the whole body into pieces of this number of bytes.
    pub fn split_every(mut self, bytes: usize) -> Self {
        let whole: Vec<u8> = self
            .acts
            .iter()
            .flat_map(|act| if let Act::Piece(piece) = act { piece.clone() } else { Vec::new() })
            .collect();
        self.acts = whole.chunks(bytes).map(|piece| Act::Piece(piece.to_vec())).collect();
        self
    }
}

impl HttpAgent {
    pub fn new(platform: &MemoryPlatform) -> Self {
        Self(Rc::new(State {
            platform: platform.clone(),
            commits: RefCell::default(),
            asked: RefCell::default(),
            answering: RefCell::default(),
        }))
    }

    pub fn answer_with(&self, answering: impl Fn(&Asked) -> Answer + 'static) {
        self.0.answering.replace(Some(Rc::new(answering)));
    }

    /// Sets the answers to the requests in order; the last one is repeated.
    pub fn answers(&self, answers: Vec<Answer>) {
        self.answer_with(move |asked| answers[(asked.number - 1).min(answers.len() - 1)].clone());
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.0.asked.borrow().clone()
    }

    /// A task of an agent of kind `http` that calls this agent. `more` is added to its table.
    pub fn front(platform: &MemoryPlatform, more: &Value) -> (Front, Self) {
        Self::front_with(platform, more, &json!({"max_attempts": 100}))
    }

    /// As [`front`](Self::front), with this table `[executor.run]`.
    pub fn front_with(platform: &MemoryPlatform, more: &Value, run: &Value) -> (Front, Self) {
        let mut table = json!({
            "url": URL, "headers": {"Authorization": "Bearer ${AGENT_TOKEN}"},
            "signing_secret": "${AGENT_SIGNING_SECRET}",
        });
        let members = more.as_object().expect("a table").clone();
        table.as_object_mut().expect("a table").extend(members);
        if table.get("service").is_some() {
            table.as_object_mut().expect("a table").remove("url");
        }
        let secrets = [("AGENT_TOKEN", TOKEN), ("AGENT_SIGNING_SECRET", SIGNING_SECRET)];
        let secrets: BTreeMap<String, Secret> =
            secrets.map(|(name, secret)| (name.to_owned(), Secret::new(secret))).into();
        let outside = Outside { secrets: Rc::new(secrets), ..platform.outside() };
        let embedded = json!({
            "slug": "a", "default": true, "development": false, "card": "{}", "capabilities": {"streaming": true},
            "executor": {"kind": "http", "table": table, "run": run},
        });
        let embedded = a2a::model::decode::decode(embedded).expect("an agent");
        let made = Registry::default().make(&embedded, &outside).expect("an executor");
        let agent = Self::new(platform);
        let server = agent.clone();
        let front = Front::over(platform, made, outside, move |commits| {
            server.0.commits.replace(Some(commits));
            Rc::new(server)
        });
        let front = front.with_run(a2a::model::decode::decode(run.clone()).expect("settings"));
        (front, agent)
    }
}

impl Http for HttpAgent {
    fn send(
        &self,
        mut request: HttpRequest,
    ) -> LocalBoxFuture<'static, Result<HttpAnswer, HttpError>> {
        let agent = self.clone();
        Box::pin(async move {
            // The writes before this request must be durable first.
            let commits = agent.0.commits.borrow().clone();
            if let Some(commits) = commits {
                let before = commits.get();
                while commits.get() == before {
                    yield_once().await;
                }
            }
            let body = std::mem::take(&mut request.body).bytes().await?;
            let asked = Asked {
                number: agent.0.asked.borrow().len() + 1,
                url: request.url.clone(),
                headers: request.headers.clone(),
                text: String::from_utf8(body).expect("text"),
                at_ms: agent.0.platform.now().0,
                fate: Rc::new(Cell::new(Fate::UnderWay)),
            };
            agent.0.asked.borrow_mut().push(asked.clone());
            let presence = Presence(asked.fate.clone());
            let answering = agent.0.answering.borrow().clone().expect("an answer");
            let answer = answering(&asked);
            agent.0.platform.sleep(answer.head_ms).await;
            let url = request.url;
            if let Some(reason) = answer.down {
                presence.0.set(Fate::Broken);
                return Err(HttpError::Failed { url, reason: reason.to_owned() });
            }
            let acts = answer.acts.into_iter();
            let state = (agent.0.platform.clone(), acts, presence, url.clone());
            let pieces = stream::unfold(state, async |(platform, mut acts, presence, url)| {
                loop {
                    match acts.next() {
                        None => {
                            presence.0.set(Fate::Whole);
                            return None;
                        }
                        Some(Act::Piece(piece)) => {
                            return Some((Ok(piece), (platform, acts, presence, url)));
                        }
                        Some(Act::Wait(millis)) => platform.sleep(millis).await,
                        Some(Act::Hang) => std::future::pending().await,
                        Some(Act::Break(reason)) => {
                            presence.0.set(Fate::Broken);
                            let reason = reason.to_owned();
                            let error = HttpError::Failed { url: url.clone(), reason };
                            return Some((Err(error), (platform, acts, presence, url)));
                        }
                    }
                }
            });
            let (status, headers) = (answer.status, answer.headers);
            Ok(HttpAnswer { status, headers, body: HttpBody::stream(pieces), url })
        })
    }
}

/// The reader of an answer, until it is dropped.
struct Presence(Rc<Cell<Fate>>);

impl Drop for Presence {
    fn drop(&mut self) {
        if self.0.get() == Fate::UnderWay {
            self.0.set(Fate::Left);
        }
    }
}
