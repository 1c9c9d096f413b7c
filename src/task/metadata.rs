//! The members of a task's metadata that the server sets.

use a2a::model::Metadata;
use serde_json::Value;

/// Sets a member of metadata; `None` removes the member.
pub(crate) fn set_member(metadata: &mut Option<Metadata>, name: &str, value: Option<Value>) {
    let is_told = metadata.as_ref().is_some_and(|known| known.member(name).is_some());
    if value.is_none() && !is_told {
        return;
    }
    let mut members = metadata.take().unwrap_or_default().members();
    match value {
        Some(value) => {
            members.insert(name.to_owned(), value);
        }
        None => {
            members.shift_remove(name);
        }
    }
    *metadata = Some(members).filter(|members| !members.is_empty()).map(Into::into);
}

/// The member of a task's metadata with the number of the attempt. The first attempt has no such member.
pub const ATTEMPT: &str = "urn:a2a-edge:attempt";
