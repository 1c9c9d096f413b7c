//! The front Worker: finds the facts by which a request is decided, and passes the request to the object of its task.
//! The decision is a pure function in `src/front/`.
//!
//! A request arrives in `js/hop.js`, which calls [`plan`] and carries out the plan. If a missing fact has to be
//! awaited, the plan names this fact; when it is found, the request is planned again ([`waiting`]).
//!
//! | file | contents |
//! |---|---|
//! | `deployment` | the deployment and the bindings of an instance, made once |
//! | `plan` | returns the plan of a request to `js/hop.js` |
//! | `waiting` | the state of a request from one plan to the next |
//! | `facts/` | finds the facts that have to be awaited, one at a time |
//! | `stream` | the exports by which `js/stream.js` answers with a stream |
//! | `metrics` | a guest: the metrics of agents, for operators |
//! | `observed` | the observation of requests: their traces, and how they ended |
//! | `inside` | answers requests that agents of this Worker send to each other |
//! | `visit` | the entry point of the guests: MCP, the console, the scripts of test doubles |
//! | `callers` | identifies the callers of requests to guests, for several agents at once |
//! | `mcp/` | a guest: the MCP server, whose tools are agents |
//! | `console/` | a guest: answers the console's requests about one agent |
//! | `agents` | a guest, in development: the agents that are served, which can be replaced |
//! | `resume` | a guest, in development: opens the tasks under way after a reload |
//! | `double` | a guest, in development: the scripts of scripted agents |

mod agents;
mod callers;
mod console;
mod deployment;
mod double;
mod facts;
mod inside;
mod mcp;
mod metrics;
mod observed;
mod plan;
mod resume;
mod stream;
mod visit;
mod waiting;

pub(in crate::edge) use inside::answer_inside;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use worker::{Context, Env, Request, Response, Result};

/// Answers one request. Use it in a Worker that answers some requests itself and passes the others to this function.
///
/// # Errors
///
/// If the platform fails to build a response.
pub async fn handle(request: Request, env: Env, _context: Context) -> Result<Response> {
    let served = serve(request.inner().into(), env.into());
    let response = JsFuture::from(js_sys::Promise::from(served)).await?;
    Ok(Response::from(response.unchecked_into::<web_sys::Response>()))
}

#[wasm_bindgen(module = "/js/glue.js")]
extern "C" {
    /// Answers one request completely, including its body. Returns the promise of a response, which is never rejected.
    pub(in crate::edge) fn serve(request: JsValue, env: JsValue) -> JsValue;
}

#[wasm_bindgen(module = "/js/hop.js")]
extern "C" {
    #[allow(dead_code, reason = "`glue.js` uses it")]
    type Hop;
}
