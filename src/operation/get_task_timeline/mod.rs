//! GetTaskTimeline, an operation of our extension: the history of a task, page by page. `docs/timeline.md` describes it.
//!
//! A page merges the log of the task with the newest attempts to call its webhooks. The token contains a position for the log and
//! for each webhook. So a page continues at the end of the previous page, even if entries were added in between, and reads only
//! the part of the log that it shows.

mod entry;
mod excerpt;
mod log;
mod merge;
mod token;

use serde_json::{Map, Value, json};

use crate::session::{OpenStep, Owned, TraceTerms};
use crate::task::{LogEntry, StepRecord};
use a2a::Outcome;
use a2a::error::Error;
use a2a::model::{Generation, GetTaskTimelineRequest, TimelineOrder};
use a2a_agents::Trace;
use entry::Audience;
use log::LogReader;
use merge::{Attempts, Merge, Next};
use token::Cursor;

/// A page of the history of the task. The results of steps and the bodies of callbacks are shown to operators, in development
/// (`is_developer`), and to owners if the agent's file says so; other owners see only that they exist.
///
/// # Errors
///
/// [`Error::InvalidParams`] if the page token is invalid, belongs to another task, or has the other order; [`Error::Internal`] if
/// storage fails.
pub fn get_task_timeline(
    task: Owned<'_>,
    request: &GetTaskTimelineRequest,
    is_developer: bool,
) -> Result<Outcome, Error> {
    let generation = task.settle_generation()?;
    let cursor = match &request.page_token {
        Some(token) => Cursor::read(token, task.id(), request.order)?,
        None => Cursor::beginning(request.order.unwrap_or_default()),
    };
    let is_first = request.page_token.is_none();
    let is_operators = task.is_operators();
    let terms = task.trace();
    let sees_outcomes = is_operators || is_developer || terms.is_for_owners;
    let audience = Audience { sees_steps: terms.level != Trace::Off, sees_outcomes, is_operators };
    let attempts = Attempts::of(task.webhook_attempts(), &cursor);
    let mut merge = Merge::new(cursor.order, LogReader::new(task, &cursor), attempts);
    let mut entries = Vec::new();
    let mut bytes = 0;
    while entries.len() < usize::from(request.page_size) && bytes < MAX_PAGE_BYTES {
        let entry = match merge.next()? {
            Some(Next::Logged(line)) => {
                let logged = line.entry().map_err(|error| task.reading_failed(&error))?;
                let is_hidden = |step: &StepRecord| !audience.sees_steps && step.usage.is_none();
                if matches!(&logged, LogEntry::Step(step) if is_hidden(step)) {
                    continue;
                }
                entry::of_log(&line, &logged, audience)
            }
            Some(Next::Attempt(attempt)) => entry::of_attempt(&attempt),
            None => break,
        };
        let entry = entry.to_string();
        bytes += entry.len();
        entries.push(entry);
    }
    let is_over = merge.is_over()?;
    let here = merge.cursor().to_token(task.id());
    let resume = match (cursor.order, is_first) {
        (TimelineOrder::Asc, _) => here.clone(),
        (TimelineOrder::Desc, true) => Cursor::end(task)?.to_token(task.id()),
        (TimelineOrder::Desc, false) => String::new(),
    };
    let next = if is_over { String::new() } else { here };
    let mut page = head(task, generation, is_operators, terms);
    page.insert("nextPageToken".to_owned(), next.into());
    if !resume.is_empty() {
        page.insert("resumeToken".to_owned(), resume.into());
    }
    let head = Value::Object(page).to_string();
    let head = head.strip_suffix('}').unwrap_or_default();
    Ok(Outcome::Timeline(format!(r#"{head},"entries":[{}]}}"#, entries.join(","))))
}

/// The facts about the current task.
fn head(
    task: Owned<'_>,
    generation: Generation,
    is_operators: bool,
    terms: TraceTerms,
) -> Map<String, Value> {
    let mut head = Map::new();
    let mut put = |name: &str, value: Value| head.insert(name.to_owned(), value);
    let facts = task.facts();
    put("taskId", json!(task.id()));
    task.with_task(|task| {
        put("contextId", json!(task.context_id));
        put("state", json!(task.status.state));
        put("statusAt", json!(task.status.timestamp.map(|at| at.0)));
    });
    put("createdAt", json!(task.created().map(|at| at.0)));
    put("agent", json!(facts.as_ref().map(|facts| &facts.agent)));
    if is_operators {
        put("owner", json!(facts.as_ref().map(|facts| &facts.owner)));
    }
    put("generation", json!(generation));
    let usage = task.usage();
    if !usage.total().is_nothing() {
        put("usage", usage.told());
    }
    let failed_steps = task.failed_steps();
    if failed_steps > 0 {
        put("failedSteps", failed_steps.into());
    }
    let TraceTerms { level, is_full, .. } = terms;
    put("trace", json!(level));
    if is_full {
        put("traceIsFull", true.into());
    }
    let shown = if level == Trace::Off { 0 } else { MAX_OPEN_STEPS };
    let steps = task.open_steps().into_iter().take(shown);
    let steps = steps.map(|OpenStep { name, nth, since }| {
        let mut step = entry::step_kind(&name, false);
        step.insert("name".to_owned(), name.into());
        step.insert("nth".to_owned(), nth.into());
        step.insert("since".to_owned(), since.0.into());
        Value::Object(step)
    });
    put("underWay", steps.collect());
    head
}

/// A page ends after the entry with which it reaches this size, in bytes. An entry has about 12 KB at most, for those who see
/// what steps came to about 40 KB.
const MAX_PAGE_BYTES: usize = 256 * 1024;

/// How many of the open steps are listed.
const MAX_OPEN_STEPS: usize = 100;
