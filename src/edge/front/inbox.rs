//! What came over a socket from an object and was not looked at yet. Without the socket, so that it can be tested.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;

use tokio::sync::Notify;

use crate::edge::socket::CloseCode;

/// The frames that wait for a client, and whether the socket was closed.
#[derive(Default)]
pub(super) struct Inbox {
    frames: RefCell<VecDeque<String>>,
    bytes: Cell<usize>,
    closed: Cell<Option<u16>>,
    changed: Notify,
}

impl Inbox {
    /// Keeps a frame. If the client does not keep up, this is the last one: gives the reason to close the socket.
    pub(super) fn receive(&self, frame: String) -> Option<CloseCode> {
        if self.closed.get().is_some() {
            return None;
        }
        self.bytes.set(self.bytes.get() + frame.len());
        self.frames.borrow_mut().push_back(frame);
        let is_full = self.bytes.get() > MAX_QUEUED_BYTES;
        if is_full {
            self.close(CloseCode::TooSlow.number());
        }
        self.changed.notify_waiters();
        is_full.then_some(CloseCode::TooSlow)
    }

    /// Notes that the socket was closed. Of several codes the first one counts.
    pub(super) fn close(&self, code: u16) {
        if self.closed.get().is_none() {
            self.closed.set(Some(code));
        }
        self.changed.notify_waiters();
    }

    /// The code with which the socket was closed, once it is.
    pub(super) fn closed(&self) -> Option<u16> {
        self.closed.get()
    }

    /// Completes when a frame has come, or the socket was closed, since the call.
    pub(super) fn changed(&self) -> impl Future<Output = ()> {
        self.changed.notified()
    }

    /// The frames that came since the last call.
    pub(super) fn take(&self) -> VecDeque<String> {
        self.bytes.set(0);
        self.frames.take()
    }
}

/// How much may wait for a client that reads slowly, in bytes. The log is the buffer beyond that.
const MAX_QUEUED_BYTES: usize = 1024 * 1024;

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn frames_are_taken_once_and_in_their_order() {
        let inbox = Inbox::default();
        for frame in ["a", "b"] {
            assert_eq!(inbox.receive(frame.to_owned()), None);
        }
        assert_eq!(inbox.take(), ["a", "b"]);
        assert!(inbox.take().is_empty());
    }

    #[test]
    fn a_client_that_does_not_keep_up_loses_its_socket_and_no_frame_that_came() {
        let inbox = Inbox::default();
        let half = || "x".repeat(MAX_QUEUED_BYTES / 2);
        assert_eq!(inbox.receive(half()), None);
        assert_eq!(inbox.receive(half()), None, "it is full, and not more than that");
        assert_eq!(inbox.receive("y".to_owned()), Some(CloseCode::TooSlow));
        assert_eq!(inbox.closed(), Some(CloseCode::TooSlow.number()));
        assert_eq!(inbox.receive("z".to_owned()), None, "what comes later is asked for again");
        assert_eq!(inbox.take().len(), 3);
    }

    #[test]
    fn a_client_that_reads_has_the_whole_room_again() {
        let inbox = Inbox::default();
        for _ in 0..5 {
            assert_eq!(inbox.receive("x".repeat(MAX_QUEUED_BYTES)), None);
            assert_eq!(inbox.take().len(), 1);
        }
    }

    #[test]
    fn the_first_reason_to_close_counts() {
        let inbox = Inbox::default();
        assert_eq!(inbox.closed(), None);
        inbox.close(CloseCode::Over.number());
        inbox.close(0);
        assert_eq!(inbox.closed(), Some(CloseCode::Over.number()));
    }

    #[test]
    fn whoever_waits_is_woken_by_a_frame_and_by_the_end() {
        let inbox = Inbox::default();
        let arrive = |inbox: &Inbox| assert_eq!(inbox.receive("a".to_owned()), None);
        let end = |inbox: &Inbox| inbox.close(CloseCode::Over.number());
        let changes: [fn(&Inbox); 2] = [arrive, end];
        for change in changes {
            let mut changed = Box::pin(inbox.changed());
            assert!(changed.as_mut().now_or_never().is_none());
            change(&inbox);
            assert!(changed.now_or_never().is_some());
        }
    }
}
