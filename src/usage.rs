//! The use of paid resources by agents: the tokens of models, as model agents count them and as other agents report them. Pure; `session/debts/usage.rs` counts the use of turns,
//! `edge/service/usage.rs` adds it up in D1.

use serde::Serialize;
use serde_json::{Map, Value, json};

use a2a::model::decode::{Decode, Fields};
use a2a::model::{Metadata, UnixMillis};
use a2a::{Allowance, DayLimit, UsedUp};

pub mod models;

use models::ByModel;

/// The requests to models, and their cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// The number of requests.
    pub requests: u64,
    /// Tokens that the model read.
    pub input_tokens: u64,
    /// Tokens that the model wrote.
    pub output_tokens: u64,
    /// The cost in millionths of the currency of the prices; 0 where no prices are known.
    pub cost_micros: u64,
}

impl Usage {
    /// No use.
    pub const NOTHING: Self =
        Self { requests: 0, input_tokens: 0, output_tokens: 0, cost_micros: 0 };

    /// The sum of both.
    #[must_use]
    pub fn plus(self, more: Self) -> Self {
        Self {
            requests: self.requests.saturating_add(more.requests),
            input_tokens: self.input_tokens.saturating_add(more.input_tokens),
            output_tokens: self.output_tokens.saturating_add(more.output_tokens),
            cost_micros: self.cost_micros.saturating_add(more.cost_micros),
        }
    }

    /// The part of the use that is not in `counted`, number by number.
    #[must_use]
    pub fn beyond(self, counted: Self) -> Self {
        Self {
            requests: self.requests.saturating_sub(counted.requests),
            input_tokens: self.input_tokens.saturating_sub(counted.input_tokens),
            output_tokens: self.output_tokens.saturating_sub(counted.output_tokens),
            cost_micros: self.cost_micros.saturating_sub(counted.cost_micros),
        }
    }

    /// The number of tokens that were read and written.
    pub fn tokens(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// True if nothing was used.
    pub fn is_nothing(self) -> bool {
        self == Self::NOTHING
    }

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives the field as it is")]
    fn is_nothing_at(&self) -> bool {
        self.is_nothing()
    }

    /// The members in metadata.
    fn members(self) -> Map<String, Value> {
        let mut members = Map::new();
        members.insert("requests".to_owned(), self.requests.into());
        members.insert("inputTokens".to_owned(), self.input_tokens.into());
        members.insert("outputTokens".to_owned(), self.output_tokens.into());
        if self.cost_micros > 0 {
            members.insert("cost".to_owned(), (self.cost_micros as f64 / MICROS).into());
        }
        members
    }
}

impl Decode for Usage {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let mut number = |name| fields.number(name).unwrap_or_default();
        Some(Self {
            requests: number("requests"),
            input_tokens: number("inputTokens"),
            output_tokens: number("outputTokens"),
            cost_micros: number("costMicros"),
        })
    }
}

/// The use by one step of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepUsage {
    /// The instant at which the use was known, in milliseconds since 1970.
    pub at_ms: i64,
    /// The use.
    pub used: Usage,
    /// The part of the use for requests without a usable answer: they were interrupted or had to be repeated. Older versions do
    /// not read it.
    #[serde(skip_serializing_if = "Usage::is_nothing_at")]
    pub repeated: Usage,
    /// The parts of the use by models whose names are known. Older versions do not read it.
    #[serde(skip_serializing_if = "ByModel::is_empty")]
    pub models: ByModel,
}

impl StepUsage {
    /// The use in the form of the timeline.
    pub fn told(&self) -> Value {
        told(self.used, self.repeated)
    }
}

impl Decode for StepUsage {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let (at_ms, used) = (fields.number("atMs")?, fields.object("used")?);
        let repeated = fields.object("repeated").unwrap_or_default();
        Some(Self { at_ms, used, repeated, models: ByModel::read(fields, "models") })
    }
}

/// The use by one turn of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnUsage {
    /// The number of the turn, from 1: each message of the client has one.
    pub turn: u64,
    /// The instant at which the last part of the use was known, in milliseconds since 1970. The use counts for the day of this
    /// instant.
    pub at_ms: i64,
    /// The use.
    pub usage: Usage,
    /// The parts of the use by models whose names are known.
    pub models: ByModel,
}

impl TurnUsage {
    /// The day for which the use counts.
    pub fn day(&self) -> String {
        day_of(UnixMillis(self.at_ms))
    }
}

/// The use by the turns of a task, oldest first. Turns without use are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskUsage {
    turns: Vec<TurnUsage>,
    repeated: Usage,
}

impl TaskUsage {
    /// Adds the use of a step. Steps must be added in the order of their turns.
    pub fn add(&mut self, turn: u64, step: StepUsage) {
        let StepUsage { at_ms, used: usage, repeated, models } = step;
        self.repeated = self.repeated.plus(repeated);
        match self.turns.last_mut() {
            Some(last) if last.turn == turn => {
                last.at_ms = last.at_ms.max(at_ms);
                last.usage = last.usage.plus(usage);
                last.models.merge(models);
            }
            _ => self.turns.push(TurnUsage { turn, at_ms, usage, models }),
        }
    }

    /// The use by all turns.
    pub fn total(&self) -> Usage {
        self.turns.iter().fold(Usage::NOTHING, |sum, turn| sum.plus(turn.usage))
    }

    /// The part of the use for requests without a usable answer.
    pub fn repeated(&self) -> Usage {
        self.repeated
    }

    /// The whole use in the form of the timeline.
    pub fn told(&self) -> Value {
        told(self.total(), self.repeated)
    }

    /// Writes the use into metadata, and replaces an earlier value.
    pub(crate) fn note(&self, metadata: &mut Option<Metadata>) {
        let mut members = metadata.take().unwrap_or_default().members();
        let mut usage = self.total().members();
        if !self.repeated.is_nothing() {
            usage.insert(REPEATED.to_owned(), Value::Object(self.repeated.members()));
        }
        members.insert(USAGE.to_owned(), Value::Object(usage));
        *metadata = Some(members.into());
    }

    /// The use by one turn.
    pub fn of_turn(&self, turn: u64) -> Usage {
        let found = self.turns.iter().rev().find(|known| known.turn == turn);
        found.map_or(Usage::NOTHING, |found| found.usage)
    }

    /// The turns after this one.
    pub fn behind(&self, turn: u64) -> impl Iterator<Item = TurnUsage> {
        self.turns.iter().filter(move |known| known.turn > turn).cloned()
    }
}

/// The use in the form of the timeline, with the part for requests without a usable answer.
fn told(used: Usage, repeated: Usage) -> Value {
    let mut told = json!(used);
    if let (Value::Object(members), false) = (&mut told, repeated.is_nothing()) {
        members.insert(REPEATED.to_owned(), json!(repeated));
    }
    told
}

/// How much the calls of one caller to an agent may use in a day (UTC). A missing limit means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallerLimits {
    /// Tokens, read and written together.
    pub tokens_per_day: Option<u64>,
    /// Cost, in millionths of the currency of the prices.
    pub cost_micros_per_day: Option<u64>,
}

impl CallerLimits {
    /// True if nothing is limited.
    pub fn is_none(self) -> bool {
        self == Self::default()
    }

    /// The stricter of both limits, for tokens and for the cost.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        let lower = |one: Option<u64>, two: Option<u64>| one.into_iter().chain(two).min();
        Self {
            tokens_per_day: lower(self.tokens_per_day, other.tokens_per_day),
            cost_micros_per_day: lower(self.cost_micros_per_day, other.cost_micros_per_day),
        }
    }

    /// The limit that the use has reached, if any.
    pub fn reached(self, used: Usage) -> Option<DayLimit> {
        let at = |limit: Option<u64>, used: u64| limit.filter(|limit| used >= *limit);
        let tokens = at(self.tokens_per_day, used.tokens()).map(DayLimit::Tokens);
        tokens.or_else(|| at(self.cost_micros_per_day, used.cost_micros).map(DayLimit::CostMicros))
    }

    /// How much may still be used on the day of an instant.
    ///
    /// # Errors
    ///
    /// The limit that is used up.
    pub fn left(self, used: Usage, at: UnixMillis) -> Result<Allowance, UsedUp> {
        if let Some(limit) = self.reached(used) {
            return Err(UsedUp { limit, seconds: seconds_to_midnight(at) });
        }
        let left = |limit: Option<u64>, used: u64| limit.map(|limit| limit.saturating_sub(used));
        Ok(Allowance {
            tokens: left(self.tokens_per_day, used.tokens()),
            cost_micros: left(self.cost_micros_per_day, used.cost_micros),
        })
    }
}

/// A cost in millionths of its unit.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "costs are not negative, and what does not fit is cut to what does"
)]
pub fn micros(cost: f64) -> u64 {
    (cost * MICROS).round() as u64
}

/// The day of an instant in UTC, for example `2026-01-05`.
pub fn day_of(at: UnixMillis) -> String {
    at.to_string().chars().take(DAY_CHARS).collect()
}

/// The number of seconds from an instant to the end of its day in UTC, at least 1.
pub fn seconds_to_midnight(at: UnixMillis) -> u32 {
    let left_ms = DAY_MS - at.0.rem_euclid(DAY_MS);
    u32::try_from(left_ms.div_euclid(1_000)).unwrap_or(1).saturating_add(1)
}

/// The member of a task's metadata with the task's use.
pub const USAGE: &str = "urn:a2a-edge:usage";

/// The member with the part of the use for requests without a usable answer.
const REPEATED: &str = "repeated";

/// The number of millionths in one unit of cost. The cost is stored in millionths.
const MICROS: f64 = 1_000_000.0;

const DAY_MS: i64 = 86_400_000;

/// The number of characters of a date, as `2026-11-25`.
const DAY_CHARS: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;
    use a2a::model::decode::read_json;

    fn usage(requests: u64, input: u64, output: u64, cost: u64) -> Usage {
        Usage { requests, input_tokens: input, output_tokens: output, cost_micros: cost }
    }

    fn step_usage(at_ms: i64, used: Usage, repeated: Usage) -> StepUsage {
        StepUsage { at_ms, used, repeated, models: ByModel::default() }
    }

    #[test]
    fn what_a_step_has_used_is_read_as_it_was_written() {
        let step = step_usage(5, usage(1, 200, 30, 110), Usage::NOTHING);
        let line = serde_json::to_string(&step).unwrap();
        assert_eq!(
            line,
            r#"{"atMs":5,"used":{"requests":1,"inputTokens":200,"outputTokens":30,"costMicros":110}}"#
        );
        assert_eq!(read_json::<StepUsage>(&line).unwrap(), step);
        let repeated = StepUsage { repeated: usage(1, 100, 0, 10), ..step.clone() };
        let line = serde_json::to_string(&repeated).unwrap();
        assert_eq!(read_json::<StepUsage>(&line).unwrap(), repeated);
        let told = json!({"requests": 1, "inputTokens": 100, "outputTokens": 0, "costMicros": 10});
        assert_eq!(repeated.told()["repeated"], told);
        assert_eq!(step.told().get("repeated"), None);
    }

    #[test]
    fn steps_are_summed_by_turn_and_over_the_task() {
        let mut task = TaskUsage::default();
        assert!(task.total().is_nothing());
        for (turn, at_ms, tokens) in [(1, 10, 5), (1, 20, 6), (3, 30, 7)] {
            let used = usage(1, tokens, 1, 0);
            let repeated = if turn == 3 { usage(1, 2, 0, 0) } else { Usage::NOTHING };
            task.add(turn, step_usage(at_ms, used, repeated));
        }
        assert_eq!((task.total(), task.repeated()), (usage(3, 18, 3, 0), usage(1, 2, 0, 0)));
        assert_eq!(task.of_turn(1), usage(2, 11, 2, 0));
        assert_eq!(task.of_turn(2), Usage::NOTHING);
        let behind: Vec<TurnUsage> = task.behind(1).collect();
        assert_eq!(
            behind,
            [TurnUsage {
                turn: 3,
                at_ms: 30,
                usage: usage(1, 7, 1, 0),
                models: ByModel::default()
            }]
        );
        assert_eq!(task.behind(0).count(), 2);
    }

    #[test]
    fn metadata_say_what_the_task_has_used_and_keep_what_else_there_is() {
        let mut metadata = json!({"a": 1}).as_object().cloned().map(Metadata::from);
        let mut task = TaskUsage::default();
        task.add(1, step_usage(1, usage(1, 2, 3, 0), Usage::NOTHING));
        task.note(&mut metadata);
        let used = usage(1, 18, 27, 1_250_000);
        task.add(1, step_usage(2, used, Usage::NOTHING));
        task.note(&mut metadata);
        let mut expected =
            json!({"requests": 2, "inputTokens": 20, "outputTokens": 30, "cost": 1.25});
        let told = |metadata: &Option<Metadata>| serde_json::to_value(metadata).unwrap();
        assert_eq!(told(&metadata), json!({"a": 1, "urn:a2a-edge:usage": expected}));
        let used = usage(2, 5, 0, 250_000);
        task.add(2, step_usage(3, used, used));
        task.note(&mut metadata);
        let repeated = json!({"requests": 2, "inputTokens": 5, "outputTokens": 0, "cost": 0.25});
        expected = json!({"requests": 4, "inputTokens": 25, "outputTokens": 30, "cost": 1.5, "repeated": repeated});
        assert_eq!(told(&metadata), json!({"a": 1, "urn:a2a-edge:usage": expected}));
    }

    #[test]
    fn a_limit_is_reached_when_as_much_was_used() {
        let limits = CallerLimits { tokens_per_day: Some(10), cost_micros_per_day: Some(100) };
        assert_eq!(limits.reached(usage(9, 5, 4, 99)), None);
        assert_eq!(limits.reached(usage(1, 5, 5, 0)), Some(DayLimit::Tokens(10)));
        assert_eq!(limits.reached(usage(1, 0, 0, 100)), Some(DayLimit::CostMicros(100)));
        assert_eq!(CallerLimits::default().reached(usage(9, u64::MAX, 9, u64::MAX)), None);
        assert!(CallerLimits::default().is_none() && !limits.is_none());
    }

    #[test]
    fn the_stricter_of_two_limits_counts_for_each_number() {
        let limits = |tokens_per_day, cost_micros_per_day| CallerLimits {
            tokens_per_day,
            cost_micros_per_day,
        };
        let (one, two) = (limits(Some(10), None), limits(Some(7), Some(100)));
        assert_eq!(one.stricter(two), limits(Some(7), Some(100)));
        assert_eq!(two.stricter(one), limits(Some(7), Some(100)));
        assert_eq!(one.stricter(CallerLimits::default()), one);
    }

    #[test]
    fn what_is_counted_already_is_not_counted_again() {
        let said = usage(2, 30, 4, 50);
        assert_eq!(said.beyond(Usage::NOTHING), said);
        assert_eq!(said.beyond(usage(1, 30, 5, 20)), usage(1, 0, 0, 30));
        assert!(said.beyond(said).is_nothing());
    }

    #[test]
    fn what_is_left_of_a_day_or_how_long_it_lasts_is_told() {
        let at = UnixMillis::parse("2026-01-05T23:00:00Z").unwrap();
        let limits = CallerLimits { tokens_per_day: Some(10), cost_micros_per_day: None };
        let left = Allowance { tokens: Some(3), cost_micros: None };
        assert_eq!(limits.left(usage(1, 5, 2, 9), at), Ok(left));
        let used_up = UsedUp { limit: DayLimit::Tokens(10), seconds: 3_601 };
        assert_eq!(limits.left(usage(1, 5, 7, 9), at), Err(used_up));
    }

    #[test]
    fn days_are_those_of_utc() {
        let noon = UnixMillis::parse("2026-01-05T12:00:00Z").unwrap();
        assert_eq!(day_of(noon), "2026-01-05");
        assert_eq!(seconds_to_midnight(noon), 43_201);
        let last = UnixMillis::parse("2026-12-31T23:59:59.999Z").unwrap();
        assert_eq!((day_of(last).as_str(), seconds_to_midnight(last)), ("2026-12-31", 1));
        assert_eq!(day_of(last.after(1)), "2027-01-01");
        assert_eq!(day_of(last.after(1_000 * u64::from(seconds_to_midnight(last)))), "2027-01-01");
    }
}
