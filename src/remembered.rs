//! Values that were fetched from another server and are kept for a while: how long a value may be used, and which request
//! fetches it again. Pure: time is an argument, and the next action is returned as a [`Step`].
//!
//! A value is first *fresh*. Then it is *stale*: it is still used, while a job fetches it again in the background. At last it
//! is *too old*: it is not used before it is fetched again. All instances of the Worker share the rows; a [`Memory`] is one
//! instance's copy of one row.

use std::rc::Rc;

use a2a::binding::http::OWS;
use a2a::model::UnixMillis;
use a2a::sorted::SortedMap;

/// A value, with the end of its freshness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remembered {
    /// The value: at most [`MAX_VALUE_BYTES`].
    pub value: Rc<str>,
    /// The instant at which the value was fetched.
    pub fetched: UnixMillis,
    /// The end of the value's freshness. An instance that begins to fetch the value again moves this end by [`LEASE_MS`].
    pub fresh_until: UnixMillis,
}

/// The age of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Age {
    /// The value is used as it is.
    Fresh,
    /// The value is used, and fetched again in the background.
    Stale,
    /// The value is not used.
    TooOld,
}

impl Remembered {
    /// The age of the value, which may be used for `usable_ms` after it was fetched.
    pub fn age(&self, usable_ms: u64, now: UnixMillis) -> Age {
        if now >= self.fetched.after(usable_ms) {
            Age::TooOld
        } else if now >= self.fresh_until {
            Age::Stale
        } else {
            Age::Fresh
        }
    }
}

/// Which value a request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Any value that may be used.
    Usable,
    /// Only a value that was fetched after this instant, because the value of this instant lacks something. All such requests
    /// together cause at most one fetch in [`LEASE_MS`].
    NewerThan(UnixMillis),
}

/// The next action of a request that needs a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Use this value.
    Use(Remembered),
    /// Use this value, and run the job in the background.
    UseBeside(Remembered, Job),
    /// Do this job, then call [`Memory::step`] again.
    Do(Job),
    /// Another request does a job: wait a little, then call [`Memory::step`] again.
    Wait,
    /// The newest value was fetched a moment ago; there is no newer value.
    NothingNewer,
    /// No value is available: an attempt has failed a moment ago.
    Unavailable,
}

/// A job for a value. An instance does one job for a value at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// Read the row of the value.
    Read,
    /// Fetch the value, since no value may be used.
    Fetch,
    /// Fetch the value again, unless another instance does.
    Refresh(Claim),
}

/// The condition for claiming a row. A claim moves `fresh_until` on by [`LEASE_MS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The value of the row is stale.
    Stale,
    /// The value is stale, or it was fetched at least [`LEASE_MS`] ago and is not claimed.
    Fresh,
}

/// An instance's copy of a row.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    known: Option<Remembered>,
    /// The instant at which the row was read.
    read: Option<UnixMillis>,
    /// The instant at which the last attempt to fetch a newer value failed, if no attempt has succeeded since.
    failed: Option<UnixMillis>,
    /// The latest end of the job that is under way.
    busy_until: Option<UnixMillis>,
}

impl Memory {
    /// The next action of a request that needs the value. The request reports the result by the other methods.
    pub fn step(&self, need: Need, usable_ms: u64, now: UnixMillis) -> Step {
        let is_busy = self.busy_until.is_some_and(|until| now < until);
        let within = |instant: Option<UnixMillis>, millis: u64| {
            instant.is_some_and(|instant| now.millis_since(instant) < millis)
        };
        let known = self.known.as_ref().map(|known| (known, known.age(usable_ms, now)));
        let Some((known, age @ (Age::Fresh | Age::Stale))) = known else {
            return match () {
                () if is_busy => Step::Wait,
                () if within(self.failed, PAUSE_MS) => Step::Unavailable,
                // Another instance may have fetched the value.
                () if !within(self.read, PAUSE_MS) => Step::Do(Job::Read),
                () => Step::Do(Job::Fetch),
            };
        };
        match need {
            Need::NewerThan(seen) if known.fetched <= seen => match () {
                () if now.millis_since(known.fetched) < LEASE_MS => Step::NothingNewer,
                () if is_busy => Step::Wait,
                () if within(self.failed, PAUSE_MS) => Step::Unavailable,
                () => Step::Do(Job::Refresh(Claim::Fresh)),
            },
            Need::NewerThan(_) | Need::Usable => match age {
                Age::Stale if !is_busy && !within(self.failed, LEASE_MS) => {
                    Step::UseBeside(known.clone(), Job::Refresh(Claim::Stale))
                }
                Age::Stale | Age::Fresh | Age::TooOld => Step::Use(known.clone()),
            },
        }
    }

    /// Records that a job begins. Other requests wait for its end, or for [`BUSY_MS`] if the job never ends.
    pub fn begin(&mut self, now: UnixMillis) {
        self.busy_until = Some(now.after(BUSY_MS));
    }

    /// Records the end of a job that has read the row.
    pub fn has_read(&mut self, row: Option<Remembered>, now: UnixMillis) {
        self.read = Some(now);
        self.busy_until = None;
        self.take(row);
    }

    /// Records the end of a job that has fetched the value.
    pub fn has_fetched(&mut self, value: Remembered) {
        self.failed = None;
        self.busy_until = None;
        self.take(Some(value));
    }

    /// Records the end of a job that was to fetch a newer value and has not. The job may have read the row.
    pub fn has_failed(&mut self, row: Option<Remembered>, now: UnixMillis) {
        self.failed = Some(now);
        self.busy_until = None;
        self.take(row);
    }

    /// True if a job is under way.
    pub fn is_busy(&self, now: UnixMillis) -> bool {
        self.busy_until.is_some_and(|until| now < until)
    }

    /// The known value.
    pub fn known(&self) -> Option<&Remembered> {
        self.known.as_ref()
    }

    /// Keeps the newer of the known value and this one.
    fn take(&mut self, row: Option<Remembered>) {
        let Some(row) = row else { return };
        match &self.known {
            Some(known) if known.fetched > row.fetched => {}
            Some(_) | None => self.known = Some(row),
        }
    }
}

/// An instance's copies of all rows that it has needed, by their keys: at most [`MAX_MEMORIES`], with values of at most
/// [`MAX_MEMORY_BYTES`] in total. Beyond that, the values that were fetched first are dropped.
#[derive(Debug, Default)]
pub struct Memories(SortedMap<String, Memory>);

impl Memories {
    /// The instance's copy of the row with this key.
    pub fn of(&mut self, key: &str, now: UnixMillis) -> &mut Memory {
        if !self.0.contains_key(key) {
            self.make_room(now);
        }
        self.0.get_or_insert_with(key.to_owned(), Memory::default)
    }

    fn make_room(&mut self, now: UnixMillis) {
        while self.0.len() >= MAX_MEMORIES || self.bytes() > MAX_MEMORY_BYTES {
            let idle = self.0.iter().filter(|(_, memory)| !memory.is_busy(now));
            let oldest = idle.min_by_key(|(_, memory)| memory.known().map(|known| known.fetched));
            let Some(key) = oldest.map(|(key, _)| key.clone()) else { return };
            self.0.remove(&key);
        }
    }

    fn bytes(&self) -> usize {
        let known = self.0.values().filter_map(Memory::known);
        known.map(|known| known.value.len()).sum()
    }
}

/// How long a value stays fresh, in milliseconds, by the header `Cache-Control` of the answer: `max-age` limited to
/// [`MIN_FRESH_MS`] and [`MAX_FRESH_MS`]; [`FRESH_MS`] without the header.
pub fn fresh_ms(cache_control: Option<&str>) -> u64 {
    let directives =
        cache_control.unwrap_or_default().split(',').map(|part| part.trim_matches(OWS));
    let mut fresh_ms = FRESH_MS;
    for directive in directives {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        let value = value.trim_matches(OWS).trim_matches('"');
        match name.trim_matches(OWS).to_ascii_lowercase().as_str() {
            "no-store" | "no-cache" => return MIN_FRESH_MS,
            "max-age" if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) => {
                // A number too large to parse is larger than the upper limit anyway.
                let seconds: u64 = value.parse().unwrap_or(u64::MAX);
                fresh_ms = seconds.saturating_mul(1_000).clamp(MIN_FRESH_MS, MAX_FRESH_MS);
            }
            _ => {}
        }
    }
    fresh_ms
}

/// The shortest time for which a value is fresh: 5 minutes, in milliseconds.
pub const MIN_FRESH_MS: u64 = 5 * 60_000;

/// How long a value is fresh if its server sends no `Cache-Control`: an hour, in milliseconds.
pub const FRESH_MS: u64 = 60 * 60_000;

/// The longest time for which a value is fresh: 12 hours, in milliseconds.
pub const MAX_FRESH_MS: u64 = 12 * 60 * 60_000;

/// How long one instance alone may fetch the value of a row, and the shortest time between two such attempts: a minute, in
/// milliseconds. Shorter than [`MIN_FRESH_MS`], so that a claimed row differs from a fresh one.
pub const LEASE_MS: u64 = 60_000;

/// How long an instance without a usable value does not call a server again after a failure: 10 s, in milliseconds.
pub const PAUSE_MS: u64 = 10_000;

/// How long a job is waited for: 15 s, in milliseconds. A job whose request was canceled never ends.
pub const BUSY_MS: u64 = 15_000;

/// The largest number of rows in the memory of an instance.
pub const MAX_MEMORIES: usize = 64;

/// The total size of values above which an instance drops some: 4 MiB.
pub const MAX_MEMORY_BYTES: usize = 4 * 1024 * 1024;

/// The largest value: 256 KiB.
pub const MAX_VALUE_BYTES: usize = 256 * 1024;

/// The longest key of a row, in bytes.
pub const MAX_KEY_BYTES: usize = 2_560;

/// The clean-up deletes a row that was not fetched again for this time: a week, in milliseconds. Rows in use are fetched again
/// earlier.
pub const UNUSED_MS: u64 = 7 * 24 * 60 * 60_000;

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_MS: u64 = 24 * 60 * 60_000;
    const T0: UnixMillis = UnixMillis(1_700_000_000_000);

    fn fetched_at(fetched: UnixMillis) -> Remembered {
        Remembered { value: "v".into(), fetched, fresh_until: fetched.after(FRESH_MS) }
    }

    fn known(value: Remembered) -> Memory {
        let mut memory = Memory::default();
        memory.has_read(Some(value), T0);
        memory
    }

    fn step(memory: &Memory, need: Need, after_ms: u64) -> Step {
        memory.step(need, DAY_MS, T0.after(after_ms))
    }

    #[test]
    fn a_value_is_fresh_then_stale_then_too_old() {
        let value = fetched_at(T0);
        for (after_ms, age) in [
            (0, Age::Fresh),
            (FRESH_MS - 1, Age::Fresh),
            (FRESH_MS, Age::Stale),
            (DAY_MS - 1, Age::Stale),
            (DAY_MS, Age::TooOld),
        ] {
            assert_eq!(value.age(DAY_MS, T0.after(after_ms)), age, "{after_ms}");
        }
        let long = Remembered { fresh_until: T0.after(2 * DAY_MS), ..value };
        assert_eq!(
            long.age(DAY_MS, T0.after(DAY_MS)),
            Age::TooOld,
            "however fresh it claims to be"
        );
    }

    #[test]
    fn the_row_is_read_first_and_the_value_is_fetched_if_there_is_none() {
        let mut memory = Memory::default();
        assert_eq!(step(&memory, Need::Usable, 0), Step::Do(Job::Read));
        memory.begin(T0);
        assert_eq!(step(&memory, Need::Usable, 1), Step::Wait, "one request reads it");
        memory.has_read(None, T0.after(5));
        assert_eq!(step(&memory, Need::Usable, 6), Step::Do(Job::Fetch));
        memory.begin(T0.after(6));
        assert_eq!(step(&memory, Need::Usable, 7), Step::Wait, "one request fetches it");
        let value = fetched_at(T0.after(8));
        memory.has_fetched(value.clone());
        assert_eq!(step(&memory, Need::Usable, 9), Step::Use(value));
    }

    #[test]
    fn a_row_of_another_instance_is_used_without_a_fetch() {
        let memory = known(fetched_at(T0));
        assert_eq!(step(&memory, Need::Usable, 1), Step::Use(fetched_at(T0)));
    }

    #[test]
    fn a_stale_value_is_used_by_all_and_fetched_anew_by_one() {
        let mut memory = known(fetched_at(T0));
        let value = || fetched_at(T0);
        let beside = Step::UseBeside(value(), Job::Refresh(Claim::Stale));
        assert_eq!(step(&memory, Need::Usable, FRESH_MS), beside);
        memory.begin(T0.after(FRESH_MS));
        assert_eq!(step(&memory, Need::Usable, FRESH_MS + 1), Step::Use(value()));
        memory.has_failed(None, T0.after(FRESH_MS + 2));
        let then = FRESH_MS + 2 + LEASE_MS;
        assert_eq!(step(&memory, Need::Usable, then - 1), Step::Use(value()), "a pause");
        assert_eq!(step(&memory, Need::Usable, then), beside);
        let newer = fetched_at(T0.after(then));
        memory.has_fetched(newer.clone());
        assert_eq!(step(&memory, Need::Usable, then + FRESH_MS - 1), Step::Use(newer));
    }

    #[test]
    fn a_value_that_another_instance_fetches_anew_is_used_as_if_it_were_fresh() {
        let mut memory = known(fetched_at(T0));
        memory.begin(T0.after(FRESH_MS));
        let leased = Remembered { fresh_until: T0.after(FRESH_MS + LEASE_MS), ..fetched_at(T0) };
        memory.has_read(Some(leased.clone()), T0.after(FRESH_MS + 1));
        assert_eq!(step(&memory, Need::Usable, FRESH_MS + 2), Step::Use(leased));
    }

    #[test]
    fn a_value_that_is_too_old_is_never_used() {
        let mut memory = known(fetched_at(T0));
        for need in [Need::Usable, Need::NewerThan(T0)] {
            assert_eq!(step(&memory, need, DAY_MS), Step::Do(Job::Read), "another may have one");
        }
        memory.has_read(Some(fetched_at(T0)), T0.after(DAY_MS));
        assert_eq!(step(&memory, Need::Usable, DAY_MS + 1), Step::Do(Job::Fetch));
        memory.has_failed(None, T0.after(DAY_MS + 2));
        let failed = |after_ms| step(&memory, Need::Usable, DAY_MS + 2 + after_ms);
        assert_eq!(failed(0), Step::Unavailable);
        assert_eq!(failed(PAUSE_MS - 1), Step::Unavailable);
        assert_eq!(failed(PAUSE_MS), Step::Do(Job::Read));
    }

    #[test]
    fn a_newer_value_is_looked_for_once_a_minute() {
        let mut memory = known(fetched_at(T0));
        let newer = Need::NewerThan(T0);
        assert_eq!(step(&memory, newer, 0), Step::NothingNewer);
        assert_eq!(step(&memory, newer, LEASE_MS - 1), Step::NothingNewer);
        let look = Step::Do(Job::Refresh(Claim::Fresh));
        assert_eq!(step(&memory, newer, LEASE_MS), look);
        memory.begin(T0.after(LEASE_MS));
        assert_eq!(step(&memory, newer, LEASE_MS + 1), Step::Wait);
        assert_eq!(step(&memory, Need::Usable, LEASE_MS + 1), Step::Use(fetched_at(T0)));

        let mut failing = memory.clone();
        failing.has_failed(None, T0.after(LEASE_MS + 2));
        let after = |after_ms| step(&failing, newer, LEASE_MS + 2 + after_ms);
        assert_eq!(after(0), Step::Unavailable, "it is not known that there is none");
        assert_eq!(after(PAUSE_MS), look);

        let found = fetched_at(T0.after(LEASE_MS + 3));
        memory.has_fetched(found.clone());
        assert_eq!(step(&memory, newer, LEASE_MS + 4), Step::Use(found.clone()));
        assert_eq!(step(&memory, Need::NewerThan(found.fetched), LEASE_MS + 4), Step::NothingNewer);
    }

    #[test]
    fn a_job_that_never_ends_is_taken_over() {
        let mut memory = Memory::default();
        memory.begin(T0);
        assert_eq!(step(&memory, Need::Usable, BUSY_MS - 1), Step::Wait);
        assert_eq!(step(&memory, Need::Usable, BUSY_MS), Step::Do(Job::Read));
    }

    #[test]
    fn an_older_row_never_replaces_a_newer_value() {
        let mut memory = known(fetched_at(T0));
        memory.has_read(Some(fetched_at(UnixMillis(T0.0 - 1))), T0);
        assert_eq!(memory.known(), Some(&fetched_at(T0)));
        memory.has_read(None, T0);
        assert_eq!(memory.known(), Some(&fetched_at(T0)), "nor does a row that is gone");
    }

    #[test]
    fn a_clock_that_is_behind_makes_no_value_old() {
        let memory = known(fetched_at(T0.after(5_000)));
        assert_eq!(step(&memory, Need::Usable, 0), Step::Use(fetched_at(T0.after(5_000))));
        assert_eq!(step(&memory, Need::NewerThan(T0.after(5_000)), 0), Step::NothingNewer);
    }

    #[test]
    fn an_instance_forgets_what_was_fetched_first() {
        let mut memories = Memories::default();
        let at = |nth: usize| T0.after(u64::try_from(nth).unwrap());
        for nth in 0..=MAX_MEMORIES {
            memories.of(&nth.to_string(), T0).has_fetched(fetched_at(at(nth)));
            assert!(memories.0.len() <= MAX_MEMORIES);
        }
        assert!(!memories.0.contains_key("0") && memories.0.contains_key("1"));
        memories.of("1", T0).begin(T0);
        memories.of("new", T0);
        assert!(memories.0.contains_key("1"), "a job is under way for it");
        assert!(!memories.0.contains_key("2"));

        let mut memories = Memories::default();
        let large: Rc<str> = "x".repeat(MAX_VALUE_BYTES).into();
        for nth in 0..100 {
            let value = Remembered { value: large.clone(), ..fetched_at(at(nth)) };
            memories.of(&nth.to_string(), T0).has_fetched(value);
            assert!(memories.bytes() <= MAX_MEMORY_BYTES + MAX_VALUE_BYTES);
        }
    }

    #[test]
    fn the_server_says_how_long_a_value_is_fresh_within_bounds() {
        for (header, expected) in [
            (None, FRESH_MS),
            (Some(""), FRESH_MS),
            (Some("public"), FRESH_MS),
            (Some("public, max-age=7200, must-revalidate"), 7_200_000),
            (Some("Max-Age=\"1200\""), 1_200_000),
            (Some("max-age = 900"), 900_000),
            (Some("max-age=0"), MIN_FRESH_MS),
            (Some("max-age=299"), MIN_FRESH_MS),
            (Some("max-age=999999999999999999999999"), MAX_FRESH_MS),
            (Some("max-age=86400"), MAX_FRESH_MS),
            (Some("max-age=-1"), FRESH_MS),
            (Some("max-age=soon"), FRESH_MS),
            (Some("s-maxage=900"), FRESH_MS),
            (Some("no-store"), MIN_FRESH_MS),
            (Some("max-age=7200, no-cache"), MIN_FRESH_MS),
        ] {
            assert_eq!(fresh_ms(header), expected, "{header:?}");
        }
    }

    #[test]
    fn a_claimed_row_is_told_from_a_fresh_one() {
        const { assert!(LEASE_MS < MIN_FRESH_MS) };
        const { assert!(MAX_FRESH_MS < UNUSED_MS) };
    }
}
