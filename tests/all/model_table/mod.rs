//! Models that misbehave, and our agent's reactions: a table of mistakes in practice, with a model in memory and simulated
//! time. Each case contains the expected state of the task, its text, and the number of requests. For all cases: the
//! conversation is acceptable for a provider, no key is exposed, no two calls have the same key, followers receive the same
//! task as readers, and no request remains open.

mod answers;
mod asks;
mod budgets;
mod calls;
mod cancels;
mod case;
mod errors;
mod limits;
mod output;
mod repeated;
mod streams;

use case::Case;

fn table() -> Vec<Case> {
    let all = [
        calls::cases(),
        answers::cases(),
        streams::cases(),
        errors::cases(),
        limits::cases(),
        budgets::cases(),
        output::cases(),
        repeated::cases(),
        asks::cases(),
        cancels::cases(),
    ];
    all.into_iter().flatten().collect()
}

#[test]
fn misbehaving_models_do_no_harm() {
    let failures: Vec<String> = table().iter().filter_map(|case| case.run().err()).collect();
    assert!(failures.is_empty(), "{} rows:\n{}", failures.len(), failures.join("\n\n"));
}

#[test]
fn the_table_is_long_and_names_each_case_once() {
    let mut names: Vec<&str> = table().iter().map(|case| case.name).collect();
    assert!(names.len() >= 80, "{} cases", names.len());
    names.sort_unstable();
    let pair = names.windows(2).find(|pair| pair[0] == pair[1]);
    assert_eq!(pair, None);
}
