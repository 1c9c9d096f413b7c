//! The usage sums of callers, in memory.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use async_trait::async_trait;

use crate::port::{CountedTurn, UsageSums, yield_once};
use crate::usage::Usage;
use a2a::model::TaskId;

/// Usage sums that can fail, or lose their answers.
#[derive(Default)]
pub struct MemoryUsage {
    turns: RefCell<BTreeMap<(String, TaskId, u64), CountedTurn>>,
    statements: Cell<usize>,
    fails: Cell<bool>,
    is_lossy: Cell<bool>,
}

impl MemoryUsage {
    /// The turns that were counted.
    pub fn turns(&self) -> Vec<CountedTurn> {
        self.turns.borrow().values().cloned().collect()
    }

    /// The usage of a caller with an agent on a day.
    pub fn sum(&self, day: &str, owner: &str, agent: &str) -> Usage {
        let turns = self.turns.borrow();
        let of = |turn: &&CountedTurn| {
            turn.turn.day() == day && turn.owner == owner && turn.agent == agent
        };
        turns.values().filter(of).fold(Usage::NOTHING, |sum, turn| sum.plus(turn.turn.usage))
    }

    /// Forgets all turns, as an operator has an owner forgotten.
    pub fn forget(&self) {
        self.turns.borrow_mut().clear();
    }

    /// The number of statements so far, including failed ones.
    pub fn statements(&self) -> usize {
        self.statements.get()
    }

    /// Makes every statement fail from now on, or succeed again.
    pub fn set_failing(&self, fails: bool) {
        self.fails.set(fails);
    }

    /// Lets every statement take effect without an answer from now on, or answers again.
    pub fn set_lossy(&self, is_lossy: bool) {
        self.is_lossy.set(is_lossy);
    }
}

#[async_trait(?Send)]
impl UsageSums for MemoryUsage {
    async fn count(&self, turn: CountedTurn) -> Result<(), String> {
        self.statements.set(self.statements.get() + 1);
        yield_once().await;
        if self.fails.get() {
            return Err("the sums were told to fail".to_owned());
        }
        let key = (turn.turn.day(), turn.task.clone(), turn.turn.turn);
        self.turns.borrow_mut().entry(key).or_insert(turn);
        if self.is_lossy.get() {
            std::future::pending::<()>().await;
        }
        Ok(())
    }
}
