//! The order of a timeline: the lines of the log, with the attempts to call webhooks inserted by time.
//!
//! The log keeps its order, and the attempts of one webhook keep theirs. An attempt always follows the event that it reports,
//! even if the clocks differ.

use std::collections::VecDeque;

use super::log::LogReader;
use super::token::{Cursor, Mark};
use crate::push::Attempt;
use crate::session::LoggedLine;
use a2a::error::Error;
use a2a::model::{Generation, TimelineOrder};

/// The attempts of all webhooks that a page may show.
pub(super) struct Attempts(Vec<OfWebhook>);

/// An attempt with its webhook.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OneAttempt {
    /// The id of the webhook.
    pub(super) webhook: String,
    /// The URL of the webhook, which may contain secrets.
    pub(super) url: String,
    /// The attempt.
    pub(super) attempt: Attempt,
}

struct OfWebhook {
    id: String,
    url: String,
    /// The remaining attempts, each with the newest generation that was sent to the webhook up to and including this attempt.
    /// A redelivered attempt itself has a lower generation.
    left: VecDeque<(Generation, Attempt)>,
    /// The last shown attempt, in ascending order.
    shown: Option<Mark>,
}

/// The next entry of a timeline.
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

impl Attempts {
    /// The attempts that a page from this cursor on may show.
    pub(super) fn of(webhooks: Vec<(String, String, VecDeque<Attempt>)>, cursor: &Cursor) -> Self {
        let of_webhook = |(id, url, all): (String, String, VecDeque<Attempt>)| {
            let mut reached = Generation::NONE;
            let with_reached = |attempt: Attempt| {
                reached = attempt.generation.max(reached);
                (reached, attempt)
            };
            let mut left: VecDeque<(Generation, Attempt)> =
                all.into_iter().map(with_reached).collect();
            let known = cursor
                .attempts
                .as_ref()
                .map(|known| known.iter().find(|(known, _)| *known == id).map(|(_, mark)| *mark));
            let place =
                |mark: Mark| left.iter().rposition(|(_, attempt)| Mark::of(attempt) == mark);
            let shown = match (cursor.order, known) {
                (_, None) => None,
                (TimelineOrder::Asc, Some(shown)) => {
                    // If the last shown attempt is no longer kept, all kept attempts are newer.
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

    /// The index of the webhook whose attempt precedes this line of the log, or precedes the end.
    fn before(&self, order: TimelineOrder, line: Option<&LoggedLine>) -> Option<usize> {
        let heads = self.0.iter().enumerate().filter_map(|(index, webhook)| {
            let (reached, attempt) = match order {
                TimelineOrder::Asc => webhook.left.front()?,
                TimelineOrder::Desc => webhook.left.back()?,
            };
            let is_next = line.is_none_or(|line| {
                is_behind(*reached, attempt.at, line) == (order == TimelineOrder::Desc)
            });
            is_next.then_some((attempt.at, index))
        });
        let next = match order {
            TimelineOrder::Asc => heads.min(),
            TimelineOrder::Desc => heads.max(),
        };
        next.map(|(_, index)| index)
    }

    fn take(&mut self, order: TimelineOrder, index: usize) -> Option<OneAttempt> {
        let webhook = self.0.get_mut(index)?;
        let attempt = match order {
            TimelineOrder::Asc => webhook.left.pop_front(),
            TimelineOrder::Desc => webhook.left.pop_back(),
        }?
        .1;
        webhook.shown = Some(Mark::of(&attempt));
        Some(OneAttempt { webhook: webhook.id.clone(), url: webhook.url.clone(), attempt })
    }

    fn marks(&self, order: TimelineOrder) -> Vec<(String, Mark)> {
        let mark = |webhook: &OfWebhook| match order {
            TimelineOrder::Asc => webhook.shown,
            TimelineOrder::Desc => webhook.left.back().map(|(_, next)| Mark::of(next)),
        };
        let marks = self.0.iter().filter_map(|webhook| Some((webhook.id.clone(), mark(webhook)?)));
        marks.collect()
    }
}

impl<'a> Merge<'a> {
    pub(super) fn new(order: TimelineOrder, log: LogReader<'a>, attempts: Attempts) -> Self {
        Self { order, log, attempts }
    }

    /// The next entry; `None` at the end.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] when storage fails.
    pub(super) fn next(&mut self) -> Result<Option<Next>, Error> {
        let line = self.log.peek()?;
        Ok(match self.attempts.before(self.order, line) {
            Some(index) => self.attempts.take(self.order, index).map(Next::Attempt),
            None => self.log.take().map(Next::Logged),
        })
    }

    /// True if there is no next entry.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] when storage fails.
    pub(super) fn is_over(&mut self) -> Result<bool, Error> {
        Ok(self.attempts.before(self.order, None).is_none() && self.log.peek()?.is_none())
    }

    /// The cursor for the next page.
    pub(super) fn cursor(&self) -> Cursor {
        let attempts = Some(self.attempts.marks(self.order));
        Cursor { order: self.order, place: self.log.place(), attempts }
    }
}

/// True if an attempt follows a line of the log. `reached` is the newest generation that was sent to the webhook up to and
/// including this attempt.
fn is_behind(reached: Generation, at: i64, line: &LoggedLine) -> bool {
    let has_reached = line.generation < reached || (line.generation == reached && line.is_event);
    has_reached || line.at.0 <= at
}

#[cfg(test)]
mod tests {
    use super::*;
    use a2a::model::UnixMillis;

    #[test]
    fn an_attempt_comes_behind_its_event_and_otherwise_by_time() {
        for (generation, is_event, at, expected) in [
            (2, true, 500, true),
            (3, true, 500, true),
            (3, false, 99, true),
            (3, false, 100, true),
            (3, false, 101, false),
            (4, true, 99, true),
            (4, true, 101, false),
        ] {
            let at = UnixMillis(at);
            let line = LoggedLine {
                generation: Generation(generation),
                is_event,
                at,
                json: String::new(),
            };
            assert_eq!(is_behind(Generation(3), 100, &line), expected, "{line:?}");
        }
    }
}
