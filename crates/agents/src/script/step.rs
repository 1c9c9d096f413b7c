//! The reader of steps: flat tables, whose keys depend on the kind of step.

use serde_json::Value;

use super::template::pieces;
use super::{
    Action, Amount, ArtifactAction, ArtifactContent, MAX_REPEAT, MAX_WAIT_MS, Span, StepsAction,
    TimeUnit,
};
use crate::no_such;
use crate::table::Reader;
use a2a::model::Base64;

impl Action {
    /// An example of a step for the texts of problems.
    pub(super) const EXAMPLE: &'static str = "{ do = \"complete\" }";

    /// Reads a step.
    pub(super) fn read(keys: &mut Reader<'_>) -> Option<Self> {
        keys.need("do", ": the name of the step");
        let verb = keys.text("do")?;
        let Some((_, known, read)) = STEPS.iter().find(|(step, ..)| *step == verb) else {
            let steps: Vec<&str> = STEPS.iter().map(|(step, ..)| *step).collect();
            keys.report("do", no_such("step", &verb, steps));
            return None;
        };
        let known: Vec<&str> = ["do"].iter().chain(*known).copied().collect();
        keys.only_of(&format!("the step `{verb}`"), &known);
        read(keys)
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
    let mut given = UNITS.into_iter().filter(|(key, _)| keys.has(key));
    let (Some((key, unit)), None) = (given.next(), given.next()) else {
        keys.report("", "needs exactly one of ms, minutes, hours and days");
        return None;
    };
    Some(Span { amount: amount(keys, key, unit.most(), "")?, unit })
}

fn steps(keys: &mut Reader<'_>) -> Option<StepsAction> {
    let url = needed(keys, "url");
    let panic_at =
        if keys.has("panic_at") { amount(keys, "panic_at", MAX_REPEAT, "") } else { None };
    Some(StepsAction {
        count: amount(keys, "repeat", MAX_REPEAT, "")?,
        delay_ms: amount_or(keys, "delay_ms", MAX_WAIT_MS, 0)?,
        attempts: count(keys, "attempts", u32::MAX).unwrap_or(1),
        panic_at,
        url: url?,
    })
}

fn artifact(keys: &mut Reader<'_>) -> Option<ArtifactAction> {
    let mut given = CONTENTS.into_iter().filter(|key| keys.has(key));
    let (Some(content), None) = (given.next(), given.next()) else {
        keys.report("", "needs exactly one of text, data, raw, url and chunks");
        return None;
    };
    for key in ["repeat", "delay_ms"] {
        if keys.has(key) && content != "chunks" {
            keys.report(key, "belongs to `chunks`");
        }
    }
    let content = match content {
        "text" => ArtifactContent::Text(keys.text("text")?),
        "data" => ArtifactContent::Data(keys.value("data")?.clone()),
        "raw" => {
            let raw = Base64::parse(&keys.text("raw")?);
            if raw.is_none() {
                keys.report("raw", "must be base64");
            }
            ArtifactContent::Raw(raw?)
        }
        "url" => ArtifactContent::Url(keys.text("url")?),
        _ => chunks(keys)?,
    };
    Some(ArtifactAction {
        id: keys.text("id"),
        name: keys.text("name"),
        content,
        filename: keys.text("filename"),
        media_type: keys.text("media_type"),
    })
}

fn chunks(keys: &mut Reader<'_>) -> Option<ArtifactContent> {
    let pieces = keys.pieces("chunks");
    if keys.value("chunks").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        keys.report("chunks", "needs at least one piece");
    }
    Some(ArtifactContent::Chunks {
        pieces,
        repeat: amount_or(keys, "repeat", MAX_REPEAT, 1)?,
        delay_ms: amount_or(keys, "delay_ms", MAX_WAIT_MS, 0)?,
    })
}

fn amount_or(keys: &mut Reader<'_>, key: &str, most: u64, default: u64) -> Option<Amount> {
    if keys.has(key) { amount(keys, key, most, "") } else { Some(Amount::Fixed(default)) }
}

/// Reads an amount. `hint` is appended to the text of a problem.
fn amount(keys: &mut Reader<'_>, key: &str, most: u64, hint: &str) -> Option<Amount> {
    let rule = format!(
        "must be a number from 0 to {most}, or a text that captures make one, as \"{{1}}\""
    );
    let value = keys.value(key);
    match value {
        Some(Value::Number(number)) if number.as_u64().is_some_and(|number| number <= most) => {
            return number.as_u64().map(Amount::Fixed);
        }
        Some(Value::String(text)) if is_number_once_filled(text) => {
            return Some(Amount::Captured(text.clone()));
        }
        Some(given) => keys.report(key, format!("{rule}, got {given}{hint}")),
        None => keys.report(key, format!("is missing; it {rule}{hint}")),
    }
    None
}

/// True if a text can become a number: it consists of captures and digits.
fn is_number_once_filled(text: &str) -> bool {
    let pieces = pieces(text);
    let is_digits = |literal: &&str| literal.bytes().all(|letter| letter.is_ascii_digit());
    pieces.iter().any(Result::is_err) && pieces.iter().flatten().all(is_digits)
}

/// The steps, each with its keys in addition to `do`, and its reader.
const STEPS: [(&str, &[&str], ReadStep); 14] = [
    ("working", &["text"], |keys| Some(Action::Working(keys.text("text")))),
    ("artifact", ARTIFACT, |keys| artifact(keys).map(Action::Artifact)),
    ("wait", &["ms"], |keys| {
        amount(keys, "ms", MAX_WAIT_MS, "; to wait for longer take `park`").map(Action::Wait)
    }),
    ("park", &["ms", "minutes", "hours", "days", "until_message"], |keys| {
        let until_message = keys.flag("until_message").unwrap_or_default();
        Some(Action::Park { span: span(keys)?, until_message })
    }),
    ("callback", &["id", "count", "ms", "minutes", "hours", "days"], |keys| {
        let count = count(keys, "count", MAX_CALLBACK_BODIES).unwrap_or(1);
        Some(Action::Callback { id: keys.text("id"), count, span: span(keys)? })
    }),
    ("polls", &["count"], |keys| {
        keys.need("count", ": after how many calls of GetTask it goes on");
        count(keys, "count", u32::MAX).map(Action::Polls)
    }),
    ("complete", &["text"], |keys| Some(Action::Complete(keys.text("text")))),
    ("fail", &["text"], |keys| needed(keys, "text").map(Action::Fail)),
    ("reject", &["text"], |keys| needed(keys, "text").map(Action::Reject)),
    ("input_required", &["text"], |keys| needed(keys, "text").map(Action::InputRequired)),
    ("auth_required", &["text"], |keys| needed(keys, "text").map(Action::AuthRequired)),
    ("message", &["text"], |keys| needed(keys, "text").map(Action::Message)),
    ("panic", &[], |_| Some(Action::Panic)),
    ("steps", &["url", "repeat", "delay_ms", "attempts", "panic_at"], |keys| {
        steps(keys).map(Action::Steps)
    }),
];

type ReadStep = fn(&mut Reader<'_>) -> Option<Action>;

const ARTIFACT: &[&str] = &[
    "id",
    "name",
    "text",
    "data",
    "raw",
    "url",
    "chunks",
    "repeat",
    "delay_ms",
    "filename",
    "media_type",
];

const CONTENTS: [&str; 5] = ["text", "data", "raw", "url", "chunks"];

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
