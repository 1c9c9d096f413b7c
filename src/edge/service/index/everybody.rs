//! A page of the tasks of all owners with an agent, for operators, by one statement.
//!
//! The table is in the order owner, agent, time, id. A further index would cost one more row with every status of every task. So
//! the page is found through `task_counts`, which contains each owner once. For each owner, one row is read: its newest matching
//! task. Only the owners of the newest of these tasks can have tasks on the page, each at most a full page. In objects, the newest tasks
//! are asked of all shards, and a page then of the first of them.

use super::statements::{TOTAL, line_of, page_index, push_filters};
use crate::edge::service::database::Statement;
use crate::operation::list_tasks::TaskQuery;

/// The statement for a page of all owners: a row for each task, with the total in each.
pub(super) fn everybody_statement(query: &TaskQuery) -> Statement {
    let mut statement = Statement::new("WITH ");
    everybody_page(&mut statement, query);
    statement.add(&format!(" SELECT {} AS line, (", line_of(query, "t.")));
    everybody_total(&mut statement, query);
    statement.add(") AS total");
    page_tasks(&mut statement, query, "page");
    statement.add(" ORDER BY t.status_ms DESC, t.id DESC");
    statement
}

/// Adds the table `page` to a `WITH`: owner, `status_ms` and id of each task on the page.
pub(super) fn everybody_page(statement: &mut Statement, query: &TaskQuery) {
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
    statement.add("newest AS MATERIALIZED (SELECT c.owner AS owner, (SELECT ");
    statement.add(PLACE);
    push_tasks(statement, query);
    statement.add(" ORDER BY t.status_ms DESC, t.id DESC LIMIT 1) AS place FROM task_counts AS c");
    statement.push(" WHERE c.agent = {})", query.agent.as_str().into());
    // Only the owners with the newest tasks can have tasks on the page. Their order is certain: a place contains the id of a
    // task, so no two owners have the same place.
    statement
        .add(", first AS (SELECT owner FROM newest WHERE place IS NOT NULL ORDER BY place DESC");
    statement.push(" LIMIT {})", limit.into());
    statement.add(
        ", page AS (SELECT u.owner AS owner, u.status_ms AS status_ms, u.id AS id \
         FROM first AS c CROSS JOIN tasks AS u ON u.owner = c.owner",
    );
    statement.push(" AND u.agent = {}", query.agent.as_str().into());
    statement.add(" AND (u.status_ms, u.id) IN (SELECT t.status_ms, t.id");
    push_tasks(statement, query);
    statement.push(" ORDER BY t.status_ms DESC, t.id DESC LIMIT {})", limit.into());
    statement.push(" ORDER BY u.status_ms DESC, u.id DESC LIMIT {})", limit.into());
}

/// Adds the rows `t` of the tasks in a table with owner, `status_ms` and id of each.
pub(super) fn page_tasks(statement: &mut Statement, query: &TaskQuery, page: &str) {
    statement.add(&format!(" FROM {page} CROSS JOIN tasks AS t ON t.owner = {page}.owner"));
    statement.push(" AND t.agent = {}", query.agent.as_str().into());
    statement.add(&format!(" AND t.status_ms = {page}.status_ms AND t.id = {page}.id"));
}

/// The statement for the place of the newest matching task of a shard, and the number of all matching tasks.
pub(super) fn newest_statement(query: &TaskQuery) -> Statement {
    let mut statement = Statement::new("SELECT c.owner AS owner, (SELECT ");
    statement.add(PLACE);
    push_tasks(&mut statement, query);
    statement.add(" ORDER BY t.status_ms DESC, t.id DESC LIMIT 1) AS place, (");
    everybody_total(&mut statement, query);
    statement.add(") AS total FROM task_counts AS c");
    statement.push(" WHERE c.agent = {}", query.agent.as_str().into());
    statement
}

/// Adds the query for the number of matching tasks of all owners.
pub(super) fn everybody_total(statement: &mut Statement, query: &TaskQuery) {
    if query.is_unfiltered() {
        statement.add(&format!("SELECT coalesce(sum({TOTAL}), 0) FROM task_counts AS c"));
        statement.push(" WHERE c.agent = {}", query.agent.as_str().into());
        return;
    }
    // The total does not depend on the position of the page.
    let query = TaskQuery { from: None, ..query.clone() };
    statement.add("SELECT coalesce(sum((SELECT count(*)");
    push_tasks(statement, &query);
    statement.push(")), 0) FROM task_counts AS c WHERE c.agent = {}", query.agent.as_str().into());
}

/// Adds the matching tasks of the owner of `c`, as `t`.
fn push_tasks(statement: &mut Statement, query: &TaskQuery) {
    statement.add(" FROM tasks AS t");
    statement.add(page_index(query));
    statement.add(" WHERE t.owner = c.owner");
    statement.push(" AND t.agent = {}", query.agent.as_str().into());
    push_filters(statement, query, "t.");
    if let Some(from) = &query.from {
        statement.push(" AND (t.status_ms, t.id) <= ({}, ", from.status_ms.0.into());
        statement.push("{})", from.id.as_str().into());
    }
}

/// The position of a task in the order of a listing, as one text.
pub(super) const PLACE: &str = "printf('%016d', t.status_ms) || t.id";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::Owners;
    use crate::operation::list_tasks::Position;
    use a2a::model::{ContextId, TaskId, TaskState, UnixMillis};

    fn query() -> TaskQuery {
        TaskQuery {
            owners: Owners::All,
            agent: "a".to_owned(),
            context_id: None,
            state: None,
            since: None,
            waiting: false,
            text: None,
            from: None,
            limit: 4,
            with_history: true,
            with_summary: false,
        }
    }

    #[test]
    fn a_page_of_all_owners_reads_the_newest_task_of_each_and_a_page_of_some() {
        let from = Some(Position { status_ms: UnixMillis(500), id: TaskId::new("t").unwrap() });
        let query = TaskQuery { from, ..query() };
        let statement = everybody_statement(&query);
        let expected = format!(
            "WITH newest AS MATERIALIZED (SELECT c.owner AS owner, \
             (SELECT printf('%016d', t.status_ms) || t.id FROM tasks AS t \
             WHERE t.owner = c.owner AND t.agent = +?1 AND (t.status_ms, t.id) <= (+?2, +?3) \
             ORDER BY t.status_ms DESC, t.id DESC LIMIT 1) AS place \
             FROM task_counts AS c WHERE c.agent = +?4), \
             first AS (SELECT owner FROM newest WHERE place IS NOT NULL ORDER BY place DESC LIMIT +?5), \
             page AS (SELECT u.owner AS owner, u.status_ms AS status_ms, u.id AS id \
             FROM first AS c CROSS JOIN tasks AS u ON u.owner = c.owner AND u.agent = +?6 AND (u.status_ms, u.id) IN \
             (SELECT t.status_ms, t.id FROM tasks AS t WHERE t.owner = c.owner AND t.agent = +?7 \
             AND (t.status_ms, t.id) <= (+?8, +?9) ORDER BY t.status_ms DESC, t.id DESC LIMIT +?10) \
             ORDER BY u.status_ms DESC, u.id DESC LIMIT +?11) \
             SELECT t.owner || char(31) || t.id || char(31) || t.status_ms || char(31) || t.head || char(31) || t.history AS line, \
             (SELECT coalesce(sum({TOTAL}), 0) FROM task_counts AS c WHERE c.agent = +?12) AS total \
             FROM page CROSS JOIN tasks AS t ON t.owner = page.owner AND t.agent = +?13 AND t.status_ms = page.status_ms \
             AND t.id = page.id ORDER BY t.status_ms DESC, t.id DESC"
        );
        assert_eq!(statement.sql, expected);
        assert_eq!(statement.values.len(), 13);
    }

    #[test]
    fn filters_are_asked_of_the_tasks_of_each_owner() {
        let filtered = TaskQuery { state: Some(TaskState::Working), ..query() };
        let sql = everybody_statement(&filtered).sql;
        let tasks =
            "FROM tasks AS t INDEXED BY tasks_unfinished WHERE t.owner = c.owner AND t.agent = +?";
        assert_eq!(sql.matches(tasks).count(), 3, "{sql}");
        assert_eq!(sql.matches("AND t.state NOT IN (3, 4, 5, 7)").count(), 3, "{sql}");
        let context_id = ContextId::new("c");
        let sql = everybody_statement(&TaskQuery { context_id, ..query() }).sql;
        assert_eq!(sql.matches("INDEXED BY tasks_by_context").count(), 3, "{sql}");
    }
}
