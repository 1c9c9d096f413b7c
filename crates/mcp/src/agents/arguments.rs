//! The arguments of an agent's tool.

use a2a::client::DEPTH_KEY;
use a2a::model::{ContextId, Message, Part, Role, TaskId};
use serde_json::{Map, Value, json};

/// The arguments of an agent's tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arguments {
    /// The text for the agent.
    pub message: Option<String>,
    /// The data for the agent.
    pub data: Option<Value>,
    /// The task to continue.
    pub task_id: Option<TaskId>,
    /// The conversation of a new task.
    pub context_id: Option<ContextId>,
    /// The id of the message, by which a repeated message is recognized.
    pub message_id: Option<String>,
    /// The other arguments, which are the skill's own.
    pub own: Map<String, Value>,
}

/// The target of a tool.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Callee<'a> {
    /// An agent.
    Agent,
    /// A skill, with the schema of its own arguments if that is known.
    Skill(Option<&'a Value>),
}

impl Callee<'_> {
    /// True if an argument of this name belongs to the skill itself.
    fn owns(self, name: &str) -> bool {
        let Self::Skill(schema) = self else { return false };
        let properties = schema.and_then(|schema| schema.get("properties"));
        !KNOWN.contains(&name) || properties.is_some_and(|all| all.get(name).is_some())
    }
}

impl Arguments {
    /// Reads the arguments. A skill may have other arguments in addition to the known arguments, or replace known
    /// arguments by its own.
    ///
    /// # Errors
    ///
    /// The violated requirement.
    pub fn read(arguments: &Map<String, Value>, callee: Callee<'_>) -> Result<Self, String> {
        let text = |name: &str| match arguments.get(name).filter(|_| !callee.owns(name)) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => {
                Ok(Some(text.clone()).filter(|text| !text.trim().is_empty()))
            }
            Some(_) => Err(format!("the argument {name} must be a text")),
        };
        let is_unknown = |name: &&String| !KNOWN.contains(&name.as_str()) && !callee.owns(name);
        if let Some(name) = arguments.keys().find(is_unknown) {
            let shown: String = name.chars().take(60).collect();
            let known = KNOWN.join(", ");
            return Err(format!("there is no argument {shown}; there are: {known}"));
        }
        let own = arguments.iter().filter(|(name, _)| callee.owns(name));
        let own = own.map(|(name, value)| (name.clone(), value.clone()));
        Ok(Self {
            own: own.collect(),
            message: text("message")?,
            data: arguments
                .get("data")
                .filter(|data| !data.is_null() && !callee.owns("data"))
                .cloned(),
            task_id: text("task_id")?.and_then(TaskId::new),
            context_id: text("context_id")?.and_then(ContextId::new),
            message_id: text("message_id")?,
        })
    }

    /// True if the arguments contain content for the agent.
    pub fn say_something(&self) -> bool {
        self.message.is_some() || self.data.is_some()
    }

    /// The message to the agent: with this id unless the arguments contain an id, and for `skill` if a skill is called.
    /// For a new task of a skill, the message also contains the skill's own arguments as a call, in the form of calls of
    /// agents' tools, unless the arguments contain `data` or consist only of a text.
    pub fn to_message(self, id: impl FnOnce() -> String, skill: Option<&str>) -> Message {
        let is_call = self.data.is_none() && (self.message.is_none() || !self.own.is_empty());
        let call = skill.filter(|_| is_call && self.task_id.is_none());
        let call = call.map(|skill| json!({"tool": skill, "arguments": self.own}));
        let text = self.message.or_else(|| skill.filter(|_| call.is_some()).map(str::to_owned));
        let (text, data) = (text.map(Part::text), self.data.or(call).map(Part::data));
        let metadata = skill.map(|skill| Map::from_iter([(SKILL_KEY.to_owned(), json!(skill))]));
        Message {
            message_id: self.message_id.unwrap_or_else(id),
            context_id: self.context_id,
            task_id: self.task_id,
            role: Role::User,
            parts: text.into_iter().chain(data).collect(),
            metadata: metadata.map(Into::into),
            extensions: Vec::new(),
            reference_task_ids: Vec::new(),
        }
    }
}

/// Adds the depth to a message: the number of agent-to-agent calls before the message.
pub fn say_depth(message: &mut Message, depth: u32) {
    if depth > 0 {
        let mut members = message.metadata.take().unwrap_or_default().members();
        members.insert(DEPTH_KEY.to_owned(), json!(depth));
        message.metadata = Some(members.into());
    }
}

const KNOWN: [&str; 5] = ["message", "data", "task_id", "context_id", "message_id"];

/// The member of a message's metadata that names the skill for the message.
pub const SKILL_KEY: &str = "skillId";

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: Value) -> Result<Arguments, String> {
        Arguments::read(arguments.as_object().unwrap(), Callee::Agent)
    }

    #[test]
    fn arguments_become_a_message() {
        let arguments =
            read(json!({"message": "hello", "data": {"a": 1}, "task_id": "t", "context_id": "c",
            "message_id": "m"}));
        let message = arguments.unwrap().to_message(|| "new".to_owned(), Some("now"));
        let expected = json!({"messageId": "m", "contextId": "c", "taskId": "t", "role": "ROLE_USER",
            "parts": [{"text": "hello"}, {"data": {"a": 1}}], "metadata": {"skillId": "now"}});
        assert_eq!(serde_json::to_value(message).unwrap(), expected);
        let message = read(json!({"message": "x", "task_id": null, "context_id": " "})).unwrap();
        let mut message = message.to_message(|| "new".to_owned(), None);
        assert_eq!((message.message_id.as_str(), &message.context_id), ("new", &None));
        say_depth(&mut message, 3);
        assert_eq!(a2a::client::depth_of(&message), 3);
    }

    #[test]
    fn a_skill_is_called_by_its_own_arguments() {
        for (arguments, parts) in [
            (json!({}), json!([{"text": "add"}, {"data": {"tool": "add", "arguments": {}}}])),
            (
                json!({"a": 2, "b": 3}),
                json!([{"text": "add"}, {"data": {"tool": "add", "arguments": {"a": 2, "b": 3}}}]),
            ),
            (
                json!({"message": "now", "a": 2}),
                json!([{"text": "now"}, {"data": {"tool": "add", "arguments": {"a": 2}}}]),
            ),
            (json!({"message": "now"}), json!([{"text": "now"}])),
            (json!({"data": [1]}), json!([{"data": [1]}])),
            (json!({"message": "3", "task_id": "t"}), json!([{"text": "3"}])),
        ] {
            let read =
                Arguments::read(arguments.as_object().unwrap(), Callee::Skill(None)).unwrap();
            let message = read.to_message(|| "new".to_owned(), Some("add"));
            assert_eq!(serde_json::to_value(&message.parts).unwrap(), parts, "{arguments}");
        }
    }

    #[test]
    fn an_argument_of_the_skill_goes_before_one_of_all_agents() {
        let schema =
            json!({"type": "object", "properties": {"message": {"type": "integer"}, "data": {}}});
        let arguments = json!({"message": 5, "data": [1], "message_id": "m"});
        let read = Arguments::read(arguments.as_object().unwrap(), Callee::Skill(Some(&schema)));
        let message = read.unwrap().to_message(|| "new".to_owned(), Some("add"));
        let call = json!({"tool": "add", "arguments": {"message": 5, "data": [1]}});
        assert_eq!(message.message_id, "m");
        assert_eq!(
            serde_json::to_value(&message.parts).unwrap(),
            json!([{"text": "add"}, {"data": call}])
        );
    }

    #[test]
    fn arguments_that_do_not_fit_are_told_what_they_must_be() {
        for (arguments, told) in [
            (json!({"message": 5}), "the argument message must be a text"),
            (
                json!({"prompt": "x"}),
                "there is no argument prompt; there are: message, data, task_id, context_id, message_id",
            ),
        ] {
            assert_eq!(read(arguments).unwrap_err(), told);
        }
        assert!(!read(json!({"message": " "})).unwrap().say_something());
    }
}
