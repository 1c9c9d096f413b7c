//! Whole walks of a task with the in-memory implementations of the platform.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use a2a::error::Error;
use a2a::model::{Artifact, Generation, Message, Part, SendMessageRequest, TaskId, TaskState};
use a2a::{Outcome, Terms};
use a2a_agents::Recovery;
use a2a_edge::auth::Caller;
use a2a_edge::executor::{AgentExecutor, Events, ExecutorError, Turn};
use a2a_edge::operation::send_message;
use a2a_edge::port::{Clock, Severity};
use a2a_edge::session::{Sender, TaskSession};
use a2a_edge::trail::Trail;
use a2a_edge::twins::MemoryPlatform;
use async_trait::async_trait;
use futures_util::future::join;
use serde_json::json;

use crate::support::{
    Host, cancel_task, first, get_task, limits, next, owned, reason, state, task,
};

#[test]
fn a_quick_task_is_one_row() {
    let host = Host::new(|turn, events| {
        Box::pin(async move {
            events.working(None)?;
            events.artifact(Artifact::new("a", Part::text(turn.message.text())))?;
            events.complete(None)
        })
    });
    let session = host.open();
    let outcome = host.platform.run_until(host.send(&session, first("hi")));
    assert!(matches!(outcome, Ok(Outcome::SentTask(_))));
    assert_eq!(state(&session), TaskState::Completed);
    assert_eq!(owned(&session).generation(), Generation(4));
    assert_eq!(host.rows(), 1);
    assert_eq!(task(&host.open()), task(&session));
}

#[test]
fn events_on_both_sides_of_a_wait_are_two_rows() {
    let host = Host::new(|turn, events| {
        Box::pin(async move {
            events.working(None)?;
            turn.sleep(10).await;
            events.complete(Some("done"))
        })
    });
    let session = host.open();
    host.platform.run_until(host.send(&session, first("hi"))).expect("an answer");
    assert_eq!(host.rows(), 2);
    let generations: Vec<u64> =
        host.store.stored().unwrap().log.iter().map(|row| row.batch.generation.0).collect();
    assert_eq!(generations, [2, 3]);
}

#[test]
fn a_direct_message_writes_nothing() {
    let host =
        Host::new(|_, events| Box::pin(async move { events.reply(vec![Part::text("hello")]) }));
    let session = host.open();
    let outcome = host.platform.run_until(host.send(&session, first("hi"))).expect("an answer");
    let Outcome::SentMessage(message) = outcome else { panic!("{outcome:?}") };
    assert_eq!(message.text(), "hello");
    assert!(message.context_id.is_some());
    assert_eq!(message.task_id, None);
    host.platform.run_all();
    assert_eq!(host.store.stored(), None);
}

#[test]
fn a_message_that_comes_late_closes_the_task_that_has_come_to_be() {
    let host = Host::new(|turn, events| {
        Box::pin(async move {
            turn.sleep(limits().task_grace_ms + 1).await;
            events.reply(vec![Part::text("at last")])
        })
    });
    let session = host.open();
    host.platform.run_until(host.send(&session, first("hi"))).expect("an answer");
    assert_eq!(state(&session), TaskState::Completed);
    assert_eq!(reason(&session), "at last");
}

#[test]
fn who_does_not_wait_gets_the_task_as_soon_as_it_exists() {
    let host = Host::new(|turn, events| {
        Box::pin(async move {
            turn.sleep(10_000).await;
            events.complete(None)
        })
    });
    let session = host.open();
    let mut request = first("hi");
    request["configuration"] = json!({"returnImmediately": true});
    host.platform.run_until(host.send(&session, request)).expect("an answer");
    assert_eq!(state(&session), TaskState::Submitted);
    assert_eq!(host.rows(), 1, "the task is stored before it is shown");
    host.platform.run_all();
    assert_eq!(state(&session), TaskState::Completed);
}

#[test]
fn a_blocking_send_waits_no_longer_than_the_limit() {
    let host = Host::new(|turn, _| {
        Box::pin(async move {
            turn.sleep(limits().blocking_limit_ms * 2).await;
            Ok(())
        })
    });
    let session = host.open();
    let outcome = host.platform.run_until(host.send(&session, first("hi")));
    assert!(matches!(outcome, Ok(Outcome::SentTask(_))));
    assert_eq!(state(&session), TaskState::Submitted);
}

#[test]
fn a_run_that_takes_too_long_fails_its_task() {
    let host = Host::new(|turn, _| {
        Box::pin(async move {
            turn.sleep(u64::from(u32::MAX)).await;
            Ok(())
        })
    });
    let session = host.open();
    host.platform.run_until(host.send(&session, first("hi"))).expect("an answer");
    host.platform.run_all();
    assert_eq!(state(&session), TaskState::Failed);
    assert_eq!(reason(&session), "task timed out after 300000 ms");
}

#[test]
fn a_run_that_says_nothing_or_fails_leaves_a_failed_task_with_the_reason() {
    let silent = Host::new(|_, _| Box::pin(async { Ok(()) }));
    let failing =
        Host::new(|_, _| Box::pin(async { Err(ExecutorError("no model answers".to_owned())) }));
    for (host, expected) in [
        (silent, "the agent ended its turn without finishing the task"),
        (failing, "no model answers"),
    ] {
        let session = host.open();
        host.platform.run_until(host.send(&session, first("hi"))).expect("an answer");
        assert_eq!(state(&session), TaskState::Failed);
        assert_eq!(reason(&session), expected);
    }
}

#[test]
fn a_panic_is_an_internal_error_and_leaves_nothing_that_nobody_saw() {
    let host = Host::new(|_, _| Box::pin(async { panic!("a bug") }));
    let session = host.open();
    let outcome = host.platform.run_until(host.send(&session, first("hi")));
    assert_eq!(outcome, Err(Error::Internal { task: None }));
    host.platform.run_all();
    assert_eq!(host.store.stored(), None);
    assert_eq!(host.platform.errors(), ["task t: the agent panicked"]);
}

#[test]
fn a_panic_fails_a_task_that_was_seen() {
    let host = Host::new(|turn, events| {
        Box::pin(async move {
            events.working(None)?;
            turn.sleep(10).await;
            panic!("a bug")
        })
    });
    let session = host.open();
    let outcome = host.platform.run_until(host.send(&session, first("hi")));
    assert_eq!(outcome, Err(Error::Internal { task: TaskId::new("t") }));
    host.platform.run_all();
    assert_eq!(state(&session), TaskState::Failed);
    assert_eq!(task(&host.open()), task(&session));
}

#[test]
fn a_cancel_commits_at_once_and_drops_what_comes_later() {
    let refused = Rc::new(RefCell::new(None));
    let seen = refused.clone();
    let host = Host::new(move |turn, events| {
        let seen = seen.clone();
        Box::pin(async move {
            events.working(None)?;
            turn.canceled().await;
            *seen.borrow_mut() = events.complete(Some("too late")).err();
            Ok(())
        })
    });
    let session = host.open();
    let cancel = async {
        while session.owned_by("agent", &Caller::anonymous(), &Trail::default()).is_err() {
            futures_util::future::poll_fn(once()).await;
        }
        cancel_task(&session, "agent", &Caller::anonymous(), Terms::default())
    };
    let (sent, canceled) = host.platform.run_until(join(host.send(&session, first("hi")), cancel));
    assert!(sent.is_ok() && canceled.is_ok());
    host.platform.run_all();
    assert_eq!(state(&session), TaskState::Canceled);
    assert_eq!(refused.take().unwrap().0, "the task is canceled, which is final");
    assert_eq!(task(&host.open()), task(&session));
    let again = cancel_task(&session, "agent", &Caller::anonymous(), Terms::default());
    assert!(again.is_ok(), "canceling twice is the same as once");
}

#[test]
fn a_run_that_ignores_the_cancel_is_dropped() {
    let host = Host::new(|_, events| {
        Box::pin(async move {
            events.working(None)?;
            std::future::pending().await
        })
    });
    let session = host.open();
    send_and_leave(&host, &session);
    cancel_task(&session, "agent", &Caller::anonymous(), Terms::default())
        .expect("it can be canceled");
    host.platform.run_all();
    assert_eq!(state(&session), TaskState::Canceled);
}

/// The behaviour of a run whose task is canceled.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Leaving {
    AtOnce,
    After(u64),
    Never,
    ByPanic,
}

/// An executor whose `cancel` hook releases something external, which takes a while.
struct Releasing {
    leaving: Leaving,
    ensures: bool,
    platform: MemoryPlatform,
    /// Whether the first call of the hook panics.
    panics: bool,
    /// How often the hook was started and completed.
    begun: Rc<Cell<usize>>,
    released: Rc<Cell<usize>>,
}

#[async_trait(?Send)]
impl AgentExecutor for Releasing {
    async fn execute(&self, turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
        events.working(None)?;
        turn.canceled().await;
        match self.leaving {
            Leaving::AtOnce => Ok(()),
            Leaving::After(millis) => {
                self.platform.sleep(millis).await;
                Ok(())
            }
            Leaving::Never => std::future::pending().await,
            Leaving::ByPanic => panic!("at the cancel"),
        }
    }

    async fn cancel(&self, turn: &Turn) {
        assert!(turn.is_canceled());
        self.begun.set(self.begun.get() + 1);
        assert!(!self.panics || self.begun.get() > 1, "at the hook");
        self.platform.sleep(3_000).await;
        self.released.set(self.released.get() + 1);
    }

    fn ensures_cancel(&self) -> bool {
        self.ensures
    }
}

/// A task whose executor is notified of the cancellation.
fn releasing(leaving: Leaving, ensures: bool) -> (Host, Rc<Cell<usize>>, Rc<Cell<usize>>) {
    releasing_with(leaving, ensures, false)
}

fn releasing_with(
    leaving: Leaving,
    ensures: bool,
    panics: bool,
) -> (Host, Rc<Cell<usize>>, Rc<Cell<usize>>) {
    let host = Host::new(|_, _| Box::pin(async { Ok(()) }));
    let (begun, released) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    let executor = Rc::new(Releasing {
        leaving,
        ensures,
        platform: host.platform.clone(),
        panics,
        begun: begun.clone(),
        released: released.clone(),
    });
    (Host { executor, ..host }, begun, released)
}

fn cancel(session: &TaskSession) {
    cancel_task(session, "agent", &Caller::anonymous(), Terms::default())
        .expect("it can be canceled");
}

#[test]
fn the_hook_of_a_cancel_comes_to_its_end_once_whatever_becomes_of_the_run() {
    let ways = [Leaving::AtOnce, Leaving::After(2_000), Leaving::Never, Leaving::ByPanic];
    for (leaving, ensures) in ways.into_iter().flat_map(|way| [(way, true), (way, false)]) {
        let told = format!("{leaving:?} {ensures}");
        let (host, begun, released) = releasing(leaving, ensures);
        let session = host.open();
        send_and_leave(&host, &session);
        cancel(&session);
        cancel(&session);
        host.platform.run_all();
        cancel(&session);
        host.platform.run_all();
        assert_eq!((begun.get(), released.get()), (1, 1), "{told}");
        assert_eq!(state(&session), TaskState::Canceled, "{told}");
        drop(session);
        for _ in 0..3 {
            host.platform.crash();
            let session = host.open();
            host.platform.run_until(session.wake());
            host.platform.run_all();
        }
        assert_eq!((begun.get(), released.get()), (1, 1), "nothing is owed any more: {told}");
    }
}

#[test]
fn a_hook_that_is_ensured_comes_to_its_end_also_where_the_process_dies() {
    for leaving in [Leaving::AtOnce, Leaving::After(2_000), Leaving::Never] {
        for lives_ms in [0, 1, 1_500, 2_500, 4_000, 6_000] {
            let told = format!("{leaving:?} {lives_ms}");
            let (host, begun, released) = releasing(leaving, true);
            let session = host.open();
            send_and_leave(&host, &session);
            cancel(&session);
            if lives_ms > 0 {
                host.platform.run_to(host.platform.now().after(lives_ms));
            }
            drop(session);
            host.platform.crash();
            let was_released = released.get() == 1;
            let soon = host.platform.now().after(limits().keep_alive_ms);
            let is_looked_after = host.platform.alarm().is_some_and(|alarm| alarm <= soon);
            assert!(was_released || is_looked_after, "{told}");
            let session = host.open();
            host.platform.run_until(session.wake());
            host.platform.run_all();
            assert_eq!(released.get(), 1, "{told}");
            assert!(begun.get() <= 2 && (begun.get() == 1 || !was_released), "{told}");
        }
    }
}

#[test]
fn a_hook_that_panics_is_called_again_where_it_is_ensured() {
    for ensures in [true, false] {
        let (host, begun, released) = releasing_with(Leaving::After(1_000), ensures, true);
        let session = host.open();
        send_and_leave(&host, &session);
        cancel(&session);
        host.platform.run_all();
        let expected = if ensures { (2, 1) } else { (1, 0) };
        assert_eq!((begun.get(), released.get()), expected, "{ensures}");
        let told = host.platform.observed(Severity::Error);
        assert!(told.iter().any(|line| line.contains("panicked")), "{told:?}");
    }
}

fn send_and_leave(host: &Host, session: &Rc<TaskSession>) {
    let mut request = first("hi");
    request["configuration"] = json!({"returnImmediately": true});
    host.platform.run_until(host.send(session, request)).expect("an answer");
}

#[test]
fn a_lost_run_ends_its_task_when_the_object_comes_back() {
    let host = Host::new(|turn, events| {
        Box::pin(async move {
            events.working(None)?;
            turn.sleep(1_000_000).await;
            events.complete(None)
        })
    });
    let session = host.open();
    let mut request = first("hi");
    request["configuration"] = json!({"returnImmediately": true});
    host.platform.run_until(host.send(&session, request)).expect("an answer");
    let reopened = host.open();
    assert_eq!(state(&reopened), TaskState::Failed);
    assert!(reason(&reopened).starts_with("interrupted"), "{}", reason(&reopened));
    assert_eq!(task(&host.open()), task(&reopened), "the end is stored");
}

#[test]
fn messages_to_a_working_task_are_offered_to_its_run() {
    let host = Host::new(|turn, events| {
        Box::pin(async move {
            events.working(None)?;
            let more = turn.next_message().await;
            events.complete(Some(&format!("{} and {}", turn.message.text(), more.text())))
        })
    });
    let session = host.open();
    let follow_up = async {
        while session.owned_by("agent", &Caller::anonymous(), &Trail::default()).is_err() {
            futures_util::future::poll_fn(once()).await;
        }
        host.send(&session, next("m2", "b")).await
    };
    let (one, two) = host.platform.run_until(join(host.send(&session, first("a")), follow_up));
    assert!(one.is_ok() && two.is_ok());
    assert_eq!(reason(&session), "a and b");
}

#[test]
fn messages_that_a_run_did_not_read_get_a_run_of_their_own() {
    let host = Host::new(|turn, events| {
        Box::pin(async move {
            turn.sleep(10).await;
            match turn.message.text().as_str() {
                "end" => events.complete(None),
                _ => events.require_input("more?"),
            }
        })
    });
    let session = host.open();
    host.platform.run_until(host.send(&session, first("begin"))).expect("an answer");
    assert_eq!(state(&session), TaskState::InputRequired);
    let sends =
        join(host.send(&session, next("m2", "more")), host.send(&session, next("m3", "end")));
    let (two, three) = host.platform.run_until(sends);
    assert!(two.is_ok() && three.is_ok());
    host.platform.run_all();
    assert_eq!(state(&session), TaskState::Completed);
    let said: Vec<String> = task(&session).history.iter().map(Message::text).collect();
    assert_eq!(said, ["begin", "more?", "more", "end", "more?"]);
}

#[test]
fn the_same_message_is_not_run_twice() {
    let host = Host::new(|_, events| Box::pin(async move { events.require_input("more?") }));
    let session = host.open();
    host.platform.run_until(host.send(&session, first("begin"))).expect("an answer");
    host.platform.run_until(host.send(&session, next("m2", "x"))).expect("an answer");
    let once = task(&session);
    host.platform.run_until(host.send(&session, next("m2", "x"))).expect("an answer");
    assert_eq!(task(&session), once);
    host.platform.run_until(host.send(&session, next("m2", "y"))).expect("an answer");
    assert_ne!(task(&session), once, "another message under the same id is another message");
}

#[test]
fn a_run_sees_its_message_as_the_history_holds_it_on_each_attempt() {
    let seen = Rc::new(RefCell::new(Vec::new()));
    let list = seen.clone();
    let mut host = Host::new(move |turn, events| {
        let seen = list.clone();
        Box::pin(async move {
            seen.borrow_mut().push((turn.message.clone(), turn.history()));
            events.working(None)?;
            turn.sleep(1_000).await;
            events.complete(None)
        })
    });
    host.settings.recovery = Some(Recovery::Resume);
    let mut request = first("hi");
    request["configuration"] = json!({"returnImmediately": true});
    let session = host.open();
    host.platform.run_until(host.send(&session, request)).expect("an answer");
    host.platform.crash();
    let session = host.open();
    host.platform.run_all();
    let seen = seen.take();
    assert_eq!(seen.len(), 2, "the run was lost, and resumed");
    for (message, history) in seen {
        assert_eq!(message.task_id, TaskId::new("t"));
        assert_eq!(message.context_id, task(&session).context_id);
        assert_eq!(history, [message]);
    }
}

#[test]
fn a_denied_access_is_told_to_the_operators_and_not_to_the_caller() {
    let host = Host::new(|_, events| Box::pin(async move { events.require_input("more?") }));
    let session = host.open();
    let stranger = Caller::new("stranger");
    assert!(session.owned_by("agent", &stranger, &Trail::default()).is_err());
    host.platform.run_until(host.send(&session, first("begin"))).expect("an answer");
    let created = host.platform.observed(Severity::Info);
    assert_eq!(created.len(), 1, "there was no task that could be denied: {created:?}");
    assert!(created[0].contains(r#""event":"task created""#), "{created:?}");
    let denied = session.owned_by("agent", &stranger, &Trail::default()).map(|_| ());
    assert_eq!(denied, Err(Error::TaskNotFound(TaskId::new("t").unwrap())));
    let lines = host.platform.observed(Severity::Info);
    assert_eq!(lines.len(), 2, "{lines:?}");
    let line: serde_json::Value = serde_json::from_str(&lines[1]).unwrap();
    assert_eq!(line["event"], "access denied");
    assert_eq!((&line["agent"], &line["caller"]), (&json!("agent"), &json!("stranger")));
    assert_eq!((&line["task"], &line["outcome"]), (&json!("t"), &json!("another caller's task")));
}

#[test]
fn strangers_find_no_task() {
    let host = Host::new(|_, events| Box::pin(async move { events.require_input("more?") }));
    let session = host.open();
    host.platform.run_until(host.send(&session, first("begin"))).expect("an answer");
    let stranger = Caller::new("stranger");
    let not_found = Err(Error::TaskNotFound(TaskId::new("t").unwrap()));
    let request = serde_json::from_value(json!({"id": "t"})).unwrap();
    assert_eq!(
        host.platform.run_until(get_task(&session, "agent", &stranger, &request, Terms::default())),
        not_found
    );
    assert_eq!(
        host.platform.run_until(get_task(
            &session,
            "other",
            &Caller::anonymous(),
            &request,
            Terms::default()
        )),
        not_found
    );
    assert_eq!(cancel_task(&session, "agent", &stranger, Terms::default()), not_found);
    let mut sender = host.sender();
    sender.caller = stranger;
    let follow_up = serde_json::from_value(next("m2", "x")).unwrap();
    assert_eq!(
        host.platform.run_until(send_message(&session, sender, follow_up, Terms::default())),
        not_found
    );
    assert!(
        host.platform
            .run_until(get_task(
                &session,
                "agent",
                &Caller::anonymous(),
                &request,
                Terms::default()
            ))
            .is_ok()
    );
}

/// The generation of an outcome.
fn generation(outcome: &Result<Outcome, Error>) -> u64 {
    match outcome {
        Ok(Outcome::Task(task) | Outcome::SentTask(task)) => task.generation,
        other => panic!("{other:?}"),
    }
}

fn expecting(generation: u64) -> Terms {
    Terms { expected: Some(generation), ..Terms::default() }
}

fn after(generation: u64) -> Terms {
    Terms { after: Some(generation), ..Terms::default() }
}

#[test]
fn a_message_goes_in_at_the_generation_expected_only_and_its_repetition_at_any() {
    let host = Host::new(|_, events| Box::pin(async move { events.require_input("more?") }));
    let session = host.open();
    let asked = host.platform.run_until(host.send(&session, first("begin")));
    let asked = generation(&asked);
    let send = |id: &str, expected| {
        let request = serde_json::from_value(next(id, "x")).unwrap();
        let sent = send_message(&session, host.sender(), request, expecting(expected));
        host.platform.run_until(sent)
    };
    let untouched = task(&session);
    for wrong in [0, asked - 1, asked + 1] {
        let id = TaskId::new("t").unwrap();
        let refused = Error::GenerationMismatch { id, expected: wrong, generation: asked };
        assert_eq!(send("m2", wrong), Err(refused));
    }
    assert_eq!(task(&session), untouched);
    assert_eq!(host.platform.messages(), ["m1"]);
    assert_eq!(task(&host.open()), untouched);

    let taken = send("m2", asked);
    assert!(generation(&taken) > asked);
    assert_eq!(send("m2", asked), taken, "the client repeats what it got no answer to");
    assert!(matches!(send("m3", asked), Err(Error::GenerationMismatch { .. })));
    assert_eq!(host.platform.messages(), ["m1", "m2"]);
}

#[test]
fn a_cancel_comes_through_at_the_generation_expected_only_and_its_repetition_at_any() {
    let host = Host::new(|_, events| Box::pin(async move { events.require_input("more?") }));
    let session = host.open();
    let asked = host.platform.run_until(host.send(&session, first("begin")));
    let asked = generation(&asked);
    let cancel =
        |expected| cancel_task(&session, "agent", &Caller::anonymous(), expecting(expected));
    assert!(matches!(cancel(asked - 1), Err(Error::GenerationMismatch { .. })));
    assert_eq!(state(&session), TaskState::InputRequired);
    let canceled = cancel(asked);
    assert_eq!(generation(&canceled), asked + 1);
    assert_eq!(cancel(asked), canceled);
    assert_eq!(cancel(1_000), canceled);
}

#[test]
fn who_waits_for_a_generation_is_answered_when_it_comes() {
    let host = Host::new(|turn, events| {
        Box::pin(async move {
            events.working(None)?;
            turn.sleep(1_000).await;
            events.working(Some("half"))?;
            turn.sleep(1_000).await;
            events.complete(None)
        })
    });
    let session = host.open();
    let request = serde_json::from_value(json!({"id": "t"})).unwrap();
    let me = Caller::anonymous();
    let outcomes = host.platform.run_until(async {
        let waiting = async {
            host.platform.sleep(100).await;
            let mut generations = Vec::new();
            for terms in [after(0), after(2), after(1_000)] {
                let outcome = get_task(&session, "agent", &me, &request, terms).await;
                generations.push((generation(&outcome), state(&session)));
            }
            generations
        };
        join(host.send(&session, first("go")), waiting).await
    });
    let (sent, generations) = outcomes;
    assert_eq!(generation(&sent), 4);
    let expected = [(2, TaskState::Working), (3, TaskState::Working), (4, TaskState::Completed)];
    assert_eq!(generations, expected);
    let ended = get_task(&session, "agent", &me, &request, after(4));
    assert_eq!(generation(&host.platform.run_until(ended)), 4, "a task that has ended");
}

#[test]
fn a_wait_is_over_in_time_and_counts_as_one_question() {
    let host = Host::new(|_, events| Box::pin(async move { events.require_input("more?") }));
    let session = host.open();
    host.platform.run_until(host.send(&session, first("begin"))).expect("an answer");
    let request = serde_json::from_value(json!({"id": "t"})).unwrap();
    let (me, polls) = (Caller::anonymous(), owned(&session).polls());
    for (number, (wait_ms, longest_ms)) in
        [(Some(5), 5), (Some(0), 0), (None, 60_000), (Some(u64::MAX), 60_000)]
            .into_iter()
            .enumerate()
    {
        let begun = host.platform.now();
        let terms = Terms { wait_ms, ..after(2) };
        let waited = get_task(&session, "agent", &me, &request, terms);
        assert_eq!(generation(&host.platform.run_until(waited)), 2);
        assert_eq!(host.platform.now().0 - begun.0, longest_ms, "{wait_ms:?}");
        assert_eq!(owned(&session).polls(), polls + number as u64 + 1);
    }
}

#[test]
fn nobody_waits_for_a_task_that_is_not_there() {
    let host = Host::new(|_, events| Box::pin(async move { events.require_input("more?") }));
    let session = host.open();
    let request = serde_json::from_value(json!({"id": "t"})).unwrap();
    let me = Caller::anonymous();
    let asked = || get_task(&session, "agent", &me, &request, after(0));
    let not_found = Err(Error::TaskNotFound(TaskId::new("t").unwrap()));
    let begun = host.platform.now();
    assert_eq!(host.platform.run_until(asked()), not_found);
    host.platform.run_until(host.send(&session, first("begin"))).expect("an answer");
    let stranger = Caller::new("stranger");
    let strange = get_task(&session, "agent", &stranger, &request, after(1_000));
    assert_eq!(host.platform.run_until(strange), not_found);
    let terms = expecting(1_000);
    assert_eq!(cancel_task(&session, "agent", &stranger, terms), not_found);
    assert_eq!(host.platform.now(), begun);
}

#[test]
fn a_task_tells_its_generation_to_those_who_ask_only() {
    let host = Host::new(|_, events| Box::pin(async move { events.require_input("more?") }));
    let session = host.open();
    let mut request = first("begin");
    request["metadata"] = json!({"own": 1});
    host.platform.run_until(host.send(&session, request)).expect("an answer");
    let shown = |shows_generation| {
        let request = serde_json::from_value(json!({"id": "t"})).unwrap();
        let terms = Terms { shows_generation, ..Terms::default() };
        let me = Caller::anonymous();
        let got = get_task(&session, "agent", &me, &request, terms);
        match host.platform.run_until(got) {
            Ok(Outcome::Task(task)) => task.json,
            other => panic!("{other:?}"),
        }
    };
    let metadata = |json: &str| {
        let task: serde_json::Value = serde_json::from_str(json).unwrap();
        task["metadata"].clone()
    };
    let told = json!({"own": 1, "urn:a2a-edge:generation:v1/generation": 2});
    assert_eq!(metadata(&shown(true)), told);
    assert_eq!(metadata(&shown(false)), json!({"own": 1}));
    assert!(Rc::ptr_eq(&shown(false), &shown(false)), "the others share one text");
    assert_eq!(metadata(&serde_json::to_string(&task(&host.open())).unwrap()), json!({"own": 1}));
}

#[test]
fn when_storage_fails_the_client_gets_an_error_and_nothing_is_shown() {
    let host = Host::new(|turn, events| {
        Box::pin(async move {
            events.require_input("more?")?;
            turn.sleep(0).await;
            Ok(())
        })
    });
    let session = host.open();
    host.platform.run_until(host.send(&session, first("begin"))).expect("an answer");
    host.platform.run_all();
    let before = task(&session);

    host.store.set_failing(true);
    let outcome = host.platform.run_until(host.send(&session, next("m2", "x")));
    assert!(matches!(outcome, Err(Error::Internal { .. })), "{outcome:?}");
    assert!(session.is_broken());

    host.store.set_failing(false);
    assert_eq!(task(&host.open()), before, "the task is as it was stored last");
}

#[test]
fn an_event_beyond_the_limit_fails_the_task_with_the_reason() {
    let host = Host::new(|_, events| {
        Box::pin(async move {
            events.artifact(Artifact::new("a", Part::text("x".repeat(5_000_000))))?;
            events.complete(None)
        })
    });
    let session = host.open();
    host.platform.run_until(host.send(&session, first("hi"))).expect("an answer");
    assert_eq!(state(&session), TaskState::Failed);
    assert!(reason(&session).contains("the limit is 4194304"), "{}", reason(&session));
}

#[test]
fn a_send_that_is_repeated_under_its_key_begins_nothing_new() {
    let host = Host::new(|turn, events| {
        Box::pin(async move {
            turn.sleep(10).await;
            events.complete(Some(&turn.message.text()))
        })
    });
    let keyed = |text: &str| {
        let request: SendMessageRequest = serde_json::from_value(first(text)).unwrap();
        let fingerprint = Some(request.fingerprint());
        (Sender { fingerprint, ..host.sender() }, request)
    };
    let session = host.open();
    let (one, two) = (keyed("hi"), keyed("hi"));
    let (one, two) = host.platform.run_until(join(
        send_message(&session, one.0, one.1, Terms::default()),
        send_message(&session, two.0, two.1, Terms::default()),
    ));
    assert_eq!(one, two, "also at the same time");
    assert_eq!(host.platform.messages(), ["m1"]);

    let reopened = host.open();
    let again = keyed("hi");
    assert_eq!(
        host.platform.run_until(send_message(&reopened, again.0, again.1, Terms::default())),
        one
    );
    let other = keyed("something else");
    let refused =
        host.platform.run_until(send_message(&reopened, other.0, other.1, Terms::default()));
    assert!(matches!(refused, Err(Error::InvalidParams(_))), "{refused:?}");
    assert_eq!(host.platform.messages(), ["m1"]);
}

/// A poll function that is pending once, so that other futures can continue.
fn once() -> impl FnMut(&mut std::task::Context<'_>) -> std::task::Poll<()> {
    let mut was_polled = false;
    move |_| {
        if std::mem::replace(&mut was_polled, true) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    }
}

#[test]
fn an_event_of_too_many_json_values_fails_the_task_with_the_reason() {
    let host = Host::new(|_, events| {
        Box::pin(async move {
            events.artifact(Artifact::new("a", Part::data(serde_json::json!(vec![0; 100_000]))))?;
            events.complete(None)
        })
    });
    let session = host.open();
    host.platform.run_until(host.send(&session, first("hi"))).expect("an answer");
    assert_eq!(state(&session), TaskState::Failed);
    assert!(
        reason(&session).contains("the limit is 100000 (MAX_JSON_VALUES)"),
        "{}",
        reason(&session)
    );
}

#[test]
fn a_task_of_too_many_json_values_fails_with_the_reason_and_can_be_read_again() {
    let host = Host::new(|_, events| {
        Box::pin(async move {
            let values = || Part::data(serde_json::json!(vec![0; 90_000]));
            events.begin(Artifact::new("a", values()))?;
            for _ in 0..20 {
                events.append(Artifact::new("a", values()), false)?;
            }
            events.complete(None)
        })
    });
    let session = host.open();
    host.platform.run_until(host.send(&session, first("hi"))).expect("an answer");
    assert_eq!(state(&session), TaskState::Failed);
    assert!(reason(&session).contains("at most 1000000 JSON values"), "{}", reason(&session));
    assert_eq!(task(&session).artifacts[0].parts.len(), 11);
    assert_eq!(task(&host.open()), task(&session));
}
