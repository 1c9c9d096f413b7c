//! What shows a remote agent who calls.

use crate::table::Reader;
use crate::template::{check_header_name, visible};
use a2a::model::Secret;

/// What shows a remote agent who calls, with secrets filled in. All of it goes to the host of the remote's URL alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemoteCredentials {
    /// `Authorization: Bearer`.
    pub bearer_token: Option<Secret>,
    /// An API key.
    pub api_key: Option<RemoteKey>,
    /// Tokens that are asked for (RFC 6749 §4.4).
    pub oauth2: Option<RemoteOAuth2>,
}

/// An API key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteKey {
    /// Where it goes.
    pub place: KeyPlace,
    /// The name of the header, of the query parameter or of the cookie.
    pub name: String,
    /// The key.
    pub value: Secret,
}

/// Where an API key goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyPlace {
    /// Into a header.
    #[default]
    Header,
    /// Into the query.
    Query,
    /// Into a cookie.
    Cookie,
}

/// The client credentials grant of OAuth 2.0 (RFC 6749 §4.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteOAuth2 {
    /// Where tokens are asked for.
    pub token_url: String,
    /// The id of the client.
    pub client_id: Secret,
    /// Its secret.
    pub client_secret: Secret,
    /// The scopes that are asked for.
    pub scopes: Vec<String>,
    /// The parameter `audience`, which some servers want.
    pub audience: Option<String>,
}

impl RemoteCredentials {
    pub(super) fn read(keys: &mut Reader<'_>) -> Self {
        if keys.has("bearer_token") && keys.has("oauth2") {
            keys.report("oauth2", "stands beside `bearer_token`; keep one of the two");
        }
        let bearer_token = if keys.has("bearer_token") {
            keys.needed("bearer_token").filter(|token| is_clean(keys, "bearer_token", token))
        } else {
            None
        };
        let api_key = keys.below("api_key", |keys| {
            keys.only(&["in", "name", "value"]);
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
            keys.only(&["token_url", "client_id", "client_secret", "scopes", "audience"]);
            keys.need("token_url", "");
            // What goes there is the secret itself.
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

/// The headers that go along with every request; not those of `own`, which the client sends by itself.
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

/// Whether a value can stand in a header.
fn is_clean(keys: &mut Reader<'_>, key: &str, value: &Secret) -> bool {
    let checked = visible(value.reveal());
    if let Err(fix) = checked {
        keys.report(key, fix);
    }
    checked.is_ok()
}

const PLACES: [(&str, KeyPlace); 3] =
    [("header", KeyPlace::Header), ("query", KeyPlace::Query), ("cookie", KeyPlace::Cookie)];

/// Headers that say how a request of A2A is to be read.
pub(super) const OWN_HEADERS: [&str; 7] = [
    "a2a-extensions",
    "a2a-version",
    "accept",
    "content-type",
    "idempotency-key",
    "last-event-id",
    "x-a2a-extensions",
];

/// Headers that say how a request of MCP is to be read.
pub(super) const OWN_MCP_HEADERS: [&str; 7] = [
    "accept",
    "content-type",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
];
