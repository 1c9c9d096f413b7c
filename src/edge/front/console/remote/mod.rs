//! `POST /console/api/remote`: the console as an inspector of any A2A agent by its URL. The Worker calls the agent by the client that its
//! own agents use, in whatever version the agent speaks, and answers in A2A 1.0 over JSON-RPC.
//!
//! It is no proxy. A caller must be known to an agent of this Worker, and a page must be of this origin (`who`). Nothing but methods of A2A is
//! called (`asked`), nowhere that a webhook may not go, on one origin, with 10 MB and 60 s for all (`tap`). What comes back is read by the
//! client and written anew (`said`, `events`); what goes over the wire is shown as text in JSON. The headers that the person gives
//! go to the origin of the URL alone, and are neither kept nor told again.

mod asked;
mod events;
mod said;
mod tap;
mod who;

use std::rc::Rc;

use futures_util::FutureExt;
use futures_util::future::{Either, select};
use futures_util::stream;
use js_sys::Uint8Array;
use serde_json::{Map, Value, json};
use worker::{Headers, Request, Response, ResponseBuilder, Result};

use super::super::body::Body;
use super::super::callers::Refusing;
use super::super::decision::Front;
use super::super::head::Head;
use super::super::identify::shows_credentials;
use super::super::mcp::origin::{Pages, is_loopback};
use super::super::mcp::outer::KnownCard;
use crate::auth::Caller;
use crate::edge::response::to_response;
use crate::edge::service::clock::WorkerClock;
use crate::edge::service::outbound::Outbound;
use crate::edge::service::random::WorkerRandom;
use crate::edge::target::{host_of, origin_of};
use crate::executor::{HostedAgent, Redaction};
use crate::port::{Act, Audit, Clock, Observation, Observer};
use a2a::binding::http::{COMMON, HttpResponse, split_url};
use a2a::binding::media_type::essence;
use a2a::client::{CallOptions, Client, ClientError, Ports, RemoteCard, Settings, TaskStream};
use a2a::error::{Error, Refusal};
use a2a::model::{Secret, UnixMillis};
use a2a::{Call, FollowCall};
use asked::{Asked, Wanted};
use events::Streaming;
use said::{answered, failed, found, result_of};
use tap::{Noted, Tap};
use who::{Facts, Stranger, judge};

/// An answer.
enum Answer {
    Whole(HttpResponse),
    Events(Box<Streaming>),
}

impl Front {
    /// Answers a request to call an agent elsewhere.
    pub(super) async fn remote(
        &self,
        request: &Request,
        head: &Head<'_>,
        body: Option<Uint8Array>,
    ) -> Result<Response> {
        let answer = match Box::pin(self.call_remote(request, head, body)).await {
            Ok(Answer::Whole(answer)) => to_response(answer),
            Ok(Answer::Events(streaming)) => respond(*streaming),
            Err(error) => to_response(HttpResponse::error(&error)),
        };
        // No page but those of the console may read it.
        let mut answer = Pages::own_alone().show(answer?)?;
        answer.headers_mut().set("cache-control", "no-store")?;
        Ok(answer)
    }

    /// Who may have agents elsewhere called that come in at this origin, for the list of agents.
    pub(super) fn remotes_are_for(&self, origin: &str) -> &'static str {
        let is_known = |agent: &HostedAgent| {
            agent.policy.as_ref().is_ok_and(|policy| !policy.access().is_anonymous())
        };
        if !self.settings.console.opens_remotes() {
            "nobody"
        } else if self.settings.development && is_loopback(origin) {
            "anybody"
        } else if self.hosted().any(is_known) {
            "known"
        } else {
            "nobody"
        }
    }

    /// Makes the call.
    ///
    /// # Errors
    ///
    /// Why it is not made: what is wrong with the request, not with the agent.
    async fn call_remote(
        &self,
        request: &Request,
        head: &Head<'_>,
        body: Option<Uint8Array>,
    ) -> std::result::Result<Answer, Error> {
        let header = |name: &str| request.headers().get(name).ok().flatten();
        let (own, _, _) = split_url(head.url());
        let place = self.settings.place_of(own).origin;
        let (origin, fetch_site) = (header("origin"), header("sec-fetch-site"));
        let facts = Facts {
            origin: origin.as_deref(),
            fetch_site: fetch_site.as_deref(),
            own,
            place,
            is_known: true,
            is_development: self.settings.development,
        };
        judge(facts).map_err(refusal)?;
        if !self.settings.console.opens_remotes() {
            return Err(denied("agents elsewhere cannot be opened here (CONSOLE_REMOTES)"));
        }
        let content_type = header("content-type").unwrap_or_default();
        if !essence(&content_type).eq_ignore_ascii_case("application/json") {
            let reason = "send Content-Type: application/json".to_owned();
            return Err(Error::ContentTypeNotSupported(reason));
        }
        let known = self.known_caller(head).await?;
        judge(Facts { is_known: known.is_some(), ..facts }).map_err(refusal)?;
        if let Some((agent, caller)) = &known {
            self.count_call(head, agent, caller).await?;
        }
        let limit = self.settings.max_body_bytes;
        let body = match body {
            Some(body) if body.length() as usize > limit => Err(Error::TooLarge(limit)),
            Some(body) => Ok(Body::of(body.to_vec())),
            None => Body::receive(request, "console", limit).await,
        }?;
        let max_values = self.settings.limits.max_json_values;
        let asked = Asked::read(body.bytes(), max_values, place, origin_of)?;
        drop(body);
        let host = host_of(&asked.url).unwrap_or_default();
        if !self.settings.console.lets_open_host(&host) {
            return Err(denied("agents at this host cannot be opened here (CONSOLE_REMOTES)"));
        }
        if let Some((agent, caller)) = &known {
            let (trail, remote) = (head.trail(), origin_of(&asked.url).unwrap_or_default());
            let act = Audit::of(Act::RemoteCalled, &agent.slug, &caller.id, &trail);
            let act = Audit { operation: Some(&asked.method), ..act }.at(&remote);
            self.observer.observe(&Observation::Audited(act));
        }
        let call = RemoteCall::new(asked, self.settings.limits.max_depth);
        Ok(call.make(head.header("last-event-id").map(str::to_owned)).await)
    }

    /// An agent of this Worker that knows who makes a request, and the caller.
    ///
    /// # Errors
    ///
    /// The refusal of credentials that a request shows, if no agent takes any.
    async fn known_caller<'a>(
        &'a self,
        head: &Head<'_>,
    ) -> std::result::Result<Option<(&'a HostedAgent, Caller)>, Error> {
        let mut shown: Option<Refusing<'_>> = None;
        for told in self.callers_of(head, self.hosted()).await? {
            match told {
                Ok((agent, caller)) if !caller.is_anonymous() => return Ok(Some((agent, caller))),
                Err(refusing) if shows_credentials(head, refusing.agent) => {
                    shown = shown.or(Some(refusing));
                }
                Ok(_) | Err(_) => {}
            }
        }
        let Some(refusing) = shown else { return Ok(None) };
        self.count_refusal(head, &refusing).await?;
        Err(without_challenges(refusing.error))
    }
}

/// A call of an agent elsewhere.
struct RemoteCall {
    asked: Asked,
    client: Client,
    noted: Rc<Noted>,
    clock: Rc<dyn Clock>,
    until: UnixMillis,
}

impl RemoteCall {
    fn new(asked: Asked, max_depth: u32) -> Self {
        let secrets = Redaction::default();
        for (name, value) in &asked.headers {
            secrets.note(name, value);
            if let Some((_, token)) = value.reveal().split_once(' ') {
                secrets.note(name, &Secret::new(token));
            }
        }
        let noted = Rc::new(Noted::new(secrets, asked.shows_wire));
        let clock: Rc<dyn Clock> = Rc::new(WorkerClock);
        let given: Vec<String> = asked.headers.iter().map(|(name, _)| name.clone()).collect();
        let http = Tap::new(Rc::new(Outbound), clock.clone(), given, noted.clone());
        let (http, random) = (Rc::new(http), Rc::new(WorkerRandom));
        let ports = Ports { http, clock: clock.clone(), random };
        let headers = asked.headers.iter();
        let settings = Settings {
            headers: headers
                .map(|(name, value)| (name.clone(), value.reveal().to_owned()))
                .collect(),
            is_guarded: true,
            timeout_ms: TIME_MS,
            max_retries: 1,
            retry_delay_ms: 500,
            depth: 1,
            max_depth,
            ..Settings::new(asked.url.clone())
        };
        let client = Client::new(settings, ports);
        let client = match &asked.connection {
            Some(connection) => client.with_connection(connection.clone()),
            None => client,
        };
        let until = clock.now().after(TIME_MS);
        Self { asked, client, noted, clock, until }
    }

    async fn make(self, after: Option<String>) -> Answer {
        let events = match &self.asked.wanted {
            Wanted::Call(call) => self.follow(call, after),
            Wanted::Card => None,
        };
        if let Some(events) = events {
            let Self { asked: Asked { id, .. }, noted, clock, until, .. } = self;
            let (has_told, is_over) = (false, false);
            let streaming = Streaming { id, events, noted, clock, until, has_told, is_over };
            return Answer::Events(Box::new(streaming));
        }
        let said = Box::pin(self.result());
        let said = match select(said, self.clock.sleep(TIME_MS)).await {
            Either::Left((said, _)) => said,
            Either::Right(_) => Err(ClientError::Timeout),
        };
        Answer::Whole(self.whole(&said))
    }

    /// The events of a call that streams.
    fn follow(&self, call: &Call, last_event_id: Option<String>) -> Option<TaskStream> {
        let Call::Follow(call) = call else { return None };
        Some(match call.clone() {
            FollowCall::SendStreamingMessage(request) => {
                let options = CallOptions { last_event_id, ..CallOptions::default() };
                self.client.send_streaming_with(*request, options)
            }
            FollowCall::SubscribeToTask(request) => {
                self.client.subscribe(request.id, last_event_id)
            }
        })
    }

    /// The result of a call that is answered once.
    async fn result(&self) -> std::result::Result<Value, ClientError> {
        let unwritable = |_| ClientError::Unexpected("the answer cannot be written".to_owned());
        match &self.asked.wanted {
            Wanted::Card => {
                let text = self.client.fetch_card_text(None).await?;
                let card = RemoteCard::parse(&text.text)?;
                let cards = Rc::new(KnownCard(Rc::new(card.clone())));
                let connection = self.client.clone().with_cards(cards).connect().await;
                let (origin, _, _) = split_url(&self.asked.url);
                found(&text, &card, is_loopback(origin), &connection).map_err(unwritable)
            }
            Wanted::Call(call) => {
                let options = CallOptions { deadline: Some(self.until), ..CallOptions::default() };
                let answer = self.client.call(call, &options).await?;
                result_of(call, &answer).map_err(unwritable)
            }
        }
    }

    fn whole(&self, said: &std::result::Result<Value, ClientError>) -> HttpResponse {
        let answer: Map<String, Value> = match said {
            Ok(result) => answered(&self.asked.id, result),
            Err(error) => failed(&self.asked.id, error),
        };
        let mut body = self.noted.without_secrets(&Value::Object(answer).to_string());
        if self.asked.shows_wire
            && let Some(end) = body.rfind('}')
        {
            body.insert_str(end, &format!(",\"wire\":{}", json!(self.noted.take())));
        }
        HttpResponse::json(200, body)
    }
}

/// A response that streams events.
fn respond(streaming: Streaming) -> Result<Response> {
    let headers = Headers::new();
    let own = [("content-type", "text/event-stream"), ("x-accel-buffering", "no")];
    for (name, value) in COMMON.into_iter().chain(own) {
        headers.set(name, value)?;
    }
    let pieces = stream::unfold(streaming, async |mut streaming| {
        let piece = streaming.next().boxed_local().await?;
        Some((Ok::<_, worker::Error>(piece.into_bytes()), streaming))
    });
    ResponseBuilder::new().with_headers(headers).from_stream(Box::pin(pieces))
}

fn refusal(stranger: Stranger) -> Error {
    match stranger {
        Stranger::Page => denied("pages of other sites cannot have agents called from here"),
        Stranger::Caller => {
            let message = "sign in to an agent of this server: agents elsewhere are called for people whom it knows".to_owned();
            Error::Unauthenticated(Box::new(Refusal { message, challenges: Vec::new() }))
        }
    }
}

fn denied(message: &str) -> Error {
    let refusal = Refusal { message: message.to_owned(), challenges: Vec::new() };
    Error::PermissionDenied(Box::new(refusal))
}

/// A refusal for the console, which asks by itself: a browser that sees a challenge would ask, too.
fn without_challenges(error: Error) -> Error {
    let bare = |refusal: Box<Refusal>| Box::new(Refusal { challenges: Vec::new(), ..*refusal });
    match error {
        Error::Unauthenticated(refusal) => Error::Unauthenticated(bare(refusal)),
        Error::PermissionDenied(refusal) => Error::PermissionDenied(bare(refusal)),
        error => error,
    }
}

/// How long a request may take in all, in milliseconds.
const TIME_MS: u64 = 60_000;
