//! Sends requests of A2A to the agents of this Worker. A request of MCP causes them, and they contain its credentials.
//! They are checked like requests from outside.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;
use worker::Env;

use super::super::facts::FoundBody;
use super::super::facts::body::Body;
use super::super::inside::front_for;
use super::super::waiting::Waiting;
use crate::edge::response::to_response;
use crate::edge::service::clock::WorkerClock;
use crate::edge::service::outbound::Bounds;
use crate::edge::service::random::WorkerRandom;
use crate::front::facts::Facts;
use crate::front::head::{Head, TRACE, head_of, is_passed};
use crate::port::{Http, HttpAnswer, HttpError, HttpRequest};
use a2a::binding::http::split_url;
use a2a::client::{CardSource, Client, ClientError, Ports, RemoteCard, Settings};
use mcp::server::Meta;

/// The origin, the query and some headers of a request of MCP. Each request of A2A that is sent for this request of MCP
/// gets them, with the credentials in them.
#[derive(Clone)]
pub(super) struct Outer(Rc<Inner>);

struct Inner {
    env: Env,
    /// The origin of the request, for example `https://agents.example`.
    origin: String,
    /// The query of the request's URL, which may contain keys.
    query: String,
    /// The headers with the credentials, the address and the trace of the request.
    headers: Vec<(String, String)>,
}

impl Outer {
    /// Reads the origin, the query and the headers from the head of a request of MCP. If the head has no headers of a
    /// trace, those in `meta` are used.
    pub(super) fn new(env: Env, head: &Head<'_>, meta: &Meta) -> Self {
        let (origin, _, query) = split_url(head.url());
        let is_own = |(name, _): &&(&str, &str)| !is_passed(name);
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let mut headers: Vec<(String, String)> =
            head.headers().iter().filter(is_own).map(owned).collect();
        let has_trace = headers.iter().any(|(name, _)| TRACE.contains(&name.as_str()));
        if !has_trace {
            let said = [meta.traceparent.as_ref(), meta.tracestate.as_ref()];
            for (name, value) in TRACE.into_iter().zip(said) {
                headers.extend(value.map(|value| (name.to_owned(), value.clone())));
            }
        }
        let (origin, query) = (origin.to_owned(), query.to_owned());
        Self(Rc::new(Inner { env, origin, query, headers }))
    }

    /// A client of the agent with this slug, whose card is known.
    pub(super) fn client(&self, slug: &str, card: RemoteCard) -> Client {
        let settings = Settings {
            binding: Some(a2a::binding::Binding::JsonRpc),
            // The client of MCP receives the refusals of rate limits.
            max_retries: 0,
            // The depth in the message is that of the request of MCP; the agent checks it.
            max_depth: u32::MAX,
            ..Settings::new(format!("{}/{slug}", self.0.origin))
        };
        let http = Rc::new(self.clone());
        let ports = Ports { http, clock: Rc::new(WorkerClock), random: Rc::new(WorkerRandom) };
        Client::new(settings, ports).with_cards(Rc::new(KnownCard(Rc::new(card))))
    }
}

impl Http for Outer {
    fn send(&self, request: HttpRequest) -> LocalBoxFuture<'static, Result<HttpAnswer, HttpError>> {
        let outer = self.0.clone();
        Box::pin(async move {
            let bounds = Bounds::of(&request);
            let HttpRequest { method, mut url, headers, body, .. } = request;
            let body = body.bytes().await?;
            if !outer.query.is_empty() && !url.contains('?') {
                url = format!("{url}?{}", outer.query);
            }
            let is_of_call = |name: &str| is_passed(name);
            let more = outer.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
            let head = head_of(method, &url, &headers, is_of_call, more);
            let env = outer.env.clone();
            let answered = Box::pin(async move {
                match front_for(env, &url)? {
                    Ok(front) => {
                        let facts = Facts { is_reported: true, ..Facts::default() };
                        let body = FoundBody::Whole(Body::of(body));
                        Waiting::of(front, head, body, facts).answer().await
                    }
                    Err(answer) => to_response(answer),
                }
            });
            match bounds.in_time(answered).await? {
                Ok(response) => Ok(bounds.answer(response)),
                Err(error) => Err(bounds.failed(&error)),
            }
        })
    }
}

/// The source of a card that is known already.
pub(in crate::edge::front) struct KnownCard(pub(in crate::edge::front) Rc<RemoteCard>);

impl CardSource for KnownCard {
    fn card<'a>(
        &'a self,
        _client: &'a Client,
    ) -> LocalBoxFuture<'a, Result<Rc<RemoteCard>, ClientError>> {
        let card = self.0.clone();
        Box::pin(async move { Ok(card) })
    }
}
