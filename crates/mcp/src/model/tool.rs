//! The tools in servers' lists.

use serde_json::{Value, json};

use super::{object, text};

/// A tool of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// The name, unique in the server; not empty. Servers should use at most 128 characters of `A-Za-z0-9_.-`, but any text
    /// is accepted.
    pub name: String,
    /// The name for people.
    pub title: Option<String>,
    /// The description, for models and people.
    pub description: Option<String>,
    /// The JSON schema of the arguments, as the server has written it; an object.
    pub input_schema: Value,
    /// The JSON schema of the structured content of results.
    pub output_schema: Option<Value>,
    /// The server's hints about the effects of the tool.
    pub annotations: Annotations,
}

/// A server's hints about the effects of a tool, which are not enforced. `None` means the protocol's default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Annotations {
    /// The name for people, from servers without `title`.
    pub title: Option<String>,
    /// The tool changes nothing; false by default.
    pub read_only: Option<bool>,
    /// The tool may destroy data; true by default.
    pub destructive: Option<bool>,
    /// A repeated call has no further effect; false by default.
    pub idempotent: Option<bool>,
    /// The tool accesses things outside of the server; true by default.
    pub open_world: Option<bool>,
}

impl Tool {
    /// Parses a tool of a list; `None` without a name, or if the schema is not an object.
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

    /// The form of the tool in a list.
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

    /// The name for people: the title, else that of the annotations.
    pub fn shown_name(&self) -> Option<&str> {
        let titles = [self.title.as_deref(), self.annotations.title.as_deref()];
        titles.into_iter().flatten().find(|title| !title.trim().is_empty())
    }
}

impl Annotations {
    /// Parses the annotations of a tool. Values of a wrong type are left out.
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

    /// The form of the annotations in a tool; an empty object if there are none.
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

    /// True if a call may be repeated after a crash, according to the server's hints: the tool changes nothing, or a
    /// repeated call has no further effect.
    pub fn may_be_repeated(&self) -> bool {
        self.read_only == Some(true) || self.idempotent == Some(true)
    }
}
