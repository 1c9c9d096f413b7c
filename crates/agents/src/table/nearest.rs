//! Suggestions for misspelt names: the known name that is nearest to the written one.

/// The known name that differs from `written` in one letter: a missing one, an additional one, another one, or two that are
/// swapped. Upper and lower case are not distinguished.
pub(crate) fn closest<'a>(
    written: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let written = written.to_ascii_lowercase();
    known.into_iter().find(|name| differs_by_a_letter(written.as_bytes(), name.as_bytes()))
}

/// The text of the problem for an unknown name: "there is no tool "ecko", did you mean "echo"?; there are: echo".
pub fn no_such<'a>(what: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let meant = closest(name, known.iter().copied());
    let meant = meant.map(|meant| format!(", did you mean {meant:?}?")).unwrap_or_default();
    let listed = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    format!("there is no {what} {name:?}{meant}; there are: {listed}")
}

/// The text of the problem for an unknown key.
pub(crate) fn no_such_key(table: &str, key: &str, known: &[&str]) -> String {
    let meant = closest(key, known.iter().copied());
    let meant = meant.map(|meant| format!(", did you mean `{meant}`?")).unwrap_or_default();
    format!("is no key of {table}{meant}; there are: {}", known.join(", "))
}

/// Adds the suggested key to an error of a derived reader about an unknown key: "unknown field `txt`, did you mean `text`?;
/// expected `id`, `text`". Other errors are unchanged.
pub(crate) fn with_meant_key(said: &str) -> String {
    let with_meant = || {
        let (written, expected) = said.strip_prefix(UNKNOWN)?.split_once("`, expected ")?;
        let meant = closest(written, expected.split('`').skip(1).step_by(2))?;
        Some(format!("{UNKNOWN}{written}`, did you mean `{meant}`?; expected {expected}"))
    };
    with_meant().unwrap_or_else(|| said.to_owned())
}

/// The beginning of serde's error for an unknown key.
const UNKNOWN: &str = "unknown field `";

fn differs_by_a_letter(a: &[u8], b: &[u8]) -> bool {
    let same_first = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (a.get(same_first..), b.get(same_first..));
    let (a, b) = (a.unwrap_or_default(), b.unwrap_or_default());
    let same_last = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (a.get(..a.len() - same_last), b.get(..b.len() - same_last));
    match (a.unwrap_or_default(), b.unwrap_or_default()) {
        ([first, second], [one, other]) => first == other && second == one,
        (a, b) => a.len() <= 1 && b.len() <= 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_differs_by_a_letter_is_the_one_that_is_meant() {
        let known = ["tools", "script", "remote", "http", "model"];
        for (written, meant) in [
            ("tool", Some("tools")),
            ("toolls", Some("tools")),
            ("scirpt", Some("script")),
            ("modle", Some("model")),
            ("model", Some("model")),
            ("Model", Some("model")),
            ("medel", Some("model")),
            ("https", Some("http")),
            ("hotel", None),
            ("toolbox", None),
            ("mmoodel", None),
            ("seats", None),
            ("", None),
        ] {
            assert_eq!(closest(written, known), meant, "{written}");
        }
    }

    #[test]
    fn a_key_that_is_unknown_is_told_with_the_one_that_is_meant() {
        for (said, told) in [
            (
                "unknown field `txt`, expected one of `id`, `text`, `data`",
                "unknown field `txt`, did you mean `text`?; expected one of `id`, `text`, `data`",
            ),
            (
                "unknown field `row`, expected `rows`",
                "unknown field `row`, did you mean `rows`?; expected `rows`",
            ),
            // The error of serde for a type without any keys.
            (
                "unknown field `rows`, there are no fields",
                "unknown field `rows`, there are no fields",
            ),
            ("unknown field `seats`, expected `rows`", "unknown field `seats`, expected `rows`"),
            ("missing field `rows`", "missing field `rows`"),
        ] {
            assert_eq!(with_meant_key(said), told);
        }
    }
}
