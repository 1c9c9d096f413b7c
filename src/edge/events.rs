//! The events of a Worker: what the macro `worker!` exports to the platform.

use worker::wasm_bindgen::JsValue;
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::worker_sys::web_sys;
use worker::{Context, Env, MessageBatch, Request, Response, Result, console_error, worker_sys};

use super::{agents, front, jobs};
use crate::edge::panics::caught;
use crate::host::Host;

/// Starts an instance of the Worker with this host. No request is answered before.
pub fn begin(host: Host) {
    agents::set_host(host);
}

/// The version of a2a-edge, which the checker of the agents must have, too.
#[wasm_bindgen(js_name = engineVersion)]
#[allow(unreachable_pub, reason = "what JavaScript calls must be public")]
pub fn engine_version() -> String {
    a2a_agents::VERSION.to_owned()
}

/// The result of an event for the platform.
#[doc(hidden)]
pub type Answered = std::result::Result<JsValue, JsValue>;

/// The event `fetch`: returns the promise of a response.
#[doc(hidden)]
pub fn serve(request: JsValue, env: JsValue) -> JsValue {
    front::serve(request, env)
}

/// The event `fetch`, answered by `answer`.
#[doc(hidden)]
pub async fn fetch(
    answer: impl AsyncFn(Request, Env, Context) -> Result<Response>,
    request: web_sys::Request,
    env: Env,
    context: worker_sys::Context,
) -> Answered {
    let answered =
        caught(async move { answer(Request::from(request), env, Context::new(context)).await });
    let response = match answered.await? {
        Ok(response) => response,
        Err(error) => {
            console_error!("{error}");
            Response::error("INTERNAL SERVER ERROR", 500)?
        }
    };
    Ok(web_sys::Response::from(response).into())
}

/// The event `scheduled`: the cron trigger has fired.
#[doc(hidden)]
pub async fn scheduled(env: Env) -> Answered {
    caught(jobs::expire(&env)).await?;
    Ok(JsValue::UNDEFINED)
}

/// The event `queue`: a batch of one of the queues.
#[doc(hidden)]
pub async fn queue(
    batch: worker_sys::MessageBatch,
    env: Env,
    context: worker_sys::Context,
) -> Answered {
    caught(jobs::consume(MessageBatch::from(batch), env, Context::new(context))).await?;
    Ok(JsValue::UNDEFINED)
}

/// Makes a crate a Worker: its start, for which the macro needs an expression that returns a [`Host`], and its events.
/// The class of the task objects is part of the library.
///
/// ```
/// use a2a_edge::Host;
///
/// fn host() -> Host {
///     Host::new()
/// }
///
/// a2a_edge::worker!(host());
/// # fn main() {}
/// ```
///
/// A Worker that answers some requests itself passes a function, which forwards all other requests:
///
/// ```
/// use a2a_edge::Host;
/// use a2a_edge::worker::{Context, Env, Request, Response, Result};
///
/// async fn fetch(request: Request, env: Env, context: Context) -> Result<Response> {
///     match request.path().as_str() {
///         "/hello" => Response::ok("hello"),
///         _ => a2a_edge::handle(request, env, context).await,
///     }
/// }
///
/// a2a_edge::worker!(Host::new(), fetch = fetch);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! worker {
    ($host:expr) => {
        $crate::worker!(@events $host);
        #[allow(unreachable_pub, reason = "what is exported to the platform must be public")]
        const _: () = {
            use $crate::worker::wasm_bindgen::JsValue;
            use $crate::worker::wasm_bindgen::prelude::wasm_bindgen;

            #[wasm_bindgen(js_name = "fetch", wasm_bindgen = $crate::worker::wasm_bindgen)]
            pub fn __a2a_edge_fetch(request: JsValue, env: JsValue, _context: JsValue) -> JsValue {
                $crate::edge::serve(request, env)
            }
        };
    };
    ($host:expr, fetch = $fetch:path) => {
        $crate::worker!(@events $host);
        #[allow(unreachable_pub, reason = "what is exported to the platform must be public")]
        const _: () = {
            use $crate::worker::wasm_bindgen::prelude::wasm_bindgen;

            #[wasm_bindgen(
                js_name = "fetch",
                wasm_bindgen = $crate::worker::wasm_bindgen,
                wasm_bindgen_futures = $crate::worker::wasm_bindgen_futures,
                js_sys = $crate::worker::js_sys
            )]
            pub async fn __a2a_edge_fetch(
                request: $crate::worker::worker_sys::web_sys::Request,
                env: $crate::worker::Env,
                context: $crate::worker::worker_sys::Context,
            ) -> $crate::edge::Answered {
                $crate::edge::fetch($fetch, request, env, context).await
            }
        };
    };
    (@events $host:expr) => {
        #[allow(unreachable_pub, reason = "what is exported to the platform must be public")]
        const _: () = {
            use $crate::worker::wasm_bindgen::prelude::wasm_bindgen;

            #[wasm_bindgen(start, wasm_bindgen = $crate::worker::wasm_bindgen)]
            pub fn __a2a_edge_start() {
                $crate::edge::begin($host);
            }

            #[wasm_bindgen(
                js_name = "scheduled",
                wasm_bindgen = $crate::worker::wasm_bindgen,
                wasm_bindgen_futures = $crate::worker::wasm_bindgen_futures,
                js_sys = $crate::worker::js_sys
            )]
            pub async fn __a2a_edge_scheduled(
                _: $crate::worker::worker_sys::ScheduledEvent,
                env: $crate::worker::Env,
                _: $crate::worker::worker_sys::ScheduleContext,
            ) -> $crate::edge::Answered {
                $crate::edge::scheduled(env).await
            }

            #[wasm_bindgen(
                js_name = "queue",
                wasm_bindgen = $crate::worker::wasm_bindgen,
                wasm_bindgen_futures = $crate::worker::wasm_bindgen_futures,
                js_sys = $crate::worker::js_sys
            )]
            pub async fn __a2a_edge_queue(
                batch: $crate::worker::worker_sys::MessageBatch,
                env: $crate::worker::Env,
                context: $crate::worker::worker_sys::Context,
            ) -> $crate::edge::Answered {
                $crate::edge::queue(batch, env, context).await
            }
        };
    };
}
