//! What runs without a client that waits: the consumer of the queues, and the clean-up of the cron trigger.

mod attempt;
mod consumer;
mod post;
mod prune;

pub(super) use consumer::consume;
pub(super) use prune::prune;
