//! New followers: the check that they may follow the task, and their first frames.

use std::rc::Rc;

use wasm_bindgen::prelude::*;
use worker::{ResponseBuilder, WebSocket};

use super::followers::Follower;
use super::{TaskObject, followers, sender, task_of, visitor};
use crate::auth::not_for_operators;
use crate::edge::socket::{CloseCode, close};
use crate::forms::ask::{HELLO, Refusal, Upgrade};
use crate::forms::command::{Command, StreamCommand};
use crate::operation;
use crate::port::{Observation, Observer};
use crate::session::{Beginning, Opening, TaskSession};
use a2a::binding::http::split_url;
use a2a::error::Error;
use a2a::model::Generation;
use a2a::model::decode::read_json;
use a2a::{FollowCall, Operation};

#[wasm_bindgen]
impl TaskObject {
    /// The upgrade to a socket for a follower; the only request that an object receives. If its hello came with the upgrade,
    /// the follower is answered at once: the first frame goes with the response that has the client's end of the socket, and
    /// further ones over the socket. The answer is a promise only if that has to wait.
    ///
    /// # Errors
    ///
    /// If the platform cannot accept a socket.
    #[wasm_bindgen(js_name = fetch)]
    pub fn handle_upgrade(&self, request: &web_sys::Request) -> Result<JsValue, JsValue> {
        let (object, url) = (self.clone(), request.url());
        let (_, path, _) = split_url(&url);
        let upgrade = Upgrade::read(path, request.headers().get(HELLO)?);
        self.begin(Box::pin(async move { object.accept_follower(upgrade).await }))
    }
}

impl TaskObject {
    /// Accepts one more follower, and answers it if its hello came with the upgrade.
    async fn accept_follower(&self, upgrade: Upgrade) -> Result<JsValue, JsValue> {
        let Ok(settings) = self.settings() else { return refuse(Refusal::Failed(500)) };
        let limit = settings.limits.max_streams;
        let has_told = upgrade.hello.is_some();
        let accepted = followers::accept_one(&self.state, &self.counts, limit, has_told)?;
        let Some(accepted) = accepted else { return refuse(Refusal::TooManyFollowers(limit)) };
        let Some(hello) = upgrade.hello else { return accepted.answer(None) };
        let opening = if upgrade.begins { Opening::New } else { Opening::ByRequest };
        let follower = Follower::new(&accepted.server, true);
        self.answer_follower(&follower, &hello, opening, &|| accepted.is_surplus).await;
        let told = follower.into_header();
        accepted.answer(Some(&told))
    }

    /// Answers a follower whose hello is the first and only message over its socket.
    pub(super) async fn take_hello(&self, socket: &WebSocket, hello: &str) {
        let is_surplus = || followers::note_told_one(&self.state, socket) > self.max_streams();
        let follower = Follower::new(socket, false);
        self.answer_follower(&follower, hello, Opening::ByRequest, &is_surplus).await;
        self.counts.forget_untold();
    }

    /// Answers a follower that sends a [`StreamCommand`]: with its first frames, or by closing its socket. `is_surplus`
    /// is called only after the owner check; it returns true if the limit of followers is reached.
    async fn answer_follower(
        &self,
        follower: &Follower<'_>,
        hello: &str,
        opening: Opening,
        is_surplus: &dyn Fn() -> bool,
    ) {
        let socket = follower.socket;
        let StreamCommand { command, after, .. } = match read_json(hello) {
            Ok(command) => command,
            Err(error) => {
                let reason = error.to_string();
                self.observer().observe(&Observation::CommandUnreadable { reason: &reason });
                return close(socket, CloseCode::Unreadable);
            }
        };
        let reply = command.reply.clone();
        // A caller that may not read the task must not get information about its followers either, so this check
        // precedes the limit.
        let session = match self.session_of_follower(&command, opening) {
            Ok(session) => session,
            Err(error @ Error::TaskNotFound(_)) => {
                return followers::refuse(follower, &reply.error(&error));
            }
            Err(Error::Unavailable(_)) => return close(socket, CloseCode::Unreadable),
            // Nothing was done yet, so the follower may repeat its request. The repetition opens the session from
            // storage, with the effect of an earlier attempt if there was one.
            Err(_) => return close(socket, CloseCode::Unavailable),
        };
        if is_surplus() {
            let error = Error::TooManyStreams(self.max_streams());
            return followers::refuse(follower, &reply.error(&error));
        }
        match begin_stream(&session, command, after).await {
            Ok(beginning) => followers::begin(follower, reply.dialect(), &beginning),
            Err(error) => followers::refuse(follower, &reply.error(&error)),
        }
        drop(session);
        self.let_go_soon();
    }

    /// The largest number of streams that may follow the task at a time.
    fn max_streams(&self) -> usize {
        self.settings().map_or(0, |settings| settings.limits.max_streams)
    }

    /// The session of the task that the follower names and that belongs to its caller, or of the task that the follower
    /// begins.
    fn session_of_follower(
        &self,
        command: &Command<FollowCall>,
        opening: Opening,
    ) -> Result<Rc<TaskSession>, Error> {
        let task = command.call.task_id();
        let chosen = command.chosen_id.as_ref();
        let session = self.session(opening, visitor(command, task), chosen)?;
        // Not for operators: the use of an operator's permission is audited once, when the stream begins.
        if task.is_some() && !command.is_operators() {
            session.owned_by(&command.agent, &command.caller, &command.trail)?;
        }
        Ok(session)
    }
}

/// The answer to an upgrade that is refused.
fn refuse(refusal: Refusal) -> Result<JsValue, JsValue> {
    let builder = ResponseBuilder::new().with_status(refusal.status());
    let builder = match refusal.limit() {
        Some((name, limit)) => builder.with_header(name, &limit.to_string())?,
        None => builder,
    };
    Ok(web_sys::Response::from(builder.empty()).into())
}

/// The first frames of a stream, and how the stream continues after them.
async fn begin_stream(
    session: &Rc<TaskSession>,
    command: Command<FollowCall>,
    after: Option<Generation>,
) -> Result<Beginning, Error> {
    let (command, call) = command.take_call();
    let terms = command.terms;
    match call {
        FollowCall::SendStreamingMessage(_) if command.is_operators() => Err(not_for_operators()),
        FollowCall::SendStreamingMessage(request) => {
            let sender = sender(command, &request);
            operation::send_streaming_message(session, sender, *request, after, terms).await
        }
        FollowCall::SubscribeToTask(_) => {
            let task = task_of(session, &command, Operation::SubscribeToTask)?;
            operation::subscribe_to_task(task, after, terms)
        }
    }
}
