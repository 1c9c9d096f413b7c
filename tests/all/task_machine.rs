//! The task machine with arbitrary inputs.

use a2a::model::{
    Artifact, ContextId, Generation, Message, Part, Role, Secret, TaskId, TaskState, UnixMillis,
};
use a2a_edge::auth::Caller;
use a2a_edge::task::{
    Admission, CallbackCall, CallbackName, CallbackRecord, Effect, HeldText, Input, LogEntry, Loss,
    NewTask, Notice, Park, Recovery, RunOutcome, RunRequest, StepRecord, TaskMachine, WaitEnd,
    WokenBy, may_enter,
};
use proptest::prelude::*;

fn message(id: String, role: Role) -> Message {
    Message {
        message_id: id,
        context_id: None,
        task_id: None,
        role,
        parts: vec![Part::text("text")],
        metadata: None,
        extensions: Vec::new(),
        reference_task_ids: Vec::new(),
    }
}

fn any_state() -> impl Strategy<Value = TaskState> {
    proptest::sample::select(TaskState::ALL.to_vec())
}

fn any_outcome() -> impl Strategy<Value = RunOutcome> {
    prop_oneof![Just(RunOutcome::Finished), Just(RunOutcome::Failed("reason".to_owned())),]
}

fn request() -> RunRequest {
    RunRequest {
        caller: Caller::anonymous(),
        accepted_output_modes: Vec::new(),
        metadata: None,
        origin: None,
        allowance: None,
        trail: Default::default(),
        timeout_ms: 30,
        joins_context: false,
    }
}

/// Any input of the machine.
#[derive(Clone, Debug, PartialEq)]
enum Change {
    Message(Message),
    Cancel,
    OfRun(Input),
    Notice(Notice),
}

impl Change {
    /// The effects; `None` if the machine refuses it.
    fn apply(self, machine: &mut TaskMachine, now: UnixMillis) -> Option<Vec<Effect>> {
        match self {
            Self::Message(message) => machine.receive(message, request(), now).ok(),
            Self::Cancel => machine.cancel(now).ok(),
            Self::OfRun(input) => machine.step(input, now).ok(),
            Self::Notice(notice) => Some(machine.note(notice, now)),
        }
    }

    /// Whether no run is under way after it.
    fn ends_run(&self) -> bool {
        match self {
            Self::Message(_) | Self::Cancel => false,
            Self::OfRun(input) => matches!(input, Input::Park(_)),
            Self::Notice(notice) => matches!(notice, Notice::RunEnded(_) | Notice::RunLost { .. }),
        }
    }
}

fn any_loss() -> impl Strategy<Value = Notice> {
    let loss = proptest::sample::select(vec![Loss::Interrupted, Loss::Crashed]);
    let recovery =
        proptest::sample::select(vec![Recovery::Resume, Recovery::Restart, Recovery::Fail]);
    let lost = (loss, recovery, 1..4u32);
    lost.prop_map(|(loss, recovery, max_attempts)| Notice::RunLost { loss, recovery, max_attempts })
}

fn any_held() -> impl Strategy<Value = Option<HeldText>> {
    proptest::option::weighted(0.3, (0..3usize).prop_map(|chars| HeldText { chars }))
}

fn any_change() -> impl Strategy<Value = Change> {
    let state = prop_oneof![
        3 => Just(TaskState::Working),
        3 => Just(TaskState::InputRequired),
        2 => Just(TaskState::AuthRequired),
        1 => any_state(),
    ];
    let status = (state, any::<bool>(), "[a-z]{4}").prop_map(|(state, speaks, id)| Input::Status {
        state,
        message: speaks.then(|| message(id, Role::Agent)),
        metadata: None,
    });
    let artifact = ("[abc]", any::<bool>(), any::<bool>(), 0..3usize, any_held()).prop_map(
        |(id, append, last_chunk, parts, held)| {
            let mut artifact = Artifact::new(id, Part::text("x"));
            artifact.parts = vec![Part::text("x"); parts];
            Input::Artifact { artifact, append, last_chunk, metadata: None, held }
        },
    );
    let notice = prop_oneof![
        1 => Just(Notice::MessageTaken),
        2 => any_outcome().prop_map(Notice::RunEnded),
        2 => any_loss(),
        3 => any::<bool>().prop_map(|is_served| Notice::Wake { is_served }),
    ];
    let of_run = prop_oneof![
        6 => status,
        6 => artifact,
        2 => "[ab]".prop_map(|name| {
            Input::StepDone(StepRecord { name, nth: 1, outcome: Ok((&serde_json::Value::Bool(true)).into()), failed: false, usage: None, duration_ms: None, input: None })
        }),
        2 => (0..20i64, any::<bool>()).prop_map(|(until_ms, or_message)| {
            let callback = (until_ms % 2 == 0).then(name);
            Input::Park(Park { nth: 1, at_ms: 1, until_ms, or_message, callback, unanswered: None })
        }),
        1 => Just(Input::WaitOver(WaitEnd { nth: 1, by: WokenBy::Message })),
        1 => Just(Input::CallbackMade(CallbackRecord {
            name: name(),
            token: Secret::new("t"),
            origin: "https://a.example".to_owned(),
            uses: 2,
            expires_ms: 30,
        })),
        2 => (1..3u32).prop_map(|number| {
            Input::Called(CallbackCall { name: name(), number, key: None, body: Part::text("x") })
        }),
    ];
    prop_oneof![
        2 => "[a-z]{2}".prop_map(|id| Change::Message(message(id, Role::User))),
        1 => Just(Change::Cancel),
        20 => of_run.prop_map(Change::OfRun),
        8 => notice.prop_map(Change::Notice),
    ]
}

fn name() -> CallbackName {
    CallbackName { name: "a".to_owned(), nth: 1 }
}

fn new_machine() -> (TaskMachine, Vec<LogEntry>) {
    let new = NewTask {
        id: TaskId::new("t").unwrap(),
        context_id: ContextId::new("c").unwrap(),
        message: message("first".to_owned(), Role::User),
        metadata: None,
        request: request(),
        begun: UnixMillis(0),
    };
    let (machine, opening) = TaskMachine::create(new, UnixMillis(0));
    (machine, opening.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn a_task_is_the_replay_of_its_log(changes in proptest::collection::vec(any_change(), 0..40)) {
        let (mut machine, mut log) = new_machine();
        let mut runs = 1;
        for (at, change) in changes.into_iter().enumerate() {
            let before = machine.clone();
            let now = UnixMillis(i64::try_from(at).unwrap() + 1);
            match change.clone().apply(&mut machine, now) {
                None => prop_assert_eq!(&machine, &before, "a refused input changed the task"),
                Some(effects) => {
                    if before.state().is_terminal() {
                        let appended = effects.iter().any(|e| matches!(e, Effect::Append(_)));
                        prop_assert!(!appended, "{:?} changed a finished task", change);
                        prop_assert_eq!(before.task(), machine.task());
                    }
                    if change.ends_run() {
                        runs = 0;
                    }
                    for effect in effects {
                        match effect {
                            Effect::Append(entry) => log.push(entry),
                            Effect::Run(_) => runs += 1,
                            Effect::Offer(_) | Effect::Call(_) => {
                                prop_assert_eq!(runs, 1, "nobody to offer it to");
                            }
                            Effect::Stop => prop_assert_eq!(machine.state(), TaskState::Canceled),
                        }
                    }
                    prop_assert!(runs <= 1, "two runs at once");
                }
            }

            // Generations count the events: 1, 2, 3, …
            let events = log.iter().filter(|entry| entry.is_event()).count();
            prop_assert_eq!(machine.generation(), Generation(u64::try_from(events).unwrap()));

            // An active task always has a run that will bring it to an end, or is parked.
            let parked = usize::from(machine.parked().is_some());
            prop_assert!(runs + parked <= 1, "a run that is parked is not under way");
            prop_assert!(parked == 0 || !machine.state().is_terminal());
            if !machine.is_settled() {
                prop_assert_eq!(runs + parked, 1, "{:?} and nobody works on it", machine.state());
            }
            if parked == 0 {
                let wake = machine.clone().note(Notice::Wake { is_served: true }, UnixMillis(100));
                prop_assert_eq!(wake, Vec::new(), "there is nothing to wake");
            }
        }
        let replayed = TaskMachine::replay(log.clone()).expect("the log begins with a task");
        prop_assert_eq!(replayed.task(), machine.task());
        prop_assert_eq!(replayed.generation(), machine.generation());

        // The same through the stored form.
        let stored = log.iter().map(|entry| serde_json::to_string(entry).unwrap());
        let read = stored.map(|line| LogEntry::parse(&line).unwrap());
        let from_storage = TaskMachine::replay(read).expect("the log begins with a task");
        prop_assert_eq!(from_storage.task(), machine.task());
        prop_assert_eq!(from_storage.run(), machine.run());
        prop_assert_eq!(from_storage.parked(), machine.parked());
        prop_assert_eq!(from_storage.callback(&name()), machine.callback(&name()));
        let admitted = machine.admit_call("t", None, UnixMillis(20));
        let is_open = !machine.state().is_terminal() && (machine.parked().is_some() || runs == 1);
        prop_assert!(admitted == Admission::Unknown || is_open);

        // The stored data show whether a run was lost; then the run begins again, or the task has
        // ended.
        let mut woken = from_storage;
        prop_assert!(woken.is_orphaned() || !machine.is_active() || woken.parked().is_some());
        prop_assert!(!woken.is_orphaned() || (runs == 1 && !machine.state().is_terminal()));
        if woken.is_orphaned() {
            let recovery = Recovery::Resume;
            let lost = Notice::RunLost { loss: Loss::Interrupted, recovery, max_attempts: 100 };
            let effects = woken.note(lost, UnixMillis(20));
            let begins = effects.iter().any(|effect| matches!(effect, Effect::Run(_)));
            prop_assert!(begins || woken.state() == TaskState::Failed);
            let taken = woken.note(Notice::MessageTaken, UnixMillis(20));
            let offered = effects.iter().any(|effect| matches!(effect, Effect::Offer(_)));
            prop_assert_eq!(offered, !taken.is_empty());
        }
    }

    #[test]
    fn only_legal_moves_are_made(moves in proptest::collection::vec(any_state(), 1..12)) {
        let (mut machine, _) = new_machine();
        for to in moves {
            let from = machine.state();
            let status = Input::Status { state: to, message: None, metadata: None };
            let outcome = machine.step(status, UnixMillis(1));
            prop_assert_eq!(outcome.is_ok(), may_enter(from, to), "{:?} -> {:?}", from, to);
        }
    }

    #[test]
    fn a_cancel_wins_or_loses_against_a_completion(cancel_first in any::<bool>()) {
        let (mut machine, _) = new_machine();
        let complete =
            Input::Status { state: TaskState::Completed, message: None, metadata: None };
        let (cancel, complete) = (Change::Cancel, Change::OfRun(complete));
        let (first, second) = if cancel_first { (cancel, complete) } else { (complete, cancel) };
        prop_assert!(first.apply(&mut machine, UnixMillis(1)).is_some());
        let state = machine.state();
        prop_assert!(second.apply(&mut machine, UnixMillis(2)).is_none());
        prop_assert_eq!(machine.state(), state);
    }
}

#[test]
fn a_log_without_a_task_is_no_task() {
    assert!(TaskMachine::replay([]).is_none());
    assert!(
        TaskMachine::replay([LogEntry::Message(message("m".to_owned(), Role::User))]).is_none()
    );
}

#[test]
fn what_the_agent_said_becomes_history_when_it_says_something_else() {
    let (mut machine, _) = new_machine();
    let say = |id: &str, state| Input::Status {
        state,
        message: Some(message(id.to_owned(), Role::Agent)),
        metadata: None,
    };
    machine.step(say("question", TaskState::InputRequired), UnixMillis(1)).unwrap();
    machine.note(Notice::RunEnded(RunOutcome::Finished), UnixMillis(2));
    let answer = message("answer".to_owned(), Role::User);
    machine.receive(answer, request(), UnixMillis(3)).unwrap();
    machine.step(say("done", TaskState::Completed), UnixMillis(4)).unwrap();
    let ids: Vec<_> = machine.task().history.iter().map(|said| said.message_id.as_str()).collect();
    assert_eq!(ids, ["first", "question", "answer"]);
    assert_eq!(machine.task().status.message.as_ref().unwrap().message_id, "done");
}
