//! The tables of the index: in D1, or in objects (`INDEX`). Either runs the same statements.
//!
//! # In objects
//!
//! ```text
//! object of a task ── its row ──> a shard of its owner ── once for each agent ──> directory
//! front ── a page of one owner ──> shard 0 of the owner, which knows how many there are, then the others at the same time
//!       ── a page of all owners of an agent ──> directory, then all shards that it has for the agent
//! cron trigger ── the directory in pages ──> each shard: finished tasks that are too old (edge/jobs/expiry.rs)
//! ```
//!
//! - An owner has one shard, which its first task makes where its caller is. Shard 0 counts what is written to it: if that is too
//!   much, or if the shard is too large, the owner has twice as many shards from then on, up to 64. A task keeps the shard that it began
//!   with, so nothing is moved, and a task that begins with an outdated number of shards is found all the same: readers ask all.
//! - Every shard that may have rows of an agent is in the directory: it is entered there before its first row.
//! - The statements that several shards have answered give one result: rows are merged by their places, numbers are added. A shard
//!   that does not answer fails the whole result.
//! - A shard is the object with the name of `forms/shard.rs`. Its code is `js/index-shard.js`, since rows only pass through.

#![allow(unreachable_pub, reason = "what JavaScript calls must be public")]

use std::cell::RefCell;

use wasm_bindgen::prelude::*;
use worker::js_sys::{Array, Reflect};
use worker::{Env, Error, Result};

use super::database::{Statement, Value, number, run_one};
use super::rows::{read_row, rows};
use crate::config::{IndexKind, Shards};
use crate::edge::bindings;
use crate::forms::shard::{DIRECTORY, shard_name, shard_of};
use crate::port::join_some;
use a2a::model::TaskId;
use a2a::sorted::SortedMap;

/// The rows that one database has selected.
pub(super) type Rows = Vec<JsValue>;

/// The tables of the index of a deployment.
#[derive(Clone)]
pub(in crate::edge) struct Tables {
    env: Env,
    kind: IndexKind,
}

/// A shard of the index of an owner. In D1, there is only one of all owners.
#[derive(Clone, Copy, Debug)]
pub(in crate::edge) struct Shard<'a> {
    pub(in crate::edge) owner: &'a str,
    pub(in crate::edge) number: u32,
}

rows! {
    /// An entry of the directory: a shard that may have rows of an agent.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub(in crate::edge) struct Entry {
        agent: String,
        owner: String,
        shard: u32,
        times: u64,
    }

    /// A shard in the directory.
    struct ShardRow {
        owner: String,
        shard: u32,
    }
}

impl Entry {
    pub(in crate::edge) fn agent(&self) -> &str {
        &self.agent
    }

    pub(in crate::edge) fn shard(&self) -> Shard<'_> {
        Shard { owner: &self.owner, number: self.shard }
    }
}

impl Tables {
    /// The tables by the settings. Settings that cannot be read are reported elsewhere.
    pub(in crate::edge) fn of(env: &Env) -> Self {
        let kind = bindings::settings(env).map_or(IndexKind::D1, |settings| settings.index);
        Self { env: env.clone(), kind }
    }

    /// True if the tables are in objects.
    pub(in crate::edge) fn are_in_objects(&self) -> bool {
        self.kind.is_in_objects()
    }

    /// Writes rows of an owner with an agent.
    ///
    /// # Errors
    ///
    /// If it is not known whether the rows were written.
    pub(super) async fn write(
        &self,
        agent: &str,
        shard: Shard<'_>,
        statement: &Statement,
    ) -> Result<()> {
        let IndexKind::Objects(Shards { writes_per_second, bytes }) = self.kind else {
            return run_one(&self.env, statement).await.map(|_| ());
        };
        let most = [f64::from(writes_per_second) * WINDOW_SECONDS, bytes as f64];
        let place = [agent.into(), shard.owner.into(), shard.number.into()];
        let place: Array = place.into_iter().chain(most.map(JsValue::from)).collect();
        let ran = self.ask(&shard.name(), statement, Some(place)).await?;
        if shard.number == 0 {
            learn(shard.owner, ran.shards);
        }
        Ok(())
    }

    /// Deletes or changes rows that exist.
    ///
    /// # Errors
    ///
    /// If it is not known whether the rows were changed.
    pub(super) async fn change(&self, shard: Shard<'_>, statement: &Statement) -> Result<Rows> {
        if !self.are_in_objects() {
            return run_one(&self.env, statement).await;
        }
        Ok(self.ask(&shard.name(), statement, Some(Array::new())).await?.rows)
    }

    /// Selects rows of one shard.
    ///
    /// # Errors
    ///
    /// If the tables do not answer, or are missing.
    pub(super) async fn of_shard(&self, shard: Shard<'_>, statement: &Statement) -> Result<Rows> {
        if !self.are_in_objects() {
            return run_one(&self.env, statement).await;
        }
        Ok(self.ask(&shard.name(), statement, None).await?.rows)
    }

    /// Selects rows of an owner, in groups by the databases that have them.
    ///
    /// # Errors
    ///
    /// If the tables do not answer, or are missing.
    pub(super) async fn of_owner(&self, owner: &str, statement: &Statement) -> Result<Vec<Rows>> {
        if !self.are_in_objects() {
            return Ok(vec![run_one(&self.env, statement).await?]);
        }
        let first = self.ask(&shard_name(owner, 0), statement, None).await?;
        learn(owner, first.shards);
        let others = (1..first.shards).map(|number| shard_name(owner, number));
        let mut groups = vec![first.rows];
        groups.append(&mut self.ask_all(others, statement).await?);
        Ok(groups)
    }

    /// Selects rows of all owners with an agent, or with all agents, in groups by the databases that have them.
    ///
    /// # Errors
    ///
    /// If the tables do not answer, or are missing; if there are more than [`MOST_ASKED`] shards.
    pub(super) async fn of_all(
        &self,
        agent: Option<&str>,
        statement: &Statement,
    ) -> Result<Vec<Rows>> {
        if !self.are_in_objects() {
            return Ok(vec![run_one(&self.env, statement).await?]);
        }
        let entered = self.ask(DIRECTORY, &shards_statement(agent), None).await?.rows;
        if entered.len() > MOST_ASKED {
            let reason = format!("more than {MOST_ASKED} objects of the index would be asked");
            return Err(Error::RustError(reason));
        }
        let names = entered
            .into_iter()
            .map(|row| read_row(row).map(|ShardRow { owner, shard }| shard_name(&owner, shard)));
        let names: Vec<String> = names.collect::<Result<_>>()?;
        self.ask_all(names.into_iter(), statement).await
    }

    /// The next entries of the directory behind one, up to `most`, in order.
    ///
    /// # Errors
    ///
    /// If the directory does not answer.
    pub(in crate::edge) async fn entries(&self, behind: &Entry, most: u32) -> Result<Vec<Entry>> {
        let rows = self.ask(DIRECTORY, &entries_statement(behind, most), None).await?.rows;
        rows.into_iter().map(read_row).collect()
    }

    /// The entry of the directory that was noted last.
    ///
    /// # Errors
    ///
    /// If the directory does not answer.
    pub(in crate::edge) async fn noted(&self) -> Result<Entry> {
        let rows = self.ask(DIRECTORY, &Statement::new(NOTED), None).await?.rows;
        rows.into_iter().next().map_or_else(|| Ok(Entry::default()), read_row)
    }

    /// Notes an entry of the directory.
    ///
    /// # Errors
    ///
    /// If the directory does not answer.
    pub(in crate::edge) async fn note(&self, entry: &Entry) -> Result<()> {
        let Entry { agent, owner, shard, .. } = entry;
        let values = vec![agent.as_str().into(), owner.as_str().into(), i64::from(*shard).into()];
        let statement = Statement { sql: NOTE.to_owned(), values };
        self.ask(DIRECTORY, &statement, Some(Array::new())).await.map(|_| ())
    }

    /// Runs statements without values in a shard. If the shard then has no rows of the agent of its entry any more, the entry is removed
    /// from the directory: first the shard forgets that it is there, so that it enters itself again before its next row; the directory keeps
    /// an entry that was entered again.
    ///
    /// # Errors
    ///
    /// If the shard or the directory does not answer; the next call does it again.
    pub(in crate::edge) async fn clean_up(&self, entry: &Entry, sql: &[String]) -> Result<()> {
        let Entry { agent, owner, shard, times } = entry;
        let sql = [&sql.join("; "), "; ", FORGET].concat();
        let statement = Statement { sql, values: vec![agent.as_str().into()] };
        if self.change(entry.shard(), &statement).await?.is_empty() {
            return Ok(());
        }
        let shard = i64::from(*shard).into();
        let values = vec![agent.as_str().into(), owner.as_str().into(), shard, number(*times)];
        let statement = Statement { sql: LEAVE.to_owned(), values };
        self.ask(DIRECTORY, &statement, Some(Array::new())).await.map(|_| ())
    }

    /// Asks objects for the same rows, up to [`AT_ONCE`] at the same time.
    async fn ask_all(
        &self,
        names: impl Iterator<Item = String>,
        statement: &Statement,
    ) -> Result<Vec<Rows>> {
        let asked = names.map(async |name| self.ask(&name, statement, None).await);
        let answers = join_some(AT_ONCE, asked).await;
        answers.into_iter().map(|answer| answer.map(|ran| ran.rows)).collect()
    }

    /// Runs a statement in an object. With a place it may write (`js/index-shard.js`).
    async fn ask(&self, name: &str, statement: &Statement, place: Option<Array>) -> Result<Ran> {
        let stub = bindings::tasks(&self.env)?.id_from_name(name)?.get_stub()?;
        let stub: ShardStub = stub.into_rpc();
        let request = Array::of2(&JsValue::from_str(&statement.sql), &statement.to_array());
        if let Some(place) = place {
            request.push(&place);
        }
        let answer = stub.index(&request).await.map_err(Error::from)?;
        let rows = Reflect::get(&answer, &JsValue::from_str("rows"))?;
        let shards = Reflect::get(&answer, &JsValue::from_str("shards"))?.as_f64();
        let rows = rows.dyn_into::<Array>().map_err(Error::from)?.to_vec();
        Ok(Ran { rows, shards: shards.map_or(1, |shards| shards as u32) })
    }
}

impl Shard<'_> {
    fn name(&self) -> String {
        shard_name(self.owner, self.number)
    }
}

/// What a statement gave in an object.
struct Ran {
    rows: Rows,
    /// The number of shards of the owner, if the object is shard 0.
    shards: u32,
}

#[wasm_bindgen]
extern "C" {
    type ShardStub;

    /// The method of `TaskObject`.
    #[wasm_bindgen(method, catch)]
    async fn index(this: &ShardStub, request: &Array) -> std::result::Result<JsValue, JsValue>;
}

/// The shard in which the row of a task that begins now is written, by the number of shards of its owner that this instance knows.
pub(in crate::edge) fn shard_for(owner: &str, object: &TaskId) -> u32 {
    SHARDS.with_borrow(|known| known.get(owner).map_or(0, |shards| shard_of(object, *shards)))
}

/// Remembers how many shards an owner has, if there is more than one.
fn learn(owner: &str, shards: u32) {
    if shards > 1 {
        SHARDS.with_borrow_mut(|known| {
            if known.len() >= MOST_KNOWN {
                known.clear();
            }
            known.insert(owner.to_owned(), shards);
        });
    }
}

thread_local! {
    /// The numbers of shards that this instance has seen, of owners with more than one.
    static SHARDS: RefCell<SortedMap<String, u32>> = const { RefCell::new(SortedMap::new()) };
}

/// The steps that make the tables in an object: those of the directory, then the migrations of D1. A step that was published is
/// never changed.
#[wasm_bindgen(js_name = indexSchema)]
pub fn index_schema() -> Vec<String> {
    SCHEMA.map(str::to_owned).to_vec()
}

const SCHEMA: [&str; 3] = [
    include_str!("directory.sql"),
    include_str!("../../../migrations/0001_schema.sql"),
    include_str!("../../../migrations/0002_fewer_rows.sql"),
];

/// The shards with rows of an agent, or of any.
fn shards_statement(agent: Option<&str>) -> Statement {
    let mut statement = Statement::new("SELECT DISTINCT owner, shard FROM index_shards");
    if let Some(agent) = agent {
        statement.push(" WHERE agent = {}", agent.into());
    }
    statement.push(" ORDER BY owner, shard LIMIT {}", number(MOST_ASKED as u64 + 1));
    statement
}

fn entries_statement(behind: &Entry, most: u32) -> Statement {
    let Entry { agent, owner, shard, .. } = behind;
    let mut statement = Statement::new("SELECT agent, owner, shard, times FROM index_shards");
    statement.push(" WHERE (agent, owner, shard) > ({}, ", agent.as_str().into());
    statement.push("{}, ", owner.as_str().into());
    statement.push("{})", Value::Number((*shard).into()));
    statement.push(" ORDER BY agent, owner, shard LIMIT {}", Value::Number(most.into()));
    statement
}

const NOTED: &str = "SELECT agent, owner, shard, 0 AS times FROM index_walk";

const NOTE: &str =
    "INSERT OR REPLACE INTO index_walk (id, agent, owner, shard) VALUES (1, ?1, ?2, ?3)";

/// Forgets that the directory has the shard for an agent, unless the shard has rows of the agent; selects a row if there was
/// something to forget, or if it was forgotten before.
const FORGET: &str = "INSERT INTO index_state (name, value) \
    SELECT 'agent ' || ?1, 0 WHERE NOT EXISTS (SELECT 1 FROM tasks WHERE agent = ?1) \
    AND NOT EXISTS (SELECT 1 FROM task_hours WHERE agent = ?1) \
    AND NOT EXISTS (SELECT 1 FROM webhooks WHERE agent = ?1) \
    AND NOT EXISTS (SELECT 1 FROM usage WHERE agent = ?1) \
    AND NOT EXISTS (SELECT 1 FROM usage_turns WHERE agent = ?1) \
    ON CONFLICT (name) DO UPDATE SET value = 0 RETURNING name";

const LEAVE: &str =
    "DELETE FROM index_shards WHERE agent = ?1 AND owner = ?2 AND shard = ?3 AND times = ?4";

/// The time over which a shard counts writes (`js/index-shard.js`).
const WINDOW_SECONDS: f64 = 10.0;

/// The largest number of objects that are asked at the same time.
const AT_ONCE: usize = 32;

/// The largest number of objects that are asked for one result: the platform allows 10,000 subrequests.
pub(in crate::edge) const MOST_ASKED: usize = 4_000;

/// The largest number of owners with several shards that an instance remembers.
const MOST_KNOWN: usize = 1_000;
