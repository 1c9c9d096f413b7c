//! Statements that a task sends outside of its object: the time limit of an attempt, and the time between attempts.

use std::future::Future;
use std::pin::{Pin, pin};

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
    let mut statement = pin!(statement);
    let result = answered_within(clock, statement.as_mut(), STATEMENT_LIMIT_MS).await;
    result.unwrap_or_else(no_answer)
}

/// As [`within_limit`]; calls `late` if there is no result after `late_ms` milliseconds. A statement that is answered by then
/// sets one timer.
///
/// # Errors
///
/// As [`within_limit`].
pub(super) async fn within_limit_unless_late(
    clock: &dyn Clock,
    statement: impl Future<Output = Result<(), String>>,
    late_ms: u64,
    late: &dyn Fn(),
) -> Result<(), String> {
    let mut statement = pin!(statement);
    let first_ms = late_ms.min(STATEMENT_LIMIT_MS);
    if first_ms > 0
        && let Some(result) = answered_within(clock, statement.as_mut(), first_ms).await
    {
        return result;
    }
    late();
    let rest_ms = STATEMENT_LIMIT_MS - first_ms;
    let result = answered_within(clock, statement, rest_ms).await;
    result.unwrap_or_else(no_answer)
}

/// The result of a statement; `None` if there is none after this time in milliseconds.
async fn answered_within(
    clock: &dyn Clock,
    statement: Pin<&mut impl Future<Output = Result<(), String>>>,
    limit_ms: u64,
) -> Option<Result<(), String>> {
    match select(statement, clock.sleep(limit_ms)).await {
        Either::Left((result, _)) => Some(result),
        Either::Right(_) => None,
    }
}

fn no_answer() -> Result<(), String> {
    Err(format!("no answer within {STATEMENT_LIMIT_MS} ms"))
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
