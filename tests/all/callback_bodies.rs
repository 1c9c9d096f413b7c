//! The bodies of posts to callbacks: the limits for a task, and that each body is stored in the log only once.

use std::cell::RefCell;
use std::rc::Rc;

use a2a::Outcome;
use a2a::model::{
    Artifact, GetTaskTimelineRequest, Part, TaskId, TaskState, TimelineOrder, UnixMillis,
};
use a2a_agents::{Recovery, RunSettings};
use a2a_edge::config::Limits;
use a2a_edge::executor::{CallbackTerms, Runner, Wait};
use a2a_edge::operation::get_task_timeline;
use a2a_edge::port::{Clock, Runtime};
use a2a_edge::session::{FindAgent, Opening, Posted, TaskSession, Visitor};
use serde_json::{Value, json};

use crate::support::{Host, first, limits, owned, reason, state, task};

const DAY_MS: u64 = 86_400_000;

/// The largest task in these tests, in bytes.
const MAX_TASK_BYTES: usize = 64 * 1024;

/// A task whose run forwards each body posted to its callback unchanged, as an artifact, until nothing more is posted.
struct Forwarding {
    host: Host,
    limits: Limits,
    urls: Rc<RefCell<Vec<String>>>,
}

impl Forwarding {
    fn new() -> Self {
        Self::within(Limits { max_task_bytes: MAX_TASK_BYTES, ..limits() })
    }

    fn within(limits: Limits) -> Self {
        let urls = Rc::new(RefCell::new(Vec::new()));
        let told = urls.clone();
        let host = Host::new(move |turn, events| {
            let told = told.clone();
            Box::pin(async move {
                let news = turn.callback_with("news", CallbackTerms::times(100))?;
                told.borrow_mut().push(news.url().to_owned());
                // Bodies that are posted meanwhile are stored until the run reads them.
                turn.wait_until(Wait::for_millis(DAY_MS)).await?;
                let mut number = 0;
                let wait = Wait::for_millis(DAY_MS);
                while let Some(body) = turn.wait_callback(&news, wait).await?.body() {
                    number += 1;
                    events.artifact(Artifact::new(format!("body-{number}"), body))?;
                }
                events.complete(Some(&format!("{number} bodies")))
            })
        });
        let settings = RunSettings { recovery: Some(Recovery::Resume), ..RunSettings::default() };
        let forwarding = Self { host: Host { settings, ..host }, limits, urls };
        let session = forwarding.open(Opening::ByRequest);
        let sent = forwarding.host.send(&session, first("hi"));
        forwarding.host.platform.run_until(sent).expect("an answer");
        forwarding
    }

    fn open(&self, opening: Opening) -> Rc<TaskSession> {
        let (store, ports) = (Rc::new(self.host.store.clone()), self.host.platform.ports());
        let (executor, settings) = (self.host.executor.clone(), self.host.settings);
        let runner = Runner { executor, settings, outside: self.host.platform.outside() };
        let find: FindAgent = Rc::new(move |_| Ok(runner.clone()));
        let limits = self.limits.clone();
        TaskSession::open_for(
            Visitor::Server,
            TaskId::new("t").unwrap(),
            store,
            ports,
            limits,
            find,
            opening,
        )
        .expect("storage works")
    }

    fn request(&self) -> Rc<TaskSession> {
        self.open(Opening::ByRequest)
    }

    /// Posts to the callback while the object is not in memory.
    fn post(&self, body: Part) -> Posted {
        let url = self.urls.borrow()[0].clone();
        let token = url.rsplit_once("/callbacks/t").expect("a URL of this task").1;
        let session = self.request();
        assert_eq!(session.takes_call("agent", token, None), Posted::Accepted);
        let posted = session.call_back("agent", token, None, body);
        self.host.platform.run_to(self.host.platform.now().after(1_000));
        posted
    }

    /// Lets time pass; only alarms open the object.
    fn pass(&self, days: u64) {
        let limit = UnixMillis(i64::try_from(days * DAY_MS).unwrap());
        while self.host.platform.run_to(limit) {
            let session = self.open(Opening::ByAlarm);
            self.host.platform.spawn(Box::pin(async move { session.wake().await }));
        }
    }

    /// All lines of the log in their stored form.
    fn stored(&self) -> String {
        let log = self.host.store.stored().expect("a task").log;
        log.iter().map(|row| row.batch.lines.as_str()).collect()
    }

    /// The whole timeline, page by page, as a developer reads it.
    fn timeline(&self, order: TimelineOrder) -> Vec<Value> {
        let session = self.request();
        let (mut entries, mut page_token) = (Vec::new(), None);
        loop {
            let request = GetTaskTimelineRequest {
                tenant: None,
                id: TaskId::new("t").unwrap(),
                page_size: 100,
                page_token: page_token.take(),
                order: Some(order),
            };
            let Outcome::Timeline(json) =
                get_task_timeline(owned(&session), &request, true).expect("a page")
            else {
                panic!("no timeline")
            };
            let page: Value = serde_json::from_str(&json).expect("JSON");
            entries.extend(page["entries"].as_array().expect("entries").clone());
            match page["nextPageToken"].as_str().unwrap_or_default() {
                "" => return entries,
                token => page_token = Some(token.to_owned()),
            }
        }
    }

    fn bodies(&self) -> Vec<Part> {
        let artifacts = task(&self.request()).artifacts;
        artifacts.into_iter().flat_map(|artifact| artifact.parts).collect()
    }
}

/// A text of about this number of bytes, different for each `number`.
fn long(number: usize, bytes: usize) -> String {
    format!("<{number}>").repeat(bytes / 3)
}

/// How often a text occurs in another, without overlaps.
fn count(all: &str, text: &str) -> usize {
    all.matches(text).count()
}

#[test]
fn a_body_stands_in_the_log_once_when_it_was_given_on() {
    let forwarding = Forwarding::new();
    let list: Vec<Value> = (0..300).map(|number| json!({"n": number})).collect();
    let bodies = [
        Part::text(long(1, 6_000)).with_media_type("text/plain"),
        Part::raw(long(2, 6_000).as_bytes(), "image/png"),
        Part::data(json!(list)).with_media_type("application/json"),
        Part::text("\u{1a}1 2 3\u{1a}\"é\n".repeat(300)),
        Part::text("short"),
    ];
    for body in &bodies {
        assert_eq!(forwarding.post(body.clone()), Posted::Accepted);
        forwarding.host.platform.crash();
    }
    let before = forwarding.stored().len();
    forwarding.pass(4);
    assert_eq!(forwarding.bodies(), bodies);
    assert_eq!(reason(&forwarding.request()), "5 bodies");
    let stored = forwarding.stored();
    for body in &bodies[..4] {
        let content = serde_json::to_string(&body.content).unwrap();
        let content = content.trim_matches(['{', '}']);
        assert_eq!(count(&stored, content), 1, "{:.40}", content);
    }
    assert!(stored.len() - before < 8_000, "{} bytes more", stored.len() - before);
}

#[test]
fn a_body_that_is_posted_again_stands_in_the_log_once() {
    let forwarding = Forwarding::new();
    let body = long(1, 9_000);
    for _ in 0..20 {
        assert_eq!(forwarding.post(Part::text(body.as_str())), Posted::Accepted);
    }
    forwarding.pass(4);
    assert_eq!(reason(&forwarding.request()), "20 bodies");
    assert!(forwarding.bodies().iter().all(|part| part.as_text() == Some(&body)));
    assert_eq!(count(&forwarding.stored(), &body), 1);
}

#[test]
fn a_task_refuses_what_it_has_no_room_for_and_goes_on() {
    for waits_for_it in [false, true] {
        let forwarding = Forwarding::new();
        if waits_for_it {
            forwarding.pass(1);
        }
        let mut posted = 0;
        let refused = loop {
            match forwarding.post(Part::text(long(posted, 7_000))) {
                Posted::Accepted => posted += 1,
                refused => break refused,
            }
        };
        assert!((5..9).contains(&posted), "{posted}");
        let before = forwarding.stored();
        let error = refused.clone().check().unwrap_err();
        assert_eq!(error.wire().http, 413);
        let text = error.to_string();
        for part in ["has no room for", "57344 that posts may fill", "post a smaller body"] {
            assert!(text.contains(part), "{text}");
        }
        assert!(matches!(forwarding.post(Part::raw(&[0; 6_000], "image/png")), Posted::NoRoom(_)));
        assert_eq!(forwarding.stored(), before, "nothing of them is stored");
        assert_eq!(forwarding.post(Part::text("it fits")), Posted::Accepted);
        forwarding.pass(5);
        let session = forwarding.request();
        assert_eq!(state(&session), TaskState::Completed, "{}", reason(&session));
        let bodies = forwarding.bodies();
        let expected: Vec<Part> = (0..posted)
            .map(|number| Part::text(long(number, 7_000)))
            .chain([Part::text("it fits")])
            .collect();
        assert_eq!(bodies, expected);
        assert!(forwarding.stored().len() < MAX_TASK_BYTES);
    }
}

#[test]
fn a_body_that_is_too_large_for_an_event_is_refused_before_it_fails_its_task() {
    let forwarding = Forwarding::within(Limits { max_event_bytes: 6_000, ..limits() });
    // Each of these characters has six bytes in JSON.
    let refused = forwarding.post(Part::text("\u{1}".repeat(1_000)));
    let Posted::NoRoom(why) = refused else { panic!("{refused:?}") };
    assert!(why.contains("bytes as JSON; a task takes up to 6000 at once"), "{why}");
    assert_eq!(forwarding.post(Part::text("\u{1}".repeat(980))), Posted::Accepted);
    forwarding.pass(4);
    assert_eq!(reason(&forwarding.request()), "1 bodies");
}

#[test]
fn what_stands_in_the_log_once_is_read_wherever_it_was_said() {
    // The bodies exceed one page of the log after they are put into their places.
    let limits = Limits { max_task_bytes: 4 * 1024 * 1024, ..limits() };
    let forwarding = Forwarding::within(limits);
    let body = long(7, 400_000);
    for _ in 0..6 {
        assert_eq!(forwarding.post(Part::text(body.as_str())), Posted::Accepted);
    }
    forwarding.pass(4);
    assert!(forwarding.stored().len() < 420_000, "{}", forwarding.stored().len());
    let entries = forwarding.timeline(TimelineOrder::Asc);
    let of_kind = |kind: &str| -> Vec<&Value> {
        entries.iter().filter(|entry| entry["kind"] == kind).collect()
    };
    for (kind, count) in [("called", 6), ("artifact", 6), ("status", 1)] {
        assert_eq!(of_kind(kind).len(), count, "{kind}: {entries:?}");
    }
    for entry in of_kind("called") {
        assert!(entry["body"].to_string().contains("<7><7>"), "{entry}");
    }
    for entry in of_kind("artifact") {
        assert!(entry.to_string().contains("<7><7>"), "{entry}");
    }
    let mut back = forwarding.timeline(TimelineOrder::Desc);
    back.reverse();
    assert_eq!(back, entries);
}

#[test]
fn a_run_that_is_killed_at_any_moment_gives_on_each_body_once() {
    for kill_after in 0..12 {
        let forwarding = Forwarding::new();
        let bodies: Vec<Part> = (0..4).map(|number| Part::text(long(number, 5_000))).collect();
        for body in &bodies {
            assert_eq!(forwarding.post(body.clone()), Posted::Accepted);
        }
        let mut rung = 0;
        let limit = UnixMillis(4 * DAY_MS as i64);
        while forwarding.host.platform.run_to(limit) {
            let session = forwarding.open(Opening::ByAlarm);
            forwarding.host.platform.spawn(Box::pin(async move { session.wake().await }));
            if rung == kill_after / 3 {
                // Some polls later.
                let now = forwarding.host.platform.now();
                forwarding.host.platform.run_to(now.after(kill_after % 3));
                forwarding.host.platform.crash();
            }
            rung += 1;
        }
        assert_eq!(forwarding.bodies(), bodies, "{kill_after}");
        assert_eq!(reason(&forwarding.request()), "4 bodies");
        for number in 0..4 {
            assert_eq!(count(&forwarding.stored(), &long(number, 5_000)), 1);
        }
    }
}
