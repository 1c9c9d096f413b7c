//! What the build embeds of an agent, and the Worker reads: one shape for both.

use std::collections::BTreeMap;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::card::{capabilities_of, card_of};
use super::definition::{AgentDefinition, Capabilities, RunSettings};
use super::slug::check_slug;
use crate::accepts::Accepts;
use crate::access::{Access, needs_of, secrets_of};
use crate::dialects::Dialects;
use crate::learned::LearnedSkills;
use crate::skills::{learned_of, restricted_skills};
use crate::tool::Tool;
use crate::{
    HttpToolDefinition, McpServer, McpTable, Misfit, Problem, Remote, RestrictedSkill, Table,
};
use a2a::model::UnixMillis;

/// What is embedded: every agent, and the remote agents and MCP servers that they may call by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Embedded {
    /// When it was built, in milliseconds since the epoch: no card is older or newer.
    pub built_ms: i64,
    /// The agents, by the names of their files.
    pub agents: Vec<EmbeddedAgent>,
    /// The remote agents that have names, by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remotes: Vec<Remote>,
    /// The MCP servers that have names, by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mcp: Vec<McpServer>,
}

/// What is embedded of an agent: what is needed to answer. All else is in the card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EmbeddedAgent {
    /// Its path and tenant.
    #[serde(deserialize_with = "read_slug")]
    pub slug: String,
    /// Whether it answers at `/` too.
    pub default: bool,
    /// Whether it is served only where `DEVELOPMENT` is set.
    pub development: bool,
    /// The optional parts of the protocol that it supports.
    pub capabilities: Capabilities,
    /// Who may call.
    #[serde(default, skip_serializing_if = "Access::is_default")]
    pub access: Access,
    /// The older versions of the protocol that it speaks.
    #[serde(default, skip_serializing_if = "Dialects::is_default")]
    pub dialects: Dialects,
    /// Which messages it takes.
    #[serde(default, skip_serializing_if = "Accepts::is_default")]
    pub accepts: Accepts,
    /// What clients of MCP see of it.
    #[serde(default, skip_serializing_if = "McpTable::is_default")]
    pub mcp: McpTable,
    /// What answers.
    pub executor: EmbeddedExecutor,
    /// Its HTTP tools: those that it shares with others, and its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<HttpToolDefinition>,
    /// The secrets and variables that it needs, for the scripts that name those that are missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
    /// Its skills that need permissions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub restricted: Vec<RestrictedSkill>,
    /// Its skills that are learned while the Worker runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learned: Option<LearnedSkills>,
    /// Its card as JSON, in which [`ORIGIN`](a2a::binding::discovery::ORIGIN) stands for the origin.
    pub card: String,
}

/// What is embedded of an executor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EmbeddedExecutor {
    /// The kind, by which the Worker finds the constructor.
    pub kind: String,
    /// What the constructor gets.
    pub table: Table,
    /// How runs are bounded, and what happens to interrupted ones.
    pub run: RunSettings,
    /// Where the agent file says so, for a kind that the Worker registers: what is wrong with it is found when the Worker starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<ExecutorPlace>,
}

/// Where an agent file says what its executor is made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutorPlace {
    /// The file, as `agents/demo.toml`.
    pub file: String,
    /// The line of `kind`, and those of the keys of the table, as `seats.rows`.
    pub lines: BTreeMap<String, usize>,
}

impl EmbeddedExecutor {
    /// Why it cannot be made, if the Worker has no such kind: with the place, if that is known.
    pub fn misfit_of_kind(&self, Misfit(fix): Misfit) -> Misfit {
        self.misfit_at("kind", &fix).unwrap_or(Misfit(fix))
    }

    /// Why it cannot be made from its table: with the place, if that is known.
    pub fn misfit_of_table(&self, Misfit(fix): Misfit) -> Misfit {
        // What is wrong names a key, if it is about one, and not where that stands.
        let mut named = fix.split('`').skip(1).step_by(2).map(|name| format!(".{name}"));
        let lines = || self.place.iter().flat_map(|place| place.lines.keys());
        let key = named.find_map(|name| lines().find(|key| key.ends_with(&name)));
        let key = key.map_or(self.kind.as_str(), String::as_str);
        let placed = self.misfit_at(key, &fix);
        placed.unwrap_or_else(|| Misfit(format!("[executor.{}] {fix}", self.kind)))
    }

    fn misfit_at(&self, key: &str, fix: &str) -> Option<Misfit> {
        let ExecutorPlace { file, lines } = self.place.as_ref()?;
        // An agent without a table of the kind has the kind alone.
        let line = lines.get(key).or_else(|| lines.get("kind"))?;
        let problem = Problem::at(format!("executor.{key}"), fix);
        Some(problem.in_file(file).at_line(*line).into())
    }
}

/// A secret or a variable that an agent needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Need {
    /// Its name.
    pub name: String,
    /// Who needs it, as `tool weather`, `executor seats` or `scheme key`.
    pub by: Vec<String>,
    /// The names of secrets any of which does instead, while one replaces the other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub or: Vec<String>,
}

impl Need {
    /// Those of a list in which each has who needs it and its names, one of which has to be set; all that do the same
    /// once.
    pub(crate) fn collect(needs: Vec<(String, Vec<String>)>) -> Vec<Self> {
        let mut collected: Vec<Self> = Vec::new();
        for (by, names) in needs {
            let Some((name, or)) = names.split_first() else { continue };
            match collected.iter_mut().find(|need| need.name == *name && need.or == or) {
                Some(need) if need.by.contains(&by) => {}
                Some(need) => need.by.push(by),
                None => collected.push(Self { name: name.clone(), by: vec![by], or: or.to_vec() }),
            }
        }
        collected
    }
}

impl Embedded {
    /// Agents with the date of their build.
    pub fn new(built_at: UnixMillis, agents: Vec<EmbeddedAgent>) -> Self {
        Self { built_ms: built_at.0, agents, remotes: Vec::new(), mcp: Vec::new() }
    }

    /// The same with these remote agents.
    #[must_use]
    pub fn with_remotes(self, remotes: Vec<Remote>) -> Self {
        Self { remotes, ..self }
    }

    /// The same with these MCP servers.
    #[must_use]
    pub fn with_mcp(self, mcp: Vec<McpServer>) -> Self {
        Self { mcp, ..self }
    }

    /// The JSON that is embedded.
    ///
    /// # Errors
    ///
    /// None that an agent file could cause: all of its keys are text.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    /// The agents of a JSON that [`to_json`](Self::to_json) made.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong with it.
    pub fn read(json: &str) -> serde_json::Result<Self> {
        a2a::model::read_own(json)
    }
}

impl EmbeddedAgent {
    /// An agent as its file describes it, with the card that follows from that and from the tools there are. `shared`
    /// are those of the tools that are HTTP tools.
    ///
    /// # Errors
    ///
    /// None that an agent file could cause.
    pub fn new(
        definition: AgentDefinition,
        tools: &[&dyn Tool],
        shared: &[HttpToolDefinition],
    ) -> Result<Self, Misfit> {
        let values = definition.executor.executor.needs(&definition, tools).into_iter();
        let values = values.chain(needs_of(&definition.access)).map(|(by, name)| (by, vec![name]));
        let secrets = secrets_of(&definition.access).into_iter();
        let secrets = secrets.map(|(by, names)| (by, names.to_vec()));
        let needs = Need::collect(values.chain(secrets).collect());
        let card = serde_json::to_string(&card_of(&definition, tools))?;
        let restricted = restricted_skills(&definition, tools)?;
        let learned = learned_of(&definition, tools);
        let capabilities = capabilities_of(&definition);
        let AgentDefinition {
            slug,
            default,
            development,
            access,
            dialects,
            accepts,
            mcp,
            executor,
            tools: own,
            ..
        } = definition;
        let named = executor.executor.offer().map(|offer| offer.names).unwrap_or_default();
        let shared = shared.iter().filter(|tool| named.contains(&tool.name)).cloned();
        let tools = shared
            .chain(own)
            .map(|tool| HttpToolDefinition { file: String::new(), ..tool })
            .collect();
        let executor = EmbeddedExecutor {
            kind: executor.executor.kind().to_owned(),
            table: executor.executor.table()?,
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
            executor,
            tools,
            needs,
            restricted,
            learned,
            card,
        })
    }
}

/// A slug that may be one: what is given to a deployment as text was not checked by a build.
fn read_slug<'de, D: Deserializer<'de>>(text: D) -> Result<String, D::Error> {
    let slug = String::deserialize(text)?;
    check_slug(&slug).map_err(|rule| D::Error::custom(format!("`slug` {rule}, got {slug:?}")))?;
    Ok(slug)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn agents_are_read_as_they_were_embedded() {
        let about = "name = 'A'\ndescription = 'B'\nversion = '1'\n";
        let more = "
            default = true
            development = true
            accepts = 'declared'
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
            EmbeddedAgent::new(definition, &[], &[]).unwrap()
        });
        let embedded = Embedded::new(UnixMillis(1_767_603_601_000), agents.to_vec());
        let text = embedded.to_json().unwrap();
        assert_eq!(Embedded::read(&text).unwrap(), embedded, "{text}");
        let executor = &embedded.agents[1].executor;
        assert_eq!(executor.kind, "seats");
        assert_eq!(Table::of(&json!({"rows": [1, 2]})).as_ref(), Ok(&executor.table));
    }

    #[test]
    fn a_reserved_slug_is_refused() {
        let agent = |slug: &str| {
            let executor = json!({"kind": "tools", "table": {}, "run": RunSettings::default()});
            json!({"slug": slug, "default": true, "development": false, "card": "{}",
                "capabilities": Capabilities::default(), "executor": executor})
        };
        for slug in ["mcp", "_dev", "Demo"] {
            let text = json!({"built_ms": 0, "agents": [agent(slug)]}).to_string();
            let refused = Embedded::read(&text).unwrap_err().to_string();
            assert!(refused.contains("`slug` must") && refused.contains(slug), "{refused}");
        }
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
            EmbeddedAgent::new(definition, &tools, &shared).unwrap()
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
        assert_eq!(serde_json::from_str::<EmbeddedAgent>(&text).unwrap(), agent);
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
        assert_eq!(serde_json::from_str::<EmbeddedAgent>(&text).unwrap(), agent);
    }
}
