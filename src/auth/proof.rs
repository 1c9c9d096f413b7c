//! The result of one scheme for a request.

use super::UncheckedToken;
use a2a::model::UnixMillis;

/// The result of one scheme for a request.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Proof {
    /// The request has no credential for the scheme.
    Absent,
    /// A caller.
    Passed(Proven),
    /// Credentials that are refused.
    Refused(Refused),
    /// A credential that is not allowed in a request of this kind, with the reason for the client.
    Forbidden(&'static str),
    /// A token whose signature has to be checked.
    Unchecked(UncheckedToken),
    /// A token whose keys cannot be fetched at the moment.
    Unavailable,
}

/// A caller as one scheme identifies it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Proven {
    /// The caller's id among the callers of the scheme.
    pub(super) subject: String,
    /// The caller's session.
    pub(super) session: Option<String>,
    /// The caller's permissions.
    pub(super) permissions: Vec<String>,
    /// The group with which the caller shares tasks, within the scheme.
    pub(super) group: Option<String>,
    /// The time until which the credential is accepted.
    pub(super) expires_at: Option<UnixMillis>,
}

/// The reason why a credential is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refused {
    /// The reason for the client; it repeats nothing of the credential.
    pub(super) reason: String,
    /// True if the credential looks like one for another scheme.
    pub(super) is_foreign: bool,
}

impl Refused {
    /// A wrong credential of this scheme.
    pub(super) fn because(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_foreign: false }
    }

    /// A wrong credential that may belong to another scheme.
    pub(super) fn foreign(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_foreign: true }
    }
}

impl From<Result<Proven, Refused>> for Proof {
    fn from(judged: Result<Proven, Refused>) -> Self {
        judged.map_or_else(Self::Refused, Self::Passed)
    }
}

/// Checks a text of a credential that becomes part of an id. The error is the requirement for the text.
pub(super) fn check_id(text: &str) -> Result<(), &'static str> {
    match text {
        "" => Err("must not be empty"),
        _ if text.len() > MAX_ID_BYTES => Err("must have at most 256 bytes"),
        _ if text.chars().any(is_unseen) => Err("must hold no control or invisible letters"),
        _ if text.trim() != text => Err("must not begin or end with a space"),
        _ => Ok(()),
    }
}

/// Characters that are invisible or change how others are displayed: two ids that look alike could differ by them.
fn is_unseen(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(letter, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The longest id within a scheme, in bytes.
const MAX_ID_BYTES: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_short_and_can_be_seen() {
        let long = "x".repeat(MAX_ID_BYTES);
        for good in ["a", "CN=a b,O=c", "\u{e4}\u{1f600}", "a:b", "00000-0", long.as_str()] {
            assert_eq!(check_id(good), Ok(()), "{good:?}");
        }
        let longer = "x".repeat(MAX_ID_BYTES + 1);
        for bad in ["", " a", "a ", "a\nb", "a\0", "a\u{202e}b", "\u{feff}a", longer.as_str()] {
            assert!(check_id(bad).is_err(), "{bad:?}");
        }
    }
}
