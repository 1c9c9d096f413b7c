//! Runs of an agent: their limits, their steps, and the recovery of interrupted ones.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use a2a::Terms;
use a2a::model::{Artifact, Generation, Part, TaskState};
use a2a_agents::{Recovery, RunSettings};
use a2a_edge::config::Limits;
use a2a_edge::executor::{ExecutorError, Retry};
use a2a_edge::operation::send_message;
use a2a_edge::port::Clock;
use a2a_edge::session::{FindAgent, NoAgent, OpenError, Opening, Sender, TaskSession};
use a2a_edge::task::ATTEMPT;
use serde_json::json;

use crate::support::{Host, first, limits, next, owned, reason, state, task};

/// Sends the first message and waits only until the task exists.
fn begin(host: &Host, session: &Rc<TaskSession>) {
    let mut request = first("hi");
    request["configuration"] = json!({"returnImmediately": true});
    host.platform.run_until(host.send(session, request)).expect("an answer");
}

/// Kills the process, and opens the object again.
fn crash(host: &Host) -> Rc<TaskSession> {
    host.platform.crash();
    host.open()
}

fn resuming(host: Host) -> Host {
    let settings = RunSettings { recovery: Some(Recovery::Resume), ..host.settings };
    Host { settings, ..host }
}

#[test]
fn a_step_is_done_once_and_its_result_is_kept() {
    let done = Rc::new(Cell::new(0));
    let seen = Rc::new(RefCell::new(Vec::new()));
    let (counter, list) = (done.clone(), seen.clone());
    let host = resuming(Host::new(move |turn, events| {
        let (done, seen) = (counter.clone(), list.clone());
        Box::pin(async move {
            let count = async || {
                done.set(done.get() + 1);
                Ok::<_, ExecutorError>(json!({"count": done.get(), "pi": 3.25}))
            };
            let results = [
                turn.step("count", count).await?,
                turn.step("count", count).await?,
                turn.step("other", count).await?,
            ];
            seen.borrow_mut().push((turn.attempt, turn.resumes, json!(results)));
            turn.sleep(1_000).await;
            events.complete(None)
        })
    }));
    let session = host.open();
    begin(&host, &session);
    host.platform.run_until(host.platform.sleep(500));
    let session = crash(&host);
    host.platform.run_all();
    assert_eq!(state(&session), TaskState::Completed);
    assert_eq!(done.get(), 3, "three steps, two of one name");
    let seen = seen.borrow();
    assert_eq!((seen[0].0, seen[0].1, seen[1].0, seen[1].1), (1, false, 2, true));
    assert_eq!(seen[0].2, seen[1].2);
    assert_eq!(task(&session).metadata.unwrap().members()[ATTEMPT], 2);
}

#[test]
fn a_pause_goes_on_where_it_was() {
    let host = resuming(Host::new(|turn, events| {
        Box::pin(async move {
            turn.pause("wait", 100_000).await?;
            turn.pause("wait", 1_000).await?;
            events.complete(None)
        })
    }));
    begin(&host, &host.open());
    for _ in 0..2 {
        host.platform.run_until(host.platform.sleep(40_000));
        host.platform.crash();
    }
    let session = host.open();
    host.platform.run_until(host.platform.sleep(21_500));
    assert_eq!(state(&session), TaskState::Completed);
    assert!(host.platform.now().0 < 102_000, "{:?}", host.platform.now());
}

#[test]
fn a_step_that_failed_fails_again_without_being_done_again() {
    let done = Rc::new(Cell::new(0));
    let counter = done.clone();
    let host = resuming(Host::new(move |turn, events| {
        let done = counter.clone();
        Box::pin(async move {
            let failing = async || {
                done.set(done.get() + 1);
                Err::<u8, _>(ExecutorError("no luck".to_owned()))
            };
            let error = turn.step("try", failing).await.expect_err("it fails");
            turn.sleep(1_000).await;
            events.complete(Some(&error.0))
        })
    }));
    begin(&host, &host.open());
    host.platform.run_until(host.platform.sleep(500));
    let session = crash(&host);
    host.platform.run_all();
    assert_eq!((reason(&session).as_str(), done.get()), ("no luck", 1));
}

#[test]
fn a_step_is_tried_as_often_as_it_is_to_be_with_growing_pauses() {
    let tried = Rc::new(RefCell::new(Vec::new()));
    let list = tried.clone();
    let host = Host::new(move |turn, events| {
        let tried = list.clone();
        Box::pin(async move {
            let retry = Retry { attempts: 5, delay_ms: 1_000, max_delay_ms: 3_000 };
            let work = async || {
                tried.borrow_mut().push(turn.now().0);
                Err::<(), _>(ExecutorError(format!("failure {}", tried.borrow().len())))
            };
            turn.step_with("try", retry, work).await?;
            events.complete(None)
        })
    });
    let session = host.open();
    host.platform.run_until(host.send(&session, first("hi"))).expect("an answer");
    assert_eq!(*tried.borrow(), [0, 1_000, 3_000, 6_000, 9_000]);
    assert_eq!((state(&session), reason(&session).as_str()), (TaskState::Failed, "failure 5"));
}

#[test]
fn steps_have_limits_that_are_told() {
    for (limits, expected) in [
        (
            Limits { max_step_bytes: 100, ..limits() },
            "the step \"big\" gave a result of 209 bytes; the limit is 100",
        ),
        (Limits { max_steps: 1, ..limits() }, "a run has at most 1 steps and waits"),
        (Limits { max_task_bytes: 900, ..limits() }, "a task holds at most 900 bytes"),
    ] {
        let host = Host::new(|turn, events| {
            Box::pin(async move {
                turn.step("small", async || Ok(1)).await?;
                turn.step("big", async || Ok("x".repeat(200))).await?;
                events.complete(Some(&"x".repeat(300)))
            })
        });
        let session = host.open_within(limits);
        host.platform.run_until(host.send(&session, first("hi"))).expect("an answer");
        assert_eq!((state(&session), reason(&session).as_str()), (TaskState::Failed, expected));
    }
    let host = Host::new(|turn, _| Box::pin(async move { turn.step("", async || Ok(())).await }));
    let session = host.open();
    host.platform.run_until(host.send(&session, first("hi"))).expect("an answer");
    assert_eq!(reason(&session), "the name of a step has 1 to 256 bytes");
}

#[test]
fn a_resumed_run_that_takes_another_way_fails_and_says_so() {
    let host = resuming(Host::new(|turn, events| {
        Box::pin(async move {
            events.working(Some("begun"))?;
            match turn.attempt {
                1 => events.artifact(Artifact::new("a", Part::text("x")))?,
                _ => events.artifact(Artifact::new("b", Part::text("x")))?,
            }
            turn.sleep(1_000).await;
            events.complete(None)
        })
    }));
    begin(&host, &host.open());
    let session = crash(&host);
    host.platform.run_all();
    assert_eq!(
        reason(&session),
        "the agent was interrupted and does not repeat what it said before: the artifact a; now it \
         says the artifact b"
    );
}

#[test]
fn an_interrupted_run_fails_unless_its_executor_says_otherwise() {
    let host = Host::new(|turn, events| {
        Box::pin(async move {
            turn.sleep(1_000).await;
            events.complete(None)
        })
    });
    begin(&host, &host.open());
    let session = crash(&host);
    assert_eq!(reason(&session), "interrupted: the agent stopped while it was at work");
}

#[test]
fn attempts_are_limited() {
    let host = resuming(Host::new(|turn, events| {
        Box::pin(async move {
            turn.sleep(1_000).await;
            events.complete(None)
        })
    }));
    begin(&host, &host.open());
    for attempt in 2..=3 {
        let session = crash(&host);
        assert_eq!(task(&session).metadata.unwrap().members()[ATTEMPT], attempt);
    }
    let session = crash(&host);
    let expected = "interrupted: the agent stopped while it was at work, in each of 3 attempts";
    assert_eq!((state(&session), reason(&session).as_str()), (TaskState::Failed, expected));
    let errors = host.platform.errors();
    let told = format!("task t: the run of the agent agent is given up: {expected}. ");
    assert!(errors.len() == 1 && errors[0].starts_with(&told), "{errors:?}");
}

#[test]
fn a_panic_is_an_interruption_like_any_other() {
    let host = resuming(Host::new(|turn, events| {
        Box::pin(async move {
            turn.step("step", async || Ok(())).await?;
            turn.sleep(10).await;
            if turn.attempt == 1 {
                panic!("a bug");
            }
            events.complete(Some(&format!("attempt {}", turn.attempt)))
        })
    }));
    let session = host.open();
    host.platform.run_until(host.send(&session, first("hi"))).expect("the client just waits");
    assert_eq!((state(&session), reason(&session).as_str()), (TaskState::Completed, "attempt 2"));
}

#[test]
fn the_time_for_a_run_counts_from_its_first_attempt_also_while_nobody_is_there() {
    let host = resuming(Host::new(|turn, events| {
        Box::pin(async move {
            turn.sleep(200_000).await;
            events.complete(None)
        })
    }));
    begin(&host, &host.open());
    host.platform.run_until(host.platform.sleep(150_000));
    let session = crash(&host);
    host.platform.run_all();
    assert_eq!(reason(&session), "task timed out after 300000 ms");
    assert_eq!(host.platform.now().0, 300_000, "half of it was over");

    let host = resuming(Host::new(|turn, _| {
        Box::pin(async move {
            turn.sleep(200_000).await;
            Ok(())
        })
    }));
    begin(&host, &host.open());
    host.platform.crash();
    host.platform.run_until(host.platform.sleep(400_000));
    assert_eq!(reason(&host.open()), "task timed out after 300000 ms");
}

#[test]
fn a_request_may_ask_for_less_time_and_not_for_more() {
    for (asked, agent, expected) in [
        (Some(5_000), None, 5_000),
        (Some(900_000), None, 300_000),
        (Some(9_000), Some(7_000), 7_000),
    ] {
        let mut host = Host::new(|turn, _| {
            Box::pin(async move {
                turn.sleep(10_000_000).await;
                Ok(())
            })
        });
        host.settings.timeout_ms = agent;
        let session = host.open();
        let sender = Sender { run_timeout_ms: asked, ..host.sender() };
        let request = serde_json::from_value(first("hi")).unwrap();
        host.platform
            .run_until(send_message(&session, sender, request, Terms::default()))
            .expect("an answer");
        host.platform.run_all();
        assert_eq!(reason(&session), format!("task timed out after {expected} ms"));
    }
}

#[test]
fn a_run_that_does_nothing_for_too_long_fails_its_task() {
    let mut host = Host::new(|turn, events| {
        Box::pin(async move {
            for _ in 0..5 {
                turn.sleep(4_000).await;
                events.working(Some("still here"))?;
            }
            let pause = async || {
                turn.sleep(4_000).await;
                Ok(())
            };
            turn.step("step", pause).await?;
            turn.sleep(9_000).await;
            events.complete(None)
        })
    });
    host.settings.idle_timeout_ms = Some(5_000);
    let session = host.open();
    host.platform.run_until(host.send(&session, first("hi"))).expect("an answer");
    assert_eq!(reason(&session), "the agent made no progress for 5000 ms");
    assert_eq!(host.platform.now().0, 29_000);
}

#[test]
fn a_run_that_waits_for_the_client_is_not_idle() {
    let mut host = Host::new(|turn, events| {
        Box::pin(async move {
            events.require_input("which?")?;
            let answer = turn.next_message().await;
            turn.sleep(4_000).await;
            events.complete(Some(&answer.text()))
        })
    });
    host.settings.idle_timeout_ms = Some(5_000);
    let session = host.open();
    host.platform.run_until(host.send(&session, first("hi"))).expect("a question");
    host.platform.run_until(host.platform.sleep(60_000));
    assert_eq!(state(&session), TaskState::InputRequired);
    host.platform.run_until(host.send(&session, next("m2", "red"))).expect("an answer");
    assert_eq!((state(&session), reason(&session).as_str()), (TaskState::Completed, "red"));
}

#[test]
fn an_answer_that_a_lost_run_had_taken_is_given_to_the_one_that_resumes() {
    let host = resuming(Host::new(|turn, events| {
        Box::pin(async move {
            events.require_input("which?")?;
            let answer = turn.next_message().await;
            events.working(None)?;
            events.working(Some("thank you"))?;
            turn.sleep(10_000).await;
            events.complete(Some(&answer.text()))
        })
    }));
    let session = host.open();
    host.platform.run_until(host.send(&session, first("hi"))).expect("a question");
    let mut answer = next("m2", "red");
    answer["configuration"] = json!({"returnImmediately": true});
    host.platform.run_until(host.send(&session, answer)).expect("taken");
    host.platform.run_until(host.platform.sleep(1_000));
    let session = crash(&host);
    host.platform.run_all();
    assert_eq!((state(&session), reason(&session).as_str()), (TaskState::Completed, "red"));
    let said: Vec<String> = task(&session).history.iter().map(|message| message.text()).collect();
    assert_eq!(said, ["hi", "which?", "red", "thank you"]);
}

#[test]
fn a_message_that_nobody_took_before_the_crash_is_handled_after_it() {
    let host = resuming(Host::new(|turn, events| {
        Box::pin(async move {
            if turn.number == 1 {
                turn.sleep(1_000).await;
                events.require_input("which?")?;
                // The message is already stored, but this run does not read it.
                turn.sleep(10_000).await;
                return Ok(());
            }
            events.complete(Some(&turn.message.text()))
        })
    }));
    let session = host.open();
    begin(&host, &session);
    let mut answer = next("m2", "red");
    answer["configuration"] = json!({"returnImmediately": true});
    host.platform.run_until(host.send(&session, answer)).expect("taken");
    host.platform.run_until(host.platform.sleep(5_000));
    assert_eq!(state(&session), TaskState::InputRequired);
    let session = crash(&host);
    host.platform.run_all();
    assert_eq!((state(&session), reason(&session).as_str()), (TaskState::Completed, "red"));
}

#[test]
fn a_thousand_quick_events_are_a_hundred_rows_and_each_is_shown() {
    let host = Host::new(|turn, events| {
        Box::pin(async move {
            for index in 0..1_000 {
                let chunk = Artifact::new("a", Part::text(index.to_string()));
                match index {
                    0 => events.begin(chunk)?,
                    _ => events.append(chunk, index == 999)?,
                }
                turn.sleep(20).await;
            }
            events.complete(None)
        })
    });
    let session = host.open();
    host.platform.run_until(host.send(&session, first("hi"))).expect("an answer");
    assert_eq!(owned(&session).generation(), Generation(1_002));
    let rows = host.rows();
    assert!((95..=108).contains(&rows), "{rows} rows");
    let events: usize = host.platform.frames().iter().map(|frame| frame.lines().count() - 1).sum();
    assert_eq!(events, 1_002);
}

#[test]
fn what_was_said_is_stored_before_it_is_shown() {
    let host = Host::new(|turn, events| {
        Box::pin(async move {
            for index in 0..100 {
                events.working(Some(&index.to_string()))?;
                turn.sleep(1).await;
            }
            turn.sleep(1_000).await;
            events.complete(None)
        })
    });
    let session = host.open();
    begin(&host, &session);
    for _ in 0..20 {
        host.platform.run_until(host.platform.sleep(3));
        owned(&session).task_json(a2a::model::HistoryLimit::All).expect("a task");
        let stored = host.store.stored().unwrap().log.last().unwrap().batch.generation;
        assert_eq!(owned(&session).generation(), stored);
    }
}

#[test]
fn events_with_time_between_them_are_shown_at_once() {
    let host = Host::new(|turn, events| {
        Box::pin(async move {
            for index in 0..10 {
                events.working(Some(&index.to_string()))?;
                turn.sleep(250).await;
            }
            events.complete(None)
        })
    });
    let session = host.open();
    begin(&host, &session);
    host.platform.run_until(host.platform.sleep(125));
    for index in 1..9 {
        host.platform.run_until(host.platform.sleep(250));
        assert_eq!(host.rows(), index + 1);
    }
}

#[test]
fn a_task_whose_agent_is_gone_fails_and_says_so_in_the_log() {
    let host = Host::new(|turn, _| {
        Box::pin(async move {
            turn.sleep(1_000).await;
            Ok(())
        })
    });
    begin(&host, &host.open());
    host.platform.crash();
    let (store, ports) = (Rc::new(host.store.clone()), host.platform.ports());
    let id = a2a::model::TaskId::new("t").unwrap();
    let session =
        TaskSession::open(id, store, ports, limits(), find(NoAgent::Missing), Opening::ByRequest);
    let session = session.expect("storage works");
    assert_eq!(state(&session), TaskState::Failed);
    assert_eq!(host.platform.errors(), ["task t: its agent is not served any more"]);
}

#[test]
fn a_run_waits_for_an_agent_that_can_be_made_again_and_a_finished_task_does_not() {
    let host = resuming(Host::new(|turn, events| {
        Box::pin(async move {
            turn.pause("second", 1_000).await?;
            events.complete(None)
        })
    }));
    begin(&host, &host.open());
    host.platform.crash();
    let open = || {
        let (store, ports) = (Rc::new(host.store.clone()), host.platform.ports());
        let id = a2a::model::TaskId::new("t").unwrap();
        TaskSession::open(id, store, ports, limits(), find(NoAgent::Unusable), Opening::ByAlarm)
    };
    let rows = host.rows();
    assert_eq!(open().err(), Some(OpenError::AgentUnusable("agent".to_owned())));
    assert_eq!(host.rows(), rows, "nothing was written");

    let session = host.open();
    host.platform.run_all();
    assert_eq!(state(&session), TaskState::Completed);
    let finished = open().expect("it has ended, so nothing has to run");
    assert_eq!(state(&finished), TaskState::Completed);
}

fn find(no_agent: NoAgent) -> FindAgent {
    Rc::new(move |_| Err(no_agent))
}
