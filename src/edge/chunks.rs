//! Reads the bytes of a request's body in chunks, or at once.

use js_sys::{Object, Promise, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use worker::Request;

/// The chunks of a body, all read into one buffer. A default reader of the platform makes a new buffer for each
/// chunk, and these stay until its next garbage collection: several times the size of the body.
pub(super) struct Chunks {
    reader: ByobReader,
    buffer: Option<Uint8Array>,
}

impl Chunks {
    /// The chunks of the body of a request that has one.
    ///
    /// # Errors
    ///
    /// If the request has no body, or its body was read already.
    pub(super) fn of(request: &Request) -> Result<Self, JsValue> {
        let body = JsValue::from(request.inner().body());
        let options = Object::new();
        Reflect::set(&options, &"mode".into(), &"byob".into())?;
        let reader = body.unchecked_ref::<ByteStream>().get_reader(&options)?;
        Ok(Self { reader, buffer: Some(Uint8Array::new_with_length(CHUNK_BYTES)) })
    }

    /// The next chunk, which is valid until the following call; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Uint8Array>, JsValue> {
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

    /// Reads into the buffer of a view. The view becomes unusable; the result contains a new view of the same buffer.
    #[wasm_bindgen(method)]
    fn read(this: &ByobReader, into: &Uint8Array) -> Promise;
}

/// A body that the platform receives in one call.
///
/// # Errors
///
/// If the body breaks off.
pub(super) async fn whole(request: &Request) -> Result<Uint8Array, JsValue> {
    let buffer = JsFuture::from(request.inner().array_buffer()?).await?;
    Ok(Uint8Array::new(&buffer))
}

/// The size of one chunk, in bytes.
const CHUNK_BYTES: u32 = 32 * 1024;
