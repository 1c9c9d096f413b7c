//! The ports in memory, for tests: a store that can fail, and time that moves when everybody waits.

mod usage;
mod webhook_list;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures_util::future::LocalBoxFuture;

use super::peers::Unbound;
use super::{
    Batch, Clock, Counted, FirstRow, Followers, Http, HttpAnswer, HttpError, HttpRequest, IndexRow,
    Indexed, LogRange, LogRow, Observation, Observer, Outside, Peers, Ports, Random, Runtime,
    Sealed, Severity, StoreError, Stored, StoredTask, Target, TaskFacts, TaskIndex, TaskStore,
    Vault, WebhookJob, WebhookQueue, yield_once,
};
use crate::auth::Caller;
use crate::dev_model::DevModel;
pub use a2a::http::memory::{self as http, MemoryHttp};
use a2a::model::{Secret, TaskId, UnixMillis};
use a2a_agents::tool::Counters;
pub use usage::MemoryUsage;
pub use webhook_list::MemoryWebhookList;

/// A store whose contents outlive the sessions that use it. Clones share the contents.
#[derive(Clone, Default)]
pub struct MemoryStore(Rc<StoreState>);

#[derive(Default)]
struct StoreState {
    task: RefCell<Option<StoredTask>>,
    fails: Cell<bool>,
    loads: Cell<usize>,
    pages: Cell<usize>,
}

impl MemoryStore {
    /// What is stored.
    pub fn stored(&self) -> Option<StoredTask> {
        self.0.task.borrow().clone()
    }

    /// Puts something else in its place.
    pub fn restore(&self, stored: Option<StoredTask>) {
        self.0.task.replace(stored);
    }

    /// Lets every write fail from now on, or succeed again.
    pub fn set_failing(&self, fails: bool) {
        self.0.fails.set(fails);
    }

    /// How often everything was read, and how often a page of the log.
    pub fn reads(&self) -> (usize, usize) {
        (self.0.loads.get(), self.0.pages.get())
    }
}

impl TaskStore for MemoryStore {
    fn load(&self, admits: &dyn Fn(&TaskFacts) -> bool) -> Result<Stored, StoreError> {
        self.0.loads.set(self.0.loads.get() + 1);
        Ok(match self.stored() {
            None => Stored::Nothing,
            Some(task) if !admits(&task.facts) => Stored::Withheld,
            Some(task) => Stored::Task(task),
        })
    }

    fn read_after(&self, after: u64, max_bytes: usize) -> Result<(Vec<Batch>, bool), StoreError> {
        self.0.pages.set(self.0.pages.get() + 1);
        let log = self.stored().map(|stored| stored.log).unwrap_or_default();
        let mut size = 0;
        let log = log.into_iter().map(|row| row.batch);
        let mut left = log.filter(|batch| batch.generation > after).peekable();
        let mut page = Vec::new();
        while let Some(batch) = left.next_if(|_| size < max_bytes) {
            size += batch.lines.len();
            page.push(batch);
        }
        Ok((page, left.next().is_some()))
    }

    fn read_log(
        &self,
        range: LogRange,
        max_bytes: usize,
    ) -> Result<(Vec<LogRow>, bool), StoreError> {
        self.0.pages.set(self.0.pages.get() + 1);
        let log = self.stored().map(|stored| stored.log).unwrap_or_default();
        let rows = log.into_iter();
        let rows: Vec<LogRow> = match range {
            LogRange::From(first) => rows.filter(|row| row.row >= first).collect(),
            LogRange::UpTo(last) => {
                let mut rows: Vec<LogRow> = rows.filter(|row| row.row <= last).collect();
                rows.reverse();
                rows
            }
        };
        let mut size = 0;
        let mut left = rows.into_iter().peekable();
        let mut page = Vec::new();
        while let Some(row) = left.next_if(|_| size < max_bytes) {
            size += row.batch.lines.len();
            page.push(row);
        }
        Ok((page, left.next().is_some()))
    }

    fn read_lines(&self, row: u64, _bytes: usize) -> Result<String, StoreError> {
        let log = self.stored().map(|stored| stored.log).unwrap_or_default();
        let lines = log.into_iter().find(|stored| stored.row == row).map(|row| row.batch.lines);
        Ok(lines.unwrap_or_default())
    }

    fn append(&self, opening: Option<FirstRow<'_>>, batch: &Batch) -> Result<u64, StoreError> {
        if self.0.fails.get() {
            return Err(StoreError::Failed("the store was told to fail".to_owned()));
        }
        let mut task = self.0.task.borrow_mut();
        if let Some(FirstRow { facts, indexed }) = opening {
            *task = Some(StoredTask {
                facts: facts.clone(),
                indexed,
                counted: Counted::default(),
                log: Vec::new(),
                webhooks: Vec::new(),
                credentials: None,
            });
        }
        let stored =
            task.as_mut().ok_or_else(|| StoreError::Failed("no task was opened".to_owned()))?;
        let row = stored.log.last().map_or(1, |last| last.row + last.rows);
        stored.log.push(LogRow { row, rows: 1, batch: batch.clone() });
        Ok(1)
    }

    fn set_indexed(&self, indexed: Indexed) -> Result<(), StoreError> {
        if let Some(stored) = self.0.task.borrow_mut().as_mut() {
            stored.indexed = indexed;
        }
        Ok(())
    }

    fn set_counted(&self, counted: Counted) -> Result<(), StoreError> {
        if let Some(stored) = self.0.task.borrow_mut().as_mut() {
            stored.counted = counted;
        }
        Ok(())
    }

    fn put_webhook(&self, id: &str, json: &str) -> Result<(), StoreError> {
        if self.0.fails.get() {
            return Err(StoreError::Failed("the store was told to fail".to_owned()));
        }
        let member = format!(r#""id":"{id}""#);
        if let Some(stored) = self.0.task.borrow_mut().as_mut() {
            match stored.webhooks.iter_mut().find(|known| known.contains(&member)) {
                Some(known) => *known = json.to_owned(),
                None => stored.webhooks.push(json.to_owned()),
            }
        }
        Ok(())
    }

    fn delete_webhook(&self, id: &str) -> Result<(), StoreError> {
        if self.0.fails.get() {
            return Err(StoreError::Failed("the store was told to fail".to_owned()));
        }
        let member = format!(r#""id":"{id}""#);
        if let Some(stored) = self.0.task.borrow_mut().as_mut() {
            stored.webhooks.retain(|json| !json.contains(&member));
        }
        Ok(())
    }

    fn set_credentials(&self, sealed: Option<&str>) -> Result<(), StoreError> {
        if self.0.fails.get() {
            return Err(StoreError::Failed("the store was told to fail".to_owned()));
        }
        if let Some(stored) = self.0.task.borrow_mut().as_mut() {
            stored.credentials = sealed.map(str::to_owned);
        }
        Ok(())
    }

    fn clear(&self) -> LocalBoxFuture<'_, Result<(), StoreError>> {
        self.0.task.replace(None);
        Box::pin(std::future::ready(Ok(())))
    }
}

/// A vault whose seal is no secret: base64 of the id of the object and the text.
pub struct MemoryVault;

impl MemoryVault {
    /// Seals a text for the task of an object.
    pub fn seal(object: &str, text: &str) -> Sealed {
        let text = STANDARD.encode(format!("{object} {text}"));
        Sealed { key: "memory".to_owned(), nonce: "none".to_owned(), text }
    }
}

impl Vault for MemoryVault {
    fn open<'a>(
        &'a self,
        object: &'a str,
        sealed: &'a Sealed,
    ) -> LocalBoxFuture<'a, Result<Secret, String>> {
        let bytes = STANDARD.decode(&sealed.text).unwrap_or_default();
        let text = String::from_utf8(bytes).unwrap_or_default();
        let opened = text.strip_prefix(&format!("{object} ")).map(Secret::new);
        let opened = opened.ok_or_else(|| "it was sealed for another task".to_owned());
        Box::pin(std::future::ready(opened))
    }
}

/// A platform with a clock of its own. [`run_until`](Self::run_until) drives everything spawned, and
/// moves the clock to the next timer when nothing else can go on.
#[derive(Clone, Default)]
pub struct MemoryPlatform(Rc<PlatformState>);

#[derive(Default)]
struct PlatformState {
    now: Cell<i64>,
    ids: Cell<u64>,
    secrets: Cell<u8>,
    tasks: RefCell<Vec<LocalBoxFuture<'static, ()>>>,
    timers: RefCell<BTreeMap<(i64, u64), Waker>>,
    counters: RefCell<BTreeMap<(String, String), u64>>,
    observed: RefCell<Vec<(Severity, String)>>,
    frames: RefCell<Vec<String>>,
    messages: RefCell<Vec<String>>,
    jobs: RefCell<Vec<WebhookJob>>,
    alarm: Cell<Option<UnixMillis>>,
    alarms_set: Cell<usize>,
    index: Rc<MemoryIndex>,
    usage: Rc<MemoryUsage>,
    webhook_list: Rc<MemoryWebhookList>,
    http: MemoryHttp,
    bound: RefCell<Vec<(Target, MemoryHttp)>>,
}

impl MemoryPlatform {
    /// Binds something to the Worker: what is given answers for it. Nothing is bound before but the scripted model.
    pub fn bind(&self, target: Target) -> MemoryHttp {
        let http = MemoryHttp::default();
        self.0.bound.borrow_mut().push((target, http.clone()));
        http
    }

    /// The ports of a task on this platform.
    pub fn ports(&self) -> Ports {
        Ports {
            clock: Rc::new(self.clone()),
            random: Rc::new(self.clone()),
            runtime: Rc::new(self.clone()),
            followers: Rc::new(self.clone()),
            queue: Rc::new(self.clone()),
            index: self.0.index.clone(),
            usage: self.0.usage.clone(),
            webhook_list: self.0.webhook_list.clone(),
            http: Rc::new(self.0.http.clone()),
            peers: Rc::new(self.clone()),
            counters: Rc::new(self.clone()),
            vault: Rc::new(MemoryVault),
            observer: Rc::new(self.clone()),
        }
    }

    /// Drives a future, and whatever is spawned meanwhile, until the future is ready.
    ///
    /// # Panics
    ///
    /// If nothing can go on any more: everybody waits, and no timer is set.
    pub fn run_until<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = Box::pin(future);
        let context = &mut Context::from_waker(Waker::noop());
        let mut idle_rounds = 0;
        loop {
            if let Poll::Ready(value) = future.as_mut().poll(context) {
                return value;
            }
            self.poll_spawned(context);
            idle_rounds += 1;
            if idle_rounds > IDLE_ROUNDS {
                idle_rounds = 0;
                assert!(self.advance(), "everybody waits and no timer is set");
            }
        }
    }

    /// Drives everything spawned until nothing is left, moving the clock as needed.
    pub fn run_all(&self) {
        let left = || self.0.tasks.borrow().is_empty();
        self.run_until(std::future::poll_fn(
            |_| if left() { Poll::Ready(()) } else { Poll::Pending },
        ));
    }

    /// Polls everything spawned once, and calls `after` behind each; stops when that says so. Whether
    /// it came to the end.
    pub fn poll_each(&self, after: &mut dyn FnMut() -> ControlFlow<()>) -> bool {
        let context = &mut Context::from_waker(Waker::noop());
        let mut spawned = VecDeque::from(self.0.tasks.take());
        let mut left = Vec::new();
        let mut is_stopped = false;
        while !is_stopped && let Some(mut task) = spawned.pop_front() {
            if task.as_mut().poll(context).is_pending() {
                left.push(task);
            }
            is_stopped = after().is_break();
        }
        left.extend(spawned);
        left.append(&mut self.0.tasks.borrow_mut());
        self.0.tasks.replace(left);
        !is_stopped
    }

    /// Moves the clock to the next timer or the alarm, whichever comes first. Whether it was the alarm,
    /// which is not set any more then; `None` if there is neither.
    pub fn advance_to_next(&self) -> Option<bool> {
        let timer = self.0.timers.borrow().keys().next().map(|(due, _)| UnixMillis(*due));
        let alarm = self.alarm();
        match (timer, alarm) {
            (_, Some(alarm)) if timer.is_none_or(|timer| alarm <= timer) => {
                self.0.now.set(self.0.now.get().max(alarm.0));
                self.0.alarm.set(None);
                Some(true)
            }
            (Some(_), _) => self.advance().then_some(false),
            (None, _) => None,
        }
    }

    /// Moves the clock to the alarm, which is not set any more then, if it rings at `limit` or before. Whether it does.
    pub fn ring(&self, limit: UnixMillis) -> bool {
        let Some(alarm) = self.alarm().filter(|alarm| *alarm <= limit) else { return false };
        self.0.now.set(self.0.now.get().max(alarm.0));
        self.0.alarm.set(None);
        true
    }

    /// Drives everything spawned until nothing can go on, or the clock would have to be moved beyond `limit`. Stops at
    /// the alarm, before anything that is due later; then it gives true, and the alarm is not set any more.
    pub fn run_to(&self, limit: UnixMillis) -> bool {
        loop {
            for _ in 0..IDLE_ROUNDS {
                self.poll_spawned(&mut Context::from_waker(Waker::noop()));
            }
            let timer = self.0.timers.borrow().keys().next().map(|(due, _)| UnixMillis(*due));
            if self.ring(timer.map_or(limit, |timer| timer.min(limit))) {
                return true;
            }
            if timer.is_none_or(|timer| timer > limit) || !self.advance() {
                self.0.now.set(self.0.now.get().max(limit.0));
                return false;
            }
        }
    }

    /// Ends everything that is under way, as a crash of the process does. What it wrote stays, and so
    /// does the alarm.
    pub fn crash(&self) {
        let tasks = self.0.tasks.take();
        drop(tasks);
        self.0.timers.borrow_mut().clear();
    }

    /// What was sent to those who follow the task.
    pub fn frames(&self) -> Vec<String> {
        self.0.frames.borrow().clone()
    }

    /// The ids of the messages that the agent was given.
    pub fn messages(&self) -> Vec<String> {
        self.0.messages.borrow().clone()
    }

    /// Takes the jobs that are in the queue of notifications.
    pub fn take_jobs(&self) -> Vec<WebhookJob> {
        self.0.jobs.take()
    }

    /// What was observed with this severity, as lines of a log.
    pub fn observed(&self, severity: Severity) -> Vec<String> {
        let observed = self.0.observed.borrow();
        let lines = observed.iter().filter(|(known, _)| *known == severity);
        lines.map(|(_, line)| line.clone()).collect()
    }

    /// The failures that were observed, as lines of a log.
    pub fn errors(&self) -> Vec<String> {
        self.observed(Severity::Error)
    }

    /// When the task wants to be woken.
    pub fn alarm(&self) -> Option<UnixMillis> {
        self.0.alarm.get()
    }

    /// Sets the alarm aside, or back to what it was.
    pub fn restore_alarm(&self, alarm: Option<UnixMillis>) {
        self.0.alarm.set(alarm);
    }

    /// How often an alarm was set.
    pub fn alarms_set(&self) -> usize {
        self.0.alarms_set.get()
    }

    /// The index that tasks of this platform write to.
    pub fn memory_index(&self) -> &MemoryIndex {
        &self.0.index
    }

    /// The sums that tasks of this platform count their turns into.
    pub fn memory_usage(&self) -> &MemoryUsage {
        &self.0.usage
    }

    /// The list of webhooks in trouble that tasks of this platform tell.
    pub fn memory_webhook_list(&self) -> &MemoryWebhookList {
        &self.0.webhook_list
    }

    /// What executors of this platform get when they are made; there are neither secrets nor variables.
    pub fn outside(&self) -> Outside {
        Outside {
            http: Rc::new(self.0.http.clone()),
            secrets: Rc::new(BTreeMap::<String, Secret>::new()),
            variables: Rc::new(BTreeMap::<String, String>::new()),
            observer: Rc::new(self.clone()),
            remotes: Rc::default(),
            mcp: Rc::default(),
            clock: Rc::new(self.clone()),
            agent: "".into(),
        }
    }

    /// The other servers that tasks of this platform call.
    pub fn memory_http(&self) -> &MemoryHttp {
        &self.0.http
    }

    fn poll_spawned(&self, context: &mut Context<'_>) {
        let spawned = self.0.tasks.take();
        let mut left = Vec::new();
        for mut task in spawned {
            if task.as_mut().poll(context).is_pending() {
                left.push(task);
            }
        }
        // Tasks that were spawned while these ran are already in the list.
        left.append(&mut self.0.tasks.borrow_mut());
        self.0.tasks.replace(left);
    }

    fn advance(&self) -> bool {
        let Some(((due, _), waker)) = self.0.timers.borrow_mut().pop_first() else { return false };
        self.0.now.set(self.0.now.get().max(due));
        waker.wake();
        true
    }
}

impl Clock for MemoryPlatform {
    fn now(&self) -> UnixMillis {
        UnixMillis(self.0.now.get())
    }

    fn sleep(&self, millis: u64) -> LocalBoxFuture<'static, ()> {
        let due = self.now().after(millis).0;
        Box::pin(Timer { platform: self.clone(), due, key: None })
    }
}

impl Random for MemoryPlatform {
    fn new_id(&self) -> String {
        self.0.ids.set(self.0.ids.get() + 1);
        format!("id-{}", self.0.ids.get())
    }

    fn secret_bytes(&self) -> [u8; 32] {
        let secrets = self.0.secrets.get();
        self.0.secrets.set(secrets.wrapping_add(1));
        [7_u8.wrapping_add(secrets); 32]
    }

    fn chance(&self) -> f64 {
        0.5
    }
}

impl Runtime for MemoryPlatform {
    fn spawn(&self, future: LocalBoxFuture<'static, ()>) {
        self.0.tasks.borrow_mut().push(future);
    }

    fn set_alarm(&self, at: UnixMillis) {
        self.0.alarm.set(Some(at));
        self.0.alarms_set.set(self.0.alarms_set.get() + 1);
    }

    fn alarm(&self) -> LocalBoxFuture<'static, Option<UnixMillis>> {
        let platform = self.clone();
        Box::pin(async move {
            yield_once().await;
            platform.0.alarm.get()
        })
    }

    fn keep_until_durable(&self) {}
}

impl Followers for MemoryPlatform {
    fn publish(&self, frame: &dyn Fn() -> Option<String>, _is_over: bool) {
        self.0.frames.borrow_mut().extend(frame());
    }
}

impl WebhookQueue for MemoryPlatform {
    fn enqueue(&self, job: WebhookJob) -> LocalBoxFuture<'static, Result<(), String>> {
        self.0.jobs.borrow_mut().push(job);
        Box::pin(std::future::ready(Ok(())))
    }
}

impl Observer for MemoryPlatform {
    fn observe(&self, observation: &Observation<'_>) {
        if let Observation::MessageReceived { message, .. } = observation {
            self.0.messages.borrow_mut().push(message.message_id.clone());
        }
        let observed = (observation.severity(), observation.to_string());
        self.0.observed.borrow_mut().push(observed);
    }
}

/// The other servers stand for the agents of the Worker, too; a header `caller` says for whom they are asked.
impl Peers for MemoryPlatform {
    fn hosted(&self, _agent: &str, caller: &Caller, _request: Option<&str>) -> Rc<dyn Http> {
        Rc::new(MemoryHosted { http: self.0.http.clone(), caller: caller.id.clone() })
    }

    fn bound(&self, target: &Target) -> Rc<dyn Http> {
        let bound = self.0.bound.borrow();
        match bound.iter().find(|(known, _)| known == target) {
            Some((_, http)) => Rc::new(http.clone()),
            None if *target == Target::DevModel => Rc::new(DevModel::new(Rc::new(self.clone()))),
            None => Rc::new(Unbound(target.clone())),
        }
    }
}

struct MemoryHosted {
    http: MemoryHttp,
    caller: String,
}

impl Http for MemoryHosted {
    fn send(&self, request: HttpRequest) -> LocalBoxFuture<'static, Result<HttpAnswer, HttpError>> {
        self.http.send(request.with_header("caller", self.caller.clone()))
    }
}

#[async_trait(?Send)]
impl Counters for MemoryPlatform {
    async fn increment(&self, owner: &str, name: &str) -> Result<u64, String> {
        let mut counters = self.0.counters.borrow_mut();
        let counter = counters.entry((owner.to_owned(), name.to_owned())).or_default();
        *counter += 1;
        Ok(*counter)
    }
}

/// An index that can fail, or never answer.
#[derive(Default)]
pub struct MemoryIndex {
    rows: RefCell<BTreeMap<TaskId, IndexRow>>,
    statements: Cell<usize>,
    fails: Cell<bool>,
    hangs: Cell<bool>,
}

impl MemoryIndex {
    /// The row of a task.
    pub fn row(&self, id: &TaskId) -> Option<IndexRow> {
        self.rows.borrow().get(id).cloned()
    }

    /// How many statements it was given, also those that failed.
    pub fn statements(&self) -> usize {
        self.statements.get()
    }

    /// Lets every statement fail from now on, or succeed again.
    pub fn set_failing(&self, fails: bool) {
        self.fails.set(fails);
    }

    /// Lets every statement go unanswered from now on, or be answered again.
    pub fn set_hanging(&self, hangs: bool) {
        self.hangs.set(hangs);
    }
}

#[async_trait(?Send)]
impl TaskIndex for MemoryIndex {
    async fn upsert(&self, row: IndexRow) -> Result<(), String> {
        self.statements.set(self.statements.get() + 1);
        // A statement leaves the object only when what was written before it is durable.
        yield_once().await;
        if self.hangs.get() {
            std::future::pending::<()>().await;
        }
        if self.fails.get() {
            return Err("the index was told to fail".to_owned());
        }
        let mut rows = self.rows.borrow_mut();
        if rows.get(&row.id).is_none_or(|known| row.generation > known.generation) {
            rows.insert(row.id.clone(), row);
        }
        Ok(())
    }

    async fn remove(&self, id: &TaskId) -> Result<(), String> {
        self.statements.set(self.statements.get() + 1);
        yield_once().await;
        if self.fails.get() {
            return Err("the index was told to fail".to_owned());
        }
        self.rows.borrow_mut().remove(id);
        Ok(())
    }
}

/// How often everything is polled before the clock is moved: what is woken may wake others.
const IDLE_ROUNDS: usize = 6;

struct Timer {
    platform: MemoryPlatform,
    due: i64,
    key: Option<(i64, u64)>,
}

impl Future for Timer {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.platform.0.now.get() >= self.due {
            return Poll::Ready(());
        }
        let serial = self.key.map_or_else(
            || {
                self.platform.0.ids.set(self.platform.0.ids.get() + 1);
                self.platform.0.ids.get()
            },
            |(_, serial)| serial,
        );
        let key = (self.due, serial);
        self.key = Some(key);
        self.platform.0.timers.borrow_mut().insert(key, context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.platform.0.timers.borrow_mut().remove(&key);
        }
    }
}
