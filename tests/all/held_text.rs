//! Text that may be the beginning of a secret: when it is held back, when it is released, and that no stored row and no
//! follower contains it before.

use std::cell::RefCell;
use std::rc::Rc;

use a2a::Terms;
use a2a::model::{Artifact, Part, Task, TaskState};
use a2a_agents::{Recovery, RunSettings};
use a2a_edge::auth::Caller;
use a2a_edge::executor::{Events, ExecutorError, Turn, Wait};
use a2a_edge::port::Clock;
use a2a_edge::session::TaskSession;
use a2a_edge::task::{LogEntry, TaskMachine};
use futures_util::future::LocalBoxFuture;
use serde_json::json;

use crate::support::{Host, cancel_task, first, next, task};

const KEY: &str = "sk-0123456789abcdef";

/// An agent that has read the secret before it does anything.
fn host<F>(agent: F) -> Host
where
    F: for<'a> Fn(&'a Turn, &'a Events) -> LocalBoxFuture<'a, Result<(), ExecutorError>>
        + Copy
        + 'static,
{
    let host = Host::new(move |turn, events| {
        Box::pin(async move {
            turn.secret("KEY")?;
            agent(turn, events).await
        })
    });
    host.with_secret("KEY", KEY)
}

fn resuming(host: Host) -> Host {
    let settings =
        RunSettings { recovery: Some(Recovery::Resume), max_attempts: Some(10), ..host.settings };
    Host { settings, ..host }
}

fn begins(events: &Events, id: &str, text: &str) -> Result<(), ExecutorError> {
    events.begin(Artifact::new(id, Part::text(text)))
}

fn appends(events: &Events, id: &str, text: &str, is_last: bool) -> Result<(), ExecutorError> {
    events.append(Artifact::new(id, Part::text(text)), is_last)
}

/// Begins a task without waiting for its end.
fn begin(host: &Host) -> Rc<TaskSession> {
    let session = host.open();
    let mut request = first("hi");
    request["configuration"] = json!({"returnImmediately": true});
    host.platform.run_until(host.send(&session, request)).expect("an answer");
    session
}

fn pass(host: &Host, millis: u64) {
    host.platform.run_until(host.platform.sleep(millis));
}

/// The task in its stored form.
fn stored(host: &Host) -> Task {
    let entries: Vec<_> = rows(host).lines().map(|line| LogEntry::parse(line).unwrap()).collect();
    TaskMachine::replay(entries).expect("a task").task().clone()
}

/// The stored text of an artifact.
fn text(host: &Host, id: &str) -> String {
    let mut artifacts = stored(host).artifacts.into_iter();
    artifacts
        .find(|known| known.artifact_id == id)
        .and_then(|known| known.text())
        .unwrap_or_default()
}

fn rows(host: &Host) -> String {
    let stored = host.store.stored().expect("a task");
    stored.log.iter().map(|row| row.batch.lines.as_str()).collect()
}

#[test]
fn a_secret_in_two_chunks_is_in_no_row_and_replaced() {
    let host = host(|turn, events| {
        Box::pin(async move {
            begins(events, "a", "the key is sk-0123")?;
            turn.sleep(1_000).await;
            appends(events, "a", "456789abcdef, and its", false)?;
            turn.sleep(1_000).await;
            appends(events, "a", " end", true)?;
            events.complete(None)
        })
    });
    begin(&host);
    pass(&host, 900);
    assert_eq!(text(&host, "a"), "the key is ");
    assert!(!rows(&host).contains("sk-"), "{}", rows(&host));
    pass(&host, 200);
    assert_eq!(text(&host, "a"), "the key is [KEY], and it", "an s may begin a secret");
    pass(&host, 300);
    assert_eq!(text(&host, "a"), "the key is [KEY], and its", "nothing came behind it");
    host.platform.run_all();
    assert_eq!(text(&host, "a"), "the key is [KEY], and its end");
    assert!(!rows(&host).contains("sk-"), "{}", rows(&host));
}

#[test]
fn parts_side_by_side_are_one_text_in_artifacts_and_messages() {
    let host = host(|_, events| {
        Box::pin(async move {
            let parts = || {
                let halves = [
                    Part::text("it is sk-01234"),
                    Part::text("56789abcdef."),
                    Part::data(json!(["sk-01234", KEY])),
                ];
                halves.to_vec()
            };
            events.status_with(TaskState::Working, parts())?;
            events.begin(Artifact { parts: parts(), ..Artifact::new("a", Part::text("")) })?;
            events.status_with(TaskState::Completed, parts())
        })
    });
    let session = begin(&host);
    host.platform.run_all();
    let parts =
        [Part::text("it is [KEY]"), Part::text("."), Part::data(json!(["sk-01234", "[KEY]"]))];
    let task = task(&session);
    assert_eq!(task.artifacts[0].parts, parts);
    assert_eq!(task.status.message.unwrap().parts, parts);
    assert_eq!(task.history[1].parts, parts);
}

#[test]
fn silence_lets_out_a_short_beginning_and_completes_no_secret() {
    let host = host(|turn, events| {
        Box::pin(async move {
            begins(events, "a", "sk-01")?;
            begins(events, "b", "sk-012")?;
            turn.sleep(500).await;
            appends(events, "a", "2", false)?;
            turn.sleep(500).await;
            appends(events, "a", "3456789abcdef.", false)?;
            appends(events, "b", "x", false)?;
            turn.sleep(500).await;
            events.complete(None)
        })
    });
    begin(&host);
    pass(&host, 190);
    assert_eq!((text(&host, "a").as_str(), text(&host, "b").as_str()), ("", ""));
    pass(&host, 200);
    assert_eq!((text(&host, "a").as_str(), text(&host, "b").as_str()), ("sk-01", ""));
    pass(&host, 500);
    assert_eq!(text(&host, "a"), "sk-01", "six characters stay");
    host.platform.run_all();
    assert_eq!((text(&host, "a").as_str(), text(&host, "b").as_str()), ("sk-01[KEY].", "sk-012x"));
}

/// Sends the beginning of a secret, and then the text that the client requests.
fn ends<'a>(turn: &'a Turn, events: &'a Events) -> LocalBoxFuture<'a, Result<(), ExecutorError>> {
    Box::pin(async move {
        begins(events, "a", "x sk-012345")?;
        turn.sleep(500).await;
        match turn.message.text().as_str() {
            "complete" => events.complete(None),
            "fail" => events.fail("no"),
            "reject" => events.reject("no"),
            "reply" => events.reply(vec![Part::text("yes")]),
            "ask" => events.require_input("which?"),
            "demand" => events.require_auth("who?"),
            "last" => appends(events, "a", "6", true),
            "err" => Err(ExecutorError("no".to_owned())),
            "panic" => panic!("as it was asked to"),
            "return" => Ok(()),
            "park" => turn.wait_until(Wait::for_millis(3_600_000)).await.map(drop),
            _ => {
                turn.sleep(10_000_000).await;
                Ok(())
            }
        }
    })
}

#[test]
fn whatever_ends_a_run_lets_out_what_is_held_back() {
    for (how, ended) in [
        ("complete", TaskState::Completed),
        ("fail", TaskState::Failed),
        ("reject", TaskState::Rejected),
        ("reply", TaskState::Completed),
        ("ask", TaskState::InputRequired),
        ("demand", TaskState::AuthRequired),
        ("last", TaskState::Failed),
        ("err", TaskState::Failed),
        ("panic", TaskState::Failed),
        ("return", TaskState::Failed),
        ("park", TaskState::Submitted),
        ("cancel", TaskState::Canceled),
        ("timeout", TaskState::Failed),
    ] {
        let mut host = host(ends);
        if how == "park" {
            host = resuming(host);
        }
        let session = host.open();
        let mut request = first(how);
        request["configuration"] = json!({"returnImmediately": true});
        host.platform.run_until(host.send(&session, request)).expect("an answer");
        pass(&host, 450);
        assert_eq!(text(&host, "a"), "x ", "{how}");
        pass(&host, 100);
        match how {
            "cancel" => {
                cancel_task(&session, "agent", &Caller::anonymous(), Terms::default()).unwrap();
            }
            "timeout" => pass(&host, 3_600_000),
            _ => {}
        }
        pass(&host, 100);
        assert_eq!(stored(&host).status.state, ended, "{how}");
        let whole = if how == "last" { "x sk-0123456" } else { "x sk-012345" };
        assert_eq!(text(&host, "a"), whole, "{how}");
        let shown = task(&session).artifacts[0].text().unwrap_or_default();
        assert_eq!(shown, whole, "{how}");
    }
}

#[test]
fn a_run_sees_the_task_as_it_has_told_it() {
    let seen = Rc::new(RefCell::new(Vec::new()));
    let list = seen.clone();
    let host = Host::new(move |turn, events| {
        let seen = list.clone();
        Box::pin(async move {
            turn.secret("KEY")?;
            begins(events, "a", "x sk-012345")?;
            seen.borrow_mut().extend(turn.task().unwrap().artifacts[0].parts.clone());
            events.complete(None)
        })
    });
    let host = host.with_secret("KEY", KEY);
    begin(&host);
    host.platform.run_all();
    assert_eq!(*seen.borrow(), [Part::text("x sk-012345")]);
}

/// Sends two texts in turns, with steps, pauses, a status and a wait between the pieces.
fn tells<'a>(turn: &'a Turn, events: &'a Events) -> LocalBoxFuture<'a, Result<(), ExecutorError>> {
    Box::pin(async move {
        begins(events, "a", "a sk-0")?;
        begins(events, "b", "b s")?;
        turn.sleep(100).await;
        appends(events, "a", "1 b sk-0123", false)?;
        turn.step("one", async || Ok(1)).await?;
        turn.sleep(300).await;
        events.working(Some("on it"))?;
        appends(events, "b", "k-01234567", false)?;
        appends(events, "a", "45678", false)?;
        turn.sleep(300).await;
        turn.step("two", async || Ok(2)).await?;
        appends(events, "b", "8 s", false)?;
        appends(events, "a", "9abcdef c s", false)?;
        turn.sleep(300).await;
        turn.wait_until(Wait::for_millis(60_000)).await?;
        appends(events, "b", "s", false)?;
        turn.sleep(300).await;
        appends(events, "a", " d", true)?;
        events.complete(None)
    })
}

#[test]
fn a_run_that_was_killed_anywhere_says_the_same_in_the_end() {
    for at in (20..1_000).step_by(40) {
        for again in [0, 30, 220, 330] {
            let host = resuming(host(tells));
            let mut session = begin(&host);
            for millis in [at, again] {
                pass(&host, millis);
                if millis > 0 {
                    host.platform.crash();
                    session = host.open();
                }
            }
            // At this time the run is parked, and not in memory.
            pass(&host, 5_000);
            drop(session);
            pass(&host, 60_000);
            let session = host.open();
            host.platform.run_all();
            let told = task(&session);
            assert_eq!(told.status.state, TaskState::Completed, "{at} {again} {told:?}");
            assert_eq!(text(&host, "a"), "a sk-01 b [KEY] c s d", "{at} {again}");
            assert_eq!(text(&host, "b"), "b sk-012345678 ss", "{at} {again}");
            let rows = rows(&host);
            for piece in ["sk-0123456", "45678\"", "9abc"] {
                assert!(
                    !rows.replace("sk-012345678", "").contains(piece),
                    "{at} {again} {piece}: {rows}"
                );
            }
        }
    }
}

#[test]
fn the_next_turn_begins_with_nothing_held_back() {
    let host = host(|turn, events| {
        Box::pin(async move {
            if turn.number == 1 {
                begins(events, "a", "x sk-01234")?;
                return events.require_input("go on?");
            }
            appends(events, "a", "56", true)?;
            events.complete(None)
        })
    });
    let session = begin(&host);
    host.platform.run_all();
    assert_eq!(text(&host, "a"), "x sk-01234");
    host.platform.run_until(host.send(&session, next("m2", "yes"))).expect("an answer");
    host.platform.run_all();
    assert_eq!(text(&host, "a"), "x sk-0123456");
}

#[test]
fn without_secrets_every_chunk_is_as_it_was_said() {
    let host = Host::new(|turn, events| {
        Box::pin(async move {
            begins(events, "a", "sk-012345")?;
            turn.sleep(1_000).await;
            appends(events, "a", "6", true)?;
            events.complete(None)
        })
    });
    let session = begin(&host);
    pass(&host, 500);
    assert_eq!(text(&host, "a"), "sk-012345");
    host.platform.run_all();
    let parts = &task(&session).artifacts[0].parts;
    assert_eq!(*parts, [Part::text("sk-012345"), Part::text("6")]);
    assert!(!rows(&host).contains("held"));
}
