//! Reads `[executor]` in the checker: the kind, the table of the kind, and `[executor.run]`. Also derives data from the table of
//! any kind, with keys of the whole file.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::registered::RegisteredTable;
use super::{
    ExecutorKind, HttpTable, Kind, KindContext, KindTable, ModelSettings, RemoteTable, ScriptTable,
    TableFile, ToolOffer, ToolsTable, check_kind, kinds, read_table,
};
use crate::files::Files;
use crate::table::{Keys, Reader, Texts, closest, keys, no_such};
use crate::{Expandable, McpChoice, Misfit, Problem, Recovery, RunSettings, Table, Trace};

/// The executor of an agent: the table `[executor]`.
#[derive(Debug, Deserialize)]
#[serde(from = "Map<String, Value>")]
pub(crate) struct ExecutorDefinition {
    /// The name of the kind in the file.
    pub(crate) kind: String,
    /// The limits of runs, and the recovery of interrupted runs.
    pub(crate) run: RunSettings,
    /// The table of the kind as it is written; empty if the file has none.
    written: Map<String, Value>,
    /// The table as the type of the kind.
    table: Box<dyn Kind>,
    /// The problems that the reader of the kind's table has found.
    misfits: Vec<Problem>,
    /// The problems of `[executor.run]`.
    run_misfits: Vec<Problem>,
    /// The problems of `kind` and of the names of tables. If there are any, the table of the kind is unknown.
    pub(crate) unreadable: Vec<Problem>,
}

impl From<Map<String, Value>> for ExecutorDefinition {
    fn from(executor: Map<String, Value>) -> Self {
        let (kind, unreadable) = Reader::read(&executor, Texts::Literal, |keys| {
            let kind = read_kind(keys).unwrap_or_default();
            check_tables(keys, &kind);
            keys.need("kind", "");
            kind
        });
        let (run, run_misfits) = Reader::read(&executor, Texts::Literal, read_run);
        let written = executor.get(&kind).and_then(Value::as_object).cloned().unwrap_or_default();
        let (table, misfits) = read_of(&kind, &written);
        let of_file = |problems: Vec<Problem>| {
            problems.into_iter().map(|problem| problem.under("executor.")).collect()
        };
        let (run_misfits, unreadable) = (of_file(run_misfits), of_file(unreadable));
        Self { kind, run, written, table, misfits, run_misfits, unreadable }
    }
}

impl ExecutorDefinition {
    /// True if the agent is a model without prices, so that nobody knows what it costs.
    pub(crate) fn has_unknown_cost(&self) -> bool {
        self.kind == "model" && !self.written.contains_key("price")
    }
}

fn read_kind(keys: &mut Reader<'_>) -> Option<String> {
    keys.checked("kind", |kind| {
        if ExecutorKind::named(kind).is_some() {
            return Ok(());
        }
        check_kind(kind).map_err(|rule| {
            if kind == "rust" {
                "must be the name under which the Worker registers the executor, whose settings stand in [executor.<name>]".to_owned()
            } else if closest(kind, ExecutorKind::names()).is_some() {
                // The words in which the Worker refuses a kind that it does not register.
                no_such("kind of executor", kind, ExecutorKind::names())
            } else {
                format!("{rule}; or {}", ExecutorKind::names().collect::<Vec<_>>().join(" or "))
            }
        })
    })
}

/// Reports tables of other kinds, and unknown keys.
fn check_tables(keys: &mut Reader<'_>, kind: &str) {
    for name in keys.names() {
        let is_table = keys.value(name).is_some_and(Value::is_object);
        // Without a kind, each table may be the table of the intended kind.
        let is_meant = name == kind || kind.is_empty();
        if name == "kind" || name == "run" || (is_meant && is_table) {
            continue;
        }
        let fix = if is_table {
            format!("stands beside `kind = {kind:?}`; keep one of the two")
        } else if ExecutorKind::named(name).is_some() {
            format!(
                "must be a table, [executor.{name}], with the keys of the kind: {}",
                keys_of(name).names.join(", ")
            )
        } else {
            let meant = closest(name, ["kind", "run"]);
            let meant = meant.map_or(String::new(), |meant| format!(", did you mean `{meant}`?"));
            format!(
                "is no key of this table{meant}; there are: kind, run, and the table [executor.<kind>] with the keys of the kind"
            )
        };
        keys.report(name, fix);
    }
}

fn read_run(keys: &mut Reader<'_>) -> RunSettings {
    keys.below("run", read_run_table).unwrap_or_default()
}

/// Reads `[executor.run]`.
pub(super) fn read_run_table(keys: &mut Reader<'_>) -> Option<RunSettings> {
    keys.only(&RUN);
    let attempts = keys.number("max_attempts", 1, 1_000);
    Some(RunSettings {
        recovery: keys.choice("recovery", &RECOVERIES),
        max_attempts: attempts.and_then(|attempts| attempts.try_into().ok()),
        timeout_ms: keys.number("timeout_ms", 1, MAX_RUN_MS),
        idle_timeout_ms: keys.number("idle_timeout_ms", 0, MAX_RUN_MS),
        trace: keys.choice("trace", &TRACES),
        trace_for_owners: keys.flag("trace_for_owners").unwrap_or_default(),
    })
}

/// Makes the functions that read the table of any kind.
macro_rules! readers {
    ($($(#[$about:meta])* $kind:ident = $name:literal, $table:ty;)*) => {
        /// Reads the table of a kind. Returns the table and its problems.
        fn read_of(kind: &str, table: &Map<String, Value>) -> (Box<dyn Kind>, Vec<Problem>) {
            match ExecutorKind::named(kind) {
                $(Some(ExecutorKind::$kind) => read_as::<$table>(table),)*
                None => (Box::new(RegisteredTable(table.clone())), Vec::new()),
            }
        }

        /// The keys of the table of a built-in kind; empty for a kind that a Worker registers.
        fn keys_of(kind: &str) -> &'static Keys {
            match ExecutorKind::named(kind) {
                $(Some(ExecutorKind::$kind) => <$table as KindTable>::KEYS,)*
                None => &keys! {},
            }
        }
    };
}

kinds!(readers);

fn read_as<T: KindTable + Kind + 'static>(
    table: &Map<String, Value>,
) -> (Box<dyn Kind>, Vec<Problem>) {
    let (table, misfits) = Reader::read(table, Texts::Literal, read_table::<T>);
    (Box::new(table), misfits)
}

impl ExecutorDefinition {
    /// The table for the constructor of the kind.
    ///
    /// # Errors
    ///
    /// No agent file causes an error.
    pub(crate) fn written_table(&self) -> Result<Table, Misfit> {
        Table::of(&self.written)
    }

    /// The problems of the executor of this agent, each with its key and the fix.
    pub(crate) fn problems(&self, agent: &KindContext<'_>) -> Vec<Problem> {
        let mut problems = self.run_misfits.clone();
        let recovery = self.run.recovery;
        if let Some(reason) = self.table.resumes_because()
            && !matches!(recovery, None | Some(Recovery::Resume))
        {
            let fix = format!("must be \"resume\", or be left out: {reason}");
            problems.push(Problem::at("executor.run.recovery", fix));
        }
        let of_table = if self.misfits.is_empty() {
            self.problems_of_table(agent)
        } else {
            // The table contains defaults in place of invalid values, so it is not checked further.
            self.misfits.clone()
        };
        problems.extend(of_table.into_iter().map(|problem| problem.under(&self.key(""))));
        problems
    }

    fn problems_of_table(&self, agent: &KindContext<'_>) -> Vec<Problem> {
        let mut problems = self.table.problems(agent);
        for (key, text) in self.table.filled_in() {
            problems.extend(Expandable::parse(text).err().map(|fix| Problem::at(key, fix)));
        }
        if let Some(offer) = self.table.offer() {
            problems.extend(offer.problems(agent));
        }
        problems
    }

    /// The secrets and variables that the agent's file and tools name, each as a pair: the part of the agent that needs the
    /// value, and the name of the value.
    pub(crate) fn needs(&self, agent: &KindContext<'_>) -> Vec<(String, String)> {
        let mut needs = Vec::new();
        for (_, text) in self.table.filled_in() {
            let text = Expandable::parse(text);
            let names = text.iter().flat_map(Expandable::values);
            needs.extend(names.map(|name| (format!("executor {}", self.kind), name.to_owned())));
        }
        needs.extend(self.offer().into_iter().flat_map(|offer| offer.needs(agent)));
        needs
    }

    /// The tools that the executor calls; `None` for a kind without tools.
    pub(crate) fn offer(&self) -> Option<ToolOffer<'_>> {
        self.table.offer()
    }

    /// True if the executor's tools are skills of the agent.
    pub(crate) fn has_tool_skills(&self) -> bool {
        self.offer().is_some_and(|offer| offer.are_skills)
    }

    /// The remote agent whose skills the agent may show.
    pub(crate) fn front_of(&self) -> Option<&str> {
        self.table.front_of()
    }

    /// The text after "needs at least one `[[skills]]`" in the problem of an agent without skills.
    pub(crate) fn skills_hint(&self) -> &'static str {
        self.table.skills_hint()
    }

    /// The names of remote agents in the table, each with its key.
    pub(crate) fn remotes(&self) -> Vec<(String, &str)> {
        let remotes = self.table.remotes().into_iter();
        remotes.map(|(key, name)| (self.key(&key), name)).collect()
    }

    /// The tools of MCP servers in the table, each choice with its key.
    pub(crate) fn mcp(&self) -> Vec<(String, McpChoice<'_>)> {
        let choices = self.offer().into_iter().flat_map(|offer| offer.mcp_choices());
        choices.map(|(key, choice)| (self.key(&key), choice)).collect()
    }

    /// Replaces the names of files in the table by the contents of the files. The paths are relative to the agent's file. Returns
    /// the problems, each with its key; a file that cannot be read is left out.
    pub(crate) fn read_files(&mut self, files: &dyn Files, agent_file: &str) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut written = self.written.clone();
        for TableFile { key, content_key, is_json } in self.table.files() {
            // Values that are not texts are already among the problems of the table.
            let Some(Value::String(name)) = self.written.get(*key) else { continue };
            if self.written.contains_key(*content_key) {
                continue;
            }
            let folder = agent_file.rsplit_once('/').map_or("", |(folder, _)| folder);
            let path = format!("{folder}/{name}");
            written.shift_remove(*key);
            match read_file(files, &path, *is_json) {
                Ok(content) => {
                    written.insert((*content_key).to_owned(), content);
                }
                Err(fix) => problems.push(Problem::at(self.key(key), fix)),
            }
        }
        (self.table, self.misfits) = read_of(&self.kind, &written);
        self.written = written;
        problems
    }

    /// The key in the file of a key in the table.
    fn key(&self, key: &str) -> String {
        format!("executor.{}.{key}", self.kind)
    }
}

fn read_file(files: &dyn Files, path: &str, is_json: bool) -> Result<Value, String> {
    let text = files.read(path).map_err(|reason| format!("{path} {reason}"))?;
    if is_json {
        return a2a::model::read_own(&text).map_err(|error| format!("{path} is not JSON: {error}"));
    }
    Ok(Value::String(text))
}

const RUN: Keys = keys! {
    /// What happens to a run that was interrupted; as the kind of executor says unless given.
    "recovery",
    /// The maximum number of attempts of a run; the setting `MAX_ATTEMPTS` unless given.
    "max_attempts",
    /// The maximum duration of a run, all attempts together, in milliseconds; the setting `RUN_TIMEOUT_MS` unless given.
    "timeout_ms",
    /// The maximum time without an event of the run, in milliseconds; the setting `IDLE_TIMEOUT_MS` unless given, 0 for no limit.
    "idle_timeout_ms",
    /// What is kept of steps for people: nothing, their names and durations (unless given), or also what they were given (unless given where `DEVELOPMENT` is set).
    "trace",
    /// Whether the owner of a task is shown what its steps were given and what they came to.
    "trace_for_owners",
};

const RECOVERIES: [(&str, Recovery); 3] =
    [("resume", Recovery::Resume), ("restart", Recovery::Restart), ("fail", Recovery::Fail)];

/// The values of `trace`.
const TRACES: [(&str, Trace); 3] =
    [("off", Trace::Off), ("names", Trace::Names), ("full", Trace::Full)];

/// The maximum duration of a run: 15 minutes, in milliseconds. The platform keeps an object active for this time.
const MAX_RUN_MS: u64 = 900_000;
