//! Servers that misbehave, and what the client makes of them: a table of what goes wrong in practice, over servers in memory
//! and simulated time. Each case says how the call comes out, its text, and how many requests it takes; for all of them, nothing secret
//! reaches another host, a repeated send is the same send, and the call ends in time.

mod answers;
mod cards;
mod case;
mod cuts;
mod ends;
mod said;
mod streams;
mod total;

use case::Case;

fn table() -> Vec<Case> {
    [cards::cases(), streams::cases(), cuts::cases(), answers::cases(), ends::cases()]
        .into_iter()
        .flatten()
        .collect()
}

#[test]
fn misbehaving_servers_do_no_harm() {
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
