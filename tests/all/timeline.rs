//! Timelines of tasks: their content, and that their pages contain every entry once, for any log.

use crate::support::{Host, first, owned};
use a2a::Outcome;
use a2a::error::Error;
use a2a::model::{Generation, GetTaskTimelineRequest, TaskId, TimelineOrder};
use a2a_edge::operation::get_task_timeline;
use a2a_edge::port::{Batch, Counted, Indexed, LogRow, StoredTask, TaskFacts};
use a2a_edge::session::TaskSession;
use a2a_edge::twins::MemoryStore;
use proptest::prelude::*;
use serde_json::{Value, json};

fn ask(
    session: &TaskSession,
    size: u8,
    token: Option<&str>,
    order: Option<TimelineOrder>,
) -> Value {
    try_ask(session, size, token, order).expect("a page")
}

fn try_ask(
    session: &TaskSession,
    page_size: u8,
    token: Option<&str>,
    order: Option<TimelineOrder>,
) -> Result<Value, Error> {
    let id = TaskId::new("t").unwrap();
    let page_token = token.map(str::to_owned);
    let request = GetTaskTimelineRequest { tenant: None, id, page_size, page_token, order };
    match get_task_timeline(owned(session), &request, true)? {
        Outcome::Timeline(json) => Ok(serde_json::from_str(&json).expect("JSON")),
        other => panic!("{other:?}"),
    }
}

/// All entries, page by page, and the resume tokens of the first page and of the last.
fn walk(session: &TaskSession, size: u8, order: TimelineOrder) -> (Vec<Value>, [String; 2]) {
    let mut page = ask(session, size, None, Some(order));
    let text = |page: &Value, name: &str| page[name].as_str().unwrap_or_default().to_owned();
    let first = text(&page, "resumeToken");
    let mut entries = Vec::new();
    loop {
        let found = page["entries"].as_array().expect("entries").clone();
        assert!(found.len() <= usize::from(size));
        entries.extend(found);
        match text(&page, "nextPageToken") {
            token if token.is_empty() => break,
            token => page = ask(session, size, Some(&token), None),
        }
    }
    (entries, [first, text(&page, "resumeToken")])
}

/// A host whose store contains a finished task with this log and these webhooks.
fn host_of(log: Vec<Batch>, webhooks: Vec<String>) -> Host {
    let host = Host::new(|_, _| Box::pin(async { Ok(()) }));
    let facts =
        TaskFacts { agent: "agent".to_owned(), owner: "anonymous".to_owned(), fingerprint: None };
    let generation = log.last().map_or(Generation::NONE, |batch| batch.generation);
    let indexed = Indexed { generation, ..Indexed::default() };
    let counted = Counted::default();
    let log = in_rows(1, log);
    let stored = StoredTask { facts, indexed, counted, log, webhooks, credentials: None };
    Host { store: store_of(stored), ..host }
}

/// Batches, each in one row, from this row number on.
fn in_rows(first: u64, batches: Vec<Batch>) -> Vec<LogRow> {
    (first..).zip(batches).map(|(row, batch)| LogRow { row, rows: 1, batch }).collect()
}

fn store_of(stored: StoredTask) -> MemoryStore {
    let store = MemoryStore::default();
    store.restore(Some(stored));
    store
}

/// A line of the log: its JSON, whether it is an event, and its delay after the previous line.
#[derive(Clone, Debug)]
struct Line {
    kind: u8,
    size: usize,
    wait: i64,
    /// Whether the line is the last one of its row.
    ends_row: bool,
}

fn line() -> impl Strategy<Value = Line> {
    let size = prop_oneof![8 => 0..50_usize, 1 => Just(300_000_usize)];
    (0..6_u8, size, 0..40_i64, any::<bool>()).prop_map(|(kind, size, wait, ends_row)| Line {
        kind,
        size,
        wait,
        ends_row,
    })
}

impl Line {
    fn json(&self, number: usize) -> Value {
        let text = format!("{number}.{}", "x".repeat(self.size));
        let ids = ("t", "c");
        match self.kind {
            0 => json!({"artifactUpdate": {"taskId": ids.0, "contextId": ids.1, "artifact":
                {"artifactId": format!("{number}"), "parts": [{"text": text}]}}}),
            1 => status("TASK_STATE_WORKING", &text),
            2 => json!({"message": {"messageId": number.to_string(), "role": "ROLE_USER",
                "parts": [{"text": text}]}}),
            3 => json!({"step": {"name": "s", "nth": number, "outcome": {"Ok": text}}}),
            4 => json!({"step": {"name": "s", "nth": number, "outcome": {"Err": text}}}),
            _ => json!("taken"),
        }
    }
}

fn status(state: &str, text: &str) -> Value {
    json!({"statusUpdate": {"taskId": "t", "contextId": "c", "status": {"state": state, "message":
        {"messageId": text.split('.').next(), "role": "ROLE_AGENT", "parts": [{"text": text}]}}}})
}

/// The rows of a log with the beginning and the end of a finished task.
fn log_of(lines: &[Line]) -> Vec<Batch> {
    let task = json!({"task": {"id": "t", "contextId": "c",
        "status": {"state": "TASK_STATE_SUBMITTED"},
        "history": [{"messageId": "0", "role": "ROLE_USER", "parts": [{"text": "0."}]}]}});
    let last = status("TASK_STATE_COMPLETED", &format!("{}.", lines.len() + 1));
    let begin = Line { kind: 1, size: 0, wait: 1_000, ends_row: false };
    let end = Line { kind: 1, size: 0, wait: 1, ends_row: true };
    let inner = lines.iter().enumerate().map(|(index, line)| (line, line.json(index + 1)));
    let all = std::iter::once((&begin, task)).chain(inner).chain([(&end, last)]);
    rows(all, 0, 0)
}

/// Rows of these lines, after this generation and instant.
fn rows<'a>(
    lines: impl Iterator<Item = (&'a Line, Value)>,
    mut generation: u64,
    mut now: i64,
) -> Vec<Batch> {
    let mut log = Vec::new();
    let mut batch = Batch::default();
    let mut last = 0;
    for (line, json) in lines {
        now += line.wait;
        let is_event = line.kind < 2;
        generation += u64::from(is_event);
        batch.marks.push(if is_event { '.' } else { '-' });
        batch.lines.push_str(&format!("{json}\n"));
        let space = if batch.times.is_empty() { "" } else { " " };
        batch.times.push_str(&format!("{space}{}", now - last));
        last = now;
        if line.ends_row {
            batch.generation = Generation(generation);
            log.push(std::mem::take(&mut batch));
            last = 0;
        }
    }
    log
}

fn webhook(id: usize, attempts: &[(i64, u64)]) -> String {
    let mut at = 900;
    let recent = attempts.iter().enumerate().map(|(index, (wait, generation))| {
        at += wait;
        json!({"at": at, "generation": generation, "attempt": index + 1, "durationMs": 1,
            "outcome": "retry"})
    });
    let recent: Vec<Value> = recent.collect();
    json!({
        "config": {"id": format!("w{id}"), "taskId": "t", "url": "https://hooks.example/s3cret"},
        "delivery": {"done": 1_000_000, "attempts": 0, "givenUp": 0, "health": "active",
            "failingSince": null, "retryAt": null, "lastError": null, "recent": recent},
    })
    .to_string()
}

/// The number of the line in an entry; `None` for attempts.
fn number_of(entry: &Value) -> Option<usize> {
    let text = |message: &Value| {
        let text = message["parts"][0]["text"].as_str()?;
        text.split('.').next()?.parse().ok()
    };
    match entry["kind"].as_str()? {
        "webhookAttempt" => None,
        "step" => entry["nth"].as_u64().map(|nth| nth as usize),
        "artifact" => text(entry),
        "taken" => Some(usize::MAX),
        _ => text(&entry["message"]),
    }
}

/// Checks that the entries are the log, in order, and among them the attempts of each webhook, in
/// order.
fn check(
    entries: &[Value],
    lines: &[Line],
    hooks: &[Vec<(i64, u64)>],
) -> Result<(), TestCaseError> {
    let taken =
        |number: usize| lines.get(number.wrapping_sub(1)).is_some_and(|line| line.kind == 5);
    let expected = (0..lines.len() + 2).map(|n| if taken(n) { usize::MAX } else { n });
    let told: Vec<usize> = entries.iter().filter_map(number_of).collect();
    prop_assert_eq!(told, expected.collect::<Vec<_>>());
    for (index, attempts) in hooks.iter().enumerate() {
        let id = format!("w{index}");
        let told = entries.iter().filter(|entry| entry["webhook"] == id.as_str());
        let told: Vec<u64> = told.filter_map(|entry| entry["attempt"].as_u64()).collect();
        prop_assert_eq!(told, (1..=attempts.len() as u64).collect::<Vec<_>>());
    }
    // An attempt is after its event.
    let mut generation = 0;
    for entry in entries {
        match (entry["kind"].as_str(), entry["generation"].as_u64()) {
            (Some("webhookAttempt"), Some(of)) => prop_assert!(of <= generation, "{entry}"),
            (_, Some(own)) => {
                prop_assert_eq!(own, generation + 1);
                generation = own;
            }
            (_, None) => {}
        }
    }
    prop_assert!(entries.iter().all(|entry| !entry.to_string().contains("s3cret")));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn pages_hold_every_entry_once_in_both_orders_and_go_on_behind_the_last(
        lines in prop::collection::vec(line(), 0..40),
        hooks in prop::collection::vec(prop::collection::vec((0..60_i64, 0.0..1.0_f64), 0..5), 0..3),
        later in prop::collection::vec(line(), 0..6),
        size in 1..12_u8,
    ) {
        let log = log_of(&lines);
        let newest = log.last().unwrap().generation.0;
        let known = |chance: f64| 1 + (chance * newest as f64) as u64;
        let hooks: Vec<Vec<(i64, u64)>> = hooks
            .iter()
            .map(|hook| hook.iter().map(|(wait, chance)| (*wait, known(*chance).min(newest))).collect())
            .collect();
        let stored = hooks.iter().enumerate().map(|(id, attempts)| webhook(id, attempts));
        let host = host_of(log, stored.collect());
        let session = host.open();
        let (entries, [_, end]) = walk(&session, size, TimelineOrder::Asc);
        check(&entries, &lines, &hooks)?;
        let (mut back, [live, _]) = walk(&session, size, TimelineOrder::Desc);
        back.reverse();
        check(&back, &lines, &hooks)?;
        prop_assert_eq!(&back, &entries);
        // Events after the end are on a page from there, and nothing else.
        for token in [&end, &live] {
            prop_assert_eq!(&ask(&session, 100, Some(token), None)["entries"], &json!([]));
        }
        let mut stored = host.store.stored().unwrap();
        let more: Vec<Line> =
            later.into_iter().map(|line| Line { kind: 3, size: 5, ends_row: true, ..line }).collect();
        let more_lines = more.iter().enumerate().map(|(n, line)| (line, line.json(1_000 + n)));
        let next_row = stored.log.len() as u64 + 1;
        stored.log.extend(in_rows(next_row, rows(more_lines, newest, 10_000)));
        let fresh = webhook(9, &[(5, newest)]);
        stored.webhooks.push(fresh);
        host.store.restore(Some(stored));
        let session = host.open();
        for token in [&end, &live] {
            let page = ask(&session, 100, Some(token), None);
            let entries = page["entries"].as_array().unwrap();
            let told: Vec<usize> = entries.iter().filter_map(number_of).collect();
            prop_assert_eq!(told, (0..more.len()).map(|n| 1_000 + n).collect::<Vec<_>>());
            prop_assert_eq!(entries.len(), more.len() + 1);
        }
    }
}

#[test]
fn a_page_is_bounded_in_bytes_and_a_reading_in_rows() {
    let large = Line { kind: 1, size: 300_000, wait: 1, ends_row: true };
    let lines: Vec<Line> = std::iter::repeat_n(large, 100).collect();
    let host = host_of(log_of(&lines), Vec::new());
    let session = host.open();
    let before = host.store.reads().1;
    let page = ask(&session, 100, None, None);
    assert_eq!(page["entries"].as_array().map(Vec::len), Some(100));
    assert!(page.to_string().len() < 400_000);
    // The log has 30 MB; a small page reads only a part of it.
    ask(&session, 2, None, Some(TimelineOrder::Desc));
    let small = host.store.reads().1 - before;
    assert!(small < 60, "{small}");
    let token = ask(&session, 1, None, Some(TimelineOrder::Desc))["nextPageToken"].clone();
    let reads = host.store.reads().1;
    let next = ask(&session, 1, token.as_str(), None);
    assert_eq!(number_of(&next["entries"][0]), Some(100));
    assert_eq!(host.store.reads().1 - reads, 1, "one page of the log");
}

#[test]
fn a_live_task_tells_its_steps_with_durations_and_what_is_under_way() {
    let host = Host::new(|turn, events| {
        Box::pin(async move {
            events.working(None)?;
            let _: u8 = turn
                .step("fetch", async || {
                    turn.sleep(250).await;
                    Ok(7)
                })
                .await?;
            let _: u8 = turn
                .step("wait", async || {
                    turn.sleep(1_000_000).await;
                    Ok(8)
                })
                .await?;
            events.complete(None)
        })
    });
    let session = host.open();
    let request =
        json!({"message": first("hi")["message"], "configuration": {"returnImmediately": true}});
    host.platform.run_until(host.send(&session, request)).expect("a task");
    host.platform.run_until(turn_of(&host, 2_000));
    let page = ask(&session, 50, None, None);
    let entries = page["entries"].as_array().unwrap();
    let kinds: Vec<&str> = entries.iter().filter_map(|entry| entry["kind"].as_str()).collect();
    assert_eq!(kinds, ["task", "run", "status", "step"]);
    assert_eq!((&entries[3]["name"], &entries[3]["durationMs"]), (&json!("fetch"), &json!(250)));
    let at = |index: usize| entries[index]["at"].as_i64().unwrap();
    assert_eq!(at(3) - at(2), 250);
    assert_eq!(page["underWay"][0]["name"], "wait");
    assert_eq!(page["underWay"][0]["since"], json!(at(3)));
    assert_eq!((&page["state"], &page["agent"]), (&json!("TASK_STATE_WORKING"), &json!("agent")));
    assert_eq!(page.get("owner"), None, "it is for operators");
}

async fn turn_of(host: &Host, millis: u64) {
    host.platform.ports().clock.sleep(millis).await;
}

#[test]
fn tokens_belong_to_a_task_and_an_order() {
    let host = host_of(log_of(&[]), Vec::new());
    let session = host.open();
    let token = ask(&session, 1, None, None)["nextPageToken"].as_str().unwrap().to_owned();
    let turned = try_ask(&session, 1, Some(&token), Some(TimelineOrder::Desc)).unwrap_err();
    assert!(turned.to_string().contains("other order"), "{turned}");
    let none = try_ask(&session, 1, Some("x"), None).unwrap_err();
    assert_eq!(none.wire().code, -32602);
}
