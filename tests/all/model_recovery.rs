//! Agents of kind `model` through crashes: the process dies between any two polls, also after each chunk of a streamed
//! answer, while the model never gives the same answer twice and the shop counts the orders of its tools.

use std::collections::{BTreeMap, BTreeSet};

use a2a::model::{Part, TaskState};
use serde_json::{Value, json};

use crate::support::front::Crash;
use crate::support::model::{Answer, Asked, Fate};
use crate::support::modeled::{Modeled, Setup, answer_of};

/// The behaviour of a model and its client.
struct Story {
    name: &'static str,
    setup: fn(Setup) -> Setup,
    plan: fn(&Asked) -> Answer,
    /// The number of the model's answers in a turn without a crash.
    rounds: u32,
    /// The number of orders at the shop.
    orders: usize,
}

const STORIES: [Story; 6] = [
    Story { name: "text", setup: |setup| setup, plan: |asked| text(asked), rounds: 1, orders: 0 },
    Story {
        name: "text at once",
        setup: |setup| setup.with(json!({"event_interval_ms": 0})),
        plan: |asked| text(asked),
        rounds: 1,
        orders: 0,
    },
    Story {
        name: "tools",
        setup: |setup| setup.sells("pay").sells("ship"),
        plan: |asked| match asked.results().len() {
            0 => call(asked, "a", "pay").and_call("b", "ship", &what(asked)),
            2 => call(asked, "c", "pay"),
            _ => text(asked),
        },
        rounds: 3,
        orders: 3,
    },
    Story {
        name: "text beside a call",
        setup: |setup| setup.sells("pay"),
        plan: |asked| match asked.results().len() {
            0 => Answer::said(&["Let ", "me ", &format!("see {}.", asked.number)])
                .pace(150)
                .and_call("a", "pay", &what(asked))
                .usage(1 << asked.number, 1),
            _ => text(asked),
        },
        rounds: 2,
        orders: 1,
    },
    Story {
        name: "question",
        setup: |setup| setup.sells("pay").with(json!({"ask_user": true})),
        plan: |asked| match asked.said_by("tool").as_str() {
            "" => call(asked, "a", "pay").and_call(
                "q",
                "ask_user",
                &json!({"question": "Which seat?"}).to_string(),
            ),
            _ => text(asked),
        },
        rounds: 2,
        orders: 1,
    },
    Story {
        name: "data",
        setup: |setup| {
            let schema = json!({"type": "object", "properties": {"number": {"type": "integer"}},
                "required": ["number"]});
            setup.with(json!({"output_schema": schema}))
        },
        plan: |asked| {
            let is_repair = asked.lines().iter().any(|line| line.starts_with("assistant: "));
            let data = if is_repair {
                json!({"number": asked.number})
            } else {
                json!({"wrong": asked.number})
            };
            Answer::said(&[&data.to_string()]).pace(150).usage(1 << asked.number, 1)
        },
        rounds: 2,
        orders: 0,
    },
];

/// A text in pieces, different each time.
fn text(asked: &Asked) -> Answer {
    let number = asked.number;
    let first = format!("answer {number}: ");
    let pieces: Vec<String> = (1..=6).map(|nth| format!("{nth} of {number}, ")).collect();
    let mut pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
    pieces.insert(0, &first);
    Answer::said(&pieces).pace(150).usage(1 << number, 1)
}

/// The whole text of the answer with this number.
fn text_of(number: usize) -> String {
    let pieces: String = (1..=6).map(|nth| format!("{nth} of {number}, ")).collect();
    format!("answer {number}: {pieces}")
}

fn call(asked: &Asked, id: &str, tool: &str) -> Answer {
    Answer::call(id, tool, &what(asked)).pace(150).usage(1 << asked.number, 1)
}

fn what(asked: &Asked) -> String {
    json!({"what": asked.number.to_string()}).to_string()
}

fn modeled(story: &Story) -> Modeled {
    let modeled = (story.setup)(Setup::default()).build();
    modeled.model.answer_with(story.plan);
    modeled.shop.delay("pay", 1_000);
    modeled
}

/// Runs a task to its end through these crashes: each number is the number of polls since the previous one.
fn live(modeled: &Modeled, crashes: &[Crash]) {
    let mut crashes = crashes.iter().copied();
    let mut crash = crashes.next();
    let mut answered = 0;
    for _ in 0..40 {
        match modeled.front.state() {
            None => modeled.front.send_whole("m1", vec![Part::text("go")], None),
            Some(TaskState::InputRequired) => {
                answered += 1;
                let id = format!("answer {answered}");
                modeled.front.send_whole(&id, vec![Part::text("4A")], None);
            }
            Some(state) if state.is_terminal() => return,
            Some(_) => {}
        }
        let before = modeled.front.polls();
        if modeled.run(crash) {
            let polls = modeled.front.polls() - before;
            crash = crash.and_then(|(at, keeps)| Some((at.checked_sub(polls)?, keeps)));
        } else {
            crash = crashes.next();
        }
    }
    panic!("{:?}", modeled.front.transcript());
}

/// All crashes with different states after them.
fn all_crashes(story: &Story) -> Vec<Crash> {
    let modeled = modeled(story);
    modeled.front.note_moments();
    live(&modeled, &[]);
    assert_whole(story, &modeled, "no crash");
    let crashes = modeled.front.crashes();
    assert!(crashes.len() > 15, "{}: {} crashes", story.name, crashes.len());
    crashes
}

/// Checks the invariants for any number of crashes.
fn assert_whole(story: &Story, modeled: &Modeled, told: &str) {
    let told = format!("{}, {told}: {:?}", story.name, modeled.front.transcript());
    assert_eq!(modeled.state(), TaskState::Completed, "{told}");
    let last = last_whole(modeled);
    if story.name == "data" {
        assert_eq!(modeled.data(), [json!({"number": last})], "{told}");
    } else {
        assert_eq!(modeled.answer(), text_of(last), "{told}");
        assert_one_answer_each(modeled, &told);
    }
    assert_eq!(modeled.disagreement(), None, "{told}");
    assert_orders(story, modeled, &told);
    assert_usage(story, modeled, last, &told);
    for asked in modeled.model.asked() {
        assert_eq!(asked.mistakes(), Vec::<String>::new(), "{told}");
    }
}

/// The newest request whose answer was received completely.
fn last_whole(modeled: &Modeled) -> usize {
    let asked = modeled.model.asked();
    asked.iter().rfind(|asked| asked.fate() == Fate::Whole).expect("a whole answer").number
}

/// Checks that every version of the task that a follower has received was the beginning of one answer.
fn assert_one_answer_each(modeled: &Modeled, told: &str) {
    let count = modeled.model.asked().len();
    for task in modeled.followed() {
        let seen = answer_of(&task);
        let is_one = (1..=count).any(|number| {
            text_of(number).starts_with(&seen) || format!("Let me see {number}.").starts_with(&seen)
        });
        assert!(is_one, "{seen:?} is of no answer: {told}");
    }
}

/// Checks that every order belongs to one answer of the model, and was repeated only if its result was not stored.
fn assert_orders(story: &Story, modeled: &Modeled, told: &str) {
    let mut by_key: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for order in modeled.shop.orders() {
        by_key.entry(order.key.expect("a key")).or_default().push(order.body);
    }
    assert_eq!(by_key.len(), story.orders, "{by_key:?} {told}");
    for (key, bodies) in &by_key {
        assert!(bodies.iter().all(|body| *body == bodies[0]), "{key}: {bodies:?} {told}");
    }
}

/// Checks that the usage is that of one answer for each round, including the last one; and that every request to the model
/// is counted, even if its answer was lost.
fn assert_usage(story: &Story, modeled: &Modeled, last: usize, told: &str) {
    let task = serde_json::to_value(modeled.task()).unwrap();
    let usage = &task["metadata"]["urn:a2a-edge:usage"];
    let input = usage["inputTokens"].as_u64().unwrap_or_default();
    assert_eq!(input.count_ones(), story.rounds, "{usage} {told}");
    assert!(input & (1 << last) > 0, "{usage} lacks {last}: {told}");
    assert_eq!(usage["outputTokens"], story.rounds, "{usage} {told}");
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    let (requests, repeated) = (number(&usage["requests"]), &usage["repeated"]);
    assert_eq!(requests, u64::from(story.rounds) + number(&repeated["requests"]), "{usage} {told}");
    assert_eq!(number(&repeated["inputTokens"]) + number(&repeated["outputTokens"]), 0, "{told}");
    let asked = modeled.model.asked().len() as u64;
    assert!(requests >= asked, "the model was asked {asked} times, {usage} {told}");
}

/// The number of counted requests.
fn requests_of(modeled: &Modeled) -> u32 {
    let task = serde_json::to_value(modeled.task()).unwrap();
    let requests = task["metadata"]["urn:a2a-edge:usage"]["requests"].as_u64();
    requests.and_then(|requests| u32::try_from(requests).ok()).unwrap_or_default()
}

#[test]
fn a_process_that_dies_anywhere_gives_one_answer_of_the_model() {
    for story in &STORIES {
        let mut most = 0;
        for crash in all_crashes(story) {
            let modeled = modeled(story);
            live(&modeled, &[crash]);
            assert_whole(story, &modeled, &format!("{crash:?}"));
            most = most.max(modeled.model.asked().len());
            assert!(requests_of(&modeled) <= story.rounds + 1, "{}: {crash:?}", story.name);
            let orders = modeled.shop.orders().len();
            assert!(orders <= story.orders + 2, "{}: {crash:?}: {orders} orders", story.name);
        }
        let rounds = usize::try_from(story.rounds).unwrap();
        assert_eq!(most, rounds + 1, "{}: a crash repeats one request at most", story.name);
    }
}

#[test]
fn a_process_that_dies_again_and_again_gives_one_answer_of_the_model() {
    for story in &STORIES {
        let polls = {
            let modeled = modeled(story);
            live(&modeled, &[]);
            modeled.front.polls()
        };
        for step in [3, 7, 11, 17, 29] {
            let crashes: Vec<Crash> =
                (0..4).map(|nth| ((step * (nth + 1) * 5) % polls.max(1), nth % 2 == 0)).collect();
            let modeled = modeled(story);
            live(&modeled, &crashes);
            assert_whole(story, &modeled, &format!("{crashes:?}"));
        }
    }
}

/// An order whose result is stored is not repeated after any later crash.
#[test]
fn a_call_whose_result_is_stored_is_not_made_again() {
    let story = &STORIES[2];
    let mut repeated = BTreeSet::new();
    for crash in all_crashes(story) {
        let modeled = modeled(story);
        modeled.front.send_whole("m1", vec![Part::text("go")], None);
        if modeled.run(Some(crash)) {
            continue;
        }
        let stored = stored_results(&modeled);
        let before = keys(&modeled);
        live(&modeled, &[]);
        let after = keys(&modeled);
        let again = &after[before.len()..];
        for key in again.iter().filter(|key| before.contains(key)) {
            repeated.insert(key.clone());
        }
        let known = before.iter().collect::<BTreeSet<_>>().len();
        let repeats = again.iter().filter(|key| before.contains(key)).count();
        assert!(
            repeats + stored <= known,
            "{crash:?}: {stored} results were stored, {known} orders were made, {repeats} again"
        );
    }
    assert!(!repeated.is_empty(), "a crash between an order and its result repeats it");
}

fn keys(modeled: &Modeled) -> Vec<String> {
    modeled.shop.orders().into_iter().map(|order| order.key.expect("a key")).collect()
}

/// The number of stored results of calls: steps whose names are a round and a position.
fn stored_results(modeled: &Modeled) -> usize {
    use a2a_edge::task::LogEntry;
    if modeled.front.task().is_none() {
        return 0;
    }
    let is_call = |name: &str| {
        name.split_once('.').is_some_and(|(round, position)| {
            round.parse::<u32>().is_ok() && position.parse::<u32>().is_ok()
        })
    };
    let entries = modeled.front.entries();
    entries
        .iter()
        .filter(|entry| matches!(entry, LogEntry::Step(step) if is_call(&step.name)))
        .count()
}

#[test]
fn a_process_that_dies_during_a_cancel_ends_the_request() {
    for at_ms in [100, 500, 2_000] {
        for at in 0..30 {
            for keeps in [false, true] {
                let modeled = modeled(&STORIES[2]);
                modeled.front.send("go");
                modeled.front.run(None, || {
                    use a2a_edge::port::Clock;
                    modeled.front.platform.now().0 >= at_ms
                });
                modeled.front.cancel();
                modeled.front.run(Some((at, keeps)), || false);
                // A cancellation that was answered is durable.
                if modeled.front.state() != Some(TaskState::Canceled) {
                    modeled.front.cancel();
                }
                modeled.front.finish();
                let told = format!("{at_ms} {at} {keeps}");
                assert_eq!(modeled.state(), TaskState::Canceled, "{told}");
                let asked = modeled.model.asked();
                assert!(asked.iter().all(|asked| asked.fate() != Fate::UnderWay), "{told}");
                assert_eq!(modeled.disagreement(), None, "{told}");
            }
        }
    }
}

#[test]
fn a_run_that_comes_to_the_last_of_its_attempts_fails_and_says_so() {
    let settings =
        a2a_agents::RunSettings { max_attempts: Some(2), ..a2a_agents::RunSettings::default() };
    let modeled = Setup::default().run(settings).build();
    modeled.model.answer_with(text);
    live(&modeled, &[(25, true), (25, true), (25, true)]);
    assert_eq!(modeled.state(), TaskState::Failed, "{:?}", modeled.front.transcript());
    assert_eq!(modeled.model.asked().len(), 2);
    assert_eq!(modeled.disagreement(), None);
}
