//! `[executor]` as it stands in the file: the kind, the table of the kind, and `[executor.run]`.

use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::{
    Executor, ExecutorDefinition, HTTP, MODEL, OWN_KINDS, REMOTE, RegisteredTable, SCRIPT, TOOLS,
    ToolsTable, check_kind, closest,
};
use crate::definition::RunSettings;

/// The tables, before it is known whether they belong to the kind. They are read one by one, so that an error in
/// one of them still knows its line.
#[derive(Default)]
pub(super) struct ExecutorTables {
    kind: Option<Kind>,
    run: RunSettings,
    given: Vec<Executor>,
}

impl<'de> Deserialize<'de> for ExecutorTables {
    fn deserialize<D: Deserializer<'de>>(tables: D) -> Result<Self, D::Error> {
        tables.deserialize_map(Tables)
    }
}

struct Tables;

impl<'de> Visitor<'de> for Tables {
    type Value = ExecutorTables;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a table with a `kind` and the table of this kind")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<ExecutorTables, M::Error> {
        let mut tables = ExecutorTables::default();
        while let Some(key) = members.next_key::<String>()? {
            match key.as_str() {
                "kind" => tables.kind = Some(members.next_value()?),
                "run" => tables.run = members.next_value()?,
                TOOLS => tables.given.push(Executor::Tools(members.next_value()?)),
                SCRIPT => tables.given.push(Executor::Script(members.next_value()?)),
                REMOTE => tables.given.push(Executor::Remote(members.next_value()?)),
                HTTP => tables.given.push(Executor::Http(members.next_value()?)),
                MODEL => tables.given.push(Executor::Model(members.next_value()?)),
                _ => {
                    let Settings(settings) = members.next_value()?;
                    let table = RegisteredTable { kind: key, settings };
                    tables.given.push(Executor::Registered(table));
                }
            }
        }
        Ok(tables)
    }
}

/// The name of a kind that may be one.
struct Kind(String);

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(text: D) -> Result<Self, D::Error> {
        let name = String::deserialize(text)?;
        if OWN_KINDS.contains(&name.as_str()) {
            return Ok(Self(name));
        }
        match check_kind(&name) {
            Ok(()) => Ok(Self(name)),
            Err(_) if name == "rust" => Err(D::Error::custom(
                "must be the name under which the Worker registers the executor, whose settings \
                 stand in [executor.<name>]",
            )),
            // It lists them.
            Err(rule) if closest(&name, OWN_KINDS).is_some() => Err(D::Error::custom(rule)),
            Err(rule) => {
                let own = OWN_KINDS.join(" or ");
                Err(D::Error::custom(format!("{rule}; or {own}")))
            }
        }
    }
}

/// The table of a kind that the Worker registers.
struct Settings(Map<String, Value>);

impl<'de> Deserialize<'de> for Settings {
    fn deserialize<D: Deserializer<'de>>(table: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Settings;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("`kind`, `run` or the table of a kind")
            }

            fn visit_map<M: MapAccess<'de>>(self, members: M) -> Result<Settings, M::Error> {
                Map::deserialize(MapAccessDeserializer::new(members)).map(Settings)
            }
        }

        table.deserialize_any(Members)
    }
}

impl TryFrom<ExecutorTables> for ExecutorDefinition {
    type Error = String;

    fn try_from(tables: ExecutorTables) -> Result<Self, String> {
        let ExecutorTables { kind, run, given } = tables;
        let Some(Kind(kind)) = kind else {
            return Err("missing field `kind`".to_owned());
        };
        let mut chosen = None;
        for executor in given {
            if executor.kind() != kind {
                let other = executor.kind();
                return Err(format!(
                    "has a table [executor.{other}], but its kind is {kind}; keep one of the two"
                ));
            }
            chosen = Some(executor);
        }
        let executor = match chosen {
            Some(executor) => executor,
            // The agent may have tools of its own.
            None if kind == TOOLS => Executor::Tools(ToolsTable::default()),
            None if OWN_KINDS.contains(&kind.as_str()) => {
                return Err(format!("needs a table [executor.{kind}]"));
            }
            None => Executor::Registered(RegisteredTable { kind, settings: Map::new() }),
        };
        Ok(Self { executor, run })
    }
}
