//! The ports of a task inside its object.

use std::cell::Cell;
use std::rc::{Rc, Weak};

use futures_util::future::LocalBoxFuture;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use worker::{Env, State, js_sys};

use super::followers::{self, SocketCounts};
use super::{InMemory, TaskObject, let_go};
use crate::edge::bindings;
use crate::edge::panics::PanicError;
use crate::edge::peers::WorkerPeers;
use crate::edge::poll::poll_now;
use crate::edge::post::Poster;
use crate::edge::service::clock::WorkerClock;
use crate::edge::service::counters::D1Counters;
use crate::edge::service::index::{Index, ObjectIndex};
use crate::edge::service::observer::ConsoleObserver;
use crate::edge::service::outbound::Outbound;
use crate::edge::service::random::WorkerRandom;
use crate::edge::service::vault::WorkerVault;
use crate::forms::address::ObjectId;
use crate::forms::queue::QueuedJob;
use crate::panic::Catching;
use crate::port::{Followers, Observation, Observer, Ports, Runtime, WebhookJob, WebhookQueue};
use crate::push::{Notification, Report};
use a2a::model::{UnixMillis, to_json};

/// All ports of the task of one object except its storage. An open session owns them.
///
/// `shard` is the shard of the owner's index that has the row of the task; the storage sets it.
pub(super) fn ports(of: &TaskObject, object: ObjectId, shard: Rc<Cell<u32>>) -> Ports {
    let TaskObject { state, env, session, counts } = of;
    let (index, observer) = (Index::of(env), ConsoleObserver::of(env));
    let counts_tasks = bindings::settings(env).is_ok_and(|settings| settings.task_statistics);
    let object_index = ObjectIndex { index, object: object.clone(), shard, counts: counts_tasks };
    let index = Rc::new(object_index);
    Ports {
        clock: Rc::new(WorkerClock),
        random: Rc::new(WorkerRandom),
        runtime: Rc::new(ObjectRuntime { state: state.clone(), observer }),
        followers: Rc::new(Sockets {
            state: state.clone(),
            session: Rc::downgrade(session),
            counts: counts.clone(),
        }),
        queue: Rc::new(Queue { env: env.clone(), object }),
        index: index.clone(),
        usage: index.clone(),
        webhook_list: index,
        http: Rc::new(Outbound),
        peers: Rc::new(WorkerPeers { env: env.clone() }),
        counters: Rc::new(D1Counters { env: env.clone() }),
        vault: Rc::new(WorkerVault { env: env.clone() }),
        observer: Rc::new(observer),
    }
}

/// The output of a future of an object. If the future panics, the object is restarted: its values in memory may be locked or
/// incomplete, those in its storage are not. The platform then rejects all calls of the object that are under way.
pub(super) async fn caught<T>(
    state: &State,
    future: LocalBoxFuture<'_, T>,
) -> Result<T, PanicError> {
    Catching::new(future).await.map_err(|_| PanicError).inspect_err(|_| {
        restart(state.as_raw());
    })
}

/// Lets the object continue with a future after its events are answered. If the future panics, the object is restarted.
pub(super) fn go_on(state: &Rc<State>, future: LocalBoxFuture<'static, ()>) {
    let kept = state.clone();
    state.wait_until(async move {
        // The log has the message of the panic.
        let _ = caught(&kept, future).await;
    });
}

/// The runtime of one object.
struct ObjectRuntime {
    state: Rc<State>,
    observer: ConsoleObserver,
}

impl Runtime for ObjectRuntime {
    fn spawn(&self, future: LocalBoxFuture<'static, ()>) {
        if let Err(rest) = poll_now(future) {
            go_on(&self.state, rest);
        }
    }

    fn set_alarm(&self, at: UnixMillis) {
        let storage = self.state.storage();
        // The alarm is set without an await before it, so that it commits together with the rows just written.
        let set = storage.as_raw().unchecked_ref::<AlarmStorage>().set_alarm(at.0 as f64);
        let observer = self.observer;
        let set = async move {
            if let Err(error) = JsFuture::from(set).await {
                let (what, reason) = ("setting the alarm", format!("{error:?}"));
                observer.observe(&Observation::PlatformFailed { what, reason: &reason });
            }
        };
        go_on(&self.state, Box::pin(set));
    }

    fn alarm(&self) -> LocalBoxFuture<'static, Option<UnixMillis>> {
        let (storage, observer) = (self.state.storage(), self.observer);
        Box::pin(async move {
            let found = storage.get_alarm().await;
            let found = found.unwrap_or_else(|error| {
                let (what, reason) = ("reading the alarm", error.to_string());
                observer.observe(&Observation::PlatformFailed { what, reason: &reason });
                None
            });
            found.map(UnixMillis)
        })
    }

    fn keep_until_durable(&self) {
        // The promise is passed on directly, without a Rust future. If it fails, the platform reports this and resets
        // the object.
        let storage = self.state.storage();
        let durable = storage.as_raw().unchecked_ref::<SyncStorage>().sync();
        self.state.as_raw().unchecked_ref::<Keeper>().wait_until(&durable);
    }

    fn durable(&self) -> LocalBoxFuture<'static, ()> {
        let storage = self.state.storage();
        let durable = storage.as_raw().unchecked_ref::<SyncStorage>().sync();
        Box::pin(async {
            // If it fails, the platform reports this and resets the object.
            let _ = JsFuture::from(durable).await;
        })
    }
}

/// The sockets of the followers of one task.
struct Sockets {
    state: Rc<State>,
    session: Weak<InMemory>,
    counts: Rc<SocketCounts>,
}

impl Followers for Sockets {
    fn publish(&self, frame: &dyn Fn() -> Option<String>, is_over: bool) {
        if followers::publish(&self.state, &self.counts, frame) && is_over {
            let (state, session) = (self.state.clone(), self.session.clone());
            let closed = async move {
                followers::close_late(&state).await;
                if let Some(session) = session.upgrade() {
                    let_go(&session);
                }
            };
            go_on(&self.state, Box::pin(closed));
        }
    }
}

/// The queue for webhooks with unsent notifications.
struct Queue {
    env: Env,
    object: ObjectId,
}

impl WebhookQueue for Queue {
    fn enqueue(&self, job: WebhookJob) -> LocalBoxFuture<'static, Result<(), String>> {
        let env = self.env.clone();
        let object = self.object.beside(&job.task).cloned();
        let job = QueuedJob { job, object };
        Box::pin(async move {
            let text = to_json(&job).map_err(|error| error.to_string())?;
            let sent = bindings::enqueue(&env, bindings::WEBHOOKS, &[text]).await;
            sent.map_err(|error| error.to_string())
        })
    }

    fn attempt(
        &self,
        agent: String,
        notification: Notification,
    ) -> LocalBoxFuture<'static, Report> {
        let (env, object) = (self.env.clone(), self.object.clone());
        Box::pin(async move {
            let settings = match bindings::settings(&env) {
                Ok(settings) => settings,
                Err(error) => {
                    return Report { error: Some(error.to_string()), ..Report::default() };
                }
            };
            let patience_ms = settings.limits.webhook_timeout_ms;
            let observer = ConsoleObserver::of(&env);
            let poster = Poster { env, settings, observer };
            poster.attempt(&agent, &notification, &object, patience_ms, None).await
        })
    }
}

#[wasm_bindgen(module = "/js/panic.js")]
extern "C" {
    /// Restarts the object with this state, soon.
    fn restart(state: &JsValue);
}

#[wasm_bindgen]
extern "C" {
    type SyncStorage;
    type Keeper;

    type AlarmStorage;

    /// Settles when everything written so far is durable.
    #[wasm_bindgen(method)]
    fn sync(this: &SyncStorage) -> js_sys::Promise;

    /// Keeps the object in memory until the promise settles.
    #[wasm_bindgen(method, js_name = waitUntil)]
    fn wait_until(this: &Keeper, promise: &js_sys::Promise);

    /// Sets the alarm for this instant, in milliseconds since the epoch.
    #[wasm_bindgen(method, js_name = setAlarm)]
    fn set_alarm(this: &AlarmStorage, at: f64) -> js_sys::Promise;
}
