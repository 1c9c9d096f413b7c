//! All that a task wants to be woken for, over the one alarm that its object has.

use crate::model::UnixMillis;

/// What falls due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    /// A run is under way: look whether it still is.
    KeepAlive,
    /// The time of the run is over.
    RunTimeout,
    /// The index is behind: write the row.
    Index,
    /// A webhook is owed notifications: let its sender know, again.
    Webhook,
    /// The task is finished and has been kept long enough.
    Retention,
}

impl Due {
    const ALL: [Self; 5] =
        [Self::KeepAlive, Self::RunTimeout, Self::Index, Self::Webhook, Self::Retention];
}

/// What a task waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// While a run is under way: when it must be over.
    pub run_until: Option<UnixMillis>,
    /// Whether the index is behind.
    pub owes_index: bool,
    /// When to try it again, if writing to it has failed.
    pub index_retry: Option<UnixMillis>,
    /// Whether a webhook is owed notifications that may be sent now.
    pub owes_webhook: bool,
    /// When the next of those that have failed is tried again.
    pub webhook_retry: Option<UnixMillis>,
    /// When a finished task is to be deleted.
    pub keep_until: Option<UnixMillis>,
}

/// When what falls due, and for when the alarm is set.
///
/// Setting an alarm is a billed write, so [`update`](Self::update) asks for one only if the earliest deadline
/// is another than the one that is set. When nothing is due any more the alarm is left as it is: to
/// be woken once for nothing costs less than clearing it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deadlines {
    due: [Option<UnixMillis>; Due::ALL.len()],
    armed: Option<UnixMillis>,
}

impl Deadlines {
    /// A table without deadlines, with the alarm set for this instant if at all.
    pub fn new(armed: Option<UnixMillis>) -> Self {
        Self { armed, ..Self::default() }
    }

    /// Follows what the task wants, and says for when the alarm must be set now; `None` if it need not
    /// be touched. `keep_alive_ms` is how soon a task is looked after that has something under way.
    pub fn update(
        &mut self,
        wants: &Wants,
        keep_alive_ms: u64,
        now: UnixMillis,
    ) -> Option<UnixMillis> {
        let keep_alive = i64::try_from(keep_alive_ms).unwrap_or(i64::MAX);
        let soon = UnixMillis(now.0.saturating_add(keep_alive));
        // Whatever the alarm was set for, it is as good as another one for looking after the task.
        let armed = self.armed.filter(|armed| *armed > now && *armed < soon);
        let look = |known: Option<UnixMillis>| {
            let known = known.filter(|known| *known > now && *known <= soon);
            Some(known.or(armed).unwrap_or(soon))
        };
        let is_running = wants.run_until.is_some();
        let keep_alive = if is_running { look(self.get(Due::KeepAlive)) } else { None };
        let index = match (wants.owes_index, wants.index_retry) {
            (true, None) => look(self.get(Due::Index)),
            (true, retry) => retry,
            (false, _) => None,
        };
        let webhook = if wants.owes_webhook { look(self.get(Due::Webhook)) } else { None };
        let webhook = webhook.into_iter().chain(wants.webhook_retry).min();
        let run_timeout = wants.run_until.filter(|at| *at > now);
        self.due = [keep_alive, run_timeout, index, webhook, wants.keep_until];
        self.arm()
    }

    /// When something falls due.
    fn get(&self, what: Due) -> Option<UnixMillis> {
        self.due.get(what as usize).copied().flatten()
    }

    /// The earliest deadline.
    pub fn next(&self) -> Option<UnixMillis> {
        Due::ALL.into_iter().filter_map(|what| self.get(what)).min()
    }

    fn arm(&mut self) -> Option<UnixMillis> {
        let next = self.next().filter(|next| self.armed != Some(*next))?;
        self.armed = Some(next);
        Some(next)
    }

    /// The alarm has fired, or could not be set: none is set now.
    pub fn disarm(&mut self) {
        self.armed = None;
    }
}
