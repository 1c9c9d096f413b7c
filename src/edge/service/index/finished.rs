//! A walk over the finished tasks of the index before a position, for the clean-up.
//!
//! The table of tasks is in the order owner, agent, time, id, and `task_counts` contains each pair of owner and agent once.
//! So the old tasks of each caller with each agent are one range of the table, and need no index of their own. The walk
//! reads one group after the other in pages; the caller stores the position. In objects, the groups are the entries of the directory.

use serde_json::json;
use worker::Result;
use worker::wasm_bindgen::JsValue;

use super::statements::{IS_FINISHED, TOTAL};
use super::{Index, totals};
use crate::edge::service::database::{Statement, Value, number};
use crate::edge::service::rows::{FromRow, Row, read_row, rows};
use crate::edge::service::tables::{Entry, Rows, Shard, Whose};
use crate::forms::queue::RowPlace;
use crate::operation::list_tasks::Position;
use crate::overview::HOUR_MS;
use a2a::model::{TaskId, UnixMillis};
use a2a::sorted::{SortedMap, sort_by};

/// The tasks that a walk selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::edge) struct Old {
    /// The agents whose tasks are selected.
    pub(in crate::edge) agents: Of,
    /// Only tasks that finished before this end.
    pub(in crate::edge) before: End,
}

/// The agents of a walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::edge) enum Of {
    /// This agent.
    One(String),
    /// All but these; also agents that this Worker does not have any more.
    AllBut(Vec<String>),
}

impl Of {
    /// True if the walk is about this agent.
    pub(in crate::edge) fn has(&self, agent: &str) -> bool {
        match self {
            Self::One(one) => one == agent,
            Self::AllBut(others) => !others.iter().any(|other| other == agent),
        }
    }
}

/// The end of the tasks that a walk selects, in the order of a group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::edge) struct End {
    /// The instant of the end.
    pub(in crate::edge) status_ms: UnixMillis,
    /// The first task of that instant that is not selected; `None` if no task of that instant is selected.
    pub(in crate::edge) id: Option<TaskId>,
}

rows! {
    /// The tasks of a caller with an agent.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub(in crate::edge) struct Group {
        owner: String,
        agent: String,
    }
}

/// The position at which a walk continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::edge) enum Place {
    /// After this group.
    Behind(Group),
    /// In this group, after this task.
    Within(Group, Position),
}

impl Place {
    /// Before the first group.
    pub(in crate::edge) fn start() -> Self {
        Self::Behind(Group::default())
    }
}

impl Index {
    /// The next page of a walk over D1: up to `most` tasks, and the position of the next page; `None` at the end. A page may be
    /// empty before the end.
    ///
    /// # Errors
    ///
    /// If D1 fails, or if the tables are missing.
    pub(in crate::edge) async fn old_tasks(
        &self,
        old: &Old,
        place: &Place,
        most: usize,
    ) -> Result<(Vec<RowPlace>, Option<Place>)> {
        match place {
            Place::Within(group, after) => {
                let statement = within_statement(old, group, Some(after), most);
                let found = read_tasks(self.run(&statement).await?)?;
                let next = Some(next_place(&found, most).unwrap_or(Place::Behind(group.clone())));
                Ok((found, next))
            }
            Place::Behind(group) => {
                let last = self.run(&window_statement(group)).await?.into_iter().next();
                let last: Option<Group> = last.map(read_row).transpose()?;
                let last = last.as_ref();
                let statement = behind_statement(old, group, last, most);
                let found = read_tasks(self.run(&statement).await?)?;
                let next = next_place(&found, most).or(last.cloned().map(Place::Behind));
                Ok((found, next))
            }
        }
    }

    /// The next page of a walk over the tasks of one shard: up to `most` tasks that finished before an end, after a position; and the
    /// position of the next page, `None` at the end.
    ///
    /// # Errors
    ///
    /// If the shard does not answer.
    pub(in crate::edge) async fn old_tasks_of(
        &self,
        entry: &Entry,
        before: &End,
        after: Option<&Position>,
        most: usize,
    ) -> Result<(Vec<RowPlace>, Option<Position>)> {
        let shard = entry.shard();
        let (owner, agent) = (shard.owner.to_owned(), entry.agent().to_owned());
        let old = Old { agents: Of::AllBut(Vec::new()), before: before.clone() };
        let statement = within_statement(&old, &Group { owner, agent }, after, most);
        let mut found = read_tasks(self.tables.select_in(shard, &statement).await?)?;
        for row in &mut found {
            row.shard = shard.number;
        }
        let next = next_place(&found, most).and_then(|place| match place {
            Place::Within(_, position) => Some(position),
            Place::Behind(_) => None,
        });
        Ok((found, next))
    }

    /// The position of the oldest of the newest `keep` finished tasks of an agent; `None` if the agent has no more than
    /// `keep`. Reads every entry of the agent in an index once, unless the agent has no more than `keep` tasks in total.
    ///
    /// # Errors
    ///
    /// If the tables do not answer, or are missing.
    pub(in crate::edge) async fn oldest_kept(&self, agent: &str, keep: u64) -> Result<Option<End>> {
        let all = |statement| async move {
            let found = self.tables.select(Whose::All(Some(agent)), &statement).await;
            found.map(|found| found.rows)
        };
        if keep == 0 || totals(all(agent_total_statement(agent)).await?)? <= keep {
            return Ok(None);
        }
        // First the hour of that task, then its place among the tasks of this hour.
        let mut hours: SortedMap<i64, u64> = SortedMap::new();
        for row in all(hours_statement(agent)).await? {
            let HourRow { hour, number } = read_row(row)?;
            *hours.get_or_insert_with(hour, || 0) += number;
        }
        let mut left = keep;
        let hour = hours.iter().rev().find(|(_, number)| {
            let is_found = left <= **number;
            left = if is_found { left } else { left - **number };
            is_found
        });
        let Some((hour, _)) = hour else { return Ok(None) };
        let found = all(hour_statement(agent, *hour, left)).await?.into_iter();
        let position = |row| {
            read_row(row).map(|PositionRow { status_ms, id }| End {
                status_ms: UnixMillis(status_ms),
                id: Some(id),
            })
        };
        let mut found: Vec<End> = found.map(position).collect::<Result<_>>()?;
        sort_by(&mut found, |one, other| other.cmp(one));
        let nth = usize::try_from(left.saturating_sub(1)).unwrap_or(usize::MAX);
        Ok(found.into_iter().nth(nth))
    }

    /// Runs a statement over all rows of D1.
    async fn run(&self, statement: &Statement) -> Result<Rows> {
        self.tables.select_in(Shard { owner: "", number: 0 }, statement).await
    }
}

/// The position after the last task of a full page.
fn next_place(found: &[RowPlace], most: usize) -> Option<Place> {
    let RowPlace { owner, agent, status_ms, id, .. } = found.last()?.clone();
    let position = Position { status_ms: UnixMillis(status_ms), id };
    (found.len() >= most).then_some(Place::Within(Group { owner, agent }, position))
}

impl FromRow for RowPlace {
    fn from_row(row: &Row) -> Result<Self> {
        let (owner, agent) = (row.column("owner")?, row.column("agent")?);
        let (status_ms, id) = (row.column("status_ms")?, row.column("id")?);
        Ok(Self { owner, agent, status_ms, id, shard: 0 })
    }
}

fn read_tasks(rows: Vec<JsValue>) -> Result<Vec<RowPlace>> {
    rows.into_iter().map(read_row).collect()
}

rows! {
    /// The position of a task.
    struct PositionRow {
        status_ms: i64,
        id: TaskId,
    }

    /// The number of tasks that finished in an hour since 1970.
    struct HourRow {
        hour: i64,
        number: u64,
    }
}

/// Selects the last group of the window. The window contains the first [`WINDOW`] groups after `behind`; with fewer groups
/// there is no row.
fn window_statement(behind: &Group) -> Statement {
    let mut statement = Statement::new("SELECT owner, agent FROM task_counts");
    push_behind(&mut statement, "WHERE", "(owner, agent)", behind);
    statement.push(" ORDER BY owner, agent LIMIT 1 OFFSET {}", number(WINDOW - 1));
    statement
}

/// The old tasks of the groups after `behind`, up to the last group of the window. The groups are the outer loop of the
/// join, so the result is in order without sorting.
fn behind_statement(old: &Old, behind: &Group, last: Option<&Group>, most: usize) -> Statement {
    let mut statement = Statement::new(
        "SELECT t.owner, t.agent, t.status_ms, t.id FROM task_counts AS c \
         CROSS JOIN tasks AS t ON t.owner = c.owner AND t.agent = c.agent",
    );
    push_behind(&mut statement, "WHERE", "(c.owner, c.agent)", behind);
    if let Some(last) = last {
        statement.push(" AND (c.owner, c.agent) <= ({}, ", last.owner.as_str().into());
        statement.push("{})", last.agent.as_str().into());
    }
    match &old.agents {
        Of::One(agent) => statement.push(" AND c.agent = {}", agent.as_str().into()),
        Of::AllBut(others) if others.is_empty() => {}
        Of::AllBut(others) => {
            let others = Value::Text(json!(others).to_string());
            statement.push(" AND c.agent NOT IN (SELECT value FROM json_each({}))", others);
        }
    }
    push_before(&mut statement, "t.", &old.before);
    statement.sql.push_str(&IS_FINISHED.replace("state", "t.state"));
    statement.push(" ORDER BY c.owner, c.agent, t.status_ms, t.id LIMIT {}", number(most as u64));
    statement
}

/// The old tasks of a group, or those after one of its tasks.
fn within_statement(old: &Old, group: &Group, after: Option<&Position>, most: usize) -> Statement {
    let mut statement = Statement::new("SELECT owner, agent, status_ms, id FROM tasks");
    statement.push(" WHERE owner = {}", group.owner.as_str().into());
    statement.push(" AND agent = {}", group.agent.as_str().into());
    if let Some(after) = after {
        statement.push(" AND (status_ms, id) > ({}, ", after.status_ms.0.into());
        statement.push("{})", after.id.as_str().into());
    }
    push_before(&mut statement, "", &old.before);
    statement.sql.push_str(IS_FINISHED);
    statement.push(" ORDER BY status_ms, id LIMIT {}", number(most as u64));
    statement
}

/// The number of tasks of an agent.
fn agent_total_statement(agent: &str) -> Statement {
    let mut statement =
        Statement::new(format!("SELECT coalesce(sum({TOTAL}), 0) AS total FROM task_counts AS c"));
    statement.push(" WHERE c.agent = {}", agent.into());
    statement
}

/// The number of finished tasks of an agent by hour. The index contains all columns of the query.
fn hours_statement(agent: &str) -> Statement {
    let mut statement = Statement::new(format!(
        "SELECT status_ms / {HOUR_MS} AS hour, count(*) AS number FROM tasks INDEXED BY tasks_by_context"
    ));
    statement.push(" WHERE agent = {}", agent.into());
    statement.sql.push_str(IS_FINISHED);
    statement.add(" GROUP BY 1");
    statement
}

/// The newest tasks of an agent that finished in an hour, up to `most`.
fn hour_statement(agent: &str, hour: i64, most: u64) -> Statement {
    let mut statement =
        Statement::new("SELECT status_ms, id FROM tasks INDEXED BY tasks_by_context");
    statement.push(" WHERE agent = {}", agent.into());
    statement.push(" AND status_ms >= {}", Value::Number(hour.saturating_mul(HOUR_MS)));
    statement.push(" AND status_ms < {}", Value::Number((hour + 1).saturating_mul(HOUR_MS)));
    statement.sql.push_str(IS_FINISHED);
    statement.push(" ORDER BY status_ms DESC, id DESC LIMIT {}", number(most));
    statement
}

fn push_behind(statement: &mut Statement, keyword: &str, columns: &str, group: &Group) {
    statement.push(&format!(" {keyword} {columns} > ({{}}, "), group.owner.as_str().into());
    statement.push("{})", group.agent.as_str().into());
}

/// The separate comparison of the time is necessary: SQLite uses it to find the range of the join.
fn push_before(statement: &mut Statement, table: &str, before: &End) {
    let End { status_ms, id } = before;
    statement.push(&format!(" AND {table}status_ms <= {{}}"), status_ms.0.into());
    statement.push(&format!(" AND ({table}status_ms, {table}id) < ({{}}, "), status_ms.0.into());
    // The empty text is before all ids.
    statement.push("{})", id.as_ref().map_or("", TaskId::as_str).into());
}

/// The largest number of groups that one statement reads: most groups have no old task.
const WINDOW: u64 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn position(status_ms: i64, id: &str) -> Position {
        Position { status_ms: UnixMillis(status_ms), id: TaskId::new(id).unwrap() }
    }

    fn group(owner: &str, agent: &str) -> Group {
        Group { owner: owner.to_owned(), agent: agent.to_owned() }
    }

    fn found(status_ms: i64, id: &str) -> RowPlace {
        let Group { owner, agent } = group("o", "a");
        RowPlace { owner, agent, status_ms, id: TaskId::new(id).unwrap(), shard: 0 }
    }

    #[test]
    fn a_walk_goes_on_behind_the_last_task_of_a_full_page() {
        let page = [found(1, "x"), found(2, "y")];
        assert_eq!(next_place(&page, 3), None, "there are no more in these groups");
        let next = Some(Place::Within(group("o", "a"), position(2, "y")));
        assert_eq!(next_place(&page, 2), next);
        assert_eq!(next_place(&[], 2), None);
    }

    #[test]
    fn groups_are_walked_in_the_order_of_the_table_and_finished_tasks_alone_are_taken() {
        let old = Old {
            agents: Of::AllBut(Vec::new()),
            before: End { status_ms: UnixMillis(9), id: TaskId::new("z") },
        };
        let last = group("p", "b");
        let statement = behind_statement(&old, &group("o", "a"), Some(&last), 5);
        assert_eq!(
            statement.sql,
            "SELECT t.owner, t.agent, t.status_ms, t.id FROM task_counts AS c \
             CROSS JOIN tasks AS t ON t.owner = c.owner AND t.agent = c.agent \
             WHERE (c.owner, c.agent) > (+?1, +?2) AND (c.owner, c.agent) <= (+?3, +?4) \
             AND t.status_ms <= +?5 AND (t.status_ms, t.id) < (+?6, +?7) AND t.state IN (3, 4, 5, 7) \
             ORDER BY c.owner, c.agent, t.status_ms, t.id LIMIT +?8"
        );
        let of_agent = Old { agents: Of::One("b".to_owned()), ..old.clone() };
        let statement = behind_statement(&of_agent, &Group::default(), None, 5);
        assert!(statement.sql.contains("> (+?1, +?2) AND c.agent = +?3"), "{}", statement.sql);
        let others = Of::AllBut(vec!["b".to_owned(), "c".to_owned()]);
        let statement =
            behind_statement(&Old { agents: others, ..old }, &Group::default(), None, 5);
        let but = "> (+?1, +?2) AND c.agent NOT IN (SELECT value FROM json_each(+?3))";
        assert!(statement.sql.contains(but), "{}", statement.sql);
        assert_eq!(statement.values.get(2), Some(&r#"["b","c"]"#.into()));
    }

    #[test]
    fn a_page_within_a_group_is_a_range_of_the_table() {
        let old = Old {
            agents: Of::AllBut(Vec::new()),
            before: End { status_ms: UnixMillis(9), id: TaskId::new("z") },
        };
        let after = position(3, "x");
        let statement = within_statement(&old, &group("o", "a"), Some(&after), 5);
        assert_eq!(
            statement.sql,
            "SELECT owner, agent, status_ms, id FROM tasks WHERE owner = +?1 AND agent = +?2 \
             AND (status_ms, id) > (+?3, +?4) AND status_ms <= +?5 AND (status_ms, id) < (+?6, +?7) \
             AND state IN (3, 4, 5, 7) ORDER BY status_ms, id LIMIT +?8"
        );
    }

    #[test]
    fn an_end_without_a_task_is_before_all_tasks_of_its_instant() {
        let old = Old {
            agents: Of::AllBut(Vec::new()),
            before: End { status_ms: UnixMillis(9), id: None },
        };
        let statement = within_statement(&old, &group("o", "a"), Some(&position(3, "x")), 5);
        assert_eq!(statement.values.get(5..7), Some(&[9.into(), "".into()][..]));
    }
}
