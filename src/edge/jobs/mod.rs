//! What nobody waits for: the consumers of the queues, and what the cron trigger does.

mod attempt;
mod consumer;
mod post;
mod prune;

pub(super) use consumer::consume;
pub(super) use prune::prune;
