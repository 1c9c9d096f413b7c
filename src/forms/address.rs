//! The address of a task's object: the id of the object, or a name. The id that clients use for a task ([`TaskId`]) equals
//! the id of its object unless a client has chosen the task's id.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::command::Command;
use crate::auth::Caller;
use a2a::model::{TaskId, to_json};

/// The id of an object, in the form of the namespace: 64 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct ObjectId(TaskId);

impl ObjectId {
    /// Wraps an id; `None` for the empty text. The namespace checks the id when the object is looked up.
    pub(crate) fn new(text: impl Into<String>) -> Option<Self> {
        TaskId::new(text).map(Self)
    }

    /// The id of a task's object, for a task whose id no client has chosen.
    pub(crate) fn of_task(id: &TaskId) -> Self {
        Self(id.clone())
    }

    /// The id as text.
    pub(crate) fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// True if the text has the form of an id. Other texts cannot be the id of an object.
    pub(crate) fn is_well_formed(text: &str) -> bool {
        text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    }

    /// The task id that equals this id.
    pub(crate) fn task_id(&self) -> &TaskId {
        &self.0
    }

    /// The object's id as it is stored next to the id of its task: `None` if both are the same.
    pub(crate) fn beside(&self, task: &TaskId) -> Option<&Self> {
        (self.as_str() != task.as_str()).then_some(self)
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// The address of a task's object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TaskAddress {
    /// A new object, for a task that begins now.
    New,
    /// The new object with this id, for a task that begins now.
    NewObject(ObjectId),
    /// The object with this id.
    Object(ObjectId),
    /// The object with this name. The same name always leads to the same object.
    Named(String),
}

impl TaskAddress {
    /// The address of a task that a client names.
    pub(crate) fn of_task(id: &TaskId) -> Self {
        Self::Object(ObjectId::of_task(id))
    }

    /// The address of a send with an `Idempotency-Key`. Repetitions by the same owner to the same agent have the same
    /// address. Neither the agent nor the key contains a line break, so different owners never share an address.
    fn of_key(agent: &str, caller: &Caller, key: &str) -> Self {
        Self::Named(format!("{agent}\n{key}\n{}", caller.owner()))
    }

    /// The address of an owner's task whose id a client has chosen. The name never equals that of a key, since no slug
    /// begins with `[`.
    fn of_chosen(agent: &str, owner: &str, id: &TaskId) -> Self {
        // Strings can always be encoded.
        Self::Named(to_json(&(agent, owner, id)).unwrap_or_default())
    }

    /// The address for a command. If the task's id was chosen by a client, or if the command names a task, the address of
    /// that task; otherwise a new object, or with a key the object of that key, so that all repetitions of a send reach the
    /// same object.
    pub(crate) fn of_command<C>(
        command: &Command<C>,
        task: Option<&TaskId>,
        key: Option<&str>,
    ) -> Self {
        let Command { agent, caller, chosen_id, .. } = command;
        match (chosen_id, task, key) {
            (Some(id), _, _) => Self::of_chosen(agent, command.owner(), id),
            (None, Some(id), _) => Self::of_task(id),
            (None, None, Some(key)) => Self::of_key(agent, caller, key),
            (None, None, None) => Self::New,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::{OwnerId, Owners};
    use crate::operation::list_tasks::Scope;
    use a2a::TaskCall;
    use a2a::binding::{MediaType, Reply};
    use a2a::model::GetTaskRequest;

    #[test]
    fn an_object_is_stored_only_beside_a_task_of_another_id() {
        let object = ObjectId::new("0a").unwrap();
        for (task, beside) in [("0a", None), ("chosen", Some(&object))] {
            let task = TaskId::new(task).unwrap();
            assert_eq!(object.beside(&task), beside);
        }
    }

    #[test]
    fn a_chosen_id_is_that_of_an_owner_with_an_agent() {
        let request =
            GetTaskRequest { tenant: None, id: TaskId::new("x").unwrap(), history_length: None };
        let command = |agent: &str, caller: Caller, id: &str| {
            let (reply, call) = (Reply::rest(MediaType::Json), TaskCall::GetTask(request.clone()));
            let command = Command::new(agent.to_owned(), caller, reply, call);
            command.of_chosen_id(TaskId::new(id).unwrap())
        };
        let at = |command: &Command| TaskAddress::of_command(command, None, Some("key"));
        let alice = command("demo", Caller::new("jwt:alice"), "t\"1");
        let address = TaskAddress::Named(r#"["demo","jwt:alice","t\"1"]"#.to_owned());
        assert_eq!(at(&alice), address);
        let of_group = |id: &str| Caller { group: Some("@jwt:g".to_owned()), ..Caller::new(id) };
        for other in [
            command("demo", Caller::new("jwt:bob"), "t\"1"),
            command("other", Caller::new("jwt:alice"), "t\"1"),
            command("demo", Caller::new("jwt:alice"), "t\"2"),
            command("demo", of_group("jwt:alice"), "t\"1"),
        ] {
            assert_ne!(at(&other), address, "{other:?}");
        }
        let (one, two) = (of_group("jwt:alice"), of_group("jwt:bob"));
        assert_eq!(at(&command("demo", one, "t")), at(&command("demo", two, "t")));
        let scope = Scope::Operator(Owners::One(OwnerId::new("jwt:alice")));
        let operator = command("demo", Caller::new("key:ops"), "t\"1").of_operator();
        assert_eq!(at(&Command { scope, ..operator }), address, "an operator names the owner");
    }

    #[test]
    fn the_name_of_a_key_is_that_of_earlier_versions() {
        // Repetitions of a send must reach the object whose name an earlier version made.
        let address = TaskAddress::of_key("demo", &Caller::anonymous(), "k 1");
        assert_eq!(address, TaskAddress::Named("demo\nk 1\nanonymous".to_owned()));
    }

    #[test]
    fn a_key_is_that_of_its_owner_alone() {
        let named = |agent: &str, caller: &Caller| TaskAddress::of_key(agent, caller, "k");
        let of_group = |id: &str| Caller { group: Some("@jwt:g".to_owned()), ..Caller::new(id) };
        let alice = named("demo", &Caller::new("jwt:alice"));
        for (agent, caller) in [
            ("demo", Caller::new("jwt:bob")),
            ("other", Caller::new("jwt:alice")),
            ("demo", Caller::anonymous()),
            ("demo", of_group("jwt:alice")),
        ] {
            assert_ne!(named(agent, &caller), alice, "{agent} {}", caller.id);
        }
        let (one, other) = (of_group("jwt:alice"), of_group("jwt:bob"));
        assert_eq!(named("demo", &one), named("demo", &other), "a group repeats its sends");
    }
}
