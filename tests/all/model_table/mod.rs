//! Models that misbehave, and what our agent makes of them: a table of what goes wrong in practice, over a model in memory and
//! simulated time. Each case says how the task ends, its text, and how many requests it takes; for all of them, the conversation
//! is one that a provider takes, no key is shown, no call has the key of another one, those who follow the task see what is
//! read of it, and no request stays under way.

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
