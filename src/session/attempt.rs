//! Statements that a task sends outside of its object: the time limit of an attempt, and the time between attempts.

use std::future::Future;
use std::pin::pin;

use futures_util::future::{Either, select};

use crate::port::Clock;
use a2a::model::doubled;

/// Waits for the result of a statement, up to a time limit.
///
/// # Errors
///
/// If the statement has failed or was not answered in time. The statement may have had an effect.
pub(super) async fn within_limit(
    clock: &dyn Clock,
    statement: impl Future<Output = Result<(), String>>,
) -> Result<(), String> {
    match select(pin!(statement), clock.sleep(STATEMENT_LIMIT_MS)).await {
        Either::Left((result, _)) => result,
        Either::Right(_) => Err(format!("no answer within {STATEMENT_LIMIT_MS} ms")),
    }
}

/// The time before the next attempt after this number of failures, in milliseconds.
pub(super) fn retry_delay_ms(failures: u32) -> u64 {
    doubled(1_000, failures, MAX_RETRY_DELAY_MS)
}

/// The time without an answer after which a statement counts as failed, in milliseconds. The statement may still have an effect:
/// repeating a statement changes nothing, and an older statement does not undo a newer statement.
const STATEMENT_LIMIT_MS: u64 = 10_000;

/// The longest time between two attempts: 5 minutes, in milliseconds.
const MAX_RETRY_DELAY_MS: u64 = 300_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_come_less_and_less_often() {
        let delays: Vec<u64> = [1, 2, 3, 9, 10, 100, u32::MAX].map(retry_delay_ms).into();
        assert_eq!(delays, [1_000, 2_000, 4_000, 256_000, 300_000, 300_000, 300_000]);
    }
}
