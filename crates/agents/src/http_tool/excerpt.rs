//! Shortens the text of a server for an error.

use a2a::http::one_line;

/// The beginning of a text, on one line.
pub(super) fn excerpt(text: &str) -> String {
    let line = one_line(text);
    match line.char_indices().nth(EXCERPT_CHARS) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

/// The maximum number of characters of an excerpt.
const EXCERPT_CHARS: usize = 300;
