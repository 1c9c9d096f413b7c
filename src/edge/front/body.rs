//! Receiving the bodies of requests: how large one may be, how long it may take, and how much memory
//! all that come in at the same time may take together.
//!
//! A large body is copied several times on its way through its task: parsed, sent to the object, stored,
//! given back. So large ones take turns: the next one is parsed when the one before was answered, or has
//! had the time that handing it over takes.

use std::cell::Cell;
use std::future::Future;
use std::time::Duration;

use futures_util::future::{Either, select};
use js_sys::Uint8Array;
use wasm_bindgen::JsValue;
use worker::{Delay, Request, console_warn};

use crate::edge::chunks::{Chunks, LEAST_ROOM, append, whole};
use crate::edge::service::clock::now;
use a2a::error::Error;

/// A body, which takes its share of the memory for bodies until it is dropped.
#[derive(Default)]
pub(super) struct Body {
    bytes: Vec<u8>,
    share: Share,
    turn: Option<Turn>,
}

impl Body {
    /// Receives the body of a request, of at most `limit` bytes: refused by its declared length before
    /// any of it is read, and by its real length while it comes in. A small one of declared length is
    /// received by the platform in one go, without timers: while it stalls it takes no memory of ours.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`]; [`Error::BodyIncomplete`] if it breaks off; [`Error::BodyTimeout`] if it
    /// stalls or takes too long; [`Error::TooManyBodies`] if there is no memory for it, or it is large and
    /// its turn does not come.
    pub(super) async fn receive(request: &Request, limit: usize) -> Result<Self, Error> {
        let declared = request
            .headers()
            .get("content-length")
            .ok()
            .flatten()
            .and_then(|text| text.parse().ok());
        if declared.is_some_and(|length| length > limit) {
            return Err(Error::TooLarge(limit));
        }
        let mut body = Self::default();
        if request.inner().body().is_none() {
            return Ok(body);
        }
        if let Some(length) = declared.filter(|length| *length <= LEAST_ROOM) {
            let whole = whole(request).await.map_err(|error| incomplete(&error))?;
            if whole.length() as usize != length {
                return Err(Error::BodyIncomplete);
            }
            return body.extend(&whole, length).map(|()| body);
        }
        let mut chunks = Chunks::of(request).map_err(|error| incomplete(&error))?;
        let mut all_in_time = Box::pin(Delay::from(PATIENCE));
        let mut received = 0;
        let mut room = Ok(());
        loop {
            let next = Box::pin(chunks.next());
            let chunk = in_time(next, &mut all_in_time).await?;
            let Some(chunk) = chunk.map_err(|error| incomplete(&error))? else { break };
            received += chunk.length() as usize;
            if received > limit {
                return Err(Error::TooLarge(limit));
            }
            if room.is_ok() {
                room = body.extend(&chunk, declared.unwrap_or(limit));
            }
            if room.is_err() {
                // What is left is read all the same: a client that is cut off while it sends may never
                // see the answer.
                body = Self::default();
            }
        }
        room?;
        // The stream of a request that was aborted may just end.
        if declared.is_some_and(|length| length != received) {
            return Err(Error::BodyIncomplete);
        }
        if body.bytes.len() > LARGE_BYTES {
            body.turn = Some(Turn::take(body.bytes.len()).await?);
        }
        Ok(body)
    }

    /// A small body that was received already. It takes no share: nothing is waited for while it is read.
    pub(super) fn of(bytes: &Uint8Array) -> Self {
        Self { bytes: bytes.to_vec(), ..Self::default() }
    }

    /// What is left of a body that was parsed: the turn of a large one, to be kept until it is answered.
    pub(super) fn into_turn(self) -> Option<Turn> {
        self.turn
    }

    /// What was received.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Adds a chunk. Room is taken in steps, as bytes come: who only declares a length takes none.
    fn extend(&mut self, chunk: &Uint8Array, expected: usize) -> Result<(), Error> {
        let needed = self.bytes.len() + chunk.length() as usize;
        if needed > self.bytes.capacity() {
            let doubled = (self.bytes.capacity() * 2).max(LEAST_ROOM);
            let room = doubled.min(expected).max(needed);
            self.share.grow_to(room)?;
            self.bytes.reserve_exact(room - self.bytes.len());
        }
        append(&mut self.bytes, chunk);
        Ok(())
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

/// What one body takes of the memory for all bodies of the isolate.
#[derive(Default)]
struct Share {
    bytes: usize,
}

impl Share {
    /// Takes as much as is missing to this many bytes.
    fn grow_to(&mut self, bytes: usize) -> Result<(), Error> {
        let missing = bytes.saturating_sub(self.bytes);
        TAKEN.with(|taken| {
            let total = taken.get().saturating_add(missing);
            if total > BUDGET_BYTES {
                return Err(Error::TooManyBodies);
            }
            taken.set(total);
            self.bytes += missing;
            Ok(())
        })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        TAKEN.with(|taken| taken.set(taken.get().saturating_sub(self.bytes)));
    }
}

/// The turn of one large body, which ends when this is dropped, or by itself: a send may wait for its agent
/// much longer than its body takes memory here.
pub(super) struct Turn {
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

    /// What the bodies that come in at the moment take.
    static TAKEN: Cell<usize> = const { Cell::new(0) };
}

/// What all bodies that come in at the same time may take of an isolate's memory.
const BUDGET_BYTES: usize = 16 * 1024 * 1024;

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
