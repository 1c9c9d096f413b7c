//! The agents of this Worker, each with its policy, its cards and its executor.

use std::cell::{OnceCell, RefCell};
use std::fmt;
use std::rc::Rc;

use super::{Cards, Double, Learned, Registry, Runner, Taken};
use crate::auth::{Caller, Policy};
use crate::mcp::McpServers;
use crate::port::{Observation, Outside};
use crate::remotes::Remotes;
use a2a::dialect::{Dialects, OlderFacts};
use a2a::error::Error;
use a2a::model::{AgentCapabilities, Message, Secret, UnixMillis};
use a2a_agents::access::Access;
use a2a_agents::{
    Accepts, AgentSource, CheckedAgent, Index, IndexedAgent, McpTools, Misfit, NotSet, QuotaTable,
    RetentionTable, Slug, Trace, Values, expand_card,
};

/// The agents of a Worker. Each is made when it is first needed.
pub struct Agents {
    index: Vec<Entry>,
    /// The headers of requests that the access rules of any agent read.
    headers: Vec<String>,
    /// The retentions that the files of agents name, by slug; in milliseconds, 0 for ever.
    retention_of: Rc<[(String, u64)]>,
    maker: Maker,
}

/// An agent of the index.
struct Entry {
    indexed: IndexedAgent,
    /// The agent; `None` if its text cannot be read.
    made: OnceCell<Option<HostedAgent>>,
}

/// Makes agents.
struct Maker {
    source: Box<dyn AgentSource>,
    parts: Parts,
    /// What an agent may ask for, apart from its own values.
    remotes: Rc<Remotes>,
    mcp: Rc<McpServers>,
    card_date: String,
}

/// The parts of a deployment of which agents are made.
pub struct Parts {
    /// The tools and executors that agent files may name.
    pub registry: Rc<Registry>,
    /// The access to the outside.
    pub outside: Outside,
    /// True if agents for development are served.
    pub is_development: bool,
    /// Checks that the deployment has what the access rules of an agent need.
    pub check_access: CheckAccess,
}

/// A check of access rules. Its error names what the deployment lacks; nobody may call the agent then.
pub type CheckAccess = Box<dyn Fn(&Access) -> Result<(), Misfit>>;

/// One agent, ready to answer requests.
pub struct HostedAgent {
    /// The name of the agent: its path and its tenant.
    pub slug: Slug,
    /// True if the agent answers at `/`, too.
    pub is_default: bool,
    /// The optional parts of the protocol that the agent supports.
    pub capabilities: AgentCapabilities,
    /// The versions of the protocol, other than 1.0, that the agent speaks.
    pub dialects: Dialects,
    /// Which messages the agent accepts.
    pub accepts: Accepts,
    /// The MCP tools that the agent is offered as.
    pub mcp_tools: McpTools,
    /// What each caller may have at a time.
    pub quota: QuotaTable,
    /// The current cards of the agent.
    cards: RefCell<Rc<Cards>>,
    /// The skills that the agent copies from other servers, if its file says so.
    pub learned: Option<Learned>,
    /// The access policy of the agent; or the reason why nobody may call the agent: a secret is not set, or the agent file has
    /// no access rules.
    pub policy: Result<Policy, Misfit>,
    /// The runner of the agent; or the reason why the agent cannot run: its executor could not be made, or the agent file does
    /// not suit the executor.
    pub runner: Result<Runner, Misfit>,
    /// The agent as a test double, if it is a scripted agent and the Worker runs in development.
    pub double: Option<Double>,
}

impl Parts {
    /// The parts of a deployment without tools and executors of its own, which has all that access rules need.
    pub fn of(outside: Outside) -> Self {
        Self {
            registry: Rc::default(),
            outside,
            is_development: false,
            check_access: Box::new(|_| Ok(())),
        }
    }
}

impl Agents {
    /// The agents of a source. Agents for development are included only where `parts` say so. The agent with the slug `default`,
    /// if there is one, answers at `/`.
    ///
    /// # Errors
    ///
    /// If the index of the source cannot be read. An agent whose executor cannot be made, or does not suit its file, is in the
    /// list, but cannot run.
    pub fn new(
        source: Box<dyn AgentSource>,
        parts: Parts,
        default: Option<&Slug>,
    ) -> Result<Self, Unreadable> {
        let Index { built_ms, mut agents, headers, remotes, mcp } =
            source.index().map_err(Unreadable::of)?;
        agents.retain(|agent| parts.is_development || !agent.development);
        let is_chosen = |agent: &IndexedAgent| default == Some(&agent.slug);
        if agents.iter().any(is_chosen) {
            for agent in &mut agents {
                agent.default = is_chosen(agent);
            }
        }
        let slugs = agents.iter().map(|agent| agent.slug.clone()).collect();
        let maker = Maker {
            source,
            parts,
            remotes: Rc::new(Remotes::new(remotes, slugs)),
            mcp: Rc::new(McpServers::new(mcp)),
            card_date: UnixMillis(built_ms).http_date(),
        };
        let own =
            |agent: &IndexedAgent| Some((agent.slug.to_string(), agent.retention.retention_ms?));
        let retention_of = agents.iter().filter_map(own).collect();
        let entry = |indexed| Entry { indexed, made: OnceCell::new() };
        Ok(Self { index: agents.into_iter().map(entry).collect(), headers, retention_of, maker })
    }

    /// The agents of a checked form that is one JSON object.
    #[cfg(test)]
    pub(crate) fn read(text: &str, parts: Parts) -> Result<Self, Unreadable> {
        let source = a2a_agents::Checked::read(text).map_err(Unreadable::of)?;
        Self::new(Box::new(source), parts, None)
    }

    /// The agent of this slug; without a slug, the default agent.
    pub fn find(&self, slug: Option<&str>) -> Option<&HostedAgent> {
        let entry = self.index.iter().find(|entry| match slug {
            Some(slug) => entry.indexed.slug == slug,
            None => entry.indexed.default,
        });
        self.made(entry?)
    }

    fn made<'a>(&'a self, entry: &'a Entry) -> Option<&'a HostedAgent> {
        entry.made.get_or_init(|| self.maker.make(&entry.indexed)).as_ref()
    }

    /// Every agent. All of them are made.
    pub fn all(&self) -> impl Iterator<Item = &HostedAgent> {
        self.index.iter().filter_map(|entry| self.made(entry))
    }

    /// The paths at which agents answer, for example `/, /demo`; of many agents the first ones.
    pub fn paths(&self) -> String {
        let shown = self.slugs().take(MAX_LISTED).map(|slug| format!(", /{slug}"));
        let more = self.index.len().saturating_sub(MAX_LISTED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        format!("/{}{more}", shown.collect::<String>())
    }

    /// The agents whose executor cannot be made, each with the reason. All agents are made.
    pub fn without_executor(&self) -> impl Iterator<Item = (&str, &Misfit)> {
        self.all().filter_map(|agent| Some((agent.slug.as_str(), agent.runner.as_ref().err()?)))
    }

    /// The tools and executors that the Worker registers.
    pub fn registry(&self) -> &Registry {
        &self.maker.parts.registry
    }

    /// The headers of requests that the access rules of any agent read, in lower case, each once.
    pub fn headers(&self) -> &[String] {
        &self.headers
    }

    /// The agents that require no credentials.
    pub fn open(&self) -> impl Iterator<Item = &str> {
        let open = self.index.iter().filter(|entry| entry.indexed.open);
        open.map(|entry| entry.indexed.slug.as_str())
    }

    /// The agents whose files have a table `[retention]` of their own.
    pub fn retentions(&self) -> impl Iterator<Item = (&str, RetentionTable)> {
        let own = self.index.iter().filter(|entry| !entry.indexed.retention.is_default());
        own.map(|entry| (entry.indexed.slug.as_str(), entry.indexed.retention))
    }

    /// The retentions that the files of agents name, for the limits of their tasks.
    pub fn retention_of(&self) -> Rc<[(String, u64)]> {
        self.retention_of.clone()
    }

    /// Every slug.
    pub fn slugs(&self) -> impl Iterator<Item = &str> {
        self.index.iter().map(|entry| entry.indexed.slug.as_str())
    }
}

impl Maker {
    /// Makes an agent. Reports to the observer why it cannot be called or cannot run. `None` if its text cannot be read, which
    /// is reported, too.
    fn make(&self, indexed: &IndexedAgent) -> Option<HostedAgent> {
        let observer = &self.parts.outside.observer;
        let agent = indexed.slug.as_str();
        let report = |Misfit(reason): &Misfit| {
            observer.observe(&Observation::AgentUnusable { agent, reason });
        };
        let read = self.source.agent(agent).map_err(|error| Misfit(error.to_string()));
        let read = read.and_then(|read| read.map(|read| self.host(read, indexed)).transpose());
        let hosted = read.inspect_err(report).ok().flatten()?;
        hosted.unusable().for_each(report);
        Some(hosted)
    }

    fn host(&self, agent: CheckedAgent, indexed: &IndexedAgent) -> Result<HostedAgent, Misfit> {
        let Parts { registry, outside, is_development, check_access } = &self.parts;
        let agent = registry.join(agent)?;
        let mut settings = agent.executor.run;
        settings.trace.get_or_insert(if *is_development { Trace::Full } else { Trace::Names });
        let (remotes, mcp) = (self.remotes.clone(), self.mcp.clone());
        let outside = Outside { remotes, mcp, ..outside.for_agent(&agent.slug) };
        let made = registry.make(&agent, &outside);
        let secret = |name: &str| outside.secrets.secret(name);
        let policy = Policy::new(&agent.slug, &agent.access, &outside, &secret, *is_development);
        let card = expand_card(&agent.card, &VariablesOnly(&outside));
        let double = is_development.then(|| Double::of(&agent)).flatten();
        let facts =
            OlderFacts { state_transition_history: agent.capabilities.state_transition_history };
        // Without the values for its card, or without what its access rules need, nobody may call the agent.
        let policy = card.as_ref().map_err(Clone::clone).and(policy);
        let policy = policy.and_then(|policy| check_access(policy.access()).map(|()| policy));
        let card = card.unwrap_or(agent.card);
        let cards = Rc::new(Cards::new(card, agent.restricted, facts, self.card_date.clone()));
        let learned = agent.learned;
        let learned = learned.map(|of| Learned::new(of, outside.clone(), cards.clone()));
        Ok(HostedAgent {
            slug: agent.slug,
            policy,
            is_default: indexed.default,
            dialects: agent.dialects.spoken(&agent.access),
            accepts: agent.accepts,
            mcp_tools: agent.mcp.tools,
            quota: agent.quota,
            capabilities: agent.capabilities.into(),
            cards: RefCell::new(cards),
            learned,
            runner: made
                .map(|executor| Runner { executor, settings, outside })
                .and_then(|runner| runner.check().map(|()| runner)),
            double,
        })
    }
}

/// The maximum number of agents whose paths an error lists.
const MAX_LISTED: usize = 20;

impl HostedAgent {
    /// The reasons why the agent cannot be called or cannot run.
    pub fn unusable(&self) -> impl Iterator<Item = &Misfit> {
        [self.policy.as_ref().err(), self.runner.as_ref().err()].into_iter().flatten()
    }

    /// The current cards of the agent.
    pub fn cards(&self) -> Rc<Cards> {
        self.cards.borrow().clone()
    }

    /// Checks that the agent accepts the media types of the message's parts from this caller.
    ///
    /// # Errors
    ///
    /// [`Error::PartNotAccepted`], if the agent file limits messages to the media types on the card.
    pub fn check_parts(&self, message: &Message, caller: &Caller) -> Result<(), Error> {
        match self.accepts {
            Accepts::Any => Ok(()),
            Accepts::Declared => self.cards().check_parts(message, caller),
        }
    }

    /// Replaces the learned skills on the cards. `taken` holds, for each part, the skills of its source, if they were
    /// fetched.
    pub fn show_learned(&self, taken: &[Option<Taken>], now: UnixMillis) {
        // The cards that the checker made can always be read.
        let Some(Ok(cards)) = self.learned.as_ref().map(|learned| learned.cards(taken, now)) else {
            return;
        };
        let shown = self.cards();
        let is_same = shown.card == cards.card
            && shown.restricted == cards.restricted
            && shown.is_partial == cards.is_partial;
        if !is_same {
            self.cards.replace(Rc::new(cards));
        }
    }
}

/// The variables of the deployment without its secrets, for texts that everybody may read.
struct VariablesOnly<'a>(&'a Outside);

impl Values for VariablesOnly<'_> {
    fn value(&self, name: &str) -> Result<Secret, NotSet> {
        self.0.variable(name).map(Secret::new)
    }
}

/// The reason why the agents cannot be read, for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable(String);

impl Unreadable {
    /// Wraps a cause of any type.
    pub(crate) fn of(cause: impl fmt::Display) -> Self {
        Self(cause.to_string())
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the agents cannot be read: {}", self.0)
    }
}

impl std::error::Error for Unreadable {}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::auth::Caller;
    use crate::twins::MemoryPlatform;
    use a2a::dialect::Dialect;
    use a2a::error::Error;
    use a2a_agents::Checked;

    fn agent(slug: &str, key: &str, value: Value) -> Value {
        let capabilities =
            json!({"streaming": true, "push_notifications": false, "extended_agent_card": false});
        let executor = json!({"kind": "script", "table": {"rules": []}, "run": {}});
        let mut agent = json!({"slug": slug, "default": false, "development": false,
            "access": {"open": true}, "capabilities": capabilities, "executor": executor, "card": format!("card of {slug}")});
        agent[key] = value;
        agent
    }

    #[derive(serde::Deserialize)]
    struct Hall {
        rows: u32,
    }

    fn seats(hall: &Hall) -> Result<std::rc::Rc<dyn crate::executor::AgentExecutor>, Misfit> {
        Err(Misfit(format!("`rows` must be 1 or more, got {}", hall.rows)))
    }

    fn read(
        agents: &[Value],
        is_development: bool,
        default: Option<&str>,
    ) -> Result<Agents, Unreadable> {
        let text = json!({"built_ms": 1_767_603_601_000_i64, "agents": agents}).to_string();
        let mut registry = Registry::default();
        registry.add_executor(
            "seats".to_owned(),
            Box::new(|executor, _| {
                let read = executor.table.read().and_then(|hall| seats(&hall));
                read.map_err(|misfit| executor.misfit_of_table(misfit))
            }),
        );
        let parts = Parts {
            registry: Rc::new(registry),
            is_development,
            ..Parts::of(MemoryPlatform::default().outside())
        };
        let default = default.map(|slug| Slug::parse(slug).unwrap());
        let source = Checked::read(&text).map_err(Unreadable::of)?;
        Agents::new(Box::new(source), parts, default.as_ref())
    }

    /// The agents that cannot be called or cannot run, each with the reasons.
    fn unusable(agents: &Agents) -> Vec<(&str, &Misfit)> {
        agents
            .all()
            .flat_map(|agent| agent.unusable().map(|misfit| (agent.slug.as_str(), misfit)))
            .collect()
    }

    #[test]
    fn agents_are_found_by_their_slug_and_one_of_them_without() {
        let all = [
            agent("a", "default", false.into()),
            agent("b", "default", true.into()),
            agent("c", "development", true.into()),
        ];
        let deployed = read(&all, false, None).unwrap();
        assert_eq!(deployed.find(None).unwrap().slug, "b");
        let a = deployed.find(Some("a")).unwrap();
        assert_eq!(
            (a.cards().card.as_str(), a.cards().date.as_str()),
            ("card of a", "Mon, 05 Jan 2026 09:00:01 GMT")
        );
        assert!(deployed.find(Some("c")).is_none());
        assert!(deployed.find(Some("nobody")).is_none());
        let development = read(&all, true, Some("c")).unwrap();
        assert_eq!(development.find(None).unwrap().slug, "c");
        assert!(!development.find(Some("b")).unwrap().is_default);
    }

    #[test]
    fn an_agent_whose_executor_cannot_be_made_cannot_run() {
        let executor = |kind: &str, table: Value| {
            agent("b", "executor", json!({"kind": kind, "table": table, "run": {}}))
        };
        for (broken, reason) in [
            (
                executor("oracle", json!({})),
                "there is no kind of executor \"oracle\"; there are: tools, script, remote, http, model, seats",
            ),
            (
                executor("tools", json!({"names": ["none_such"]})),
                "there is no tool \"none_such\"; there are: none",
            ),
            (executor("seats", json!({})), "[executor.seats] missing field `rows`"),
            (executor("seats", json!({"rows": 0})), "[executor.seats] `rows` must be 1 or more"),
            (
                executor("tools", json!({"tools": []})),
                "`executor.tools.tools` is no key of this table; there are: names, ask_missing, mcp",
            ),
            (
                executor("script", json!({"rules": [{"then": [{"do": "dance"}]}]})),
                "there is no step \"dance\"; there are: working",
            ),
        ] {
            let all = read(&[agent("a", "default", true.into()), broken], true, None).unwrap();
            assert!(all.find(None).unwrap().runner.is_ok(), "the others can run");
            let broken = unusable(&all);
            let [("b", misfit)] = broken.as_slice() else { panic!("{broken:?}") };
            assert!(misfit.0.contains(reason), "{misfit}");
        }
    }

    #[test]
    fn an_agent_of_which_nothing_says_who_may_call_it_is_for_development() {
        let all = [agent("a", "default", true.into()), agent("b", "access", json!({}))];
        let deployed = read(&all, false, None).unwrap();
        let [("b", misfit)] = unusable(&deployed)[..] else { panic!("one") };
        assert!(misfit.0.contains("[access.schemes.<name>]"), "{misfit}");
        assert!(deployed.find(Some("b")).unwrap().policy.is_err());
        assert_eq!(unusable(&read(&all, true, None).unwrap()).len(), 0);
    }

    #[test]
    fn a_caller_of_whom_something_is_known_has_a_card_of_its_own() {
        let restricted = json!([{"permissions": ["p"], "position": 0, "skill": {"id": "s"}}]);
        let mut agent = agent("a", "restricted", restricted);
        agent["card"] = json!(r#"{"skills":[]}"#);
        let agents = read(&[agent], true, None).unwrap();
        let agent = agents.find(Some("a")).unwrap();
        let held = Caller { permissions: vec!["p".to_owned()], ..Caller::new("key:x") };
        assert_eq!(
            agent.cards().extended(&held, Dialect::V1).unwrap(),
            r#"{"skills":[{"id":"s"}]}"#
        );
        assert_eq!(
            agent.cards().extended(&Caller::new("key:x"), Dialect::V1).unwrap(),
            r#"{"skills":[]}"#
        );
        // Nobody has permissions without credentials. Should that ever change, this card still requires credentials.
        let anonymous = Caller { permissions: held.permissions, ..Caller::anonymous() };
        let refused = agent.cards().extended(&anonymous, Dialect::V1);
        assert_eq!(refused, Err(Error::ExtendedAgentCardNotConfigured));
    }

    #[test]
    fn an_agent_whose_card_lacks_a_variable_lets_nobody_in() {
        let card = r#"{"securitySchemes":{"s":{"x":"${NOWHERE}"}}}"#;
        let agents = read(&[agent("a", "card", card.into())], true, None).unwrap();
        let agent = agents.find(Some("a")).unwrap();
        assert_eq!(agent.cards().card, card);
        let misfit = agent.policy.as_ref().err().unwrap();
        assert!(misfit.0.contains("NOWHERE"), "{misfit}");
    }

    #[test]
    fn agents_that_cannot_be_read_are_an_error_and_not_none() {
        for (agents, reason) in [
            (json!(5), "agents[1]: must be an object, got 5"),
            (json!({}), "agents[1].slug: is required"),
        ] {
            let all = [agent("a", "default", true.into()), agents];
            let error = read(&all, true, None).err().unwrap().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
