//! What nobody waits for: the consumers of the queues, and what the cron trigger does.

mod consumer;
mod prune;

pub(super) use consumer::consume;
pub(super) use prune::prune;
