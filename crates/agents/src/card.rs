//! Completes the card that the checker made: fills in the variables of the deployment, and adds the skills of one caller.

use serde_json::Value;

use crate::{Expandable, Misfit, NotSet, RestrictedSkill, Values};

/// The card with the variables of the deployment in place of `${NAME}` in its security schemes.
///
/// # Errors
///
/// The variable that is not set.
pub fn expand_card(card: &str, variables: &dyn Values) -> Result<String, Misfit> {
    if !card.contains("${") {
        return Ok(card.to_owned());
    }
    let mut card: Value = a2a::model::read_own(card)?;
    if let Some(schemes) = card.get_mut("securitySchemes") {
        expand(schemes, variables).map_err(|missing| Misfit(missing.to_string()))?;
    }
    Ok(card.to_string())
}

fn expand(value: &mut Value, variables: &dyn Values) -> Result<(), NotSet> {
    match value {
        Value::String(text) => {
            // A text with invalid placeholders is not changed.
            if let Ok(template) = Expandable::parse(text) {
                *text = template.expand(variables)?.reveal().to_owned();
            }
        }
        Value::Array(elements) => {
            elements.iter_mut().try_for_each(|value| expand(value, variables))?;
        }
        Value::Object(members) => {
            members.values_mut().try_for_each(|value| expand(value, variables))?;
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    Ok(())
}

/// The card for one caller. `may` returns true for each permission of the caller. The card also contains the
/// `restricted` skills that the caller may use, each at its position.
///
/// # Errors
///
/// A card that the checker made causes no error.
pub fn extended_card(
    card: &str,
    restricted: &[RestrictedSkill],
    may: impl Fn(&str) -> bool,
) -> Result<String, Misfit> {
    if !restricted.iter().any(|skill| skill.is_for(&may)) {
        return Ok(card.to_owned());
    }
    let mut card: Value = a2a::model::read_own(card)?;
    if let Some(shown) = card.get_mut("skills").and_then(Value::as_array_mut) {
        let mut left_out = 0;
        for restricted in restricted {
            if restricted.is_for(&may) {
                let position = restricted.position.saturating_sub(left_out).min(shown.len());
                shown.insert(position, restricted.skill.clone());
            } else {
                left_out += 1;
            }
        }
    }
    Ok(card.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use a2a::model::Secret;

    #[test]
    fn what_a_card_says_of_schemes_may_hold_variables_and_nothing_else() {
        struct Deployment;
        impl Values for Deployment {
            fn value(&self, name: &str) -> Result<Secret, NotSet> {
                let known = name == "ISSUER";
                known.then(|| Secret::new("https://id.example")).ok_or(NotSet::variable(name))
            }
        }
        let card = |of_name: &str, of_scheme: &str| {
            format!(
                r#"{{"name":"{of_name}","securitySchemes":{{"s":{{"u":["{of_scheme}/x",1]}}}},"z":1}}"#
            )
        };
        let expand = |card: &str| expand_card(card, &Deployment);
        let expanded = Ok(card("${ISSUER}", "https://id.example"));
        assert_eq!(expand(&card("${ISSUER}", "${ISSUER}")), expanded);
        assert_eq!(expand(&card("$${A}", "$${A}")), Ok(card("$${A}", "${A}")));
        assert_eq!(expand("no JSON at all {"), Ok("no JSON at all {".to_owned()));
        let missing = expand(&card("", "${OTHER}")).unwrap_err();
        assert!(missing.0.contains("OTHER"), "{missing}");
    }

    #[test]
    fn a_caller_sees_the_skills_that_it_may_use_in_the_order_of_the_file() {
        let restricted = |position: usize, id: &str, permissions: &[&str]| RestrictedSkill {
            permissions: permissions.iter().map(|known| (*known).to_owned()).collect(),
            position,
            skill: serde_json::json!({"id": id}),
        };
        let all = [
            restricted(0, "a", &["x"]),
            restricted(2, "c", &["y"]),
            restricted(4, "e", &["x", "y"]),
            restricted(5, "f", &["y"]),
        ];
        let card = r#"{"skills":[{"id":"b"},{"id":"d"}],"z":1}"#;
        for (held, ids) in
            [(&["x", "y"][..], "abcdef"), (&["x"], "abd"), (&["y"], "bcdf"), (&["z"], "bd")]
        {
            let shown = extended_card(card, &all, |wanted| held.contains(&wanted)).unwrap();
            let skills = ids.chars().map(|id| format!(r#"{{"id":"{id}"}}"#)).collect::<Vec<_>>();
            assert_eq!(shown, format!(r#"{{"skills":[{}],"z":1}}"#, skills.join(",")), "{held:?}");
        }
    }
}
