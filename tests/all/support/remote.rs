//! A remote agent in memory: it counts its requests, and executes its acts when they are due.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use a2a::http::memory::ok;
use a2a::http::{Http, HttpAnswer, HttpBody, HttpError, HttpRequest};
use a2a::model::UnixMillis;
use a2a_edge::port::{Clock, yield_once};
use a2a_edge::twins::MemoryPlatform;
use futures_util::future::LocalBoxFuture;
use futures_util::stream;
use serde_json::{Value, json};

/// The acts of the agent, some time after the message or the previous act.
#[derive(Clone, Copy, Debug)]
pub enum Act {
    Say(&'static str),
    /// A chunk of the artifact: its id, its text, whether it is the last one.
    Chunk(&'static str, &'static str, bool),
    Ask(&'static str),
    AskForAuth(&'static str),
    Complete(&'static str),
    Fail(&'static str),
    Reject(&'static str),
    /// Returns a message in place of a task.
    Answer(&'static str),
}

/// The capabilities of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Habits {
    pub streams: bool,
    pub sends_webhooks: bool,
    pub lists: bool,
    /// Whether the server recognizes a repeated message by its id, or a repeated request by its idempotency key.
    pub knows_repetitions: bool,
    /// Whether the server accepts messages during its work.
    pub takes_messages: bool,
}

impl Habits {
    pub const ALL: Self = Self {
        streams: true,
        sends_webhooks: false,
        lists: true,
        knows_repetitions: true,
        takes_messages: true,
    };
    pub const POLLED: Self = Self { streams: false, ..Self::ALL };
}

type Plan = dyn Fn(&str) -> Vec<(u64, Act)>;

/// A remote agent. Clones share its state.
#[derive(Clone)]
pub struct Remote(Rc<State>);

struct State {
    platform: MemoryPlatform,
    habits: Habits,
    plan: Box<Plan>,
    tasks: RefCell<Vec<Task>>,
    asked: RefCell<Vec<String>>,
    /// The parameters of the sent messages, including repeated ones.
    sent: RefCell<Vec<Value>>,
    headers: RefCell<Vec<Vec<(String, String)>>>,
    is_down: Cell<bool>,
    loses_answers: Cell<bool>,
    withholds_answers: Cell<bool>,
    /// The number of durable writes of the calling process: a request is sent only after the earlier writes are
    /// durable.
    commits: RefCell<Rc<Cell<usize>>>,
    is_gated: Cell<bool>,
    /// The name and the description in the card.
    described: RefCell<(String, String)>,
}

struct Task {
    id: String,
    context: String,
    state: &'static str,
    message: Option<Value>,
    history: Vec<Value>,
    artifacts: Vec<Value>,
    left: VecDeque<(i64, Act)>,
    events: Vec<Value>,
    webhook: Option<String>,
    said: usize,
}

impl Remote {
    pub fn new(
        platform: &MemoryPlatform,
        habits: Habits,
        plan: impl Fn(&str) -> Vec<(u64, Act)> + 'static,
    ) -> Self {
        Self(Rc::new(State {
            platform: platform.clone(),
            habits,
            plan: Box::new(plan),
            tasks: RefCell::default(),
            asked: RefCell::default(),
            sent: RefCell::default(),
            headers: RefCell::default(),
            is_down: Cell::default(),
            loses_answers: Cell::default(),
            withholds_answers: Cell::default(),
            commits: RefCell::default(),
            is_gated: Cell::default(),
            described: RefCell::new(("Remote".to_owned(), "Far away.".to_owned())),
        }))
    }

    /// Delays requests until the caller's earlier writes are durable.
    pub fn gate(&self) -> Rc<Cell<usize>> {
        self.0.is_gated.set(true);
        self.0.commits.borrow().clone()
    }

    /// As [`gate`](Self::gate), with a shared counter.
    pub fn gate_by(&self, commits: Rc<Cell<usize>>) {
        self.0.is_gated.set(true);
        self.0.commits.replace(commits);
    }

    /// Sets the name and the description in the card.
    pub fn described(self, name: &str, description: &str) -> Self {
        self.0.described.replace((name.to_owned(), description.to_owned()));
        self
    }

    pub fn set_down(&self, is_down: bool) {
        self.0.is_down.set(is_down);
    }

    /// Breaks the connection before a message is answered.
    pub fn lose_answers_to_messages(&self) {
        self.0.loses_answers.set(true);
    }

    /// Receives messages, but never answers them.
    pub fn withhold_answers_to_messages(&self) {
        self.0.withholds_answers.set(true);
    }

    /// The operations of the requests, in order, including `card`.
    pub fn asked(&self) -> Vec<String> {
        self.0.asked.borrow().clone()
    }

    pub fn count(&self, operation: &str) -> usize {
        self.0.asked.borrow().iter().filter(|known| *known == operation).count()
    }

    /// The parameters of the sent messages.
    pub fn sent(&self) -> Vec<Value> {
        self.0.sent.borrow().clone()
    }

    /// A text that identifies the present state.
    pub fn mark(&self) -> String {
        let tasks = self.0.tasks.borrow();
        let tasks = tasks.iter();
        let marks: Vec<_> = tasks
            .map(|task| (task.state, task.events.len(), task.said, task.webhook.is_some()))
            .collect();
        format!("{} {} {marks:?}", self.0.asked.borrow().len(), self.0.sent.borrow().len())
    }

    /// The number of tasks.
    pub fn tasks(&self) -> usize {
        self.0.tasks.borrow().len()
    }

    /// The states of the tasks.
    pub fn states(&self) -> Vec<&'static str> {
        self.act();
        self.0.tasks.borrow().iter().map(|task| task.state).collect()
    }

    /// The texts of the client, in the order of the tasks.
    pub fn heard(&self) -> Vec<String> {
        let tasks = self.0.tasks.borrow();
        let messages = tasks.iter().flat_map(|task| &task.history);
        let of_user = messages.filter(|message| message["role"] == "ROLE_USER");
        of_user.map(|message| message["parts"][0]["text"].as_str().unwrap().to_owned()).collect()
    }

    /// When the next act is due in a task with a webhook.
    pub fn next_told(&self) -> Option<i64> {
        let tasks = self.0.tasks.borrow();
        let told = tasks.iter().filter(|task| task.webhook.is_some());
        told.filter_map(|task| task.left.front().map(|(due, _)| *due)).min()
    }

    /// Takes the notifications for webhooks: the URL, and the number of the event.
    pub fn take_notifications(&self) -> Vec<(String, usize)> {
        self.act();
        let mut posted = Vec::new();
        for task in self.0.tasks.borrow_mut().iter_mut() {
            if let Some(url) = task.webhook.clone() {
                posted.extend((task.said..task.events.len()).map(|number| (url.clone(), number)));
            }
            task.said = task.events.len();
        }
        posted
    }

    fn now(&self) -> i64 {
        self.0.platform.now().0
    }

    /// Executes the acts that are due.
    fn act(&self) {
        let now = self.now();
        for task in self.0.tasks.borrow_mut().iter_mut() {
            while !task.is_over() && task.left.front().is_some_and(|(due, _)| *due <= now) {
                let (_, act) = task.left.pop_front().unwrap();
                task.act(act);
            }
        }
    }

    fn answer(&self, body: &str) -> Result<HttpAnswer, Value> {
        let request: Value = serde_json::from_str(body).unwrap();
        let (method, params) = (request["method"].as_str().unwrap(), &request["params"]);
        self.0.asked.borrow_mut().push(method.to_owned());
        self.act();
        let id = params["taskId"].as_str().or_else(|| params["id"].as_str());
        let found = || {
            let tasks = self.0.tasks.borrow();
            let at = tasks.iter().position(|task| Some(task.id.as_str()) == id);
            at.ok_or_else(|| error(-32001, "no such task"))
        };
        let result = match method {
            "SendMessage" => self.send(params).map(|sent| match sent {
                Ok(at) => json!({"task": self.0.tasks.borrow()[at].json()}),
                Err(message) => json!({"message": message}),
            }),
            "SendStreamingMessage" if !self.0.habits.streams => Err(error(-32004, "no streams")),
            "SendStreamingMessage" => {
                return Ok(match self.send(params)? {
                    Ok(at) => self.stream(at),
                    Err(message) => stream_of(&[json!({"message": message})]),
                });
            }
            "SubscribeToTask" => {
                let at = found()?;
                if self.0.tasks.borrow()[at].is_over() {
                    Err(error(-32004, "the task is over"))
                } else {
                    return Ok(self.stream(at));
                }
            }
            "GetTask" => found().map(|at| self.0.tasks.borrow()[at].json()),
            "CancelTask" => found().and_then(|at| {
                let task = &mut self.0.tasks.borrow_mut()[at];
                if task.is_over() {
                    Err(error(-32002, "it is over"))
                } else {
                    task.enter("TASK_STATE_CANCELED", None);
                    Ok(task.json())
                }
            }),
            "ListTasks" if self.0.habits.lists => {
                let context = params["contextId"].as_str().unwrap();
                let tasks = self.0.tasks.borrow();
                let listed = tasks.iter().filter(|task| task.context == context);
                let listed: Vec<_> = listed.map(Task::json).collect();
                let total = listed.len();
                Ok(
                    json!({"tasks": listed, "nextPageToken": "", "pageSize": 50, "totalSize": total}),
                )
            }
            "CreateTaskPushNotificationConfig" if self.0.habits.sends_webhooks => {
                found().map(|at| {
                    self.0.tasks.borrow_mut()[at].webhook =
                        params["url"].as_str().map(str::to_owned);
                    let task = &mut self.0.tasks.borrow_mut()[at];
                    task.said = task.events.len();
                    params.clone()
                })
            }
            _ => Err(error(-32601, "no such method")),
        };
        result.map(|result| {
            let envelope = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
            whole(ok(envelope.to_string()))
        })
    }

    fn send(&self, params: &Value) -> Result<Result<usize, Value>, Value> {
        self.0.sent.borrow_mut().push(params.clone());
        let message = &params["message"];
        let text = message["parts"][0]["text"].as_str().unwrap_or_default();
        let mut tasks = self.0.tasks.borrow_mut();
        let known = tasks.iter().position(|task| {
            task.history.iter().any(|known| known["messageId"] == message["messageId"])
        });
        if let Some(at) = known.filter(|_| self.0.habits.knows_repetitions) {
            return Ok(Ok(at));
        }
        let plan = (self.0.plan)(text);
        if let [(_, Act::Answer(text))] = plan.as_slice() {
            return Ok(Err(
                json!({"messageId": "answer", "role": "ROLE_AGENT", "parts": [{"text": text}]}),
            ));
        }
        let at = match message["taskId"].as_str() {
            Some(id) => {
                let at = tasks.iter().position(|task| task.id == id);
                let at = at.ok_or_else(|| error(-32001, "no such task"))?;
                if tasks[at].is_over() {
                    return Err(error(-32004, "the task is over"));
                }
                if tasks[at].state == "TASK_STATE_WORKING" && !self.0.habits.takes_messages {
                    return Err(error(-32004, "not while it works"));
                }
                at
            }
            None => {
                let context = message["contextId"].as_str().unwrap_or("theirs").to_owned();
                let id = format!("remote-{}", tasks.len() + 1);
                tasks.push(Task {
                    id,
                    context,
                    state: "TASK_STATE_SUBMITTED",
                    message: None,
                    history: Vec::new(),
                    artifacts: Vec::new(),
                    left: VecDeque::new(),
                    events: Vec::new(),
                    webhook: None,
                    said: 0,
                });
                tasks.len() - 1
            }
        };
        let task = &mut tasks[at];
        task.history.extend(task.message.take());
        task.history.push(message.clone());
        task.enter("TASK_STATE_WORKING", None);
        let mut due = self.now();
        for (delay, act) in plan {
            due = UnixMillis(due).after(delay).0;
            task.left.push_back((due, act));
        }
        drop(tasks);
        self.act();
        Ok(Ok(at))
    }

    /// The task, followed by its events until it ends or asks a question.
    fn stream(&self, at: usize) -> HttpAnswer {
        let (remote, first) = (self.clone(), self.0.tasks.borrow()[at].json());
        let begin = self.0.tasks.borrow()[at].events.len();
        let first = frame(&json!({"task": first}));
        let pieces =
            stream::unfold((remote, Some(first), begin), move |(remote, first, from)| async move {
                if let Some(first) = first {
                    return Some((Ok(first), (remote, None, from)));
                }
                loop {
                    remote.act();
                    let (event, is_settled, due) = {
                        let task = &remote.0.tasks.borrow()[at];
                        let due = task.left.front().map(|(due, _)| *due);
                        (task.events.get(from).cloned(), task.is_settled(), due)
                    };
                    if let Some(event) = event {
                        return Some((Ok(frame(&event)), (remote, None, from + 1)));
                    }
                    if is_settled {
                        return None;
                    }
                    let wait = due.map_or(1_000, |due| {
                        UnixMillis(due).millis_since(UnixMillis(remote.now()))
                    });
                    match due {
                        Some(_) => remote.0.platform.sleep(wait.max(1)).await,
                        None => std::future::pending().await,
                    }
                }
            });
        HttpAnswer {
            status: 200,
            headers: vec![("content-type".to_owned(), "text/event-stream".to_owned())],
            body: HttpBody::stream(pieces),
            url: URL.to_owned(),
        }
    }

    fn card(&self) -> HttpAnswer {
        let Habits { streams, sends_webhooks, .. } = self.0.habits;
        self.0.asked.borrow_mut().push("card".to_owned());
        let (name, description) = self.0.described.borrow().clone();
        let card = json!({
            "name": name, "description": description, "version": "1", "skills": [],
            "capabilities": {"streaming": streams, "pushNotifications": sends_webhooks},
            "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
            "supportedInterfaces": [{"url": URL, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        });
        whole(HttpAnswer {
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            ..ok(card.to_string())
        })
    }
}

impl Http for Remote {
    fn send(
        &self,
        mut request: HttpRequest,
    ) -> LocalBoxFuture<'static, Result<HttpAnswer, HttpError>> {
        let remote = self.clone();
        Box::pin(async move {
            // The writes before this request must be durable first.
            let commits = remote.0.commits.borrow().clone();
            let before = commits.get();
            while remote.0.is_gated.get() && commits.get() == before {
                yield_once().await;
            }
            let url = request.url.clone();
            if remote.0.is_down.get() {
                remote.0.asked.borrow_mut().push("down".to_owned());
                return Err(HttpError::Failed { url, reason: "it is down".to_owned() });
            }
            let body = std::mem::take(&mut request.body).bytes().await?;
            if body.is_empty() {
                return Ok(remote.card());
            }
            remote.0.headers.borrow_mut().push(request.headers.clone());
            let body = String::from_utf8(body).unwrap();
            let answer = remote.answer(&body);
            let is_message = body.contains(r#""method":"Send"#);
            if remote.0.withholds_answers.get() && is_message {
                let timeout_ms = request.timeout_ms;
                remote.0.platform.sleep(timeout_ms).await;
                return Err(HttpError::Silent { url, timeout_ms });
            }
            if remote.0.loses_answers.get() && is_message {
                let reason = "the connection broke".to_owned();
                return Err(HttpError::Failed { url, reason });
            }
            // The answer arrives some time later.
            yield_once().await;
            Ok(answer.unwrap_or_else(|error| {
                let id = json!({"jsonrpc": "2.0", "id": "1", "error": error});
                whole(ok(id.to_string()))
            }))
        })
    }
}

impl Task {
    fn is_over(&self) -> bool {
        ["TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_REJECTED", "TASK_STATE_CANCELED"]
            .contains(&self.state)
    }

    fn is_settled(&self) -> bool {
        self.is_over() || self.state.ends_with("REQUIRED")
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Say(text) => self.enter("TASK_STATE_WORKING", Some(text)),
            Act::Ask(text) => self.enter("TASK_STATE_INPUT_REQUIRED", Some(text)),
            Act::AskForAuth(text) => self.enter("TASK_STATE_AUTH_REQUIRED", Some(text)),
            Act::Complete(text) => self.enter("TASK_STATE_COMPLETED", Some(text)),
            Act::Fail(text) => self.enter("TASK_STATE_FAILED", Some(text)),
            Act::Reject(text) => self.enter("TASK_STATE_REJECTED", Some(text)),
            Act::Answer(_) => {}
            Act::Chunk(id, text, last) => {
                let part = json!({"text": text});
                let known = self.artifacts.iter_mut().find(|known| known["artifactId"] == id);
                let append = known.is_some();
                match known {
                    Some(known) => known["parts"].as_array_mut().unwrap().push(part.clone()),
                    None => self.artifacts.push(json!({"artifactId": id, "parts": [part]})),
                }
                self.events.push(json!({"artifactUpdate": {
                    "taskId": self.id, "contextId": self.context, "append": append, "lastChunk": last,
                    "artifact": {"artifactId": id, "parts": [part]},
                }}));
            }
        }
    }

    fn enter(&mut self, state: &'static str, text: Option<&str>) {
        self.history.extend(self.message.take());
        self.state = state;
        self.message = text.map(|text| {
            let id = format!("{}-{}", self.id, self.events.len());
            json!({"messageId": id, "role": "ROLE_AGENT", "parts": [{"text": text}],
                "taskId": self.id, "contextId": self.context})
        });
        self.events.push(json!({"statusUpdate": {
            "taskId": self.id, "contextId": self.context, "status": self.status(),
        }}));
    }

    fn status(&self) -> Value {
        match &self.message {
            Some(message) => json!({"state": self.state, "message": message}),
            None => json!({"state": self.state}),
        }
    }

    fn json(&self) -> Value {
        json!({
            "id": self.id, "contextId": self.context, "status": self.status(), "history": self.history,
            "artifacts": self.artifacts,
        })
    }
}

fn error(code: i32, message: &str) -> Value {
    json!({"code": code, "message": message})
}

fn frame(event: &Value) -> Vec<u8> {
    format!("data: {}\n\n", json!({"jsonrpc": "2.0", "id": "1", "result": event})).into_bytes()
}

fn stream_of(events: &[Value]) -> HttpAnswer {
    let body: Vec<u8> = events.iter().flat_map(frame).collect();
    HttpAnswer {
        status: 200,
        headers: vec![("content-type".to_owned(), "text/event-stream".to_owned())],
        body: HttpBody::from(String::from_utf8(body).unwrap()),
        url: URL.to_owned(),
    }
}

fn whole(answer: HttpAnswer<String>) -> HttpAnswer {
    let HttpAnswer { status, headers, body, url } = answer;
    HttpAnswer { status, headers, body: HttpBody::from(body), url }
}

/// The URL of the agent.
pub const URL: &str = "https://remote.example/";

/// The number of requests for each operation.
pub fn counted(asked: &[String]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for operation in asked {
        *counts.entry(operation.clone()).or_default() += 1;
    }
    counts
}
