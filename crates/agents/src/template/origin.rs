//! The origin of a request's URL: scheme, host and port, or a variable that contains them.

use super::literal::check_literal;
use super::{FillError, Filling, Piece, Template};

/// The origin of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Scheme with `://`, host, and port with its colon.
    Written { scheme: &'static str, host: Template, port: Template },
    /// The secret or variable with this name.
    Value(String),
}

impl Origin {
    /// Splits a URL into its origin and the rest, which is empty or begins with `/` or `?`.
    pub(super) fn parse(whole: Template) -> Result<(Self, Template), String> {
        if let [Piece::Value(name), rest @ ..] = whole.0.as_slice() {
            let rest = Template(rest.to_vec());
            let is_clear = match rest.0.first() {
                None => true,
                Some(Piece::Text(text)) => text.starts_with(['/', '?']),
                Some(Piece::Argument(_) | Piece::Value(_)) => false,
            };
            return if is_clear {
                Ok((Self::Value(name.clone()), rest))
            } else {
                Err(format!("must have a / or a ? behind ${{{name}}}, with which it begins"))
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
        let (host, port) = if is_address {
            let (host, port) = authority.split_at_first(&[']']);
            let port = port.strip_prefix("]").unwrap_or_default();
            (Template([host.0, vec![Piece::Text("]".to_owned())]].concat()), port)
        } else {
            authority.split_at_first(&[':'])
        };
        check_host(&host, is_address)?;
        check_port(&port)?;
        Ok((Self::Written { scheme, host, port }, rest))
    }

    /// The origin as text. The value of a variable may also have a path; slashes at its end are removed.
    pub(super) fn fill(&self, filling: &Filling<'_>) -> Result<String, FillError> {
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
                if is_url && is_plain && !url.ends_with(':') {
                    return Ok(url.to_owned());
                }
                Err(FillError::value(
                    name,
                    "must begin with https:// or http:// and have no user name and no query, as https://api.example.com/v1",
                ))
            }
        }
    }

    /// The arguments in the host.
    pub(super) fn arguments(&self) -> impl Iterator<Item = &str> {
        self.host().into_iter().flat_map(Template::arguments)
    }

    /// The secrets and variables in the origin.
    pub(super) fn values(&self) -> impl Iterator<Item = &str> {
        let (value, port) = match self {
            Self::Value(name) => (Some(name.as_str()), None),
            Self::Written { port, .. } => (None, Some(port)),
        };
        value.into_iter().chain(self.host().into_iter().chain(port).flat_map(Template::values))
    }

    /// True if an argument is part of the host, and the host does not end with a literal domain.
    #[cfg(any(test, feature = "checker"))]
    pub(super) fn is_of_caller(&self) -> bool {
        let Some(host) = self.host() else { return false };
        let is_domain =
            |text: &str| text.strip_prefix('.').is_some_and(|domain| domain.contains('.'));
        match host.0.last() {
            Some(Piece::Text(text)) => host.arguments().next().is_some() && !is_domain(text),
            Some(Piece::Argument(_)) => true,
            Some(Piece::Value(_)) | None => host.arguments().next().is_some(),
        }
    }

    fn host(&self) -> Option<&Template> {
        match self {
            Self::Written { host, .. } => Some(host),
            Self::Value(_) => None,
        }
    }
}

/// Checks labels of a host, as `eu` or `api.example`. Returns them in lower case.
fn labels(text: &str) -> Result<String, &'static str> {
    let is_label = |label: &str| {
        let is_good = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        !label.is_empty() && is_good && !label.starts_with('-') && !label.ends_with('-')
    };
    if text.split('.').all(is_label) {
        Ok(text.to_ascii_lowercase())
    } else {
        Err(
            "must be a name of letters, digits, - and dots between them, since it stands in the host of the URL",
        )
    }
}

fn digits(text: &str) -> Result<String, &'static str> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        Ok(text.to_owned())
    } else {
        Err("must be a number, since it stands in the port of the URL")
    }
}

fn check_host(host: &Template, is_address: bool) -> Result<(), String> {
    if host.0.is_empty() {
        return Err("must name a host".to_owned());
    }
    let is_of_a_host = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    let is_of_an_address = |byte: u8| byte.is_ascii_hexdigit() || b":.[]".contains(&byte);
    let is_good = if is_address {
        host.is_fixed() && host.texts().all(|text| text.bytes().all(is_of_an_address))
    } else {
        host.texts().all(|text| text.bytes().all(is_of_a_host))
    };
    if is_good { Ok(()) } else { Err("must have a host of letters, digits, - and dots".to_owned()) }
}

/// Checks a port with its colon: it may be a variable, but not an argument of the caller.
fn check_port(port: &Template) -> Result<(), String> {
    let is_good = match port.0.as_slice() {
        [] => true,
        [Piece::Text(text)] => {
            text.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok())
        }
        [Piece::Text(colon), Piece::Value(_)] => colon == ":",
        _ => false,
    };
    if is_good {
        Ok(())
    } else {
        Err("must have a number as its port, in which no argument stands".to_owned())
    }
}

/// The maximum length of the name of a host.
const MAX_HOST: usize = 253;
