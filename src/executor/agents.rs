//! The agents of this Worker, each with its policy, its cards and its executor.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use super::{Cards, Double, Learned, Registry, Runner, Taken};
use crate::auth::{Caller, Policy};
use crate::mcp::McpServers;
use crate::port::Outside;
use crate::remotes::Remotes;
use a2a::dialect::{Dialects, OlderFacts};
use a2a::error::Error;
use a2a::model::{AgentCapabilities, Message, Secret, UnixMillis};
use a2a_agents::access::Access;
use a2a_agents::{
    Accepts, Embedded, EmbeddedAgent, McpTools, Misfit, NotSet, Slug, Values, expand_card,
};

/// The agents of a Worker.
pub struct Agents(Vec<HostedAgent>);

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

impl Agents {
    /// Reads the agents from the text that the build script made, with executors from `registry`. Agents for
    /// development are included only if `is_development`. The agent with the slug `default`, if there is one, answers
    /// at `/`.
    ///
    /// # Errors
    ///
    /// If the text cannot be read. An agent whose executor cannot be made, or does not suit its file, is in the list, but cannot
    /// run.
    pub fn read(
        text: &str,
        registry: &Registry,
        outside: &Outside,
        is_development: bool,
        default: Option<&Slug>,
    ) -> Result<Self, Unreadable> {
        let Embedded { built_ms, mut agents, remotes, mcp } =
            Embedded::read(text).map_err(Unreadable::of)?;
        agents.retain(|agent| is_development || !agent.development);
        let is_chosen = |agent: &EmbeddedAgent| default == Some(&agent.slug);
        if agents.iter().any(is_chosen) {
            for agent in &mut agents {
                agent.default = is_chosen(agent);
            }
        }
        let card_date = UnixMillis(built_ms).http_date();
        let slugs = agents.iter().map(|agent| agent.slug.clone()).collect();
        let remotes = Rc::new(Remotes::new(remotes, slugs));
        let mcp = Rc::new(McpServers::new(mcp));
        let ready = agents.into_iter().map(|agent| {
            let settings = agent.executor.run;
            let (remotes, mcp) = (remotes.clone(), mcp.clone());
            let outside = Outside { remotes, mcp, ..outside.for_agent(&agent.slug) };
            let made = registry.make(&agent, &outside);
            let secret = |name: &str| outside.secrets.secret(name);
            let policy = Policy::new(&agent.slug, &agent.access, &outside, &secret, is_development);
            let card = expand_card(&agent.card, &VariablesOnly(&outside));
            let double = is_development.then(|| Double::of(&agent)).flatten();
            let facts = OlderFacts {
                state_transition_history: agent.capabilities.state_transition_history,
            };
            // Without the values for its card the agent is not usable, so its policy admits nobody.
            let policy = card.as_ref().map_err(Clone::clone).and(policy);
            let card = card.unwrap_or(agent.card);
            let cards = Rc::new(Cards::new(card, agent.restricted, facts, card_date.clone()));
            let learned = agent.learned;
            let learned = learned.map(|of| Learned::new(of, outside.clone(), cards.clone()));
            HostedAgent {
                slug: agent.slug,
                policy,
                is_default: agent.default,
                dialects: agent.dialects.spoken(&agent.access),
                accepts: agent.accepts,
                mcp_tools: agent.mcp.tools,
                capabilities: agent.capabilities.into(),
                cards: RefCell::new(cards),
                learned,
                runner: made
                    .map(|executor| Runner { executor, settings, outside })
                    .and_then(|runner| runner.check().map(|()| runner)),
                double,
            }
        });
        Ok(Self(ready.collect()))
    }

    /// The agent of this slug; without a slug, the default agent.
    pub fn find(&self, slug: Option<&str>) -> Option<&HostedAgent> {
        self.0.iter().find(|agent| match slug {
            Some(slug) => agent.slug == slug,
            None => agent.is_default,
        })
    }

    /// The paths at which agents answer, for example `/, /demo`.
    pub fn paths(&self) -> String {
        let path = |agent: &HostedAgent| format!("/{}", agent.slug);
        let paths: Vec<String> = self.0.iter().map(path).collect();
        format!("/, {}", paths.join(", "))
    }

    /// Blocks the agents whose access settings `check` rejects, because something is missing in the deployment.
    pub fn refuse_all_but(&mut self, check: impl Fn(&Access) -> Result<(), Misfit>) {
        for agent in &mut self.0 {
            let checked = agent.policy.as_ref().map_or(Ok(()), |policy| check(policy.access()));
            if let Err(misfit) = checked {
                agent.policy = Err(misfit);
            }
        }
    }

    /// The agents that cannot be called or cannot run, each with the reason.
    pub fn unusable(&self) -> impl Iterator<Item = (&str, &Misfit)> {
        self.0.iter().flat_map(|agent| {
            let misfits = [agent.policy.as_ref().err(), agent.runner.as_ref().err()];
            misfits.into_iter().flatten().map(|misfit| (agent.slug.as_str(), misfit))
        })
    }

    /// The agents whose executor cannot be made, each with the reason.
    pub fn without_executor(&self) -> impl Iterator<Item = (&str, &Misfit)> {
        let agents = self.0.iter();
        agents.filter_map(|agent| Some((agent.slug.as_str(), agent.runner.as_ref().err()?)))
    }

    /// The headers that hold the credentials of callers of any agent, in lower case, each once.
    pub fn credential_headers(&self) -> Vec<String> {
        let policies = self.0.iter().filter_map(|agent| agent.policy.as_ref().ok());
        let for_tasks = |policy: &Policy| policy.access().may_hand_authorization_to_tasks();
        let names = policies.flat_map(|policy| {
            let authorization = for_tasks(policy).then(|| "authorization".to_owned());
            policy.headers().into_iter().chain(authorization)
        });
        let mut names: Vec<String> = names.collect();
        names.sort();
        names.dedup();
        names
    }

    /// The agents that require no credentials.
    pub fn open(&self) -> impl Iterator<Item = &str> {
        let is_open = |agent: &&HostedAgent| {
            agent.policy.as_ref().is_ok_and(|policy| policy.access().is_anonymous())
        };
        self.0.iter().filter(is_open).map(|agent| agent.slug.as_str())
    }

    /// Every slug.
    pub fn slugs(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|agent| agent.slug.as_str())
    }
}

impl HostedAgent {
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
        // The cards that the build made can always be read.
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
        let outside = MemoryPlatform::default().outside();
        let mut registry = Registry::default();
        registry.add_executor("seats".to_owned(), Box::new(|table, _| seats(&table.read()?)));
        let default = default.map(|slug| Slug::parse(slug).unwrap());
        Agents::read(&text, &registry, &outside, is_development, default.as_ref())
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
        for (unusable, reason) in [
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
            let all = read(&[agent("a", "default", true.into()), unusable], true, None).unwrap();
            assert!(all.find(None).unwrap().runner.is_ok(), "the others can run");
            let broken: Vec<_> = all.unusable().collect();
            let [("b", misfit)] = broken.as_slice() else { panic!("{broken:?}") };
            assert!(misfit.0.contains(reason), "{misfit}");
        }
    }

    #[test]
    fn an_agent_of_which_nothing_says_who_may_call_it_is_for_development() {
        let all = [agent("a", "default", true.into()), agent("b", "access", json!({}))];
        let deployed = read(&all, false, None).unwrap();
        let [("b", misfit)] = deployed.unusable().collect::<Vec<_>>()[..] else { panic!("one") };
        assert!(misfit.0.contains("[access.schemes.<name>]"), "{misfit}");
        assert!(deployed.find(Some("b")).unwrap().policy.is_err());
        assert_eq!(read(&all, true, None).unwrap().unusable().count(), 0);
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
        for (agents, reason) in
            [(json!(5), "invalid type: integer `5`"), (json!({}), "missing field `slug`")]
        {
            let all = [agent("a", "default", true.into()), agents];
            let error = read(&all, true, None).err().unwrap().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
