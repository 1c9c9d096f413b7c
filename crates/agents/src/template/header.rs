//! Templates of request headers.

use super::{FillError, Filling, Template};

/// A header: its name, and a template for its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeaderTemplate {
    /// The name.
    pub(crate) name: String,
    value: Template,
}

impl HeaderTemplate {
    /// Parses a header.
    ///
    /// # Errors
    ///
    /// The problem of the name or of the value, as a text that continues the key.
    pub(crate) fn parse(name: &str, value: &str) -> Result<Self, String> {
        check_header_name(name)?;
        let value = Template::parse(value)?;
        if let Some(rule) = value.texts().find_map(|text| visible(text).err()) {
            return Err(rule.to_owned());
        }
        Ok(Self { name: name.to_owned(), value })
    }

    /// The template of the value.
    pub(crate) fn value(&self) -> &Template {
        &self.value
    }

    /// The value; `None` if it consists of one argument that the call does not set.
    ///
    /// # Errors
    ///
    /// If a value contains characters that a header must not contain.
    pub(crate) fn fill(&self, filling: &Filling<'_>) -> Result<Option<String>, FillError> {
        if self.value.is_left_out(filling) {
            return Ok(None);
        }
        self.value.fill(filling, visible).map(Some)
    }
}

/// Checks the name of a header that a tool may set.
///
/// # Errors
///
/// The problem of the name, as a text that continues the key.
pub(crate) fn check_header_name(name: &str) -> Result<(), String> {
    let is_of_a_name =
        |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_of_a_name) {
        return Err(format!("{name:?} is no name of a header, such as X-Api-Key"));
    }
    let lower = name.to_ascii_lowercase();
    let is_of_cloudflare =
        lower.starts_with("cf-") && !OF_CLIENTS.iter().any(|begin| lower.starts_with(begin));
    if FORBIDDEN.contains(&lower.as_str()) || lower.starts_with("proxy-") || is_of_cloudflare {
        return Err("is a header that only the connection itself may set; remove it".to_owned());
    }
    Ok(())
}

/// Checks that a text can be sent in a header: visible ASCII characters and spaces. Returns the text.
pub(crate) fn visible(text: &str) -> Result<String, &'static str> {
    if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        Ok(text.to_owned())
    } else {
        Err("may hold only visible ASCII letters and spaces, since it stands in a header")
    }
}

/// The prefixes of headers for authentication at Cloudflare's own services: AI Gateway, and service tokens of Access.
const OF_CLIENTS: [&str; 2] = ["cf-aig-", "cf-access-client-"];

/// Headers of the connection, and headers that are derived from the request.
const FORBIDDEN: [&str; 13] = [
    "accept-encoding",
    "connection",
    "content-length",
    "date",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    "x-forwarded-for",
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing::Known;
    use super::*;

    #[test]
    fn a_header_without_its_argument_is_left_out() {
        let arguments = json!({"a": "x"}).as_object().cloned().unwrap();
        let filling =
            Filling { arguments: &arguments, values: &Known(&[("KEY", "k"), ("BAD", "a\nb")]) };
        let fill = |value: &str| HeaderTemplate::parse("X-A", value).unwrap().fill(&filling);
        assert_eq!(fill("{a}"), Ok(Some("x".to_owned())));
        assert_eq!(fill("{b}"), Ok(None));
        assert_eq!(fill("b {b}"), Ok(Some("b ".to_owned())));
        assert_eq!(fill("Bearer ${KEY}"), Ok(Some("Bearer k".to_owned())));
        let Err(FillError::Value(told)) = fill("${BAD}") else { panic!("a line break") };
        assert_eq!(
            told,
            "the secret or variable BAD may hold only visible ASCII letters and spaces, since it stands in a header"
        );
    }

    #[test]
    fn headers_of_the_connection_are_refused() {
        for name in
            ["Host", "content-length", "Transfer-Encoding", "Proxy-Authorization", "CF-Worker"]
        {
            let refused = HeaderTemplate::parse(name, "x").unwrap_err();
            assert!(refused.contains("only the connection itself"), "{name}: {refused}");
        }
        for name in ["cf-aig-authorization", "CF-Access-Client-Secret"] {
            assert!(HeaderTemplate::parse(name, "x").is_ok(), "{name}");
        }
        for name in ["", "X A", "X:", "Ü", "X\n", "{a}"] {
            assert!(
                HeaderTemplate::parse(name, "x").unwrap_err().contains("no name of a header"),
                "{name}"
            );
        }
        assert!(HeaderTemplate::parse("X", "a\nb").unwrap_err().contains("visible ASCII"));
    }
}
