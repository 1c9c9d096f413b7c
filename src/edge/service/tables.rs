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
//! - `js/tables.js` asks D1 or the objects; `js/index-shard.js` is the code of an object.
//!
//! # From one to the other
//!
//! With `INDEX_COPY`, each row is written to a second place, too; lists read the first one. A row that one of them has not taken is owed, as
//! otherwise. Operators have the rows of before copied, agent by agent, in parts (`js/index-copy.js`); then `INDEX` and `INDEX_COPY` change their
//! values, which keeps the way back open.

#![allow(unreachable_pub, reason = "what JavaScript calls must be public")]

use std::cell::RefCell;

use serde::Serialize;
use serde_json::json;
use wasm_bindgen::prelude::*;
use worker::js_sys::{Array, Reflect};
use worker::{Env, Error, Result};

use super::database::{Statement, Value, number};
use super::rows::{read_row, rows};
use crate::config::{Index, IndexKind, Shards};
use crate::edge::bindings;
use crate::panic::Shared;
use a2a::model::{TaskId, fnv1a};
use a2a::sorted::SortedMap;
use a2a_macros::include_sql;

/// Rows of a result, as the platform gives them.
pub(super) type Rows = Vec<JsValue>;

/// The rows that a statement has selected, in D1 or in objects. Those of several shards stand one behind the other, each with the number
/// of its shard in the column `shard`.
pub(super) struct Selected {
    pub(super) rows: Rows,
    /// The number of shards of the owner; 1 in D1, and if the rows are of several owners.
    pub(super) shards: u32,
}

/// The tables of the index of a deployment.
#[derive(Clone)]
pub(in crate::edge) struct Tables {
    env: Env,
    index: Index,
}

/// A shard of the index of an owner. In D1, there is only one of all owners.
#[derive(Clone, Copy, Debug)]
pub(in crate::edge) struct Shard<'a> {
    pub(in crate::edge) owner: &'a str,
    pub(in crate::edge) number: u32,
}

/// The owners whose rows are selected.
#[derive(Clone, Copy, Debug)]
pub(super) enum Whose<'a> {
    /// One owner.
    Owner(&'a str),
    /// Those whose rows a shard has.
    Shard(Shard<'a>),
    /// Those of these shards, each with its owner.
    Shards(&'a [(String, u32)]),
    /// All owners, with an agent or with all agents.
    All(Option<&'a str>),
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

    struct CopiedRow {
        copied: u64,
    }
}

/// How far a copy has come.
#[derive(Clone, Copy, Debug, Serialize)]
pub(in crate::edge) struct Copied {
    /// The number of tasks since its beginning.
    pub(in crate::edge) copied: u64,
    /// True if it is complete.
    pub(in crate::edge) done: bool,
}

impl Entry {
    pub(in crate::edge) fn agent(&self) -> &str {
        &self.agent
    }

    pub(in crate::edge) fn shard(&self) -> Shard<'_> {
        Shard { owner: &self.owner, number: self.shard }
    }
}

impl Shard<'_> {
    /// The shard for `js/tables.js`.
    fn json(&self) -> String {
        json!({"owner": self.owner, "shard": self.number}).to_string()
    }
}

impl Tables {
    /// The tables by the settings. Settings that cannot be read are reported elsewhere.
    pub(in crate::edge) fn of(env: &Env) -> Self {
        let index = bindings::settings(env).map(|settings| settings.index).unwrap_or_default();
        Self { env: env.clone(), index }
    }

    /// Runs a statement without values that deletes rows of all owners from D1, if the index is there. Those of objects are deleted by
    /// [`clean_up`](Self::clean_up).
    ///
    /// # Errors
    ///
    /// If D1 does not answer, or if the table is missing.
    pub(super) async fn clean_d1(&self, sql: String) -> Result<()> {
        if !self.index.writes_to(IndexKind::D1) {
            return Ok(());
        }
        self.run(IndexKind::D1.name(), "{}", &Statement::new(sql)).await.map(|_| ())
    }

    /// True if the tables are read in objects.
    pub(in crate::edge) fn are_in_objects(&self) -> bool {
        self.index.kind == IndexKind::Objects
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
        self.write_in(self.index.names(), agent, shard, statement).await.map(|_| ())
    }

    /// Writes a row about a task that is about to begin into the first shard of an owner, in the place from which the tables are read
    /// alone. Returns what the statement selects.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write).
    pub(super) async fn reserve(
        &self,
        agent: &str,
        owner: &str,
        statement: &Statement,
    ) -> Result<Selected> {
        self.write_in(self.index.kind.name(), agent, Shard { owner, number: 0 }, statement).await
    }

    async fn write_in(
        &self,
        kinds: &str,
        agent: &str,
        shard: Shard<'_>,
        statement: &Statement,
    ) -> Result<Selected> {
        let Shards { writes_per_second, bytes } = self.index.shards;
        let Shard { owner, number } = shard;
        let limits = (writes_per_second * WINDOW_SECONDS, bytes);
        let whose = json!({"owner": owner, "shard": number, "agent": agent, "limits": limits});
        let ran = self.run(kinds, &whose.to_string(), statement).await?;
        if number == 0 {
            learn(owner, ran.shards);
        }
        Ok(ran)
    }

    /// Deletes or changes rows that exist.
    ///
    /// # Errors
    ///
    /// If it is not known whether the rows were changed.
    pub(super) async fn change(&self, shard: Shard<'_>, statement: &Statement) -> Result<()> {
        self.run(self.index.names(), &shard.json(), statement).await.map(|_| ())
    }

    /// Selects rows.
    ///
    /// # Errors
    ///
    /// If the tables do not answer, or are missing; if more than 100,000 objects would be asked.
    pub(super) async fn select(&self, whose: Whose<'_>, statement: &Statement) -> Result<Selected> {
        let place = match whose {
            Whose::Owner(owner) => json!({"owner": owner}).to_string(),
            Whose::Shard(shard) => shard.json(),
            Whose::Shards(shards) => json!({"shards": shards}).to_string(),
            Whose::All(agent) => json!({"agent": agent}).to_string(),
        };
        let selected = self.ask(&place, statement).await?;
        if let Whose::Owner(owner) = whose {
            learn(owner, selected.shards);
        }
        Ok(selected)
    }

    /// Selects rows of one shard.
    ///
    /// # Errors
    ///
    /// As [`select`](Self::select).
    pub(super) async fn select_in(&self, shard: Shard<'_>, statement: &Statement) -> Result<Rows> {
        Ok(self.select(Whose::Shard(shard), statement).await?.rows)
    }

    /// The next entries of the directory behind one, up to `most`, in order.
    ///
    /// # Errors
    ///
    /// If the directory does not answer.
    pub(in crate::edge) async fn entries(&self, behind: &Entry, most: u32) -> Result<Vec<Entry>> {
        self.select_entries(&entries_statement(behind, most)).await
    }

    /// The entry of the directory that was noted last.
    ///
    /// # Errors
    ///
    /// If the directory does not answer.
    pub(in crate::edge) async fn noted(&self) -> Result<Entry> {
        Ok(self.select_entries(&Statement::new(NOTED)).await?.pop().unwrap_or_default())
    }

    async fn select_entries(&self, statement: &Statement) -> Result<Vec<Entry>> {
        let selected = self.ask(THE_DIRECTORY, statement).await?;
        selected.rows.into_iter().map(read_row).collect()
    }

    /// Notes an entry of the directory.
    ///
    /// # Errors
    ///
    /// If the directory does not answer.
    pub(in crate::edge) async fn note(&self, entry: &Entry) -> Result<()> {
        self.change_directory(NOTE, entry, Vec::new()).await
    }

    /// Runs statements without values in a shard. If the shard then has no rows of the agent of its entry any more, the entry is removed
    /// from the directory: first the shard forgets that it is there, so that it enters itself again before its next row; the directory keeps
    /// an entry that was entered again.
    ///
    /// # Errors
    ///
    /// If the shard or the directory does not answer; the next call does it again.
    pub(in crate::edge) async fn clean_up(&self, entry: &Entry, sql: &[String]) -> Result<()> {
        let sql = [&sql.join("; "), "; ", FORGET].concat();
        let statement = Statement { sql, values: vec![entry.agent().into()] };
        let ran = self.run(OBJECTS, &entry.shard().json(), &statement).await?;
        if ran.rows.is_empty() {
            return Ok(());
        }
        let Entry { agent, owner, shard, .. } = entry;
        keep_hours(self.env.as_ref(), agent, owner, *shard).await.map_err(Error::from)?;
        self.change_directory(LEAVE, entry, vec![number(entry.times)]).await
    }

    /// Runs a statement with the place of an entry and further values in the directory.
    async fn change_directory(&self, sql: &str, entry: &Entry, more: Vec<Value>) -> Result<()> {
        let Entry { agent, owner, shard, .. } = entry;
        let place = [agent.as_str().into(), owner.as_str().into(), i64::from(*shard).into()];
        let values = place.into_iter().chain(more).collect();
        let statement = Statement { sql: sql.to_owned(), values };
        self.run(OBJECTS, THE_DIRECTORY, &statement).await.map(|_| ())
    }

    /// Copies the next rows of an agent to the second place of the index, or the first ones if the copy is to begin anew. Nothing is
    /// copied again once the copy is complete.
    ///
    /// # Errors
    ///
    /// If one of the places does not answer; the next call goes on.
    pub(in crate::edge) async fn copy(&self, agent: &str, is_anew: bool) -> Result<Copied> {
        let from = self.index.kind.name();
        let copied = copy_rows(self.env.as_ref(), from, agent, is_anew).await;
        let copied = copied.map_err(Error::from)?;
        let done = Reflect::get(&copied, &JsValue::from_str("done"))?.is_truthy();
        let CopiedRow { copied } = read_row(copied)?;
        Ok(Copied { copied, done })
    }

    /// Deletes the next rows of an owner with an agent that belong to no task, in all places of the index (`js/index-forget.js`).
    /// Returns their numbers as JSON.
    ///
    /// # Errors
    ///
    /// If one of the places does not answer; the next call deletes what is left.
    pub(in crate::edge) async fn forget(&self, agent: &str, owner: &str) -> Result<String> {
        let gone = forget_rows(self.env.as_ref(), self.index.names(), agent, owner).await;
        Ok(gone.map_err(Error::from)?.as_string().unwrap_or_default())
    }

    /// The usage of an agent by an owner, or by all owners if `owner` is empty, from one day to another (`js/index-usage.js`), as JSON
    /// with these terms: an array of the currency of costs, and of the limits of callers for tokens and cost.
    ///
    /// # Errors
    ///
    /// If the tables do not answer, or are missing.
    pub(in crate::edge) async fn usage(
        &self,
        agent: &str,
        owner: &str,
        from: &str,
        to: &str,
        terms: &str,
    ) -> Result<String> {
        let kind = self.index.kind.name();
        let found = usage_of(self.env.as_ref(), kind, agent, owner, from, to, terms);
        Ok(found.await.map_err(Error::from)?.as_string().unwrap_or_default())
    }

    async fn ask(&self, whose: &str, statement: &Statement) -> Result<Selected> {
        let kind = self.index.kind.name();
        let ran = select_rows(self.env.as_ref(), kind, whose, &statement.to_json()).await;
        Selected::read(&ran.map_err(Error::from)?)
    }

    /// Runs a statement in the places with these names.
    async fn run(&self, kinds: &str, whose: &str, statement: &Statement) -> Result<Selected> {
        let ran = write_rows(self.env.as_ref(), kinds, whose, &statement.to_json()).await;
        Selected::read(&ran.map_err(Error::from)?)
    }
}

impl Selected {
    fn read(ran: &JsValue) -> Result<Self> {
        let rows = Reflect::get(ran, &JsValue::from_str("rows"))?;
        let shards = Reflect::get(ran, &JsValue::from_str("shards"))?.as_f64();
        Ok(Self {
            rows: rows.dyn_ref::<Array>().map(Array::to_vec).unwrap_or_default(),
            shards: shards.map_or(1, |shards| shards as u32),
        })
    }
}

#[wasm_bindgen(module = "/js/tables.js")]
extern "C" {
    #[wasm_bindgen(catch, js_name = selectRows)]
    async fn select_rows(
        env: &JsValue,
        kind: &str,
        whose: &str,
        statement: &str,
    ) -> std::result::Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, js_name = writeRows)]
    async fn write_rows(
        env: &JsValue,
        kinds: &str,
        whose: &str,
        statement: &str,
    ) -> std::result::Result<JsValue, JsValue>;
}

#[wasm_bindgen(module = "/js/metrics.js")]
extern "C" {
    #[wasm_bindgen(catch, js_name = keepHours)]
    async fn keep_hours(
        env: &JsValue,
        agent: &str,
        owner: &str,
        shard: u32,
    ) -> std::result::Result<JsValue, JsValue>;
}

#[wasm_bindgen(module = "/js/index-copy.js")]
extern "C" {
    #[wasm_bindgen(catch, js_name = copyRows)]
    async fn copy_rows(
        env: &JsValue,
        source: &str,
        agent: &str,
        is_anew: bool,
    ) -> std::result::Result<JsValue, JsValue>;
}

#[wasm_bindgen(module = "/js/index-usage.js")]
extern "C" {
    #[wasm_bindgen(catch, js_name = usageOf)]
    async fn usage_of(
        env: &JsValue,
        kind: &str,
        agent: &str,
        owner: &str,
        from: &str,
        to: &str,
        terms: &str,
    ) -> std::result::Result<JsValue, JsValue>;
}

#[wasm_bindgen(module = "/js/index-forget.js")]
extern "C" {
    #[wasm_bindgen(catch, js_name = forgetRows)]
    async fn forget_rows(
        env: &JsValue,
        kinds: &str,
        agent: &str,
        owner: &str,
    ) -> std::result::Result<JsValue, JsValue>;
}

/// The shard in which the row of a task that begins now is written, by the number of shards of its owner that this instance knows.
pub(in crate::edge) fn shard_for(owner: &str, object: &TaskId) -> u32 {
    shard_of(object, shards_of(owner))
}

/// The number of shards of an owner that this instance knows, at least 1.
pub(super) fn shards_of(owner: &str) -> u32 {
    SHARDS.with_borrow(|known| known.get(owner).copied().unwrap_or(1))
}

fn shard_of(object: &TaskId, shards: u32) -> u32 {
    let shard = fnv1a(object.as_str().as_bytes()) % u64::from(shards.max(1));
    u32::try_from(shard).unwrap_or_default()
}

/// Remembers how many shards an owner has, if there is more than one.
fn learn(owner: &str, shards: u32) {
    if shards < 2 {
        return;
    }
    SHARDS.change(|known| {
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert(owner.to_owned(), shards);
    });
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

const SCHEMA: [&str; 7] = [
    include_sql!("src/edge/service/directory.sql"),
    include_sql!("migrations/0001_schema.sql"),
    include_sql!("migrations/0002_fewer_rows.sql"),
    include_sql!("migrations/0003_deleted_tasks.sql"),
    include_sql!("migrations/0004_quotas.sql"),
    include_sql!("migrations/0005_metrics.sql"),
    include_sql!("migrations/0006_models_and_failed_steps.sql"),
];

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
    AND NOT EXISTS (SELECT 1 FROM task_hours WHERE agent = ?1 AND hour > 0) \
    AND NOT EXISTS (SELECT 1 FROM webhooks WHERE agent = ?1) \
    AND NOT EXISTS (SELECT 1 FROM usage WHERE agent = ?1) \
    AND NOT EXISTS (SELECT 1 FROM usage_turns WHERE agent = ?1) \
    ON CONFLICT (name) DO UPDATE SET value = 0 RETURNING name";

const LEAVE: &str =
    "DELETE FROM index_shards WHERE agent = ?1 AND owner = ?2 AND shard = ?3 AND times = ?4";

const OBJECTS: &str = IndexKind::Objects.name();

/// The directory, for `js/tables.js`.
const THE_DIRECTORY: &str = r#"{"isDirectory":true}"#;

/// The time over which a shard counts writes (`js/index-shard.js`).
const WINDOW_SECONDS: u32 = 10;

/// The largest number of owners with several shards that an instance remembers.
const MOST_KNOWN: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_spread_over_all_shards() {
        let mut counts = [0; 8];
        for number in 0..800 {
            let id = TaskId::new(format!("{number:064x}")).unwrap();
            counts[shard_of(&id, 8) as usize] += 1;
            assert_eq!(shard_of(&id, 1), 0);
        }
        assert!(counts.iter().all(|count| (70..130).contains(count)), "{counts:?}");
    }
}
