//! The front Worker: routes a request, refuses what can be refused without a task, and hands the rest
//! to the object of the task.
//!
//! | file | what it does with a request |
//! |---|---|
//! | `route` | says what its path leads to |
//! | `card`, `page` | answers with documents: cards, keys, the page for browsers |
//! | `exchange` | takes a request to an agent from its first byte to its answer |
//! | `body` | receives its body |
//! | `identify` | says who makes it |
//! | `admission` | judges it, as far as no task is needed for that |
//! | `quota` | refuses a send of a caller that has too many unfinished tasks |
//! | `listing` | answers ListTasks |
//! | `stream` | lets `js/stream.js` answer by a stream |

mod admission;
mod body;
mod card;
mod exchange;
mod identify;
mod listing;
mod page;
mod quota;
mod route;
mod stream;

use worker::{Context, Env, Method, Request, Response, Result};

use crate::edge::bindings;
use crate::edge::development::received;
use crate::edge::development::statements;
use crate::edge::response::to_response;
use crate::edge::service::keys;
use crate::edge::service::observer::ConsoleObserver;
use crate::port::{Observation, Observer};
use a2a::binding::http::{HttpResponse, split_url};
use a2a::error::Error;
use admission::unknown_path;
use exchange::Exchange;
use route::{Route, route};

/// Answers one request.
///
/// # Errors
///
/// When the platform fails to build a response.
pub async fn handle(mut request: Request, env: Env, _context: Context) -> Result<Response> {
    let settings = match bindings::settings(&env) {
        Ok(settings) => settings,
        Err(error) => {
            misconfigured(&env, &error);
            return to_response(HttpResponse::error(&Error::Internal { task: None }));
        }
    };
    let url = request.inner().url();
    let (origin, path, _) = split_url(&url);
    let agents = match bindings::agents(&env, &settings) {
        Ok(agents) => agents,
        Err(error) => {
            misconfigured(&env, &error);
            return to_response(HttpResponse::error(&Error::NoAgents));
        }
    };
    let exchange =
        |slug, request: &Request| Exchange::new(&env, &settings, &agents, slug, request, &url);
    let answer = match route(path) {
        Route::Card(slug) => match agents.find(slug) {
            Some(agent) => {
                card::card(&request, agent, settings.public_url.as_deref().unwrap_or(origin))
            }
            None => Err(unknown_path(path, &agents)),
        },
        Route::JsonRpc(slug) => match exchange(slug, &request) {
            Ok(exchange) => return exchange.jsonrpc(&mut request).await,
            Err(error) => Err(error),
        },
        Route::Rest(slug, below) => match exchange(slug, &request) {
            Ok(exchange) => return exchange.rest(&mut request, below).await,
            Err(error) => Err(error),
        },
        Route::KeySet => match keys::public_set(&env) {
            Some(keys) => card::key_set(&request, keys),
            None => Err(unknown_path(path, &agents)),
        },
        Route::Received if settings.development => development(&request),
        Route::Statements if settings.development => {
            Ok(HttpResponse::json(200, statements::all().to_string()))
        }
        Route::Received | Route::Statements => Err(unknown_path(path, &agents)),
    };
    let mut response = answer.unwrap_or_else(|error| HttpResponse::error(&error));
    if request.method() == Method::Head {
        response.body.clear();
    }
    to_response(response)
}

fn development(request: &Request) -> std::result::Result<HttpResponse, Error> {
    match request.method() {
        Method::Get | Method::Head => Ok(HttpResponse::json(200, received::all().to_string())),
        Method::Delete => {
            received::clear();
            Ok(HttpResponse::json(200, "{}".to_owned()))
        }
        Method::Options => Ok(preflight(request, "GET, HEAD, DELETE, OPTIONS")),
        _ => Err(Error::MethodNotAllowed("GET, HEAD, DELETE, OPTIONS")),
    }
}

/// The answer to an OPTIONS request where these methods are taken.
fn preflight(request: &Request, allowed: &'static str) -> HttpResponse {
    let requested = header(request, "access-control-request-headers");
    HttpResponse::options(allowed, requested.as_deref())
}

fn header(request: &Request, name: &str) -> Option<String> {
    request.headers().get(name).ok().flatten()
}

fn misconfigured(env: &Env, error: &dyn std::fmt::Display) {
    let reason = error.to_string();
    ConsoleObserver::of(env).observe(&Observation::Misconfigured { reason: &reason });
}
