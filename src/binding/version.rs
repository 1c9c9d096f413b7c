//! Which version of the protocol a request speaks (spec §3.6).

use crate::error::Error;

/// The version that a request asks for: the header `A2A-Version`, else the query parameter of that
/// name. `None` when neither says anything, which means 0.3.
pub(super) fn requested_version(header: Option<&str>, query: &str) -> Option<String> {
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
/// A 1.x version may. A request that names no version, or 0.3, with a method that only 1.0 has, may
/// too unless `is_strict`: clients in the wild forget the header.
///
/// # Errors
///
/// [`Error::VersionNotSupported`] with what is served here.
pub fn check_version(requested: Option<&str>, is_strict: bool) -> Result<(), Error> {
    match requested {
        Some(version) if is_major_1(version) => Ok(()),
        None | Some("0.3") if !is_strict => Ok(()),
        Some(version) if version.starts_with("0.3.") && !is_strict => Ok(()),
        None => Err(Error::VersionNotSupported(
            "this agent speaks A2A 1.0; send the header A2A-Version: 1.0".to_owned(),
        )),
        Some(version) => Err(not_served(version)),
    }
}

/// The refusal of a version that is not spoken here.
pub(super) fn not_served(version: &str) -> Error {
    let shown: String = version.chars().take(20).collect();
    Error::VersionNotSupported(format!(
        "A2A {shown} is not spoken by this agent; it speaks 1.0 (send A2A-Version: 1.0)"
    ))
}

/// Whether a version is `1.<minor>`, a patch part tolerated.
fn is_major_1(version: &str) -> bool {
    let mut numbers = version.split('.');
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    numbers.next() == Some("1") && numbers.next().is_some_and(is_number) && numbers.all(is_number)
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
    fn any_1_x_is_served_and_other_majors_are_not() {
        for version in ["1.0", "1.0.1", "1.7"] {
            assert!(check_version(Some(version), true).is_ok(), "{version}");
        }
        for version in ["99.0", "0.5", "abc", "1", "1.", "1.x", "2.0", "10.0", "0.2"] {
            assert!(check_version(Some(version), false).is_err(), "{version}");
        }
    }

    #[test]
    fn a_missing_version_is_forgiven_unless_strict() {
        for version in [None, Some("0.3"), Some("0.3.0")] {
            assert!(check_version(version, false).is_ok(), "{version:?}");
            assert!(check_version(version, true).is_err(), "{version:?}");
        }
    }
}
