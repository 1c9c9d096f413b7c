//! Tasks through crashes: a run of any shape, a process that dies between any two of its actions, and only the alarm to
//! resume the task.
//!
//! The in-memory implementations keep the guarantees of the platform. All writes without a pause between them are stored
//! together, including the alarm, or not at all; messages leave the object only afterwards.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::pin::pin;
use std::rc::Rc;

use a2a::Terms;
use a2a::dialect::Dialect;
use a2a::model::{Artifact, Part, SendMessageRequest, Task, TaskId, TaskState, UnixMillis};
use a2a_agents::{Recovery, RunSettings};
use a2a_edge::auth::Caller;
use a2a_edge::config::{Limits, Settings};
use a2a_edge::executor::{AgentExecutor, Called, Events, ExecutorError, Runner, Turn, Wait, Woken};
use a2a_edge::operation::send_message;
use a2a_edge::port::{Clock, Runtime, StoredTask, yield_once};
use a2a_edge::session::{
    Deletion, FindAgent, Ids, OpenError, Opening, Posted, Sender, TaskSession, Visitor,
};
use a2a_edge::task::{ATTEMPT, Armed, Deadlines, LogEntry, Owed, Park, TaskMachine, Wants};
use a2a_edge::trail::Trail;
use a2a_edge::twins::{MemoryPlatform, MemoryStore};
use a2a_edge::usage::{USAGE, Usage};
use async_trait::async_trait;
use futures_util::future::select;
use proptest::prelude::*;
use serde_json::json;

use crate::support::delete_task;

/// The actions of an agent.
#[derive(Clone, Debug)]
enum Act {
    Say,
    Nothing,
    Artifact,
    Wait(u64),
    Step,
    /// A step that fails this number of times before it succeeds.
    Retry(u32),
    /// Takes the message that the client sends during the run.
    Take,
    /// Waits parked for that message, and takes it.
    Await,
    /// Is parked for this number of milliseconds.
    Park(u64),
    /// Asks the client a question, and continues without the answer after this number of milliseconds.
    Ask(u64),
    /// Makes a callback, works for this number of milliseconds, and is parked until a post to the callback.
    Callback(u64),
}

/// An agent that executes its acts, and counts the external effects of its steps.
struct Actor {
    acts: Vec<Act>,
    effects: Rc<RefCell<BTreeMap<usize, usize>>>,
    /// How often writes were made durable.
    commits: Rc<Cell<usize>>,
    /// The callbacks that the agent has published, and whether a post to each was accepted.
    called_back: Rc<RefCell<BTreeMap<String, bool>>>,
}

#[async_trait(?Send)]
impl AgentExecutor for Actor {
    async fn execute(&self, turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
        for (at, act) in self.acts.iter().enumerate() {
            match act {
                Act::Say => events.working(Some(&format!("at {at}")))?,
                Act::Nothing => events.working(None)?,
                Act::Artifact => {
                    events.artifact(Artifact::new(format!("a{at}"), Part::text("x")))?;
                }
                Act::Wait(millis) => turn.sleep(*millis).await,
                Act::Step => {
                    let done = turn
                        .step("step", async || {
                            let done = self.have_effect(at).await;
                            turn.record_usage(used_at(at));
                            Ok(done)
                        })
                        .await?;
                    assert_eq!(done, at, "the result of another step");
                }
                Act::Retry(failures) => {
                    let tries = std::cell::Cell::new(0);
                    let retry = a2a_edge::executor::Retry::times(10);
                    let done = turn.step_with("retry", retry, async || {
                        tries.set(tries.get() + 1);
                        if tries.get() <= *failures {
                            return Err(ExecutorError("not yet".to_owned()));
                        }
                        Ok(self.have_effect(at).await)
                    });
                    assert_eq!(done.await?, at);
                }
                Act::Park(millis) => {
                    let woken = turn.wait_until(Wait::for_millis(*millis)).await?;
                    assert_eq!(woken, Woken::Time);
                }
                Act::Ask(millis) => {
                    events.require_input(&format!("which at {at}?"))?;
                    let woken = turn.wait_until(Wait::for_millis(*millis)).await?;
                    assert_eq!(woken, Woken::Time);
                    let _ = turn.step("step", async || Ok(self.have_effect(at).await)).await?;
                }
                Act::Callback(millis) => {
                    let callback = turn.callback("callback")?;
                    let url = callback.url().to_owned();
                    self.called_back.borrow_mut().entry(url.clone()).or_insert(false);
                    if *millis > 0 {
                        turn.sleep(*millis).await;
                    }
                    let called = turn.wait_callback(&callback, Wait::for_millis(DAY_MS)).await?;
                    assert_eq!(
                        called,
                        Called::Body(Part::text(url)),
                        "what was posted to another one"
                    );
                }
                Act::Take | Act::Await => {
                    if matches!(act, Act::Await) {
                        let woken = turn.wait_until(Wait::for_millis(DAY_MS).or_message()).await?;
                        assert_eq!(woken, Woken::Message);
                    }
                    let message = turn.next_message().await;
                    events.working(Some(&format!("got {}", message.text())))?;
                }
            }
        }
        events.complete(Some("done"))
    }
}

impl Actor {
    async fn have_effect(&self, at: usize) -> usize {
        // The request is sent when the earlier writes are durable; its answer arrives later.
        let before = self.commits.get();
        while self.commits.get() == before {
            yield_once().await;
        }
        *self.effects.borrow_mut().entry(at).or_default() += 1;
        yield_once().await;
        at
    }
}

/// The way in which the first message is sent.
#[derive(Clone, Copy, Debug)]
struct Manner {
    /// With a key, so that it can be repeated.
    is_keyed: bool,
    /// With an id that the client has chosen for the task.
    has_chosen_id: bool,
    /// With `returnImmediately`.
    returns_immediately: bool,
    /// Whether the client leaves before the answer.
    leaves: bool,
    index: Index,
}

/// The behaviour of the index until the end.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Index {
    Works,
    Fails,
    Hangs,
    /// Statements have an effect, but their answers are lost.
    Lossy,
    /// Statements fail, and have an effect after a newer one.
    Late,
}

impl Manner {
    const PLAIN: Self = Self {
        is_keyed: false,
        has_chosen_id: false,
        returns_immediately: false,
        leaves: false,
        index: Index::Works,
    };

    /// Whether a client knows the task from its first row on.
    fn is_announced_at_once(self) -> bool {
        self.is_keyed || self.has_chosen_id || self.returns_immediately
    }
}

/// A task, the process that serves it, and the state of both that remains after a crash.
struct World {
    store: MemoryStore,
    platform: MemoryPlatform,
    runner: Runner,
    manner: Manner,
    effects: Rc<RefCell<BTreeMap<usize, usize>>>,
    commits: Rc<Cell<usize>>,
    called_back: Rc<RefCell<BTreeMap<String, bool>>>,
    /// Whether an answer has reported the task to the client.
    is_told: Rc<Cell<bool>>,
    /// Whether a send was refused.
    is_refused: Rc<Cell<bool>>,
    /// Whether an answer has reported to the client that the task is deleted.
    is_deleted: Rc<Cell<bool>>,
    session: RefCell<Option<Rc<TaskSession>>>,
    durable: RefCell<(Option<StoredTask>, Option<UnixMillis>)>,
    /// Whether the handler of the alarm was running at that time: it ends only when its writes are durable.
    was_ringing: Cell<bool>,
    /// The number of running alarm handlers.
    ringing: Rc<Cell<usize>>,
}

/// When the process dies: after this number of polls, with or without the writes of the last poll.
type Crash = (usize, bool);

impl World {
    fn new(acts: &[Act], recovery: Recovery, manner: Manner) -> Self {
        let effects = Rc::new(RefCell::new(BTreeMap::new()));
        let commits = Rc::new(Cell::new(0));
        let (acts, counted) = (acts.to_vec(), effects.clone());
        let called_back = Rc::new(RefCell::new(BTreeMap::new()));
        let (commits_of_it, told) = (commits.clone(), called_back.clone());
        let executor =
            Rc::new(Actor { acts, effects: counted, commits: commits_of_it, called_back: told });
        let settings = RunSettings {
            recovery: Some(recovery),
            max_attempts: Some(100),
            timeout_ms: Some(100_000_000),
            idle_timeout_ms: None,
            ..RunSettings::default()
        };
        let platform = MemoryPlatform::default();
        platform.memory_index().set_failing(manner.index == Index::Fails);
        platform.memory_index().set_hanging(manner.index == Index::Hangs);
        platform.memory_index().set_lossy(manner.index == Index::Lossy);
        platform.memory_index().set_late(manner.index == Index::Late);
        platform.memory_usage().set_failing(manner.index == Index::Fails);
        platform.memory_usage().set_lossy(manner.index == Index::Hangs);
        Self {
            store: MemoryStore::default(),
            platform,
            runner: Runner { executor, settings, outside: MemoryPlatform::default().outside() },
            manner,
            effects,
            commits,
            called_back,
            is_told: Rc::default(),
            is_refused: Rc::default(),
            is_deleted: Rc::default(),
            session: RefCell::new(None),
            durable: RefCell::new((None, None)),
            was_ringing: Cell::new(false),
            ringing: Rc::default(),
        }
    }

    fn session(&self, opening: Opening) -> Rc<TaskSession> {
        self.session_for(Visitor::Server, opening).expect("it is the server's own")
    }

    /// The session in memory, or a new one for this visitor. `None` if the task is not the visitor's.
    fn session_for(&self, visitor: Visitor<'_>, opening: Opening) -> Option<Rc<TaskSession>> {
        if let Some(open) = self.session.borrow().clone().filter(|session| !session.is_broken()) {
            return Some(open);
        }
        let (store, ports) = (Rc::new(self.store.clone()), self.platform.ports());
        let runner = self.runner.clone();
        let find: FindAgent = Rc::new(move |_| Ok(runner.clone()));
        let has_chosen_id = self.manner.has_chosen_id;
        // An alarm and a callback know only the object.
        let is_named = opening != Opening::ByAlarm && !matches!(visitor, Visitor::Callback(..));
        let object = TaskId::new(if has_chosen_id { "o" } else { "t" }).unwrap();
        let chosen = (has_chosen_id && is_named).then(|| TaskId::new("t").unwrap());
        let ids = Ids { object, chosen };
        match TaskSession::open_for(visitor, ids, store, ports, limits(), find, opening) {
            Ok(session) => {
                self.session.replace(Some(session.clone()));
                Some(session)
            }
            Err(OpenError::Denied) => None,
            Err(error) => panic!("storage works: {error}"),
        }
    }

    /// Sends a message of the client in a separate request.
    fn send(&self, id: &str, task: Option<&str>) {
        let Manner { is_keyed, returns_immediately, leaves, .. } = self.manner;
        let configuration = json!({"returnImmediately": returns_immediately});
        let message = json!({
            "messageId": id, "taskId": task, "role": "ROLE_USER", "parts": [{"text": id}],
        });
        let request: SendMessageRequest =
            serde_json::from_value(json!({"message": message, "configuration": configuration}))
                .expect("a good request");
        let sender = Sender {
            agent: "agent".to_owned(),
            caller: Caller::anonymous(),
            accepted_output_modes: Vec::new(),
            dialect: Dialect::V1,
            fingerprint: is_keyed.then(|| "f".to_owned()),
            run_timeout_ms: None,
            allowance: None,
            trail: Default::default(),
            origin: Some("https://agents.example".to_owned()),
            credentials: None,
        };
        let session = self.session(Opening::ByRequest);
        let (is_told, is_refused) = (self.is_told.clone(), self.is_refused.clone());
        self.platform.spawn(Box::pin(async move {
            let sent = pin!(send_message(&session, sender, request, Terms::default()));
            if leaves {
                // The platform stops a future that nobody waits for.
                let _ = select(sent, Box::pin(yield_once())).await;
            } else {
                match sent.await {
                    Ok(_) => is_told.set(true),
                    Err(_) => is_refused.set(true),
                }
            }
        }));
    }

    /// Deletes the task in a separate request of its caller.
    fn delete(&self) {
        let (caller, trail) = (Caller::anonymous(), Trail::default());
        let visitor = Visitor::Caller("agent", &caller, &trail);
        let session = self.session_for(visitor, Opening::ByRequest).expect("it is the caller's");
        let (is_deleted, is_refused) = (self.is_deleted.clone(), self.is_refused.clone());
        self.platform.spawn(Box::pin(async move {
            let told = delete_task(&session, "agent", &Caller::anonymous(), true).await;
            // The answer is sent when the writes are durable.
            yield_once().await;
            match told {
                Ok(()) => is_deleted.set(true),
                Err(_) => is_refused.set(true),
            }
        }));
    }

    /// Repeats the client's first message if no task exists.
    fn send_again(&self) {
        if self.store.stored().is_none() {
            self.send("first", None);
        }
    }

    /// Continues until nothing is left to do and nothing is due, or until the process dies. Returns whether the process
    /// lives.
    fn run(&self, crash: Option<Crash>, until: impl Fn() -> bool) -> bool {
        let mut polls = 0;
        let mut idle_rounds = 0;
        loop {
            let lives = self.platform.poll_each(&mut || {
                polls += 1;
                match crash {
                    Some((at, false)) if polls > at => return ControlFlow::Break(()),
                    Some((at, true)) if polls > at => {
                        self.commit();
                        return ControlFlow::Break(());
                    }
                    Some(_) | None => {}
                }
                self.commit();
                ControlFlow::Continue(())
            });
            if !lives {
                self.die();
                return false;
            }
            if until() {
                return true;
            }
            idle_rounds += 1;
            if idle_rounds <= 16 {
                continue;
            }
            idle_rounds = 0;
            if self.call_back() {
                continue;
            }
            match self.platform.advance_to_next() {
                None => return true,
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

    /// Posts to a published callback that has not accepted a post yet. Returns whether there is one.
    fn call_back(&self) -> bool {
        let told = self
            .called_back
            .borrow()
            .iter()
            .find(|(_, taken)| !**taken)
            .map(|(url, _)| url.clone());
        let Some(url) = told else { return false };
        let token = url.get(url.len() - 64..).expect("a token");
        // The sender repeats a post without an answer.
        let visitor = Visitor::Callback("agent", token, Some("k"));
        let log = self.log();
        let session =
            if log.is_empty() { None } else { self.session_for(visitor, Opening::ByRequest) };
        let posted = session.map_or(Posted::Unknown, |session| {
            session.call_back("agent", token, Some("k".to_owned()), Part::text(&url))
        });
        // A callback is known only if it was made since the run last began without resuming.
        let begins = |entry: &LogEntry| matches!(entry, LogEntry::Run(start) if !start.resumes);
        let is_it = |entry: &LogEntry| matches!(entry, LogEntry::Callback(made) if made.token.reveal() == token);
        let is_kept = log.rsplit(begins).next().is_some_and(|turn| turn.iter().any(is_it));
        let expected = if is_kept { Posted::Accepted } else { Posted::Unknown };
        assert_eq!(posted, expected, "{log:?}");
        let called_back = self.called_back.clone();
        self.platform.spawn(Box::pin(async move {
            // The answer is sent when the writes are durable.
            yield_once().await;
            called_back.borrow_mut().insert(url, true);
        }));
        true
    }

    /// Makes the writes until now durable.
    fn commit(&self) {
        let stored = self.store.stored();
        let alarm = self.platform.alarm();
        let was_deleted = self.durable.borrow().0.as_ref().is_some_and(is_remains);
        if let Some(remains) = stored.as_ref().filter(|stored| is_remains(stored)) {
            // What the index is owed is repeated, and the end of the remains is looked after.
            let is_owing = remains.indexed.generation < remains.log[0].batch.generation;
            let within = i64::try_from(if is_owing { 300_000 } else { DAY_MS }).unwrap();
            let by = UnixMillis(self.platform.now().0 + within);
            let is_looked_after = self.ringing.get() > 0 || alarm.is_some_and(|at| at <= by);
            assert!(is_looked_after, "nobody empties the object: {alarm:?} {remains:?}");
            assert!(is_owing || self.listed() == 0, "it is listed");
            assert!(remains.webhooks.is_empty() && remains.log.len() == 1, "{remains:?}");
        } else if let Some(task) = &stored {
            // A task with a running turn, or with unfinished work that others know about, has an alarm.
            assert!(!was_deleted && !self.is_deleted.get(), "it came back: {task:?}");
            let machine = replay(task);
            let status_generation = machine.status_generation();
            let says_owing = task.indexed.generation < status_generation;
            let turn = machine.turn_to_count();
            let is_uncounted = task.counted.turn < turn;
            assert!(
                is_uncounted || turn == 0 || self.counted() == machine.usage().total(),
                "a turn that counts as counted and is not: {task:?}"
            );
            let says_owing = says_owing || is_uncounted;
            let is_owing = says_owing || self.listed() < status_generation.0;
            let is_known = self.is_told.get() || self.manner.is_announced_at_once();
            assert!(!is_known || !is_owing || says_owing, "a debt that is not known: {task:?}");
            let parked_until = machine.parked().map(Park::until);
            let is_active = machine.needs_run();
            let now = self.platform.now();
            if let Some(until) = parked_until {
                let is_kept =
                    alarm.is_some_and(|at| at <= until.max(now.after(limits().keep_alive_ms)));
                assert!(self.ringing.get() > 0 || is_kept, "nobody wakes it: {alarm:?} at {now:?}");
            }
            if is_active || (is_owing && is_known) {
                // A failed statement is repeated after increasing delays.
                let has_failed = task.indexed.failures > 0 || task.counted.failures > 0;
                let is_retried = has_failed && !is_active;
                let within = if is_retried { 300_000 } else { limits().keep_alive_ms };
                let soon = UnixMillis(now.0 + i64::try_from(within).unwrap());
                let is_looked_after = self.ringing.get() > 0 || alarm.is_some_and(|at| at <= soon);
                assert!(is_looked_after, "nobody looks after it: {alarm:?} at {now:?}");
            }
        }
        self.durable.replace((stored, alarm));
        self.was_ringing.set(self.ringing.get() > 0);
        self.commits.set(self.commits.get() + 1);
    }

    fn die(&self) {
        self.session.replace(None);
        self.platform.crash();
        let (stored, alarm) = self.durable.borrow().clone();
        self.store.restore(stored);
        // Of all external effects of steps, at most the last one is not recorded.
        let is_step = |entry: &&LogEntry| matches!(entry, LogEntry::Step(_));
        let known = self.log().iter().filter(is_step).count();
        let is_deleted = self.store.stored().as_ref().is_some_and(is_remains);
        let has_all = self.effects.borrow().len() <= known + 1;
        assert!(has_all || is_deleted, "a step that was done is forgotten");
        // An alarm whose handler died rings again, also after the next deaths.
        let (was_ringing, ringing) = (self.was_ringing.take(), self.ringing.take());
        let again = (was_ringing || ringing > 0).then(|| self.platform.now());
        self.durable.borrow_mut().1 = again.or(alarm);
        self.platform.restore_alarm(again.or(alarm));
        self.abandon();
        // Callers may post at any time, and a lost run is resumed only when its alarm rings.
        self.call_back();
    }

    /// Drops the object if it died before anybody knew its task: no request reaches such an object again. The next send uses
    /// another object, unless the task is listed.
    fn abandon(&self) {
        let is_known = self.is_told.get() || self.manner.is_announced_at_once();
        if is_known || self.platform.alarm().is_some() || self.listed() > 0 {
            return;
        }
        let is_idle = |stored: &StoredTask| !replay(stored).is_active();
        assert!(self.store.stored().as_ref().is_none_or(is_idle), "a run that nobody goes on with");
        assert!(self.effects.borrow().is_empty(), "it had effects that nobody knows of");
        self.store.restore(None);
    }

    /// The generation in the index; 0 without a row.
    fn listed(&self) -> u64 {
        self.platform
            .memory_index()
            .row(&TaskId::new("t").unwrap())
            .map_or(0, |row| row.generation.0)
    }

    /// The task's usage in the sums.
    fn counted(&self) -> Usage {
        let turns = self.platform.memory_usage().turns();
        turns.iter().fold(Usage::NOTHING, |sum, turn| sum.plus(turn.turn.usage))
    }

    /// The usage in the log of the task.
    fn used(&self) -> Option<Usage> {
        self.whole().map(|stored| replay(&stored).usage().total())
    }

    /// Deletes the task, which is over its retention and still listed, as the clean-up does.
    fn clean_up(&self) {
        let deleted = self.session(Opening::ByRequest);
        assert!(
            self.platform.run_until(deleted.expire(Deletion::Whole)),
            "a finished task is deleted"
        );
        self.session.replace(None);
        self.platform.crash();
    }

    /// Lets the index and the sums of usage work from now on.
    fn let_d1_work(&self) {
        let (index, usage) = (self.platform.memory_index(), self.platform.memory_usage());
        index.set_failing(false);
        index.set_hanging(false);
        index.set_lossy(false);
        index.set_late(false);
        usage.set_failing(false);
        usage.set_lossy(false);
    }

    /// The stored task, unless it is deleted.
    fn whole(&self) -> Option<StoredTask> {
        self.store.stored().filter(|stored| !is_remains(stored))
    }

    fn task(&self) -> Option<Task> {
        self.whole().map(|stored| replay(&stored).task().clone())
    }

    fn is_over(&self) -> bool {
        self.task().is_some_and(|task| task.status.state.is_terminal())
    }

    fn log(&self) -> Vec<LogEntry> {
        self.whole().map(|stored| entries(&stored)).unwrap_or_default()
    }

    /// The events in short form, without the effects of the time at which the message arrives: during a question it causes a
    /// `working` status without text, otherwise no event.
    fn events(&self) -> Vec<String> {
        let shown = |entry: &LogEntry| match entry {
            LogEntry::Task(_) => Some("task".to_owned()),
            LogEntry::StatusUpdate(event) => {
                let said = event.status.message.as_ref().map(a2a::model::Message::text);
                Some(format!("{} {}", event.status.state, said.unwrap_or_default()))
            }
            LogEntry::ArtifactUpdate(event) => Some(event.artifact.artifact_id.clone()),
            LogEntry::Message(_)
            | LogEntry::Held(_)
            | LogEntry::Run(_)
            | LogEntry::Step(_)
            | LogEntry::Taken
            | LogEntry::Parked(_)
            | LogEntry::Woken(_)
            | LogEntry::Ended
            | LogEntry::Callback(_)
            | LogEntry::Called(_) => None,
        };
        let mut asks = false;
        let mut events = Vec::new();
        for event in self.log().iter().filter_map(shown) {
            if asks && event == "working " {
                continue;
            }
            asks = event.starts_with("input required ") || asks && !event.starts_with("working ");
            events.push(event);
        }
        events
    }
}

/// Whether this is what remains of a deleted task.
fn is_remains(stored: &StoredTask) -> bool {
    stored.log.first().is_some_and(|row| row.batch.lines.starts_with(r#"{"deleted":"#))
}

fn entries(stored: &StoredTask) -> Vec<LogEntry> {
    let lines = stored.log.iter().flat_map(|row| row.batch.lines.lines());
    lines.map(|line| LogEntry::parse(line).expect("a line of the log")).collect()
}

fn replay(stored: &StoredTask) -> TaskMachine {
    TaskMachine::replay(entries(stored)).expect("a task")
}

/// The usage of the step at this place.
fn used_at(at: usize) -> Usage {
    let input_tokens = 10 + at as u64;
    Usage { requests: 1, input_tokens, output_tokens: 1, cost_micros: 0 }
}

const DAY_MS: u64 = 86_400_000;

/// The longest park in these tests, in milliseconds: a row that D1 refuses is written again every five minutes.
const LONG_MS: u64 = 120_000;

fn limits() -> Limits {
    Settings::read(|_| None).expect("the defaults are good").limits
}

fn any_act() -> impl Strategy<Value = Act> {
    prop_oneof![
        3 => Just(Act::Say),
        1 => Just(Act::Nothing),
        2 => Just(Act::Artifact),
        1 => (0..20_000u64).prop_map(Act::Wait),
        1 => (0..100u64).prop_map(Act::Wait),
        8 => Just(Act::Step),
        1 => (1..4u32).prop_map(Act::Retry),
        1 => (0..LONG_MS).prop_map(Act::Park),
        1 => (0..1_000u64).prop_map(Act::Park),
        1 => Just(Act::Callback(0)),
        1 => (1..2_000u64).prop_map(Act::Callback),
        1 => (1..1_000u64).prop_map(Act::Ask),
    ]
}

/// Acts, of which at most one takes a message.
fn any_acts() -> impl Strategy<Value = Vec<Act>> {
    let take = proptest::option::of((0..12usize, any::<bool>()));
    (proptest::collection::vec(any_act(), 1..16), take).prop_map(|(mut acts, take)| {
        if let Some((at, awaits)) = take {
            let act = if awaits { Act::Await } else { Act::Take };
            acts.insert(at.min(acts.len()), act);
        }
        acts
    })
}

/// Acts without those that require a resumed run.
fn any_acts_in_memory() -> impl Strategy<Value = Vec<Act>> {
    any_acts().prop_map(|mut acts| {
        for act in &mut acts {
            match act {
                Act::Await => *act = Act::Take,
                Act::Park(_) | Act::Callback(_) | Act::Ask(_) => *act = Act::Say,
                _ => {}
            }
        }
        acts
    })
}

fn takes(acts: &[Act]) -> bool {
    acts.iter().any(|act| matches!(act, Act::Take | Act::Await))
}

/// Runs the acts through the crashes until the task is over; the client repeats lost messages.
fn live_through(world: &World, acts: &[Act], crashes: &[Crash]) -> usize {
    let mut deaths = 0;
    world.send("first", None);
    // Until the task exists, the client has no answer, and repeats its message.
    let mut crashes = crashes.iter().copied();
    let exists = || world.store.stored().is_some();
    loop {
        if world.run(crashes.next(), exists) {
            break;
        }
        deaths += 1;
        if exists() {
            break;
        }
        world.send_again();
    }
    let is_told = || {
        let is_message = |entry: &&LogEntry| matches!(entry, LogEntry::Message(_));
        !takes(acts) || world.is_over() || world.log().iter().filter(is_message).count() > 0
    };
    while !is_told() {
        world.send("second", Some("t"));
        if !world.run(crashes.next(), is_told) {
            deaths += 1;
            world.send_again();
        }
    }
    for crash in crashes {
        if !world.run(Some(crash), || world.is_over()) {
            deaths += 1;
            world.send_again();
        }
    }
    assert!(world.run(None, || world.is_over()));
    deaths
}

fn any_manner() -> impl Strategy<Value = Manner> {
    let index = prop_oneof![
        3 => Just(Index::Works),
        1 => Just(Index::Fails),
        1 => Just(Index::Hangs),
        1 => Just(Index::Lossy),
        1 => Just(Index::Late),
    ];
    let named = (any::<bool>(), proptest::bool::weighted(0.3));
    let left = (proptest::bool::weighted(0.2), proptest::bool::weighted(0.2));
    (named, left, index).prop_map(
        |((is_keyed, has_chosen_id), (returns_immediately, leaves), index)| Manner {
            is_keyed,
            has_chosen_id,
            returns_immediately,
            leaves,
            index,
        },
    )
}

/// Checks that after the index works again, the alarm alone adds the task to it, and that everything is deleted after the
/// retention.
fn check_end(world: &World) -> Result<(), TestCaseError> {
    world.let_d1_work();
    let is_listed = || {
        let is_counted = world.used().is_none_or(|used| used == world.counted());
        let task = world.store.stored().map(|stored| replay(&stored).status_generation());
        is_counted && task.is_none_or(|status| world.listed() >= status.0)
    };
    world.run(None, is_listed);
    prop_assert!(is_listed());
    prop_assert!(world.platform.memory_index().rows(&TaskId::new("t").unwrap()).len() <= 1);
    let counted = world.counted();
    world.run(None, || false);
    prop_assert_eq!(world.counted(), counted, "nothing is counted twice");
    let kept = i64::try_from(limits().retention_ms).unwrap();
    if world.store.stored().is_some() {
        world.clean_up();
    } else {
        prop_assert!(world.platform.now().0 >= kept, "deleted too early");
    }
    prop_assert_eq!(world.store.stored(), None);
    prop_assert_eq!(world.listed(), 0);
    prop_assert_eq!(world.platform.alarm(), None);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_run_that_resumes_does_and_says_everything_once(
        acts in any_acts(),
        crashes in proptest::collection::vec((0..60usize, any::<bool>()), 0..8),
        manner in any_manner(),
    ) {
        let calm = World::new(&acts, Recovery::Resume, Manner::PLAIN);
        live_through(&calm, &acts, &[]);
        prop_assert!(calm.effects.borrow().values().all(|times| *times == 1));

        let world = World::new(&acts, Recovery::Resume, manner);
        let deaths = live_through(&world, &acts, &crashes);
        let task = world.task().expect("a task");
        prop_assert_eq!(task.status.state, TaskState::Completed);
        prop_assert_eq!(world.events(), calm.events(), "nothing lost, nothing twice");
        prop_assert_eq!(task.artifacts, calm.task().unwrap().artifacts);

        // Each step was executed; more than once only if it was interrupted.
        let effects = world.effects.borrow().clone();
        prop_assert!(effects.keys().eq(calm.effects.borrow().keys()));
        let repeated: usize = effects.values().map(|times| times - 1).sum();
        prop_assert!(repeated <= deaths, "{:?} after {} crashes", effects, deaths);

        // The usage of a step is stored once with its result, and is in the metadata.
        let used = world.used().expect("a task");
        prop_assert_eq!(Some(used), calm.used());
        let told = task.metadata.as_ref().and_then(|members| members.members().get(USAGE).cloned());
        let requests = told.and_then(|told| told["requests"].as_u64()).unwrap_or(0);
        prop_assert_eq!(requests, used.requests);

        // The number of attempts is visible to clients.
        let attempt = task.metadata.and_then(|members| members.members().get(ATTEMPT)?.as_u64()).unwrap_or(1);
        prop_assert!(attempt <= deaths as u64 + 1);

        check_end(&world)?;
    }

    /// Tasks that end without waiting: most are over before anybody knows them.
    #[test]
    fn a_quick_task_is_looked_after_from_when_anybody_knows_of_it(
        says in 0..4usize,
        crashes in proptest::collection::vec((0..12usize, any::<bool>()), 0..6),
        manner in any_manner(),
    ) {
        let world = World::new(&vec![Act::Say; says], Recovery::Resume, manner);
        live_through(&world, &[], &crashes);
        prop_assert_eq!(world.task().expect("a task").status.state, TaskState::Completed);
        check_end(&world)?;
    }

    /// Whatever the task does, whenever the process dies, and however the index behaves.
    #[test]
    fn a_task_that_its_caller_deletes_is_whole_or_deleted_and_does_not_come_back(
        acts in any_acts(),
        before in proptest::collection::vec((0..40usize, any::<bool>()), 0..3),
        crashes in proptest::collection::vec((0..16usize, any::<bool>()), 0..6),
        manner in any_manner(),
    ) {
        // Nobody sends the message for which these acts wait.
        let is_of_one = |act: &Act| !matches!(act, Act::Take | Act::Await);
        let acts: Vec<Act> = acts.into_iter().filter(is_of_one).collect();
        // The client knows the task from its first row on.
        let manner = Manner { returns_immediately: true, leaves: false, ..manner };
        let world = World::new(&acts, Recovery::Resume, manner);
        world.send("first", None);
        let exists = || world.store.stored().is_some();
        for crash in before {
            if !world.run(Some(crash), || false) && !exists() {
                world.send_again();
            }
        }
        if !exists() {
            world.run(None, exists);
        }
        let is_answered = || world.is_deleted.get();
        let is_over = || is_answered() || world.is_refused.get();
        world.delete();
        for crash in crashes {
            world.run(Some(crash), is_over);
            if !is_answered() {
                // The caller repeats a call that failed, or whose answer was lost.
                world.is_refused.set(false);
                world.delete();
            }
        }
        world.let_d1_work();
        if !is_answered() {
            world.delete();
            world.run(None, is_answered);
        }
        prop_assert!(is_answered());
        prop_assert_eq!(world.listed(), 0);
        let is_deleted = |stored: Option<StoredTask>| stored.as_ref().is_some_and(is_remains);
        prop_assert!(is_deleted(world.store.stored()));
        if manner.is_keyed || manner.has_chosen_id {
            // The send that began the task is repeated.
            world.is_refused.set(false);
            world.send("first", None);
            world.run(None, || world.is_refused.get());
            prop_assert!(world.is_refused.get(), "it was answered");
            prop_assert!(is_deleted(world.store.stored()));
        }
        let deleted = world.platform.now();
        // What is late arrives, and a day later nothing remains.
        world.run(None, || world.store.stored().is_none());
        world.platform.crash();
        prop_assert_eq!(world.store.stored(), None);
        prop_assert!(world.platform.now().0 <= deleted.after(DAY_MS + 300_000).0);
        prop_assert_eq!((world.listed(), world.platform.alarm()), (0, None));
    }

    #[test]
    fn a_run_that_restarts_does_everything_again(
        acts in any_acts_in_memory(),
        crashes in proptest::collection::vec((0..60usize, any::<bool>()), 0..5),
    ) {
        let world = World::new(&acts, Recovery::Restart, Manner::PLAIN);
        let deaths = live_through(&world, &acts, &crashes);
        let task = world.task().expect("a task");
        prop_assert_eq!(task.status.state, TaskState::Completed);
        let calm = World::new(&acts, Recovery::Restart, Manner::PLAIN);
        live_through(&calm, &acts, &[]);
        prop_assert_eq!(task.artifacts, calm.task().unwrap().artifacts);
        let times = world.effects.borrow().values().copied().max().unwrap_or(1);
        prop_assert!(times <= deaths + 1);
    }

    #[test]
    fn a_run_that_is_not_to_be_repeated_fails_with_the_reason(
        acts in any_acts_in_memory(),
        crash in (0..60usize, any::<bool>()),
    ) {
        let world = World::new(&acts, Recovery::Fail, Manner::PLAIN);
        live_through(&world, &acts, &[crash]);
        let task = world.task().expect("a task");
        let said = task.status.message.map(|message| message.text()).unwrap_or_default();
        prop_assert!(task.status.state == TaskState::Completed || said.contains("interrupted"));
        prop_assert!(world.effects.borrow().values().all(|times| *times <= 2));
    }

    #[test]
    fn the_alarm_is_the_earliest_deadline_and_is_not_set_twice(
        changes in proptest::collection::vec(
            (
                proptest::option::of(0..200_000i64),
                any::<bool>(),
                proptest::option::of(0..100_000i64),
                (proptest::option::of(0..1_000_000i64), proptest::option::of(0..1_000_000i64)),
                0..20_000i64,
                any::<bool>(),
            ),
            1..40,
        ),
        armed in proptest::option::of(0..100_000i64),
    ) {
        let mut now = 0;
        let mut alarm = armed.map(UnixMillis);
        let mut deadlines = Deadlines::new(alarm.map_or(Armed::No, Armed::For));
        for (run, owes_index, retry, (keep, parked), passed, rings) in changes {
            now += passed;
            if rings && alarm.is_some_and(|at| at.0 <= now) {
                alarm = None;
                deadlines.disarm();
            }
            let later = |millis: i64| UnixMillis(now + 1 + millis);
            let wants = Wants {
                run_until: run.map(later),
                parked_until: parked.map(later),
                debts: [
                    owes_index.then(|| Owed { retry: retry.map(later) }),
                    (!owes_index).then(|| Owed { retry: keep.map(later) }),
                    (!owes_index).then(|| Owed { retry: run.map(later) }),
                ],
                webhook_look: owes_index.then(|| later(30_000)),
                webhook_retry: retry.map(later),
                keep_until: keep.map(later),
            };
            let set = deadlines.update(&wants, 30_000, UnixMillis(now));
            prop_assert!(set.is_none() || set != alarm, "set for what it was set for");
            alarm = set.or(alarm);
            let earliest = deadlines.next();
            let is_about_to_ring = alarm.is_some_and(|at| at.0 <= now);
            prop_assert!(earliest.is_none() || alarm == earliest || is_about_to_ring);
            prop_assert!(earliest.is_none_or(|at| at.0 > now), "in the past");

            // Every deadline has an alarm in time.
            let soon = UnixMillis(now + 30_000);
            if wants.run_until.is_some() || (owes_index && retry.is_none()) {
                prop_assert!(alarm.is_some_and(|at| at <= soon));
            }
            for wanted in [wants.run_until, wants.parked_until, wants.keep_until] {
                prop_assert!(wanted.is_none_or(|at| alarm.is_some_and(|alarm| alarm <= at)));
            }
            prop_assert_eq!(deadlines.update(&wants, 30_000, UnixMillis(now)), None, "twice");
        }
    }
}
