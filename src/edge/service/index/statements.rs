//! The statements on the index, with their values. `STORAGE.md` describes the tables.

use serde_json::json;

use crate::auth::{OwnerId, Owners};
use crate::edge::service::database::{Statement, Value, number};
use crate::forms::address::ObjectId;
use crate::forms::queue::RowPlace;
use crate::operation::list_tasks::TaskQuery;
use crate::port::IndexRow;
use a2a::model::TaskState;

/// Adds the part after the selected columns: a page of the tasks of an owner.
pub(super) fn filtered_page(statement: &mut Statement, owner: &OwnerId, query: &TaskQuery) {
    statement.add(" FROM tasks");
    statement.add(page_index(query));
    push_scope(statement, owner, query);
    push_filters(statement, query, "");
    if let Some(from) = &query.from {
        statement.push(" AND (status_ms, id) <= ({}, ", Value::Number(from.status_ms.0));
        statement.push("{})", from.id.as_str().into());
    }
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
    statement.push(" ORDER BY status_ms DESC, id DESC LIMIT {}", Value::Number(limit));
}

/// The line of a task; `table` is the prefix of the columns.
pub(super) fn line_of(query: &TaskQuery, table: &str) -> String {
    let mut columns = Vec::new();
    if query.owners == Owners::All {
        columns.push(format!("{table}owner"));
    }
    if query.with_summary {
        columns.push(format!("coalesce({table}duration_ms, '')"));
        columns.push(ASKED.replace("history", &format!("{table}history")));
    }
    columns.extend(["id", "status_ms", "head"].map(|column| format!("{table}{column}")));
    columns.push(if query.with_history { format!("{table}history") } else { "''".to_owned() });
    columns.join(" || char(31) || ")
}

/// The index that a page is read from; empty for the table itself.
pub(super) fn page_index(query: &TaskQuery) -> &'static str {
    match &query.context_id {
        Some(_) => " INDEXED BY tasks_by_context",
        None if query.is_of_unfinished() => " INDEXED BY tasks_unfinished",
        None => "",
    }
}

/// Adds the query for the number of matching tasks of an owner.
pub(super) fn matching_total(statement: &mut Statement, owner: &OwnerId, query: &TaskQuery) {
    if query.is_unfiltered() {
        statement.add(&format!("SELECT {TOTAL} FROM task_counts AS c"));
        push_scope(statement, owner, query);
        return;
    }
    // To avoid reading the rows themselves, the smallest index with all columns is named.
    let index = match (&query.context_id, query.state, query.since) {
        (Some(_), _, _) => " INDEXED BY tasks_by_context",
        (None, _, _) if query.is_of_unfinished() => " INDEXED BY tasks_unfinished",
        (None, Some(_), None) => " INDEXED BY tasks_by_context",
        (None, _, _) => "",
    };
    statement.add("SELECT count(*) FROM tasks");
    statement.add(index);
    push_scope(statement, owner, query);
    push_filters(statement, query, "");
}

/// Deletes the rows at these places, and the listed webhooks of their tasks; a trigger carries it out. D1 accepts a hundred values,
/// so all places are one value. With `is_deleted`, the tasks are noted, and triggers ignore rows of them.
pub(super) fn remove_statement(rows: &[RowPlace], is_deleted: bool) -> Statement {
    let row = |row: &RowPlace| json!([row.owner, row.agent, row.status_ms, row.id]);
    let rows = serde_json::Value::Array(rows.iter().map(row).collect()).to_string();
    let sql = if is_deleted {
        "INSERT INTO task_deletions (tasks, by_callers) VALUES (?1, 1)"
    } else {
        "INSERT INTO task_deletions (tasks) VALUES (?1)"
    };
    Statement { sql: sql.to_owned(), values: vec![Value::Text(rows)] }
}

/// Deletes the note that the task of this object is deleted.
pub(super) fn forget_statement(object: &ObjectId) -> Statement {
    let sql = "DELETE FROM deleted_tasks WHERE id = ?1".to_owned();
    Statement { sql, values: vec![object.as_str().into()] }
}

fn push_scope(statement: &mut Statement, owner: &OwnerId, query: &TaskQuery) {
    statement.push(" WHERE owner = {}", owner.as_str().into());
    statement.push(" AND agent = {}", query.agent.as_str().into());
}

/// Adds the filters of a query on the tasks of an owner; `table` is the prefix of the columns.
pub(super) fn push_filters(statement: &mut Statement, query: &TaskQuery, table: &str) {
    if let Some(context_id) = &query.context_id {
        statement.push(&format!(" AND {table}context_id = {{}}"), context_id.as_str().into());
    }
    if let Some(state) = query.state {
        statement.push(&format!(" AND {table}state = {{}}"), Value::Number(state.number()));
    }
    if query.waiting {
        statement.add(&IS_WAITING.replace("state", &format!("{table}state")));
    }
    if query.is_of_unfinished() {
        statement.add(&IS_UNFINISHED.replace("state", &format!("{table}state")));
    }
    if let Some(since) = query.since {
        statement.push(&format!(" AND {table}status_ms >= {{}}"), Value::Number(since.0));
    }
}

/// Writes the row of a task, in place of the older row of the task. If `counts` is true, the row of a finished task also contains the
/// duration of the task: a trigger of the table then adds the task to the statistics.
///
/// The row is inserted at the place where the index has a row of the task, so that it conflicts with that row and replaces it unless it
/// is older. There are two such places. An older row has the instant of an earlier status. A newer row, if this statement is carried
/// out late, has a later instant: it is found in the tasks of the same context with a status that is not older, which are few.
pub(super) fn upsert_statement(row: IndexRow, counts: bool) -> Statement {
    let IndexRow { id, agent, owner, context_id, state, status_ms, duration_ms, .. } = row;
    let IndexRow { generation, head, history, earlier, bytes, .. } = row;
    let generation = generation.as_i64();
    let duration_ms = duration_ms.filter(|_| counts);
    let mut values = vec![
        Value::Text(owner),
        Value::Text(agent),
        Value::Number(status_ms.0),
        id.as_str().into(),
        context_id.as_ref().map_or("", |id| id.as_str()).into(),
        Value::Number(TaskState::number(state)),
        Value::Number(generation),
        Value::Text(head),
        Value::Text(history),
        number(bytes),
    ];
    let older = if earlier.is_empty() {
        String::new()
    } else {
        let instants: Vec<i64> = earlier.iter().map(|instant| instant.0).collect();
        values.push(Value::Text(json!(instants).to_string()));
        format!("({OLDER} (SELECT value FROM json_each(?{}))), ", values.len())
    };
    let (column, value, set) = match duration_ms {
        Some(millis) => {
            values.push(number(millis));
            let value = format!(", ?{}", values.len());
            (", duration_ms", value, ", duration_ms = excluded.duration_ms")
        }
        None => ("", String::new(), ""),
    };
    let sql = format!(
        "INSERT INTO tasks \
         (owner, agent, status_ms, id, context_id, state, generation, head, history, bytes{column}) \
         VALUES (?1, ?2, coalesce({older}({NEWER}), ?3), ?4, ?5, ?6, ?7, ?8, ?9, ?10{value}) \
         {REPLACING}{set} {UNLESS_NEWER}"
    );
    Statement { sql, values }
}

/// The condition for finished tasks: their states.
pub(super) const IS_FINISHED: &str = " AND state IN (3, 4, 5, 7)";

/// The condition of the index `tasks_unfinished`, word by word: SQLite uses that index only for statements that contain
/// the same condition.
pub(super) const IS_UNFINISHED: &str = " AND state NOT IN (3, 4, 5, 7)";

/// The condition for tasks that wait for their client: their states.
const IS_WAITING: &str = " AND state IN (6, 8)";

/// The beginning of the first text, or else of the first data, of the oldest message, without the characters that separate lines and
/// columns.
pub(super) const ASKED: &str = "coalesce((SELECT replace(replace(substr(coalesce(j.value ->> '$.text', \
    j.value ->> '$.data'), 1, 160), char(30), ' '), char(31), ' ') FROM json_each(nullif(substr(\
    history, 1, instr(history || char(10), char(10)) - 1), ''), '$.parts') AS j \
    WHERE coalesce(j.value ->> '$.text', j.value ->> '$.data', '') <> '' LIMIT 1), '')";

/// The number of tasks of the entry `c` of `task_counts`. Few rows are above `counted_ms`: a trigger counts them when they become many.
pub(super) const TOTAL: &str = "c.total + (SELECT count(*) FROM tasks AS n \
    WHERE n.owner = c.owner AND n.agent = c.agent AND n.status_ms > c.counted_ms)";

/// The place of an older row of a task, before the list of instants.
const OLDER: &str = "SELECT t.status_ms FROM tasks AS t \
    WHERE t.owner = ?1 AND t.agent = ?2 AND t.id = ?4 AND t.status_ms IN";

/// The place of a row of a task that is not older.
const NEWER: &str = "SELECT t.status_ms FROM tasks AS t INDEXED BY tasks_by_context \
    WHERE t.owner = ?1 AND t.agent = ?2 AND t.context_id = ?5 AND t.status_ms >= ?3 AND t.id = ?4";

const REPLACING: &str = "ON CONFLICT (owner, agent, status_ms, id) DO UPDATE SET status_ms = ?3, \
    state = excluded.state, generation = excluded.generation, head = excluded.head, \
    history = excluded.history, bytes = excluded.bytes";

/// A late retry never replaces a newer row.
const UNLESS_NEWER: &str = "WHERE excluded.generation > tasks.generation";

#[cfg(test)]
mod tests {
    use super::*;
    use a2a::model::{ContextId, Generation, TaskId, UnixMillis};

    #[test]
    fn the_condition_on_unfinished_tasks_is_the_states_that_are_not_terminal() {
        let terminal = TaskState::ALL.into_iter().filter(|state| state.is_terminal());
        let numbers: Vec<String> = terminal.map(|state| state.number().to_string()).collect();
        let numbers = numbers.join(", ");
        assert_eq!(IS_UNFINISHED, format!(" AND state NOT IN ({numbers})"));
        assert_eq!(IS_FINISHED, format!(" AND state IN ({numbers})"));
        let waiting = [TaskState::InputRequired, TaskState::AuthRequired].map(TaskState::number);
        assert_eq!(IS_WAITING, format!(" AND state IN ({}, {})", waiting[0], waiting[1]));
    }

    fn row(state: TaskState, duration_ms: Option<u64>) -> IndexRow {
        IndexRow {
            id: TaskId::new("t").unwrap(),
            agent: "a".to_owned(),
            owner: "o".to_owned(),
            context_id: ContextId::new("c"),
            state,
            status_ms: UnixMillis(7),
            earlier: Vec::new(),
            duration_ms,
            generation: Generation(4),
            head: "{}".to_owned(),
            history: String::new(),
            bytes: 900,
            takes_place: false,
        }
    }

    #[test]
    fn a_finished_task_is_written_with_its_duration_where_tasks_are_counted() {
        let counted = upsert_statement(row(TaskState::Completed, Some(1_200)), true);
        let expected = format!(
            "INSERT INTO tasks (owner, agent, status_ms, id, context_id, state, generation, head, history, bytes, duration_ms) \
             VALUES (?1, ?2, coalesce(({NEWER}), ?3), ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) \
             ON CONFLICT (owner, agent, status_ms, id) DO UPDATE SET status_ms = ?3, \
             state = excluded.state, generation = excluded.generation, \
             head = excluded.head, history = excluded.history, bytes = excluded.bytes, duration_ms = excluded.duration_ms \
             WHERE excluded.generation > tasks.generation"
        );
        assert_eq!(counted.sql, expected);
        assert_eq!(counted.values.len(), 11);
        assert_eq!(counted.values.last(), Some(&Value::Number(1_200)));
    }

    #[test]
    fn a_row_is_inserted_at_the_place_of_an_older_one() {
        let earlier = vec![UnixMillis(3), UnixMillis(5)];
        let moved =
            upsert_statement(IndexRow { earlier, ..row(TaskState::Completed, Some(1_200)) }, true);
        let place = format!(
            "coalesce(({OLDER} (SELECT value FROM json_each(?11))), ({NEWER}), ?3), \
             ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?12)"
        );
        assert!(moved.sql.contains(&place), "{}", moved.sql);
        assert_eq!(moved.values[10..], ["[3,5]".into(), Value::Number(1_200)]);
    }

    #[test]
    fn rows_are_deleted_by_one_statement_with_one_value() {
        let row = |status_ms, id| {
            let (owner, agent) = ("o\"".to_owned(), "a".to_owned());
            RowPlace { owner, agent, status_ms, id: TaskId::new(id).unwrap(), shard: 0 }
        };
        let statement = remove_statement(&[row(3, "t"), row(5, "u")], false);
        assert_eq!(statement.sql, "INSERT INTO task_deletions (tasks) VALUES (?1)");
        assert_eq!(statement.values, [r#"[["o\"","a",3,"t"],["o\"","a",5,"u"]]"#.into()]);
        let for_good = remove_statement(&[row(3, "t")], true);
        assert_eq!(for_good.sql, "INSERT INTO task_deletions (tasks, by_callers) VALUES (?1, 1)");
        assert_eq!(for_good.values, [r#"[["o\"","a",3,"t"]]"#.into()]);
    }

    #[test]
    fn a_row_that_counts_nothing_is_written_as_before_there_were_durations() {
        let plain = upsert_statement(row(TaskState::Working, None), true);
        assert!(!plain.sql.contains("duration_ms"), "{}", plain.sql);
        assert_eq!(plain.values.len(), 10);
        let not_counted = upsert_statement(row(TaskState::Completed, Some(1_200)), false);
        assert_eq!(not_counted.sql, plain.sql);
        assert_eq!(not_counted.values.len(), 10);
    }
}
