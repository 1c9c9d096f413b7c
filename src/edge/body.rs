//! Receiving the bodies of requests: how large one may be, how long it may take, and how much memory
//! all that come in at the same time may take together.

use std::cell::Cell;
use std::future::Future;
use std::time::Duration;

use futures_util::future::{Either, select};
use js_sys::{Object, Promise, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use worker::{Delay, Request, console_warn};

use super::front::header;
use crate::error::Error;

/// A body, which takes its share of the memory for bodies until it is dropped.
#[derive(Default)]
pub(super) struct Body {
    bytes: Vec<u8>,
    share: Share,
}

impl Body {
    /// Receives the body of a request, of at most `limit` bytes: refused by its declared length before
    /// any of it is read, and by its real length while it comes in. A small one of declared length is
    /// received by the platform in one go, without timers: while it stalls it takes no memory of ours.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`]; [`Error::BodyIncomplete`] if it breaks off; [`Error::BodyTimeout`] if it
    /// stalls or takes too long; [`Error::TooManyBodies`] if there is no memory for it.
    pub(super) async fn receive(request: &mut Request, limit: usize) -> Result<Self, Error> {
        let declared = header(request, "content-length").and_then(|text| text.parse().ok());
        if declared.is_some_and(|length| length > limit) {
            return Err(Error::TooLarge(limit));
        }
        let mut body = Self::default();
        if request.inner().body().is_none() {
            return Ok(body);
        }
        if let Some(length) = declared.filter(|length| *length <= LEAST_ROOM) {
            let whole = request.inner().array_buffer().map_err(|error| incomplete(&error))?;
            let whole = JsFuture::from(whole).await.map_err(|error| incomplete(&error))?;
            let whole = Uint8Array::new(&whole);
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
        Ok(body)
    }

    /// What was received.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Adds a chunk. Room is taken in steps, as bytes come: who only declares a length takes none.
    fn extend(&mut self, chunk: &Uint8Array, expected: usize) -> Result<(), Error> {
        let before = self.bytes.len();
        let needed = before + chunk.length() as usize;
        if needed > self.bytes.capacity() {
            let doubled = (self.bytes.capacity() * 2).max(LEAST_ROOM);
            let room = doubled.min(expected).max(needed);
            self.share.grow_to(room)?;
            self.bytes.reserve_exact(room - self.bytes.len());
        }
        self.bytes.resize(needed, 0);
        if let Some(free) = self.bytes.get_mut(before..) {
            chunk.copy_to(free);
        }
        Ok(())
    }
}

/// The chunks of a body, all in one buffer. The platform's own chunks are new ones each, which stay until
/// its next garbage collection: several times what the body takes.
struct Chunks {
    reader: ByobReader,
    buffer: Option<Uint8Array>,
}

impl Chunks {
    fn of(request: &Request) -> Result<Self, JsValue> {
        let body = JsValue::from(request.inner().body());
        let options = Object::new();
        Reflect::set(&options, &"mode".into(), &"byob".into())?;
        let reader = body.unchecked_ref::<ByteStream>().get_reader(&options)?;
        Ok(Self { reader, buffer: Some(Uint8Array::new_with_length(CHUNK_BYTES)) })
    }

    /// The next chunk, which is valid until the one after it; `None` at the end.
    async fn next(&mut self) -> Result<Option<Uint8Array>, JsValue> {
        if let Some(last) = self.buffer.take() {
            let whole = Uint8Array::new(&last.buffer());
            let read = JsFuture::from(self.reader.read(&whole)).await?;
            let view = Reflect::get(&read, &"value".into())?;
            if !Reflect::get(&read, &"done".into())?.is_truthy() {
                let view = Uint8Array::from(view);
                self.buffer = Some(view.clone());
                return Ok(Some(view));
            }
        }
        Ok(None)
    }
}

#[wasm_bindgen]
extern "C" {
    type ByteStream;
    type ByobReader;

    #[wasm_bindgen(method, catch, js_name = getReader)]
    fn get_reader(this: &ByteStream, options: &Object) -> Result<ByobReader, JsValue>;

    /// Reads into the buffer of a view, which cannot be used any more: the result has a new one of it.
    #[wasm_bindgen(method)]
    fn read(this: &ByobReader, into: &Uint8Array) -> Promise;
}

/// The body of a request that the front Worker sent to an object, as text.
///
/// # Errors
///
/// When it cannot be read.
pub(super) async fn read_text(request: &Request) -> worker::Result<String> {
    let mut text = Vec::new();
    let mut chunks = Chunks::of(request)?;
    while let Some(chunk) = chunks.next().await? {
        let before = text.len();
        text.resize(before + chunk.length() as usize, 0);
        if let Some(free) = text.get_mut(before..) {
            chunk.copy_to(free);
        }
    }
    String::from_utf8(text).map_err(|error| worker::Error::RustError(error.to_string()))
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

thread_local! {
    /// What the bodies that come in at the moment take.
    static TAKEN: Cell<usize> = const { Cell::new(0) };
}

/// What all bodies that come in at the same time may take of an isolate's memory.
const BUDGET_BYTES: usize = 16 * 1024 * 1024;

/// How much of a body is read at once.
const CHUNK_BYTES: u32 = 32 * 1024;

/// The room that a body is given first; one that fits it is small.
const LEAST_ROOM: usize = 64 * 1024;

/// How long a body may stand still.
const SILENCE: Duration = Duration::from_secs(30);

/// How long a body may take altogether.
const PATIENCE: Duration = Duration::from_secs(120);
