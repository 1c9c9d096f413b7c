//! Checks the rules of a script.

use serde_json::Value;

use super::template::pieces;
use super::{
    Action, Amount, ArtifactAction, ArtifactContent, Condition, Pattern, Rule, Span, StepsAction,
};
use crate::Problem;

/// The problems of the rules in the list at `path`, each with its key.
pub(crate) fn problems_of(rules: &[Rule], path: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, rule) in rules.iter().enumerate() {
        let at = format!("{path}[{index}]");
        // An earlier rule with fewer permissions does not hide this one: callers with all permissions still reach this
        // rule.
        let hides = |earlier: &Rule| {
            let mut needed = earlier.permissions.iter();
            let takes_all = needed.all(|permission| rule.permissions.contains(permission));
            let is_preferred = earlier.permissions.len() >= rule.permissions.len();
            earlier.when == rule.when && takes_all && is_preferred
        };
        let same = rules.iter().take(index).position(hides);
        match (same, &rule.when) {
            (Some(same), Some(_)) => problems.push(Problem::at(
                format!("{at}.when"),
                format!("is that of {path}[{same}], so this rule is never reached; change one of the two"),
            )),
            (Some(same), None) => problems.push(Problem::at(
                at.clone(),
                format!(
                    "is never reached: {path}[{same}] has no `when` either and takes what is left; give \
                     one of the two a `when`"
                ),
            )),
            (None, _) => {}
        }
        problems.extend(problems_of_rule(rule, &at));
    }
    problems
}

fn problems_of_rule(rule: &Rule, path: &str) -> Vec<Problem> {
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
            problems.push(Problem::at(
                path.clone(),
                "is never reached: the step before it ends the turn".to_owned(),
            ));
        }
        if is_visible && matches!(action, Action::Message(_)) {
            let fix = "a message is the whole answer; drop the steps before it that make a task";
            problems.push(Problem::at(path.clone(), fix));
        }
        has_ended |= ends_turn(action);
        is_visible |= !matches!(action, Action::Wait(_) | Action::Message(_));
        for (key, text) in plain_texts_of(action) {
            let fillable = |name: &&str| known.iter().any(|known| known == name);
            if let Some(name) = pieces(text).into_iter().filter_map(Result::err).find(fillable) {
                let fix =
                    format!("holds {{{name}}}, but is taken as it is: only contents are filled in");
                problems.push(Problem::at(format!("{path}.{key}"), fix));
            }
        }
        for text in texts_of_action(action) {
            for name in pieces(&text).into_iter().filter_map(Result::err) {
                if !known.iter().any(|known| known == name) {
                    let known: Vec<String> =
                        known.iter().map(|name| format!("{{{name}}}")).collect();
                    let fix = format!(
                        "there is no {{{name}}} here; known are {}; write {{{{ and }}}} for braces",
                        known.join(", ")
                    );
                    problems.push(Problem::at(path.clone(), fix));
                }
            }
        }
    }
    if !has_ended && !rule.then.is_empty() {
        let fix = "needs to end with complete, fail, reject, input_required, auth_required, message or panic";
        problems.push(Problem::at(format!("{path}.then"), fix));
    }
    if rule.then.is_empty() {
        problems.push(Problem::at(format!("{path}.then"), "needs at least one step"));
    }
    let asks = rule
        .then
        .iter()
        .any(|action| matches!(action, Action::InputRequired(_) | Action::AuthRequired(_)));
    if !asks && !rule.follow_up.is_empty() {
        let fix = "is never reached: only a rule that ends with input_required or auth_required waits for \
                   the next message";
        problems.push(Problem::at(format!("{path}.follow_up"), fix));
    }
    problems.extend(problems_of(&rule.follow_up, &format!("{path}.follow_up")));
    problems
}

/// True if a rule or one of its follow-up rules contains a step that is allowed in development only: `panic`, or
/// `steps`, which calls a URL from the client.
pub(crate) fn is_for_development(rule: &Rule) -> bool {
    let is_own = |action: &Action| matches!(action, Action::Panic | Action::Steps(_));
    rule.then.iter().any(is_own) || rule.follow_up.iter().any(is_for_development)
}

/// True if a rule or one of its follow-up rules needs permissions.
#[cfg(any(test, feature = "checker"))]
pub(crate) fn needs_permissions(rule: &Rule) -> bool {
    !rule.permissions.is_empty() || rule.follow_up.iter().any(needs_permissions)
}

/// True if a rule or one of its follow-up rules has a step that parks the run.
pub(crate) fn parks(rule: &Rule) -> bool {
    let parks_it =
        |action: &Action| matches!(action, Action::Park { .. } | Action::Callback { .. });
    rule.then.iter().any(parks_it) || rule.follow_up.iter().any(parks)
}

/// The texts of a step in which placeholders are not filled in, each with its key.
fn plain_texts_of(action: &Action) -> Vec<(&'static str, &str)> {
    let Action::Artifact(ArtifactAction { id, name, filename, media_type, content: _ }) = action
    else {
        return Vec::new();
    };
    let keys = [("id", id), ("name", name), ("filename", filename), ("media_type", media_type)];
    keys.into_iter().filter_map(|(key, text)| Some((key, text.as_deref()?))).collect()
}

/// The texts of a step that may contain placeholders.
fn texts_of_action(action: &Action) -> Vec<String> {
    match action {
        Action::Working(text) | Action::Complete(text) => text.iter().cloned().collect(),
        Action::Fail(text)
        | Action::Reject(text)
        | Action::InputRequired(text)
        | Action::AuthRequired(text)
        | Action::Message(text)
        | Action::Wait(Amount::Captured(text))
        | Action::Park { span: Span { amount: Amount::Captured(text), .. }, .. }
        | Action::Callback { span: Span { amount: Amount::Captured(text), .. }, .. } => {
            vec![text.clone()]
        }
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
        Action::Steps(StepsAction { url, count, delay_ms, panic_at, .. }) => {
            let amounts = [Some(count), Some(delay_ms), panic_at.as_ref()];
            let captured = amounts.into_iter().flatten().filter_map(|amount| match amount {
                Amount::Captured(text) => Some(text.clone()),
                Amount::Fixed(_) => None,
            });
            std::iter::once(url.clone()).chain(captured).collect()
        }
        Action::Wait(Amount::Fixed(_))
        | Action::Park { span: Span { amount: Amount::Fixed(_), .. }, .. }
        | Action::Callback { span: Span { amount: Amount::Fixed(_), .. }, .. }
        | Action::Polls(_)
        | Action::Panic => Vec::new(),
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

fn ends_turn(action: &Action) -> bool {
    match action {
        Action::Complete(_)
        | Action::Fail(_)
        | Action::Reject(_)
        | Action::InputRequired(_)
        | Action::AuthRequired(_)
        | Action::Message(_)
        | Action::Panic => true,
        Action::Working(_)
        | Action::Artifact(_)
        | Action::Wait(_)
        | Action::Park { .. }
        | Action::Callback { .. }
        | Action::Polls(_)
        | Action::Steps(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScriptTable;

    fn script(rules: &str) -> ScriptTable {
        ScriptTable::of(&toml::from_str::<Value>(rules).unwrap().into()).unwrap()
    }

    fn problems(rules: &str) -> Vec<Problem> {
        problems_of(&script(rules).rules, "r")
    }

    /// Asserts the problem of rules at the top, and of the same rules as follow-up rules.
    fn assert_problem(rules: &[String], key: &str, fix: &str) {
        let at_the_top = rules.join("\n");
        let asks = "[[rules]]\nthen = [{ do = 'input_required', text = '?' }]\n";
        let below = at_the_top.replace("[[rules", "[[rules.follow_up");
        for (rules, path) in [(at_the_top, "r"), (format!("{asks}{below}"), "r[0].follow_up")] {
            let problems = problems(&rules);
            let key = format!("{path}{key}");
            assert!(
                matches!(&problems[..], [Problem { key: at, text, .. }] if *at == key && text.contains(fix)),
                "{rules}: {problems:?}"
            );
        }
    }

    #[test]
    fn problems_of_a_rule_are_named() {
        for (rule, key, fix) in [
            ("then = []", ".then", "at least one step"),
            ("then = [{ do = 'working' }]", ".then", "needs to end with"),
            ("then = [{ do = 'complete' }, { do = 'panic' }]", ".then[1]", "never reached"),
            ("then = [{ do = 'complete', text = '{1}' }]", ".then[0]", "there is no {1}"),
            (
                "then = [{ do = 'wait', ms = '{1}' }, { do = 'complete' }]",
                ".then[0]",
                "there is no {1}",
            ),
            (
                "then = [{ do = 'working' }, { do = 'message', text = 'x' }]",
                ".then[1]",
                "whole answer",
            ),
            (
                "then = [{ do = 'artifact', id = 'a-{text}', text = 'x' }, { do = 'complete' }]",
                ".then[0].id",
                "holds {text}, but is taken as it is",
            ),
            (
                "then = [{ do = 'complete' }]\n[[rules.follow_up]]\nthen = [{ do = 'complete' }]",
                ".follow_up",
                "never reached: only a rule that ends with input_required",
            ),
        ] {
            assert_problem(&[format!("[[rules]]\n{rule}")], &format!("[0]{key}"), fix);
        }
    }

    #[test]
    fn rules_that_park_are_found_at_any_level() {
        let parks_it = |rules: &str| script(rules).parks();
        let (park, wait) = ("[{ do = 'park', days = 3 }]", "[{ do = 'wait', ms = 5 }]");
        for (then, expected) in [(park, true), (wait, false)] {
            assert_eq!(parks_it(&format!("[[rules]]\nthen = {then}")), expected);
            let below = format!("[[rules]]\nthen = []\n[[rules.follow_up]]\nthen = {then}");
            assert_eq!(parks_it(&below), expected);
        }
    }

    #[test]
    fn a_rule_that_an_earlier_one_hides_is_named_with_that_one() {
        let rule = |when: &str| format!("[[rules]]\n{when}\nthen = [{{ do = 'complete' }}]");
        for (when, key, fix) in [
            ("", "[2]", "[0] has no `when` either"),
            ("when = { text = 'a' }", "[2].when", "[0], so this rule is never reached"),
            ("when = { message_id = 'a' }", "[2].when", "[0], so this rule is never reached"),
            ("when = { pattern = 'a' }", "[2].when", "[0], so this rule is never reached"),
        ] {
            let other = rule("when = { text = 'b' }");
            assert_problem(&[rule(when), other, rule(when)], key, fix);
        }
        let kinds = [
            "",
            "when = { text = 'a' }",
            "when = { message_id = 'a' }",
            "when = { pattern = 'a' }",
        ];
        assert_eq!(problems(&kinds.map(rule).join("\n")), []);
        let needs = ["", "permissions = ['a']", "permissions = ['b']", "permissions = ['a', 'b']"];
        assert_eq!(problems(&needs.map(rule).join("\n")), []);
        let again = [needs[3], needs[0], "permissions = ['b', 'a']"].map(rule);
        assert_problem(&again, "[2]", "[0] has no `when` either");
    }
}
