//! The numbers of stored forms, and of forms that two versions of the Worker exchange.
//!
//! During a deploy two versions run at the same time, and after a downgrade an older version finds data of a newer version. A
//! form has a number if an older version would misread it. A text with a number that this version does not read, or that cannot
//! be parsed, is left as it is and read again later. `docs/upgrades.md` defines when a number has to be raised.

use a2a::model::decode::Fields;

/// A form, with the newest number that this version reads. Numbers begin with 1, which is not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    reads: u32,
}

/// The tables of a task object; its number is the column `schema` of the first row.
pub const OBJECT: Format = Format { reads: 2 };

/// The number in new objects: at most the number that the previous release reads.
pub const OBJECT_WRITES: u32 = 2;

/// Requests to an object: commands for clients, and requests of the senders of notifications. Commands of operators have the
/// number [`OPERATORS_COMMAND`]: an older version would treat them as commands of an owner. Commands about a task whose id was
/// chosen by its client have the number [`CHOSEN_ID_COMMAND`]: an older version would begin a task with another id.
pub const COMMAND: Format = Format { reads: 3 };

/// The number of commands of operators.
pub const OPERATORS_COMMAND: u32 = 2;

/// The number of commands about a task whose id was chosen by its client; also if an operator sends them.
pub const CHOSEN_ID_COMMAND: u32 = 3;

/// The answer of an object to the senders of notifications.
pub const TURN: Format = Format { reads: 1 };

/// A body of the queue of notifications.
pub const JOB: Format = Format { reads: 1 };

/// A page token: from 2 on it begins with `v`, the number and a dot.
pub const PAGE_TOKEN: Format = Format { reads: 1 };

/// The message to clients if this version cannot read the data of another version.
pub const OTHER_VERSION: &str =
    "this version of the server cannot read what another one wrote; try again later";

impl Format {
    /// True if this version reads the form with this number.
    pub fn reads(self, number: u64) -> bool {
        number <= u64::from(self.reads)
    }

    /// Reads the member `format` of a JSON object. Returns `None`, and adds the reason to the errors, if this version does not
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
