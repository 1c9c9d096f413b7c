//! Names of kinds that a Worker registers.

use super::ExecutorKind;
use crate::table::closest;

/// Checks the name under which a Worker registers an executor. Agent files use the name as their kind.
///
/// # Errors
///
/// The rule for the name.
pub fn check_kind(name: &str) -> Result<(), String> {
    if ExecutorKind::named(name).is_some() || RESERVED.contains(&name) {
        return Err("must be a name of your own: this one belongs to a2a-edge".to_owned());
    }
    if let Some(meant) = closest(name, ExecutorKind::names()) {
        return Err(format!(
            "must not be {name:?}: did you mean {meant:?}? A name of your own differs by more than a letter from each kind of a2a-edge: \
             {}",
            ExecutorKind::names().collect::<Vec<_>>().join(", ")
        ));
    }
    let is_plain = |letter: char| {
        letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_".contains(letter)
    };
    let begins_well = name.starts_with(|letter: char| letter.is_ascii_lowercase());
    if begins_well && name.chars().all(is_plain) && name.len() <= MAX_BYTES {
        return Ok(());
    }
    Err(format!(
        "must be 1 to {MAX_BYTES} lower-case letters, digits, `-` and `_`, and begin with a letter"
    ))
}

/// Names that no Worker can register: `run` is another table of `[executor]`, and `rust` is the language of all
/// registered executors.
const RESERVED: [&str; 2] = ["run", "rust"];

/// The maximum length of the name of a kind, in bytes.
const MAX_BYTES: usize = 64;
