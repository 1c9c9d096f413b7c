//! The statement for a page of the index, and for the total number of matching tasks. `forms/listing.rs` reads its lines.

use super::everybody::{everybody_statement, everybody_total};
use super::statements::{filtered_page, line_of, matching_total};
use crate::auth::Owners;
use crate::edge::service::database::Statement;
use crate::operation::list_tasks::TaskQuery;

/// The statement for a query: a row for each task of the page, with the total in each.
pub(super) fn listing_statement(query: &TaskQuery) -> Statement {
    let Owners::One(owner) = &query.owners else { return everybody_statement(query) };
    let mut statement = Statement::new(format!("SELECT {} AS line, (", line_of(query, "")));
    matching_total(&mut statement, owner, query);
    statement.add(") AS total");
    filtered_page(&mut statement, owner, query);
    statement
}

/// The statement for the total alone.
pub(super) fn total_statement(query: &TaskQuery) -> Statement {
    let mut statement = Statement::new("SELECT coalesce((");
    match &query.owners {
        Owners::All => everybody_total(&mut statement, query),
        Owners::One(owner) => matching_total(&mut statement, owner, query),
    }
    statement.add("), 0) AS total");
    statement
}

#[cfg(test)]
mod tests {
    use super::super::statements::{ASKED, TOTAL};
    use super::*;
    use crate::auth::OwnerId;
    use crate::operation::list_tasks::Position;
    use a2a::model::{ContextId, TaskId, TaskState, UnixMillis};

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

    const LINE: &str = "SELECT id || char(31) || status_ms || char(31) || head \
        || char(31) || ";

    #[test]
    fn an_unfiltered_page_is_a_range_of_the_table_and_its_total_one_row() {
        let statement = listing_statement(&query());
        let expected = format!(
            "{LINE}history AS line, (SELECT {TOTAL} FROM task_counts AS c WHERE owner = +?1 AND agent = +?2) AS total \
             FROM tasks WHERE owner = +?3 AND agent = +?4 ORDER BY status_ms DESC, id DESC LIMIT +?5"
        );
        assert_eq!(statement.sql, expected);
        assert_eq!(
            statement.to_json(),
            serde_json::json!([expected, "o", "a", "o", "a", 51]).to_string()
        );
    }

    #[test]
    fn filters_and_places_become_conditions_with_values() {
        let position = Position { status_ms: UnixMillis(7), id: TaskId::new("t").unwrap() };
        let query = TaskQuery {
            context_id: ContextId::new("c' OR 1"),
            state: Some(TaskState::Completed),
            since: Some(UnixMillis(5)),
            from: Some(position),
            with_history: false,
            ..query()
        };
        let statement = listing_statement(&query);
        let expected = format!(
            "{LINE}'' AS line, (SELECT count(*) FROM tasks INDEXED BY tasks_by_context \
             WHERE owner = +?1 AND agent = +?2 AND context_id = +?3 AND state = +?4 AND status_ms >= +?5) AS total \
             FROM tasks INDEXED BY tasks_by_context \
             WHERE owner = +?6 AND agent = +?7 AND context_id = +?8 AND state = +?9 AND status_ms >= +?10 \
             AND (status_ms, id) <= (+?11, +?12) ORDER BY status_ms DESC, id DESC LIMIT +?13"
        );
        assert_eq!(statement.sql, expected);
        let values = ["o", "a", "c' OR 1"];
        let json: Vec<serde_json::Value> = serde_json::from_str(&statement.to_json()).unwrap();
        assert_eq!(json[1..4], values.map(serde_json::Value::from));
        assert_eq!(json.len(), 14);
    }

    #[test]
    fn the_index_of_unfinished_tasks_is_used_for_states_that_are_not_terminal() {
        for state in TaskState::ALL {
            let query = TaskQuery { state: Some(state), ..query() };
            let sql = listing_statement(&query).sql;
            assert_eq!(
                sql.matches("tasks_unfinished").count(),
                if state.is_terminal() { 0 } else { 2 },
                "{state:?}"
            );
        }
        let sql = listing_statement(&TaskQuery { waiting: true, ..query() }).sql;
        let tasks = "FROM tasks INDEXED BY tasks_unfinished WHERE owner = +?";
        assert_eq!(sql.matches(tasks).count(), 2, "{sql}");
        let waiting = " AND state IN (6, 8) AND state NOT IN (3, 4, 5, 7)";
        assert_eq!(sql.matches(waiting).count(), 2, "{sql}");
    }

    #[test]
    fn summaries_are_read_where_they_are_shown() {
        let sql = listing_statement(&TaskQuery { with_summary: true, ..query() }).sql;
        let line = format!(
            "SELECT coalesce(duration_ms, '') || char(31) || {ASKED} || char(31) || id || "
        );
        assert!(sql.starts_with(&line), "{sql}");
    }
}
