//! Who calls (spec §7). Until access is configured everybody is the same anonymous caller.

use serde::Serialize;

use a2a::model::decode::{Decode, Fields};

/// Who makes a request: the owner of the tasks it creates, and what it may do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Caller {
    /// Unique among callers; tasks are visible to the caller of the same id alone.
    pub id: String,
    /// What the caller may do, as `admin`.
    pub permissions: Vec<String>,
}

impl Caller {
    /// The caller of a server that asks for no credentials.
    pub fn anonymous() -> Self {
        Self { id: "anonymous".to_owned(), permissions: Vec::new() }
    }
}

impl Decode for Caller {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let permissions = fields.strings("permissions");
        Some(Self { id: fields.required_string("id")?, permissions })
    }
}
