//! How callers prove who they are, as a card declares it (spec §4.5).

use std::collections::BTreeMap;

use serde::Serialize;

/// A scheme (spec §4.5.1): an object with one member, whose name says what kind it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum SecurityScheme {
    /// A key in a header, in the query or in a cookie.
    #[serde(rename = "apiKeySecurityScheme")]
    ApiKey(ApiKeySecurityScheme),
    /// The header `Authorization` (RFC 9110).
    #[serde(rename = "httpAuthSecurityScheme")]
    HttpAuth(HttpAuthSecurityScheme),
    /// OAuth 2.0.
    #[serde(rename = "oauth2SecurityScheme")]
    OAuth2(Box<OAuth2SecurityScheme>),
    /// OpenID Connect.
    #[serde(rename = "openIdConnectSecurityScheme")]
    OpenIdConnect(OpenIdConnectSecurityScheme),
    /// A client certificate.
    #[serde(rename = "mtlsSecurityScheme")]
    MutualTls(MutualTlsSecurityScheme),
}

/// A key in a header, in the query or in a cookie (spec §4.5.2).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiKeySecurityScheme {
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// `header`, `query` or `cookie`.
    pub location: String,
    /// The name of the header, of the parameter or of the cookie.
    pub name: String,
}

/// The header `Authorization` (spec §4.5.3).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HttpAuthSecurityScheme {
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The name of the authentication scheme, as `Bearer`.
    pub scheme: String,
    /// What bearer tokens are, as `JWT`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bearer_format: Option<String>,
}

/// OAuth 2.0 (spec §4.5.4).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OAuth2SecurityScheme {
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How tokens are to be had.
    pub flows: OAuthFlows,
    /// Metadata of the authorization server (RFC 8414).
    #[serde(rename = "oauth2MetadataUrl", skip_serializing_if = "Option::is_none")]
    pub metadata_url: Option<String>,
}

/// OpenID Connect (spec §4.5.5).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenIdConnectSecurityScheme {
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The discovery document.
    pub open_id_connect_url: String,
}

/// A client certificate (spec §4.5.6).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MutualTlsSecurityScheme {
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// How tokens are to be had: one flow (spec §4.5.7). The two that OAuth 2.1 has given up are missing.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum OAuthFlows {
    /// A person allows it in a browser (spec §4.5.8).
    #[serde(rename_all = "camelCase")]
    AuthorizationCode {
        /// Where the person allows it.
        authorization_url: String,
        /// Where tokens are given out.
        token_url: String,
        /// Where tokens are renewed.
        #[serde(skip_serializing_if = "Option::is_none")]
        refresh_url: Option<String>,
        /// The scopes, each with a description.
        scopes: BTreeMap<String, String>,
        /// Whether PKCE (RFC 7636) is needed.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        pkce_required: bool,
    },
    /// A program shows its own credentials (spec §4.5.9).
    #[serde(rename_all = "camelCase")]
    ClientCredentials {
        /// Where tokens are given out.
        token_url: String,
        /// Where tokens are renewed.
        #[serde(skip_serializing_if = "Option::is_none")]
        refresh_url: Option<String>,
        /// The scopes, each with a description.
        scopes: BTreeMap<String, String>,
    },
    /// A person allows it on another device (RFC 8628).
    #[serde(rename_all = "camelCase")]
    DeviceCode {
        /// Where the device asks for a code.
        device_authorization_url: String,
        /// Where tokens are given out.
        token_url: String,
        /// Where tokens are renewed.
        #[serde(skip_serializing_if = "Option::is_none")]
        refresh_url: Option<String>,
        /// The scopes, each with a description.
        scopes: BTreeMap<String, String>,
    },
}

/// One way to be let in: schemes that must all pass (spec §4.4.1). Several of them are alternatives.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SecurityRequirement {
    /// The scopes that are needed of each scheme, by its name.
    pub schemes: BTreeMap<String, StringList>,
}

/// A list as a value of a map of the protocol. It is written also when it is empty: strict readers want it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StringList {
    /// Its elements.
    pub list: Vec<String>,
}
