//! Makes the checked form of an agent from its file.

use super::card::{capabilities_of, card_of};
use super::definition::AgentDefinition;
use super::skills::{learned_of, registered_of, restricted_skills};
use crate::access::{needs_of, secrets_of};
use crate::tool::Tool;
use crate::{CheckedAgent, CheckedExecutor, HttpToolDefinition, Misfit, Need, Slug};
use a2a::model::to_json;

impl CheckedAgent {
    /// An agent as its file describes it, with a card that is derived from the file and from all tools. `shared`
    /// contains the HTTP tools among them.
    ///
    /// # Errors
    ///
    /// No agent file causes an error.
    pub(crate) fn new(
        definition: AgentDefinition,
        tools: &[&dyn Tool],
        shared: &[HttpToolDefinition],
    ) -> Result<Self, Misfit> {
        let values = definition.executor.needs(&definition.context(tools)).into_iter();
        let values = values.chain(needs_of(&definition.access)).map(|(by, name)| (by, vec![name]));
        let secrets = secrets_of(&definition.access).into_iter();
        let secrets = secrets.map(|(by, names)| (by, names.to_vec()));
        let needs = Need::collect(values.chain(secrets).collect());
        let card = to_json(&card_of(&definition, tools))?;
        let restricted = restricted_skills(&definition, tools)?;
        let registered = registered_of(&definition, tools);
        let learned = learned_of(&definition, tools);
        let capabilities = capabilities_of(&definition);
        let slug = Slug::parse(&definition.slug).map_err(Misfit)?;
        let AgentDefinition {
            default,
            development,
            access,
            dialects,
            accepts,
            mcp,
            retention,
            quota,
            executor,
            tools: own,
            ..
        } = definition;
        let named = executor.offer().map(|offer| offer.names).unwrap_or_default();
        let shared = shared.iter().filter(|tool| named.contains(&tool.name)).cloned();
        let tools = shared
            .chain(own)
            .map(|tool| HttpToolDefinition { file: String::new(), ..tool })
            .collect();
        let executor = CheckedExecutor {
            table: executor.written_table()?,
            kind: executor.kind,
            run: executor.run,
            place: None,
        };
        Ok(Self {
            slug,
            default,
            development,
            capabilities,
            access,
            dialects,
            accepts,
            mcp,
            retention,
            quota,
            executor,
            tools,
            needs,
            restricted,
            registered,
            learned,
            card,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Checked, Table};
    use a2a::model::UnixMillis;

    #[test]
    fn agents_are_read_as_they_were_embedded() {
        let about = "name = 'A'\ndescription = 'B'\nversion = '1'\n";
        let more = "
            default = true
            development = true
            accepts = 'declared'
            retention = { retention_ms = 0, max_finished = 7 }
            quota = { active_tasks = 5, stored_bytes = 1000000, streams = 9, tokens_per_day = 7, cost_per_day = 2.5 }
            [capabilities]
            streaming = false
            push_notifications = true
            extensions = [
                { uri = 'urn:a' },
                { uri = 'urn:b', description = 'd', required = true, params = { a = [1] } },
            ]
            [executor]
            kind = 'seats'
            [executor.run]
            recovery = 'restart'
            max_attempts = 4
            timeout_ms = 5_000_000_000
            idle_timeout_ms = 0
            [executor.seats]
            rows = [1, 2]";
        let bare = "executor = { kind = 'tools', tools = { names = [] } }";
        let agents = [bare, more].map(|text| {
            let parsed: AgentDefinition = toml::from_str(&format!("{about}{text}")).unwrap();
            let definition = AgentDefinition { slug: "a".to_owned(), ..parsed };
            CheckedAgent::new(definition, &[], &[]).unwrap()
        });
        let embedded = Checked::new(UnixMillis(1_767_603_601_000), agents.to_vec());
        let text = embedded.to_json().unwrap();
        assert_eq!(Checked::read(&text).unwrap(), embedded, "{text}");
        let executor = &embedded.agents[1].executor;
        assert_eq!(executor.kind, "seats");
        assert_eq!(Table::of(&json!({"rows": [1, 2]})).as_ref(), Ok(&executor.table));
    }

    #[test]
    fn what_an_agent_needs_is_embedded_with_who_needs_it() {
        let about = "name = 'A'\ndescription = 'B'\nversion = '1'\n";
        let tool = |name: &str, url: &str| -> HttpToolDefinition {
            toml::from_str(&format!("name = '{name}'\ndescription = 'b'\nurl = '{url}'")).unwrap()
        };
        let shared = [tool("near", "${BASE}/${KEY}"), tool("far", "${FAR}")];
        let made = shared.each_ref().map(|tool| crate::HttpTool::new(tool).unwrap());
        let tools = made.each_ref().map(|tool| -> &dyn Tool { tool });
        let embed = |text: &str| {
            let definition: AgentDefinition = toml::from_str(&format!("{about}{text}")).unwrap();
            let definition = AgentDefinition { slug: "a".to_owned(), ..definition };
            CheckedAgent::new(definition, &tools, &shared).unwrap()
        };
        let need = |name: &str, by: &[&str]| Need {
            name: name.to_owned(),
            by: by.iter().map(|by| (*by).to_owned()).collect(),
            or: Vec::new(),
        };
        let agent = embed(
            "executor = { kind = 'tools', tools = { names = ['near'] } }\n\
             [[tools]]\nname = 'own'\ndescription = 'b'\nurl = 'https://c.example/?k=${KEY}'",
        );
        let names: Vec<&str> = agent.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["near", "own"]);
        assert_eq!(
            agent.needs,
            [need("BASE", &["tool near"]), need("KEY", &["tool near", "tool own"])]
        );
        let text = serde_json::to_string(&agent).unwrap();
        assert_eq!(a2a::model::decode::read_json::<CheckedAgent>(&text).unwrap(), agent);
        let agent = embed(
            "executor = { kind = 'seats', seats = { a = 'x ${KEY}', b = ['${KEY}', '$${NO}'] } }",
        );
        assert_eq!(agent.needs, [need("KEY", &["executor seats"])]);
        let agent = embed(
            "executor = { kind = 'tools', tools = { names = ['far'] } }\n\
             [access.schemes.key]\nkind = 'api_key'\nname = 'X-Key'\n\
             callers = [{ id = 'a', secrets = ['A', 'A_NEW'] }, { id = 'b', secrets = ['B'] }]\n\
             [access.schemes.jwt]\nkind = 'jwt'\nissuer = '${FAR}'\naudience = ['${ME}']\ndiscover = true",
        );
        let either = Need { or: vec!["A_NEW".to_owned()], ..need("A", &["scheme key"]) };
        let others = [need("FAR", &["tool far", "scheme jwt"]), need("ME", &["scheme jwt"])];
        assert_eq!(agent.needs, [&others[..], &[either, need("B", &["scheme key"])]].concat());
        let text = serde_json::to_string(&agent).unwrap();
        assert_eq!(a2a::model::decode::read_json::<CheckedAgent>(&text).unwrap(), agent);
    }
}
