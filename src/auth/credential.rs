//! Reads credentials from requests, without judging them.

use std::borrow::Cow;

use super::Evidence;
use a2a::binding::http::OWS;
use a2a::binding::percent;

/// The content of a request in the place where a scheme expects its credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shown<'a> {
    /// Nothing that is meant for the scheme.
    Nothing,
    /// One credential for the scheme.
    Once(Cow<'a, str>),
    /// A value that cannot be a credential, with the reason for the client.
    Wrongly(&'static str),
}

impl Evidence<'_> {
    /// The value in `Authorization` after the name of an authentication scheme (RFC 9110 §11.4); `scheme` is in lower
    /// case. The header of another scheme counts as nothing.
    pub(super) fn authorization(&self, scheme: &str) -> Shown<'_> {
        let Some(header) = self.header("authorization") else { return Shown::Nothing };
        let header = header.trim_matches(OWS);
        let (name, rest) = header.split_once(' ').unwrap_or((header, ""));
        if name.eq_ignore_ascii_case(scheme) {
            one(rest.trim_start_matches(' '), "the header Authorization")
        } else {
            Shown::Nothing
        }
    }

    /// The value of a header that contains only a credential.
    pub(super) fn whole_header(&self, name: &str) -> Shown<'_> {
        match self.header(name) {
            Some(value) => one(value.trim_matches(OWS), "the header"),
            None => Shown::Nothing,
        }
    }

    /// The value of a cookie (RFC 6265 §4.2). Two cookies of the same name are refused: anybody who can set cookies for
    /// a neighbouring host could have set one of them.
    pub(super) fn cookie(&self, name: &str) -> Shown<'_> {
        let cookies = self.header("cookie").unwrap_or_default();
        let pairs = cookies.split(';').filter_map(|pair| pair.trim_matches(OWS).split_once('='));
        let mut values = pairs.filter(|(known, _)| *known == name).map(|(_, value)| value);
        match (values.next(), values.next()) {
            (None, _) => Shown::Nothing,
            (Some(value), None) => one(value, "the cookie"),
            (Some(_), Some(_)) => Shown::Wrongly("the cookie is there more than once"),
        }
    }

    /// The value of a parameter of the query.
    pub(super) fn query_parameter(&self, name: &str) -> Shown<'_> {
        let mut values = percent::pairs(self.query).filter(|(known, _)| known == name);
        match (values.next(), values.next()) {
            (None, _) => Shown::Nothing,
            (Some((_, value)), None) => match problem(&value, "the query parameter") {
                Some(problem) => Shown::Wrongly(problem),
                None => Shown::Once(Cow::Owned(value)),
            },
            (Some(_), Some(_)) => Shown::Wrongly("the query parameter is there more than once"),
        }
    }
}

fn one<'a>(value: &'a str, place: &'static str) -> Shown<'a> {
    match problem(value, place) {
        Some(problem) => Shown::Wrongly(problem),
        None => Shown::Once(Cow::Borrowed(value)),
    }
}

/// The reason why a value is not a credential. Several headers of the same name arrive as one value with a comma, which
/// no credential contains.
fn problem(value: &str, place: &str) -> Option<&'static str> {
    if value.is_empty() {
        return Some("the credential is empty");
    }
    if value.len() > MAX_CREDENTIAL_BYTES {
        return Some("the credential is longer than 8192 bytes");
    }
    if value.bytes().all(|byte| byte.is_ascii_graphic() && byte != b',') {
        return None;
    }
    Some(match place {
        "the header Authorization" => {
            "the header Authorization holds more than one credential, or what none can hold"
        }
        "the header" => "the header holds more than one credential, or what none can hold",
        _ => "the credential holds letters that none can hold",
    })
}

/// The longest credential: 8 KiB.
pub(super) const MAX_CREDENTIAL_BYTES: usize = 8 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(found: &Shown<'_>) -> String {
        match found {
            Shown::Nothing => "nothing".to_owned(),
            Shown::Once(value) => format!("={value}"),
            Shown::Wrongly(_) => "wrong".to_owned(),
        }
    }

    fn evidence<'a>(query: &'a str, headers: &'a [(&'a str, &'a str)]) -> Evidence<'a> {
        Evidence { method: "POST", origin: "https://a.example", query, headers }
    }

    #[test]
    fn a_header_of_the_scheme_holds_one_credential() {
        for (header, found) in [
            ("Bearer abc", "=abc"),
            ("bEaReR   abc", "=abc"),
            (" Bearer abc ", "=abc"),
            ("\tBearer abc \t", "=abc"),
            ("Bearer abc\u{a0}", "wrong"),
            ("\u{a0}Bearer abc", "nothing"),
            ("Bearer", "wrong"),
            ("Bearer ", "wrong"),
            ("Bearer a b", "wrong"),
            ("Bearer abc, Bearer abc", "wrong"),
            ("Bearer abc,", "wrong"),
            ("Bearer\tabc", "nothing"),
            ("Bearer ab\u{e9}", "wrong"),
            ("Bearer ab\u{7f}", "wrong"),
            ("Basic abc", "nothing"),
            ("Basic abc, Bearer abc", "nothing"),
            ("abc", "nothing"),
            ("", "nothing"),
            ("\u{ff22}earer abc", "nothing"),
        ] {
            let headers = [("authorization", header)];
            assert_eq!(shown(&evidence("", &headers).authorization("bearer")), found, "{header:?}");
        }
        let long = format!("Bearer {}", "x".repeat(MAX_CREDENTIAL_BYTES + 1));
        let headers = [("authorization", long.as_str())];
        assert_eq!(shown(&evidence("", &headers).authorization("bearer")), "wrong");
    }

    #[test]
    fn a_cookie_is_found_by_its_whole_name_and_counts_once() {
        for (header, found) in [
            ("s=abc", "=abc"),
            ("a=1; s=abc; b=2", "=abc"),
            ("a=1;s=abc", "=abc"),
            ("a=1;\ts=abc\t ", "=abc"),
            ("s=abc\u{a0}", "wrong"),
            ("s=abc\u{2003}; a=1", "wrong"),
            ("s=abc\u{b}", "wrong"),
            ("a=1;\u{a0}s=abc", "nothing"),
            ("s=ab=c==", "=ab=c=="),
            ("s=", "wrong"),
            ("s=abc; s=abc", "wrong"),
            ("s=abc; a=1; s=", "wrong"),
            ("S=abc", "nothing"),
            ("ss=abc", "nothing"),
            ("__Host-s=abc", "nothing"),
            ("s =abc", "nothing"),
            ("s", "nothing"),
            ("a=s=abc", "nothing"),
            ("s=\"abc\"", "=\"abc\""),
            ("s=abc, a=1", "wrong"),
        ] {
            let headers = [("cookie", header)];
            assert_eq!(shown(&evidence("", &headers).cookie("s")), found, "{header:?}");
        }
    }

    #[test]
    fn a_query_parameter_and_a_header_count_once() {
        for (query, found) in [
            ("key=abc", "=abc"),
            ("a=1&key=a%62c", "=abc"),
            ("k%65y=abc", "=abc"),
            ("key=abc&key=abc", "wrong"),
            ("key=abc&k%65y=x", "wrong"),
            ("key", "wrong"),
            ("key=a+b", "wrong"),
            ("key=a%00b", "wrong"),
            ("Key=abc", "nothing"),
            ("", "nothing"),
        ] {
            assert_eq!(shown(&evidence(query, &[]).query_parameter("key")), found, "{query:?}");
        }
        for (header, found) in
            [("abc", "=abc"), ("abc, abc", "wrong"), ("", "wrong"), ("abc\u{a0}", "wrong")]
        {
            let headers = [("x-key", header)];
            assert_eq!(shown(&evidence("", &headers).whole_header("x-key")), found, "{header:?}");
        }
    }
}
