//! Sockets between the front Worker and an object: the codes with which an object closes a socket. `js/client-stream.js` has
//! all codes.

use worker::WebSocket;

/// The reason for closing a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CloseCode {
    /// The stream has ended.
    Over,
    /// A page of the log is full: connect again from the last position.
    More,
    /// The object cannot read the request of the follower, or its own task: another version can.
    Unreadable,
    /// The object cannot open its task now, and has done nothing: repeat the request.
    Unavailable,
}

impl CloseCode {
    /// The code on the socket.
    pub(super) fn number(self) -> u16 {
        match self {
            Self::Over => 1000,
            Self::More => 4000,
            Self::Unreadable => 4002,
            Self::Unavailable => 4003,
        }
    }
}

/// Closes a socket; does nothing to a closed socket.
pub(super) fn close(socket: &WebSocket, code: CloseCode) {
    let _ = socket.close(Some(code.number()), Some(""));
}
