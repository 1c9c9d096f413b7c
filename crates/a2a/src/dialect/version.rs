//! Which version of the protocol a request asks for (spec §3.6).

use super::{Dialect, Dialects};
use crate::error::Error;

/// The version that a request asks for: the header `A2A-Version`, else the query parameter of that
/// name. `None` when neither says anything, which means 0.3.
pub(crate) fn requested_version(header: Option<&str>, query: &str) -> Option<String> {
    let header = header.map(str::trim).filter(|text| !text.is_empty());
    let parameter = || {
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let mut named = pairs.filter(|(name, _)| name.eq_ignore_ascii_case("a2a-version"));
        named.next().map(|(_, value)| value).filter(|text| !text.is_empty())
    };
    header.or_else(parameter).map(str::to_owned)
}

/// Whether the 1.0 method of a request may be served.
///
/// It may if the request asks for 1.0, any patch of it. A request that names no version may too unless
/// `is_strict`: clients in the wild forget the header. One that names another version meant something
/// else than it would get.
///
/// # Errors
///
/// [`Error::VersionNotSupported`] with what is served here.
pub(super) fn check_version(requested: Option<&str>, is_strict: bool) -> Result<(), Error> {
    match requested {
        Some(version) if is_1_0(version) => Ok(()),
        None if !is_strict => Ok(()),
        None => Err(Error::VersionNotSupported(
            "this agent speaks A2A 1.0; send the header A2A-Version: 1.0".to_owned(),
        )),
        Some(version) if is_0_3(version) => Err(Error::VersionNotSupported(format!(
            "this looks like a request of A2A 1.0 but asks for A2A {}; send A2A-Version: 1.0",
            shown(version)
        ))),
        Some(version) => Err(not_served(version)),
    }
}

/// Whether a name of this older dialect may be served to a request; `false` if the request asks for 1.0, which has no such
/// name.
///
/// # Errors
///
/// [`Error::VersionNotSupported`] for any other version.
pub(super) fn check_older(requested: Option<&str>, dialect: Dialect) -> Result<bool, Error> {
    match requested {
        None => Ok(true),
        Some(version) if is_1_0(version) => Ok(false),
        Some(version) if is_0_3(version) && dialect == Dialect::V0_3 => Ok(true),
        Some(version) => Err(not_served(version)),
    }
}

/// The refusal of a version that is not spoken here.
pub(super) fn not_served(version: &str) -> Error {
    Error::VersionNotSupported(format!(
        "A2A {} is not spoken by this agent; it speaks 1.0 (send A2A-Version: 1.0)",
        shown(version)
    ))
}

/// The refusal of a version of which an agent has no card.
pub(super) fn no_card(version: &str, dialects: &Dialects) -> Error {
    let (cards, send) = match dialects.v0_3 {
        true => ("1.0 and 0.3", "1.0 or 0.3"),
        false => ("1.0", "1.0"),
    };
    Error::VersionNotSupported(format!(
        "this agent has no card of A2A {}; it has cards of {cards}: send A2A-Version: {send}, or no version",
        shown(version)
    ))
}

fn shown(version: &str) -> String {
    version.chars().take(20).collect()
}

/// Whether a version is `1.0`, with a patch part or without.
fn is_1_0(version: &str) -> bool {
    is_patch_of(version, "1.0")
}

/// Whether a version is `1.0` or a later one of the same major number.
pub(super) fn is_1_x(version: &str) -> bool {
    let Some(rest) = version.strip_prefix("1.") else { return false };
    let (minor, patch) = rest.split_once('.').unwrap_or((rest, "0"));
    is_number(minor) && is_number(patch)
}

/// Whether a version is `0.3`, with a patch part or without.
pub(super) fn is_0_3(version: &str) -> bool {
    is_patch_of(version, "0.3")
}

fn is_patch_of(version: &str, served: &str) -> bool {
    let Some(patch) = version.strip_prefix(served) else { return false };
    patch.is_empty() || patch.strip_prefix('.').is_some_and(is_number)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_goes_before_the_parameter() {
        for (header, query, expected) in [
            (None, "", None),
            (Some(""), "", None),
            (Some(" 1.0 "), "", Some("1.0")),
            (None, "a=b&A2A-Version=1.0", Some("1.0")),
            (Some("1.0"), "a2a-version=9.0", Some("1.0")),
        ] {
            assert_eq!(requested_version(header, query).as_deref(), expected);
        }
    }

    #[test]
    fn any_patch_of_1_0_is_served_and_other_versions_are_not() {
        for version in ["1.0", "1.0.0", "1.0.1", "1.0.27"] {
            assert!(check_version(Some(version), true).is_ok(), "{version}");
        }
        for version in [
            "99.0", "0.3", "0.3.0", "0.5", "abc", "1", "1.", "1.x", "1.1", "1.7", "1.0.", "1.0.x",
            "1.0.1.2", "1.00", "2.0", "10.0", "11.0", "0.2",
        ] {
            let refused = check_version(Some(version), false).expect_err(version).to_string();
            assert!(refused.contains(version) && refused.contains("A2A-Version: 1.0"), "{refused}");
        }
    }

    #[test]
    fn a_missing_version_is_forgiven_unless_strict() {
        assert!(check_version(None, false).is_ok());
        assert!(check_version(None, true).is_err());
    }
}
