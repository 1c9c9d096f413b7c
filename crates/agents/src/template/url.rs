//! Templates of request URLs.
//!
//! A template is split into host, segments of the path, and pairs of the query before any value is filled in, and each
//! value is escaped for its place. So no value can add a segment, a pair or another host.

use super::literal::check_literal;
use super::origin::Origin;
use super::{FillError, Filling, Template};
use a2a::binding::percent::encode;

/// A URL: `https://api.example.com/cities/{city}?units={units}`, or a URL that begins with a variable:
/// `${API_URL}/cities/{city}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UrlTemplate {
    /// The URL as it is written, for messages: it contains the names of secrets, not their values.
    text: String,
    origin: Origin,
    /// The texts between the slashes of the path.
    segments: Vec<Template>,
    query: Option<Vec<Pair>>,
}

/// A pair of a query. Without `=`, the pair has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pair {
    name: Template,
    value: Option<Template>,
}

impl UrlTemplate {
    /// Parses a URL.
    ///
    /// # Errors
    ///
    /// The rule that the URL breaks, as a text that continues the key.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let whole = Template::parse(text)?;
        for literal in whole.texts() {
            check_literal(literal)?;
        }
        let (origin, rest) = Origin::parse(whole)?;
        let (path, query) = rest.split_at_first(&['?']);
        let mut segments = path.split('/');
        // The path begins with a slash, or is empty.
        segments.remove(0);
        let query = query.strip_prefix("?").map(pairs_of);
        let fixed = segments.iter().filter(|segment| segment.is_fixed());
        if fixed.flat_map(Template::texts).any(is_dots) {
            return Err("must have no segment . or .. in its path".to_owned());
        }
        Ok(Self { text: text.to_owned(), origin, segments, query })
    }

    /// The URL as it is written, for messages: it contains the names of secrets, not their values.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The arguments in the host, by which the caller chooses the server.
    pub(crate) fn host_arguments(&self) -> impl Iterator<Item = &str> {
        self.origin.arguments()
    }

    /// The arguments in the path.
    #[cfg(any(test, feature = "checker"))]
    pub(crate) fn path_arguments(&self) -> impl Iterator<Item = &str> {
        self.segments.iter().flat_map(Template::arguments)
    }

    /// The arguments in the URL.
    #[cfg(any(test, feature = "checker"))]
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &str> {
        let query = self.query_templates().flat_map(Template::arguments);
        self.host_arguments().chain(self.path_arguments()).chain(query)
    }

    /// The secrets and variables in the origin, which determine the server.
    pub(crate) fn origin_values(&self) -> impl Iterator<Item = &str> {
        self.origin.values()
    }

    /// The secrets and variables in the path and in the query.
    pub(crate) fn path_and_query_values(&self) -> impl Iterator<Item = &str> {
        self.segments.iter().chain(self.query_templates()).flat_map(Template::values)
    }

    /// True if the caller chooses the server: an argument is part of the host, and the host does not end with a literal
    /// domain.
    #[cfg(any(test, feature = "checker"))]
    pub(crate) fn is_host_of_caller(&self) -> bool {
        self.origin.is_of_caller()
    }

    fn query_templates(&self) -> impl Iterator<Item = &Template> {
        let pairs = self.query.iter().flatten();
        pairs.flat_map(|pair| std::iter::once(&pair.name).chain(&pair.value))
    }

    /// The URL with all values filled in.
    ///
    /// # Errors
    ///
    /// If a value does not fit its place.
    pub(crate) fn fill(&self, filling: &Filling<'_>) -> Result<String, FillError> {
        let origin = self.origin.fill(filling)?;
        let mut url = origin.clone();
        for segment in &self.segments {
            url.push('/');
            url.push_str(&fill_segment(segment, filling)?);
        }
        let before_query = url.len();
        if let Some(pairs) = &self.query {
            let given = pairs.iter().filter(|pair| {
                !pair.value.as_ref().is_some_and(|value| value.is_left_out(filling))
            });
            let pairs = given.map(|pair| pair.fill(filling)).collect::<Result<Vec<_>, _>>()?;
            if !pairs.is_empty() {
                url.push('?');
                url.push_str(&pairs.join("&"));
            }
        }
        self.check_shape(&url, &origin, before_query)?;
        Ok(url)
    }

    /// Checks the filled-in URL a second time: its origin is unchanged, and its path has the same number of segments as
    /// the template.
    fn check_shape(&self, url: &str, origin: &str, before_query: usize) -> Result<(), FillError> {
        let is_visible =
            url.bytes().all(|byte| byte.is_ascii_graphic() && !b"\\#<>\"`".contains(&byte));
        let path = url.get(..before_query).and_then(|url| url.strip_prefix(origin));
        let is_kept = path.is_some_and(|path| {
            !path.contains('?') && path.matches('/').count() == self.segments.len()
        });
        if is_visible && is_kept && !origin.contains('@') {
            Ok(())
        } else {
            Err(FillError::Argument("the arguments make another URL than was meant".to_owned()))
        }
    }
}

impl Pair {
    fn fill(&self, filling: &Filling<'_>) -> Result<String, FillError> {
        let component = |text: &str| Ok(encode(text));
        let name = self.name.fill(filling, component)?;
        let Some(value) = &self.value else { return Ok(name) };
        Ok(format!("{name}={}", value.fill(filling, component)?))
    }
}

fn pairs_of(query: Template) -> Vec<Pair> {
    let pair = |pair: Template| {
        let (name, value) = pair.split_at_first(&['=']);
        Pair { name, value: value.strip_prefix("=") }
    };
    query.split('&').into_iter().map(pair).collect()
}

/// Fills in a segment of the path. The result must not be empty, `.` or `..`.
fn fill_segment(segment: &Template, filling: &Filling<'_>) -> Result<String, FillError> {
    let filled = segment.fill(filling, |text| Ok(encode(text)))?;
    let rule = match filled.as_str() {
        _ if segment.is_fixed() => return Ok(filled),
        "" => "must not be empty, since it stands in the path of the URL",
        filled if is_dots(filled) => "must not be . or .., since it stands in the path of the URL",
        _ => return Ok(filled),
    };
    Err(match (segment.arguments().next(), segment.values().next()) {
        (Some(name), _) => FillError::argument(name, rule),
        (None, name) => FillError::value(name.unwrap_or_default(), rule),
    })
}

/// True if a segment is `.` or `..`, also with escaped dots.
fn is_dots(segment: &str) -> bool {
    let plain = segment.replace("%2e", ".").replace("%2E", ".");
    plain == "." || plain == ".."
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::testing::Known;
    use super::*;

    fn fill(url: &str, arguments: Value) -> Result<String, FillError> {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let values = Known(&[
            ("KEY", "a/b?&"),
            ("BASE", "http://10.0.0.1:81/v1/"),
            ("PORT", "8443"),
            ("REGION", "EU"),
            ("BAD", "https://a.example?x"),
            ("UP", ".."),
        ]);
        let filling = Filling { arguments: &arguments, values: &values };
        UrlTemplate::parse(url).unwrap().fill(&filling)
    }

    #[test]
    fn urls_are_filled_in_place_by_place() {
        for (url, arguments, filled) in [
            ("https://a.example", json!({}), "https://a.example"),
            ("https://a.example?x=1", json!({}), "https://a.example?x=1"),
            ("https://a.example:81/{a}/b", json!({"a": "c d"}), "https://a.example:81/c%20d/b"),
            ("http://[::1]:81/a//b/", json!({}), "http://[::1]:81/a//b/"),
            (
                "https://a.example/{a}.json?key=${KEY}",
                json!({"a": 5}),
                "https://a.example/5.json?key=a%2Fb%3F%26",
            ),
            (
                "https://a.example/?a={a}&b={b}&c=x{b}",
                json!({"a": "1&b=2"}),
                "https://a.example/?a=1%26b%3D2&c=x",
            ),
            ("https://a.example/?a={a}", json!({}), "https://a.example/"),
            ("https://a.example/?{a}&flag", json!({"a": "x=y"}), "https://a.example/?x%3Dy&flag"),
            ("https://a.example/?ids={a}", json!({"a": [1, 2]}), "https://a.example/?ids=1%2C2"),
            ("https://{a}.b.example/", json!({"a": "X.Y-1"}), "https://x.y-1.b.example/"),
            ("https://${REGION}.b.example:${PORT}/", json!({}), "https://eu.b.example:8443/"),
            ("${BASE}/x/{a}", json!({"a": "ü"}), "http://10.0.0.1:81/v1/x/%C3%BC"),
            ("${BASE}", json!({}), "http://10.0.0.1:81/v1"),
            ("${BASE}?q={a}", json!({"a": "#"}), "http://10.0.0.1:81/v1?q=%23"),
            ("https://a.example/%7Bx%7D", json!({}), "https://a.example/%7Bx%7D"),
        ] {
            assert_eq!(fill(url, arguments).as_deref(), Ok(filled), "{url}");
        }
    }

    #[test]
    fn a_value_that_cannot_stand_at_its_place_is_refused_by_its_name() {
        for (url, told) in [
            ("https://a.example/${UP}/x", "the secret or variable UP must not be . or .."),
            (
                "${BAD}/x",
                "the secret or variable BAD must begin with https:// or http:// and have no user",
            ),
            ("https://${KEY}/x", "the secret or variable KEY must be a name of letters"),
            ("https://a.example:${KEY}/", "the secret or variable KEY must be a number"),
        ] {
            let Err(FillError::Value(refused)) = fill(url, json!({})) else { panic!("{url}") };
            assert!(refused.starts_with(told), "{refused}");
        }
    }

    #[test]
    fn what_is_no_url_is_refused_with_the_fix() {
        for (url, told) in [
            ("ftp://a.example/", "must begin with https:// or http://"),
            ("a.example/{a}", "must begin with https:// or http://"),
            ("{a}/b", "must begin with https:// or http://"),
            ("HTTPS://a.example/", "must begin with https:// or http://"),
            ("${BASE}{a}", "must have a / or a ? behind ${BASE}"),
            ("${BASE}x", "must have a / or a ? behind ${BASE}"),
            ("https://", "must name a host"),
            ("https:///x", "must name a host"),
            ("https://me:hush@a.example/", "must hold no user name and no password"),
            ("https://${KEY}@a.example/", "must hold no user name and no password"),
            ("https://a.example:{a}/", "must have a number as its port"),
            ("https://a.example:x/", "must have a number as its port"),
            ("https://[{a}]/", "must have a host of"),
            ("https://a;b/", "must have a host of"),
            ("https://a.example/#x", "must have no fragment"),
            ("https://a.example/a b", "write %20 for ' '"),
            ("https://a.example/ü", "write %C3%BC for 'ü'"),
            ("https://a.example/a\\b", "write %5C for"),
            ("https://a.example/%2", "two hexadecimal digits behind each %"),
            ("https://a.example/%{a}", "two hexadecimal digits behind each %"),
            ("https://a.example/../x", "no segment . or .."),
            ("https://a.example/%2E%2e/x", "no segment . or .."),
            ("https://a.example/{a", "a closing brace is missing"),
        ] {
            let refused = UrlTemplate::parse(url).expect_err(url);
            assert!(refused.contains(told), "{url}: {refused}");
        }
    }
}
