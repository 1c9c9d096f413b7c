//! The place of a scheme's credential in the request, and the check of that place.

use super::Problems;
use crate::Problem;
use crate::access::{KeyLocation, Scheme};

/// The place of a credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In `Authorization`, after this word.
    Authorization(&'static str),
    /// In this header, in lower case.
    Header(String),
    /// In this parameter of the query.
    Query(String),
    /// In this cookie.
    Cookie(String),
    /// In the TLS handshake of the connection.
    Connection,
}

impl Place {
    /// The part of a request that holds this credential, and no second one.
    pub(super) fn slot(&self) -> String {
        match self {
            Self::Authorization(_) => "the header Authorization".to_owned(),
            Self::Header(name) => format!("the header {name}"),
            Self::Query(name) => format!("the query parameter {name}"),
            Self::Cookie(name) => format!("the cookie {name}"),
            Self::Connection => "the client certificate".to_owned(),
        }
    }
}

/// The place of a scheme's credential.
pub(super) fn place_of(scheme: &Scheme) -> Place {
    match scheme {
        Scheme::ApiKey(key) => match key.location {
            KeyLocation::Header => Place::Header(key.name.to_ascii_lowercase()),
            KeyLocation::Query => Place::Query(key.name.clone()),
            KeyLocation::Cookie => Place::Cookie(key.name.clone()),
        },
        Scheme::Bearer(_) => Place::Authorization("bearer"),
        Scheme::Basic(_) => Place::Authorization("basic"),
        Scheme::Jwt(jwt) => {
            jwt.cookie.clone().map_or(Place::Authorization("bearer"), Place::Cookie)
        }
        Scheme::CloudflareAccess(_) => Place::Header("cf-access-jwt-assertion".to_owned()),
        Scheme::MutualTls(_) => Place::Connection,
    }
}

/// Checks the name of the header, the query parameter or the cookie of a scheme.
pub(super) fn check_place(scheme: &Scheme) -> Problems {
    let (key, fix) = match (scheme, place_of(scheme)) {
        (Scheme::ApiKey(_), Place::Header(name)) => ("name", check_header(&name)),
        (Scheme::ApiKey(_), Place::Query(name)) => ("name", check_parameter(&name)),
        (Scheme::ApiKey(_), Place::Cookie(name)) => ("name", check_cookie(&name)),
        (_, Place::Cookie(name)) => ("cookie", check_cookie(&name)),
        _ => return Vec::new(),
    };
    fix.err().map(|fix| Problem::at(key, fix)).into_iter().collect()
}

fn check_header(name: &str) -> Result<(), String> {
    if !is_token(name) {
        return Err(format!(
            "is {name:?}, but the name of a header is letters, digits and -, as \"X-Api-Key\""
        ));
    }
    let is_reserved = RESERVED_HEADERS.contains(&name)
        || RESERVED_BEGINNINGS.iter().any(|begin| name.starts_with(begin));
    match (name, is_reserved) {
        ("authorization", _) => {
            Err("is \"authorization\"; a token there is kind = \"bearer\" or \"jwt\", a password \"basic\"".to_owned())
        }
        ("cookie", _) => Err("is \"cookie\"; a key in a cookie has in = \"cookie\" and its name".to_owned()),
        (_, true) => Err(format!("is {name:?}, which means something else already; choose another, as \"X-Api-Key\"")),
        (_, false) => Ok(()),
    }
}

fn check_parameter(name: &str) -> Result<(), String> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(fits) {
        return Err(format!("is {name:?}, but must be letters, digits, _, - and ., as \"key\""));
    }
    let plain = name.replace('_', "").to_ascii_lowercase();
    if RESERVED_PARAMETERS.contains(&plain.as_str()) {
        Err(format!(
            "is {name:?}, which is a parameter of the protocol; choose another, as \"key\""
        ))
    } else {
        Ok(())
    }
}

fn check_cookie(name: &str) -> Result<(), String> {
    if is_token(name) {
        Ok(())
    } else {
        Err(format!(
            "is {name:?}, but the name of a cookie is letters, digits, - and _, as \"session\""
        ))
    }
}

/// True for a token of HTTP (RFC 9110 §5.6.2).
fn is_token(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.len() <= MAX_NAME && name.bytes().all(fits)
}

/// Headers that have a meaning in HTTP, in browsers, in the protocol or in a2a-edge.
const RESERVED_HEADERS: [&str; 38] = [
    "a2a-extensions",
    "a2a-version",
    "accept",
    "accept-encoding",
    "accept-language",
    "act-as",
    "after-generation",
    "authorization",
    "baggage",
    "cache-control",
    "cdn-loop",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "date",
    "expect",
    "forwarded",
    "host",
    "idempotency-key",
    "keep-alive",
    "last-event-id",
    "origin",
    "pragma",
    "prefer",
    "range",
    "referer",
    "run-timeout-ms",
    "te",
    "traceparent",
    "tracestate",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "via",
    "x-a2a-extensions",
];

const RESERVED_BEGINNINGS: [&str; 8] =
    ["access-control-", "cf-", "if-", "proxy-", "sec-", "x-forwarded-", "x-real-", "x-request-id"];

/// The query parameters of the protocol's requests, in lower case and without `_`.
const RESERVED_PARAMETERS: [&str; 12] = [
    "contextid",
    "fromgeneration",
    "historylength",
    "id",
    "includeartifacts",
    "metadata",
    "pagesize",
    "pagetoken",
    "status",
    "statustimestampafter",
    "taskid",
    "tenant",
];

/// The maximum length of a name.
const MAX_NAME: usize = 64;
