//! Values that were fetched from other servers, in the table `remembered` of D1. `crate::remembered` decides; this module carries
//! out the decisions.
//!
//! Requests of an instance share only plain data. No request waits for a promise or a future of another request, since the
//! platform may drop a request with all its promises. While another request fetches a value, a request that needs the value
//! polls for it with its own timers, up to [`PATIENCE_MS`].

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use futures_util::future::{Either, LocalBoxFuture, select};
use wasm_bindgen_futures::JsFuture;
use worker::js_sys::Array;
use worker::wasm_bindgen::{JsCast, JsValue};
use worker::worker_sys::types as platform;
use worker::{Delay, Env, Error, Result};

use super::background::go_on;
use super::clock::now;
use super::observer::ConsoleObserver;
use super::rows::{read_row, rows};
use crate::edge::bindings;
use crate::panic::Shared;
use crate::port::{Observation, Observer};
use crate::remembered::{
    Claim, Job, LEASE_MS, MAX_KEY_BYTES, MAX_VALUE_BYTES, Memories, Memory, Need, Remembered, Step,
    UNUSED_MS,
};
use a2a::model::UnixMillis;

/// A value that is fetched from another server and remembered.
#[derive(Clone)]
pub(in crate::edge) struct Source {
    /// The key of the value's row. A value whose key is longer than [`MAX_KEY_BYTES`] has no row.
    pub(in crate::edge) key: String,
    /// The longest time after the fetch for which the value may be used, in milliseconds.
    pub(in crate::edge) usable_ms: u64,
    /// Fetches the value, with its own time limit. The argument is the known value, if there is one.
    pub(in crate::edge) fetch: Rc<dyn Fn(Option<Remembered>) -> LocalBoxFuture<'static, Fetched>>,
}

/// The result of a fetch: `None` if no value can be used; the operator has then been informed of the reason.
pub(in crate::edge) type Fetched = Option<FetchedValue>;

/// A value that was fetched.
pub(in crate::edge) struct FetchedValue {
    /// At most [`MAX_VALUE_BYTES`]; a larger value is not used.
    pub(in crate::edge) value: String,
    /// The time for which the value is fresh: [`fresh_ms`](crate::remembered::fresh_ms).
    pub(in crate::edge) fresh_ms: u64,
}

/// The result of recalling a value.
pub(in crate::edge) enum Recalled {
    /// The value.
    Value(Remembered),
    /// There is no newer value.
    NothingNewer,
    /// No value is available at the moment.
    Unavailable,
}

impl Source {
    /// The value from memory, from its row, or fetched.
    pub(in crate::edge) async fn recall(&self, env: &Env, need: Need) -> Recalled {
        let until = now().after(PATIENCE_MS);
        let mut pause = FIRST_LOOK;
        loop {
            let step = self.memory(|memory| memory.step(need, self.usable_ms, now()));
            match step {
                Step::Use(value) => return Recalled::Value(value),
                Step::UseBeside(value, job) => {
                    let _ = self.begin(env, job);
                    return Recalled::Value(value);
                }
                // The promise is rejected only if the job has panicked.
                Step::Do(job) => drop(JsFuture::from(self.begin(env, job)).await),
                Step::Wait => {
                    Delay::from(pause).await;
                    pause = (pause * 2).min(LAST_LOOK);
                }
                Step::NothingNewer => return Recalled::NothingNewer,
                Step::Unavailable => return Recalled::Unavailable,
            }
            if now() > until {
                return Recalled::Unavailable;
            }
        }
    }

    /// Starts a job. The job continues if the client disconnects, since other requests wait for its result.
    fn begin(&self, env: &Env, job: Job) -> worker::js_sys::Promise {
        self.memory(|memory| memory.begin(now()));
        let (source, env) = (self.clone(), env.clone());
        go_on(async move {
            match job {
                Job::Read => {
                    let row = source.row(&env).await.unwrap_or(None);
                    source.memory(|memory| memory.has_read(row, now()));
                }
                Job::Fetch => source.fetch(&env, None).await,
                Job::Refresh(claim) => source.refresh(&env, claim).await,
            }
        })
    }

    /// Fetches the value again, unless another instance does. Without a row, or if the database does not answer, instances cannot
    /// coordinate.
    async fn refresh(&self, env: &Env, claim: Claim) {
        let (is_ours, row) = match self.claim(env, claim).await {
            Some((is_ours, Some(row))) => (is_ours, Some(row)),
            Some((_, None)) | None => (true, None),
        };
        if is_ours {
            return self.fetch(env, row).await;
        }
        let known = self.memory(|memory| memory.known().map(|known| known.fetched));
        let is_newer = |row: &Option<Remembered>| row.as_ref().map(|row| row.fetched) > known;
        match claim {
            Claim::Stale => self.memory(|memory| memory.has_read(row, now())),
            Claim::Fresh if is_newer(&row) => self.memory(|memory| memory.has_read(row, now())),
            // Another instance is fetching the value.
            Claim::Fresh => {
                for pause in LOOKS {
                    Delay::from(pause).await;
                    let row = self.row(env).await.unwrap_or(None);
                    if is_newer(&row) {
                        return self.memory(|memory| memory.has_read(row, now()));
                    }
                }
                self.memory(|memory| memory.has_failed(row, now()));
            }
        }
    }

    async fn fetch(&self, env: &Env, row: Option<Remembered>) {
        let known = self.memory(|memory| memory.known().cloned());
        let fetched = (self.fetch)(known).await;
        let Some(FetchedValue { value, fresh_ms }) =
            fetched.filter(|fetched| fetched.value.len() <= MAX_VALUE_BYTES)
        else {
            return self.memory(|memory| memory.has_failed(row, now()));
        };
        let value =
            Remembered { value: value.into(), fetched: now(), fresh_until: now().after(fresh_ms) };
        self.memory(|memory| memory.has_fetched(value.clone()));
        // The value is stored in the background.
        let (source, env) = (self.clone(), env.clone());
        let _ = go_on(async move { source.store(&env, &value).await });
    }

    /// The current row; the outer `None` if the database does not answer.
    async fn row(&self, env: &Env) -> Option<Option<Remembered>> {
        let key = self.row_key()?;
        let rows = told(env, "read", run(env, vec![(SELECT, vec![key])])).await?;
        rows.into_iter().flatten().next().map(remembered)
    }

    /// Claims the row, and reads it. The `bool` is true if this instance has the lease; without a row, the `bool` has no
    /// meaning.
    async fn claim(&self, env: &Env, claim: Claim) -> Option<(bool, Option<Remembered>)> {
        let (key, now) = (self.row_key()?, now());
        let update = match claim {
            Claim::Stale => CLAIM_STALE,
            Claim::Fresh => CLAIM_FRESH,
        };
        let values = vec![
            key.clone(),
            millis(now.after(LEASE_MS)),
            millis(now),
            // The begin of a lease that ends now. A value that was fetched after this instant is not claimed.
            millis(UnixMillis(now.0.saturating_sub(millis_of_lease()))),
        ];
        let values = values.into_iter().take(match claim {
            Claim::Stale => 3,
            Claim::Fresh => 4,
        });
        let statements = vec![(update, values.collect()), (SELECT, vec![key])];
        let mut rows = told(env, "claim", run(env, statements)).await?.into_iter();
        let is_ours = rows.next().is_some_and(|claimed| !claimed.is_empty());
        let row = rows.next().and_then(|rows| rows.into_iter().next());
        Some((is_ours, row.and_then(remembered)))
    }

    /// Stores a value, unless a newer value is stored.
    async fn store(&self, env: &Env, value: &Remembered) {
        let Some(key) = self.row_key() else { return };
        let Remembered { value, fetched, fresh_until } = value;
        let values = vec![key, JsValue::from_str(value), millis(*fetched), millis(*fresh_until)];
        let _ = told(env, "store", run(env, vec![(STORE, values)])).await;
    }

    fn row_key(&self) -> Option<JsValue> {
        (self.key.len() <= MAX_KEY_BYTES).then(|| JsValue::from_str(&self.key))
    }

    fn memory<T>(&self, with: impl FnOnce(&mut Memory) -> T) -> T {
        MEMORIES.change(|memories| with(memories.of(&self.key, now())))
    }
}

/// Deletes the rows that were not fetched again for [`UNUSED_MS`]; at most once a day in one instance.
pub(in crate::edge) async fn clean_up(env: &Env) {
    let is_clean = |cleaned: UnixMillis| now().millis_since(cleaned) < CLEAN_MS;
    if CLEANED.get().is_some_and(is_clean) {
        return;
    }
    CLEANED.set(Some(now()));
    let unused = i64::try_from(UNUSED_MS).unwrap_or(i64::MAX);
    let before = millis(UnixMillis(now().0.saturating_sub(unused)));
    let _ = told(env, "clean up", run(env, vec![(DELETE, vec![before])])).await;
}

/// The result of the database, if it arrives in time. If not, the operator is informed, and the instance continues without the
/// row; this also covers a new Worker whose database was not migrated yet.
async fn told<T>(env: &Env, what: &str, work: impl Future<Output = Result<T>>) -> Option<T> {
    let in_time = select(Box::pin(work), Delay::from(DATABASE_PATIENCE)).await;
    let reason = match in_time {
        Either::Left((Ok(given), _)) => return Some(given),
        Either::Left((Err(error), _)) => error.to_string(),
        Either::Right(_) => "D1 did not answer in time".to_owned(),
    };
    let observation = Observation::RememberingFailed { what, reason: &reason };
    ConsoleObserver::of(env).observe(&observation);
    None
}

/// Runs statements in one transaction and one round trip; returns the rows of each.
async fn run(env: &Env, statements: Vec<(&str, Vec<JsValue>)>) -> Result<Vec<Vec<JsValue>>> {
    let database = bindings::database(env)?;
    let prepared = Array::new();
    for (sql, values) in &statements {
        prepared.push(database.prepare(*sql).bind(values)?.inner());
    }
    let database: &platform::D1Database = database.as_ref().unchecked_ref();
    let results = Array::from(&JsFuture::from(database.batch(prepared)?).await?);
    let mut all = Vec::with_capacity(statements.len());
    for result in results.iter() {
        let result: platform::D1Result = result.unchecked_into();
        if let Some(error) = result.error()? {
            return Err(Error::RustError(error));
        }
        all.push(result.results()?.map(|rows| rows.to_vec()).unwrap_or_default());
    }
    Ok(all)
}

/// Reads a row; `None` if the row cannot be read, which counts as a missing row.
fn remembered(row: JsValue) -> Option<Remembered> {
    let KeptRow { value, fetched_ms, fresh_until_ms } = read_row(row).ok()?;
    Some(Remembered {
        value: value.into(),
        fetched: UnixMillis(fetched_ms as i64),
        fresh_until: UnixMillis(fresh_until_ms as i64),
    })
}

/// A number: D1 does not accept the BigInt that an i64 becomes.
fn millis(instant: UnixMillis) -> JsValue {
    JsValue::from_f64(instant.0 as f64)
}

fn millis_of_lease() -> i64 {
    i64::try_from(LEASE_MS).unwrap_or(i64::MAX)
}

rows! {
    struct KeptRow {
        value: String,
        fetched_ms: f64,
        fresh_until_ms: f64,
    }
}

thread_local! {
    static MEMORIES: RefCell<Memories> = RefCell::default();
    /// The time of the last clean-up by this instance.
    static CLEANED: Cell<Option<UnixMillis>> = const { Cell::new(None) };
}

const SELECT: &str = "SELECT value, fetched_ms, fresh_until_ms FROM remembered WHERE key = ?1";

/// ?2 is the end of the new lease, ?3 is now.
const CLAIM_STALE: &str = "UPDATE remembered SET fresh_until_ms = ?2 \
    WHERE key = ?1 AND fresh_until_ms <= ?3 RETURNING key";

/// Like `CLAIM_STALE`, but also claims a fresh row that is not leased: its freshness ends later than a lease that begins now. The
/// value must have been fetched before ?4, the beginning of a lease that ends now.
const CLAIM_FRESH: &str = "UPDATE remembered SET fresh_until_ms = ?2 \
    WHERE key = ?1 AND (fresh_until_ms <= ?3 OR fresh_until_ms > ?2) AND fetched_ms <= ?4 RETURNING key";

const STORE: &str = "INSERT INTO remembered (key, value, fetched_ms, fresh_until_ms) \
    VALUES (?1, ?2, ?3, ?4) ON CONFLICT (key) DO UPDATE SET value = excluded.value, \
    fetched_ms = excluded.fetched_ms, fresh_until_ms = excluded.fresh_until_ms \
    WHERE excluded.fetched_ms >= remembered.fetched_ms";

const DELETE: &str = "DELETE FROM remembered WHERE fetched_ms < ?1";

/// The longest time that a request waits for a value, in milliseconds.
const PATIENCE_MS: u64 = 14_000;

/// The first pause of a request that waits for the job of another request. Each later pause is twice as long, up to
/// [`LAST_LOOK`], because thousands of requests may wait at the same time.
const FIRST_LOOK: Duration = Duration::from_millis(10);
const LAST_LOOK: Duration = Duration::from_millis(320);

/// The pauses between reads of a row that another instance is about to write.
const LOOKS: [Duration; 4] = [
    Duration::from_millis(250),
    Duration::from_millis(500),
    Duration::from_millis(1_000),
    Duration::from_millis(2_000),
];

/// The shortest time between two clean-ups of the table by one instance: a day, in milliseconds.
const CLEAN_MS: u64 = 24 * 60 * 60_000;

/// The time limit for an answer of the database.
const DATABASE_PATIENCE: Duration = Duration::from_secs(3);
