//! What opens a session.

/// What opens a session, and what is known by that of its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// A request. There may be a task, and the alarm may be set.
    ByRequest,
    /// The alarm. There may be a task, and the alarm is not set any more.
    ByAlarm,
    /// A send to an object that nobody has asked anything before: it holds nothing, and its alarm is not set. If that
    /// is wrong, storing fails, and nothing is lost.
    New,
}
