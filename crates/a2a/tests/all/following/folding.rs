//! Applying events, and applying the changes between two snapshots of a task, have the same result.

use a2a::client::{apply, changes};
use a2a::model::{StreamResponse, Task, decode::read_json};
use proptest::prelude::*;

use super::script::{script, talk};

/// The task after these events.
fn applied(task: &Task, events: &[StreamResponse]) -> Task {
    let mut task = Some(task.clone());
    events.iter().for_each(|event| apply(&mut task, event));
    task.expect("it was there")
}

proptest! {
    #[test]
    fn changes_lead_from_one_look_to_the_next(script in prop_oneof![script(), talk()], from in 1..12_usize, steps in 0..12_usize) {
        let from = from.min(script.len());
        let (before, after) = (script.task(from), script.task(from + steps));
        let events = changes(Some(&before), &after);
        prop_assert_eq!(applied(&before, &events), after.clone());
        prop_assert_eq!(changes(Some(&after), &after), vec![]);
        let is_whole = |event: &StreamResponse| matches!(event, StreamResponse::Task(_));
        prop_assert!(!events.iter().any(is_whole), "only what is unknown is told whole");
    }

    #[test]
    fn a_look_says_as_much_as_the_events_before_it(script in prop_oneof![script(), talk()], at in 1..12_usize) {
        let at = at.min(script.len());
        let look = StreamResponse::Task(script.task(at));
        prop_assert_eq!(applied(&script.task(1), std::slice::from_ref(&look)), script.task(at));
        prop_assert_eq!(applied(&script.task(at), &[look]), script.task(at));
    }
}

fn task(json: &str) -> Task {
    let whole = json.replace('\'', "\"");
    let rest = if whole.is_empty() { String::new() } else { format!(", {whole}") };
    read_json(&format!(r#"{{"id": "t", "contextId": "c"{rest}}}"#)).expect("a task")
}

fn text(text: &str) -> String {
    format!("{{'text': '{text}'}}")
}

fn artifact(parts: &[&str]) -> Task {
    let parts: Vec<String> = parts.iter().map(|part| text(part)).collect();
    let parts = parts.join(", ");
    task(&format!(
        "'status': {{'state': 'TASK_STATE_WORKING'}}, 'artifacts': [{{'artifactId': 'a', 'parts': [{parts}]}}]"
    ))
}

#[test]
fn an_artifact_that_has_grown_by_parts_is_appended_to_and_any_other_replaced() {
    for (before, after, append, told) in [
        (&["a"] as &[_], &["a", "b", "c"] as &[_], true, 2),
        // An appended part would be an additional part.
        (&["a"], &["ab"], false, 1),
        (&["a", "b"], &["a", "bc", "d"], false, 3),
        (&["a", "b"], &["b"], false, 1),
        (&["a", "b"], &["a"], false, 1),
    ] {
        let (before, after) = (artifact(before), artifact(after));
        let events = changes(Some(&before), &after);
        let [StreamResponse::ArtifactUpdate(event)] = events.as_slice() else {
            panic!("{events:?}")
        };
        assert_eq!((event.append, event.artifact.parts.len()), (append, told), "{after:?}");
        assert_eq!(applied(&before, &events), after);
    }
}

#[test]
fn artifacts_are_complete_when_the_task_is() {
    let done = Task {
        status: task("'status': {'state': 'TASK_STATE_COMPLETED'}").status,
        ..artifact(&["a"])
    };
    let events = changes(Some(&Task { artifacts: Vec::new(), ..artifact(&["a"]) }), &done);
    let [StreamResponse::ArtifactUpdate(first), StreamResponse::StatusUpdate(last)] =
        events.as_slice()
    else {
        panic!("{events:?}")
    };
    assert!(first.last_chunk && last.status.state.is_terminal());
}

#[test]
fn a_task_that_is_unknown_or_another_one_is_told_whole() {
    let after = artifact(&["a"]);
    let other = Task { id: a2a::model::TaskId::new("other").unwrap(), ..after.clone() };
    for before in [None, Some(&other)] {
        assert_eq!(changes(before, &after), [StreamResponse::Task(after.clone())]);
    }
}

#[test]
fn what_only_the_server_counts_is_no_change() {
    let working = |rest: &str| task(&format!("'status': {{'state': 'TASK_STATE_WORKING'{rest}"));
    let at = |second: u8| working(&format!(", 'timestamp': '2026-01-05T09:00:0{second}Z'}}"));
    assert_eq!(changes(Some(&at(1)), &at(2)), []);
    let counted = |count: u8| {
        working(&format!(
            "}}, 'metadata': {{'urn:a2a-edge:generation:v1/generation': {count}, 'x': 1}}"
        ))
    };
    assert_eq!(changes(Some(&counted(1)), &counted(2)), []);
    let events = changes(Some(&working("}")), &counted(1));
    let [StreamResponse::StatusUpdate(event)] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!(event.metadata.as_ref().map(|known| known.members().len()), Some(1));
}

#[test]
fn a_task_that_has_ended_enters_no_other_state() {
    let ended = task("'status': {'state': 'TASK_STATE_CANCELED'}");
    for state in a2a::model::TaskState::ALL {
        let late = task(&format!("'status': {{'state': '{}'}}", state.wire_name()));
        assert_eq!(applied(&ended, &changes(Some(&ended), &late)), ended);
        assert_eq!(applied(&ended, &[StreamResponse::Task(late)]), ended);
    }
}

#[test]
fn a_look_without_history_forgets_nothing() {
    let said = "[{'messageId': 'm', 'role': 'ROLE_USER', 'parts': [{'text': 'hi'}]}]";
    let status = "'status': {'state': 'TASK_STATE_WORKING'}";
    let known = task(&format!("{status}, 'history': {said}"));
    let look = task(status);
    assert_eq!(changes(Some(&known), &look), []);
    assert_eq!(applied(&known, &[StreamResponse::Task(look)]), known);
}

#[test]
fn events_of_another_task_change_nothing() {
    let known = artifact(&["a"]);
    let other = Task { id: a2a::model::TaskId::new("other").unwrap(), ..artifact(&["b"]) };
    let mut task = Some(known.clone());
    apply(&mut task, &StreamResponse::Task(other));
    assert_eq!(task, Some(known));
}
