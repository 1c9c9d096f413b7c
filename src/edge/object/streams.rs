//! New followers: the check that they may follow the task, and their first frames.

use a2a::model::Generation;
use std::rc::Rc;

use worker::{ResponseBuilder, Result, WebSocket, WebSocketPair};

use super::followers::{self, Accepted};
use super::{Answer, TaskObject, sender, task_of, visitor};
use crate::auth::not_for_operators;
use crate::edge::socket::{CloseCode, close};
use crate::forms::ask::{HELLO, Refusal, Upgrade};
use crate::forms::command::{Command, StreamCommand};
use crate::operation;
use crate::port::{Observation, Observer};
use crate::session::{Beginning, Opening, TaskSession};
use a2a::error::Error;
use a2a::model::decode::read_json;
use a2a::{FollowCall, Operation};

impl TaskObject {
    /// Accepts one more follower. If its hello came with the upgrade, the follower is answered at once: the first frames
    /// are written to the socket before the response with the client's end of the socket is returned.
    pub(super) async fn accept_follower(&self, upgrade: Upgrade) -> Result<Answer> {
        let Ok(settings) = self.settings() else { return Ok(Err(Refusal::Failed(500))) };
        let limit = settings.limits.max_streams;
        let has_told = upgrade.hello.is_some();
        let accepted = followers::accept(&self.state, &self.untold, limit, has_told)?;
        let Some(Accepted { pair: WebSocketPair { client, server }, is_surplus }) = accepted else {
            return Ok(Err(Refusal::TooManyFollowers(limit)));
        };
        let answer = ResponseBuilder::new().with_status(101).with_websocket(client);
        let Some(hello) = upgrade.hello else { return Ok(Ok(answer.empty())) };
        let opening = if upgrade.begins { Opening::New } else { Opening::ByRequest };
        self.answer_follower(&server, &hello, opening, &|| is_surplus).await;
        Ok(Ok(answer.with_header(HELLO, "read")?.empty()))
    }

    /// Answers a follower whose hello is the first and only message over its socket.
    pub(super) async fn take_hello(&self, socket: &WebSocket, hello: &str) {
        let is_surplus = || followers::note_told(&self.state, socket) > self.max_streams();
        self.answer_follower(socket, hello, Opening::ByRequest, &is_surplus).await;
        self.untold.forget_one();
    }

    /// Answers a follower that sends a [`StreamCommand`]: with its first frames, or by closing its socket. `is_surplus`
    /// is called only after the owner check; it returns true if the limit of followers is reached.
    async fn answer_follower(
        &self,
        socket: &WebSocket,
        hello: &str,
        opening: Opening,
        is_surplus: &dyn Fn() -> bool,
    ) {
        let StreamCommand { command, after } = match read_json(hello) {
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
                return followers::refuse(socket, &reply.error(&error));
            }
            Err(Error::Unavailable(_)) => return close(socket, CloseCode::Unreadable),
            // Nothing was done yet, so the follower may repeat its request. The repetition opens the session from
            // storage, with the effect of an earlier attempt if there was one.
            Err(_) => return close(socket, CloseCode::Unavailable),
        };
        if is_surplus() {
            let error = Error::TooManyStreams(self.max_streams());
            return followers::refuse(socket, &reply.error(&error));
        }
        match begin_stream(&session, command, after).await {
            Ok(beginning) => followers::begin(socket, reply.dialect(), &beginning),
            Err(error) => followers::refuse(socket, &reply.error(&error)),
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
    ) -> std::result::Result<Rc<TaskSession>, Error> {
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

/// The first frames of a stream, and how the stream continues after them.
async fn begin_stream(
    session: &Rc<TaskSession>,
    command: Command<FollowCall>,
    after: Option<Generation>,
) -> std::result::Result<Beginning, Error> {
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
