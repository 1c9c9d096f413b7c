//! The front Worker: finds what a request is decided by, and hands it to the object of its task. Deciding is a pure function:
//! `src/front/`.
//!
//! A request comes in through `js/hop.js`, which asks [`plan`] what to do with it, and does that. Where a fact is missing
//! that has to be waited for, the plan is to find it; then the request is planned again ([`waiting`]).
//!
//! | file | what it does |
//! |---|---|
//! | `deployment` | what an instance decides by, made once |
//! | `plan` | gives `js/hop.js` the plan of a request |
//! | `waiting` | a request from one plan to the next |
//! | `facts/` | finds what has to be waited for, one fact at a time |
//! | `stream` | lets `js/stream.js` answer by a stream |
//! | `inside` | lets in what agents of this Worker ask each other |
//! | `visit` | the door of the guests, which answer their requests by themselves |
//! | `callers` | who makes a request of a guest, which is for no single agent |
//! | `mcp/` | a guest: hosts of MCP, to which agents are tools |
//! | `console/` | a guest: what the console asks about one agent |
//! | `double` | a guest, in development: the scripts of scripted agents |

mod callers;
mod console;
mod deployment;
mod double;
mod facts;
mod inside;
mod mcp;
mod plan;
mod stream;
mod visit;
mod waiting;

pub(in crate::edge) use inside::answer_inside;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use worker::{Context, Env, Request, Response, Result};

/// Answers one request. For a Worker that answers some requests itself and hands the others on.
///
/// # Errors
///
/// When the platform fails to build a response.
pub async fn handle(request: Request, env: Env, _context: Context) -> Result<Response> {
    let served = serve(request.inner().into(), env.into());
    let response = JsFuture::from(js_sys::Promise::from(served)).await?;
    Ok(Response::from(response.unchecked_into::<web_sys::Response>()))
}

#[wasm_bindgen(module = "/js/glue.js")]
extern "C" {
    /// Answers one request: takes it from its first byte to its answer. Gives the promise of a response, which is
    /// not rejected.
    pub(in crate::edge) fn serve(request: JsValue, env: JsValue) -> JsValue;
}

#[wasm_bindgen(module = "/js/hop.js")]
extern "C" {
    #[allow(dead_code, reason = "`glue.js` uses it")]
    type Hop;
}
