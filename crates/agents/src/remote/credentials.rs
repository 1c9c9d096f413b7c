//! The credentials that are sent to a remote agent or to an MCP server.

use crate::table::{Keys, Reader, keys};
use crate::template::{check_header_name, visible};
use a2a::model::Secret;

/// The credentials that are sent to a remote agent or to an MCP server, with secrets filled in. API key and token are
/// sent only to the host of the
/// remote's URL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemoteCredentials {
    /// `Authorization: Bearer`.
    pub bearer_token: Option<Secret>,
    /// An API key.
    pub api_key: Option<RemoteKey>,
    /// Tokens that are requested from an authorization server (RFC 6749 §4.4).
    pub oauth2: Option<RemoteOAuth2>,
}

/// An API key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteKey {
    /// The place of the key in the request.
    pub place: KeyPlace,
    /// The name of the header, of the query parameter or of the cookie.
    pub name: String,
    /// The key.
    pub value: Secret,
}

/// The place of an API key in the request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyPlace {
    /// In a header.
    #[default]
    Header,
    /// In the query.
    Query,
    /// In a cookie.
    Cookie,
}

/// The client credentials grant of OAuth 2.0 (RFC 6749 §4.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteOAuth2 {
    /// The URL from which tokens are requested.
    pub token_url: String,
    /// The id of the client.
    pub client_id: Secret,
    /// The secret of the client.
    pub client_secret: Secret,
    /// The scopes in the request for a token.
    pub scopes: Vec<String>,
    /// The parameter `audience`, which some authorization servers require.
    pub audience: Option<String>,
}

impl RemoteCredentials {
    pub(super) fn read(keys: &mut Reader<'_>) -> Self {
        if keys.has("bearer_token") && keys.has("oauth2") {
            keys.report("oauth2", "stands beside `bearer_token`; keep one of the two");
        }
        let bearer_token = keys.not_empty("bearer_token");
        let bearer_token = bearer_token.filter(|token| is_clean(keys, "bearer_token", token));
        let api_key = keys.below("api_key", |keys| {
            keys.only(&API_KEY);
            let place = keys.choice("in", &PLACES).unwrap_or_default();
            let name = keys.needed("name");
            let value = keys.needed("value").filter(|key| is_clean(keys, "value", key));
            let name = name?.reveal().to_owned();
            if let Err(fix) = check_header_name(&name) {
                keys.report("name", fix);
            }
            Some(RemoteKey { place, name, value: value? })
        });
        let oauth2 = keys.below("oauth2", |keys| {
            keys.only(&OAUTH2);
            keys.need("token_url", "");
            // The client's secret is sent to this URL, so the same rule applies as for the URLs of keys.
            let token_url = keys.checked("token_url", crate::access::check_url);
            let (client_id, client_secret) =
                (keys.needed("client_id"), keys.needed("client_secret"));
            let scopes = keys.texts("scopes");
            let audience = keys.text("audience");
            Some(RemoteOAuth2 {
                token_url: token_url?,
                client_id: client_id?,
                client_secret: client_secret?,
                scopes,
                audience,
            })
        });
        Self { bearer_token, api_key, oauth2 }
    }
}

/// The additional headers of every request. Headers of `own` are problems, because the client sends them itself.
pub(super) fn headers(keys: &mut Reader<'_>, own: &[&str]) -> Vec<(String, String)> {
    let headers = keys.below("headers", |keys| {
        let mut headers = Vec::new();
        for name in keys.names() {
            if let Err(fix) = check_header_name(name) {
                keys.report(name, fix);
            } else if own.iter().any(|own| name.eq_ignore_ascii_case(own)) {
                keys.report(name, "is a header that the client sends by itself");
            }
            let Some(value) = keys.secret(name) else { continue };
            if is_clean(keys, name, &value) {
                headers.push((name.to_owned(), value.reveal().to_owned()));
            }
        }
        Some(headers)
    });
    headers.unwrap_or_default()
}

/// Checks that a value can be sent in a header. Returns true if it can.
fn is_clean(keys: &mut Reader<'_>, key: &str, value: &Secret) -> bool {
    let checked = visible(value.reveal());
    if let Err(fix) = checked {
        keys.report(key, fix);
    }
    checked.is_ok()
}

const API_KEY: Keys = keys! {
    /// The place of the key in the request; `header` unless given.
    "in",
    /// The name of the header, of the query parameter or of the cookie.
    "name",
    /// The key: a secret, as `"${ARCHIVE_KEY}"`.
    "value",
};

const OAUTH2: Keys = keys! {
    /// The URL from which tokens are requested.
    "token_url",
    /// The id of the client.
    "client_id",
    /// The secret of the client, as `"${CLIENT_SECRET}"`.
    "client_secret",
    /// The scopes in the request for a token.
    "scopes",
    /// The parameter `audience`, which some authorization servers require.
    "audience",
};

const PLACES: [(&str, KeyPlace); 3] =
    [("header", KeyPlace::Header), ("query", KeyPlace::Query), ("cookie", KeyPlace::Cookie)];

/// Headers of the protocol A2A, which the client sets.
pub(super) const OWN_HEADERS: [&str; 7] = [
    "a2a-extensions",
    "a2a-version",
    "accept",
    "content-type",
    "idempotency-key",
    "last-event-id",
    "x-a2a-extensions",
];

/// Headers of the protocol MCP, which the client sets.
pub(super) const OWN_MCP_HEADERS: [&str; 7] = [
    "accept",
    "content-type",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
];
