//! Reads a message as tool calls, or as missing arguments of a call.

use serde_json::{Map, Value, json};

use super::offer::Named;
use super::telling;
use a2a::model::{Message, Part, Role, TaskState};
use a2a_agents::tool::{required, takes_string, text_argument, validate};

/// A tool call in a message.
pub(super) struct AskedCall<'a, T> {
    pub(super) tool: &'a T,
    pub(super) arguments: Map<String, Value>,
    /// The argument that holds the text of the message, if the message names no tool.
    pub(super) text: Option<&'a str>,
}

/// The decision about a message.
pub(super) enum Asked<'a, T> {
    /// Make these calls, at least one.
    Calls(Vec<AskedCall<'a, T>>),
    /// Call nothing: the task enters this state with these parts as its message.
    Said(TaskState, Vec<Part>),
}

/// The tools of an agent, and the rules for reading messages.
pub(super) struct Understanding<'a, T> {
    pub(super) tools: &'a [T],
    /// True if the client is asked for arguments that are missing or invalid.
    pub(super) asks_missing: bool,
}

impl<'a, T: Named> Understanding<'a, T> {
    /// The decision for the last of these messages, which are all messages of the client in the task.
    pub(super) fn of(&self, messages: &[Message]) -> Asked<'a, T> {
        let mut asked = Vec::new();
        for message in messages.iter().filter(|message| message.role == Role::User) {
            match self.after(asked, message) {
                Asked::Calls(calls) => asked = calls,
                // A refusal of an earlier message would have ended the task, so this refusal is for the last message.
                said @ Asked::Said(..) => return said,
            }
        }
        if asked.is_empty() {
            return self.cannot(TaskState::Rejected, "say what to call");
        }
        match asked.iter().find_map(|call| self.question_of(call)) {
            Some(parts) => Asked::Said(TaskState::InputRequired, parts),
            None => Asked::Calls(asked),
        }
    }

    /// The calls after one more message. A message that names no tool supplies arguments for a call that lacks some.
    fn after(&self, mut asked: Vec<AskedCall<'a, T>>, message: &Message) -> Asked<'a, T> {
        let mut named = Vec::new();
        let mut given = Map::new();
        for part in &message.parts {
            let Some(Value::Object(mut data)) = part.as_data() else { continue };
            let Some(name) = data.remove("tool") else {
                given.extend(data);
                continue;
            };
            let Some(tool) = name.as_str().and_then(|name| self.tool(name)) else {
                return self.cannot(TaskState::Rejected, &format!("there is no tool {name}"));
            };
            let arguments = match data.remove("arguments") {
                None | Some(Value::Null) => Map::new(),
                Some(Value::Object(arguments)) => arguments,
                Some(_) => {
                    let reason = "`arguments` must be an object";
                    return Asked::Said(TaskState::Rejected, vec![Part::text(reason)]);
                }
            };
            named.push(AskedCall { tool, arguments, text: None });
        }
        if !named.is_empty() {
            return Asked::Calls(named);
        }
        let has_text = message.parts.iter().any(|part| part.as_text().is_some());
        if let Some(call) = asked.iter_mut().find(|call| !self.wanted(call).names.is_empty()) {
            let strings = self.wanted(call).names;
            let strings = strings.iter().filter(|name| call.takes_string(name));
            if let ([only], true) = (strings.copied().collect::<Vec<_>>().as_slice(), has_text)
                && !given.contains_key(*only)
            {
                given.insert((*only).to_owned(), message.text().into());
            }
            call.arguments.extend(given);
            return Asked::Calls(asked);
        }
        if !has_text {
            return self.cannot(TaskState::Rejected, "say what to call");
        }
        let tools: Vec<_> = self.tools.iter().map(|tool| (tool, tool.schema())).collect();
        let Some((tool, argument)) = text_argument(&tools, self.asks_missing) else {
            return self.cannot(TaskState::Failed, "no tool of this agent takes a plain text");
        };
        let arguments = Map::from_iter([(argument.to_owned(), json!(message.text()))]);
        Asked::Calls(vec![AskedCall { tool, arguments, text: Some(argument) }])
    }

    /// The question for the missing and invalid arguments of a call. `None` if the call is complete, or has a mistake that no
    /// answer can correct.
    fn question_of(&self, call: &AskedCall<'_, T>) -> Option<Vec<Part>> {
        let Wanted { names, misfits } = self.wanted(call);
        if !self.asks_missing || names.is_empty() {
            return None;
        }
        let schema = call.tool.schema();
        let mut fitting = call.arguments.clone();
        fitting.retain(|name, _| !names.contains(&name.as_str()));
        let missing = required(schema).iter().filter(|name| !fitting.contains_key(**name)).count();
        // Validation lists the missing arguments first, one problem for each.
        let is_all = validate(schema, &fitting.into()).len() == missing;
        is_all.then(|| telling::question(call.tool, &names, &misfits))
    }

    /// The arguments that the client has to supply: the missing arguments and, if `asks_missing`, the invalid
    /// arguments. Only the MCP server checks the arguments of its tools.
    fn wanted(&self, call: &AskedCall<'a, T>) -> Wanted<'a> {
        let mut wanted = Wanted::default();
        let Some(schema) = call.tool.checked_schema() else { return wanted };
        let required = required(schema);
        let properties = schema.get("properties").and_then(Value::as_object);
        let names = properties.into_iter().flat_map(Map::keys).map(String::as_str);
        let optional = names.filter(|name| !required.contains(name));
        for name in required.iter().copied().chain(optional) {
            match call.arguments.get(name) {
                Some(value) if self.asks_missing => {
                    let member = Map::from_iter([(name.to_owned(), value.clone())]);
                    let misfits = validate(&telling::wanted(schema, &[name]), &member.into());
                    if !misfits.is_empty() {
                        wanted.names.push(name);
                        wanted.misfits.extend(misfits);
                    }
                }
                Some(_) => {}
                None if required.contains(&name) => wanted.names.push(name),
                None => {}
            }
        }
        wanted
    }

    /// The tool of this name. A tool of an MCP server has a second name, `server.name`.
    fn tool(&self, name: &str) -> Option<&'a T> {
        let named = self.tools.iter().find(|tool| tool.name() == name);
        named.or_else(|| self.tools.iter().find(|tool| tool.has_full_name(name)))
    }

    fn cannot(&self, state: TaskState, reason: &str) -> Asked<'a, T> {
        Asked::Said(state, telling::what_can_be_asked(self.tools, reason))
    }
}

/// The arguments that a call needs from the client.
#[derive(Default)]
struct Wanted<'a> {
    /// The names of the arguments.
    names: Vec<&'a str>,
    /// The mistakes in the arguments that are present.
    misfits: Vec<String>,
}

impl<T: Named> AskedCall<'_, T> {
    fn takes_string(&self, name: &str) -> bool {
        takes_string(self.tool.schema(), name)
    }
}
