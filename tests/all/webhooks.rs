//! The notifications that webhooks still have to receive, and their senders, with the in-memory
//! implementations of the platform.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use a2a::error::Error;
use a2a::model::decode::read_json;
use a2a::model::{
    Artifact, Generation, Part, PushNotificationConfigRequest, RedeliverRequest, TaskId,
    TaskPushNotificationConfig, UnixMillis,
};
use a2a::{Outcome, WebhookCall};
use a2a_edge::auth::Caller;
use a2a_edge::config::Limits;
use a2a_edge::port::Clock;
use a2a_edge::push::{
    Crowd, MAX_SILENT_AT_ONCE, NextNotification, Notification, Report, Standing, patience_ms,
};
use a2a_edge::session::TaskSession;
use a2a_edge::twins::MemoryPlatform;
use proptest::prelude::*;
use serde_json::json;

use crate::support::{Host, first, limits, manage_webhooks, owned};

/// An agent whose task has `count` chunks, with pauses between them.
fn chunks(count: usize) -> Host {
    Host::new(move |turn, events| {
        Box::pin(async move {
            for index in 0..count {
                let chunk = Artifact::new("a", Part::text(index.to_string()));
                match index {
                    0 => events.begin(chunk)?,
                    _ => events.append(chunk, index + 1 == count)?,
                }
                turn.sleep(10).await;
            }
            events.complete(None)
        })
    })
}

fn config(rest: serde_json::Value) -> TaskPushNotificationConfig {
    let mut config = json!({"taskId": "t", "id": "hook", "url": "https://receiver.example/"});
    config.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    read_json(&config.to_string()).expect("a good config")
}

/// Begins a task with a webhook, and lets it end.
fn complete(host: &Host, rest: serde_json::Value) -> Rc<TaskSession> {
    let session = host.open();
    let mut request = first("hi");
    request["configuration"] = json!({"taskPushNotificationConfig": {
        "id": "hook", "url": "https://receiver.example/",
    }});
    let webhook = &mut request["configuration"]["taskPushNotificationConfig"];
    webhook.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    host.platform.run_until(host.send(&session, request)).expect("an answer");
    session
}

fn manage(session: &TaskSession, call: WebhookCall) -> Result<Outcome, Error> {
    manage_webhooks(session, "agent", &Caller::anonymous(), call)
}

fn create(session: &TaskSession, config: TaskPushNotificationConfig) -> TaskPushNotificationConfig {
    match manage(session, WebhookCall::CreateTaskPushNotificationConfig(Box::new(config))) {
        Ok(Outcome::PushConfig(made)) => made.config,
        other => panic!("{other:?}"),
    }
}

fn ask(
    session: &TaskSession,
    lease: Option<String>,
    report: Option<Report>,
) -> Option<(u64, String)> {
    let config_id = "hook".to_owned();
    let asked = NextNotification { config_id, lease, report, leaves: false };
    let next = session.next_notification(asked).next?;
    assert!(!next.body.contains('\n'));
    Some((next.generation.0, next.lease))
}

fn answered(generation: u64, status: u16) -> Option<Report> {
    Some(Report { generation: Generation(generation), status: Some(status), ..Report::default() })
}

/// Sends all pending notifications to a receiver that accepts everything; returns the generations.
fn drain(session: &TaskSession) -> Vec<u64> {
    let mut sent = Vec::new();
    let mut next = ask(session, None, None);
    while let Some((generation, lease)) = next {
        sent.push(generation);
        next = ask(session, Some(lease), answered(generation, 204));
    }
    sent
}

fn pass(platform: &MemoryPlatform, millis: u64) {
    platform.run_until(platform.sleep(millis));
}

#[test]
fn a_webhook_gets_every_event_in_order_and_one_job_at_a_time() {
    let host = chunks(30);
    let session = complete(&host, json!({}));
    assert_eq!(host.platform.take_jobs().len(), 1);
    assert_eq!(drain(&session), (1..=32).collect::<Vec<u64>>());
    assert_eq!(host.platform.take_jobs(), [], "nothing more is owed");
    assert_eq!(drain(&session), Vec::<u64>::new());
    assert_eq!(drain(&host.open()), Vec::<u64>::new(), "and that is stored");
}

#[test]
fn filters_skip_what_is_not_wanted() {
    for (events, expected) in
        [("status", vec![1, 7]), ("artifacts", vec![2, 3, 4, 5, 6]), ("all", (1..=7).collect())]
    {
        let host = chunks(5);
        let session = complete(&host, json!({"events": events}));
        assert_eq!(drain(&session), expected, "{events}");
        assert_eq!(drain(&host.open()), Vec::<u64>::new(), "{events}");
    }
}

#[test]
fn one_sender_at_a_time_has_the_lease() {
    let host = chunks(3);
    let session = complete(&host, json!({}));
    let (generation, lease) = ask(&session, None, None).unwrap();
    assert_eq!(ask(&session, None, None), None, "somebody is at it");
    assert_eq!(ask(&session, Some("another".to_owned()), None), None);
    let (second, lease) = ask(&session, Some(lease), answered(generation, 200)).unwrap();
    assert_eq!(second, 2);
    // The holder of the lease is gone: after a while the next sender gets it, with the same event.
    pass(&host.platform, limits().webhook_timeout_ms + 5_000);
    let (again, _) = ask(&session, None, None).unwrap();
    assert_eq!(again, 2);
    // The first sender was only late: its report is counted once.
    assert_eq!(ask(&session, Some(lease), answered(2, 200)), None, "the lease is another's");
}

#[test]
fn the_alarm_finds_what_the_queue_has_lost() {
    let host = chunks(3);
    let session = complete(&host, json!({}));
    host.platform.run_all();
    host.platform.take_jobs();
    let alarm = host.platform.alarm().expect("an alarm").0;
    let soon = i64::try_from(limits().keep_alive_ms).unwrap();
    assert!(alarm <= host.platform.now().0 + soon);
    pass(&host.platform, limits().keep_alive_ms);
    host.platform.run_until(session.wake());
    pass(&host.platform, 1);
    assert_eq!(host.platform.take_jobs().len(), 1);
}

#[test]
fn what_fails_is_retried_by_the_alarm() {
    let host = chunks(3);
    let session = complete(&host, json!({}));
    host.platform.run_all();
    host.platform.take_jobs();
    let (generation, lease) = ask(&session, None, None).unwrap();
    assert_eq!(ask(&session, Some(lease), answered(generation, 500)), None);
    assert_eq!(host.platform.take_jobs(), [], "not before its time");
    let left = host.platform.alarm().expect("an alarm").0 - host.platform.now().0;
    assert_eq!(left, 3_750, "5 s, spread");
    // Also if the object was not in memory meanwhile.
    host.platform.crash();
    let reopened = host.open();
    assert_eq!(ask(&reopened, None, None), None);
    pass(&host.platform, 3_750);
    host.platform.run_until(reopened.wake());
    pass(&host.platform, 1);
    assert_eq!(host.platform.take_jobs().len(), 1);
    assert_eq!(drain(&reopened), [1, 2, 3, 4, 5]);
}

#[test]
fn a_webhook_that_is_deleted_gets_nothing_more() {
    let host = chunks(3);
    let session = complete(&host, json!({}));
    let (generation, lease) = ask(&session, None, None).unwrap();
    let request = PushNotificationConfigRequest {
        tenant: None,
        task_id: TaskId::new("t").unwrap(),
        id: "hook".to_owned(),
    };
    let delete = || WebhookCall::DeleteTaskPushNotificationConfig(request.clone());
    let get = || WebhookCall::GetTaskPushNotificationConfig(request.clone());
    assert_eq!(manage(&session, delete()), Ok(Outcome::Deleted));
    assert_eq!(ask(&session, Some(lease), answered(generation, 200)), None);
    assert_eq!(manage(&session, delete()), Ok(Outcome::Deleted));
    let gone = Err(Error::TaskNotFound(TaskId::new("t").unwrap()));
    assert_eq!(manage(&session, get()), gone);
    assert_eq!(manage(&host.open(), get()), gone);
    let caller = Caller::anonymous();
    assert_eq!(manage_webhooks(&session, "other", &caller, delete()), gone);
}

#[test]
fn a_webhook_of_a_task_that_is_there_gets_what_happens_from_then_on() {
    let host = chunks(3);
    let session = complete(&host, json!({}));
    let made = create(&session, config(json!({"id": "late"})));
    assert!(made.signing_secret.unwrap().reveal().starts_with("whsec_"));
    assert_eq!(made.task_id, TaskId::new("t").unwrap());
    let nameless = config(json!({"id": ""}));
    assert!(!create(&session, nameless).id.is_empty());
    let asked = NextNotification { config_id: "late".to_owned(), ..NextNotification::default() };
    assert_eq!(session.next_notification(asked).next, None);
}

#[test]
fn a_webhook_that_replaces_another_goes_on_where_that_was() {
    let host = chunks(3);
    let session = complete(&host, json!({}));
    create(&session, config(json!({"id": "later"})));
    let (generation, lease) = ask(&session, None, None).unwrap();
    let (second, lease) = ask(&session, Some(lease), answered(generation, 200)).unwrap();
    assert_eq!(second, 2);
    create(&session, config(json!({"url": "https://other.example/"})));
    // A notification on its way to the old URL does not count for the new one.
    assert_eq!(ask(&session, Some(lease), answered(2, 200)).unwrap().0, 2);
    for session in [session, host.open()] {
        let list = json!({"taskId": "t"}).to_string();
        let list = WebhookCall::ListTaskPushNotificationConfigs(read_json(&list).unwrap());
        let Ok(Outcome::PushConfigs(all)) = manage(&session, list) else { panic!("no list") };
        let ids: Vec<&str> = all.iter().map(|shown| shown.config.id.as_str()).collect();
        assert_eq!(ids, ["hook", "later"], "in the order of their registration");
        assert_eq!(all[0].config.url, "https://other.example/");
    }
    assert_eq!(drain(&host.open()), [2, 3, 4, 5]);
}

#[test]
fn replacing_a_suspended_webhook_sends_what_it_is_owed() {
    let host = chunks(3);
    let session = complete(&host, json!({}));
    let (generation, lease) = ask(&session, None, None).unwrap();
    assert_eq!(ask(&session, Some(lease), answered(generation, 410)), None, "gone");
    host.platform.run_all();
    host.platform.take_jobs();
    create(&session, config(json!({"url": "https://other.example/"})));
    host.platform.run_all();
    assert_eq!(host.platform.take_jobs().len(), 1);
    assert_eq!(drain(&session), [2, 3, 4, 5]);
}

#[test]
fn a_suspended_webhook_is_told_of_the_end_once() {
    for (rest, status, told) in [
        (json!({}), 200, true),
        (json!({}), 503, true),
        (json!({"events": "artifacts"}), 200, false),
    ] {
        let host = chunks(5);
        let one_try = Limits { webhook_attempts: 1, ..limits() };
        let session = host.open_within(one_try.clone());
        let mut request = first("hi");
        let mut webhook = json!({"id": "hook", "url": "https://receiver.example/"});
        webhook.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        request["configuration"] = json!({"taskPushNotificationConfig": webhook});
        host.platform.run_until(host.send(&session, request)).expect("an answer");
        let mut next = ask(&session, None, None);
        let mut tried = Vec::new();
        for _ in 0..3 {
            let (generation, lease) = next.unwrap();
            tried.push(generation);
            next = ask(&session, Some(lease), answered(generation, 503));
        }
        let Some((generation, lease)) = next else {
            assert!(!told, "{rest}");
            continue;
        };
        assert_eq!((tried, generation, told), (vec![1, 2, 3], 7, true), "{rest}");
        assert_eq!(ask(&session, Some(lease), answered(7, status)), None);
        host.platform.run_all();
        host.platform.take_jobs();
        let reopened = host.open_within(one_try);
        host.platform.run_until(reopened.wake());
        host.platform.run_all();
        assert_eq!(host.platform.take_jobs(), [], "once, also after a restart");
        let again = json!({"taskId": "t", "id": "hook", "fromGeneration": 4}).to_string();
        let again = WebhookCall::RedeliverTaskPushNotifications(read_json(&again).unwrap());
        manage(&reopened, again).expect("its owner asks for the rest");
        assert_eq!(drain(&reopened), [4, 5, 6, 7]);
    }
}

#[test]
fn secrets_are_shown_by_the_answer_that_creates_a_webhook() {
    let named = Caller::new("somebody");
    for (caller, sees) in [(Caller::anonymous(), false), (named, true)] {
        let host = chunks(3);
        let session = complete(&host, json!({}));
        host.platform.run_all();
        let mut stored = host.store.stored().unwrap();
        stored.facts.owner.clone_from(&caller.id);
        host.store.restore(Some(stored));
        drop(session);
        let session = host.open();
        let full = config(json!({"id": "own", "token": "t", "signingSecret": null,
            "authentication": {"scheme": "Bearer", "credentials": "c"}}));
        let answer = |call: WebhookCall| match manage_webhooks(&session, "agent", &caller, call) {
            Ok(Outcome::PushConfig(shown)) => serde_json::to_value(&shown).unwrap(),
            Ok(Outcome::PushConfigs(mut all)) => serde_json::to_value(all.pop().unwrap()).unwrap(),
            other => panic!("{other:?}"),
        };
        let create = || WebhookCall::CreateTaskPushNotificationConfig(Box::new(full.clone()));
        let created = answer(create());
        assert_eq!(created["token"], "t");
        assert_eq!(created["authentication"]["credentials"], "c");
        assert!(created["signingSecret"].as_str().unwrap().starts_with("whsec_"));
        let one = || json!({"taskId": "t", "id": "own", "fromGeneration": 1}).to_string();
        for shown in [
            answer(create()),
            answer(WebhookCall::GetTaskPushNotificationConfig(read_json(&one()).unwrap())),
            answer(WebhookCall::ListTaskPushNotificationConfigs(read_json(&one()).unwrap())),
            answer(WebhookCall::RedeliverTaskPushNotifications(read_json(&one()).unwrap())),
        ] {
            assert_eq!(shown.get("token").is_some(), sees, "{shown}");
            assert_eq!(shown["authentication"]["scheme"], "Bearer");
            assert_eq!(shown["authentication"].get("credentials").is_some(), sees, "{shown}");
            assert_eq!(shown.get("signingSecret"), None);
            for member in ["hasToken", "hasCredentials", "hasSigningSecret"] {
                assert_eq!(shown[member], true, "{member}");
            }
        }
        // The sender's config has all secrets; a replaced webhook keeps only its signing secret.
        let asked = |id: &str| NextNotification { config_id: id.to_owned(), ..Default::default() };
        let sent = session.next_notification(asked("own")).next.unwrap().config;
        assert_eq!(serde_json::to_value(&sent).unwrap()["signingSecret"], created["signingSecret"]);
        assert!(sent.token.is_some());
        answer(WebhookCall::CreateTaskPushNotificationConfig(Box::new(config(
            json!({"id": "own"}),
        ))));
        let sent = session.next_notification(asked("own")).next.unwrap().config;
        assert_eq!(serde_json::to_value(&sent).unwrap()["signingSecret"], created["signingSecret"]);
        assert_eq!((sent.token, sent.authentication), (None, None));
    }
}

#[test]
fn a_direct_message_leaves_no_webhook() {
    let host =
        Host::new(|_, events| Box::pin(async move { events.reply(vec![Part::text("hello")]) }));
    let session = complete(&host, json!({}));
    host.platform.run_all();
    assert_eq!(host.store.stored(), None);
    assert_eq!(host.platform.take_jobs(), []);
    assert_eq!(ask(&session, None, None), None);
}

/// The behaviour of a receiver for a notification: its delay, and its status; `None` for a connection that
/// breaks.
type Receiver<'a> = dyn FnMut(&str, UnixMillis) -> (u64, Option<u16>) + 'a;

/// The queue and its consumer as they run locally: one batch at a time.
struct World {
    host: Host,
    session: Rc<TaskSession>,
    limits: Limits,
    queue: VecDeque<String>,
    crowd: Crowd,
    /// The notifications that are being sent.
    sending: Vec<Sending>,
    /// The notifications that wait for one of the places for silent receivers in their batch.
    held: Vec<(usize, String, Notification)>,
    batches: usize,
    /// The batch that the next one waits for, and the batches that the crowd knows.
    waited_for: Option<usize>,
    entered: BTreeMap<usize, u64>,
    messages: usize,
    attempts: usize,
    /// When the newest notification was delivered, by webhook.
    delivered: BTreeMap<String, (UnixMillis, u64)>,
    /// Whether the object leaves memory whenever it is idle.
    forgets: bool,
}

struct Sending {
    batch: usize,
    config_id: String,
    lease: String,
    is_silent: bool,
    ends: UnixMillis,
    report: Report,
}

impl World {
    /// A finished task with `events` events, none of which was sent to its webhooks yet.
    fn new(events: usize, webhooks: &[String]) -> Self {
        let limits = Limits { max_webhooks: 1_000, ..limits() };
        let host = chunks(events - 2);
        let session = host.open_within(limits.clone());
        host.platform.run_until(host.send(&session, first("hi"))).expect("an answer");
        host.platform.run_all();
        let mut world = Self {
            host,
            session,
            limits,
            queue: VecDeque::new(),
            crowd: Crowd::default(),
            sending: Vec::new(),
            held: Vec::new(),
            batches: 0,
            waited_for: None,
            entered: BTreeMap::new(),
            messages: 0,
            attempts: 0,
            delivered: BTreeMap::new(),
            forgets: false,
        };
        for id in webhooks {
            create(&world.session, config(json!({"id": id})));
            let (task_id, id) = (TaskId::new("t").unwrap(), id.clone());
            let request = RedeliverRequest { tenant: None, task_id, id, from_generation: 1 };
            world.checked(|session| {
                manage(session, WebhookCall::RedeliverTaskPushNotifications(request))
                    .expect("a webhook");
            });
        }
        world
    }

    fn now(&self) -> UnixMillis {
        self.host.platform.now()
    }

    /// Lets the session act, and checks that it sets no alarm in the past.
    fn checked<T>(&mut self, act: impl FnOnce(&Rc<TaskSession>) -> T) -> T {
        let (platform, before) = (self.host.platform.clone(), self.host.platform.alarm());
        let acted = act(&self.session);
        platform.run_all();
        let alarm = platform.alarm();
        assert!(alarm == before || alarm.is_none_or(|at| at > platform.now()), "{alarm:?}");
        let jobs = platform.take_jobs();
        self.messages += jobs.len();
        self.queue.extend(jobs.into_iter().map(|job| job.config_id));
        acted
    }

    /// Continues until no notification is pending, or until the instant `until`.
    fn run(&mut self, until: i64, receiver: &mut Receiver) {
        loop {
            while self.waited_for.is_none() && !self.queue.is_empty() {
                self.take_batch(receiver);
            }
            let alarm = self.host.platform.alarm().filter(|_| self.is_owed());
            let ends = self.sending.iter().map(|sending| sending.ends);
            let Some(next) = ends.chain(alarm).min() else { return };
            if next.0 > until {
                return;
            }
            let left = u64::try_from(next.0 - self.now().0).unwrap_or(0);
            pass(&self.host.platform, left);
            if alarm.is_some_and(|at| at <= self.now()) {
                self.ring();
            }
            self.settle(receiver);
        }
    }

    fn is_owed(&self) -> bool {
        !self.sending.is_empty() || self.open_webhooks() > 0
    }

    /// The number of webhooks with pending notifications.
    fn open_webhooks(&self) -> usize {
        let stored = self.host.store.stored().map(|stored| stored.webhooks).unwrap_or_default();
        let newest = owned(&self.session).generation();
        let is_open = |json: &&String| {
            let webhook: serde_json::Value = serde_json::from_str(json).unwrap();
            let delivery = &webhook["delivery"];
            let is_suspended = delivery["health"] == "suspended" && delivery["tellsEnd"] != true;
            delivery["done"].as_u64().unwrap() < newest.0 && !is_suspended
        };
        stored.iter().filter(is_open).count()
    }

    fn ring(&mut self) {
        self.host.platform.restore_alarm(None);
        self.forget();
        self.checked(|_| ());
        let platform = self.host.platform.clone();
        self.checked(|session| platform.run_until(session.wake()));
    }

    /// Removes an idle object from memory.
    fn forget(&mut self) {
        if self.forgets && self.sending.is_empty() {
            self.host.platform.crash();
            self.session = self.host.open_within(self.limits.clone());
        }
    }

    fn take_batch(&mut self, receiver: &mut Receiver) {
        let size = self.queue.len().min(6);
        let taken: Vec<String> = self.queue.drain(..size).collect();
        self.batches += 1;
        let batch = self.batches;
        let mut jobs = Vec::new();
        self.forget();
        for config_id in taken {
            let asked =
                NextNotification { config_id: config_id.clone(), ..NextNotification::default() };
            let turn = self.checked(|session| session.next_notification(asked));
            jobs.extend(turn.next.map(|next| (batch, config_id, next)));
        }
        let bytes = jobs.iter().map(|(_, _, next)| next.body.len()).sum();
        let timeout_ms = self.limits.webhook_timeout_ms;
        match self.crowd.enter(jobs.len(), bytes, timeout_ms, self.now()) {
            Some(id) => drop(self.entered.insert(batch, id)),
            None => self.waited_for = Some(batch),
        }
        self.held.extend(jobs);
        self.send_held(receiver);
    }

    fn send_held(&mut self, receiver: &mut Receiver) {
        for (batch, config_id, next) in std::mem::take(&mut self.held) {
            let is_silent = next.standing == Standing::Silent;
            let of_batch = self.sending.iter().filter(|sending| sending.batch == batch);
            let silent = of_batch.filter(|sending| sending.is_silent).count();
            if is_silent && silent >= MAX_SILENT_AT_ONCE {
                self.held.push((batch, config_id, next));
                continue;
            }
            let is_waited_for = !self.entered.contains_key(&batch);
            let patience =
                patience_ms(next.standing, self.limits.webhook_timeout_ms, is_waited_for);
            let (takes, status) = receiver(&config_id, self.now());
            self.attempts += 1;
            let is_timeout = takes > patience;
            let ends = UnixMillis(self.now().0 + i64::try_from(takes.min(patience)).unwrap());
            let status = status.filter(|_| !is_timeout);
            let report =
                Report { generation: next.generation, status, is_timeout, ..Report::default() };
            let lease = next.lease;
            self.sending.push(Sending { batch, config_id, lease, is_silent, ends, report });
        }
    }

    /// Reports the notifications whose sending has ended.
    fn settle(&mut self, receiver: &mut Receiver) {
        let now = self.now();
        let (ended, left) =
            std::mem::take(&mut self.sending).into_iter().partition(|sent| sent.ends <= now);
        self.sending = left;
        let ended: Vec<Sending> = ended;
        for Sending { batch, config_id, lease, report, .. } in ended {
            if report.status.is_some_and(|status| status < 300) {
                let count = self.delivered.get(&config_id).map_or(0, |(_, count)| *count);
                self.delivered.insert(config_id.clone(), (now, count + 1));
            }
            let asked = NextNotification {
                config_id: config_id.clone(),
                lease: Some(lease),
                report: Some(report),
                leaves: false,
            };
            let turn = self.checked(|session| session.next_notification(asked));
            self.held.extend(turn.next.map(|next| (batch, config_id, next)));
        }
        self.send_held(receiver);
        let is_busy = |batch: usize| {
            self.sending.iter().any(|sending| sending.batch == batch)
                || self.held.iter().any(|(held, ..)| *held == batch)
        };
        let done: Vec<usize> =
            self.entered.keys().copied().filter(|batch| !is_busy(*batch)).collect();
        if self.waited_for.is_some_and(|batch| !is_busy(batch)) {
            self.waited_for = None;
        }
        for batch in done {
            self.crowd.leave(self.entered.remove(&batch).unwrap());
        }
    }
}

fn names(kind: &str, count: usize) -> Vec<String> {
    (0..count).map(|nth| format!("{kind}-{nth}")).collect()
}

/// Numbers below 100 that look random and are the same in each run.
fn percents() -> impl FnMut() -> u32 {
    let mut state = 7u32;
    move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % 100
    }
}

#[test]
fn the_queue_gets_a_message_for_an_attempt_and_hardly_more() {
    for forgets in [false, true] {
        let mut world = World::new(13, &names("hook", 100));
        world.forgets = forgets;
        let mut percent = percents();
        let mut calls = 0;
        world.run(i64::MAX, &mut |_, _| {
            calls += 1;
            match percent() {
                _ if calls > 900 => (u64::MAX, None),
                0..10 => (5, Some(503)),
                10..13 => (1, None),
                _ => (5, Some(200)),
            }
        });
        assert_eq!(world.open_webhooks(), 0, "nothing is left over");
        let (messages, attempts) = (world.messages, world.attempts);
        assert!(attempts > 2_000, "{attempts}");
        assert!(messages * 10 <= attempts * 12, "{messages} messages, {attempts} attempts");
    }
}

#[test]
fn silent_receivers_hold_up_no_others() {
    let last_healthy = |silent: usize| {
        // The silent receivers are in the queue before all others.
        let hooks = [names("silent", silent), names("healthy", 60)].concat();
        let mut world = World::new(4, &hooks);
        let begun = world.now().0;
        let mut receiver =
            |id: &str, _| if id.starts_with("silent") { (u64::MAX, None) } else { (20, Some(200)) };
        for second in 1..=120 {
            world.run(begun + second * 1_000, &mut receiver);
            let healthy = world.delivered.iter().filter(|(id, _)| id.starts_with("healthy"));
            if healthy.clone().map(|(_, (_, count))| count).sum::<u64>() == 60 * 4 {
                return healthy.map(|(_, (at, _))| at.0 - begun).max().unwrap();
            }
        }
        panic!("{silent} silent receivers hold up others for two minutes");
    };
    let alone = last_healthy(0);
    for silent in [1, 40, 200] {
        let taken = last_healthy(silent);
        assert!(taken <= 2 * alone, "{silent}: {taken} ms instead of {alone}");
    }
    // More silent receivers than can wait behind their batches: the healthy ones still receive everything.
    last_healthy(400);
}

#[test]
fn a_job_that_is_not_taken_is_replaced_less_and_less_often() {
    for forgets in [false, true] {
        let mut world = World::new(5, &names("hook", 1));
        world.forgets = forgets;
        let begun = world.now().0;
        let mut rings = 0;
        while world.now().0 < begun + 10 * 3_600_000 {
            let alarm = world.host.platform.alarm().expect("an alarm");
            let left = u64::try_from(alarm.0 - world.now().0).unwrap_or(0);
            pass(&world.host.platform, left);
            world.ring();
            rings += 1;
        }
        assert!((2..=20).contains(&world.messages), "{} messages", world.messages);
        assert!(rings <= 40, "{rings} rings");
        // After one sender arrives, everything is delivered.
        world.run(i64::MAX, &mut |_, _| (1, Some(200)));
        assert_eq!(world.open_webhooks(), 0);
        assert_eq!(world.attempts, 5);
    }
}

#[test]
fn others_that_wait_for_a_sender_get_no_job_because_one_came() {
    let mut world = World::new(5, &names("hook", 20));
    world.forgets = true;
    assert_eq!(world.queue.len(), 20);
    world.run(i64::MAX, &mut |_, _| (5, Some(200)));
    assert_eq!((world.messages, world.attempts), (20, 100));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Senders that die with their state, receivers that fail, objects that are lost: every event is
    /// delivered in order, and is repeated only after a death.
    #[test]
    fn every_event_comes_in_order_whatever_happens(
        deeds in proptest::collection::vec(0..10u8, 0..60),
        count in 1..30usize,
    ) {
        let host = chunks(count);
        let mut session = complete(&host, json!({}));
        host.platform.run_all();
        let newest = owned(&session).generation();
        let mut received: Vec<u64> = Vec::new();
        let mut deaths = 0;
        let mut lease = None;
        let mut report = None;
        for deed in deeds {
            match ask(&session, lease.take(), report.take()) {
                None => {
                    // No notification is due: time passes, and the alarm sends the next ones.
                    pass(&host.platform, limits().keep_alive_ms);
                    host.platform.run_until(session.wake());
                }
                Some((generation, held)) => match deed {
                    0 => deaths += 1,
                    1 => {
                        received.push(generation);
                        deaths += 1;
                    }
                    2 => {
                        received.push(generation);
                        deaths += 1;
                        host.platform.crash();
                        session = host.open();
                    }
                    3 => {
                        lease = Some(held);
                        report = answered(generation, 503);
                    }
                    _ => {
                        received.push(generation);
                        lease = Some(held);
                        report = answered(generation, 200);
                    }
                },
            }
        }
        if let Some((generation, held)) = ask(&session, lease, report) {
            received.push(generation);
            ask(&session, Some(held), answered(generation, 200));
        }
        for _ in 0..20 {
            pass(&host.platform, 3_600_000);
            host.platform.run_until(session.wake());
            received.extend(drain(&session));
        }
        let mut seen = received.clone();
        seen.dedup();
        let mut first_seen = Vec::new();
        for generation in received {
            if !first_seen.contains(&generation) {
                first_seen.push(generation);
            }
        }
        prop_assert_eq!(first_seen, (1..=newest.0).collect::<Vec<u64>>());
        let backwards = seen.windows(2).filter(|pair| pair[1] < pair[0]).count();
        prop_assert!(backwards <= deaths, "{:?} with {} deaths", seen, deaths);
    }
}
