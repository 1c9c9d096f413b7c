//! The guests of the front: MCP, metrics, the console, and in development the scripts of test doubles. A guest writes the
//! answers to its requests itself, and sends requests to agents like any other client.
#![allow(unreachable_pub, reason = "what JavaScript calls must be public")]

use wasm_bindgen::prelude::*;
use worker::{Env, Request};

use super::deployment::Front;
use crate::edge::panics::caught;
use crate::edge::response::to_response;
use crate::front::head::Head;
use crate::front::route::{Route, route};
use a2a::binding::http::{HttpResponse, split_url};
use a2a::error::Error;

/// Answers a request for a guest. `body` is `undefined` if it was not received yet.
///
/// # Errors
///
/// If the platform fails to build a response, or a panic occurs.
#[wasm_bindgen(js_name = visit)]
pub async fn visit(
    env: Env,
    request: web_sys::Request,
    head: String,
    body: Option<js_sys::Uint8Array>,
) -> std::result::Result<web_sys::Response, JsValue> {
    let answered = caught(async move {
        let front = match Front::of(env) {
            Ok(front) => front,
            Err(answer) => return to_response(answer),
        };
        let (request, head) = (Request::from(request), Head::parse(&head));
        let (_, path, _) = split_url(head.url());
        let is_development = front.deployment.settings.development;
        match route(path) {
            Route::Metrics => to_response(Box::pin(front.metrics(&head)).await),
            Route::Mcp(slug) => Box::pin(front.mcp(&request, &head, slug, body)).await,
            Route::Console(below) => Box::pin(front.console(&head, below)).await,
            Route::Agents if is_development => {
                to_response(Box::pin(front.agents(&request, &head, body)).await)
            }
            Route::Resume if is_development => {
                to_response(Box::pin(front.resume(&request, &head)).await)
            }
            Route::Scripts if is_development => to_response(front.scripts(&head)),
            Route::Script(slug) if is_development => {
                to_response(Box::pin(front.script(&request, &head, slug, body)).await)
            }
            _ => to_response(HttpResponse::error(&Error::Internal { task: None })),
        }
    });
    Ok(answered.await??.into())
}
