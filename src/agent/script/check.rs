//! Whether the rules of a script hold together.

use serde_json::Value;

use super::template::pieces;
use super::{Action, Amount, ArtifactContent, Condition, Pattern, Rule, StepsAction};

/// What is wrong with a rule, each with the key that it stands at.
pub(in crate::agent) fn problems_of(rule: &Rule, path: &str) -> Vec<(String, String)> {
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

/// Whether a rule, or one that follows up on it, holds a step that only development may have: it panics,
/// or calls whom the client names.
pub(in crate::agent) fn is_for_development(rule: &Rule) -> bool {
    let is_own = |action: &Action| matches!(action, Action::Panic | Action::Steps(_));
    rule.then.iter().any(is_own) || rule.follow_up.iter().any(is_for_development)
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
        Action::Steps(StepsAction { url, count, delay_ms, panic_at, .. }) => {
            let amounts = [Some(count), Some(delay_ms), panic_at.as_ref()];
            let captured = amounts.into_iter().flatten().filter_map(|amount| match amount {
                Amount::Captured(text) => Some(text.clone()),
                Amount::Fixed(_) => None,
            });
            std::iter::once(url.clone()).chain(captured).collect()
        }
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
        | Action::Polls(_)
        | Action::Steps(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
