//! The deadlines of a task, of which the earliest sets the one alarm of its object.

use a2a::model::UnixMillis;

/// The deadlines by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Due {
    /// Check that the current run still exists.
    keep_alive: Option<UnixMillis>,
    /// The run times out.
    run_timeout: Option<UnixMillis>,
    /// A parked run is resumed.
    parked: Option<UnixMillis>,
    /// Pay a debt.
    debts: [Option<UnixMillis>; DEBTS],
    /// Put a job for an owed webhook into the queue again.
    webhook: Option<UnixMillis>,
    /// Delete the finished task.
    retention: Option<UnixMillis>,
}

impl Due {
    fn earliest(&self) -> Option<UnixMillis> {
        let Self { retention, .. } = *self;
        self.earliest_but_retention().into_iter().chain(retention).min()
    }

    fn earliest_but_retention(&self) -> Option<UnixMillis> {
        let Self { keep_alive, run_timeout, parked, debts, webhook, retention: _ } = *self;
        let others = [keep_alive, run_timeout, parked, webhook];
        debts.into_iter().chain(others).flatten().min()
    }
}

/// The state of the alarm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Armed {
    /// Not known.
    Unknown,
    /// Not set.
    #[default]
    No,
    /// Set for this instant.
    For(UnixMillis),
}

impl Armed {
    /// The instant for which the alarm is set, if that is known.
    fn at(self) -> Option<UnixMillis> {
        match self {
            Self::For(at) => Some(at),
            Self::Unknown | Self::No => None,
        }
    }
}

/// The needs of a task from which the deadlines follow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// The instant at which the current run times out.
    pub run_until: Option<UnixMillis>,
    /// The instant at which a parked run is resumed.
    pub parked_until: Option<UnixMillis>,
    /// The unpaid debts: the index, the sums of usage, the list of webhooks in trouble.
    pub debts: [Option<Owed>; DEBTS],
    /// The instant at which to check that a consumer has fetched the notification, if one can be sent now.
    pub webhook_look: Option<UnixMillis>,
    /// The instant of the next attempt of a failed notification.
    pub webhook_retry: Option<UnixMillis>,
    /// The instant at which the finished task must be deleted.
    pub keep_until: Option<UnixMillis>,
}

/// A debt that is not paid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Owed {
    /// The instant of the next attempt, if paying has failed.
    pub retry: Option<UnixMillis>,
}

/// The number of debts that a task may have.
pub const DEBTS: usize = 3;

/// The deadlines of a task and the state of its alarm.
///
/// Setting an alarm is a billed write, so [`update`](Self::update) returns an instant only if the earliest deadline differs from the one that
/// is set. Without any deadline the alarm stays set: one unneeded alarm costs less than clearing it. No alarm is set in the past: it would
/// fire at once, and again as long as the due work cannot be done.
///
/// While the state of the alarm is not known, each deadline except the retention sets the alarm. The retention deadline exists
/// since the end of the task, and an alarm at that deadline or earlier was set at the end of the task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deadlines {
    due: Due,
    armed: Armed,
}

impl Deadlines {
    /// A table without deadlines.
    pub fn new(armed: Armed) -> Self {
        Self { armed, ..Self::default() }
    }

    /// Records the state of the alarm that was read from the platform, unless the alarm was set meanwhile.
    pub fn learn(&mut self, found: Option<UnixMillis>) {
        if self.armed == Armed::Unknown {
            self.armed = found.map_or(Armed::No, Armed::For);
        }
    }

    /// Updates the deadlines. Returns the instant for which the alarm has to be set now; `None` if the alarm is right. `keep_alive_ms` is the
    /// interval at which present work is checked.
    pub fn update(
        &mut self,
        wants: &Wants,
        keep_alive_ms: u64,
        now: UnixMillis,
    ) -> Option<UnixMillis> {
        let soon = after(now, keep_alive_ms);
        let at_once = after(now, SOON_MS);
        let future = |at: Option<UnixMillis>| at.filter(|at| *at > now);
        // For a check of current work, any earlier instant serves as well, so an alarm that is set is kept.
        let look = |known: Option<UnixMillis>, by: UnixMillis| {
            let known = future(known).filter(|known| *known <= by);
            known.or(future(self.armed.at()).filter(|armed| *armed < by)).unwrap_or(by)
        };
        let exact = |known: Option<UnixMillis>, at: UnixMillis| {
            if at > now {
                return at;
            }
            future(known).map_or(at_once, |known| known.min(at_once))
        };
        let known = self.due;
        let pay = |known: Option<UnixMillis>, owed: Owed| match owed.retry {
            None => look(known, soon),
            Some(retry) => exact(known, retry),
        };
        let mut debts = known.debts;
        for (due, owed) in debts.iter_mut().zip(wants.debts) {
            *due = owed.map(|owed| pay(*due, owed));
        }
        let webhook_look = wants.webhook_look.map(|by| look(known.webhook, by.max(at_once)));
        let webhook_retry = wants.webhook_retry.map(|at| exact(known.webhook, at));
        self.due = Due {
            keep_alive: wants.run_until.map(|_| look(known.keep_alive, soon)),
            run_timeout: future(wants.run_until),
            parked: wants
                .parked_until
                .map(|at| if at > now { at } else { look(known.parked, soon) }),
            debts,
            webhook: webhook_look.into_iter().chain(webhook_retry).min(),
            retention: wants.keep_until.map(|at| exact(known.retention, at)),
        };
        self.arm(now)
    }

    /// The earliest deadline.
    pub fn next(&self) -> Option<UnixMillis> {
        self.due.earliest()
    }

    fn arm(&mut self, now: UnixMillis) -> Option<UnixMillis> {
        // An alarm whose instant has passed is about to fire: the due work is done then, and the next alarm is set.
        let rings = |armed: UnixMillis| armed <= now && now < after(armed, RING_LIMIT_MS);
        if self.armed.at().is_some_and(rings) {
            return None;
        }
        if self.armed == Armed::Unknown && self.due.earliest_but_retention().is_none() {
            return None;
        }
        let next = self.next().filter(|next| self.armed != Armed::For(*next))?;
        self.armed = Armed::For(next);
        Some(next)
    }

    /// Records that the alarm has fired or could not be set: no alarm is set now.
    pub fn disarm(&mut self) {
        *self = Self::default();
    }
}

fn after(instant: UnixMillis, millis: u64) -> UnixMillis {
    UnixMillis(instant.0.saturating_add(i64::try_from(millis).unwrap_or(i64::MAX)))
}

/// The delay of an alarm for overdue work, in milliseconds.
const SOON_MS: u64 = 1_000;

/// The longest delay of the platform's alarm, in milliseconds; an alarm that is later was lost.
const RING_LIMIT_MS: u64 = 60_000;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KEEP_ALIVE_MS: u64 = 30_000;

    fn at(millis: i64) -> Option<UnixMillis> {
        Some(UnixMillis(millis))
    }

    fn update(table: &mut Deadlines, wants: &Wants, now: i64) -> Option<UnixMillis> {
        table.update(wants, KEEP_ALIVE_MS, UnixMillis(now))
    }

    #[test]
    fn what_is_overdue_rings_soon_and_is_not_pushed_forward() {
        let now = 100_000;
        let overdue = at(now - 50);
        for wants in [
            Wants { webhook_retry: overdue, ..Wants::default() },
            Wants { webhook_look: overdue, ..Wants::default() },
            Wants { keep_until: overdue, ..Wants::default() },
            Wants { debts: [Some(Owed { retry: overdue }), None, None], ..Wants::default() },
            Wants { debts: [None, Some(Owed { retry: overdue }), None], ..Wants::default() },
            Wants { debts: [None, None, Some(Owed { retry: overdue })], ..Wants::default() },
        ] {
            let mut table = Deadlines::default();
            let set = update(&mut table, &wants, now).expect("an alarm");
            assert!(set.0 > now, "{wants:?}");
            assert_eq!(update(&mut table, &wants, now + 400), None, "{wants:?}");
            assert_eq!(
                update(&mut table, &wants, set.0 + 3),
                None,
                "it is about to ring: {wants:?}"
            );
            table.disarm();
            let again = update(&mut table, &wants, set.0 + 3).expect("an alarm");
            assert!(again.0 > set.0 + 3, "{wants:?}");
        }
    }

    #[test]
    fn a_look_is_not_moved_by_one_that_is_wanted_later() {
        let mut table = Deadlines::default();
        let look = |by| Wants { webhook_look: at(by), ..Wants::default() };
        assert_eq!(update(&mut table, &look(30_000), 0), at(30_000));
        assert_eq!(update(&mut table, &look(31_000), 1_000), None);
        assert_eq!(
            update(&mut table, &look(20_000), 1_000),
            at(20_000),
            "but by one that is sooner"
        );
        let retry = Wants { webhook_retry: at(90_000), ..Wants::default() };
        assert_eq!(update(&mut table, &retry, 2_000), at(90_000), "a retry is exact");
    }

    #[test]
    fn an_alarm_that_never_rang_is_set_again() {
        let mut table = Deadlines::new(Armed::For(UnixMillis(1_000)));
        let wants = Wants { webhook_look: at(500_000), ..Wants::default() };
        assert_eq!(update(&mut table, &wants, 2_000), None);
        assert_eq!(update(&mut table, &wants, 100_000), at(500_000));
    }

    #[test]
    fn an_alarm_that_is_not_known_is_set_unless_only_the_retention_is_due() {
        let finished = Wants { keep_until: at(900_000), ..Wants::default() };
        let owing = Wants { webhook_look: at(30_000), ..finished.clone() };
        let mut table = Deadlines::new(Armed::Unknown);
        assert_eq!(update(&mut table, &finished, 0), None);
        assert_eq!(update(&mut table, &owing, 0), at(30_000));
        table.learn(at(20_000));
        assert_eq!(update(&mut table, &owing, 0), None, "it was set meanwhile");

        for (found, set) in [(None, at(30_000)), (at(20_000), None), (at(40_000), at(30_000))] {
            let mut table = Deadlines::new(Armed::Unknown);
            table.learn(found);
            assert_eq!(update(&mut table, &owing, 0), set, "found {found:?}");
        }
    }

    fn instant() -> impl Strategy<Value = Option<UnixMillis>> {
        proptest::option::of((0..200_000i64).prop_map(UnixMillis))
    }

    proptest! {
        #[test]
        fn no_alarm_is_set_in_the_past(
            steps in proptest::collection::vec(
                (
                    (instant(), any::<bool>(), instant()),
                    (instant(), instant(), instant()),
                    0..20_000i64,
                    any::<bool>(),
                ),
                1..30,
            ),
        ) {
            let mut table = Deadlines::default();
            let mut now = 0;
            for ((run_until, owes_index, index_retry), (look, retry, keep_until), pause, rings) in steps {
                now += pause;
                if rings {
                    table.disarm();
                }
                let wants = Wants {
                    run_until,
                    parked_until: retry,
                    debts: [
                        owes_index.then_some(Owed { retry: index_retry }),
                        rings.then_some(Owed { retry: look }),
                        owes_index.then_some(Owed { retry }),
                    ],
                    webhook_look: look,
                    webhook_retry: retry,
                    keep_until,
                };
                let set = update(&mut table, &wants, now);
                prop_assert!(set.is_none_or(|set| set.0 > now), "{set:?} at {now}");
                prop_assert!(table.next().is_none_or(|next| next.0 > now));
            }
        }
    }
}
