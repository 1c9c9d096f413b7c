//! ListTasks, ListWebhooks and DeleteContext, which go through the index: the decision, and the pages that need only one statement.
//!
//! # A listing
//!
//! The front Worker answers ListTasks from the index (`edge/service/index/`), which is in D1 or in objects of its own
//! (`edge/service/tables.rs`), without calling the objects of tasks. One SQL statement returns the total and a row for each task; a row
//! is one line of text. A page that several objects of the index have is found by Rust (`edge/front/facts/page.rs`). JSON from a row is copied into the answer
//! unchanged. ListTasks with artifacts is an exception: it calls the objects of the tasks on the page
//! (`edge/front/facts/page.rs`), six at the same time, and a page ends early at 8 MiB. `operation/list_tasks.rs` builds
//! the query and the page token: the position where the next page begins, and a hash of the filters. A task that is
//! added between two pages has a position before the next page. While the index is down, ListTasks answers −32603, or 503 with
//! `Retry-After`; all other operations still work.
//!
//! Writing the rows: after each stored change the session compares the generation in the index with the generation of
//! the task's status. If the index is behind and no write is running, one pump starts (`session/debts/mod.rs`). The
//! pump collects changes until the task is idle or 300 ms have passed, writes one row, and repeats while changes are
//! missing in the index. A blocking send and a cancel wait for the row, for `INDEX_WAIT_MS` at most, so that a client
//! that lists next sees its task. A failure, or no answer within 10 s, is counted, and the alarm retries the write.

use super::facts::{FoundPage, Need};
use super::identify::Request;
use super::plan::Plan;
use super::report::{Line, Report};
use super::seen::Seen;
use crate::auth::Owners;
use crate::config::IndexKind;
use crate::forms::command::Command;
use crate::forms::listing::read_listing;
use crate::operation::list_tasks::{Page, TaskQuery};
use crate::port::Act;
use a2a::error::Error;
use a2a::model::{HistoryLimit, ListTasksRequest};
use a2a::{Call, Operation, Outcome};

/// The plan for a list, or for the deletion of a context.
///
/// # Errors
///
/// [`Error::InvalidParams`] for a page token of another list; [`Error::Unavailable`] if the index does not answer.
#[inline(never)]
pub(super) fn plan(
    request: Request<'_>,
    command: Command<Call>,
    seen: &mut Seen,
) -> Result<Plan, Error> {
    let found = request.facts.page.as_ref();
    match (&command.call, found) {
        (_, Some(FoundPage::Whole(page))) => {
            let page = page.as_ref().map_err(Clone::clone)?;
            answer(&command, page, seen)
        }
        // A search takes another statement than a list.
        (Call::List(wanted), found) if !wanted.include_artifacts && wanted.text.is_none() => {
            let query = query_of(&command, wanted)?;
            if found.is_none() && !command.scope.hides_all(wanted) {
                let is_in_objects = request.deployment.settings.index.kind == IndexKind::Objects;
                return Ok(if is_in_objects && query.owners == Owners::All {
                    Plan::Need(Need::Page(Box::new(command)))
                } else {
                    Plan::List { is_in_objects, query: Box::new(query) }
                });
            }
            match page_of(&query, wanted, found, seen)? {
                Some(page) => answer(&command, &Outcome::Tasks(page), seen),
                None => Ok(Plan::Need(Need::Page(Box::new(command)))),
            }
        }
        _ => Ok(Plan::Need(Need::Page(Box::new(command)))),
    }
}

fn answer(command: &Command<Call>, page: &Outcome, seen: &mut Seen) -> Result<Plan, Error> {
    let operation = match page {
        Outcome::Webhooks(_) => Operation::ListWebhooks,
        Outcome::ContextDeleted(_) => Operation::DeleteContext,
        _ => Operation::ListTasks,
    };
    note_operator(command, operation, seen);
    command.reply.outcome(page).map(Plan::Answer)
}

/// The query of a list command to the index.
///
/// # Errors
///
/// [`Error::InvalidParams`] for a page token of another list.
pub(crate) fn query_of<C>(
    command: &Command<C>,
    request: &ListTasksRequest,
) -> Result<TaskQuery, Error> {
    TaskQuery::new(&command.agent, &command.caller, &command.scope, request)
}

/// The page from the rows that the SQL statement returned; `None` if the rows do not contain the total, or the statement has
/// failed. If no statement was needed, the page is empty.
fn page_of(
    query: &TaskQuery,
    request: &ListTasksRequest,
    found: Option<&FoundPage>,
    seen: &mut Seen,
) -> Result<Option<String>, Error> {
    let page = match found {
        None => Some(Page::empty(query, request)),
        Some(FoundPage::Lines { lines, total }) => {
            let found = read_listing(query, lines, *total).map_err(|reason| {
                seen.report(Report::ListingFailed(reason));
                not_listed()
            })?;
            found.map(|found| Page::new(query, request, found))
        }
        Some(FoundPage::NoLines | FoundPage::Whole(_)) => None,
    };
    Ok(page.map(|page| whole_page(&page, request)))
}

/// The result with the tasks in the form of the index.
pub(crate) fn whole_page(page: &Page<'_>, request: &ListTasksRequest) -> String {
    page.whole(HistoryLimit::from_wire(request.history_length))
}

/// The error for an index that does not answer, or returns unreadable rows.
pub(crate) fn not_listed() -> Error {
    Error::Unavailable("tasks cannot be listed at the moment; they go on, and GetTask gives them")
}

/// Adds an audit line if an operator has listed tasks or webhooks by this operation.
fn note_operator<C>(command: &Command<C>, operation: Operation, seen: &mut Seen) {
    if command.is_operators() {
        let Command { agent, caller, trail, .. } = command;
        seen.report(Report::Audited(Line {
            act: Act::OperatorActed,
            agent: agent.clone(),
            caller: Some(caller.id.clone()),
            operation: Some(operation),
            refusal: None,
            trail: trail.clone(),
        }));
    }
}
