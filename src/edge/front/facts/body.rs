//! Receiving the bodies of requests: how large one may be, how long it may take. What all that come in at the same time may
//! take of the memory, and which give way when that is short, [`Room`] says.
//!
//! A large body is copied several times on its way through its task: parsed, sent to the object, stored,
//! given back. So large ones take turns: the next one is parsed when the one before was answered, or has
//! had the time that handing it over takes.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::time::Duration;

use futures_util::future::{Either, select};
use js_sys::Uint8Array;
use wasm_bindgen::JsValue;
use worker::{Delay, Request, console_warn};

use crate::edge::chunks::{Chunks, whole};
use crate::edge::service::clock::now;
use crate::front::address::{ADDRESS, network};
use crate::room::{Room, SMALL_BYTES, Sender};
use a2a::error::Error;

/// A body, which takes its part of the room for bodies until it is dropped.
#[derive(Default)]
pub(in crate::edge::front) struct Body {
    bytes: Vec<u8>,
    /// Gives the room back when it is dropped.
    _place: Option<Place>,
    turn: Option<Turn>,
}

impl Body {
    /// Receives the body of a request to an agent, of at most `limit` bytes: refused by its declared length before
    /// any of it is read, and by its real length while it comes in. A small one of declared length is
    /// received by the platform in one go, without timers: while it stalls it takes no memory of ours.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`]; [`Error::BodyIncomplete`] if it breaks off; [`Error::BodyTimeout`] if it
    /// stalls or takes too long; [`Error::TooManyBodies`] if it gave way to others, or it is large and
    /// its turn does not come.
    pub(in crate::edge::front) async fn receive(
        request: &Request,
        agent: &str,
        limit: usize,
    ) -> Result<Self, Error> {
        Self::receive_if(request, agent, limit, async || Ok(())).await
    }

    /// As [`receive`](Self::receive). Before more of it than a small body is received, `ask` says whether it is to be.
    ///
    /// # Errors
    ///
    /// As [`receive`](Self::receive), and what `ask` says.
    pub(in crate::edge::front) async fn receive_if(
        request: &Request,
        agent: &str,
        limit: usize,
        ask: impl AsyncFnOnce() -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let header = |name: &str| request.headers().get(name).ok().flatten();
        let declared = header("content-length").and_then(|text| text.parse().ok());
        if declared.is_some_and(|length| length > limit) {
            return Err(Error::TooLarge(limit));
        }
        if request.inner().body().is_none() {
            return Ok(Self::default());
        }
        if let Some(length) = declared.filter(|length| *length <= SMALL_BYTES) {
            let whole = whole(request).await.map_err(|error| incomplete(&error))?;
            if whole.length() as usize != length {
                return Err(Error::BodyIncomplete);
            }
            return Ok(Self::of(whole.to_vec()));
        }
        let mut ask = Some(ask);
        if declared.is_some()
            && let Some(ask) = ask.take()
        {
            ask().await?;
        }
        let address = header(ADDRESS).and_then(|text| network(&text));
        let place = Place::of(Sender { address, agent: agent.to_owned() });
        let mut chunks = Chunks::of(request).map_err(|error| incomplete(&error))?;
        let mut all_in_time = Box::pin(Delay::from(PATIENCE));
        let mut received = 0;
        loop {
            let next = Box::pin(chunks.next());
            let chunk = in_time(next, &mut all_in_time).await?;
            let Some(chunk) = chunk.map_err(|error| incomplete(&error))? else { break };
            received += chunk.length() as usize;
            if received > limit {
                return Err(Error::TooLarge(limit));
            }
            if received > SMALL_BYTES
                && let Some(ask) = ask.take()
            {
                ask().await?;
            }
            // What comes after the body gave way is read all the same, and not kept: a client that is cut off while it sends
            // may never see the answer.
            place.keep(&chunk, declared.unwrap_or(limit));
        }
        let bytes = place.complete().ok_or(Error::TooManyBodies)?;
        // The stream of a request that was aborted may just end.
        if declared.is_some_and(|length| length != received) {
            return Err(Error::BodyIncomplete);
        }
        let turn = match bytes.len() {
            length if length > LARGE_BYTES => Some(Turn::take(length).await?),
            _ => None,
        };
        Ok(Self { bytes, _place: Some(place), turn })
    }

    /// A small body that was received already. It takes no room: nothing is waited for while it is read.
    pub(in crate::edge::front) fn of(bytes: Vec<u8>) -> Self {
        Self { bytes, ..Self::default() }
    }

    /// What is left of a body that was parsed: the turn of a large one, to be kept until it is answered.
    pub(in crate::edge::front) fn into_turn(self) -> Option<Turn> {
        self.turn
    }

    /// What was received.
    pub(in crate::edge::front) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The place of one body in the room of the isolate, until it is dropped.
struct Place(u64);

impl Place {
    fn of(sender: Sender) -> Self {
        Self(ROOM.with_borrow_mut(|room| room.enter(sender, now())))
    }

    /// Keeps a chunk of a body of which at most `most` bytes are expected, unless it gives way.
    fn keep(&self, chunk: &Uint8Array, most: usize) {
        ROOM.with_borrow_mut(|room| {
            let free = room.extend(self.0, chunk.length() as usize, most, now());
            if let Some(free) = free {
                chunk.copy_to(free);
            }
        });
    }

    /// All that was kept; `None` if the body gave way.
    fn complete(&self) -> Option<Vec<u8>> {
        ROOM.with_borrow_mut(|room| room.complete(self.0))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        ROOM.with_borrow_mut(|room| room.leave(self.0));
    }
}

/// Waits for the next chunk, or until the body stalls or is late.
async fn in_time<T>(
    next: impl Future<Output = T> + Unpin,
    all_in_time: &mut (impl Future<Output = ()> + Unpin),
) -> Result<T, Error> {
    let stalled = Box::pin(Delay::from(SILENCE));
    match select(next, select(stalled, all_in_time)).await {
        Either::Left((chunk, _)) => Ok(chunk),
        Either::Right(_) => Err(Error::BodyTimeout),
    }
}

fn incomplete(error: &JsValue) -> Error {
    console_warn!("a body broke off: {error:?}");
    Error::BodyIncomplete
}

/// The turn of one large body, which ends when this is dropped, or by itself: a send may wait for its agent
/// much longer than its body takes memory here.
pub(in crate::edge::front) struct Turn {
    until: i64,
}

impl Turn {
    /// Waits for the turn. By looking again and again: a waiting request must not be woken by another one,
    /// whose context it does not share.
    async fn take(bytes: usize) -> Result<Self, Error> {
        let length = i64::try_from(bytes / BYTES_PER_MS).unwrap_or(i64::MAX).max(LEAST_TURN_MS);
        let give_up = now().0 + TURN_PATIENCE_MS;
        loop {
            let now = now().0;
            if TURN_UNTIL.get() <= now {
                let until = now.saturating_add(length);
                TURN_UNTIL.set(until);
                return Ok(Self { until });
            }
            if now >= give_up {
                return Err(Error::TooManyBodies);
            }
            Delay::from(TURN_LOOK).await;
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if TURN_UNTIL.get() == self.until {
            TURN_UNTIL.set(0);
        }
    }
}

thread_local! {
    /// When the turn of the large body ends that has it; in the past if none has.
    static TURN_UNTIL: Cell<i64> = const { Cell::new(0) };

    /// The bodies that come in at the moment.
    static ROOM: RefCell<Room> = RefCell::default();
}

/// Bodies above this size take turns.
const LARGE_BYTES: usize = 128 * 1024;

/// How much of a body is parsed, handed over and stored in a millisecond, even on a busy machine.
const BYTES_PER_MS: usize = 10_000;

/// The shortest turn, in milliseconds: small values take longer than their bytes tell.
const LEAST_TURN_MS: i64 = 100;

/// How often a body that waits for its turn looks whether it has come.
const TURN_LOOK: Duration = Duration::from_millis(10);

/// How long a body waits for its turn, in milliseconds.
const TURN_PATIENCE_MS: i64 = 10_000;

/// How long a body may stand still.
const SILENCE: Duration = Duration::from_secs(30);

/// How long a body may take altogether.
const PATIENCE: Duration = Duration::from_secs(120);
