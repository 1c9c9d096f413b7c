//! Receives the bodies of requests, within limits of size and time. [`Room`] limits the memory of all bodies that are
//! received at the same time, and selects the bodies to drop when this memory is short.
//!
//! A large body is copied several times while its request is handled: it is parsed, sent to the object, stored and
//! returned in the answer. So large bodies take turns: the next large body is parsed when the request with the previous
//! one was answered, or when the turn of the previous one has ended by time.

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
use crate::panic::Shared;
use crate::room::{Room, SMALL_BYTES, Sender};
use a2a::error::Error;

/// A received body. It uses memory of the [`Room`] until it is dropped.
#[derive(Default)]
pub(in crate::edge::front) struct Body {
    bytes: Vec<u8>,
    /// Frees the memory of the [`Room`] when it is dropped.
    _place: Option<Place>,
    turn: Option<Turn>,
}

impl Body {
    /// Receives the body of a request to an agent. A body of more than `limit` bytes is refused: by its declared length
    /// before any of it is read, and by its real length while it is read. The platform receives a small body of
    /// declared length in one read, without timers: if this read stalls, it uses no memory of the isolate.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`]; [`Error::BodyIncomplete`] if the body ends too early; [`Error::BodyTimeout`] if the body
    /// stalls or takes too long; [`Error::TooManyBodies`] if the [`Room`] dropped the body in favour of others, or if a
    /// large body gets no turn in time.
    pub(in crate::edge::front) async fn receive(
        request: &Request,
        agent: &str,
        limit: usize,
    ) -> Result<Self, Error> {
        Self::receive_if(request, agent, limit, async || Ok(())).await
    }

    /// Receives a body like [`receive`](Self::receive), but calls `ask` before more bytes than those of a small body
    /// are received. An error of `ask` refuses the body.
    ///
    /// # Errors
    ///
    /// The errors of [`receive`](Self::receive), and the error of `ask`.
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
            // After the [`Room`] has dropped the body, the rest is still read, but not kept: a client whose connection
            // is closed while it sends may never see the answer.
            place.keep(&chunk, declared.unwrap_or(limit));
        }
        let bytes = place.complete().ok_or(Error::TooManyBodies)?;
        // The stream of an aborted request may end without an error.
        if declared.is_some_and(|length| length != received) {
            return Err(Error::BodyIncomplete);
        }
        let turn = match bytes.len() {
            length if length > LARGE_BYTES => Some(Turn::take(length).await?),
            _ => None,
        };
        Ok(Self { bytes, _place: Some(place), turn })
    }

    /// A small body that was received already. It uses no memory of the [`Room`]: the code that reads it does not wait.
    pub(in crate::edge::front) fn of(bytes: Vec<u8>) -> Self {
        Self { bytes, ..Self::default() }
    }

    /// The turn of a large body that was parsed; the caller keeps the turn until the request is answered. The bytes are
    /// dropped.
    pub(in crate::edge::front) fn into_turn(self) -> Option<Turn> {
        self.turn
    }

    /// The received bytes.
    pub(in crate::edge::front) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The entry of one body in the [`Room`] of this isolate. The entry is removed when this value is dropped.
struct Place(u64);

impl Place {
    fn of(sender: Sender) -> Self {
        Self(ROOM.change(|room| room.enter(sender, now())))
    }

    /// Keeps a chunk of a body whose expected length is at most `most` bytes, unless the [`Room`] has dropped the body.
    fn keep(&self, chunk: &Uint8Array, most: usize) {
        ROOM.change(|room| {
            let free = room.extend(self.0, chunk.length() as usize, most, now());
            if let Some(free) = free {
                chunk.copy_to(free);
            }
        });
    }

    /// The whole body; `None` if the [`Room`] has dropped it.
    fn complete(&self) -> Option<Vec<u8>> {
        ROOM.change(|room| room.complete(self.0))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        ROOM.change(|room| room.leave(self.0));
    }
}

/// Waits for the next chunk. Fails if no chunk arrives within [`SILENCE`], or if `all_in_time` completes first.
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

/// The turn of one large body. It ends when this value is dropped, or at the time `until`: a send may wait for its
/// agent much longer than its body uses memory in this isolate.
pub(in crate::edge::front) struct Turn {
    until: i64,
}

impl Turn {
    /// Waits for the turn by polling [`TURN_UNTIL`]: another request must not wake a waiting one, because the two
    /// requests have different contexts.
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
    /// The end of the current turn, in Unix milliseconds. No body has a turn if this time has passed.
    static TURN_UNTIL: Cell<i64> = const { Cell::new(0) };

    /// The memory of the bodies that are being received.
    static ROOM: RefCell<Room> = RefCell::default();
}

/// Bodies above this size take turns.
const LARGE_BYTES: usize = 128 * 1024;

/// The number of bytes of a body that are parsed, sent to the object and stored in one millisecond, even on a busy
/// machine.
const BYTES_PER_MS: usize = 10_000;

/// The shortest turn, in milliseconds: a body of many small JSON values takes longer to parse than its size suggests.
const LEAST_TURN_MS: i64 = 100;

/// The interval at which a waiting body polls for its turn.
const TURN_LOOK: Duration = Duration::from_millis(10);

/// The longest time that a body waits for its turn, in milliseconds.
const TURN_PATIENCE_MS: i64 = 10_000;

/// The longest time between two chunks of a body.
const SILENCE: Duration = Duration::from_secs(30);

/// The longest time for receiving a whole body.
const PATIENCE: Duration = Duration::from_secs(120);
