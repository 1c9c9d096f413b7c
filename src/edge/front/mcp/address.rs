//! The addresses of agents and tasks as resources: `a2a://<host>/<agent>` and `a2a://<host>/<agent>/tasks/<task>`, and the ids
//! of tasks in the tasks extension: `<agent>.<task>`.

use a2a::model::TaskId;

/// The place of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The origin of this server, as in cards.
    pub(super) origin: String,
    /// The slug of the agent.
    pub(super) slug: String,
}

/// The resource that an address names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Named<'a> {
    /// The card of the agent with this slug.
    Card(&'a str),
    /// A task of the agent with this slug.
    Task(&'a str, &'a str),
}

impl Place {
    /// The address of the agent.
    pub(super) fn address(&self) -> String {
        format!("{SCHEME}{}/{}", host(&self.origin), self.slug)
    }

    /// The address of one of its tasks.
    pub(super) fn address_of(&self, task: &TaskId) -> String {
        format!("{}/tasks/{task}", self.address())
    }

    /// The id of one of its tasks in the tasks extension.
    pub(super) fn id_of(&self, task: &TaskId) -> String {
        format!("{}.{task}", self.slug)
    }
}

/// The pattern of the addresses of tasks.
pub(super) fn template(origin: &str) -> String {
    format!("{SCHEME}{}/{{agent}}/tasks/{{task_id}}", host(origin))
}

/// The resource that an address at this server names.
pub(super) fn named<'a>(uri: &'a str, origin: &str) -> Option<Named<'a>> {
    let below = uri.strip_prefix(SCHEME)?.strip_prefix(host(origin))?.strip_prefix('/')?;
    match below.split_once('/') {
        None => Some(Named::Card(below)),
        Some((slug, rest)) => {
            let task = rest.strip_prefix("tasks/")?;
            let is_id = !task.is_empty() && !task.contains('/');
            is_id.then_some(Named::Task(slug, task))
        }
    }
}

/// The agent and the task in an id of the tasks extension; a plain id of A2A names no agent.
pub(super) fn task_named(id: &str) -> (Option<&str>, &str) {
    match id.split_once('.') {
        Some((slug, task)) => (Some(slug), task),
        None => (None, id),
    }
}

fn host(origin: &str) -> &str {
    origin.split_once("://").map_or(origin, |(_, host)| host)
}

const SCHEME: &str = "a2a://";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_what_they_were_made_of() {
        let (origin, slug) = ("https://a.example:8443".to_owned(), "demo".to_owned());
        let place = Place { origin, slug };
        let task = TaskId::new("t:1").unwrap();
        assert_eq!(place.address(), "a2a://a.example:8443/demo");
        assert_eq!(named(&place.address(), &place.origin), Some(Named::Card("demo")));
        let address = place.address_of(&task);
        assert_eq!(address, "a2a://a.example:8443/demo/tasks/t:1");
        assert_eq!(named(&address, &place.origin), Some(Named::Task("demo", "t:1")));
        assert_eq!(task_named(&place.id_of(&task)), (Some("demo"), "t:1"));
        assert_eq!(task_named("5f"), (None, "5f"));
        for uri in [
            "",
            "a2a://b.example/demo",
            "a2a://a.example:8443",
            "https://a.example:8443/demo",
            "a2a://a.example:8443/demo/tasks/",
            "a2a://a.example:8443/demo/tasks/a/b",
            "a2a://a.example:8443/demo/other/a",
        ] {
            assert_eq!(named(uri, &place.origin), None, "{uri}");
        }
        assert_eq!(template(&place.origin), "a2a://a.example:8443/{agent}/tasks/{task_id}");
    }
}
