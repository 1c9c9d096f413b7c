//! The version of the protocol that a request names (spec §3.6).

use super::Dialect;

/// The version that a request names: the header `A2A-Version`, else the query parameter of that name. `None` if both are
/// missing, which means 0.3.
pub(crate) fn requested_version(header: Option<&str>, query: &str) -> Option<String> {
    let header = header.map(str::trim).filter(|text| !text.is_empty());
    let parameter = || {
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let mut named = pairs.filter(|(name, _)| name.eq_ignore_ascii_case("a2a-version"));
        named.next().map(|(_, value)| value).filter(|text| !text.is_empty())
    };
    header.or_else(parameter).map(str::to_owned)
}

/// Whether to serve a request that uses a name of 1.0 and names the version `requested`.
///
/// True for 1.0 and each of its patch versions. A request without a version is served, too, unless `is_strict`: many
/// clients forget the header. A request that names another version expects other semantics, so it is refused.
pub(super) fn is_for_1_0(requested: Option<&str>, is_strict: bool) -> bool {
    requested.map_or(!is_strict, is_1_0)
}

/// Whether to serve a request that uses a name of this older dialect and names the version `requested`.
pub(super) fn is_for_older(requested: Option<&str>, dialect: Dialect) -> bool {
    requested.is_none_or(|version| is_0_3(version) && dialect == Dialect::V0_3)
}

/// The beginning of a version, for errors.
pub(super) fn shown(version: &str) -> String {
    version.chars().take(20).collect()
}

/// Whether a version is `1.0`, with a patch part or without.
pub(super) fn is_1_0(version: &str) -> bool {
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
            assert!(is_for_1_0(Some(version), true), "{version}");
        }
        for version in [
            "99.0", "0.3", "0.3.0", "0.5", "abc", "1", "1.", "1.x", "1.1", "1.7", "1.0.", "1.0.x",
            "1.0.1.2", "1.00", "2.0", "10.0", "11.0", "0.2",
        ] {
            assert!(!is_for_1_0(Some(version), false), "{version}");
        }
    }

    #[test]
    fn a_missing_version_is_forgiven_unless_strict() {
        assert!(is_for_1_0(None, false));
        assert!(!is_for_1_0(None, true));
    }
}
