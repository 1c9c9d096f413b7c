//! Runs that are parked, which means that they wait outside of memory: the causes for their continuation, their cost,
//! and changes of their tasks during the wait.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use a2a::Terms;
use a2a::model::{GetTaskRequest, Part, TaskId, TaskState, UnixMillis};
use a2a_agents::{Recovery, RunSettings};
use a2a_edge::auth::Caller;
use a2a_edge::config::Limits;
use a2a_edge::executor::{
    AgentExecutor, CallbackTerms, Called, Events, ExecutorError, Runner, Turn, Wait, Woken,
};
use a2a_edge::operation::send_message;
use a2a_edge::port::{Clock, Runtime};
use a2a_edge::session::{
    Deletion, FindAgent, NoAgent, OpenError, Opening, Posted, Sender, TaskSession, Visitor,
};
use a2a_edge::task::{ATTEMPT, LogEntry};
use async_trait::async_trait;
use futures_util::future::LocalBoxFuture;
use serde_json::json;

use crate::support::{
    Host, cancel_task, first, get_task, limits, next, owned, reason, state, task,
};

const DAY_MS: u64 = 86_400_000;

/// A host whose runs are resumed.
fn resuming<F>(agent: F) -> Host
where
    F: for<'a> Fn(&'a Turn, &'a Events) -> LocalBoxFuture<'a, Result<(), ExecutorError>> + 'static,
{
    let settings = RunSettings { recovery: Some(Recovery::Resume), ..RunSettings::default() };
    Host { settings, ..Host::new(agent) }
}

/// An agent that waits once, and reports the cause of the wait's end.
fn waiting(wait: Wait) -> Host {
    resuming(move |turn, events| {
        Box::pin(async move {
            events.working(Some("waiting"))?;
            let woken = turn.wait_until(wait).await?;
            events.complete(Some(&format!("{woken:?} {}", turn.attempt)))
        })
    })
}

fn send(host: &Host, session: &Rc<TaskSession>, text: &str) {
    host.platform.run_until(host.send(session, first(text))).expect("an answer");
}

/// Lets the time pass up to this instant; alarms open the object again.
fn pass(host: &Host, limit: u64) -> usize {
    let limit = UnixMillis(i64::try_from(limit).unwrap());
    let mut rung = 0;
    while host.platform.run_to(limit) {
        rung += 1;
        ring(host);
    }
    rung
}

/// Rings the alarm; only the alarm's handler opens the object.
fn ring(host: &Host) {
    let session = open(host, Opening::ByAlarm);
    host.platform.spawn(Box::pin(async move { session.wake().await }));
}

fn open(host: &Host, opening: Opening) -> Rc<TaskSession> {
    open_for(host, Visitor::Server, opening).expect("storage works")
}

fn open_for(
    host: &Host,
    visitor: Visitor<'_>,
    opening: Opening,
) -> Result<Rc<TaskSession>, OpenError> {
    let (store, ports) = (Rc::new(host.store.clone()), host.platform.ports());
    let (executor, settings) = (host.executor.clone(), host.settings);
    let runner = Runner { executor, settings, outside: host.platform.outside() };
    let find: FindAgent = Rc::new(move |_| Ok(runner.clone()));
    TaskSession::open_for(visitor, TaskId::new("t").unwrap(), store, ports, limits(), find, opening)
}

/// Evicts the object, which must have no activity.
fn evict(host: &Host, session: Rc<TaskSession>) {
    host.platform.run_to(host.platform.now());
    assert_eq!(Rc::strong_count(&session), 1, "something holds the session in memory");
    drop(session);
}

fn entries(host: &Host) -> Vec<LogEntry> {
    let batches = host.store.stored().expect("a task").log;
    let lines = batches.iter().flat_map(|row| row.batch.lines.lines());
    lines.map(|line| LogEntry::parse(line).expect("a line")).collect()
}

#[test]
fn three_days_cost_the_rows_and_the_alarm_of_one_wait() {
    let host = waiting(Wait::for_millis(3 * DAY_MS));
    let session = host.open();
    send(&host, &session, "hi");
    assert_eq!(state(&session), TaskState::Working);
    // The row of the index is written.
    host.platform.run_to(UnixMillis(1_000));
    evict(&host, session);
    let parked_at = host.platform.alarm().expect("an alarm");
    let before =
        (host.rows(), host.platform.alarms_set(), host.platform.memory_index().statements());
    assert_eq!(parked_at, UnixMillis(3 * DAY_MS as i64), "for the end of the wait alone");

    let end = parked_at.0 as u64;
    assert_eq!(pass(&host, end - 1), 0, "nothing rings meanwhile");
    let after =
        (host.rows(), host.platform.alarms_set(), host.platform.memory_index().statements());
    assert_eq!(before, after, "nothing is written meanwhile");

    assert_eq!(pass(&host, end), 1);
    let session = host.open();
    assert_eq!((state(&session), reason(&session).as_str()), (TaskState::Completed, "Time 1"));
    assert_eq!(host.rows() - after.0, 2, "how it goes on, and how it ends");
    assert_eq!(task(&session).metadata, None, "no further attempt");
}

#[test]
fn a_message_wakes_a_run_that_waits_for_it_and_lies_ready() {
    let host = resuming(|turn, events| {
        Box::pin(async move {
            events.working(Some("waiting"))?;
            let woken = turn.wait_until(Wait::for_millis(DAY_MS).or_message()).await?;
            let said = turn.next_message().await.text();
            let again = turn.wait_until(Wait::for_millis(DAY_MS).or_message()).await?;
            events.complete(Some(&format!("{woken:?} {said} {again:?}")))
        })
    });
    let session = host.open();
    send(&host, &session, "hi");
    evict(&host, session);
    pass(&host, DAY_MS / 2);
    let session = host.open();
    host.platform.run_until(host.send(&session, next("m2", "now"))).expect("an answer");
    assert!(owned(&session).is_parked(), "it waits again");
    evict(&host, session);
    pass(&host, 2 * DAY_MS);
    let session = host.open();
    assert_eq!(reason(&session), "Message now Time");
    assert_eq!(host.platform.now().0, 2 * DAY_MS as i64);
    assert_eq!(task(&session).history.len(), 3, "two of the client, and what was said first");
}

#[test]
fn a_message_that_a_run_does_not_wait_for_lies_ready_when_it_goes_on() {
    let host = resuming(|turn, events| {
        Box::pin(async move {
            events.working(Some("waiting"))?;
            turn.wait_until(Wait::until(UnixMillis(DAY_MS as i64))).await?;
            let said = turn.next_message().await.text();
            events.complete(Some(&said))
        })
    });
    let session = host.open();
    send(&host, &session, "hi");
    let begun = host.platform.now();
    host.platform.run_until(host.send(&session, next("m2", "later"))).expect("an answer");
    assert_eq!(state(&session), TaskState::Working);
    assert!(owned(&session).is_parked());
    assert!(host.platform.now().0 - begun.0 < 60_000, "the send does not wait for nothing");
    evict(&host, session);
    pass(&host, DAY_MS);
    let session = host.open();
    assert_eq!(reason(&session), "later");
    assert_eq!(host.platform.messages(), ["m1", "m2"]);
}

#[test]
fn a_message_that_no_run_takes_begins_a_turn_of_its_own_once() {
    let seen = Rc::new(RefCell::new(Vec::new()));
    let list = seen.clone();
    let host = resuming(move |turn, events| {
        let seen = list.clone();
        Box::pin(async move {
            seen.borrow_mut().push(turn.message.text());
            if turn.number == 2 {
                return events.complete(Some("second"));
            }
            turn.wait_until(Wait::for_millis(DAY_MS)).await?;
            events.require_input("more?")
        })
    });
    let session = host.open();
    send(&host, &session, "first");
    host.platform.run_until(host.send(&session, next("m2", "second"))).expect("an answer");
    host.platform.run_until(host.send(&session, next("m2", "second"))).expect("an answer");
    evict(&host, session);
    pass(&host, DAY_MS);
    let session = host.open();
    assert_eq!((state(&session), reason(&session).as_str()), (TaskState::Completed, "second"));
    assert_eq!(*seen.borrow(), ["first", "first", "second"]);
}

#[test]
fn a_run_that_asks_and_waits_is_woken_by_the_answer_or_reminds() {
    let host = resuming(|turn, events| {
        Box::pin(async move {
            events.require_input("which?")?;
            while turn.wait_until(Wait::for_millis(DAY_MS).or_message()).await? == Woken::Time {
                events.require_input("still there?")?;
            }
            let said = turn.next_message().await.text();
            events.complete(Some(&said))
        })
    });
    let session = host.open();
    send(&host, &session, "hi");
    assert_eq!(state(&session), TaskState::InputRequired);
    evict(&host, session);
    assert_eq!(pass(&host, 2 * DAY_MS + 1), 2);
    let session = host.open();
    assert_eq!(
        (state(&session), reason(&session).as_str()),
        (TaskState::InputRequired, "still there?")
    );
    host.platform.run_until(host.send(&session, next("m2", "red"))).expect("an answer");
    assert_eq!((state(&session), reason(&session).as_str()), (TaskState::Completed, "red"));
}

#[test]
fn a_run_that_asked_and_was_woken_goes_on_after_a_crash_until_it_ends() {
    let runs = Rc::new(Cell::new(0));
    let counter = runs.clone();
    let host = resuming(move |turn, events| {
        counter.set(counter.get() + 1);
        Box::pin(async move {
            events.require_input("which?")?;
            turn.wait_until(Wait::for_millis(DAY_MS)).await?;
            turn.pause("think", 10_000).await?;
            events.require_input("still there?")
        })
    });
    let session = host.open();
    send(&host, &session, "hi");
    evict(&host, session);
    host.platform.run_to(UnixMillis(2 * DAY_MS as i64));
    ring(&host);
    host.platform.run_to(host.platform.now().after(5_000));
    host.platform.crash();
    // Without requests, only the alarm wakes the run.
    pass(&host, 2 * DAY_MS);
    let session = host.open();
    assert_eq!(
        (state(&session), reason(&session).as_str(), runs.get()),
        (TaskState::InputRequired, "still there?", 3)
    );
    evict(&host, session);
    host.platform.crash();
    pass(&host, 3 * DAY_MS);
    host.open();
    host.platform.run_to(host.platform.now().after(60_000));
    assert_eq!(runs.get(), 3, "it is over");
}

#[test]
fn a_wait_that_is_over_at_once_is_no_park() {
    let host = resuming(|turn, events| {
        Box::pin(async move {
            let past = turn.wait_until(Wait::until(UnixMillis(-1))).await?;
            let now = turn.wait_until(Wait::for_millis(0)).await?;
            let or_message = turn.wait_until(Wait::for_millis(0).or_message()).await?;
            events.complete(Some(&format!("{past:?} {now:?} {or_message:?}")))
        })
    });
    let session = host.open();
    send(&host, &session, "hi");
    assert_eq!(reason(&session), "Time Time Time");
    let is_of_a_wait =
        |entry: &&LogEntry| matches!(entry, LogEntry::Parked(_) | LogEntry::Woken(_));
    assert_eq!(
        entries(&host).iter().filter(is_of_a_wait).count(),
        1,
        "the one that a message may end"
    );
    assert_eq!(host.rows(), 1);
}

#[test]
fn waits_and_steps_in_a_loop_are_each_done_once() {
    let steps = Rc::new(Cell::new(0));
    let counter = steps.clone();
    let host = resuming(move |turn, events| {
        let steps = counter.clone();
        Box::pin(async move {
            for day in 1..=5 {
                let done = turn.step("look", async || {
                    steps.set(steps.get() + 1);
                    Ok(turn.now().0)
                });
                let at = done.await?;
                assert_eq!(at, (day - 1) * DAY_MS as i64);
                events.working(Some(&format!("day {day}")))?;
                turn.wait_until(Wait::until(UnixMillis(day * DAY_MS as i64))).await?;
            }
            events.complete(None)
        })
    });
    let session = host.open();
    send(&host, &session, "hi");
    evict(&host, session);
    assert_eq!(pass(&host, 5 * DAY_MS), 5);
    let session = host.open();
    assert_eq!((state(&session), steps.get()), (TaskState::Completed, 5));
    let said: Vec<String> = task(&session).history.iter().map(|said| said.text()).collect();
    assert_eq!(said, ["hi", "day 1", "day 2", "day 3", "day 4", "day 5"]);
}

#[test]
fn no_timeout_counts_while_a_run_is_parked_and_the_rest_of_its_time_does() {
    for (works_ms, expected) in [(40_000, "done"), (55_000, "task timed out after 100000 ms")] {
        let host = resuming(move |turn, events| {
            Box::pin(async move {
                for nth in ["one", "two"] {
                    turn.pause(nth, works_ms).await?;
                    turn.wait_until(Wait::until(UnixMillis(2 * DAY_MS as i64))).await?;
                }
                events.complete(Some("done"))
            })
        });
        let settings = RunSettings {
            timeout_ms: Some(100_000),
            idle_timeout_ms: Some(60_000),
            ..host.settings
        };
        let host = Host { settings, ..host };
        let session = host.open();
        send(&host, &session, "hi");
        drop(session);
        pass(&host, 3 * DAY_MS);
        assert_eq!(reason(&host.open()), expected);
    }
}

#[test]
fn attempts_count_anew_when_a_run_goes_on() {
    let host = resuming(|turn, events| {
        Box::pin(async move {
            turn.sleep(10_000).await;
            turn.wait_until(Wait::for_millis(DAY_MS)).await?;
            turn.sleep(10_000).await;
            events.complete(Some(&turn.attempt.to_string()))
        })
    });
    let settings = RunSettings { max_attempts: Some(2), ..host.settings };
    let host = Host { settings, ..host };
    let session = host.open();
    send_and_leave(&host, &session);
    // Interrupted once before the wait, and once after it.
    host.platform.crash();
    host.open();
    host.platform.run_to(UnixMillis(40_000));
    assert!(owned(&host.open()).is_parked());
    assert_eq!(task(&host.open()).metadata.unwrap().members()[ATTEMPT], 2);
    pass(&host, 2 * DAY_MS - 1);
    assert_eq!(reason(&host.open()), "1");

    host.store.restore(None);
    send_and_leave(&host, &host.open());
    pass(&host, 3 * DAY_MS - 1);
    host.platform.ring(UnixMillis(i64::MAX));
    ring(&host);
    host.platform.run_to(host.platform.now().after(5_000));
    host.platform.crash();
    let session = host.open();
    host.platform.run_to(host.platform.now().after(60_000));
    assert_eq!(reason(&session), "2");
}

/// Sends the first message; the client does not wait for the end of the task.
fn send_and_leave(host: &Host, session: &Rc<TaskSession>) {
    let mut request = first("hi");
    request["configuration"] = json!({"returnImmediately": true});
    host.platform.run_until(host.send(session, request)).expect("an answer");
}

#[test]
fn only_runs_that_are_resumed_may_wait() {
    for recovery in [None, Some(Recovery::Restart), Some(Recovery::Fail)] {
        let host = waiting(Wait::for_millis(DAY_MS));
        let host = Host { settings: RunSettings { recovery, ..host.settings }, ..host };
        let session = host.open();
        send(&host, &session, "hi");
        assert_eq!(state(&session), TaskState::Failed);
        assert!(
            reason(&session).contains("`recovery = \"resume\"` in [executor.run]"),
            "{recovery:?}"
        );
    }
}

#[test]
fn waits_have_limits_that_are_told() {
    let cases: [(Limits, Wait, &str); 4] = [
        (
            Limits { max_steps: 1, ..limits() },
            Wait::for_millis(1),
            "a run has at most 1 steps and waits",
        ),
        (limits(), Wait::for_millis(u64::MAX), "a wait takes at most 315619200000 ms"),
        (limits(), Wait::until(UnixMillis(i64::MAX)), "a wait takes at most 315619200000 ms"),
        (
            Limits { max_task_bytes: 1_200, ..limits() },
            Wait::for_millis(1),
            "a task holds at most 1200 bytes",
        ),
    ];
    for (limits, wait, expected) in cases {
        let host = resuming(move |turn, events| {
            Box::pin(async move {
                events.working(Some(&"x".repeat(300)))?;
                turn.step("one", async || Ok(1)).await?;
                turn.wait_until(wait).await?;
                events.complete(None)
            })
        });
        let session = host.open_within(limits);
        host.platform.run_until(host.send(&session, first("hi"))).expect("an answer");
        assert_eq!((state(&session), reason(&session).as_str()), (TaskState::Failed, expected));
    }
}

#[test]
fn a_run_waits_for_one_thing_at_a_time_and_a_wait_that_is_given_up_is_none() {
    let host = resuming(|turn, events| {
        Box::pin(async move {
            let both = futures_util::future::join(
                turn.wait_until(Wait::for_millis(1_000)),
                turn.wait_until(Wait::for_millis(2_000)),
            );
            let first = futures_util::future::select(Box::pin(both), std::future::ready(())).await;
            drop(first);
            turn.sleep(5_000).await;
            let (one, two) =
                futures_util::future::join(async { Ok::<_, ExecutorError>(()) }, async {
                    let one = turn.wait_until(Wait::for_millis(3_000));
                    let two = turn.wait_until(Wait::for_millis(4_000));
                    let (one, two) = (Box::pin(one), Box::pin(two));
                    match futures_util::future::select(one, two).await {
                        futures_util::future::Either::Left((one, _)) => one,
                        futures_util::future::Either::Right((two, _)) => two,
                    }
                })
                .await;
            one?;
            events.complete(Some(&two.expect_err("it waits already").0))
        })
    });
    let session = host.open();
    send(&host, &session, "hi");
    assert_eq!(reason(&session), "a run waits for one thing at a time");
    assert_eq!(host.platform.now().0, 5_000);
}

/// Waits for a day, and records calls of `cancel`.
struct Noted {
    canceled: Rc<RefCell<Vec<String>>>,
}

#[async_trait(?Send)]
impl AgentExecutor for Noted {
    async fn execute(&self, turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
        events.working(None)?;
        turn.wait_until(Wait::for_millis(DAY_MS)).await?;
        events.complete(None)
    }

    async fn cancel(&self, turn: &Turn) {
        self.canceled.borrow_mut().push(format!("{} {}", turn.message.text(), turn.is_canceled()));
        turn.sleep(DAY_MS).await;
        std::future::pending().await
    }

    fn parks(&self) -> bool {
        true
    }
}

#[test]
fn a_cancel_ends_a_parked_task_at_once_and_calls_the_hook() {
    for is_evicted in [true, false] {
        let canceled = Rc::new(RefCell::new(Vec::new()));
        let host = Host::new(|_, _| Box::pin(async { Ok(()) }));
        let host = Host { executor: Rc::new(Noted { canceled: canceled.clone() }), ..host };
        let mut session = host.open();
        send(&host, &session, "hi");
        if is_evicted {
            evict(&host, session);
            session = host.open();
        }
        let caller = Caller::anonymous();
        cancel_task(&session, "agent", &caller, Terms::default()).expect("it can be canceled");
        assert_eq!(state(&session), TaskState::Canceled);
        host.platform.run_all();
        assert_eq!(*canceled.borrow(), ["hi true"]);
        let cleaned_up_at = host.platform.now().0;
        assert!(cleaned_up_at <= 10_000, "the hook has five seconds: {cleaned_up_at}");
        assert_eq!(Rc::strong_count(&session), 1);
        pass(&host, 2 * DAY_MS);
        assert_eq!(state(&host.open()), TaskState::Canceled, "and nothing goes on");
        assert_eq!(canceled.borrow().len(), 1);
    }
}

#[test]
fn a_blocking_send_waits_for_a_short_park_and_not_for_a_long_one() {
    for (millis, at, expected) in
        [(59_000, 59_000, TaskState::Completed), (61_000, 300, TaskState::Working)]
    {
        let host = waiting(Wait::for_millis(millis));
        let session = host.open();
        let sent = host.send(&session, first("hi"));
        let mut sent = Box::pin(sent);
        let waker = futures_util::task::noop_waker();
        let context = &mut std::task::Context::from_waker(&waker);
        while sent.as_mut().poll(context).is_pending() {
            if host.platform.run_to(host.platform.now().after(10)) {
                let session = session.clone();
                host.platform.spawn(Box::pin(async move { session.wake().await }));
            }
        }
        assert_eq!(state(&session), expected);
        assert!(host.platform.now().0 <= at + 1_000, "{:?}", host.platform.now());
    }
}

#[test]
fn a_parked_task_can_be_asked_for_and_is_kept() {
    let host = waiting(Wait::for_millis(90 * DAY_MS));
    let session = host.open();
    send(&host, &session, "hi");
    host.platform.run_to(UnixMillis(1_000));
    evict(&host, session);
    // Longer than the retention of finished tasks.
    pass(&host, 60 * DAY_MS);
    let session = host.open();
    let request =
        GetTaskRequest { tenant: None, id: TaskId::new("t").unwrap(), history_length: None };
    let (agent, caller) = ("agent", Caller::anonymous());
    let generation = owned(&session).generation();
    let terms = Terms { after: Some(generation.0), wait_ms: Some(20_000), ..Terms::default() };
    let before = host.platform.now();
    host.platform.run_until(get_task(&session, agent, &caller, &request, terms)).expect("a task");
    assert_eq!(host.platform.now().0 - before.0, 20_000, "as long as the client wants to wait");
    assert!(!host.platform.run_until(session.expire(Deletion::Whole)), "it is not finished");
    evict(&host, session);
    assert_eq!(pass(&host, 90 * DAY_MS), 1);
    assert_eq!(state(&host.open()), TaskState::Completed);
}

#[test]
fn a_park_whose_alarm_is_late_or_lost_ends_by_the_next_request() {
    let host = waiting(Wait::for_millis(DAY_MS));
    let session = host.open();
    send(&host, &session, "hi");
    host.platform.run_to(UnixMillis(1_000));
    evict(&host, session);
    host.platform.restore_alarm(None);
    pass(&host, DAY_MS / 2);
    // An earlier request sets the alarm again.
    evict_after(&host, host.open());
    assert_eq!(host.platform.alarm(), Some(UnixMillis(DAY_MS as i64)));
    host.platform.restore_alarm(None);
    pass(&host, 2 * DAY_MS);
    let session = host.open();
    host.platform.run_to(host.platform.now().after(1_000));
    assert_eq!(reason(&session), "Time 1");
}

fn evict_after(host: &Host, session: Rc<TaskSession>) {
    host.platform.run_to(host.platform.now().after(1_000));
    evict(host, session);
}

#[test]
fn a_park_whose_agent_is_gone_when_it_ends_fails_and_says_so() {
    let host = waiting(Wait::for_millis(DAY_MS));
    let session = host.open();
    send(&host, &session, "hi");
    drop(session);
    host.platform.run_to(UnixMillis(1_000));
    assert!(host.platform.ring(UnixMillis(i64::MAX)));
    let open_without = |why: NoAgent| {
        let (store, ports) = (Rc::new(host.store.clone()), host.platform.ports());
        let nobody: FindAgent = Rc::new(move |_| Err(why));
        TaskSession::open(
            TaskId::new("t").unwrap(),
            store,
            ports,
            limits(),
            nobody,
            Opening::ByAlarm,
        )
    };
    let unusable = open_without(NoAgent::Unusable).err();
    assert_eq!(
        unusable,
        Some(OpenError::AgentUnusable("agent".to_owned())),
        "it waits for a version"
    );
    let session = open_without(NoAgent::Missing).unwrap();
    host.platform.run_until(session.wake());
    assert_eq!(state(&session), TaskState::Failed);
    assert_eq!(
        reason(&session),
        "interrupted: the agent whose run was waiting is not served any more"
    );
}

#[test]
fn a_file_that_does_not_let_a_parking_executor_resume_is_refused() {
    let executor = Rc::new(Noted { canceled: Rc::default() });
    let runner = |recovery| {
        let settings = RunSettings { recovery, ..RunSettings::default() };
        let outside = a2a_edge::twins::MemoryPlatform::default().outside();
        Runner { executor: executor.clone(), settings, outside }
    };
    for recovery in [None, Some(Recovery::Resume)] {
        assert_eq!(runner(recovery).check(), Ok(()));
        assert_eq!(runner(recovery).recovery(), Recovery::Resume);
    }
    for recovery in [Recovery::Restart, Recovery::Fail] {
        let refused = runner(Some(recovery)).check().unwrap_err();
        assert!(refused.0.contains("needs `recovery = \"resume\"`"), "{refused}");
    }
}

/// Posts to a callback of an object that is not in memory.
fn post(host: &Host, url: &str, key: Option<&str>, body: &str) -> Posted {
    let token = url.rsplit_once("/callbacks/t").expect("a URL of this task").1;
    let visitor = Visitor::Callback("agent", token, key);
    let posted = match open_for(host, visitor, Opening::ByRequest) {
        Ok(session) => session.call_back("agent", token, key.map(str::to_owned), Part::text(body)),
        Err(error) => {
            assert_eq!(error, OpenError::Denied);
            Posted::Unknown
        }
    };
    host.platform.run_to(host.platform.now().after(1_000));
    posted
}

/// A host whose agent makes callbacks, and the URLs of these.
fn calling<F>(agent: F) -> (Host, Rc<RefCell<Vec<String>>>)
where
    F: for<'a> Fn(
            &'a Turn,
            &'a Events,
            &'a RefCell<Vec<String>>,
        ) -> LocalBoxFuture<'a, Result<(), ExecutorError>>
        + 'static,
{
    let urls = Rc::new(RefCell::new(Vec::new()));
    let (told, agent) = (urls.clone(), Rc::new(agent));
    let host = resuming(move |turn, events| {
        let (told, agent) = (told.clone(), agent.clone());
        Box::pin(async move { agent(turn, events, &told).await })
    });
    (host, urls)
}

#[test]
fn a_callback_wakes_the_run_that_waits_for_it_once() {
    let (host, urls) = calling(|turn, events, urls| {
        Box::pin(async move {
            let paid = turn.callback("paid")?;
            let other = turn.callback("paid")?;
            assert_ne!(paid.url(), other.url());
            urls.borrow_mut().push(paid.url().to_owned());
            events.working(None)?;
            let called = turn.wait_callback(&paid, Wait::for_millis(7 * DAY_MS)).await?;
            events.complete(called.body().as_ref().and_then(Part::as_text))
        })
    });
    let session = host.open();
    send(&host, &session, "hi");
    let url = urls.borrow()[0].clone();
    assert!(url.starts_with("https://agents.example/agent/callbacks/t"), "{url}");
    assert_eq!(url.len(), "https://agents.example/agent/callbacks/t".len() + 64);
    host.platform.run_to(UnixMillis(1_000));
    evict(&host, session);
    pass(&host, DAY_MS);

    let token = url.rsplit_once("/callbacks/t").unwrap().1.to_owned();
    let session = host.open();
    let body = || Part::text("no");
    assert_eq!(session.call_back("other", &token, None, body()), Posted::Unknown, "another agent");
    assert_eq!(
        session.call_back("agent", &"0".repeat(64), None, body()),
        Posted::Unknown,
        "another token"
    );
    assert_eq!(session.call_back("agent", "", None, body()), Posted::Unknown);
    drop(session);
    assert_eq!(post(&host, &url, Some("k"), "49 EUR"), Posted::Accepted);
    let session = host.open();
    assert_eq!((state(&session), reason(&session).as_str()), (TaskState::Completed, "49 EUR"));
    assert_eq!(post(&host, &url, None, "again"), Posted::Unknown);
    assert_eq!(post(&host, &url, Some("k"), "49 EUR"), Posted::Accepted, "it is repeated");
    let urls = urls.borrow();
    assert!(urls.iter().all(|told| *told == url), "a run that resumes gets the same one: {urls:?}");
}

#[test]
fn bodies_come_in_their_order_and_wait_for_who_waits_for_them() {
    let (host, urls) = calling(|turn, events, urls| {
        Box::pin(async move {
            let news = turn.callback_with("news", CallbackTerms::times(3))?;
            urls.borrow_mut().push(news.url().to_owned());
            events.working(None)?;
            turn.wait_until(Wait::for_millis(DAY_MS)).await?;
            let mut said = Vec::new();
            for _ in 0..4 {
                let called = turn.wait_callback(&news, Wait::for_millis(DAY_MS)).await?;
                said.push(called.body().and_then(|body| body.as_text().map(str::to_owned)));
            }
            events.complete(Some(&format!("{said:?}")))
        })
    });
    let session = host.open();
    send(&host, &session, "hi");
    drop(session);
    let url = urls.borrow()[0].clone();
    for body in ["one", "two"] {
        assert_eq!(post(&host, &url, Some(body), body), Posted::Accepted);
        assert_eq!(
            post(&host, &url, Some(body), body),
            Posted::Accepted,
            "a repetition does not count"
        );
    }
    assert!(owned(&host.open()).is_parked(), "it waits for the time");
    pass(&host, DAY_MS + DAY_MS / 2);
    assert_eq!(post(&host, &url, None, "three"), Posted::Accepted);
    assert_eq!(post(&host, &url, None, "four"), Posted::Unknown, "three were to be");
    pass(&host, 4 * DAY_MS);
    assert_eq!(reason(&host.open()), r#"[Some("one"), Some("two"), Some("three"), None]"#);
}

#[test]
fn a_body_that_comes_while_the_run_is_at_work_is_kept_through_a_crash() {
    let (host, urls) = calling(|turn, events, urls| {
        Box::pin(async move {
            let paid = turn.callback("paid")?;
            urls.borrow_mut().push(paid.url().to_owned());
            turn.pause("work", 20_000).await?;
            let called = turn.wait_callback(&paid, Wait::for_millis(0)).await?;
            let again = turn.wait_callback(&paid, Wait::for_millis(0)).await?;
            events.complete(Some(&format!("{:?} {again:?}", called.body().unwrap().as_text())))
        })
    });
    for is_crash in [true, false] {
        host.store.restore(None);
        urls.borrow_mut().clear();
        let mut session = host.open();
        send_and_leave(&host, &session);
        let token = urls.borrow()[0].rsplit_once("/callbacks/t").unwrap().1.to_owned();
        let posted = session.call_back("agent", &token, None, Part::text("early"));
        assert_eq!(posted, Posted::Accepted);
        if is_crash {
            host.platform.crash();
            session = host.open();
        }
        host.platform.run_to(host.platform.now().after(40_000));
        assert_eq!(reason(&session), r#"Some("early") Time"#, "{is_crash}");
    }
}

#[test]
fn a_post_reaches_a_run_that_was_lost_before_it_was_parked() {
    let (host, urls) = calling(|turn, events, urls| {
        Box::pin(async move {
            let paid = turn.callback_with("paid", CallbackTerms::times(3))?;
            turn.step("order", async || {
                urls.borrow_mut().push(paid.url().to_owned());
                Ok(())
            })
            .await?;
            turn.pause("work", 20_000).await?;
            let mut bodies = Vec::new();
            while bodies.len() < 3 {
                match turn.wait_callback(&paid, Wait::for_millis(DAY_MS)).await?.body() {
                    Some(body) => bodies.push(body.as_text().unwrap_or_default().to_owned()),
                    None => return events.fail("nobody has paid"),
                }
            }
            events.complete(Some(&bodies.join(", ")))
        })
    });
    let host = Host { settings: RunSettings { max_attempts: Some(9), ..host.settings }, ..host };
    send_and_leave(&host, &host.open());
    let url = urls.borrow()[0].clone();
    for body in ["one", "two", "three"] {
        // The alarm, which would resume the run, has not rung yet.
        host.platform.crash();
        assert_eq!(post(&host, &url, Some(body), body), Posted::Accepted, "{body}");
        host.platform.crash();
        assert_eq!(post(&host, &url, Some(body), body), Posted::Accepted, "it is repeated");
    }
    host.platform.crash();
    assert_eq!(post(&host, &url, None, "four"), Posted::Unknown, "three were to be");
    pass(&host, DAY_MS);
    assert_eq!(reason(&host.open()), "one, two, three");
    assert_eq!(urls.borrow().len(), 1, "the step was done once");
}

#[test]
fn a_post_that_can_not_be_kept_now_is_no_end_of_its_callback() {
    let (host, urls) = calling(|turn, events, urls| {
        Box::pin(async move {
            let paid = turn.callback("paid")?;
            urls.borrow_mut().push(paid.url().to_owned());
            let called = turn.wait_callback(&paid, Wait::for_millis(DAY_MS)).await?;
            events.complete(called.body().as_ref().and_then(Part::as_text))
        })
    });
    let session = host.open();
    send(&host, &session, "hi");
    let url = urls.borrow()[0].clone();
    let token = url.rsplit_once("/callbacks/t").unwrap().1;
    host.store.set_failing(true);
    let busy = session.call_back("agent", token, None, Part::text("lost"));
    assert_eq!(busy, Posted::Busy);
    let told = busy.check().unwrap_err().wire();
    assert_eq!((told.http, told.headers), (503, vec![("retry-after", "5".to_owned())]));
    host.store.set_failing(false);
    host.platform.crash();
    assert_eq!(post(&host, &url, None, "paid"), Posted::Accepted);
    assert_eq!(reason(&host.open()), "paid");
}

#[test]
fn a_callback_is_over_with_its_time_its_turn_and_its_task() {
    let (host, urls) = calling(|turn, events, urls| {
        Box::pin(async move {
            let terms = CallbackTerms::ONCE.for_millis(DAY_MS);
            urls.borrow_mut().push(turn.callback_with("short", terms)?.url().to_owned());
            urls.borrow_mut().push(turn.callback("long")?.url().to_owned());
            if turn.number == 1 {
                turn.wait_until(Wait::for_millis(2 * DAY_MS)).await?;
                return events.require_input("more?");
            }
            turn.wait_until(Wait::for_millis(DAY_MS)).await.map(|_| ())
        })
    });
    let session = host.open();
    send(&host, &session, "hi");
    let (short, long) = (urls.borrow()[0].clone(), urls.borrow()[1].clone());
    drop(session);
    pass(&host, DAY_MS + 1);
    assert_eq!(post(&host, &short, None, "late"), Posted::Unknown);
    assert_eq!(post(&host, &long, None, "kept"), Posted::Accepted);
    pass(&host, 2 * DAY_MS + 10);
    assert_eq!(state(&host.open()), TaskState::InputRequired);
    assert_eq!(post(&host, &long, None, "the turn is over"), Posted::Unknown);

    urls.borrow_mut().clear();
    let session = host.open();
    host.platform.run_until(host.send(&session, next("m2", "more"))).expect("an answer");
    let again = urls.borrow()[1].clone();
    assert_ne!(again, long, "another turn has callbacks of its own");
    let caller = Caller::anonymous();
    cancel_task(&session, "agent", &caller, Terms::default()).expect("it can be canceled");
    drop(session);
    assert_eq!(post(&host, &again, None, "the task is over"), Posted::Unknown);
    host.store.restore(None);
    assert_eq!(post(&host, &again, None, "it is deleted"), Posted::Unknown);
}

#[test]
fn a_wait_for_a_callback_ends_by_a_message_if_it_is_to() {
    let (host, urls) = calling(|turn, events, urls| {
        Box::pin(async move {
            let paid = turn.callback("paid")?;
            urls.borrow_mut().push(paid.url().to_owned());
            events.working(None)?;
            let wait = Wait::for_millis(DAY_MS).or_message();
            let mut seen = Vec::new();
            while seen.len() < 3 {
                seen.push(match turn.wait_callback(&paid, wait).await? {
                    Called::Body(body) => body.as_text().unwrap_or_default().to_owned(),
                    Called::Message => turn.next_message().await.text(),
                    Called::Time => "nothing".to_owned(),
                });
            }
            events.complete(Some(&seen.join(", ")))
        })
    });
    let session = host.open();
    send(&host, &session, "hi");
    host.platform.run_until(host.send(&session, next("m2", "hurry"))).expect("an answer");
    drop(session);
    let url = urls.borrow()[0].clone();
    assert_eq!(post(&host, &url, None, "paid"), Posted::Accepted);
    pass(&host, 3 * DAY_MS);
    assert_eq!(reason(&host.open()), "hurry, paid, nothing");
}

#[test]
fn callbacks_have_limits_that_are_told() {
    let make = |terms: CallbackTerms, count: usize, name: &'static str| {
        resuming(move |turn, events| {
            Box::pin(async move {
                for _ in 0..count {
                    turn.callback_with(name, terms)?;
                }
                events.complete(Some("made"))
            })
        })
    };
    for (host, expected) in [
        (make(CallbackTerms::ONCE, 100, "c"), "made"),
        (make(CallbackTerms::ONCE, 101, "c"), "a run makes at most 100 callbacks"),
        (make(CallbackTerms::ONCE, 1, ""), "the name of a callback has 1 to 256 bytes"),
        (make(CallbackTerms::times(0), 1, "c"), "a callback is used 1 to 1000 times, got 0"),
        (make(CallbackTerms::times(1_001), 1, "c"), "a callback is used 1 to 1000 times, got 1001"),
        (
            make(CallbackTerms::ONCE.for_millis(0), 1, "c"),
            "a callback lives 1 to 315619200000 ms, got 0",
        ),
    ] {
        let session = host.open();
        send(&host, &session, "hi");
        assert_eq!(reason(&session), expected);
    }
    let host = make(CallbackTerms::ONCE, 1, "c");
    let settings = RunSettings { recovery: Some(Recovery::Restart), ..host.settings };
    let host = Host { settings, ..host };
    let session = host.open();
    send(&host, &session, "hi");
    assert!(reason(&session).contains("needs `recovery = \"resume\"`"));
    // A front Worker of an earlier version does not send its origin.
    let host = make(CallbackTerms::ONCE, 1, "c");
    let session = host.open();
    let request = serde_json::from_value(first("hi")).unwrap();
    let sender = Sender { origin: None, ..host.sender() };
    let sent = send_message(&session, sender, request, Terms::default());
    host.platform.run_until(sent).expect("an answer");
    assert!(reason(&session).starts_with("the origin of this server is not known; set PUBLIC_URL"));
}

#[test]
fn what_is_posted_counts_into_what_a_task_holds() {
    let (host, urls) = calling(|turn, _, urls| {
        Box::pin(async move {
            let news = turn.callback_with("news", CallbackTerms::times(9))?;
            urls.borrow_mut().push(news.url().to_owned());
            turn.wait_until(Wait::for_millis(DAY_MS)).await.map(|_| ())
        })
    });
    let session = host.open_within(Limits { max_task_bytes: 3_500, ..limits() });
    send(&host, &session, "hi");
    let token = urls.borrow()[0].rsplit_once("/callbacks/t").unwrap().1.to_owned();
    let post =
        |bytes: usize| session.call_back("agent", &token, None, Part::text("x".repeat(bytes)));
    assert_eq!(post(1_500), Posted::Accepted);
    assert!(matches!(post(1_500), Posted::NoRoom(_)));
    assert_eq!(post(5), Posted::Accepted, "what is refused does not count");
}
