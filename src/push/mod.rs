//! The pure decisions about webhooks: which URLs may be called, how notifications are signed, and retries after failed attempts (spec
//! §3.5.3, §13.2). `edge` sends the notifications.

mod answer;
mod check;
mod crowd;
mod delivery;
pub mod guard;
mod notification;
mod origin;
pub mod signature;
mod trials;

pub use answer::{AnswerText, Hidden};
pub use check::{Checked, Signer};
pub use crowd::{Crowd, MAX_SILENT_AT_ONCE, patience_ms};
pub use delivery::{
    Attempt, DeadLetter, Delivery, Health, Report, RetryPolicy, Standing, Verdict, retry_after_s,
};
pub use notification::{GivenUp, NextNotification, Notification, NotificationTurn};
pub use origin::{host_of, origin_of};
pub use trials::Trials;
