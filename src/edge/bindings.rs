//! The bindings of the Worker, each name in one place, and the values that are read from them once per instance.

use std::cell::OnceCell;
use std::rc::Rc;

use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{self, JsValue};
use worker::{D1Database, Env, ObjectNamespace, Result};

use crate::config::{ConfigError, Settings};
use a2a::model::Secret;
use js_sys::{Array, Reflect};

/// The namespace of the task objects.
pub(super) fn tasks(env: &Env) -> Result<ObjectNamespace> {
    env.durable_object("TASKS")
}

/// The database: counters of tools, and the index of tasks.
pub(super) fn database(env: &Env) -> Result<D1Database> {
    env.d1("DB")
}

/// The secret with the private keys of this server, and its name: `SIGNING_JWK`, or `WEBHOOK_JWK` if `SIGNING_JWK` is
/// not set.
pub(super) fn signing_jwk(env: &Env) -> Option<(&'static str, String)> {
    let secret = |name| {
        let jwk = env.secret(name).ok()?.to_string();
        (!jwk.trim().is_empty()).then_some((name, jwk))
    };
    secret("SIGNING_JWK").or_else(|| secret("WEBHOOK_JWK"))
}

/// The secret `STATE_KEY`, if it is set: the keys that encrypt the credentials which clients send for tasks.
pub(super) fn state_key(env: &Env) -> Option<Secret> {
    let keys = env.secret("STATE_KEY").ok()?.to_string();
    (!keys.trim().is_empty()).then(|| Secret::new(keys))
}

/// The secret `OTLP_HEADERS`, if it is set: the headers of requests with spans.
pub(super) fn otlp_headers(env: &Env) -> String {
    env.secret("OTLP_HEADERS").map(|headers| headers.to_string()).unwrap_or_default()
}

/// The queue of webhooks with unsent notifications.
pub(super) const WEBHOOKS: &str = "WEBHOOKS";

/// The queue of notifications that were given up.
pub(super) const DEAD_LETTERS: &str = "DEAD_LETTERS";

/// The queue of finished tasks to delete.
pub(super) const DELETIONS: &str = "DELETIONS";

/// Puts texts into a queue, each as a message: at most a hundred, with a total of 256 KB.
pub(super) async fn enqueue(env: &Env, queue: &str, texts: &[String]) -> Result<()> {
    let texts: Array = texts.iter().map(|text| JsValue::from_str(text)).collect();
    platform_enqueue(&JsValue::from(env.clone()), queue, &texts).await?;
    Ok(())
}

#[wasm_bindgen(module = "/js/queues.js")]
extern "C" {
    #[wasm_bindgen(js_name = enqueue, catch)]
    async fn platform_enqueue(
        env: &JsValue,
        queue: &str,
        texts: &Array,
    ) -> std::result::Result<JsValue, JsValue>;
}

/// True if static assets are bound to the Worker: the console. `[assets]` in wrangler.toml names the binding.
pub(super) fn has_console(env: &Env) -> bool {
    Reflect::has(&JsValue::from(env.clone()), &JsValue::from_str("ASSETS")).unwrap_or(false)
}

/// The settings, read once per instance: variables do not change while an instance runs.
pub(super) fn settings(env: &Env) -> std::result::Result<Rc<Settings>, ConfigError> {
    SETTINGS.with(|cell| {
        let read = || {
            let variable = |name: &str| env.var(name).ok().map(|value| value.to_string());
            Settings::read(variable).map(Rc::new)
        };
        cell.get_or_init(read).clone()
    })
}

/// The settings, if this instance has read them.
pub(super) fn known_settings() -> Option<Rc<Settings>> {
    SETTINGS.with(|cell| cell.get().and_then(|read| read.as_ref().ok()).cloned())
}

thread_local! {
    static SETTINGS: OnceCell<std::result::Result<Rc<Settings>, ConfigError>> =
        const { OnceCell::new() };
}

/// The largest number of subrequests that a Worker may wait for at once: the platform's limit.
pub(super) const ANSWERS_AT_ONCE: usize = 6;
