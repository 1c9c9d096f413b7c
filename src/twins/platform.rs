//! All ports of a task except its storage, in memory: with a clock that advances when all futures wait, and futures that the
//! test polls.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use async_trait::async_trait;
use futures_util::future::LocalBoxFuture;

use super::{MemoryHttp, MemoryIndex, MemoryUsage, MemoryVault, MemoryWebhookList};
use crate::auth::Caller;
use crate::port::{
    Clock, Followers, Http, HttpAnswer, HttpError, HttpRequest, Observation, Observer, Outside,
    Peers, Ports, Random, Runtime, Severity, Target, Unbound, WebhookJob, WebhookQueue, yield_once,
};
use crate::push::{Notification, Report};
use crate::trail::AskedBy;
use a2a::model::{Secret, UnixMillis, Uuid};
use a2a_agents::tool::Counters;

/// A platform with its own clock. [`run_until`](Self::run_until) drives all spawned futures, and advances the clock to the
/// next timer when no future can continue.
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
    /// Binds a target to the Worker: the returned double answers in its place. Initially only the scripted model is bound.
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

    /// Drives a future, and all futures that are spawned meanwhile, until the future is ready.
    ///
    /// # Panics
    ///
    /// If no future can continue: all wait, and no timer is set.
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

    /// Drives all spawned futures to their end, and advances the clock as needed.
    pub fn run_all(&self) {
        let left = || self.0.tasks.borrow().is_empty();
        self.run_until(std::future::poll_fn(
            |_| if left() { Poll::Ready(()) } else { Poll::Pending },
        ));
    }

    /// Polls each spawned future once, and calls `after` following each poll; stops if `after` returns `Break`. Returns true
    /// if all were polled.
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

    /// Advances the clock to the next timer or the alarm, whichever is first. Returns true if it was the alarm, which is
    /// then cleared; `None` if neither is set.
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

    /// If the alarm is due at `limit` or earlier, advances the clock to the alarm, clears it, and returns true.
    pub fn ring(&self, limit: UnixMillis) -> bool {
        let Some(alarm) = self.alarm().filter(|alarm| *alarm <= limit) else { return false };
        self.0.now.set(self.0.now.get().max(alarm.0));
        self.0.alarm.set(None);
        true
    }

    /// Drives all spawned futures and advances the clock, up to `limit`. If the alarm is due by then and not later than the next
    /// timer, moves the clock to the alarm, clears it, and returns true. Otherwise returns false, with the clock at `limit` or
    /// later.
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

    /// Drops all spawned futures, like a crash of the process. Their writes and the alarm stay.
    pub fn crash(&self) {
        let tasks = self.0.tasks.take();
        drop(tasks);
        self.0.timers.borrow_mut().clear();
    }

    /// The frames that were sent to the followers of the task.
    pub fn frames(&self) -> Vec<String> {
        self.0.frames.borrow().clone()
    }

    /// The ids of the messages that the agent has received.
    pub fn messages(&self) -> Vec<String> {
        self.0.messages.borrow().clone()
    }

    /// Removes and returns the jobs in the queue of notifications.
    pub fn take_jobs(&self) -> Vec<WebhookJob> {
        self.0.jobs.take()
    }

    /// The observations with this severity, as lines of a log.
    pub fn observed(&self, severity: Severity) -> Vec<String> {
        let observed = self.0.observed.borrow();
        let lines = observed.iter().filter(|(known, _)| *known == severity);
        lines.map(|(_, line)| line.clone()).collect()
    }

    /// The observed failures, as lines of a log.
    pub fn errors(&self) -> Vec<String> {
        self.observed(Severity::Error)
    }

    /// The alarm of the task.
    pub fn alarm(&self) -> Option<UnixMillis> {
        self.0.alarm.get()
    }

    /// Replaces the alarm, for example to remove and later restore it.
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

    /// The sums to which tasks of this platform add their turns.
    pub fn memory_usage(&self) -> &MemoryUsage {
        &self.0.usage
    }

    /// The list of webhooks in trouble that tasks of this platform update.
    pub fn memory_webhook_list(&self) -> &MemoryWebhookList {
        &self.0.webhook_list
    }

    /// The outside for executors of this platform; it has no secrets and no variables.
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
        // The futures that were spawned during these polls are already in the list.
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
    fn new_id(&self) -> Uuid {
        self.0.ids.set(self.0.ids.get() + 1);
        Uuid::v4(u128::from(self.0.ids.get()).to_be_bytes())
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

    fn durable(&self) -> LocalBoxFuture<'static, ()> {
        // The rows of the memory store are durable at once.
        Box::pin(async {})
    }
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

    /// The doubles of other servers answer.
    fn attempt(
        &self,
        _agent: String,
        notification: Notification,
    ) -> LocalBoxFuture<'static, Report> {
        let Notification { generation, body, config, .. } = notification;
        let sent = self.0.http.send(HttpRequest::post(config.url).with_body(body));
        let at = self.now().0;
        Box::pin(async move {
            match sent.await {
                Ok(answer) => {
                    Report { generation, at, status: Some(answer.status), ..Report::default() }
                }
                Err(error) => {
                    Report { generation, at, error: Some(error.to_string()), ..Report::default() }
                }
            }
        })
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

/// The doubles of other servers also answer for the agents of the Worker; the header `caller` contains the id of the caller.
impl Peers for MemoryPlatform {
    fn hosted(&self, _by: AskedBy, caller: &Caller, _request: Option<&str>) -> Rc<dyn Http> {
        Rc::new(MemoryHosted { http: self.0.http.clone(), caller: caller.id.clone() })
    }

    fn bound(&self, target: &Target) -> Rc<dyn Http> {
        let bound = self.0.bound.borrow();
        match bound.iter().find(|(known, _)| known == target) {
            Some((_, http)) => Rc::new(http.clone()),
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

/// How often all futures are polled before the clock advances: a woken future may wake others.
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

#[cfg(test)]
mod tests {
    use super::*;
    use a2a::http::memory::ok;

    #[test]
    fn what_is_not_bound_says_what_to_add() {
        let platform = MemoryPlatform::default();
        let asked = |target: &Target| {
            let http = platform.bound(target);
            let request = HttpRequest::post("https://shop.internal/a");
            platform.run_until(http.send(request)).map(|answer| answer.status)
        };
        for (target, text) in [
            (
                Target::Service("SHOP".to_owned()),
                r#"this Worker has no service binding "SHOP": add [[services]] with binding = "SHOP" and service = "<name of the other Worker>" to wrangler.toml"#,
            ),
            (
                Target::WorkersAi("AI".to_owned()),
                r#"this Worker has no binding "AI" of Workers AI: add [ai] with binding = "AI" to wrangler.toml"#,
            ),
        ] {
            assert_eq!(asked(&target).map_err(|error| error.to_string()), Err(text.to_owned()));
            platform.bind(target.clone()).answer_with(|_, _| Ok(ok("")));
            assert_eq!(asked(&target), Ok(200));
        }
    }
}
