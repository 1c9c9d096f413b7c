//! The tools `discover_agent` and `invoke_remote_agent`, which call an agent that the caller names. Anonymous callers
//! do not get these tools, and `MCP_REMOTES` limits the agents: otherwise this server would be an open proxy.

use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::super::deployment::Front;
use super::access::Scope;
use super::catalog::Catalog;
use super::outcome::refused;
use super::outer::Outer;
use crate::edge::service::cards::equip;
use crate::edge::service::clock::WorkerClock;
use crate::edge::service::outbound::Outbound;
use crate::edge::service::random::WorkerRandom;
use crate::edge::target::host_of;
use crate::executor::{Found, Redaction};
use crate::port::Outside;
use a2a::client::{
    Client, Observed, Outcome, Ports, RemoteCard, Settings, card_to_prompt, create_message,
};
use a2a::model::{ContextId, Secret, TaskId, read_own};
use a2a_agents::{NotSet, Values};
use mcp::agents::SKILL_KEY;
use mcp::model::{CallResult, Content};

impl Front {
    /// True if a request may name agents elsewhere.
    pub(super) fn may_call_out(&self, scope: &Scope<'_>) -> bool {
        let is_known = |caller: &crate::auth::Caller| !caller.is_anonymous();
        self.deployment.settings.development
            || scope.admitted.iter().any(|admitted| is_known(&admitted.caller))
    }

    /// Runs the tool `discover_agent`.
    pub(super) async fn discover_tool(
        &self,
        outer: &Outer,
        catalog: &Catalog<'_>,
        arguments: &Map<String, Value>,
    ) -> CallResult {
        let client = text(arguments, "url").and_then(|it| self.named(outer, catalog, it));
        let client = match client {
            Ok(client) => client,
            Err(reason) => return refused(&reason),
        };
        let Called { client, secrets } = client;
        match client.card().await {
            Ok(card) => described(&card, &secrets),
            Err(error) => refused(&secrets.text(&format!("there is no agent card: {error}"))),
        }
    }

    /// Runs the tool `invoke_remote_agent`; `depth` is the depth of calls between agents before this request.
    pub(super) async fn invoke_tool(
        &self,
        outer: &Outer,
        catalog: &Catalog<'_>,
        arguments: &Map<String, Value>,
        depth: u32,
    ) -> CallResult {
        let found = text(arguments, "url").and_then(|it| self.named(outer, catalog, it));
        let said = text(arguments, "message");
        let (Called { client, secrets }, said) = match (found, said) {
            (Ok(client), Ok(said)) => (client, said),
            (Err(reason), _) | (_, Err(reason)) => return refused(&reason),
        };
        let timeout_ms = match arguments.get("timeout") {
            None | Some(Value::Null) => self.deployment.settings.mcp.wait_ms,
            Some(timeout) => {
                match timeout.as_u64().filter(|ms| (1..=MAX_TIMEOUT_MS).contains(ms)) {
                    Some(timeout_ms) => timeout_ms,
                    None => {
                        let range = format!("from 1 to {MAX_TIMEOUT_MS}, in milliseconds");
                        return refused(&format!(
                            "the argument timeout must be a whole number {range}"
                        ));
                    }
                }
            }
        };
        let settings = client.settings();
        let timeout_ms = timeout_ms.min(settings.timeout_ms);
        let settings = Settings {
            timeout_ms,
            depth: depth.saturating_add(1),
            max_depth: self.deployment.settings.limits.max_depth,
            ..settings.clone()
        };
        let client = client.with_settings(settings);
        let given = |name: &str| text(arguments, name).ok().map(str::to_owned);
        let mut message = create_message(said, client.ports());
        message.task_id = given("task_id").and_then(TaskId::new);
        message.context_id = given("context_id").and_then(ContextId::new);
        if let Some(skill) = given("skill") {
            message.metadata = Some(Map::from_iter([(SKILL_KEY.to_owned(), json!(skill))]).into());
        }
        let observed = client.send_and_observe(message, || false).await;
        let text = secrets.text(&observed.text).into_owned();
        told(&Observed { text, ..observed }, timeout_ms)
    }

    /// A client of the agent with this URL or name.
    ///
    /// # Errors
    ///
    /// The reason why the agent may not be called.
    fn named(&self, outer: &Outer, catalog: &Catalog<'_>, named: &str) -> Result<Called, String> {
        let (mcp, is_free) = (&self.deployment.settings.mcp, self.deployment.settings.development);
        if named.contains("://") {
            let host = host_of(named).unwrap_or_default();
            if !is_free && !mcp.lets_call_host(&host) {
                return Err(format!("agents at {host} may not be called from here (MCP_REMOTES)"));
            }
            let settings = Settings { is_guarded: true, ..Settings::new(named) };
            return Ok(Called::of(equip(&self.env, Client::new(settings, ports()))));
        }
        let hosted = |slug: &str| {
            let mut admitted = catalog.scope.admitted.iter();
            let admitted = admitted.find(|admitted| admitted.agent.slug == slug)?;
            Some(Called::of(outer.client(slug, catalog.card(admitted)?)))
        };
        if let Some(client) = hosted(named) {
            return Ok(client);
        }
        let lets = is_free || mcp.lets_call_remote(named);
        let outside = self.outside().filter(|outside| lets && outside.remotes.has(named));
        let Some(outside) = outside else {
            let admitted = catalog.scope.admitted.iter();
            let known: Vec<&str> = admitted.map(|admitted| admitted.agent.slug.as_str()).collect();
            let shown: String = named.chars().take(80).collect();
            return Err(format!("there is no agent {shown}; there are: {}", known.join(", ")));
        };
        let secrets = Rc::new(Redaction::default());
        let (values, learning) = (Noted { outside, secrets: &secrets }, secrets.clone());
        let learn = Rc::new(move |token: &Secret| learning.note("TOKEN", token));
        let bound = |settings| settings;
        match outside.remotes.client(named, &values, ports(), &bound, learn)? {
            Found::Here { slug, .. } => {
                hosted(&slug).ok_or_else(|| format!("the agent {slug} does not let this caller in"))
            }
            Found::Elsewhere(client) => Ok(Called { client: equip(&self.env, client), secrets }),
        }
    }

    /// The [`Outside`] of the first agent that can run.
    fn outside(&self) -> Option<&Outside> {
        let mut runners = self.deployment.hosted().filter_map(|agent| agent.runner.as_ref().ok());
        runners.next().map(|runner| &runner.outside)
    }
}

/// The ports of clients of agents elsewhere.
fn ports() -> Ports {
    Ports { http: Rc::new(Outbound), clock: Rc::new(WorkerClock), random: Rc::new(WorkerRandom) }
}

/// An agent to call, and the secrets that are sent to the agent. The agent's answers might repeat these secrets.
struct Called {
    client: Client,
    secrets: Rc<Redaction>,
}

impl Called {
    /// An agent that gets no secrets of this Worker.
    fn of(client: Client) -> Self {
        Self { client, secrets: Rc::default() }
    }
}

/// The secrets and variables of an [`Outside`]; each secret that is read is added to the redaction.
struct Noted<'a> {
    outside: &'a Outside,
    secrets: &'a Redaction,
}

impl Values for Noted<'_> {
    fn value(&self, name: &str) -> Result<Secret, NotSet> {
        let value = self.outside.value(name)?;
        self.secrets.note(name, &value);
        Ok(value)
    }
}

/// A card as text and as data.
fn described(card: &RemoteCard, secrets: &Redaction) -> CallResult {
    let content = vec![Content::Text(secrets.text(&card_to_prompt(card)).into_owned())];
    let json = read_own(&secrets.text(&card.json.to_string())).ok();
    CallResult { content, structured: json, is_error: false }
}

/// The result of a call of an agent elsewhere.
fn told(observed: &Observed, timeout_ms: u64) -> CallResult {
    let Observed { outcome, text, task, error, .. } = observed;
    let name = match outcome {
        Outcome::Completed => "COMPLETED",
        Outcome::InputRequired => "INPUT_REQUIRED",
        Outcome::AuthRequired => "AUTH_REQUIRED",
        Outcome::Failed => "FAILED",
        Outcome::Canceled => "CANCELED",
        Outcome::Timeout => "TIMEOUT",
    };
    let asks = matches!(outcome, Outcome::InputRequired | Outcome::AuthRequired);
    let failure = match (outcome, error) {
        (Outcome::Completed | Outcome::InputRequired | Outcome::AuthRequired, _) => None,
        (Outcome::Timeout, _) => Some(format!("Timed out after {timeout_ms}ms")),
        (Outcome::Canceled, _) => Some("Task canceled".to_owned()),
        (Outcome::Failed, None) => Some("Task failed".to_owned()),
        // A failure to send or to follow is reported with its text.
        (Outcome::Failed, Some(_)) => {
            let (first, rest) = text.split_at_checked(1).unwrap_or_default();
            Some(format!("{}{rest}", first.to_ascii_uppercase()))
        }
    };
    let id = task.as_ref().map(|task| task.id.as_str());
    let structured = json!({
        "success": *outcome == Outcome::Completed,
        "outcome": name,
        "taskId": id,
        "contextId": task.as_ref().map(|task| task.context_id.as_ref().map_or("", ContextId::as_str)),
        "responseText": text,
        "error": failure,
    });
    let shown = match (&failure, id) {
        (Some(failure), _) if error.is_none() && !text.is_empty() => format!("{failure}: {text}"),
        (Some(failure), _) => failure.clone(),
        (None, Some(id)) if asks => {
            format!(
                "{text}\n\n(The agent waits for the answer. Call this tool again with the answer as message and with task_id {id}.)"
            )
        }
        (None, _) => text.clone(),
    };
    let content = vec![Content::Text(shown)];
    CallResult { content, structured: Some(structured), is_error: failure.is_some() }
}

fn text<'a>(arguments: &'a Map<String, Value>, name: &str) -> Result<&'a str, String> {
    let text = arguments.get(name).and_then(Value::as_str).map(str::trim);
    let text = text.filter(|text| !text.is_empty());
    text.ok_or_else(|| format!("the argument {name} must be a text that is not empty"))
}

/// The largest timeout of a call, in milliseconds.
const MAX_TIMEOUT_MS: u64 = 300_000;
