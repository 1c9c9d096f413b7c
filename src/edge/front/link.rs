//! The socket from the front Worker to the object of a task.

use std::collections::VecDeque;
use std::future::Future;
use std::rc::Rc;

use wasm_bindgen::prelude::*;
use worker::WebSocket;

use super::inbox::Inbox;
use crate::edge::command::StreamCommand;
use crate::edge::objects::{AskError, Object};
use crate::edge::socket::{CloseCode, close};

/// An open socket to the object, which ends when this is dropped.
pub(super) struct Link {
    socket: WebSocket,
    inbox: Rc<Inbox>,
    on_message: Closure<dyn FnMut(web_sys::MessageEvent)>,
    on_close: Closure<dyn FnMut(web_sys::CloseEvent)>,
}

impl Link {
    /// Listens to a socket and accepts it.
    fn new(socket: WebSocket) -> worker::Result<Self> {
        let inbox = Rc::new(Inbox::default());
        let raw: &web_sys::WebSocket = socket.as_ref();

        let (for_message, sender) = (inbox.clone(), socket.clone());
        let receive = move |event: web_sys::MessageEvent| {
            if let Some(code) = for_message.receive(event.data().as_string().unwrap_or_default()) {
                close(&sender, code);
            }
        };
        let on_message = Closure::wrap_assert_unwind_safe(Box::new(receive) as Box<dyn FnMut(_)>);
        raw.add_event_listener_with_callback("message", on_message.as_ref().unchecked_ref())?;

        let for_close = inbox.clone();
        let end = move |event: web_sys::CloseEvent| for_close.close(event.code());
        let on_close = Closure::wrap_assert_unwind_safe(Box::new(end) as Box<dyn FnMut(_)>);
        raw.add_event_listener_with_callback("close", on_close.as_ref().unchecked_ref())?;
        // An error is followed by no close event when the other side is gone.
        raw.add_event_listener_with_callback("error", on_close.as_ref().unchecked_ref())?;

        let link = Self { socket, inbox, on_message, on_close };
        link.socket.accept()?;
        Ok(link)
    }

    /// The code with which the socket was closed, once it is.
    pub(super) fn closed(&self) -> Option<u16> {
        self.inbox.closed()
    }

    /// Completes when anything has come, or the socket was closed, since the call.
    pub(super) fn changed(&self) -> impl Future<Output = ()> {
        self.inbox.changed()
    }

    /// What has come since the last call.
    pub(super) fn take(&self) -> VecDeque<String> {
        self.inbox.take()
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let raw: &web_sys::WebSocket = self.socket.as_ref();
        let message = self.on_message.as_ref().unchecked_ref();
        let end = self.on_close.as_ref().unchecked_ref();
        let _ = raw.remove_event_listener_with_callback("message", message);
        let _ = raw.remove_event_listener_with_callback("close", end);
        let _ = raw.remove_event_listener_with_callback("error", end);
        close(&self.socket, CloseCode::Over);
    }
}

/// Connects to the object of a task and tells it what is wanted.
///
/// # Errors
///
/// When the object has as many followers as it may, or cannot be reached.
pub(super) async fn connect(object: &Object, hello: &StreamCommand) -> Result<Link, AskError> {
    let link = Link::new(object.follow().await?)?;
    let text = serde_json::to_string(hello).map_err(worker::Error::from)?;
    link.socket.send_with_str(text)?;
    Ok(link)
}
