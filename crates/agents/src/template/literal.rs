//! Checks the literal texts of a URL's template.

use a2a::binding::percent::encode;

/// Checks that a text contains only characters of URLs, and complete escapes.
pub(super) fn check_literal(text: &str) -> Result<(), String> {
    if text.contains('#') {
        return Err(
            "must have no fragment (#…), which is never sent; write %23 for the sign".to_owned()
        );
    }
    let odd = |letter: &char| !letter.is_ascii_graphic() || "\\^`{|}<>\"".contains(*letter);
    if let Some(letter) = text.chars().find(odd) {
        let (letter, encoded) = (letter, encode(&letter.to_string()));
        return Err(format!("must be ASCII without spaces; write {encoded} for {letter:?}"));
    }
    let is_escape = |rest: &str| {
        rest.get(..2).is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    if text.split('%').skip(1).all(is_escape) {
        Ok(())
    } else {
        Err("must have two hexadecimal digits behind each %; write %25 for the sign".to_owned())
    }
}
