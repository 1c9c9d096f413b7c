//! Servers that misbehave, and the client's reactions: a table of mistakes in practice, with servers in memory and simulated
//! time. Each case contains the expected outcome of the call or the list, and the number of requests. For all cases: no
//! secret is sent to another host, each request has the credentials, and everything ends in time.

mod answers;
mod calls;
mod case;
mod eras;
mod legacy;
mod lists;
mod rounds;
mod said;

use case::Case;

fn table() -> Vec<Case> {
    let cases = [
        answers::cases(),
        calls::cases(),
        eras::cases(),
        legacy::cases(),
        lists::cases(),
        rounds::cases(),
    ];
    cases.into_iter().flatten().collect()
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
