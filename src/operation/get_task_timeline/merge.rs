//! The order of a timeline: the log, and among its lines the attempts to reach webhooks, by time.
//!
//! The log keeps its order, and so do the attempts of one webhook. An attempt comes behind the event that it tells, whatever the
//! clocks say.

use std::collections::VecDeque;

use super::log::LogReader;
use super::token::Cursor;
use crate::push::Attempt;
use crate::session::LoggedLine;
use a2a::error::Error;
use a2a::model::TimelineOrder;

/// What tells an attempt at a webhook from others at the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) at: i64,
    pub(super) generation: u64,
    pub(super) attempt: u32,
}

/// The attempts of all webhooks that a page may show.
pub(super) struct Attempts(Vec<OfWebhook>);

/// An attempt, and whose it is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OneAttempt {
    /// The id of the webhook.
    pub(super) webhook: String,
    /// Its URL, which may hold secrets.
    pub(super) url: String,
    /// The attempt.
    pub(super) attempt: Attempt,
}

struct OfWebhook {
    id: String,
    url: String,
    left: VecDeque<Attempt>,
    /// The attempt that was shown last, going forward.
    shown: Option<Mark>,
}

/// What comes next in a timeline.
pub(super) enum Next {
    /// A line of the log.
    Logged(LoggedLine),
    /// An attempt to reach a webhook.
    Attempt(OneAttempt),
}

/// The log and the attempts in one order.
pub(super) struct Merge<'a> {
    order: TimelineOrder,
    log: LogReader<'a>,
    attempts: Attempts,
}

impl Mark {
    fn of(attempt: &Attempt) -> Self {
        Self { at: attempt.at, generation: attempt.generation, attempt: attempt.attempt }
    }
}

impl Attempts {
    /// Those of the webhooks that a page from this cursor on may show.
    pub(super) fn of(webhooks: Vec<(String, String, VecDeque<Attempt>)>, cursor: &Cursor) -> Self {
        let of_webhook = |(id, url, mut left): (String, String, VecDeque<Attempt>)| {
            let known = cursor
                .attempts
                .as_ref()
                .map(|known| known.iter().find(|(known, _)| *known == id).map(|(_, mark)| *mark));
            let place = |mark: Mark| left.iter().rposition(|attempt| Mark::of(attempt) == mark);
            let shown = match (cursor.order, known) {
                (_, None) => None,
                (TimelineOrder::Asc, Some(shown)) => {
                    // One that is not kept any more was older than all that are.
                    let count = shown.and_then(place).map_or(0, |index| index + 1);
                    left.drain(..count);
                    shown
                }
                (TimelineOrder::Desc, Some(next)) => {
                    left.truncate(next.and_then(place).map_or(0, |index| index + 1));
                    None
                }
            };
            OfWebhook { id, url, left, shown }
        };
        Self(webhooks.into_iter().map(of_webhook).collect())
    }

    /// The newest attempt of each webhook.
    pub(super) fn newest(
        webhooks: Vec<(String, String, VecDeque<Attempt>)>,
    ) -> Vec<(String, Mark)> {
        let newest =
            webhooks.into_iter().filter_map(|(id, _, all)| Some((id, Mark::of(all.back()?))));
        newest.collect()
    }

    /// The index of the webhook whose attempt comes next, and the attempt.
    fn peek(&self, order: TimelineOrder) -> Option<(usize, &Attempt)> {
        let heads = self.0.iter().enumerate();
        match order {
            TimelineOrder::Asc => heads
                .filter_map(|(index, webhook)| Some((index, webhook.left.front()?)))
                .min_by_key(|(index, attempt)| (attempt.at, *index)),
            TimelineOrder::Desc => heads
                .filter_map(|(index, webhook)| Some((index, webhook.left.back()?)))
                .max_by_key(|(index, attempt)| (attempt.at, *index)),
        }
    }

    fn take(&mut self, order: TimelineOrder, index: usize) -> Option<OneAttempt> {
        let webhook = self.0.get_mut(index)?;
        let attempt = match order {
            TimelineOrder::Asc => webhook.left.pop_front(),
            TimelineOrder::Desc => webhook.left.pop_back(),
        }?;
        webhook.shown = Some(Mark::of(&attempt));
        Some(OneAttempt { webhook: webhook.id.clone(), url: webhook.url.clone(), attempt })
    }

    fn marks(&self, order: TimelineOrder) -> Vec<(String, Mark)> {
        let mark = |webhook: &OfWebhook| match order {
            TimelineOrder::Asc => webhook.shown,
            TimelineOrder::Desc => webhook.left.back().map(Mark::of),
        };
        let marks = self.0.iter().filter_map(|webhook| Some((webhook.id.clone(), mark(webhook)?)));
        marks.collect()
    }
}

impl<'a> Merge<'a> {
    pub(super) fn new(order: TimelineOrder, log: LogReader<'a>, attempts: Attempts) -> Self {
        Self { order, log, attempts }
    }

    /// What comes next; none at the end.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] when storage fails.
    pub(super) fn next(&mut self) -> Result<Option<Next>, Error> {
        let attempt = self.attempts.peek(self.order);
        let line = self.log.peek()?;
        let takes_attempt = match (&attempt, line, self.order) {
            (None, _, _) => false,
            (Some(_), None, _) => true,
            (Some((_, attempt)), Some(line), TimelineOrder::Asc) => !is_behind(attempt, line),
            (Some((_, attempt)), Some(line), TimelineOrder::Desc) => is_behind(attempt, line),
        };
        Ok(match attempt.map(|(index, _)| index).filter(|_| takes_attempt) {
            Some(index) => self.attempts.take(self.order, index).map(Next::Attempt),
            None => self.log.take().map(Next::Logged),
        })
    }

    /// Whether nothing comes next.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] when storage fails.
    pub(super) fn is_over(&mut self) -> Result<bool, Error> {
        Ok(self.attempts.peek(self.order).is_none() && self.log.peek()?.is_none())
    }

    /// Where to go on.
    pub(super) fn cursor(&self) -> Cursor {
        let attempts = Some(self.attempts.marks(self.order));
        Cursor { order: self.order, place: self.log.place(), attempts }
    }
}

/// Whether an attempt comes behind a line of the log.
fn is_behind(attempt: &Attempt, line: &LoggedLine) -> bool {
    if line.generation < attempt.generation {
        return true;
    }
    if line.generation == attempt.generation && line.is_event {
        return true;
    }
    match line.at {
        Some(at) => at.0 <= attempt.at,
        None => line.generation <= attempt.generation,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use a2a::model::UnixMillis;

    #[test]
    fn an_attempt_comes_behind_its_event_and_otherwise_by_time() {
        let attempt = Attempt { at: 100, generation: 3, ..Attempt::default() };
        for (generation, is_event, at, expected) in [
            (2, true, Some(500), true),
            (3, true, Some(500), true),
            (3, false, Some(99), true),
            (3, false, Some(100), true),
            (3, false, Some(101), false),
            (4, true, Some(99), true),
            (4, true, Some(101), false),
            (3, false, None, true),
            (4, true, None, false),
        ] {
            let at = at.map(UnixMillis);
            let line = LoggedLine { generation, is_event, at, json: String::new() };
            assert_eq!(is_behind(&attempt, &line), expected, "{line:?}");
        }
    }
}
