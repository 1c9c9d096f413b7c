//! Panics at the doors of the Worker, where futures become promises of JavaScript.

use futures_util::TryFutureExt;
use futures_util::future::MapErr;
use wasm_bindgen::prelude::*;

use crate::panic::{Catching, Panicked};

/// The output of a future that may panic.
///
/// # Errors
///
/// [`PanicError`] if the future panics.
pub(in crate::edge) fn caught<'a, T>(
    future: impl Future<Output = T> + 'a,
) -> MapErr<Catching<'a, T>, fn(Panicked) -> PanicError> {
    Catching::new(Box::pin(future)).map_err(|_| PanicError)
}

/// The error of a call that has panicked.
#[derive(Debug, Clone, Copy)]
pub(in crate::edge) struct PanicError;

const MESSAGE: &str = "internal error: a panic; the log has its message";

impl From<PanicError> for JsValue {
    fn from(_: PanicError) -> Self {
        JsError::new(MESSAGE).into()
    }
}

impl From<PanicError> for worker::Error {
    fn from(_: PanicError) -> Self {
        Self::RustError(MESSAGE.to_owned())
    }
}

/// Has JavaScript catch panics, and writes the message of each to the log. Called by JavaScript for each instance, after the
/// start functions of all crates: that of the `worker` crate sets a hook, too.
#[allow(unreachable_pub, reason = "what JavaScript calls must be public")]
#[wasm_bindgen(js_name = catchPanics)]
pub fn catch_panics() {
    crate::panic::catch_by(|call| attempt(&mut || call()));
    std::panic::set_hook(Box::new(|panic| report(&panic.to_string())));
}

#[wasm_bindgen(module = "/js/panic.js")]
extern "C" {
    /// Calls a function; returns false if it was stopped.
    fn attempt(call: &mut dyn FnMut()) -> bool;

    /// Writes the message of a panic to the log, with the stack.
    fn report(message: &str);
}

/// True if a panic has made this instance unusable. Called by JavaScript when no function of the instance is running.
#[allow(unreachable_pub, reason = "what JavaScript calls must be public")]
#[wasm_bindgen(js_name = isBroken)]
pub fn is_broken() -> bool {
    crate::panic::is_broken()
}
