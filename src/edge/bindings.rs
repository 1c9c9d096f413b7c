//! What the Worker is bound to, each name in one place, and what is read once per instance.

use std::cell::OnceCell;
use std::rc::Rc;

use worker::{D1Database, Env, ObjectNamespace, Result};

use crate::config::{ConfigError, Settings};
use crate::executor::Agents;

/// The namespace of the task objects.
pub(super) fn tasks(env: &Env) -> Result<ObjectNamespace> {
    env.durable_object("TASKS")
}

/// The database: counters of tools, and the index of tasks.
pub(super) fn database(env: &Env) -> Result<D1Database> {
    env.d1("DB")
}

/// The secret `WEBHOOK_JWK`, if it is set: the private JWK with which the JWTs of notifications are signed.
pub(super) fn webhook_jwk(env: &Env) -> Option<String> {
    let jwk = env.secret("WEBHOOK_JWK").ok()?.to_string();
    (!jwk.trim().is_empty()).then_some(jwk)
}

/// The settings, read once per instance: variables do not change while one runs.
pub(super) fn settings(env: &Env) -> std::result::Result<Rc<Settings>, ConfigError> {
    SETTINGS.with(|cell| {
        let read = || {
            let variable = |name: &str| env.var(name).ok().map(|value| value.to_string());
            Settings::read(variable).map(Rc::new)
        };
        cell.get_or_init(read).clone()
    })
}

/// The agents, made ready once per instance.
pub(super) fn agents(settings: &Settings) -> Rc<Agents> {
    AGENTS.with(|cell| {
        let Settings { development, default_agent, .. } = settings;
        let embedded = || Rc::new(Agents::embedded(*development, default_agent.as_deref()));
        cell.get_or_init(embedded).clone()
    })
}

thread_local! {
    static SETTINGS: OnceCell<std::result::Result<Rc<Settings>, ConfigError>> =
        const { OnceCell::new() };
    static AGENTS: OnceCell<Rc<Agents>> = const { OnceCell::new() };
}
