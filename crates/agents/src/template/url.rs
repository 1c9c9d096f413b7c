//! URLs of a request as templates.
//!
//! A template is cut into host, segments of the path, and pairs of the query before anything is filled in, and each
//! value is escaped for its place. So no value can add a segment, a pair or another host.

use super::{FillError, Filling, Piece, Template};

/// A URL: `https://api.example.com/cities/{city}?units={units}`, or one that begins with a variable:
/// `${API_URL}/cities/{city}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UrlTemplate {
    /// As it is written, for messages: secrets are names in it.
    text: String,
    origin: Origin,
    /// What stands between the slashes of the path.
    segments: Vec<Template>,
    query: Option<Vec<Pair>>,
}

/// Where a URL begins.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Origin {
    /// Scheme with `://`, host, and port with its colon.
    Written { scheme: &'static str, host: Template, port: Template },
    /// The value of this name.
    Value(String),
}

/// A pair of a query. One without `=` has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pair {
    name: Template,
    value: Option<Template>,
}

impl UrlTemplate {
    /// Reads a URL.
    ///
    /// # Errors
    ///
    /// What a URL must be and this one is not; to be read behind the key.
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

    /// The URL as it is written, for messages: secrets are names in it.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The arguments in the host: whoever calls chooses which server is called.
    pub(crate) fn host_arguments(&self) -> impl Iterator<Item = &str> {
        let host = match &self.origin {
            Origin::Written { host, .. } => Some(host),
            Origin::Value(_) => None,
        };
        host.into_iter().flat_map(Template::arguments)
    }

    /// The arguments in the path.
    pub(crate) fn path_arguments(&self) -> impl Iterator<Item = &str> {
        self.segments.iter().flat_map(Template::arguments)
    }

    /// Every argument in it.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &str> {
        let query = self.query_templates().flat_map(Template::arguments);
        self.host_arguments().chain(self.path_arguments()).chain(query)
    }

    /// The secrets and variables that say which server is called.
    pub(crate) fn origin_values(&self) -> impl Iterator<Item = &str> {
        let (value, host, port) = match &self.origin {
            Origin::Value(name) => (Some(name.as_str()), None, None),
            Origin::Written { host, port, .. } => (None, Some(host), Some(port)),
        };
        value.into_iter().chain(host.into_iter().chain(port).flat_map(Template::values))
    }

    /// All others.
    pub(crate) fn path_and_query_values(&self) -> impl Iterator<Item = &str> {
        self.segments.iter().chain(self.query_templates()).flat_map(Template::values)
    }

    /// Whether whoever calls chooses the server: an argument stands in the host, and no domain behind it.
    pub(crate) fn is_host_of_caller(&self) -> bool {
        let Origin::Written { host, .. } = &self.origin else { return false };
        let is_domain =
            |text: &str| text.strip_prefix('.').is_some_and(|domain| domain.contains('.'));
        match host.0.last() {
            Some(Piece::Text(text)) => host.arguments().next().is_some() && !is_domain(text),
            Some(Piece::Argument(_)) => true,
            Some(Piece::Value(_)) | None => host.arguments().next().is_some(),
        }
    }

    fn query_templates(&self) -> impl Iterator<Item = &Template> {
        let pairs = self.query.iter().flatten();
        pairs.flat_map(|pair| std::iter::once(&pair.name).chain(&pair.value))
    }

    /// The URL.
    ///
    /// # Errors
    ///
    /// If what is filled in cannot stand at its place.
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

    /// Looks once more at what came out: the origin is as it was, and the path has as many segments as the template.
    fn check_shape(&self, url: &str, origin: &str, before_query: usize) -> Result<(), FillError> {
        let is_visible =
            url.bytes().all(|byte| byte.is_ascii_graphic() && !b"\\#<>\"`".contains(&byte));
        let path = url.get(..before_query).and_then(|url| url.strip_prefix(origin));
        let is_kept = path.is_some_and(|path| {
            !path.contains('?') && path.matches('/').count() == self.segments.len()
        });
        match is_visible && is_kept && !origin.contains('@') {
            true => Ok(()),
            false => {
                Err(FillError::Argument("the arguments make another URL than was meant".to_owned()))
            }
        }
    }
}

impl Origin {
    /// The origin of a URL, and what follows: nothing, or what begins with `/` or `?`.
    fn parse(whole: Template) -> Result<(Self, Template), String> {
        if let [Piece::Value(name), rest @ ..] = whole.0.as_slice() {
            let rest = Template(rest.to_vec());
            let is_clear = match rest.0.first() {
                None => true,
                Some(Piece::Text(text)) => text.starts_with(['/', '?']),
                Some(Piece::Argument(_) | Piece::Value(_)) => false,
            };
            return match is_clear {
                true => Ok((Self::Value(name.clone()), rest)),
                false => {
                    Err(format!("must have a / or a ? behind ${{{name}}}, with which it begins"))
                }
            };
        }
        let schemes = ["https://", "http://"];
        let found = schemes.iter().find_map(|scheme| Some((*scheme, whole.strip_prefix(scheme)?)));
        let (scheme, rest) = found.ok_or_else(|| {
            "must begin with https:// or http://, or with a variable that holds such a URL, as ${API_URL}".to_owned()
        })?;
        let (authority, rest) = rest.split_at_first(&['/', '?']);
        if authority.texts().any(|text| text.contains('@')) {
            return Err("must hold no user name and no password; send them in a header".to_owned());
        }
        let is_address = authority.texts().next().is_some_and(|text| text.starts_with('['));
        let (host, port) = match is_address {
            true => {
                let (host, port) = authority.split_at_first(&[']']);
                let port = port.strip_prefix("]").unwrap_or_default();
                (Template([host.0, vec![Piece::Text("]".to_owned())]].concat()), port)
            }
            false => authority.split_at_first(&[':']),
        };
        check_host(&host, is_address)?;
        check_port(&port)?;
        Ok((Self::Written { scheme, host, port }, rest))
    }

    /// The origin as text. One that is a value may have a path, too, but no slash at its end.
    fn fill(&self, filling: &Filling<'_>) -> Result<String, FillError> {
        match self {
            Self::Written { scheme, host, port } => {
                let host = host.fill(filling, labels)?;
                if host.len() > MAX_HOST {
                    return Err(FillError::Argument(
                        "the arguments make too long a name of a host".to_owned(),
                    ));
                }
                let port = port.fill(filling, digits)?;
                Ok(format!("{scheme}{host}{port}"))
            }
            Self::Value(name) => {
                let value = filling.values.value(name)?;
                let url = value.reveal().trim();
                let is_url = url.starts_with("https://") || url.starts_with("http://");
                let is_plain = check_literal(url).is_ok() && !url.contains(['?', '@']);
                let url = url.trim_end_matches('/');
                match is_url && is_plain && !url.ends_with(':') {
                    true => Ok(url.to_owned()),
                    false => Err(FillError::value(
                        name,
                        "must be a URL such as https://api.example.com/v1, without a query",
                    )),
                }
            }
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

/// A segment of the path. What is filled in may neither make it empty nor make it one that goes up.
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

/// Whether a segment is `.` or `..`, however that is written.
fn is_dots(segment: &str) -> bool {
    let plain = segment.replace("%2e", ".").replace("%2E", ".");
    plain == "." || plain == ".."
}

/// Everything but letters, digits and `-._~` as percent signs with the bytes of UTF-8.
pub(crate) fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            true => encoded.push(char::from(byte)),
            false => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

/// Parts of a host, as `eu` or `api.example`.
fn labels(text: &str) -> Result<String, &'static str> {
    let is_label = |label: &str| {
        let is_good = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        !label.is_empty() && is_good && !label.starts_with('-') && !label.ends_with('-')
    };
    match text.split('.').all(is_label) {
        true => Ok(text.to_ascii_lowercase()),
        false => Err(
            "must be a name of letters, digits, - and dots between them, since it stands in the host of the URL",
        ),
    }
}

fn digits(text: &str) -> Result<String, &'static str> {
    match !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        true => Ok(text.to_owned()),
        false => Err("must be a number, since it stands in the port of the URL"),
    }
}

fn check_host(host: &Template, is_address: bool) -> Result<(), String> {
    if host.0.is_empty() {
        return Err("must name a host".to_owned());
    }
    let is_of_a_host = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    let is_of_an_address = |byte: u8| byte.is_ascii_hexdigit() || b":.[]".contains(&byte);
    let is_good = match is_address {
        true => host.is_fixed() && host.texts().all(|text| text.bytes().all(is_of_an_address)),
        false => host.texts().all(|text| text.bytes().all(is_of_a_host)),
    };
    match is_good {
        true => Ok(()),
        false => Err("must have a host of letters, digits, - and dots".to_owned()),
    }
}

/// A port with its colon; a variable may give it, a caller may not.
fn check_port(port: &Template) -> Result<(), String> {
    let is_good = match port.0.as_slice() {
        [] => true,
        [Piece::Text(text)] => {
            text.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok())
        }
        [Piece::Text(colon), Piece::Value(_)] => colon == ":",
        _ => false,
    };
    match is_good {
        true => Ok(()),
        false => Err("must have a number as its port, in which no argument stands".to_owned()),
    }
}

/// The letters that stand in a URL as they are, and whole escapes.
fn check_literal(text: &str) -> Result<(), String> {
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
    match text.split('%').skip(1).all(is_escape) {
        true => Ok(()),
        false => {
            Err("must have two hexadecimal digits behind each %; write %25 for the sign".to_owned())
        }
    }
}

/// The longest name of a host.
const MAX_HOST: usize = 253;

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
            ("${BAD}/x", "the secret or variable BAD must be a URL such as"),
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
