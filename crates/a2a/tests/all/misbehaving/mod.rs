//! Servers that misbehave, and the client's reactions: a table of mistakes in practice, with servers in memory and simulated
//! time. Each case contains the expected outcome, its text, and the number of requests. For all cases: no secret is sent to
//! another host, a repeated send is the same send, and the call ends in time.

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
