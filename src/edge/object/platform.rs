//! Time, timers, background work and identifiers inside a task object.

use std::rc::Rc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use uuid::Uuid;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use worker::{Delay, Env, State, console_error, js_sys};

use super::followers;
use crate::edge::bindings;
use crate::edge::development::received;
use crate::edge::service::clock::now;
use crate::edge::service::counters::D1Counters;
use crate::edge::service::index::D1Index;
use crate::edge::service::outbound;
use crate::port::{HttpAnswer, HttpRequest, Platform, TaskIndex, WebhookJob};
use a2a::model::{Message, TaskId, UnixMillis};
use a2a_agents::tool::Counters;

/// The platform of one task object.
pub(in crate::edge) struct ObjectPlatform {
    state: Rc<State>,
    counters: D1Counters,
    index: D1Index,
    env: Env,
    is_development: bool,
}

impl ObjectPlatform {
    pub(in crate::edge) fn new(state: Rc<State>, env: Env, is_development: bool) -> Self {
        let index = D1Index { env: env.clone() };
        let counters = D1Counters { env: env.clone() };
        Self { state, counters, index, env, is_development }
    }
}

impl Platform for ObjectPlatform {
    fn now(&self) -> UnixMillis {
        now()
    }

    fn sleep(&self, millis: u64) -> LocalBoxFuture<'static, ()> {
        Box::pin(Delay::from(Duration::from_millis(millis)))
    }

    fn set_alarm(&self, at: UnixMillis) {
        let storage = self.state.storage();
        // Called here and now, so that the alarm is set together with the rows just written.
        let set = storage.as_raw().unchecked_ref::<AlarmStorage>().set_alarm(at.0 as f64);
        self.state.wait_until(async move {
            if let Err(error) = JsFuture::from(set).await {
                console_error!("the alarm could not be set: {error:?}");
            }
        });
    }

    fn fetch(&self, request: HttpRequest) -> LocalBoxFuture<'static, Result<HttpAnswer, String>> {
        Box::pin(outbound::send(request))
    }

    fn spawn(&self, future: LocalBoxFuture<'static, ()>) {
        self.state.wait_until(future);
    }

    fn new_id(&self) -> String {
        Uuid::new_v4().to_string()
    }

    fn counters(&self) -> &dyn Counters {
        &self.counters
    }

    fn publish(&self, frame: &dyn Fn() -> Option<String>, is_over: bool) {
        followers::publish(&self.state, frame, is_over);
    }

    fn enqueue(&self, job: WebhookJob) -> LocalBoxFuture<'static, Result<(), String>> {
        let env = self.env.clone();
        Box::pin(async move {
            let text = serde_json::to_string(&job).map_err(|error| error.to_string())?;
            let sent = bindings::enqueue(&env, bindings::WEBHOOKS, text).await;
            sent.map_err(|error| error.to_string())
        })
    }

    fn secret_bytes(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        let halves = [Uuid::new_v4(), Uuid::new_v4()].map(Uuid::into_bytes);
        for (byte, random) in bytes.iter_mut().zip(halves.iter().flatten()) {
            *byte = *random;
        }
        bytes
    }

    fn random(&self) -> f64 {
        js_sys::Math::random()
    }

    fn index(&self) -> &dyn TaskIndex {
        &self.index
    }

    fn sync(&self) -> LocalBoxFuture<'static, ()> {
        let storage = self.state.storage();
        Box::pin(async move {
            if let Err(error) = storage.sync().await {
                console_error!("syncing failed: {error}");
            }
        })
    }

    fn note_message(&self, agent: &str, task: &TaskId, message: &Message) {
        if self.is_development {
            received::note_message(agent, task, message);
        }
    }

    fn log_error(&self, text: &str) {
        console_error!("{text}");
    }
}

#[wasm_bindgen]
extern "C" {
    type AlarmStorage;

    /// Sets the alarm for this instant, in milliseconds since the epoch.
    #[wasm_bindgen(method, js_name = setAlarm)]
    fn set_alarm(this: &AlarmStorage, at: f64) -> js_sys::Promise;
}
