//! Our proxy agent for a remote one: a task whose process may die between any two polls.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;
use std::rc::Rc;

use a2a::Terms;
use a2a::client::Settings;
use a2a::dialect::Dialect;
use a2a::model::{Message, Part, SendMessageRequest, Task, TaskId, TaskState, UnixMillis};
use a2a_agents::RunSettings;
use a2a_edge::auth::Caller;
use a2a_edge::executor::{AgentExecutor, RemoteExecutor, Runner};
use a2a_edge::operation::{cancel_task, send_message};
use a2a_edge::port::{Clock, Http, Outside, Ports, Runtime, StoredTask};
use a2a_edge::session::{FindAgent, Opening, Sender, TaskSession};
use a2a_edge::task::{LogEntry, TaskMachine};
use a2a_edge::trail::Trail;
use a2a_edge::twins::{MemoryPlatform, MemoryStore};
use serde_json::json;

use super::limits;
use super::remote::{Act, Habits, Remote, URL};

/// When the process dies: after this number of polls, with or without the writes of the last poll.
pub type Crash = (usize, bool);

/// The state after a poll that remains if the process dies: the durable data, and the state of the environment.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Moment {
    durable: u64,
    world: u64,
}

pub struct Front {
    pub store: MemoryStore,
    pub platform: MemoryPlatform,
    pub remote: Remote,
    /// The server that is called instead of the remote agent, if any.
    http: Option<Rc<dyn Http>>,
    runner: Runner,
    session: RefCell<Option<Rc<TaskSession>>>,
    durable: RefCell<(Option<StoredTask>, Option<UnixMillis>)>,
    commits: Rc<Cell<usize>>,
    ringing: Rc<Cell<usize>>,
    /// Whether an alarm handler was running when writes were last made durable.
    was_ringing: Cell<bool>,
    polls: Cell<usize>,
    /// The state after each poll, if it is recorded.
    moments: RefCell<Option<Vec<Moment>>>,
    /// The time of the remote agent's next notification.
    awaited: Cell<Option<i64>>,
    caller: Caller,
    /// A number that changes with the state of the environment other than the remote agent.
    others: Option<Rc<dyn Fn() -> u64>>,
    /// The media types that the client accepts.
    modes: Vec<String>,
    messages: Cell<usize>,
}

impl Front {
    pub fn new(habits: Habits, plan: impl Fn(&str) -> Vec<(u64, Act)> + 'static) -> Self {
        let platform = MemoryPlatform::default();
        let remote = Remote::new(&platform, habits, plan);
        Self::of(platform, remote)
    }

    /// Sets the settings for calls to the agent.
    pub fn calling(mut self, settings: Settings) -> Self {
        self.runner.executor = Rc::new(RemoteExecutor::at(settings));
        self
    }

    /// Another task for the same remote agent.
    pub fn beside(&self) -> Self {
        Self::of(self.platform.clone(), self.remote.clone())
    }

    fn of(platform: MemoryPlatform, remote: Remote) -> Self {
        let executor = Rc::new(RemoteExecutor::at(Settings::new(URL)));
        let settings = RunSettings { max_attempts: Some(100), ..RunSettings::default() };
        let commits = remote.gate();
        Self {
            store: MemoryStore::default(),
            runner: Runner { executor, settings, outside: platform.outside() },
            platform,
            remote,
            http: None,
            session: RefCell::default(),
            durable: RefCell::default(),
            commits,
            ringing: Rc::default(),
            was_ringing: Cell::default(),
            polls: Cell::default(),
            moments: RefCell::default(),
            awaited: Cell::default(),
            caller: Caller::anonymous(),
            others: None,
            modes: vec!["text/plain".to_owned()],
            messages: Cell::default(),
        }
    }

    /// An agent of another kind, which calls these servers. Their counter is the number of durable writes: a request is sent
    /// only after the earlier writes are durable.
    pub fn over(
        platform: &MemoryPlatform,
        executor: Rc<dyn AgentExecutor>,
        outside: Outside,
        servers: impl FnOnce(Rc<Cell<usize>>) -> Rc<dyn Http>,
    ) -> Self {
        let remote = Remote::new(platform, Habits::POLLED, |_| Vec::new());
        let front = Self::of(platform.clone(), remote);
        let runner = Runner { executor, outside, ..front.runner.clone() };
        Self { http: Some(servers(front.commits.clone())), runner, ..front }
    }

    pub fn with_caller(self, id: &str) -> Self {
        Self { caller: Caller::new(id), ..self }
    }

    /// Adds an environment whose state is identified by this number: crashes with different numbers leave different states.
    pub fn beside_others(self, others: impl Fn() -> u64 + 'static) -> Self {
        Self { others: Some(Rc::new(others)), ..self }
    }

    /// Sets the media types that the client accepts; an empty list means all.
    pub fn with_modes(self, modes: &[&str]) -> Self {
        Self { modes: modes.iter().map(|&mode| mode.to_owned()).collect(), ..self }
    }

    pub fn with_run(mut self, settings: RunSettings) -> Self {
        self.runner.settings = settings;
        self
    }

    fn session(&self, opening: Opening) -> Rc<TaskSession> {
        let open = self.session.borrow().clone().filter(|session| !session.is_broken());
        let session = open.unwrap_or_else(|| {
            let http = self.http.clone().unwrap_or_else(|| Rc::new(self.remote.clone()));
            let ports = Ports { http, ..self.platform.ports() };
            let runner = self.runner.clone();
            let find: FindAgent = Rc::new(move |_| Ok(runner.clone()));
            let store = Rc::new(self.store.clone());
            TaskSession::open(TaskId::new("t").unwrap(), store, ports, limits(), find, opening)
                .expect("storage works")
        });
        self.session.replace(Some(session.clone()));
        session
    }

    /// Sends a text, to the task if there is one; the answer returns immediately.
    pub fn send(&self, text: &str) {
        self.send_parts(vec![Part::text(text)], None);
    }

    pub fn send_parts(&self, parts: Vec<Part>, context: Option<&str>) {
        self.messages.set(self.messages.get() + 1);
        self.send_whole(&format!("m{}", self.messages.get()), parts, context);
    }

    /// Sends a text in a message with this id, so that it can be repeated.
    pub fn send_as(&self, id: &str, text: &str) {
        self.send_whole(id, vec![Part::text(text)], None);
    }

    pub fn send_whole(&self, id: &str, parts: Vec<Part>, context: Option<&str>) {
        let message = json!({
            "messageId": id, "taskId": self.task().map(|task| task.id),
            "contextId": context, "role": "ROLE_USER", "parts": parts, "metadata": {"from": "client"},
        });
        let configuration = json!({"returnImmediately": true, "acceptedOutputModes": self.modes});
        let request: SendMessageRequest =
            serde_json::from_value(json!({"message": message, "configuration": configuration}))
                .unwrap();
        let sender = Sender {
            agent: "agent".to_owned(),
            caller: self.caller.clone(),
            accepted_output_modes: self.modes.clone(),
            dialect: Dialect::V1,
            fingerprint: None,
            run_timeout_ms: None,
            allowance: None,
            trail: Default::default(),
            origin: Some("https://agents.example".to_owned()),
            credentials: None,
        };
        let session = self.session(Opening::ByRequest);
        self.platform.spawn(Box::pin(async move {
            let _ = send_message(&session, sender, request, Terms::default()).await;
        }));
    }

    pub fn cancel(&self) {
        let session = self.session(Opening::ByRequest);
        let owned = session.owned_by("agent", &self.caller, &Trail::default()).expect("a task");
        cancel_task(owned, Terms::default()).expect("it is canceled");
    }

    /// Runs a conversation through crashes: sends each text, and continues until the task has the expected state, for which
    /// `reached` is called. Returns the number of deaths.
    pub fn converse(
        &self,
        turns: &[(&str, TaskState)],
        crashes: &[Crash],
        reached: impl Fn(TaskState),
    ) -> usize {
        let mut crashes = crashes.iter().copied();
        let mut crash = crashes.next();
        let mut deaths = 0;
        for (text, state) in turns {
            loop {
                // The client repeats a message without an answer.
                if !self.transcript().iter().any(|said| said == text) {
                    self.send_as(text, text);
                }
                let before = self.polls();
                if self.run(crash, || self.state() == Some(*state)) {
                    let polls = self.polls() - before;
                    crash = crash.map(|(at, keeps)| (at - polls, keeps));
                    break;
                }
                crash = crashes.next();
                deaths += 1;
                assert!(deaths < 100, "it dies for ever");
            }
            reached(*state);
        }
        deaths
    }

    /// Continues until nothing is left to do and nothing is due, `until` returns true, or the process dies. Returns whether
    /// the process lives.
    pub fn run(&self, crash: Option<Crash>, until: impl Fn() -> bool) -> bool {
        let mut polls = 0;
        let mut idle_rounds = 0;
        loop {
            let lives = self.platform.poll_each(&mut || {
                polls += 1;
                self.polls.set(self.polls.get() + 1);
                if let Some(moments) = &mut *self.moments.borrow_mut() {
                    moments.push(self.moment());
                }
                match crash {
                    Some((at, false)) if polls > at => return ControlFlow::Break(()),
                    Some((at, true)) if polls > at => {
                        self.commit();
                        return ControlFlow::Break(());
                    }
                    // Without a crash only the last durable state matters.
                    None => {
                        self.commits.set(self.commits.get() + 1);
                        return ControlFlow::Continue(());
                    }
                    Some(_) => {}
                }
                self.commit();
                ControlFlow::Continue(())
            });
            if !lives {
                self.die();
                return false;
            }
            idle_rounds += 1;
            if idle_rounds <= 6 {
                continue;
            }
            // At this time all writes are stored.
            if until() {
                self.commit();
                return true;
            }
            idle_rounds = 0;
            if self.notify() {
                continue;
            }
            match self.platform.advance_to_next() {
                None => {
                    self.commit();
                    return true;
                }
                Some(false) => {}
                Some(true) => {
                    let session = self.session(Opening::ByAlarm);
                    let ringing = self.ringing.clone();
                    ringing.set(ringing.get() + 1);
                    self.platform.spawn(Box::pin(async move {
                        session.wake().await;
                        ringing.set(ringing.get() - 1);
                    }));
                }
            }
        }
    }

    /// Lets the remote agent call its webhooks. Returns whether there was a notification.
    fn notify(&self) -> bool {
        let due = self.remote.next_told().filter(|due| Some(*due) != self.awaited.get());
        if let Some(due) = due {
            self.awaited.set(Some(due));
            let pause = UnixMillis(due).millis_since(self.platform.now());
            self.platform.spawn(self.platform.sleep(pause));
        }
        let posted = self.remote.take_notifications();
        let posts = !posted.is_empty();
        for (url, number) in posted {
            let token = url.get(url.len() - 64..).expect("a token").to_owned();
            let session = self.session(Opening::ByRequest);
            let body = Part::text(number.to_string());
            let _ = session.call_back("agent", &token, Some(number.to_string()), body);
        }
        posts || due.is_some()
    }

    /// Continues until our task has ended or asks a question.
    pub fn settle(&self) {
        self.run(None, || self.state().is_some_and(is_settled));
    }

    /// Continues until all activity is over, for a task that has ended.
    pub fn finish(&self) {
        self.run(None, || false);
    }

    fn commit(&self) {
        self.durable.replace((self.store.stored(), self.platform.alarm()));
        self.was_ringing.set(self.ringing.get() > 0);
        self.commits.set(self.commits.get() + 1);
    }

    /// Ends the process.
    pub fn die(&self) {
        self.session.replace(None);
        self.platform.crash();
        let (stored, alarm) = self.durable.borrow().clone();
        self.store.restore(stored);
        // An alarm whose handler died rings again.
        let again = self.was_ringing.take() || self.ringing.take() > 0;
        let again = again.then(|| self.platform.now());
        self.platform.restore_alarm(again.or(alarm));
        self.awaited.set(None);
    }

    pub fn polls(&self) -> usize {
        self.polls.get()
    }

    /// Records the states after crashes from now on.
    pub fn note_moments(&self) {
        self.moments.replace(Some(vec![self.moment()]));
    }

    /// All crashes with different states after them, for a process with the same behaviour as this one. Data that are only
    /// in the memory of a process do not affect the next one.
    pub fn crashes(&self) -> Vec<Crash> {
        let moments = self.moments.borrow();
        let moments = moments.as_deref().unwrap_or_default();
        let mut seen = HashSet::new();
        let mut crashes = Vec::new();
        for (at, pair) in moments.windows(2).enumerate() {
            for (keeps, durable) in [(false, pair[0].durable), (true, pair[1].durable)] {
                if seen.insert(Moment { durable, world: pair[1].world }) {
                    crashes.push((at, keeps));
                }
            }
        }
        crashes
    }

    fn moment(&self) -> Moment {
        let is_ringing = self.ringing.get() > 0;
        let durable = (format!("{:?}", self.store.stored()), self.platform.alarm(), is_ringing);
        let others = self.others.as_ref().map(|others| others());
        let world = (self.remote.mark(), others, self.platform.now(), is_ringing);
        Moment { durable: hash(&durable), world: hash(&world) }
    }

    pub fn task(&self) -> Option<Task> {
        let stored = self.store.stored()?;
        let lines = stored.log.iter().flat_map(|row| row.batch.lines.lines());
        let entries = lines.map(|line| LogEntry::parse(line).expect("a line of the log"));
        TaskMachine::replay(entries).map(|machine| machine.task().clone())
    }

    /// The generation of the newest stored event; 0 if there is none.
    pub fn generation(&self) -> u64 {
        let stored = self.store.stored();
        stored
            .and_then(|stored| stored.log.last().map(|row| row.batch.generation))
            .unwrap_or_default()
            .0
    }

    pub fn entries(&self) -> Vec<LogEntry> {
        let stored = self.store.stored().expect("a task");
        let lines = stored.log.iter().flat_map(|row| row.batch.lines.lines());
        lines.map(|line| LogEntry::parse(line).expect("a line of the log")).collect()
    }

    pub fn state(&self) -> Option<TaskState> {
        let session = self.session.borrow().clone();
        let Some(session) = session else { return self.task().map(|task| task.status.state) };
        let owned = session.owned_by("agent", &self.caller, &Trail::default()).ok()?;
        owned.with_task(|task| task.status.state)
    }

    /// The texts of all messages in our task, and its artifacts with their texts.
    pub fn transcript(&self) -> Vec<String> {
        let Some(task) = self.task() else { return Vec::new() };
        let messages = task.history.iter().chain(&task.status.message).map(Message::text);
        let artifacts = task.artifacts.iter().map(|artifact| {
            let texts = artifact.parts.iter().filter_map(Part::as_text).collect::<String>();
            format!("{}: {texts}", artifact.artifact_id)
        });
        messages.chain(artifacts).collect()
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

pub fn is_settled(state: TaskState) -> bool {
    state.is_terminal() || state.is_interrupted()
}
