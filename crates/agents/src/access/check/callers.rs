//! The callers of a scheme whose credentials are secrets of the deployment.

use super::{Problems, check_permissions};
use crate::access::StaticCaller;
use crate::{Problem, is_value_name};

/// The problems of callers. With `has_names`, the ids are user names, which must not contain a colon.
pub(super) fn check_callers(callers: &[StaticCaller], has_names: bool) -> Problems {
    let mut problems = Vec::new();
    if callers.is_empty() || callers.len() > MAX_CALLERS {
        let fix = format!(
            "must be 1 to {MAX_CALLERS}, as [{{ id = \"billing\", secrets = [\"BILLING_KEY\"] }}]"
        );
        problems.push(Problem::at("callers", fix));
    }
    for (index, caller) in callers.iter().enumerate() {
        let key = format!("callers[{index}]");
        let earlier = || callers.iter().take(index);
        if let Err(fix) = check_id(&caller.id, has_names) {
            problems
                .push(Problem::at(format!("{key}.id"), format!("is {:?}, but {fix}", caller.id)));
        } else if earlier().any(|other| other.id == caller.id) {
            let fix = format!("{:?} stands twice; a caller may have several secrets", caller.id);
            problems.push(Problem::at(format!("{key}.id"), fix));
        }
        problems.extend(check_secrets(&caller.secrets, &format!("{key}.secrets")));
        let taken = |name: &String| earlier().any(|other| other.secrets.contains(name));
        if let Some(name) = caller.secrets.iter().find(|name| taken(name)) {
            let fix = format!("holds {name:?}, which is another caller's; give each its own");
            problems.push(Problem::at(format!("{key}.secrets"), fix));
        }
        problems.extend(check_permissions(&caller.permissions, &format!("{key}.permissions")));
        for (claim, value) in &caller.claims {
            if let Err(fix) = check_id(value, false) {
                problems.push(Problem::at(
                    format!("{key}.claims.{claim}"),
                    format!("is {value:?}, but {fix}"),
                ));
            }
        }
    }
    problems
}

/// The problems of the names of secrets.
pub(super) fn check_secrets(names: &[String], key: &str) -> Problems {
    if names.is_empty() || names.len() > MAX_SECRETS {
        let fix = format!(
            "must be the names of 1 to {MAX_SECRETS} Worker secrets, as [\"BILLING_KEY\"]; two while one replaces the other"
        );
        return vec![Problem::at(key, fix)];
    }
    let mut problems = Vec::new();
    for (index, name) in names.iter().enumerate() {
        if !is_value_name(name) {
            // The text may be the secret itself, so the problem does not show it.
            let fix = "is no name of a Worker secret: capital letters, digits and _, as BILLING_KEY; the secret itself \
                       stands in no file";
            problems.push(Problem::at(format!("{key}[{index}]"), fix));
        } else if names.iter().take(index).any(|earlier| earlier == name) {
            problems.push(Problem::at(format!("{key}[{index}]"), format!("{name:?} stands twice")));
        }
    }
    problems
}

fn check_id(id: &str, is_name: bool) -> Result<(), &'static str> {
    match id {
        "" => Err("must not be empty"),
        _ if id.len() > MAX_ID_BYTES => Err("must have at most 256 bytes"),
        _ if id.chars().any(char::is_control) || id.trim() != id => {
            Err("must hold no control letters, and no spaces at its ends")
        }
        _ if is_name && id.contains(':') => Err("the name before a password must hold no colon"),
        _ => Ok(()),
    }
}

/// The maximum number of callers of a scheme.
const MAX_CALLERS: usize = 1_000;

/// The maximum number of secrets of a caller.
const MAX_SECRETS: usize = 5;

/// The maximum length of an id, in bytes.
const MAX_ID_BYTES: usize = 256;
