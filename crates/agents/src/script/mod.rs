//! Scripts: fixed rules that say what an agent answers (executor kind `script`).

mod check;
mod condition;
mod fault;
mod step;
mod template;

use serde_json::Value;

#[cfg(any(test, feature = "build"))]
pub(crate) use check::needs_permissions;
pub(crate) use check::{is_for_development, parks, problems_of};
pub use condition::{Condition, Pattern};
pub use fault::Fault;
pub use template::Values;

use crate::table::Reader;
use a2a::model::{Base64, Message};

/// What to do about some messages.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Which messages; without it, those that no other rule takes.
    pub when: Option<Condition>,
    /// The permissions that the caller must have, all of them. For others the rule does not exist; of two rules that fit
    /// alike, the one that needs more goes first.
    pub permissions: Vec<String>,
    /// What to do, in order.
    pub then: Vec<Action>,
    /// Rules for the next message of the same task; tried before the others. They stay for as long as one
    /// of them asks again.
    pub follow_up: Vec<Rule>,
}

impl Rule {
    /// A rule as messages of problems show it.
    pub(crate) const EXAMPLE: &'static str =
        "{ when = { text = \"hi\" }, then = [{ do = \"complete\" }] }";

    /// Reads a rule.
    pub(crate) fn read(keys: &mut Reader<'_>) -> Option<Self> {
        keys.only(&["when", "permissions", "then", "follow_up"]);
        keys.need("then", ": the steps, as [{ do = \"complete\" }]");
        Some(Self {
            when: keys.below("when", Condition::read),
            permissions: keys.texts("permissions"),
            then: keys.tables("then", Action::EXAMPLE, Action::read),
            follow_up: keys.tables("follow_up", Self::EXAMPLE, Self::read),
        })
    }
}

/// One step of a rule; in the file, a table whose key `do` names it.
///
/// Texts may hold `{text}` (the text of the message), `{1}` or `{name}` (what the pattern captured);
/// `{{` and `}}` stand for the braces themselves.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// `working`: the task is being worked on; `text`, if given, is a progress note.
    Working(Option<String>),
    /// `artifact`: an artifact.
    Artifact(ArtifactAction),
    /// `wait`: nothing for `ms` milliseconds, at most [`MAX_WAIT_MS`].
    Wait(Amount),
    /// `park`: nothing for `ms` milliseconds, or `minutes`, `hours` or `days`, at most [`MAX_PARK_MS`]; the run is not in
    /// memory meanwhile. With `until_message = true` a message of the client ends it.
    Park {
        /// How long.
        span: Span,
        /// Whether a message ends it, which is taken then.
        until_message: bool,
    },
    /// `callback`: the artifact `id` with `{"url": …}`, to which somebody may post `count` bodies (one unless given). The
    /// run is parked until each has come, and gives it as an artifact `<id>-body`, the second one as `<id>-body-2`;
    /// the task fails if one does not come within `ms`, `minutes`, `hours` or `days`, at most [`MAX_PARK_MS`].
    Callback {
        /// The artifact; `callback` if not given.
        id: Option<String>,
        /// How many bodies there are to be.
        count: u32,
        /// How long each of them may take.
        span: Span,
    },
    /// `polls`: nothing until GetTask was called `count` times, 1 or more.
    Polls(u32),
    /// `complete`: the task is done; `text`, if given, is a closing word.
    Complete(Option<String>),
    /// `fail`: the task failed, with the reason `text`.
    Fail(String),
    /// `reject`: the agent declines the task, with the reason `text`.
    Reject(String),
    /// `input_required`: the task waits for an answer to the question `text`.
    InputRequired(String),
    /// `auth_required`: the task waits for credentials; `text` says which.
    AuthRequired(String),
    /// `message`: a message instead of a task.
    Message(String),
    /// `panic`: the executor panics, as a bug in an agent would make it.
    Panic,
    /// `steps`: work in steps with effects outside, to see what becomes of them when it is interrupted.
    Steps(StepsAction),
}

/// A time for which a run is parked.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// How long, in units.
    pub amount: Amount,
    /// The unit.
    pub unit: TimeUnit,
}

impl Span {
    /// How long, in milliseconds; `None` if the captured text is no number.
    pub fn millis(&self, values: &Values) -> Option<u64> {
        let amount = values.number(&self.amount, self.unit.most())?;
        Some(amount.saturating_mul(self.unit.millis()))
    }
}

/// A unit of time; in the file the key of an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// `ms`
    Millis,
    /// `minutes`
    Minutes,
    /// `hours`
    Hours,
    /// `days`
    Days,
}

impl TimeUnit {
    /// How many milliseconds it has.
    pub const fn millis(self) -> u64 {
        match self {
            Self::Millis => 1,
            Self::Minutes => 60_000,
            Self::Hours => 3_600_000,
            Self::Days => 86_400_000,
        }
    }

    /// How many of it [`MAX_PARK_MS`] is.
    pub(crate) const fn most(self) -> u64 {
        MAX_PARK_MS / self.millis()
    }
}

/// Work in steps: for each number from 1 on the task says so, a POST goes to `<url>/<number>` as a step,
/// and its answer becomes a piece of the artifact `steps`.
#[derive(Clone, Debug, PartialEq)]
pub struct StepsAction {
    /// Where the effects are.
    pub url: String,
    /// `repeat`: how many steps there are, at most [`MAX_REPEAT`].
    pub count: Amount,
    /// `delay_ms`: the pause after each step, in milliseconds, none unless given.
    pub delay_ms: Amount,
    /// `attempts`: how often a step that fails is tried, once unless given.
    pub attempts: u32,
    /// `panic_at`: the step before which the first attempt panics; none unless given.
    pub panic_at: Option<Amount>,
}

/// An artifact of a scripted agent.
#[derive(Clone, Debug, PartialEq)]
pub struct ArtifactAction {
    /// Its id; `artifact-<n>` if not given.
    pub id: Option<String>,
    /// A name for people.
    pub name: Option<String>,
    /// What it holds: in the file exactly one of `text`, `data`, `raw`, `url` and `chunks`.
    pub content: ArtifactContent,
    /// The name of the file that it is.
    pub filename: Option<String>,
    /// Its media type.
    pub media_type: Option<String>,
}

/// What an artifact of a scripted agent holds.
#[derive(Clone, Debug, PartialEq)]
pub enum ArtifactContent {
    /// Text.
    Text(String),
    /// JSON data; texts in it may hold placeholders.
    Data(Value),
    /// Bytes; in the file in base64.
    Raw(Base64),
    /// A link.
    Url(String),
    /// Text in pieces, each an event of its own.
    Chunks {
        /// The pieces, at least one.
        pieces: Vec<String>,
        /// `repeat`: how often to go through them, 1 unless given, at most [`MAX_REPEAT`].
        repeat: Amount,
        /// `delay_ms`: the pause between pieces, in milliseconds, none unless given.
        delay_ms: Amount,
    },
}

/// A number.
#[derive(Clone, Debug, PartialEq)]
pub enum Amount {
    /// In the file a number.
    Fixed(u64),
    /// In the file a text that gives one when its captures are filled in, as `"{1}"`.
    Captured(String),
}

/// The rule for the newest of the client's `messages` (oldest first), and what its texts may use. `may` says which
/// permissions the caller has.
///
/// Earlier messages decide which follow-up rules apply, innermost first: those of the rule before, then
/// those that it was one of itself, and so on outwards, then `rules`. So the siblings of a rule that asks
/// again stay. A rule taken from further out leaves those inside it behind.
pub fn rule_for<'a>(
    rules: &'a [Rule],
    messages: &[Message],
    may: &dyn Fn(&str) -> bool,
) -> Option<(&'a Rule, Values)> {
    let mut chosen: Option<(&Rule, Values)> = None;
    let mut levels = vec![rules];
    for message in messages {
        if let Some((rule, _)) = &chosen {
            levels.push(&rule.follow_up);
        }
        let innermost = |levels: &[&'a [Rule]]| best(levels.last().copied()?, message, may);
        chosen = innermost(&levels);
        while chosen.is_none() && levels.len() > 1 {
            levels.pop();
            chosen = innermost(&levels);
        }
    }
    chosen
}

fn best<'a>(
    rules: &'a [Rule],
    message: &Message,
    may: &dyn Fn(&str) -> bool,
) -> Option<(&'a Rule, Values)> {
    let mut best: Option<((u8, usize, usize), &Rule, Values)> = None;
    let is_for = |rule: &&Rule| rule.permissions.iter().all(|permission| may(permission));
    for rule in rules.iter().filter(is_for) {
        let fit = match &rule.when {
            Some(condition) => condition.fit(message),
            None => Some(((0, 0), Values::of(&message.text()))),
        };
        if let Some(((kind, length), values)) = fit
            && let rank = (kind, length, rule.permissions.len())
            && best.as_ref().is_none_or(|(best, ..)| rank > *best)
        {
            best = Some((rank, rule, values));
        }
    }
    best.map(|(_, rule, values)| (rule, values))
}

/// The longest wait of a script, in milliseconds: ten minutes.
pub const MAX_WAIT_MS: u64 = 600_000;

/// How long a script parks its run at most, in milliseconds: 366 days.
pub const MAX_PARK_MS: u64 = 366 * 86_400_000;

/// How often a script goes through the pieces of an artifact at most.
pub const MAX_REPEAT: u64 = 10_000;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ScriptTable;

    fn message(id: &str, text: &str) -> Message {
        let message = json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": text}]});
        serde_json::from_value(message).unwrap()
    }

    fn script(text: &str) -> ScriptTable {
        ScriptTable::of(&toml::from_str::<Value>(text).unwrap().into()).unwrap()
    }

    fn answer(script: &ScriptTable, messages: &[(&str, &str)]) -> String {
        let messages: Vec<Message> = messages.iter().map(|(id, text)| message(id, text)).collect();
        let Some((rule, values)) = rule_for(&script.rules, &messages, &|_| false) else {
            return "none".to_owned();
        };
        match &rule.then[0] {
            Action::Complete(Some(text)) | Action::InputRequired(text) => values.fill(text),
            other => format!("{other:?}"),
        }
    }

    const RULES: &str = r#"
        [[rules]]
        then = [{ do = "complete", text = "default {text}" }]
        [[rules]]
        when = { pattern = '^hold (\d+)' }
        then = [{ do = "complete", text = "held {1}" }]
        [[rules]]
        when = { pattern = "hold" }
        then = [{ do = "complete", text = "short" }]
        [[rules]]
        when = { text = "hold 5 exactly" }
        then = [{ do = "complete", text = "exact" }]
        [[rules]]
        when = { message_id = "tck-artifact" }
        then = [{ do = "complete", text = "artifact" }]
        [[rules]]
        when = { message_id = "tck-artifact-file" }
        then = [{ do = "complete", text = "file" }]
        [[rules]]
        when = { text = "ask" }
        then = [{ do = "input_required", text = "which?" }]
        [[rules.follow_up]]
        when = { pattern = "^(?P<colour>red|blue)$" }
        then = [{ do = "complete", text = "you chose {colour}" }]
        [[rules.follow_up]]
        then = [{ do = "input_required", text = "which then?" }]
        [[rules.follow_up.follow_up]]
        then = [{ do = "complete", text = "last: {text}" }]
        [[rules]]
        when = { text = "guess" }
        then = [{ do = "input_required", text = "a number?" }]
        [[rules.follow_up]]
        when = { text = "7" }
        then = [{ do = "complete", text = "right" }]
        [[rules.follow_up]]
        when = { text = "help" }
        then = [{ do = "input_required", text = "a hint?" }]
        [[rules.follow_up.follow_up]]
        when = { text = "yes" }
        then = [{ do = "input_required", text = "below ten" }]
        [[rules.follow_up]]
        when = { pattern = '^\d+$' }
        then = [{ do = "input_required", text = "not {text}, again" }]
    "#;

    #[test]
    fn the_most_specific_rule_wins() {
        let script = script(RULES);
        for (id, text, expected) in [
            ("m", "anything", "default anything"),
            ("m", "hold 5", "held 5"),
            ("m", "please hold", "short"),
            ("m", "hold 5 exactly", "exact"),
            ("tck-artifact-1", "hold 5", "artifact"),
            ("tck-artifact-file-1", "x", "file"),
            ("tck-artifact-file-1", "ask", "which?"),
        ] {
            assert_eq!(answer(&script, &[(id, text)]), expected, "{id} {text}");
        }
    }

    #[test]
    fn a_rule_is_for_callers_with_all_of_its_permissions() {
        let script = script(
            "[[rules]]\nthen = [{ do = 'complete', text = 'all' }]\n\
             [[rules]]\npermissions = ['a']\nthen = [{ do = 'complete', text = 'a' }]\n\
             [[rules]]\npermissions = ['a', 'b']\nthen = [{ do = 'complete', text = 'both' }]\n\
             [[rules]]\npermissions = ['b']\nwhen = { text = 'x' }\nthen = [{ do = 'complete', text = 'x' }]",
        );
        for (held, text, expected) in [
            (&[][..], "y", "all"),
            (&["a"], "y", "a"),
            (&["b"], "y", "all"),
            (&["b", "a"], "y", "both"),
            (&["a"], "x", "a"),
            (&["b"], "x", "x"),
        ] {
            let may = |wanted: &str| held.contains(&wanted);
            let (rule, values) = rule_for(&script.rules, &[message("m", text)], &may).unwrap();
            let Action::Complete(Some(said)) = &rule.then[0] else { panic!("{rule:?}") };
            assert_eq!(values.fill(said), expected, "{held:?} {text}");
        }
        let hidden = &script.rules[1..];
        assert!(rule_for(hidden, &[message("m", "x")], &|_| false).is_none());
    }

    #[test]
    fn follow_up_rules_go_first_and_then_the_others() {
        let script = script(RULES);
        assert_eq!(answer(&script, &[("1", "ask"), ("2", "red")]), "you chose red");
        assert_eq!(answer(&script, &[("1", "ask"), ("2", "green")]), "which then?");
        assert_eq!(answer(&script, &[("1", "ask"), ("2", "green"), ("3", "x")]), "last: x");
        assert_eq!(answer(&script, &[("1", "hold 1"), ("2", "hold 2")]), "held 2");
    }

    #[test]
    fn siblings_stay_while_follow_up_rules_ask_again() {
        let script = script(RULES);
        for (said, expected) in [
            (&["guess", "7"][..], "right"),
            (&["guess", "1", "2", "3", "4"], "not 4, again"),
            (&["guess", "1", "2", "3", "7"], "right"),
            // The rules of a follow-up rule go before its siblings, which stay as well.
            (&["guess", "1", "help", "yes"], "below ten"),
            (&["guess", "help", "yes", "yes"], "below ten"),
            (&["guess", "help", "yes", "2", "7"], "right"),
            // A rule from further out leaves those inside it behind.
            (&["guess", "help", "2", "yes"], "default yes"),
            (&["guess", "1", "ask", "red"], "you chose red"),
            (&["guess", "ask", "7"], "which then?"),
            // Rules that are not of this question are no siblings.
            (&["7"], "default 7"),
            (&["ask", "guess", "7"], "last: 7"),
        ] {
            let messages: Vec<(&str, &str)> = said.iter().map(|text| ("m", *text)).collect();
            assert_eq!(answer(&script, &messages), expected, "{said:?}");
        }
    }
}
