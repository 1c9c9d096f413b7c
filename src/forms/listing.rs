//! The lines that the statement of a listing selects (`edge/service/index/listing.rs`). What was stored as JSON text is never parsed
//! here: each task is a line, in which the columns stand one behind the other.

use crate::auth::Owners;
use crate::operation::list_tasks::{Found, FoundTask, Position, Summary, TaskQuery};
use a2a::model::{TaskId, UnixMillis};

/// Reads the result of a listing: the lines, separated by [`LINE_END`], and the total of the first row. `None` if a page
/// that is not the first has no rows: the total is then unknown.
///
/// # Errors
///
/// If the lines are not a result of the statement of a listing.
pub(crate) fn read_listing<'l>(
    query: &TaskQuery,
    lines: &'l str,
    total: Option<u64>,
) -> Result<Option<Found<'l>>, String> {
    let Some(total) = total else {
        let nothing = || Found { tasks: Vec::new(), total: 0, searched: None };
        return Ok(query.from.is_none().then(nothing));
    };
    let unreadable = || "D1 gave something else than a listing".to_owned();
    let read = |line| read_line(query, line).ok_or_else(unreadable);
    let lines = lines.split(LINE_END).map(read);
    Ok(Some(Found { tasks: lines.collect::<Result<_, _>>()?, total, searched: None }))
}

fn read_line<'l>(query: &TaskQuery, line: &'l str) -> Option<FoundTask<'l>> {
    let (owner, line) = match query.owners {
        Owners::One(_) => (None, line),
        Owners::All => line.split_once(COLUMN_END).map(|(owner, line)| (Some(owner), line))?,
    };
    let (summary, line) = if query.with_summary {
        let (duration_ms, line) = line.split_once(COLUMN_END)?;
        let (asked, line) = line.split_once(COLUMN_END)?;
        (Some(Summary { duration_ms: duration_ms.parse().ok(), asked }), line)
    } else {
        (None, line)
    };
    // JSON text and ids contain no control characters.
    let mut columns = line.splitn(4, COLUMN_END);
    let id = TaskId::new(columns.next()?)?;
    let status_ms = UnixMillis(columns.next()?.parse().ok()?);
    let (head, history) = (columns.next()?, columns.next()?);
    Some(FoundTask { position: Position { status_ms, id }, owner, summary, head, history })
}

/// The separator of lines: the control character RS.
pub(crate) const LINE_END: char = '\u{1e}';

/// The separator of columns: the control character US.
const COLUMN_END: char = '\u{1f}';

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::OwnerId;

    fn query() -> TaskQuery {
        TaskQuery {
            owners: Owners::One(OwnerId::new("o")),
            agent: "a".to_owned(),
            context_id: None,
            state: None,
            since: None,
            waiting: false,
            text: None,
            from: None,
            limit: 51,
            with_history: true,
            with_summary: false,
        }
    }

    #[test]
    fn a_listing_is_a_total_and_the_tasks_of_the_page() {
        let found = |id: &str, history: &'static str| FoundTask {
            position: Position { status_ms: UnixMillis(7), id: TaskId::new(id).unwrap() },
            owner: None,
            summary: None,
            head: r#"{"id":"x"}"#,
            history,
        };
        let lines =
            "a\u{1f}7\u{1f}{\"id\":\"x\"}\u{1f}\u{1e}b\u{1f}7\u{1f}{\"id\":\"x\"}\u{1f}{}\n{}";
        let read = read_listing(&query(), lines, Some(12)).unwrap().unwrap();
        assert_eq!(read.total, 12);
        assert_eq!(read.tasks, [found("a", ""), found("b", "{}\n{}")]);
        for lines in ["", "x", "a\u{1f}x\u{1f}{}\u{1f}"] {
            assert!(read_listing(&query(), lines, Some(1)).is_err(), "{lines:?}");
        }
    }

    #[test]
    fn owners_and_summaries_come_first_where_they_are_read() {
        let one = |query: &TaskQuery, line| {
            let found = read_listing(query, line, Some(1)).unwrap().unwrap();
            (found.tasks[0].owner, found.tasks[0].summary)
        };
        let summed = TaskQuery { with_summary: true, ..query() };
        let all = TaskQuery { owners: Owners::All, ..summed.clone() };
        let summary = |duration_ms, asked| Some(Summary { duration_ms, asked });
        let line = "1250\u{1f}what\u{1f}a\u{1f}7\u{1f}{}\u{1f}";
        assert_eq!(one(&summed, line), (None, summary(Some(1250), "what")));
        let line = "o\u{1f}\u{1f}\u{1f}a\u{1f}7\u{1f}{}\u{1f}";
        assert_eq!(one(&all, line), (Some("o"), summary(None, "")));
    }

    #[test]
    fn only_a_first_page_without_rows_tells_the_total() {
        let nothing = Found { tasks: Vec::new(), total: 0, searched: None };
        assert_eq!(read_listing(&query(), "", None), Ok(Some(nothing)));
        let position = Position { status_ms: UnixMillis(7), id: TaskId::new("t").unwrap() };
        let later = TaskQuery { from: Some(position), ..query() };
        assert_eq!(read_listing(&later, "", None), Ok(None));
    }
}
