//! Sockets between the front Worker and an object: why either side closes one.

use worker::WebSocket;

/// Why a socket was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CloseCode {
    /// Nothing more will come.
    Over,
    /// A page of the log is full: connect again from the position reached.
    More,
    /// The follower does not keep up: connect again once it has.
    TooSlow,
    /// The object cannot read what the follower asked, or its task: another version can.
    Unreadable,
    /// The object cannot open its task now, and has done nothing: ask again.
    Unavailable,
}

impl CloseCode {
    /// The code on the socket.
    pub(super) fn number(self) -> u16 {
        match self {
            Self::Over => 1000,
            Self::More => 4000,
            Self::TooSlow => 4001,
            Self::Unreadable => 4002,
            Self::Unavailable => 4003,
        }
    }
}

/// Closes a socket; one that is closed already stays so.
pub(super) fn close(socket: &WebSocket, code: CloseCode) {
    let _ = socket.close(Some(code.number()), Some(""));
}
