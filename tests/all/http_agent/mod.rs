//! Agents behind HTTP that misbehave, and the outcomes of their tasks: a table of mistakes in practice, with servers in
//! memory and simulated time. Each case contains the expected state of the task, its text, and the number of requests. For
//! all cases: no secret is exposed, every request has the same idempotency key, and the connection is closed.

mod case;
mod heads;
mod outages;
mod secrets;
mod sound;
mod streams;
mod usage;
mod verbs;

use case::Case;

fn table() -> Vec<Case> {
    [heads::cases(), streams::cases(), verbs::cases()].into_iter().flatten().collect()
}

#[test]
fn misbehaving_agents_fail_their_tasks_with_a_reason() {
    let failures: Vec<String> = table().iter().filter_map(|case| case.run().err()).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn the_table_is_long_and_names_each_case_once() {
    let mut names: Vec<&str> = table().iter().map(|case| case.name).collect();
    assert!(names.len() >= 40, "{} cases", names.len());
    names.sort_unstable();
    let pair = names.windows(2).find(|pair| pair[0] == pair[1]);
    assert_eq!(pair, None);
}
