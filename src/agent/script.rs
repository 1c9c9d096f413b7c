//! Scripts: fixed rules that say what an agent answers (executor kind `script`).

use std::collections::HashMap;

use regex_lite::{Captures, Regex};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::{Base64, Message};

/// What to do about some messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Which messages; without it, those that no other rule takes.
    #[serde(default)]
    pub when: Option<Condition>,
    /// What to do, in order.
    pub then: Vec<Action>,
    /// Rules for the next message of the same task; tried before the others.
    #[serde(default)]
    pub follow_up: Vec<Rule>,
}

/// Which messages a rule takes.
///
/// When several rules match, exact text goes before message id, message id before pattern, pattern
/// before no condition; within a kind the longest match wins, then the order of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// Messages whose text is exactly this.
    Text(String),
    /// Messages whose id begins with this.
    MessageId(String),
    /// Messages in whose text this regular expression is found.
    Pattern(Pattern),
}

/// A regular expression in the syntax of the `regex-lite` crate (linear time, no Unicode classes).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pattern(Regex);

/// One step of a rule; in the file, a table whose key `do` names it.
///
/// Texts may hold `{text}` (the text of the message), `{1}` or `{name}` (what the pattern captured);
/// `{{` and `}}` stand for the braces themselves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Step", into = "Step")]
pub enum Action {
    /// `working`: the task is being worked on; `text`, if given, is a progress note.
    Working(Option<String>),
    /// `artifact`: an artifact.
    Artifact(ArtifactAction),
    /// `wait`: nothing for `ms` milliseconds, at most [`MAX_WAIT_MS`].
    Wait(Amount),
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

/// A step as it stands in the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Step {
    r#do: String,
    text: Option<String>,
    ms: Option<Value>,
    count: Option<u32>,
    id: Option<String>,
    name: Option<String>,
    data: Option<Value>,
    raw: Option<String>,
    url: Option<String>,
    chunks: Option<Vec<String>>,
    repeat: Option<Value>,
    delay_ms: Option<Value>,
    filename: Option<String>,
    media_type: Option<String>,
}

/// The placeholders that a message fills in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values(HashMap<String, String>);

/// The rule for the newest of the client's `messages` (oldest first), and what its texts may use.
/// Earlier messages decide which follow-up rules apply.
pub fn rule_for<'a>(rules: &'a [Rule], messages: &[Message]) -> Option<(&'a Rule, Values)> {
    let mut chosen: Option<(&Rule, Values)> = None;
    for message in messages {
        let follow_up = chosen.take().map_or(&[][..], |(rule, _)| &rule.follow_up);
        chosen = best(follow_up, message).or_else(|| best(rules, message));
    }
    chosen
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
            "wait" => Self::Wait(amount_of("ms", step.ms.take(), MAX_WAIT_MS)?),
            "polls" => match step.count.take() {
                Some(count) if count > 0 => Self::Polls(count),
                Some(_) | None => return Err("`polls` needs a `count` of 1 or more".to_owned()),
            },
            "panic" => Self::Panic,
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

fn artifact_of(step: &mut Step, text: Option<String>) -> Result<ArtifactAction, String> {
    let raw = step.raw.take().map(|raw| Base64::parse(&raw).ok_or("`raw` must be base64"));
    let chunks = match step.chunks.take() {
        Some(pieces) => {
            let delay = step.delay_ms.take().unwrap_or_else(|| 0.into());
            let repeat = step.repeat.take().unwrap_or_else(|| 1.into());
            let delay_ms = amount_of("delay_ms", Some(delay), MAX_WAIT_MS)?;
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

fn amount_of(key: &str, value: Option<Value>, most: u64) -> Result<Amount, String> {
    let fixed = value.as_ref().and_then(Value::as_u64).filter(|number| *number <= most);
    match (fixed, value) {
        (Some(number), _) => Ok(Amount::Fixed(number)),
        (None, Some(Value::String(text))) => Ok(Amount::Captured(text)),
        (None, _) => Err(format!("`{key}` must be from 0 to {most}, or a text with captures")),
    }
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

impl Condition {
    /// How well a message fits: rank of the kind and length of the match, and what was captured.
    fn fit(&self, message: &Message) -> Option<((u8, usize), Values)> {
        let text = message.text();
        let mut values = Values::of(&text);
        match self {
            Self::Text(wanted) => (*wanted == text).then_some(((3, text.len()), values)),
            Self::MessageId(prefix) => {
                message.message_id.starts_with(prefix).then_some(((2, prefix.len()), values))
            }
            Self::Pattern(Pattern(regex)) => {
                let captures = regex.captures(&text)?;
                values.capture(regex, &captures);
                Some(((1, captures.get(0).map_or(0, |found| found.len())), values))
            }
        }
    }
}

impl TryFrom<String> for Pattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let refused = |error| format!("{text:?} is not a regular expression: {error}");
        Regex::new(&text).map(Self).map_err(refused)
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> Self {
        pattern.0.as_str().to_owned()
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl Values {
    fn of(text: &str) -> Self {
        Self(HashMap::from([("text".to_owned(), text.to_owned())]))
    }

    fn capture(&mut self, regex: &Regex, captures: &Captures<'_>) {
        for (index, name) in regex.capture_names().enumerate() {
            let found = captures.get(index).map_or("", |found| found.as_str()).to_owned();
            if let Some(name) = name {
                self.0.insert(name.to_owned(), found.clone());
            }
            self.0.insert(index.to_string(), found);
        }
    }

    /// Fills the placeholders of a text in; unknown ones stay empty.
    pub fn fill(&self, template: &str) -> String {
        let mut filled = String::with_capacity(template.len());
        for piece in pieces(template) {
            match piece {
                Ok(literal) => filled.push_str(literal),
                Err(name) => filled.push_str(self.0.get(name).map_or("", String::as_str)),
            }
        }
        filled
    }

    /// Fills the placeholders of every text in a JSON value in.
    pub fn fill_json(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill(text)),
            Value::Array(elements) => elements.iter().map(|value| self.fill_json(value)).collect(),
            Value::Object(members) => members
                .iter()
                .map(|(key, value)| (key.clone(), self.fill_json(value)))
                .collect::<serde_json::Map<_, _>>()
                .into(),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    /// A number, `most` at the most; `None` if the captured text is none.
    pub fn number(&self, amount: &Amount, most: u64) -> Option<u64> {
        let number = match amount {
            Amount::Fixed(number) => *number,
            Amount::Captured(text) => self.fill(text).trim().parse().ok()?,
        };
        Some(number.min(most))
    }
}

/// What is wrong with a rule, each with the key that it stands at.
pub(super) fn problems_of(rule: &Rule, path: &str) -> Vec<(String, String)> {
    let mut problems = Vec::new();
    let mut known = vec!["text".to_owned()];
    if let Some(Condition::Pattern(Pattern(regex))) = &rule.when {
        for (index, name) in regex.capture_names().enumerate() {
            known.push(index.to_string());
            known.extend(name.map(str::to_owned));
        }
    }
    let mut has_ended = false;
    let mut is_visible = false;
    for (index, action) in rule.then.iter().enumerate() {
        let path = format!("{path}.then[{index}]");
        if has_ended {
            problems.push((
                path.clone(),
                "is never reached: the step before it ends the turn".to_owned(),
            ));
        }
        if is_visible && matches!(action, Action::Message(_)) {
            let fix = "a message is the whole answer; drop the steps before it that make a task";
            problems.push((path.clone(), fix.to_owned()));
        }
        has_ended |= ends_turn(action);
        is_visible |= !matches!(action, Action::Wait(_) | Action::Message(_));
        for text in texts_of_action(action) {
            for name in pieces(&text).into_iter().filter_map(Result::err) {
                if !known.iter().any(|known| known == name) {
                    let known: Vec<String> =
                        known.iter().map(|name| format!("{{{name}}}")).collect();
                    let fix = format!(
                        "there is no {{{name}}} here; known are {}; write {{{{ and }}}} for braces",
                        known.join(", ")
                    );
                    problems.push((path.clone(), fix));
                }
            }
        }
    }
    if !has_ended && !rule.then.is_empty() {
        let fix = "needs to end with complete, fail, reject, input_required, auth_required, message or panic";
        problems.push((format!("{path}.then"), fix.to_owned()));
    }
    if rule.then.is_empty() {
        problems.push((format!("{path}.then"), "needs at least one step".to_owned()));
    }
    for (index, follow_up) in rule.follow_up.iter().enumerate() {
        problems.extend(problems_of(follow_up, &format!("{path}.follow_up[{index}]")));
    }
    problems
}

/// Whether a rule, or one that follows up on it, holds a step `panic`.
pub(super) fn panics(rule: &Rule) -> bool {
    rule.then.contains(&Action::Panic) || rule.follow_up.iter().any(panics)
}

/// The texts of a step that may hold placeholders.
fn texts_of_action(action: &Action) -> Vec<String> {
    match action {
        Action::Working(text) | Action::Complete(text) => text.iter().cloned().collect(),
        Action::Fail(text)
        | Action::Reject(text)
        | Action::InputRequired(text)
        | Action::AuthRequired(text)
        | Action::Message(text)
        | Action::Wait(Amount::Captured(text)) => vec![text.clone()],
        Action::Artifact(artifact) => match &artifact.content {
            ArtifactContent::Text(text) | ArtifactContent::Url(text) => vec![text.clone()],
            ArtifactContent::Data(data) => texts_of(data),
            ArtifactContent::Chunks { pieces, repeat, delay_ms } => {
                let mut texts = pieces.clone();
                for amount in [repeat, delay_ms] {
                    if let Amount::Captured(text) = amount {
                        texts.push(text.clone());
                    }
                }
                texts
            }
            ArtifactContent::Raw(_) => Vec::new(),
        },
        Action::Wait(Amount::Fixed(_)) | Action::Polls(_) | Action::Panic => Vec::new(),
    }
}

/// Every text in a JSON value.
fn texts_of(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(elements) => elements.iter().flat_map(texts_of).collect(),
        Value::Object(members) => members.values().flat_map(texts_of).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

fn best<'a>(rules: &'a [Rule], message: &Message) -> Option<(&'a Rule, Values)> {
    let mut best: Option<((u8, usize), &Rule, Values)> = None;
    for rule in rules {
        let fit = match &rule.when {
            Some(condition) => condition.fit(message),
            None => Some(((0, 0), Values::of(&message.text()))),
        };
        if let Some((rank, values)) = fit
            && best.as_ref().is_none_or(|(best, ..)| rank > *best)
        {
            best = Some((rank, rule, values));
        }
    }
    best.map(|(_, rule, values)| (rule, values))
}

fn ends_turn(action: &Action) -> bool {
    match action {
        Action::Complete(_)
        | Action::Fail(_)
        | Action::Reject(_)
        | Action::InputRequired(_)
        | Action::AuthRequired(_)
        | Action::Message(_)
        | Action::Panic => true,
        Action::Working(_) | Action::Artifact(_) | Action::Wait(_) | Action::Polls(_) => false,
    }
}

/// A template cut into literal text (`Ok`) and names of placeholders (`Err`). A brace that opens
/// nothing stands for itself.
fn pieces(template: &str) -> Vec<Result<&str, &str>> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}']) {
        let (literal, from) = rest.split_at(at);
        pieces.push(Ok(literal));
        if let Some(after) = from.strip_prefix("{{") {
            pieces.push(Ok("{"));
            rest = after;
        } else if let Some(after) = from.strip_prefix("}}") {
            pieces.push(Ok("}"));
            rest = after;
        } else if let Some((name, after)) =
            from.strip_prefix('{').and_then(|inside| inside.split_once('}'))
        {
            pieces.push(Err(name));
            rest = after;
        } else {
            pieces.push(Ok(from.get(..1).unwrap_or_default()));
            rest = from.get(1..).unwrap_or_default();
        }
    }
    pieces.push(Ok(rest));
    pieces
}

const VERBS: &str = "working, artifact, wait, polls, complete, fail, reject, input_required, \
                     auth_required, message, panic";

/// The longest wait of a script, in milliseconds: ten minutes.
pub const MAX_WAIT_MS: u64 = 600_000;

/// How often a script goes through the pieces of an artifact at most.
pub const MAX_REPEAT: u64 = 10_000;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message(id: &str, text: &str) -> Message {
        let message = json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": text}]});
        serde_json::from_value(message).unwrap()
    }

    #[derive(Deserialize)]
    struct Script {
        rules: Vec<Rule>,
    }

    fn script(text: &str) -> Script {
        toml::from_str(text).unwrap()
    }

    fn answer(script: &Script, messages: &[(&str, &str)]) -> String {
        let messages: Vec<Message> = messages.iter().map(|(id, text)| message(id, text)).collect();
        let Some((rule, values)) = rule_for(&script.rules, &messages) else {
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
    fn follow_up_rules_go_first_and_then_the_others() {
        let script = script(RULES);
        assert_eq!(answer(&script, &[("1", "ask"), ("2", "red")]), "you chose red");
        assert_eq!(answer(&script, &[("1", "ask"), ("2", "green")]), "which then?");
        assert_eq!(answer(&script, &[("1", "ask"), ("2", "green"), ("3", "x")]), "last: x");
        assert_eq!(answer(&script, &[("1", "hold 1"), ("2", "hold 2")]), "held 2");
    }

    #[test]
    fn templates_are_filled_in() {
        let values = Values::of("hi");
        for (template, filled) in [
            ("{text}", "hi"),
            ("a {text} b {text}", "a hi b hi"),
            ("{{text}}", "{text}"),
            ("{none}", ""),
            ("{", "{"),
            ("}", "}"),
            ("x {open", "x {open"),
            ("", ""),
        ] {
            assert_eq!(values.fill(template), filled, "{template}");
        }
        assert_eq!(values.fill_json(&json!({"a": ["{text}", 1]})), json!({"a": ["hi", 1]}));
    }

    #[test]
    fn problems_of_a_rule_are_named() {
        for (rule, key, fix) in [
            ("then = []", "r.then", "at least one step"),
            ("then = [{ do = 'working' }]", "r.then", "needs to end with"),
            ("then = [{ do = 'complete' }, { do = 'working' }]", "r.then[1]", "never reached"),
            ("then = [{ do = 'complete', text = '{1}' }]", "r.then[0]", "there is no {1}"),
            (
                "then = [{ do = 'working' }, { do = 'message', text = 'x' }]",
                "r.then[1]",
                "whole answer",
            ),
        ] {
            let rule: Rule = toml::from_str(rule).unwrap();
            let problems = problems_of(&rule, "r");
            assert!(
                problems.iter().any(|(at, text)| at == key && text.contains(fix)),
                "{rule:?}: {problems:?}"
            );
        }
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
            ("then = [{ do = 'wait', ms = 600001 }]", "`ms` must be from 0 to 600000"),
            ("then = [{ do = 'polls', count = 0 }]", "a `count` of 1 or more"),
            ("then = []\nwhenever = 1", "unknown field `whenever`"),
            ("when = { texts = 'x' }\nthen = []", "unknown variant `texts`"),
            ("when = { pattern = '(' }\nthen = []", "is not a regular expression"),
        ] {
            let error = toml::from_str::<Rule>(rule).unwrap_err().message().to_owned();
            assert!(error.contains(fix), "{rule}: {error}");
        }
    }

    #[test]
    fn steps_are_embedded_as_they_were_read() {
        let steps = "then = [
            { do = 'working', text = 'a' }, { do = 'wait', ms = 5 }, { do = 'wait', ms = '{1}' },
            { do = 'polls', count = 2 }, { do = 'artifact', id = 'i', data = { a = [1, '{text}'] } },
            { do = 'artifact', raw = 'aGk=', filename = 'f', media_type = 'text/plain' },
            { do = 'artifact', url = 'https://example.com', name = 'n' },
            { do = 'artifact', chunks = ['a', 'b'], delay_ms = 7, repeat = '{1}' },
            { do = 'complete' }, { do = 'panic' }, { do = 'message', text = 'm' },
        ]";
        let rule: Rule = toml::from_str(steps).unwrap();
        let embedded = serde_json::to_string(&rule).unwrap();
        assert_eq!(serde_json::from_str::<Rule>(&embedded).unwrap(), rule);
    }
}
