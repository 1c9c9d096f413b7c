//! `[executor]` as it stands in the file: the kind, the table of the kind, and `[executor.run]`. Its reader is written by hand
//! because the keys are names of kinds, of which some are known to a Worker alone; the tables below it have derived readers.

use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::{Executor, ExecutorDefinition, ExecutorKind, RegisteredTable, check_kind};
use crate::definition::RunSettings;
use crate::table::closest;

/// The tables, before it is known whether they belong to the kind. They are read one by one, so that an error in
/// one of them still knows its line.
#[derive(Default)]
pub(super) struct ExecutorTables {
    kind: Option<KindName>,
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
                name => tables.given.push(match ExecutorKind::named(name) {
                    Some(kind) => kind.read_table(&mut members)?,
                    None => {
                        let Settings(settings) = members.next_value()?;
                        Executor::Registered(RegisteredTable { kind: key, settings })
                    }
                }),
            }
        }
        Ok(tables)
    }
}

/// The name of a kind that may be one.
struct KindName(String);

impl<'de> Deserialize<'de> for KindName {
    fn deserialize<D: Deserializer<'de>>(text: D) -> Result<Self, D::Error> {
        let name = String::deserialize(text)?;
        if ExecutorKind::named(&name).is_some() {
            return Ok(Self(name));
        }
        match check_kind(&name) {
            Ok(()) => Ok(Self(name)),
            Err(_) if name == "rust" => Err(D::Error::custom(
                "must be the name under which the Worker registers the executor, whose settings \
                 stand in [executor.<name>]",
            )),
            // It lists them.
            Err(rule) if closest(&name, ExecutorKind::names()).is_some() => {
                Err(D::Error::custom(rule))
            }
            Err(rule) => {
                let own = ExecutorKind::names().collect::<Vec<_>>().join(" or ");
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
        let Some(KindName(kind)) = kind else {
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
        let executor = match (chosen, ExecutorKind::named(&kind)) {
            (Some(executor), _) => executor,
            (None, Some(own)) => {
                own.without_table().ok_or_else(|| format!("needs a table [executor.{kind}]"))?
            }
            (None, None) => Executor::Registered(RegisteredTable { kind, settings: Map::new() }),
        };
        Ok(Self { executor, run })
    }
}
