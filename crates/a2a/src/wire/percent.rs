//! Percent-encoding in paths and queries (RFC 3986 §2.1).

/// Decodes a path segment. Invalid escapes remain unchanged, and invalid UTF-8 becomes U+FFFD, which no id of the
/// server contains.
pub fn decode(text: &str) -> String {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let (byte, next) = escape(rest).unwrap_or((*first, after));
        decoded.push(byte);
        rest = next;
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// Encodes a text as one value of a query or one segment of a path: everything except letters, digits, `-`, `.`, `_`
/// and `~` is escaped (RFC 3986 §2.3).
pub fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

/// The parameters of a query in their order; `+` is decoded as a space, as in HTML forms. A parameter without `=`
/// has an empty value.
pub fn pairs(query: &str) -> impl Iterator<Item = (String, String)> {
    query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decode(&name.replace('+', " ")), decode(&value.replace('+', " ")))
    })
}

/// The byte of an escape at the beginning of a text, and the text after the escape.
fn escape(text: &[u8]) -> Option<(u8, &[u8])> {
    let [b'%', high, low, after @ ..] = text else { return None };
    let digit = |letter: &u8| char::from(*letter).to_digit(16);
    let byte = u8::try_from(digit(high)? * 16 + digit(low)?).ok()?;
    Some((byte, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_read_as_it_was() {
        for text in ["", "a-b.c_d~", "a b&c=d?e#f/g%20", "é\u{1f600}\n"] {
            let encoded = encode(text);
            assert_eq!(decode(&encoded), text);
            assert!(
                encoded
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"-._~%".contains(&byte))
            );
        }
    }

    #[test]
    fn escapes_are_read_and_everything_else_is_kept() {
        for (text, expected) in [
            ("", ""),
            ("a-b_c.d~e", "a-b_c.d~e"),
            ("a%2Fb%2fc", "a/b/c"),
            ("%E2%9C%93+%20", "✓+ "),
            ("ä✓", "ä✓"),
            ("%2525", "%25"),
            ("100%", "100%"),
            ("%4", "%4"),
            ("%zz%41", "%zzA"),
            ("%ff", "\u{fffd}"),
            ("%+1", "%+1"),
        ] {
            assert_eq!(decode(text), expected, "{text}");
        }
    }

    #[test]
    fn queries_are_pairs() {
        let read: Vec<_> = pairs("a=1&b=x+y%2B&&c&=d&e=f=g").collect();
        let expected = [("a", "1"), ("b", "x y+"), ("c", ""), ("", "d"), ("e", "f=g")];
        assert_eq!(read, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(pairs("").count(), 0);
    }
}
