//! Background work without a waiting client: the consumer of the queues, and the cron trigger.

mod consumer;
mod deletion;
mod expiry;

pub(super) use consumer::consume;
pub(super) use expiry::expire;
