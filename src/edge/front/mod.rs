//! The front Worker: routes a request, refuses what can be refused without a task, and hands the rest
//! to the object of the task.
//!
//! A request comes in through `js/hop.js`, which asks [`plan`] what to do with it, and does that. Where a fact is missing
//! that has to be waited for, the plan is to find it; then the request is planned again ([`waiting`]).
//!
//! Reading the head, routing and admission are pure: `src/front/`.
//!
//! | file | what it does with a request |
//! |---|---|
//! | `card` | answers with documents: cards, keys, the page for browsers |
//! | `learn` | looks at the skills that an agent learns from others |
//! | `signatures` | signs cards |
//! | `exchange` | reads a request to an agent, as its binding writes it |
//! | `identify` | says who makes it, by the policy of the agent |
//! | `credentials` | seals the credentials that a message brings for its task |
//! | `check`, `key_sets` | checks the signatures of tokens, with the public keys of those who gave them out |
//! | `seen` | keeps what follows from it: rate limits to ask, pages that may read the answer, lines for audits |
//! | `decision` | puts these together, without waiting |
//! | `command` | plans the commands that were admitted |
//! | `plan` | tells `js/hop.js` |
//! | `double` | in development, reads and sets the scripts of scripted agents |
//! | `facts` | finds what has to be waited for, one fact at a time |
//! | `waiting` | a request from one plan to the next |
//! | `inside` | lets in what agents of this Worker ask each other |
//! | `mcp` | answers hosts of MCP, to which agents are tools |
//! | `callers` | says who makes a request that is for no single agent |
//! | `console` | answers the console: which agents there are, and what each needs |
//! | `body` | receives its body |
//! | `quota` | refuses a send of a caller that has too many unfinished tasks |
//! | `usage` | refuses a message of a caller that has used up what it may use of models in the day |
//! | `listing` | answers ListTasks |
//! | `stream` | lets `js/stream.js` answer by a stream |

mod body;
mod callback;
mod callers;
mod card;
mod check;
mod command;
mod console;
mod credentials;
mod decision;
mod double;
mod exchange;
mod facts;
mod identify;
mod inside;
mod key_sets;
mod learn;
mod listing;
mod mcp;
mod overview;
mod plan;
mod quota;
mod seen;
mod signatures;
mod stream;
mod usage;
mod waiting;

pub(in crate::edge) use inside::{Inside, answer_inside};
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
