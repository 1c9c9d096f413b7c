//! The scripted model behind `base_url = "dev:model"`: an endpoint for chat completions that needs no key, no network and no
//! model, for demos and first experiments.
//!
//! It answers by the words of the conversation alone, so that the same request has the same answer: it calls the tools whose names
//! and descriptions match what the user said, several at once, with arguments taken from the text; hands questions of other agents to the
//! user, and the answers back; sums up what calls gave; and says what it is where nothing matches.

mod choose;
mod conversation;
mod fill;
mod reply;
mod request;
mod wire;
mod words;

#[cfg(test)]
mod tests;

use std::rc::Rc;

use a2a::http::{Http, HttpAnswer, HttpBody, HttpError, HttpRequest};
use a2a::port::Clock;
use futures_util::StreamExt;
use futures_util::future::LocalBoxFuture;
use futures_util::stream;

use reply::Reply;
use request::Request;

/// The endpoint of the scripted model. A POST to any URL is a request for a chat completion.
pub struct DevModel {
    clock: Rc<dyn Clock>,
}

impl DevModel {
    /// Why it does not answer in a deployment.
    pub const REFUSED: &str = "dev:model is the scripted model of development, and answers only where DEVELOPMENT is true; set \
        `base_url`, `model` and `api_key` in [executor.model] to those of a real one";

    /// An endpoint whose pauses between words are of this clock.
    pub fn new(clock: Rc<dyn Clock>) -> Self {
        Self { clock }
    }
}

impl Http for DevModel {
    fn send(&self, request: HttpRequest) -> LocalBoxFuture<'static, Result<HttpAnswer, HttpError>> {
        let clock = self.clock.clone();
        Box::pin(async move {
            let HttpRequest { method, url, body, .. } = request;
            let body = body.bytes().await?;
            let (status, kind, body) = match Request::read(&body) {
                _ if method != "POST" => {
                    let text = format!("a chat completion is asked for by POST, not by {method}");
                    (405, JSON, HttpBody::from(wire::error(&text).to_string()))
                }
                Err(text) => (400, JSON, HttpBody::from(wire::error(&text).to_string())),
                Ok(request) => {
                    let reply = Reply::to(&request);
                    if request.streams {
                        (200, SSE, paced(wire::events(&request, &reply), clock))
                    } else {
                        (200, JSON, wire::whole(&request, &reply).to_string().into())
                    }
                }
            };
            let headers = vec![("content-type".to_owned(), kind.to_owned())];
            Ok(HttpAnswer { status, headers, body, url })
        })
    }
}

/// Events with a pause before each.
fn paced(events: Vec<String>, clock: Rc<dyn Clock>) -> HttpBody {
    HttpBody::stream(stream::iter(events).then(move |event| {
        let pause = clock.sleep(PAUSE_MS);
        async move {
            pause.await;
            Ok(event.into_bytes())
        }
    }))
}

const JSON: &str = "application/json";
const SSE: &str = "text/event-stream";

/// The pause before each event of a stream, in milliseconds.
const PAUSE_MS: u64 = 15;
