//! The agents of this Worker, read once per instance, with their access to the outside.

use std::cell::OnceCell;
use std::rc::Rc;

use js_sys::Reflect;
use worker::Env;
use worker::wasm_bindgen::JsValue;

use super::service::clock::WorkerClock;
use super::service::observer::ConsoleObserver;
use super::service::outbound::Outbound;
use super::service::secrets::{WorkerSecrets, WorkerVariables};
use crate::config::Settings;
use crate::executor::{Agents, Unreadable};
use crate::host::Host;
use crate::port::{Observation, Outside};
use a2a_agents::Misfit;
use a2a_agents::access::{Access, RateLimit};

/// The agents, read once per instance.
pub(super) fn agents(
    env: &Env,
    settings: &Settings,
) -> std::result::Result<Rc<Agents>, Unreadable> {
    let read = || {
        let Settings { agents, development, default_agent, .. } = settings;
        let outside = Outside {
            http: Rc::new(Outbound),
            secrets: Rc::new(WorkerSecrets { env: env.clone() }),
            variables: Rc::new(WorkerVariables { env: env.clone() }),
            observer: Rc::new(ConsoleObserver::of(env)),
            // Replaced for each agent by its own values.
            remotes: Rc::default(),
            mcp: Rc::default(),
            clock: Rc::new(WorkerClock),
            agent: "".into(),
        };
        HOST.with(|host| {
            let host = host.get().ok_or_else(|| Unreadable::of("the Worker has not begun"))?;
            let mut agents =
                host.agents(agents.as_deref(), &outside, *development, default_agent.as_ref())?;
            agents.refuse_all_but(|access| has_rate_limits(env, access));
            for (agent, Misfit(reason)) in agents.unusable() {
                outside.observer.observe(&Observation::AgentUnusable { agent, reason });
            }
            let open = agents.open().collect::<Vec<_>>().join(", ");
            // In development, `npm start` itself warns about open agents.
            if !open.is_empty() && !*development {
                outside.observer.observe(&Observation::AgentsOpen { agents: &open });
            }
            Ok(agents)
        })
    };
    AGENTS.with(|cell| cell.get_or_init(|| read().map(Rc::new)).clone())
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
    HOST.with(|cell| {
        let _ = cell.set(host);
    });
}

thread_local! {
    static HOST: OnceCell<Host> = const { OnceCell::new() };
    static AGENTS: OnceCell<std::result::Result<Rc<Agents>, Unreadable>> =
        const { OnceCell::new() };
}
