//! The authentication schemes of a card (spec §4.5).

use crate::sorted::SortedMap;
use serde::Serialize;

/// A scheme (spec §4.5.1): an object with one member, whose name is the kind of the scheme.
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
    /// A description for people.
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
    /// A description for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The name of the authentication scheme, for example `Bearer`.
    pub scheme: String,
    /// The format of bearer tokens, for example `JWT`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bearer_format: Option<String>,
}

/// OAuth 2.0 (spec §4.5.4).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OAuth2SecurityScheme {
    /// A description for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The flow by which clients obtain tokens.
    pub flows: OAuthFlows,
    /// The URL of the authorization server's metadata (RFC 8414).
    #[serde(rename = "oauth2MetadataUrl", skip_serializing_if = "Option::is_none")]
    pub metadata_url: Option<String>,
}

/// OpenID Connect (spec §4.5.5).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenIdConnectSecurityScheme {
    /// A description for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The URL of the discovery document.
    pub open_id_connect_url: String,
}

/// A client certificate (spec §4.5.6).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MutualTlsSecurityScheme {
    /// A description for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// The flow by which clients obtain tokens (spec §4.5.7). The two flows that OAuth 2.1 removes are not
/// supported.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum OAuthFlows {
    /// A person grants access in a browser (spec §4.5.8).
    #[serde(rename_all = "camelCase")]
    AuthorizationCode {
        /// The URL at which the person grants access.
        authorization_url: String,
        /// The URL that issues tokens.
        token_url: String,
        /// The URL that renews tokens.
        #[serde(skip_serializing_if = "Option::is_none")]
        refresh_url: Option<String>,
        /// The scopes, each with a description.
        scopes: SortedMap<String, String>,
        /// Whether PKCE (RFC 7636) is required.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        pkce_required: bool,
    },
    /// A program uses its own credentials (spec §4.5.9).
    #[serde(rename_all = "camelCase")]
    ClientCredentials {
        /// The URL that issues tokens.
        token_url: String,
        /// The URL that renews tokens.
        #[serde(skip_serializing_if = "Option::is_none")]
        refresh_url: Option<String>,
        /// The scopes, each with a description.
        scopes: SortedMap<String, String>,
    },
    /// A person grants access on another device (RFC 8628).
    #[serde(rename_all = "camelCase")]
    DeviceCode {
        /// The URL at which the device requests a code.
        device_authorization_url: String,
        /// The URL that issues tokens.
        token_url: String,
        /// The URL that renews tokens.
        #[serde(skip_serializing_if = "Option::is_none")]
        refresh_url: Option<String>,
        /// The scopes, each with a description.
        scopes: SortedMap<String, String>,
    },
}

/// One way to authenticate: schemes of which all are required (spec §4.4.1). Several requirements are
/// alternatives.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SecurityRequirement {
    /// The required scopes of each scheme, by the scheme's name.
    pub schemes: SortedMap<String, StringList>,
}

/// A list as a value in a map of the protocol. It is encoded even if it is empty, because strict readers
/// require it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StringList {
    /// The elements of the list.
    pub list: Vec<String>,
}
