//! The projection of tasks into the index, with the in-memory implementations of the platform.

use std::rc::Rc;

use a2a::dialect::Dialect;
use a2a::error::Error;
use a2a::model::{Artifact, Generation, Part, SendMessageRequest, TaskId, TaskState, UnixMillis};
use a2a::{Outcome, Terms};
use a2a_agents::RunSettings;
use a2a_edge::auth::Caller;
use a2a_edge::config::{Limits, Settings};
use a2a_edge::executor::{AgentExecutor, Events, ExecutorError, Runner, Turn};
use a2a_edge::operation::{cancel_task, send_message};
use a2a_edge::port::{Clock, IndexRow, Indexed, Random, TaskIndex};
use a2a_edge::session::{Deletion, FindAgent, Opening, Owned, Sender, TaskSession};
use a2a_edge::trail::Trail;
use a2a_edge::twins::{MemoryIndex, MemoryPlatform, MemoryStore};
use async_trait::async_trait;
use serde_json::json;

/// An agent that executes the words of the message.
struct Obedient;

#[async_trait(?Send)]
impl AgentExecutor for Obedient {
    async fn execute(&self, turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
        for word in turn.message.text().split_whitespace() {
            match word {
                "work" => events.working(Some(word))?,
                "artifact" => events.artifact(Artifact::new("a", Part::text(word)))?,
                "ask" => events.require_input("more?")?,
                "complete" => events.complete(None)?,
                "reply" => events.reply(vec![Part::text("hello")])?,
                millis => turn.sleep(millis.parse().expect("a word or a number")).await,
            }
        }
        Ok(())
    }
}

/// A task object with its platform; opening it again simulates a restart.
#[derive(Default)]
struct Host {
    store: MemoryStore,
    platform: MemoryPlatform,
}

impl Host {
    fn open(&self) -> Rc<TaskSession> {
        let (store, ports) = (Rc::new(self.store.clone()), self.platform.ports());
        let find: FindAgent = Rc::new(|_| {
            let settings = RunSettings::default();
            let outside = MemoryPlatform::default().outside();
            Ok(Runner { executor: Rc::new(Obedient), settings, outside })
        });
        TaskSession::open(id(), store, ports, limits(), find, Opening::ByRequest)
            .expect("storage works")
    }

    /// Sends a message and waits for the answer.
    fn send(&self, session: &Rc<TaskSession>, text: &str) {
        self.send_with(session, text, json!({}));
    }

    fn send_without_waiting(&self, session: &Rc<TaskSession>, text: &str) {
        self.send_with(session, text, json!({"returnImmediately": true}));
    }

    fn send_with(&self, session: &Rc<TaskSession>, text: &str, configuration: serde_json::Value) {
        let request = self.request(session, text, configuration);
        let sent = send_message(session, sender(), request, Terms::default());
        self.platform.run_until(sent).expect("an answer");
    }

    async fn sending(&self, session: &Rc<TaskSession>, text: &str) -> Result<Outcome, Error> {
        send_message(session, sender(), self.request(session, text, json!({})), Terms::default())
            .await
    }

    /// A message that begins the task, or continues it.
    fn request(
        &self,
        session: &TaskSession,
        text: &str,
        configuration: serde_json::Value,
    ) -> SendMessageRequest {
        let mut message = json!({
            "messageId": String::from(self.platform.new_id()), "role": "ROLE_USER", "parts": [{"text": text}],
        });
        if session.owned_by("agent", &Caller::anonymous(), &Trail::default()).is_ok() {
            message["taskId"] = json!("t");
        }
        serde_json::from_value(json!({"message": message, "configuration": configuration}))
            .expect("a good request")
    }

    fn index(&self) -> &MemoryIndex {
        self.platform.memory_index()
    }

    fn row(&self) -> Option<IndexRow> {
        self.index().row(&id())
    }

    fn state(&self) -> Option<TaskState> {
        self.row().map(|row| row.state)
    }

    fn indexed(&self) -> Indexed {
        self.store.stored().expect("a task").indexed
    }

    /// Lets time pass until the alarm rings, and runs its handler. Returns the elapsed time, in
    /// milliseconds.
    fn ring(&self, session: &TaskSession) -> i64 {
        let left = self.platform.alarm().expect("an alarm").0 - self.platform.now().0;
        self.pass(u64::try_from(left).expect("in the future"));
        self.platform.run_until(session.wake());
        left
    }

    fn pass(&self, millis: u64) {
        self.platform.run_until(self.platform.sleep(millis));
    }
}

fn owned(session: &TaskSession) -> Owned<'_> {
    session.owned_by("agent", &Caller::anonymous(), &Trail::default()).expect("a task")
}

fn sender() -> Sender {
    Sender {
        agent: "agent".to_owned(),
        run_timeout_ms: None,
        allowance: None,
        trail: Default::default(),
        origin: Some("https://agents.example".to_owned()),
        caller: Caller::anonymous(),
        accepted_output_modes: Vec::new(),
        dialect: Dialect::V1,
        fingerprint: None,
        credentials: None,
    }
}

fn id() -> TaskId {
    TaskId::new("t").unwrap()
}

fn limits() -> Limits {
    Settings::read(|_| None).expect("the defaults are good").limits
}

#[test]
fn a_quick_task_costs_one_statement_and_can_be_listed_when_it_is_answered() {
    let host = Host::default();
    let session = host.open();
    host.send(&session, "work artifact complete");
    assert_eq!(host.state(), Some(TaskState::Completed), "before anything else runs");
    host.platform.run_all();
    assert_eq!(host.index().statements(), 1);
    assert_eq!(host.indexed(), Indexed { generation: Generation(4), failures: 0 });
    assert_eq!(host.platform.alarm(), None);
    assert_eq!(host.platform.alarms_set(), 0);
}

#[test]
fn a_task_that_finishes_soon_costs_one_statement() {
    let host = Host::default();
    let session = host.open();
    host.send(&session, "work 100 artifact 100 work 50 complete");
    host.platform.run_all();
    assert_eq!((host.index().statements(), host.state()), (1, Some(TaskState::Completed)));
}

#[test]
fn a_task_at_work_is_listed_soon_and_again_when_it_ends() {
    let host = Host::default();
    let session = host.open();
    host.send_without_waiting(&session, "work 5000 complete");
    assert_eq!(host.state(), None, "its first status is still gathered");
    host.pass(400);
    assert_eq!(host.state(), Some(TaskState::Working));
    host.platform.run_all();
    assert_eq!((host.index().statements(), host.state()), (2, Some(TaskState::Completed)));
}

#[test]
fn artifacts_alone_cost_nothing() {
    let host = Host::default();
    let session = host.open();
    host.send_without_waiting(
        &session,
        "work 1000 artifact 1000 artifact 1000 artifact 5000 complete",
    );
    host.pass(6_000);
    assert_eq!((host.index().statements(), host.state()), (1, Some(TaskState::Working)));
    host.platform.run_all();
    assert_eq!(host.index().statements(), 2);
}

#[test]
fn an_answer_shows_the_task_as_it_was_before_it_waited_for_its_row() {
    let host = Host::default();
    host.index().set_hanging(true);
    let session = host.open();
    let first = host.sending(&session, "ask");
    let outcome = host.platform.run_until(async {
        let next = async {
            host.platform.sleep(10).await;
            host.sending(&session, "complete").await
        };
        futures_util::future::join(first, next).await
    });
    let (Ok(Outcome::SentTask(asked)), Ok(Outcome::SentTask(ended))) = outcome else {
        panic!("{outcome:?}");
    };
    assert!(asked.json.contains("TASK_STATE_INPUT_REQUIRED"), "{asked:?}");
    assert!(ended.json.contains("TASK_STATE_COMPLETED"), "{ended:?}");
}

#[test]
fn a_direct_message_writes_no_row() {
    let host = Host::default();
    let session = host.open();
    host.send(&session, "reply");
    host.platform.run_all();
    assert_eq!(host.index().statements(), 0);
}

#[test]
fn every_turn_and_a_cancel_reach_the_index() {
    let host = Host::default();
    let session = host.open();
    host.send(&session, "ask");
    assert_eq!(host.state(), Some(TaskState::InputRequired));
    host.send(&session, "work ask");
    let row = host.row().unwrap();
    assert_eq!(row.history.lines().count(), 4, "history rides along: {}", row.history);
    cancel_task(owned(&session), Terms::default()).expect("it can be canceled");
    host.platform.run_until(owned(&session).until_indexed());
    assert_eq!(host.state(), Some(TaskState::Canceled));
    assert_eq!(host.index().statements(), 3);
}

#[test]
fn a_row_shows_the_task_and_whose_it_is() {
    let host = Host::default();
    let session = host.open();
    host.pass(1_000);
    host.send(&session, "artifact complete");
    let row = host.row().unwrap();
    assert_eq!((row.agent.as_str(), row.owner.as_str()), ("agent", "anonymous"));
    assert_eq!((row.status_ms, row.generation), (UnixMillis(1_000), owned(&session).generation()));
    let head: serde_json::Value = serde_json::from_str(&row.head).unwrap();
    assert_eq!(head["id"], "t");
    assert_eq!(head["contextId"], row.context_id.as_ref().unwrap().as_str());
    assert_eq!(head["status"]["state"], "TASK_STATE_COMPLETED");
    assert_eq!((head.get("artifacts"), head.get("history")), (None, None));
}

#[test]
fn an_index_that_fails_fails_no_task_and_is_retried() {
    let host = Host::default();
    host.index().set_failing(true);
    let session = host.open();
    host.send(&session, "complete");
    assert_eq!(owned(&session).with_task(|task| task.status.state), Some(TaskState::Completed));
    assert!(host.platform.now().0 < 1_000, "nobody waits for an index that is down");
    assert_eq!(host.indexed(), Indexed { generation: Generation::NONE, failures: 1 });
    assert_eq!(host.platform.errors().len(), 1);

    let mut due = Vec::new();
    for _ in 0..3 {
        due.push(host.ring(&session));
    }
    assert_eq!(due, [1_000, 2_000, 4_000]);

    host.index().set_failing(false);
    assert_eq!(host.ring(&session), 8_000);
    assert_eq!(host.state(), Some(TaskState::Completed));
    assert_eq!(host.indexed(), Indexed { generation: Generation(2), failures: 0 });
}

#[test]
fn while_a_retry_is_set_changes_wait_for_it() {
    let host = Host::default();
    host.index().set_failing(true);
    let session = host.open();
    host.send(&session, "ask");
    let attempts = host.index().statements();
    host.send(&session, "ask");
    host.send(&session, "complete");
    assert_eq!(host.index().statements(), attempts);
    host.index().set_failing(false);
    host.platform.run_until(session.wake());
    assert_eq!(host.index().statements(), attempts, "an alarm that comes early changes nothing");
    host.ring(&session);
    assert_eq!(
        (host.index().statements(), host.state()),
        (attempts + 1, Some(TaskState::Completed))
    );
}

#[test]
fn an_answer_waits_no_longer_than_the_limit_for_its_row() {
    let host = Host::default();
    host.index().set_hanging(true);
    let session = host.open();
    host.send(&session, "complete");
    let waited = host.platform.now().0;
    assert_eq!(waited, i64::try_from(limits().index_wait_ms).unwrap());
    assert_eq!(host.indexed(), Indexed::default(), "what was said in advance is taken back");
    assert!(host.platform.alarm().is_some());
    host.platform.run_all();
    assert!(host.platform.alarm().is_some(), "no answer counts as a failure");
}

#[test]
fn an_answer_waits_as_long_if_an_earlier_row_is_on_its_way() {
    let host = Host::default();
    host.index().set_hanging(true);
    let session = host.open();
    // The row of the working task is sent before the task ends.
    host.send(&session, "work 400 complete");
    assert_eq!(host.index().statements(), 1);
    let waited = host.platform.now().0 - 400;
    assert_eq!(waited, i64::try_from(limits().index_wait_ms).unwrap());
}

#[test]
fn a_debt_survives_the_object() {
    let host = Host::default();
    host.index().set_failing(true);
    host.send(&host.open(), "complete");
    host.index().set_failing(false);
    let reopened = host.open();
    host.platform.run_until(reopened.wake());
    assert_eq!(host.state(), Some(TaskState::Completed));
    let statements = host.index().statements();

    host.platform.run_until(host.open().wake());
    assert_eq!(host.index().statements(), statements, "what is paid is not paid again");
}

#[test]
fn a_request_that_opens_a_task_with_a_debt_sets_the_alarm_only_if_it_was_lost() {
    let host = Host::default();
    host.index().set_failing(true);
    host.send(&host.open(), "complete");
    host.index().set_hanging(true);
    let (alarm, set) = (host.platform.alarm(), host.platform.alarms_set());
    let _open = host.open();
    host.pass(100);
    assert_eq!((host.platform.alarm(), host.platform.alarms_set()), (alarm, set));
    host.platform.crash();

    host.platform.restore_alarm(None);
    let _open = host.open();
    host.pass(100);
    assert!(host.platform.alarm().is_some());
}

#[test]
fn a_request_that_opens_a_finished_task_leaves_its_alarm_alone() {
    let host = Host::default();
    host.send(&host.open(), "complete");
    host.platform.run_all();
    let set = host.platform.alarms_set();
    let session = host.open();
    host.pass(100);
    assert!(owned(&session).with_task(|task| task.status.state.is_terminal()).unwrap());
    assert_eq!(host.platform.alarms_set(), set);
}

#[test]
fn a_task_that_the_index_never_got_deletes_itself_when_its_time_is_over() {
    let host = Host::default();
    host.index().set_failing(true);
    let session = host.open();
    host.send(&session, "complete");
    let kept = i64::try_from(limits().retention_ms).unwrap();
    host.pass(limits().retention_ms);
    host.platform.run_until(session.wake());
    assert!(host.store.stored().is_some(), "the row could not be taken out");
    host.index().set_failing(false);
    let session = host.open();
    host.ring(&session);
    assert_eq!(host.store.stored(), None);
    assert_eq!(host.row(), None);
    assert!(host.platform.now().0 > kept);
}

#[test]
fn an_alarm_of_an_earlier_version_deletes_a_task_that_is_listed() {
    let host = Host::default();
    host.send(&host.open(), "complete");
    host.platform.run_all();
    host.pass(limits().retention_ms + 1);
    host.platform.run_until(host.open().wake());
    assert_eq!((host.store.stored(), host.row()), (None, None));
}

#[test]
fn a_task_that_is_not_finished_is_not_deleted() {
    let host = Host::default();
    let session = host.open();
    host.send(&session, "ask");
    for deletion in [Deletion::Whole, Deletion::AllButItsRow] {
        assert!(!host.platform.run_until(session.expire(deletion)));
        assert!(host.store.stored().is_some() && host.row().is_some());
    }
    host.send(&session, "complete");
    assert!(host.platform.run_until(session.expire(Deletion::AllButItsRow)));
    assert!(host.store.stored().is_none() && host.row().is_some(), "the asker takes it out");
    let gone = host.platform.run_until(host.open().expire(Deletion::AllButItsRow));
    assert!(gone, "there is nothing to delete any more");
}

#[test]
fn failures_are_counted_over_restarts() {
    let host = Host::default();
    host.index().set_failing(true);
    host.send(&host.open(), "complete");
    for _ in 0..4 {
        host.platform.run_until(host.open().wake());
    }
    assert_eq!(host.indexed().failures, 5);
    assert_eq!(host.platform.alarm().unwrap().0 - host.platform.now().0, 16_000);
}

#[test]
fn a_task_whose_run_was_lost_is_listed_as_failed() {
    let host = Host::default();
    let session = host.open();
    host.send_without_waiting(&session, "work 1000000 complete");
    host.pass(400);
    assert_eq!(host.state(), Some(TaskState::Working));
    let reopened = host.open();
    host.platform.run_until(owned(&reopened).until_indexed());
    assert_eq!(host.state(), Some(TaskState::Failed));
}

#[test]
fn a_late_row_does_not_replace_a_newer_one() {
    let host = Host::default();
    let session = host.open();
    host.send(&session, "ask");
    let late = host.row().unwrap();
    host.send(&session, "complete");
    let newest = host.row().unwrap();
    host.platform.run_until(host.index().upsert(late)).expect("the index works");
    assert_eq!(host.row(), Some(newest));
    assert_eq!(host.index().rows(&id()).len(), 1);
}

#[test]
fn a_row_whose_answer_was_lost_is_replaced_also_by_another_session() {
    for lose in [MemoryIndex::set_lossy, MemoryIndex::set_late] {
        let host = Host::default();
        let session = host.open();
        lose(host.index(), true);
        host.send(&session, "ask");
        host.send(&session, "ask");
        let earlier = host.index().rows(&id()).len();
        lose(host.index(), false);
        let reopened = host.open();
        host.pass(10);
        host.send(&reopened, "complete");
        host.platform.run_until(owned(&reopened).until_indexed());
        assert_eq!(host.state(), Some(TaskState::Completed), "{earlier}");
        assert_eq!(host.index().rows(&id()).len(), 1);
    }
}

#[test]
fn a_row_that_is_known_needs_no_earlier_instants() {
    let host = Host::default();
    let session = host.open();
    host.send(&session, "ask");
    assert_eq!(host.row().unwrap().earlier, []);
    let asked = host.row().unwrap().status_ms;
    host.pass(10);
    host.send(&session, "complete");
    assert_eq!(host.row().unwrap().earlier, [asked]);
    assert_eq!(host.index().rows(&id()).len(), 1);
}
