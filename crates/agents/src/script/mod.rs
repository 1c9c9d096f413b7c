//! Scripts: fixed rules for an agent's answers (executor kind `script`).

mod check;
mod condition;
mod fault;
mod step;
mod template;

use serde_json::Value;

#[cfg(any(test, feature = "checker"))]
pub(crate) use check::needs_permissions;
pub(crate) use check::{is_for_development, parks, problems_of};
pub use condition::{Condition, Pattern};
pub use fault::Fault;
pub use template::Values;

use crate::table::{Keys, Reader, keys};
use a2a::model::{Base64, Message};

/// A rule: the messages that it matches, and the steps that answer them.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The condition. Without it, the rule matches messages that no other rule matches.
    pub when: Option<Condition>,
    /// A caller needs all of these permissions; for other callers the rule does not exist. Of two rules with equal
    /// matches, the one with more permissions has priority.
    pub permissions: Vec<String>,
    /// The steps, in order.
    pub then: Vec<Action>,
    /// Rules for the next message of the same task, which have priority over the other rules. They also apply to later
    /// messages as long as one of them requests input again.
    pub follow_up: Vec<Rule>,
}

impl Rule {
    /// An example of a rule for the texts of problems.
    pub(crate) const EXAMPLE: &'static str =
        "{ when = { text = \"hi\" }, then = [{ do = \"complete\" }] }";

    /// Reads a rule.
    pub(crate) fn read(keys: &mut Reader<'_>) -> Option<Self> {
        keys.only(&RULE);
        keys.need("then", ": the steps, as [{ do = \"complete\" }]");
        Some(Self {
            when: keys.below("when", Condition::read),
            permissions: keys.texts("permissions"),
            then: keys.tables("then", Action::EXAMPLE, Action::read),
            follow_up: keys.tables("follow_up", Self::EXAMPLE, Self::read),
        })
    }
}

/// One step of a rule; in the file, a table whose key `do` contains the name of the step.
///
/// Texts may contain `{text}` (the text of the message), and `{1}` or `{name}` (a capture of the pattern). `{{` and `}}`
/// are literal braces.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// `working`: sets the task to working; `text`, if given, is a progress note.
    Working(Option<String>),
    /// `artifact`: adds an artifact.
    Artifact(ArtifactAction),
    /// `wait`: waits for `ms` milliseconds, at most [`MAX_WAIT_MS`].
    Wait(Amount),
    /// `park`: parks the run for `ms` milliseconds, or `minutes`, `hours` or `days`, at most [`MAX_PARK_MS`]. A parked
    /// run is not in memory. With `until_message = true` a message of the client also ends the wait.
    Park {
        /// The duration.
        span: Span,
        /// True if a message ends the wait. The run then receives the message.
        until_message: bool,
    },
    /// `callback`: adds the artifact `id` with the data `{"url": …}`, a URL to which `count` bodies may be posted (one
    /// unless given). The run is parked until each body has arrived. The first body becomes the artifact `<id>-body`, the
    /// second `<id>-body-2`. The task fails if a body does not arrive within `ms`, `minutes`, `hours` or `days`, at most
    /// [`MAX_PARK_MS`].
    Callback {
        /// The id of the artifact; `callback` if not given.
        id: Option<String>,
        /// The number of expected bodies.
        count: u32,
        /// The maximum time until each body arrives.
        span: Span,
    },
    /// `polls`: waits until GetTask was called `count` times, 1 or more.
    Polls(u32),
    /// `complete`: completes the task; `text`, if given, is its last message.
    Complete(Option<String>),
    /// `fail`: fails the task for the reason `text`.
    Fail(String),
    /// `reject`: rejects the task for the reason `text`.
    Reject(String),
    /// `input_required`: requests input with the question `text`.
    InputRequired(String),
    /// `auth_required`: requests the credentials that `text` describes.
    AuthRequired(String),
    /// `message`: answers with a message instead of a task.
    Message(String),
    /// `panic`: panics, like an agent with a bug.
    Panic,
    /// `steps`: performs durable steps with external effects, to show their behaviour after an interruption.
    Steps(StepsAction),
}

/// The duration for which a run is parked.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// The number of units.
    pub amount: Amount,
    /// The unit.
    pub unit: TimeUnit,
}

impl Span {
    /// The duration in milliseconds; `None` if the captured text is not a number.
    pub fn millis(&self, values: &Values) -> Option<u64> {
        let amount = values.number(&self.amount, self.unit.most())?;
        Some(amount.saturating_mul(self.unit.millis()))
    }
}

/// A unit of time; in the file it is the key of the amount.
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
    /// The number of milliseconds in the unit.
    pub const fn millis(self) -> u64 {
        match self {
            Self::Millis => 1,
            Self::Minutes => 60_000,
            Self::Hours => 3_600_000,
            Self::Days => 86_400_000,
        }
    }

    /// The number of units in [`MAX_PARK_MS`].
    pub(crate) const fn most(self) -> u64 {
        MAX_PARK_MS / self.millis()
    }
}

/// Durable steps. For each number from 1 on, the task shows a progress note, and a step posts to `<url>/<number>`. The
/// response becomes a piece of the artifact `steps`.
#[derive(Clone, Debug, PartialEq)]
pub struct StepsAction {
    /// The URL of the server that receives the posts.
    pub url: String,
    /// `repeat`: the number of steps, at most [`MAX_REPEAT`].
    pub count: Amount,
    /// `delay_ms`: the pause after each step, in milliseconds; none unless given.
    pub delay_ms: Amount,
    /// `attempts`: the maximum number of attempts of a failing step; one unless given.
    pub attempts: u32,
    /// `panic_at`: the number of the step before which the first attempt of the run panics; none unless given.
    pub panic_at: Option<Amount>,
}

/// An artifact of a scripted agent.
#[derive(Clone, Debug, PartialEq)]
pub struct ArtifactAction {
    /// The id; `artifact-<n>` if not given.
    pub id: Option<String>,
    /// A name for people.
    pub name: Option<String>,
    /// The content: in the file exactly one of `text`, `data`, `raw`, `url` and `chunks`.
    pub content: ArtifactContent,
    /// The file name of the part.
    pub filename: Option<String>,
    /// The media type of the part.
    pub media_type: Option<String>,
}

/// The content of an artifact.
#[derive(Clone, Debug, PartialEq)]
pub enum ArtifactContent {
    /// Text.
    Text(String),
    /// JSON data, whose texts may contain placeholders.
    Data(Value),
    /// Bytes; in the file in base64.
    Raw(Base64),
    /// A link.
    Url(String),
    /// Text in pieces, each sent as a separate event.
    Chunks {
        /// The pieces, at least one.
        pieces: Vec<String>,
        /// `repeat`: how often the list of pieces is sent, once unless given, at most [`MAX_REPEAT`] times.
        repeat: Amount,
        /// `delay_ms`: the pause between pieces, in milliseconds; none unless given.
        delay_ms: Amount,
    },
}

/// A number, fixed or captured.
#[derive(Clone, Debug, PartialEq)]
pub enum Amount {
    /// A number in the file.
    Fixed(u64),
    /// A text in the file that becomes a number when its captures are filled in, as `"{1}"`.
    Captured(String),
}

/// The rule that matches the newest of the client's `messages` (oldest first), and the values for its texts. `may`
/// returns true for each permission of the caller.
///
/// Earlier messages determine which follow-up rules apply. The innermost list is searched first: the follow-up rules of
/// the previous rule, then the list that contains the previous rule, and so on outwards to `rules`. So the siblings of a
/// rule that requests input again still apply. After a rule of an outer list, the inner lists no longer apply.
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

const RULE: Keys = keys! {
    /// The messages that the rule matches; without it, messages that no other rule matches.
    "when",
    /// The permissions of the callers for whom the rule exists, who have all of them.
    "permissions",
    /// The steps, in order.
    "then",
    /// Rules for the next message of the same task, which are tried before the others.
    "follow_up",
};

/// The maximum duration of a script's wait, in milliseconds: ten minutes.
pub const MAX_WAIT_MS: u64 = 600_000;

/// The maximum duration for which a script parks its run, in milliseconds: 366 days.
pub const MAX_PARK_MS: u64 = 366 * 86_400_000;

/// The maximum number of times that a script sends the pieces of an artifact.
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
            // The follow-up rules of a follow-up rule have priority over its siblings, which still apply.
            (&["guess", "1", "help", "yes"], "below ten"),
            (&["guess", "help", "yes", "yes"], "below ten"),
            (&["guess", "help", "yes", "2", "7"], "right"),
            // After a rule of an outer list, the inner lists no longer apply.
            (&["guess", "help", "2", "yes"], "default yes"),
            (&["guess", "1", "ask", "red"], "you chose red"),
            (&["guess", "ask", "7"], "which then?"),
            // Follow-up rules of other questions do not apply.
            (&["7"], "default 7"),
            (&["ask", "guess", "7"], "last: 7"),
        ] {
            let messages: Vec<(&str, &str)> = said.iter().map(|text| ("m", *text)).collect();
            assert_eq!(answer(&script, &messages), expected, "{said:?}");
        }
    }
}
