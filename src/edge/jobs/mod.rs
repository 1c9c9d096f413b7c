//! Background work without a waiting client: the consumer of the queues, and the cron trigger.

mod attempt;
mod consumer;
mod deletion;
mod expiry;
mod post;

pub(super) use consumer::consume;
pub(super) use expiry::expire;
pub(super) use post::Poster;
