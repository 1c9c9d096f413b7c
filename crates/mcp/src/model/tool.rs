//! Tools, as servers list them.

use serde_json::{Value, json};

use super::{object, text};

/// A tool of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Unique in its server; not empty. Servers should keep to 128 of `A-Za-z0-9_.-`, but any text is taken.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What it does, for models and people.
    pub description: Option<String>,
    /// The JSON schema of its arguments, as the server wrote it; an object.
    pub input_schema: Value,
    /// The JSON schema of its structured result.
    pub output_schema: Option<Value>,
    /// What the server says about its effects.
    pub annotations: Annotations,
}

/// What a server says about the effects of a tool. Nothing makes it keep to that. Each `None` is what the protocol assumes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Annotations {
    /// A name for people, of servers that have no `title`.
    pub title: Option<String>,
    /// It changes nothing; assumed false.
    pub read_only: Option<bool>,
    /// It may destroy something; assumed true.
    pub destructive: Option<bool>,
    /// The same call again has no further effect; assumed false.
    pub idempotent: Option<bool>,
    /// It reaches what lies outside of the server; assumed true.
    pub open_world: Option<bool>,
}

impl Tool {
    /// A tool of a list; `None` for one without a name, or whose schema is no object.
    pub fn read(json: &Value) -> Option<Self> {
        let name = text(json, "name").filter(|name| !name.is_empty())?;
        let input_schema = match json.get("inputSchema") {
            Some(schema @ Value::Object(_)) => schema.clone(),
            None => json!({"type": "object"}),
            Some(_) => return None,
        };
        Some(Self {
            name,
            title: text(json, "title"),
            description: text(json, "description"),
            input_schema,
            output_schema: json.get("outputSchema").filter(|schema| schema.is_object()).cloned(),
            annotations: json.get("annotations").map(Annotations::read).unwrap_or_default(),
        })
    }

    /// As it stands in a list.
    pub fn to_json(&self) -> Value {
        object([
            ("name", Some(json!(self.name))),
            ("title", self.title.as_ref().map(|title| json!(title))),
            ("description", self.description.as_ref().map(|description| json!(description))),
            ("inputSchema", Some(self.input_schema.clone())),
            ("outputSchema", self.output_schema.clone()),
            ("annotations", Some(self.annotations.to_json()).filter(|known| *known != json!({}))),
        ])
    }

    /// Its name for people: its title, else that of its annotations.
    pub fn shown_name(&self) -> Option<&str> {
        let titles = [self.title.as_deref(), self.annotations.title.as_deref()];
        titles.into_iter().flatten().find(|title| !title.trim().is_empty())
    }
}

impl Annotations {
    /// Those of a tool. What is no hint is left out.
    pub fn read(json: &Value) -> Self {
        let flag = |name: &str| json.get(name).and_then(Value::as_bool);
        Self {
            title: text(json, "title"),
            read_only: flag("readOnlyHint"),
            destructive: flag("destructiveHint"),
            idempotent: flag("idempotentHint"),
            open_world: flag("openWorldHint"),
        }
    }

    /// As they stand at a tool; an empty object if nothing is said.
    pub fn to_json(&self) -> Value {
        let flag = |flag: Option<bool>| flag.map(Value::Bool);
        object([
            ("title", self.title.as_ref().map(|title| json!(title))),
            ("readOnlyHint", flag(self.read_only)),
            ("destructiveHint", flag(self.destructive)),
            ("idempotentHint", flag(self.idempotent)),
            ("openWorldHint", flag(self.open_world)),
        ])
    }

    /// Whether a call may be made again after a crash, if the server is believed: the tool changes nothing, or the same
    /// call again has no further effect.
    pub fn may_be_repeated(&self) -> bool {
        self.read_only == Some(true) || self.idempotent == Some(true)
    }
}
