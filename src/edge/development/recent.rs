//! A list that remembers the newest entries only.

use std::collections::VecDeque;

use serde::Serialize;
use serde_json::Value;

/// The newest [`CAPACITY`] entries, oldest first.
#[derive(Default, Serialize)]
#[serde(transparent)]
pub(super) struct Recent(VecDeque<Value>);

impl Recent {
    /// The newest entry that is meant.
    pub(super) fn newest(&self, is_meant: impl Fn(&Value) -> bool) -> Option<&Value> {
        self.0.iter().rev().find(|entry| is_meant(entry))
    }

    /// Adds an entry; forgets the oldest if there are too many.
    pub(super) fn push(&mut self, entry: Value) {
        self.0.push_back(entry);
        if self.0.len() > CAPACITY {
            self.0.pop_front();
        }
    }
}

/// How many entries are remembered.
const CAPACITY: usize = 1_000;
