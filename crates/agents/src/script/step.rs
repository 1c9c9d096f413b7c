//! Steps as they stand in an agent file: flat tables, of which each kind takes some keys.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::template::pieces;
use super::{
    Action, Amount, ArtifactAction, ArtifactContent, MAX_REPEAT, MAX_WAIT_MS, Span, StepsAction,
    TimeUnit,
};
use a2a::model::Base64;

/// A step as it stands in the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a step such as { do = \"complete\" }")]
pub(super) struct Step {
    r#do: String,
    text: Option<String>,
    ms: Option<Value>,
    minutes: Option<Value>,
    hours: Option<Value>,
    days: Option<Value>,
    until_message: Option<bool>,
    count: Option<u32>,
    id: Option<String>,
    name: Option<String>,
    data: Option<Value>,
    raw: Option<String>,
    url: Option<String>,
    chunks: Option<Vec<String>>,
    repeat: Option<Value>,
    delay_ms: Option<Value>,
    attempts: Option<u32>,
    panic_at: Option<Value>,
    filename: Option<String>,
    media_type: Option<String>,
}

impl TryFrom<Step> for Action {
    type Error = String;

    fn try_from(mut step: Step) -> Result<Self, String> {
        let verb = std::mem::take(&mut step.r#do);
        let text = step.text.take();
        let needed = |text: Option<String>| text.ok_or_else(|| format!("`{verb}` needs a `text`"));
        let action = match verb.as_str() {
            "working" => Self::Working(text),
            "complete" => Self::Complete(text),
            "fail" => Self::Fail(needed(text)?),
            "reject" => Self::Reject(needed(text)?),
            "input_required" => Self::InputRequired(needed(text)?),
            "auth_required" => Self::AuthRequired(needed(text)?),
            "message" => Self::Message(needed(text)?),
            "artifact" => Self::Artifact(artifact_of(&mut step, text)?),
            "wait" => {
                let amount = amount_of("ms", step.ms.take(), MAX_WAIT_MS);
                Self::Wait(
                    amount.map_err(|error| format!("{error}; to wait for longer take `park`"))?,
                )
            }
            "park" => Self::Park {
                span: span_of(&verb, &mut step)?,
                until_message: step.until_message.take().unwrap_or_default(),
            },
            "callback" => Self::Callback {
                id: step.id.take(),
                count: match step.count.take().unwrap_or(1) {
                    count @ 1..=MAX_CALLBACK_BODIES => count,
                    count => {
                        let most = MAX_CALLBACK_BODIES;
                        return Err(format!("`count` must be from 1 to {most}, got {count}"));
                    }
                },
                span: span_of(&verb, &mut step)?,
            },
            "polls" => match step.count.take() {
                Some(count) if count > 0 => Self::Polls(count),
                Some(_) | None => return Err("`polls` needs a `count` of 1 or more".to_owned()),
            },
            "panic" => Self::Panic,
            "steps" => Self::Steps(StepsAction {
                url: step.url.take().ok_or("`steps` needs a `url`")?,
                count: amount_of("repeat", step.repeat.take(), MAX_REPEAT)?,
                delay_ms: delay_of(&mut step)?,
                attempts: match step.attempts.take().unwrap_or(1) {
                    attempts @ 1.. => attempts,
                    0 => return Err("`attempts` must be 1 or more".to_owned()),
                },
                panic_at: step
                    .panic_at
                    .take()
                    .map(|at| amount_of("panic_at", Some(at), MAX_REPEAT))
                    .transpose()?,
            }),
            other => return Err(format!("there is no step {other:?}; there are: {VERBS}")),
        };
        if step != Step::default() {
            let keys = serde_json::to_value(&step).unwrap_or_default();
            let left = keys.as_object().into_iter().flatten();
            let left = left.filter(|(key, value)| *key != "do" && !value.is_null());
            let left: Vec<String> = left.map(|(key, _)| format!("`{key}`")).collect();
            return Err(format!("`{verb}` takes no {}", left.join(", ")));
        }
        Ok(action)
    }
}

fn span_of(verb: &str, step: &mut Step) -> Result<Span, String> {
    let mut given = [
        ("ms", TimeUnit::Millis, step.ms.take()),
        ("minutes", TimeUnit::Minutes, step.minutes.take()),
        ("hours", TimeUnit::Hours, step.hours.take()),
        ("days", TimeUnit::Days, step.days.take()),
    ]
    .into_iter()
    .filter(|(_, _, value)| value.is_some());
    let (Some((key, unit, value)), None) = (given.next(), given.next()) else {
        return Err(format!("`{verb}` needs exactly one of ms, minutes, hours and days"));
    };
    Ok(Span { amount: amount_of(key, value, unit.most())?, unit })
}

fn artifact_of(step: &mut Step, text: Option<String>) -> Result<ArtifactAction, String> {
    let raw = step.raw.take().map(|raw| Base64::parse(&raw).ok_or("`raw` must be base64"));
    let chunks = match step.chunks.take() {
        Some(pieces) => {
            let repeat = step.repeat.take().unwrap_or_else(|| 1.into());
            let delay_ms = delay_of(step)?;
            let repeat = amount_of("repeat", Some(repeat), MAX_REPEAT)?;
            Some(ArtifactContent::Chunks { pieces, repeat, delay_ms })
        }
        None => None,
    };
    let mut contents = [
        text.map(ArtifactContent::Text),
        step.data.take().map(ArtifactContent::Data),
        raw.transpose()?.map(ArtifactContent::Raw),
        step.url.take().map(ArtifactContent::Url),
        chunks,
    ]
    .into_iter()
    .flatten();
    let (Some(content), None) = (contents.next(), contents.next()) else {
        return Err("`artifact` needs exactly one of text, data, raw, url and chunks".to_owned());
    };
    if matches!(&content, ArtifactContent::Chunks { pieces, .. } if pieces.is_empty()) {
        return Err("`chunks` needs at least one piece".to_owned());
    }
    Ok(ArtifactAction {
        id: step.id.take(),
        name: step.name.take(),
        content,
        filename: step.filename.take(),
        media_type: step.media_type.take(),
    })
}

fn delay_of(step: &mut Step) -> Result<Amount, String> {
    let delay = step.delay_ms.take().unwrap_or_else(|| 0.into());
    amount_of("delay_ms", Some(delay), MAX_WAIT_MS)
}

fn amount_of(key: &str, value: Option<Value>, most: u64) -> Result<Amount, String> {
    let fixed = value.as_ref().and_then(Value::as_u64).filter(|number| *number <= most);
    let wanted = format!("must be a number from 0 to {most}, or a text that captures make one");
    match (fixed, value) {
        (Some(number), _) => Ok(Amount::Fixed(number)),
        (None, Some(Value::String(text))) if is_number_once_filled(&text) => {
            Ok(Amount::Captured(text))
        }
        (None, Some(given)) => Err(format!("`{key}` {wanted}, as \"{{1}}\", got {given}")),
        (None, None) => Err(format!("`{key}` is missing; it {wanted}, as \"{{1}}\"")),
    }
}

/// Whether a text can become a number: captures, with nothing around them but digits.
fn is_number_once_filled(text: &str) -> bool {
    let pieces = pieces(text);
    let is_digits = |literal: &&str| literal.bytes().all(|letter| letter.is_ascii_digit());
    pieces.iter().any(Result::is_err) && pieces.iter().flatten().all(is_digits)
}

impl From<Amount> for Value {
    fn from(amount: Amount) -> Self {
        match amount {
            Amount::Fixed(number) => number.into(),
            Amount::Captured(text) => text.into(),
        }
    }
}

impl From<Action> for Step {
    fn from(action: Action) -> Self {
        let step = |verb: &str, text: Option<String>| Self {
            r#do: verb.to_owned(),
            text,
            ..Self::default()
        };
        match action {
            Action::Working(text) => step("working", text),
            Action::Complete(text) => step("complete", text),
            Action::Fail(text) => step("fail", Some(text)),
            Action::Reject(text) => step("reject", Some(text)),
            Action::InputRequired(text) => step("input_required", Some(text)),
            Action::AuthRequired(text) => step("auth_required", Some(text)),
            Action::Message(text) => step("message", Some(text)),
            Action::Panic => step("panic", None),
            Action::Polls(count) => Self { count: Some(count), ..step("polls", None) },
            Action::Steps(StepsAction { url, count, delay_ms, attempts, panic_at }) => Self {
                url: Some(url),
                repeat: Some(count.into()),
                delay_ms: Some(delay_ms.into()),
                attempts: Some(attempts),
                panic_at: panic_at.map(Value::from),
                ..step("steps", None)
            },
            Action::Park { span, until_message } => {
                let until_message = until_message.then_some(true);
                span.put(Self { until_message, ..step("park", None) })
            }
            Action::Callback { id, count, span } => {
                span.put(Self { id, count: Some(count), ..step("callback", None) })
            }
            Action::Wait(amount) => Self { ms: Some(amount.into()), ..step("wait", None) },
            Action::Artifact(ArtifactAction { id, name, content, filename, media_type }) => {
                let step = Self { id, name, filename, media_type, ..step("artifact", None) };
                match content {
                    ArtifactContent::Text(text) => Self { text: Some(text), ..step },
                    ArtifactContent::Data(data) => Self { data: Some(data), ..step },
                    ArtifactContent::Raw(raw) => {
                        Self { raw: Some(raw.as_str().to_owned()), ..step }
                    }
                    ArtifactContent::Url(url) => Self { url: Some(url), ..step },
                    ArtifactContent::Chunks { pieces, repeat, delay_ms } => Self {
                        chunks: Some(pieces),
                        repeat: Some(repeat.into()),
                        delay_ms: Some(delay_ms.into()),
                        ..step
                    },
                }
            }
        }
    }
}

impl Span {
    /// Puts the span into a step, under the key of its unit.
    fn put(self, step: Step) -> Step {
        let amount = Some(self.amount.into());
        match self.unit {
            TimeUnit::Millis => Step { ms: amount, ..step },
            TimeUnit::Minutes => Step { minutes: amount, ..step },
            TimeUnit::Hours => Step { hours: amount, ..step },
            TimeUnit::Days => Step { days: amount, ..step },
        }
    }
}

/// How many bodies a script waits for at one callback at most.
const MAX_CALLBACK_BODIES: u32 = 100;

const VERBS: &str = "working, artifact, wait, park, callback, polls, complete, fail, reject, input_required, \
                     auth_required, message, panic, steps";

#[cfg(test)]
mod tests {
    use super::super::Rule;
    use crate::{ScriptTable, Table};

    #[test]
    fn rules_are_read_from_what_is_embedded_as_from_the_file() {
        let rules = r#"
            [[rules]]
            then = [
                { do = 'working', text = 'a' }, { do = 'wait', ms = 5 }, { do = 'wait', ms = '{1}' },
                { do = 'park', days = 3 }, { do = 'park', ms = '{1}', until_message = true },
                { do = 'park', hours = 1 }, { do = 'park', minutes = 1, until_message = false },
                { do = 'callback', minutes = 5 }, { do = 'callback', id = 'c', count = 3, ms = '{1}' },
                { do = 'polls', count = 2 }, { do = 'fail', text = 'f' }, { do = 'reject', text = '' },
                { do = 'artifact', text = '', name = '' },
                { do = 'artifact', id = 'i', data = { a = [1, '{text}', false, {}] } },
                { do = 'artifact', raw = 'aGk=', filename = 'f', media_type = 'text/plain' },
                { do = 'artifact', url = 'https://example.com', name = 'n' },
                { do = 'artifact', chunks = ['a', 'b'], delay_ms = 7, repeat = '{1}' },
                { do = 'complete' }, { do = 'panic' }, { do = 'message', text = 'm' },
                { do = 'steps', url = '{1}', repeat = 10, attempts = 3, panic_at = '{2}' },
                { do = 'input_required', text = 'i' }, { do = 'auth_required', text = 'a' },
            ]
            [[rules]]
            when = { text = '' }
            then = [{ do = 'complete', text = '' }]
            [[rules.follow_up]]
            when = { message_id = 'm' }
            then = []
            [[rules.follow_up]]
            when = { pattern = '^a(b)' }
            then = []
        "#;
        let script: ScriptTable = toml::from_str(rules).unwrap();
        let table = Table::of(&script).unwrap();
        let text = serde_json::to_string(&table).unwrap();
        assert!(!text.contains("null"), "{text}");
        let embedded: Table = serde_json::from_str(&text).unwrap();
        assert_eq!(embedded.read::<ScriptTable>(), Ok(script), "{text}");
    }

    #[test]
    fn steps_that_do_not_hold_together_are_refused_with_the_fix() {
        for (rule, fix) in [
            ("then = [{ do = 'dance' }]", "there is no step \"dance\"; there are: working"),
            ("then = [{ do = 'complete', txt = 'x' }]", "unknown field `txt`"),
            ("then = [{ do = 'complete', ms = 5 }]", "`complete` takes no `ms`"),
            ("then = [{ do = 'fail' }]", "`fail` needs a `text`"),
            ("then = [{ do = 'artifact' }]", "exactly one of text, data, raw, url and chunks"),
            ("then = [{ do = 'artifact', text = 'a', url = 'b' }]", "exactly one of"),
            ("then = [{ do = 'artifact', raw = '%' }]", "`raw` must be base64"),
            ("then = [{ do = 'artifact', chunks = [] }]", "at least one piece"),
            ("then = [{ do = 'wait' }]", "`ms` is missing; it must be a number from 0 to 600000"),
            (
                "then = [{ do = 'wait', ms = 600001 }]",
                "number from 0 to 600000, or a text that captures",
            ),
            ("then = [{ do = 'callback' }]", "`callback` needs exactly one of ms, minutes"),
            ("then = [{ do = 'callback', ms = 1, count = 0 }]", "must be from 1 to 100, got 0"),
            ("then = [{ do = 'park' }]", "exactly one of ms, minutes, hours and days"),
            ("then = [{ do = 'park', days = 1, hours = 2 }]", "exactly one of ms"),
            ("then = [{ do = 'park', days = 367 }]", "`days` must be a number from 0 to 366"),
            ("then = [{ do = 'park', hours = '1' }]", "`hours` must be a number from 0 to 8784"),
            ("then = [{ do = 'wait', days = 1 }]", "to wait for longer take `park`"),
            ("then = [{ do = 'wait', ms = '1s' }]", "make one, as \"{1}\", got \"1s\""),
            ("then = [{ do = 'wait', ms = '5' }]", "got \"5\""),
            ("then = [{ do = 'wait', ms = '{1}s' }]", "got \"{1}s\""),
            ("then = [{ do = 'wait', ms = '{{1}}' }]", "got \"{{1}}\""),
            ("then = [{ do = 'wait', ms = '' }]", "got \"\""),
            ("then = [{ do = 'wait', ms = 1.5 }]", "got 1.5"),
            ("then = [{ do = 'wait', ms = -1 }]", "got -1"),
            (
                "then = [{ do = 'artifact', chunks = ['a'], repeat = 'x' }]",
                "`repeat` must be a number",
            ),
            (
                "then = [{ do = 'artifact', chunks = ['a'], delay_ms = [1] }]",
                "`delay_ms` must be a number",
            ),
            (
                "then = [{ do = 'steps', url = 'x', repeat = 1, panic_at = 'x' }]",
                "`panic_at` must be a number",
            ),
            (
                "then = [{ do = 'steps', url = 'x', repeat = 1, attempts = 0 }]",
                "`attempts` must be 1 or more",
            ),
            ("then = ['complete']", "expected a step such as { do = \"complete\" }"),
            ("then = [{ do = 'polls', count = 0 }]", "a `count` of 1 or more"),
            ("then = []\nwhenever = 1", "unknown field `whenever`"),
            ("when = { texts = 'x' }\nthen = []", "unknown field `texts`"),
            ("when = {}\nthen = []", "exactly one of text, message_id and pattern"),
            ("when = { text = 'x', pattern = 'x' }\nthen = []", "exactly one of text, message_id"),
            ("when = 'x'\nthen = []", "expected a table with text, message_id or pattern"),
            ("when = { message_id = '' }\nthen = []", "`message_id` must not be empty"),
            ("when = { pattern = '' }\nthen = []", "`pattern` must not be empty"),
            ("when = { pattern = '(' }\nthen = []", "is not a regular expression"),
        ] {
            let error = toml::from_str::<Rule>(rule).unwrap_err().message().to_owned();
            assert!(error.contains(fix), "{rule}: {error}");
        }
    }

    #[test]
    fn captures_make_numbers_and_digits_may_stand_around_them() {
        for ms in ["0", "600000", "'{1}'", "'{1}000'", "'1{seconds}{2}'", "'{text}'"] {
            let rule = format!("then = [{{ do = 'wait', ms = {ms} }}]");
            assert!(toml::from_str::<Rule>(&rule).is_ok(), "{ms}");
        }
    }
}
