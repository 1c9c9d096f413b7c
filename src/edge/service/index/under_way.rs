//! The tasks that are under way, for development.

use worker::Result;

use super::Index;
use super::statements::IS_UNFINISHED;
use crate::edge::service::database::{Statement, Value};
use crate::edge::service::rows::{read_row, rows};
use crate::edge::service::tables::Whose;
use a2a::model::{TaskId, TaskState};

impl Index {
    /// The ids of the objects of tasks that are submitted or working, up to `most`, of all agents and owners: the newest ones, if one
    /// database has all.
    ///
    /// # Errors
    ///
    /// If the tables do not answer, or are missing.
    pub(in crate::edge) async fn under_way(&self, most: u32) -> Result<Vec<TaskId>> {
        let found = self.tables.select(Whose::All(None), &under_way_statement(most)).await?;
        let rows = found.rows.into_iter().take(most as usize);
        rows.map(|row| read_row(row).map(|IdRow { id }| id)).collect()
    }
}

rows! {
    /// A row with the id of an object.
    struct IdRow {
        id: TaskId,
    }
}

fn under_way_statement(most: u32) -> Statement {
    let mut statement = Statement::new("SELECT id FROM tasks INDEXED BY tasks_unfinished");
    statement.push(" WHERE state IN ({}, ", Value::Number(TaskState::Submitted.number()));
    statement.push("{})", Value::Number(TaskState::Working.number()));
    statement.add(IS_UNFINISHED);
    statement.push(" ORDER BY status_ms DESC LIMIT {}", Value::Number(most.into()));
    statement
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_tasks_that_work_are_read_from_the_index_of_unfinished_ones() {
        let Statement { sql, values } = under_way_statement(100);
        assert_eq!(
            sql,
            "SELECT id FROM tasks INDEXED BY tasks_unfinished WHERE state IN (+?1, +?2) \
             AND state NOT IN (3, 4, 5, 7) ORDER BY status_ms DESC LIMIT +?3"
        );
        assert_eq!(values, [1, 2, 100].map(Value::Number));
    }
}
