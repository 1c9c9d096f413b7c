//! The separate stream of a legacy server, for messages that belong to no answer: many servers ask their questions on it.

use std::rc::Rc;

use futures_util::future::{Either, LocalBoxFuture, select};
use futures_util::stream::{self, LocalBoxStream, StreamExt};
use serde_json::Value;

use super::Client;
use super::incoming::Incoming;
use super::session::Session;
use super::wire::Sending;

/// The messages on a server's separate stream. The stream ends when the server ends it, or when it cannot be read.
pub(super) type Standing = LocalBoxStream<'static, Value>;

enum State {
    Opening(LocalBoxFuture<'static, Option<Incoming>>),
    Open(Incoming),
}

impl Client {
    /// Opens the separate stream of a session; `None` if the server has none. Until the head of the answer arrives, a call
    /// is delayed by at most half a second.
    pub(super) fn standing<'a>(
        &'a self,
        session: &'a Rc<Session>,
    ) -> LocalBoxFuture<'a, Option<Standing>> {
        Box::pin(async move {
            if !session.may_have_stream() {
                return None;
            }
            let opening: LocalBoxFuture<'static, _> =
                Box::pin(self.clone().open_standing(Rc::clone(session)));
            let state = match select(opening, self.ports().clock.sleep(HEAD_MS)).await {
                Either::Left((opened, _)) => State::Open(opened?),
                Either::Right((_, opening)) => State::Opening(opening),
            };
            let messages = stream::unfold(state, |state| async {
                let mut incoming = match state {
                    State::Opening(opening) => opening.await?,
                    State::Open(incoming) => incoming,
                };
                let message = incoming.next().await?.ok()?;
                Some((message, State::Open(incoming)))
            });
            Some(messages.boxed_local())
        })
    }

    fn open_standing(self, session: Rc<Session>) -> LocalBoxFuture<'static, Option<Incoming>> {
        Box::pin(async move {
            let settings = self.settings();
            let timeout_ms = settings.call_timeout_ms.saturating_add(settings.timeout_ms);
            let sending = session.within(Sending::get(timeout_ms));
            let answer = self.send(&sending).await.ok()?;
            if answer.status == 405 {
                session.has_no_stream();
            }
            let is_open = answer.is_success();
            let incoming = Incoming::of(answer, settings.max_bytes).await.ok();
            incoming.filter(|incoming| is_open && incoming.is_stream())
        })
    }
}

const HEAD_MS: u64 = 500;
