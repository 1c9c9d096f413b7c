//! The numbers of the forms that are stored, or that pass between two versions of the Worker.
//!
//! During a deploy two versions run at the same time, and after a downgrade an older one finds what a newer
//! one has stored. A form whose meaning an older version would get wrong has a number. What has a larger number
//! than this version reads, or cannot be read at all, is left as it is and asked for again later.
//! `docs/upgrades.md` says when a number has to be raised.

use a2a::model::decode::Fields;

/// A form by its newest number that this version reads. Numbers begin with 1, which is not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    reads: u32,
}

/// The tables of a task object; its number is the column `schema` of the first row.
pub const OBJECT: Format = Format { reads: 2 };

/// The number that new objects are given: not above what the release before reads.
pub const OBJECT_WRITES: u32 = 2;

/// What an object is asked: commands for clients, and what senders of notifications ask. Commands of operators are of the
/// number [`OPERATORS_COMMAND`]: a version that does not know it would take them for commands of an owner. Those about a task whose id its client has chosen
/// are of the number [`CHOSEN_ID_COMMAND`]: it would begin a task of another id.
pub const COMMAND: Format = Format { reads: 3 };

/// The number of commands of operators.
pub const OPERATORS_COMMAND: u32 = 2;

/// The number of commands about a task whose id its client has chosen, also those of operators.
pub const CHOSEN_ID_COMMAND: u32 = 3;

/// What an object tells senders of notifications.
pub const TURN: Format = Format { reads: 1 };

/// A body of the queue of notifications.
pub const JOB: Format = Format { reads: 1 };

/// A page token: from 2 on it begins with `v`, the number and a dot.
pub const PAGE_TOKEN: Format = Format { reads: 1 };

/// What clients are told if this version cannot read what another one wrote.
pub const OTHER_VERSION: &str =
    "this version of the server cannot read what another one wrote; try again later";

impl Format {
    /// Whether this version reads the form of this number.
    pub fn reads(self, number: u64) -> bool {
        number <= u64::from(self.reads)
    }

    /// Reads the member `format` of a JSON object. `None`, with the reason noted, if this version does not
    /// read the object.
    pub fn check(self, fields: &mut Fields) -> Option<()> {
        let number: u64 = fields.number("format").unwrap_or(1);
        if self.reads(number) {
            return Some(());
        }
        fields.refuse("format", format!("must be at most {}, got {number}", self.reads));
        None
    }
}

#[cfg(test)]
mod tests {
    use a2a::model::decode::{Decode, read_json};

    use super::*;

    struct Checked;

    impl Decode for Checked {
        fn decode(fields: &mut Fields) -> Option<Self> {
            COMMAND.check(fields).map(|()| Self)
        }
    }

    #[test]
    fn a_form_is_read_up_to_its_number() {
        for text in ["{}", r#"{"format":null}"#, r#"{"format":1}"#, r#"{"format":3}"#] {
            assert!(read_json::<Checked>(text).is_ok(), "{text}");
        }
        for text in [r#"{"format":4}"#, r#"{"format":4294967296}"#, r#"{"format":"new"}"#] {
            assert!(read_json::<Checked>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_new_objects_are_given_can_be_read() {
        assert!(OBJECT.reads(u64::from(OBJECT_WRITES)));
    }
}
