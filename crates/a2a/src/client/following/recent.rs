//! The newest events of a stream, by which repeated events are recognized.

use std::collections::VecDeque;

/// The id and the data of each of the newest events.
#[derive(Default)]
pub(super) struct Recent(VecDeque<(String, u64)>);

impl Recent {
    /// Adds an event. Returns true if the event is new. An event with a known id and different data is new.
    pub(super) fn is_new(&mut self, id: &str, data: u64) -> bool {
        let event = (id.to_owned(), data);
        if self.0.contains(&event) {
            return false;
        }
        self.0.push_back(event);
        if self.0.len() > MAX_RECENT {
            self.0.pop_front();
        }
        true
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

const MAX_RECENT: usize = 128;
