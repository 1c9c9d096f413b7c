//! The reader of steps: flat tables, whose keys depend on the kind of step.

use serde_json::Value;

use super::template::pieces;
use super::{
    Action, Amount, ArtifactAction, ArtifactContent, MAX_REPEAT, MAX_WAIT_MS, Span, StepsAction,
    TimeUnit,
};
use crate::table::{Form, Reader, forms};
use a2a::model::Base64;

impl Action {
    /// An example of a step for the texts of problems.
    pub(super) const EXAMPLE: &'static str = "{ do = \"complete\" }";

    /// Reads a step.
    pub(super) fn read(keys: &mut Reader<'_>) -> Option<Self> {
        keys.form("do", "step", &STEPS)
    }
}

fn needed(keys: &mut Reader<'_>, key: &str) -> Option<String> {
    keys.need(key, "");
    keys.text(key)
}

fn count(keys: &mut Reader<'_>, key: &str, most: u32) -> Option<u32> {
    keys.number(key, 1, most.into()).and_then(|count| count.try_into().ok())
}

fn span(keys: &mut Reader<'_>) -> Option<Span> {
    let spans = UNITS.map(|(key, unit)| {
        let amount = given_amount(keys, key, unit.most(), "")?;
        Some(Span { amount, unit })
    });
    let is_one = keys.exactly_one(&UNITS.map(|(key, _)| key), "");
    spans.into_iter().flatten().next().filter(|_| is_one)
}

fn steps(keys: &mut Reader<'_>) -> Option<StepsAction> {
    let url = needed(keys, "url");
    let count_of_steps = amount(keys, "repeat", MAX_REPEAT, "");
    let delay_ms = amount_or(keys, "delay_ms", MAX_WAIT_MS, 0);
    let attempts = count(keys, "attempts", u32::MAX).unwrap_or(1);
    let panic_at = given_amount(keys, "panic_at", MAX_REPEAT, "");
    Some(StepsAction { url: url?, count: count_of_steps?, delay_ms: delay_ms?, attempts, panic_at })
}

fn artifact(keys: &mut Reader<'_>) -> Option<ArtifactAction> {
    let content = content(keys);
    let (id, name) = (keys.text("id"), keys.text("name"));
    let (filename, media_type) = (keys.text("filename"), keys.text("media_type"));
    Some(ArtifactAction { id, name, content: content?, filename, media_type })
}

fn content(keys: &mut Reader<'_>) -> Option<ArtifactContent> {
    let is_one = keys.exactly_one(&["text", "data", "raw", "url", "chunks"], "");
    if is_one && !keys.has("chunks") {
        for key in ["repeat", "delay_ms"] {
            if keys.has(key) {
                keys.report(key, "belongs to `chunks`");
            }
        }
    }
    let contents = [
        keys.text("text").map(ArtifactContent::Text),
        keys.value("data").cloned().map(ArtifactContent::Data),
        raw(keys),
        keys.text("url").map(ArtifactContent::Url),
        chunks(keys),
    ];
    contents.into_iter().flatten().next().filter(|_| is_one)
}

fn raw(keys: &mut Reader<'_>) -> Option<ArtifactContent> {
    let parse = |text: &str| Base64::parse(text).ok_or_else(|| "must be base64".to_owned());
    keys.parsed("raw", parse).map(ArtifactContent::Raw)
}

fn chunks(keys: &mut Reader<'_>) -> Option<ArtifactContent> {
    let pieces = keys.pieces("chunks");
    let repeat = amount_or(keys, "repeat", MAX_REPEAT, 1);
    let delay_ms = amount_or(keys, "delay_ms", MAX_WAIT_MS, 0);
    if keys.value("chunks")?.as_array().is_some_and(Vec::is_empty) {
        keys.report("chunks", "needs at least one piece");
    }
    Some(ArtifactContent::Chunks { pieces, repeat: repeat?, delay_ms: delay_ms? })
}

fn amount_or(keys: &mut Reader<'_>, key: &str, most: u64, default: u64) -> Option<Amount> {
    let given = given_amount(keys, key, most, "");
    if keys.has(key) { given } else { Some(Amount::Fixed(default)) }
}

/// Reads an amount, which is required. `hint` is appended to the text of a problem.
fn amount(keys: &mut Reader<'_>, key: &str, most: u64, hint: &str) -> Option<Amount> {
    keys.need(key, &format!("; it {}{hint}", amount_rule(most)));
    given_amount(keys, key, most, hint)
}

/// Reads an amount, unless it is absent.
fn given_amount(keys: &mut Reader<'_>, key: &str, most: u64, hint: &str) -> Option<Amount> {
    let value = keys.value(key);
    #[cfg(any(test, feature = "checker"))]
    keys.note(key, amount_schema(most));
    match value? {
        Value::Number(number) if number.as_u64().is_some_and(|number| number <= most) => {
            number.as_u64().map(Amount::Fixed)
        }
        Value::String(text) if is_number_once_filled(text) => Some(Amount::Captured(text.clone())),
        given => {
            keys.report(key, format!("{}, got {given}{hint}", amount_rule(most)));
            None
        }
    }
}

fn amount_rule(most: u64) -> String {
    format!("must be a number from 0 to {most}, or a text that captures make one, as \"{{1}}\"")
}

/// The schema of an amount: a number, or a text of captures and digits.
#[cfg(any(test, feature = "checker"))]
fn amount_schema(most: u64) -> Value {
    serde_json::json!({"anyOf": [
        {"type": "integer", "minimum": 0, "maximum": most},
        {"type": "string", "pattern": r"^[0-9]*\{[^{}]+\}([0-9]|\{[^{}]+\})*$"},
    ]})
}

/// True if a text can become a number: it consists of captures and digits.
fn is_number_once_filled(text: &str) -> bool {
    let pieces = pieces(text);
    let is_digits = |literal: &&str| literal.bytes().all(|letter| letter.is_ascii_digit());
    pieces.iter().any(Result::is_err) && pieces.iter().flatten().all(is_digits)
}

/// The steps, each with its keys in addition to `do`, and its reader.
const STEPS: [Form<Action>; 14] = forms! {
    /// Sets the task to working.
    "working" {
        /// A note of progress.
        "text",
    } |keys| Some(Action::Working(keys.text("text")));
    /// Adds an artifact.
    "artifact" {
        /// The id of the artifact; `artifact-<n>` unless given.
        "id",
        /// A name for people.
        "name",
        /// The content: a text.
        "text",
        /// The content: JSON data.
        "data",
        /// The content: bytes, in base64.
        "raw",
        /// The content: a link.
        "url",
        /// The content: a text in pieces, which are sent one by one.
        "chunks",
        /// How often the list of `chunks` is sent; once unless given.
        "repeat",
        /// The pause between `chunks`, in milliseconds; none unless given.
        "delay_ms",
        /// The file name of the part.
        "filename",
        /// The media type of the part.
        "media_type",
    } |keys| artifact(keys).map(Action::Artifact);
    /// Pauses the run in memory.
    "wait" {
        /// The duration, in milliseconds: a number, or a text with captures as `"{1}"`.
        "ms",
    } |keys| {
        amount(keys, "ms", MAX_WAIT_MS, "; to wait for longer take `park`").map(Action::Wait)
    };
    /// Parks the run outside of memory.
    "park" {
        /// The duration, in milliseconds.
        "ms",
        /// The duration, in minutes.
        "minutes",
        /// The duration, in hours.
        "hours",
        /// The duration, in days.
        "days",
        /// True if a message of the client ends the wait.
        "until_message",
    } |keys| {
        let until_message = keys.flag("until_message").unwrap_or_default();
        Some(Action::Park { span: span(keys)?, until_message })
    };
    /// Adds an artifact with a URL, and parks the run until bodies were posted there.
    "callback" {
        /// The id of the artifact; `callback` unless given.
        "id",
        /// The number of bodies; one unless given.
        "count",
        /// The maximum time until each body arrives, in milliseconds.
        "ms",
        /// The maximum time until each body arrives, in minutes.
        "minutes",
        /// The maximum time until each body arrives, in hours.
        "hours",
        /// The maximum time until each body arrives, in days.
        "days",
    } |keys| {
        let count = count(keys, "count", MAX_CALLBACK_BODIES).unwrap_or(1);
        let id = keys.text("id");
        Some(Action::Callback { id, count, span: span(keys)? })
    };
    /// Waits until GetTask was called this number of times.
    "polls" {
        /// The number of calls of GetTask.
        "count",
    } |keys| {
        keys.need("count", ": after how many calls of GetTask it goes on");
        count(keys, "count", u32::MAX).map(Action::Polls)
    };
    /// Completes the task.
    "complete" {
        /// The last message of the task.
        "text",
    } |keys| Some(Action::Complete(keys.text("text")));
    /// Fails the task.
    "fail" {
        /// The reason.
        "text",
    } |keys| needed(keys, "text").map(Action::Fail);
    /// Rejects the task.
    "reject" {
        /// The reason.
        "text",
    } |keys| needed(keys, "text").map(Action::Reject);
    /// Requests input.
    "input_required" {
        /// The question.
        "text",
    } |keys| needed(keys, "text").map(Action::InputRequired);
    /// Requests credentials.
    "auth_required" {
        /// The description of the credentials.
        "text",
    } |keys| needed(keys, "text").map(Action::AuthRequired);
    /// Answers with a message instead of a task.
    "message" {
        /// The text of the message.
        "text",
    } |keys| needed(keys, "text").map(Action::Message);
    /// Panics, in agents with `development = true` only.
    "panic" {} |_| Some(Action::Panic);
    /// Performs durable steps, each a POST to `<url>/<number>`, in agents with `development = true` only.
    "steps" {
        /// The URL of the server that receives the posts.
        "url",
        /// The number of steps.
        "repeat",
        /// The pause after each step, in milliseconds; none unless given.
        "delay_ms",
        /// The maximum number of attempts of a failing step; one unless given.
        "attempts",
        /// The number of the step before which the first attempt of the run panics.
        "panic_at",
    } |keys| steps(keys).map(Action::Steps);
};

const UNITS: [(&str, TimeUnit); 4] = [
    ("ms", TimeUnit::Millis),
    ("minutes", TimeUnit::Minutes),
    ("hours", TimeUnit::Hours),
    ("days", TimeUnit::Days),
];

/// The maximum number of bodies for which a script waits at one callback.
const MAX_CALLBACK_BODIES: u32 = 100;

#[cfg(test)]
mod tests {
    use super::super::{Condition, Rule};
    use super::*;
    use crate::table::Texts;

    fn read(rule: &str) -> Result<Rule, Vec<String>> {
        let table = toml::from_str(rule).unwrap();
        let (rule, problems) = Reader::read(&table, Texts::Literal, Rule::read);
        if problems.is_empty() {
            return Ok(rule.unwrap());
        }
        Err(problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn every_step_is_read_with_every_key() {
        for step in [
            "do = 'working', text = 'a'",
            "do = 'wait', ms = 5",
            "do = 'wait', ms = '{1}'",
            "do = 'park', days = 3",
            "do = 'park', ms = '{1}', until_message = true",
            "do = 'park', hours = 1",
            "do = 'park', minutes = 1, until_message = false",
            "do = 'callback', minutes = 5",
            "do = 'callback', id = 'c', count = 3, ms = '{1}'",
            "do = 'polls', count = 2",
            "do = 'fail', text = 'f'",
            "do = 'reject', text = ''",
            "do = 'artifact', text = '', name = ''",
            "do = 'artifact', id = 'i', data = { a = [1, '{text}', false, {}] }",
            "do = 'artifact', raw = 'aGk=', filename = 'f', media_type = 'text/plain'",
            "do = 'artifact', url = 'https://example.com', name = 'n'",
            "do = 'artifact', chunks = ['a', ' ', ''], delay_ms = 7, repeat = '{1}'",
            "do = 'complete'",
            "do = 'panic'",
            "do = 'message', text = 'm'",
            "do = 'steps', url = '{1}', repeat = 10, attempts = 3, delay_ms = 1, panic_at = '{2}'",
            "do = 'input_required', text = 'i'",
            "do = 'auth_required', text = 'a'",
        ] {
            let read = read(&format!("then = [{{ {step} }}]")).unwrap();
            assert_eq!(read.then.len(), 1, "{step}");
        }
    }

    #[test]
    fn what_a_step_says_is_what_it_does() {
        let then = |step: &str| read(&format!("then = [{{ {step} }}]")).unwrap().then.remove(0);
        let minutes = |amount| Span { amount: Amount::Fixed(amount), unit: TimeUnit::Minutes };
        let one = Amount::Captured("{1}".to_owned());
        assert_eq!(
            then("do = 'callback', minutes = 5"),
            Action::Callback { id: None, count: 1, span: minutes(5) }
        );
        assert_eq!(
            then("do = 'park', minutes = 1, until_message = true"),
            Action::Park { span: minutes(1), until_message: true }
        );
        let StepsAction { attempts, delay_ms, count, .. } =
            match then("do = 'steps', url = 'u', repeat = '{1}'") {
                Action::Steps(steps) => steps,
                other => panic!("{other:?}"),
            };
        assert_eq!((attempts, delay_ms, count), (1, Amount::Fixed(0), one.clone()));
        let content = match then("do = 'artifact', chunks = ['a', ''], delay_ms = '{1}'") {
            Action::Artifact(artifact) => artifact.content,
            other => panic!("{other:?}"),
        };
        let pieces = vec!["a".to_owned(), String::new()];
        let repeat = Amount::Fixed(1);
        assert_eq!(content, ArtifactContent::Chunks { pieces, repeat, delay_ms: one });
    }

    #[test]
    fn every_condition_is_read() {
        for (when, condition) in [
            ("text = ''", Condition::Text(String::new())),
            ("message_id = 'm'", Condition::MessageId("m".to_owned())),
            ("pattern = '^a(b)'", Condition::Pattern("^a(b)".to_owned().try_into().unwrap())),
        ] {
            let rule = read(&format!("when = {{ {when} }}\nthen = []")).unwrap();
            assert_eq!(rule.when, Some(condition));
        }
    }

    #[test]
    fn steps_that_do_not_hold_together_are_refused_with_the_fix() {
        for (rule, fix) in [
            ("then = [{ do = 'dance' }]", "there is no step \"dance\"; there are: working"),
            (
                "then = [{ do = 'complete', txt = 'x' }]",
                "`then[0].txt` is no key of the step `complete`, did you mean `text`?; there are: do, text",
            ),
            (
                "then = [{ do = 'complete', ms = 5 }]",
                "`then[0].ms` is no key of the step `complete`; there are: do, text",
            ),
            ("then = [{ do = 'fail' }]", "`then[0].text` is missing"),
            ("then = [{ do = 'artifact' }]", "exactly one of text, data, raw, url and chunks"),
            ("then = [{ do = 'artifact', text = 'a', url = 'b' }]", "exactly one of"),
            ("then = [{ do = 'artifact', raw = '%' }]", "`then[0].raw` must be base64"),
            ("then = [{ do = 'artifact', chunks = [] }]", "at least one piece"),
            (
                "then = [{ do = 'artifact', text = 'a', repeat = 2 }]",
                "`then[0].repeat` belongs to `chunks`",
            ),
            (
                "then = [{ do = 'wait' }]",
                "`then[0].ms` is missing; it must be a number from 0 to 600000",
            ),
            (
                "then = [{ do = 'wait', ms = 600001 }]",
                "number from 0 to 600000, or a text that captures",
            ),
            ("then = [{ do = 'callback' }]", "`then[0]` needs exactly one of ms, minutes"),
            (
                "then = [{ do = 'callback', ms = 1, count = 0 }]",
                "must be a whole number from 1 to 100, got 0",
            ),
            ("then = [{ do = 'park' }]", "exactly one of ms, minutes, hours and days"),
            ("then = [{ do = 'park', days = 1, hours = 2 }]", "exactly one of ms"),
            (
                "then = [{ do = 'park', days = 367 }]",
                "`then[0].days` must be a number from 0 to 366",
            ),
            (
                "then = [{ do = 'park', hours = '1' }]",
                "`then[0].hours` must be a number from 0 to 8784",
            ),
            (
                "then = [{ do = 'wait', days = 1 }]",
                "`then[0].days` is no key of the step `wait`; there are: do, ms",
            ),
            ("then = [{ do = 'wait', ms = 600001 }]", "got 600001; to wait for longer take `park`"),
            ("then = [{ do = 'wait', ms = '1s' }]", "make one, as \"{1}\", got \"1s\""),
            ("then = [{ do = 'wait', ms = '5' }]", "got \"5\""),
            ("then = [{ do = 'wait', ms = '{1}s' }]", "got \"{1}s\""),
            ("then = [{ do = 'wait', ms = '{{1}}' }]", "got \"{{1}}\""),
            ("then = [{ do = 'wait', ms = '' }]", "got \"\""),
            ("then = [{ do = 'wait', ms = 1.5 }]", "got 1.5"),
            ("then = [{ do = 'wait', ms = -1 }]", "got -1"),
            (
                "then = [{ do = 'artifact', chunks = ['a'], repeat = 'x' }]",
                "`then[0].repeat` must be a number",
            ),
            (
                "then = [{ do = 'artifact', chunks = ['a'], delay_ms = [1] }]",
                "`then[0].delay_ms` must be a number",
            ),
            (
                "then = [{ do = 'steps', url = 'x', repeat = 1, panic_at = 'x' }]",
                "`then[0].panic_at` must be a number",
            ),
            (
                "then = [{ do = 'steps', url = 'x', repeat = 1, attempts = 0 }]",
                "`then[0].attempts` must be a whole number from 1 to",
            ),
            ("then = ['complete']", "must be a table such as { do = \"complete\" }"),
            (
                "then = [{ do = 'polls', count = 0 }]",
                "`then[0].count` must be a whole number from 1 to",
            ),
            ("then = []\nwhenever = 1", "`whenever` is no key of this table"),
            (
                "when = { texts = 'x' }\nthen = []",
                "`when.texts` is no key of this table, did you mean `text`?",
            ),
            ("when = {}\nthen = []", "exactly one of text, message_id and pattern"),
            ("when = { text = 'x', pattern = 'x' }\nthen = []", "exactly one of text, message_id"),
            ("when = 'x'\nthen = []", "`when` must be a table"),
            ("when = { message_id = '' }\nthen = []", "`when.message_id` must not be empty"),
            ("when = { pattern = '' }\nthen = []", "`when.pattern` must not be empty"),
            ("when = { pattern = '(' }\nthen = []", "is not a regular expression"),
        ] {
            let problems = read(rule).unwrap_err();
            assert!(problems[0].contains(fix), "{rule}: {problems:?}");
        }
    }

    #[test]
    fn captures_make_numbers_and_digits_may_stand_around_them() {
        for ms in ["0", "600000", "'{1}'", "'{1}000'", "'1{seconds}{2}'", "'{text}'"] {
            let rule = format!("then = [{{ do = 'wait', ms = {ms} }}]");
            assert!(read(&rule).is_ok(), "{ms}");
        }
    }
}
