//! All that a task wants to be woken for, over the one alarm that its object has.

use a2a::model::UnixMillis;

/// When what falls due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Due {
    /// A run is under way: look whether it still is.
    keep_alive: Option<UnixMillis>,
    /// The time of the run is over.
    run_timeout: Option<UnixMillis>,
    /// A parked run goes on.
    parked: Option<UnixMillis>,
    /// A debt is owed: pay it.
    debts: [Option<UnixMillis>; DEBTS],
    /// A webhook is owed notifications: put a job into the queue again.
    webhook: Option<UnixMillis>,
    /// The task is finished and has been kept long enough.
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

/// What is known of the alarm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Armed {
    /// Nothing: it may be set, for any instant.
    Unknown,
    /// It is not set.
    #[default]
    No,
    /// It is set for this instant.
    For(UnixMillis),
}

impl Armed {
    /// When the alarm rings, if that is known.
    fn at(self) -> Option<UnixMillis> {
        match self {
            Self::For(at) => Some(at),
            Self::Unknown | Self::No => None,
        }
    }
}

/// What a task waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// While a run is under way: when it must be over.
    pub run_until: Option<UnixMillis>,
    /// While a run is parked: when it goes on.
    pub parked_until: Option<UnixMillis>,
    /// The debts to those who follow the task: the index, the sums of usage, the list of webhooks in trouble.
    pub debts: [Option<Owed>; DEBTS],
    /// While a webhook is owed notifications that may be sent now: when to look whether a sender came.
    pub webhook_look: Option<UnixMillis>,
    /// When the next of those that have failed is tried again.
    pub webhook_retry: Option<UnixMillis>,
    /// When a finished task is to be deleted.
    pub keep_until: Option<UnixMillis>,
}

/// A debt that is not paid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Owed {
    /// When to try it again, if paying has failed.
    pub retry: Option<UnixMillis>,
}

/// The number of debts that a task may have.
pub const DEBTS: usize = 3;

/// When what falls due, and for when the alarm is set.
///
/// Setting an alarm is a billed write, so [`update`](Self::update) asks for one only if the earliest deadline
/// is another than the one that is set. When nothing is due any more the alarm is left as it is: to
/// be woken once for nothing costs less than clearing it. No alarm is ever set in the past: it would ring at
/// once, and again for as long as what is due cannot be done.
///
/// While nothing is known of the alarm, whatever is due but the retention sets it: that was due since the task has
/// finished, and what was due then has set an alarm that is no later.
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

    /// The alarm is as it was found, unless it was set meanwhile.
    pub fn learn(&mut self, found: Option<UnixMillis>) {
        if self.armed == Armed::Unknown {
            self.armed = found.map_or(Armed::No, Armed::For);
        }
    }

    /// Follows what the task wants, and says for when the alarm must be set now; `None` if it need not
    /// be touched. `keep_alive_ms` is how soon a task is looked after that has something under way.
    pub fn update(
        &mut self,
        wants: &Wants,
        keep_alive_ms: u64,
        now: UnixMillis,
    ) -> Option<UnixMillis> {
        let soon = after(now, keep_alive_ms);
        let at_once = after(now, SOON_MS);
        let future = |at: Option<UnixMillis>| at.filter(|at| *at > now);
        // For looking after the task, each instant up to this one is as good, so one that is set is kept.
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
        // One whose time has come is about to ring: what is due is done then, and the next one set.
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

    /// The alarm has fired, or could not be set: none is set now, and what is due is looked after.
    pub fn disarm(&mut self) {
        *self = Self::default();
    }
}

fn after(instant: UnixMillis, millis: u64) -> UnixMillis {
    UnixMillis(instant.0.saturating_add(i64::try_from(millis).unwrap_or(i64::MAX)))
}

/// How soon the alarm rings for what should have been done already, in milliseconds.
const SOON_MS: u64 = 1_000;

/// How late an alarm rings at most, in milliseconds; one that is later than that was lost.
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
