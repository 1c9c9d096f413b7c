//! The agents of this Worker, each made once per instance, with their access to the outside.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::Reflect;
use worker::Env;
use worker::wasm_bindgen::JsValue;
use worker::wasm_bindgen::prelude::wasm_bindgen;

use super::functions::register_functions;
use super::service::clock::WorkerClock;
use super::service::observer::ConsoleObserver;
use super::service::outbound::Outbound;
use super::service::secrets::{WorkerSecrets, WorkerVariables};
use crate::config::Settings;
use crate::executor::{Agents, Parts, Registry, Unreadable};
use crate::host::Host;
use crate::port::{Observation, Observer, Outside};
use a2a::model::decode::read_json;
use a2a_agents::access::{Access, RateLimit};
use a2a_agents::{AgentSource, AgentTexts, Checked, CheckedAgent, Index, Misfit};

/// The agents of the instance.
pub(super) fn agents(
    env: &Env,
    settings: &Settings,
) -> std::result::Result<Rc<Agents>, Unreadable> {
    let known = AGENTS.with(|cell| cell.borrow().clone());
    known.unwrap_or_else(|| {
        let agents = read(env, settings).map(Rc::new);
        AGENTS.with(|cell| cell.replace(Some(agents.clone())));
        agents
    })
}

fn read(env: &Env, settings: &Settings) -> std::result::Result<Agents, Unreadable> {
    let Settings { agents, development, default_agent, .. } = settings;
    let observer = Rc::new(ConsoleObserver::of(env));
    let outside = Outside {
        http: Rc::new(Outbound),
        secrets: Rc::new(WorkerSecrets { env: env.clone() }),
        variables: Rc::new(WorkerVariables { env: env.clone() }),
        observer: observer.clone(),
        // Replaced for each agent by its own values.
        remotes: Rc::default(),
        mcp: Rc::default(),
        clock: Rc::new(WorkerClock),
        agent: "".into(),
    };
    let (rules, registry) = (env.clone(), registry(*development)?);
    let parts = Parts {
        registry,
        outside,
        is_development: *development,
        check_access: Box::new(move |access| has_rate_limits(&rules, access)),
    };
    let agents = Agents::new(source(agents.as_deref())?, parts, default_agent.as_ref())?;
    let open = agents.open().collect::<Vec<_>>().join(", ");
    // In development, `npm start` itself warns about open agents.
    if !open.is_empty() && !*development {
        observer.observe(&Observation::AgentsOpen { agents: &open });
    }
    Ok(agents)
}

/// The tools and executors that this Worker registers: those of its crate and those of its entry module.
pub(super) fn registry(is_development: bool) -> std::result::Result<Rc<Registry>, Unreadable> {
    if let Some(known) = REGISTRY.with(|cell| cell.borrow().clone()) {
        return Ok(known);
    }
    let host = HOST.take().ok_or_else(|| Unreadable::of("the Worker has not begun"))?;
    let mut registry = host.registry();
    register_functions(&mut registry, is_development).map_err(Unreadable::of)?;
    let registry = Rc::new(registry);
    REGISTRY.with(|cell| cell.replace(Some(registry.clone())));
    Ok(registry)
}

/// The source of the agents: those that were given in development, else those of the variable `AGENTS`, else those of the module.
fn source(variable: Option<&str>) -> std::result::Result<Box<dyn AgentSource>, Unreadable> {
    if let Some(given) = GIVEN.with(|cell| cell.borrow().clone()) {
        return Ok(Box::new(given));
    }
    let Some(text) = variable else { return Ok(Box::new(ModuleAgents)) };
    Ok(Box::new(Checked::read(text).map_err(Unreadable::of)?))
}

/// The agents that the entry module of the Worker has passed to the engine.
struct ModuleAgents;

impl AgentSource for ModuleAgents {
    fn index(&self) -> serde_json::Result<Index> {
        let missing = || serde::de::Error::custom("the entry module has passed none to the engine");
        read_json(&agent_index().ok_or_else(missing)?)
    }

    fn agent(&self, slug: &str) -> serde_json::Result<Option<CheckedAgent>> {
        agent_text(slug).map(|text| read_json(&text)).transpose()
    }
}

/// Serves these agents from the next request on, in place of all others. Tasks under way keep the executors that they have.
pub(super) fn replace(texts: AgentTexts) {
    GIVEN.with(|cell| cell.replace(Some(texts)));
    AGENTS.take();
    renew();
}

/// Checks that the rate limits which an agent names are bound. A limit that is silently missing would be worse than no
/// limit.
///
/// # Errors
///
/// The missing binding.
fn has_rate_limits(env: &Env, access: &Access) -> std::result::Result<(), Misfit> {
    let get = |object: &JsValue, name: &str| Reflect::get(object, &JsValue::from_str(name));
    for RateLimit { binding, .. } in &access.rate_limits {
        let limit =
            get(&JsValue::from(env.clone()), binding).and_then(|found| get(&found, "limit"));
        if !limit.is_ok_and(|limit| limit.is_function()) {
            return Err(Misfit(format!(
                "`access.rate_limits` names {binding}, but this deployment has no such binding; add [[ratelimits]] with \
                 name = \"{binding}\" to wrangler.toml"
            )));
        }
    }
    Ok(())
}

/// Sets the host of this Worker, once per instance.
pub(super) fn set_host(host: Host) {
    HOST.with(|cell| cell.replace(Some(host)));
}

#[wasm_bindgen(module = "/js/agents.js")]
extern "C" {
    #[wasm_bindgen(js_name = agentIndex)]
    fn agent_index() -> Option<String>;

    #[wasm_bindgen(js_name = agentText)]
    fn agent_text(slug: &str) -> Option<String>;

    /// Has `js/hop.js` forget what it has read of the agents.
    fn renew();
}

thread_local! {
    static HOST: RefCell<Option<Host>> = const { RefCell::new(None) };
    static REGISTRY: RefCell<Option<Rc<Registry>>> = const { RefCell::new(None) };
    static GIVEN: RefCell<Option<AgentTexts>> = const { RefCell::new(None) };
    static AGENTS: RefCell<Option<std::result::Result<Rc<Agents>, Unreadable>>> =
        const { RefCell::new(None) };
}
