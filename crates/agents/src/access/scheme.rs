//! Authentication of callers: `[access.schemes.<name>]`.

use serde::Serialize;

use a2a::model::decode::Decode;
use a2a::sorted::SortedMap;

/// A scheme. `${NAME}` in its texts is replaced by variables of the deployment.
#[derive(Clone, Debug, PartialEq, Serialize, Decode)]
#[cfg_attr(any(test, feature = "checker"), derive(serde::Deserialize, schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Scheme {
    /// A key in a header, in the query or in a cookie.
    ApiKey(ApiKey),
    /// Tokens that are secrets of the deployment, as `Authorization: Bearer`.
    Bearer(StaticBearer),
    /// A name and a password (RFC 7617).
    Basic(Basic),
    /// A JSON Web Token (RFC 7519), as `Authorization: Bearer` or in a cookie.
    Jwt(Box<Jwt>),
    /// The token that Cloudflare Access sends in `Cf-Access-Jwt-Assertion`.
    CloudflareAccess(CloudflareAccess),
    /// A client certificate that the platform has verified.
    MutualTls(MutualTls),
}

impl Scheme {
    /// The ids of the callers that the scheme lists; `None` for a kind of scheme without a list.
    pub fn callers(&self) -> Option<impl Iterator<Item = &str>> {
        let callers = self.static_callers()?;
        Some(callers.iter().map(|caller| caller.id.as_str()))
    }

    /// True if the caller of this id is the same in both schemes and has the same permissions: the entries for the id are
    /// equal, or both schemes check and read tokens in the same way. The place of a listed caller's credential is not
    /// compared.
    pub fn knows_alike(&self, other: &Self, id: &str) -> bool {
        match (self.static_callers(), other.static_callers()) {
            (Some(callers), Some(others)) => {
                let find = |callers: &[StaticCaller]| -> Option<StaticCaller> {
                    callers.iter().find(|caller| caller.id == id).cloned()
                };
                find(callers).is_some_and(|caller| find(others) == Some(caller))
            }
            (None, None) => self == other,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }

    fn static_callers(&self) -> Option<&[StaticCaller]> {
        match self {
            Self::ApiKey(key) => Some(&key.callers),
            Self::Bearer(bearer) => Some(&bearer.callers),
            Self::Basic(basic) => Some(&basic.callers),
            Self::Jwt(_) | Self::CloudflareAccess(_) | Self::MutualTls(_) => None,
        }
    }
}

/// A key in a header, in the query or in a cookie.
#[derive(Clone, Debug, PartialEq, Serialize, Decode)]
#[cfg_attr(any(test, feature = "checker"), derive(serde::Deserialize, schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ApiKey {
    /// The place of the key.
    #[serde(rename = "in", default)]
    pub location: KeyLocation,
    /// The name of the header, of the query parameter or of the cookie.
    pub name: String,
    /// The description in the card, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The callers, each with its keys.
    pub callers: Vec<StaticCaller>,
}

/// The place of a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Decode)]
#[cfg_attr(any(test, feature = "checker"), derive(serde::Deserialize, schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum KeyLocation {
    /// In a header.
    #[default]
    Header,
    /// In the query.
    Query,
    /// In a cookie.
    Cookie,
}

/// Tokens that are secrets of the deployment, as `Authorization: Bearer`.
#[derive(Clone, Debug, PartialEq, Serialize, Decode)]
#[cfg_attr(any(test, feature = "checker"), derive(serde::Deserialize, schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StaticBearer {
    /// The description in the card, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The callers, each with its tokens.
    pub callers: Vec<StaticCaller>,
}

/// A name and a password (RFC 7617). The name is the id of a caller.
#[derive(Clone, Debug, PartialEq, Serialize, Decode)]
#[cfg_attr(any(test, feature = "checker"), derive(serde::Deserialize, schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Basic {
    /// The description in the card, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The callers, each with its passwords.
    pub callers: Vec<StaticCaller>,
}

/// A caller who proves its identity by a secret of the deployment.
#[derive(Clone, Debug, PartialEq, Serialize, Decode)]
#[cfg_attr(any(test, feature = "checker"), derive(serde::Deserialize, schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StaticCaller {
    /// The caller's own id. The id in the system is the scheme's name, a colon and this id, as `key:billing`.
    pub id: String,
    /// The names of Worker secrets, each of which is accepted: two while one replaces the other. A secret that is not set
    /// is skipped; if none is set, that is an error of the deployment.
    pub secrets: Vec<String>,
    /// The caller's permissions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permissions: Vec<String>,
    /// The caller's claims, for `share_by`.
    #[serde(default, skip_serializing_if = "SortedMap::is_empty")]
    pub claims: SortedMap<String, String>,
}

/// A JSON Web Token (RFC 7519). Exactly one of `secrets`, `jwks_url` and `discover` is the source of its keys.
#[derive(Clone, Debug, PartialEq, Serialize, Decode)]
#[cfg_attr(any(test, feature = "checker"), derive(serde::Deserialize, schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Jwt {
    /// The description in the card, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The claim `iss` that tokens must have. Required unless there are `secrets`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// The accepted audiences: the claim `aud` must contain one of them.
    pub audience: Vec<String>,
    /// The names of Worker secrets for HS256: two while one replaces the other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// The URL of the public keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jwks_url: Option<String>,
    /// True if the URL of the public keys is read from `<issuer>/.well-known/openid-configuration`.
    #[serde(default)]
    pub discover: bool,
    /// The accepted algorithms. Default: HS256 with `secrets`, otherwise RS256, ES256 and EdDSA.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub algorithms: Vec<JwtAlgorithm>,
    /// The cookie that holds the token, instead of the header `Authorization`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cookie: Option<String>,
    /// The names of the claims that are read.
    #[serde(default)]
    pub claims: JwtClaims,
    /// The accepted difference between clocks, in seconds: 0 to 300.
    #[serde(default = "default_leeway")]
    #[cfg_attr(any(test, feature = "checker"), schemars(range(max = MAX_LEEWAY_S)))]
    pub leeway_s: u32,
    /// The kind of the declaration in the card. A token in a cookie is declared as an API key.
    #[serde(default)]
    pub declared_as: DeclaredAs,
    /// The flow by which clients obtain tokens, for `declared_as = "oauth2"`: one flow, by its name in the card.
    #[serde(default, skip_serializing_if = "SortedMap::is_empty")]
    #[cfg_attr(any(test, feature = "checker"), schemars(extend("propertyNames" = {"enum": FLOWS})))]
    pub flows: SortedMap<String, OAuthFlow>,
    /// The URL of the authorization server's metadata (RFC 8414), for `declared_as = "oauth2"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oauth2_metadata_url: Option<String>,
}

/// The names of the claims that are read from a token. A name with dots is a path into nested objects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Decode)]
#[cfg_attr(any(test, feature = "checker"), derive(serde::Deserialize, schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct JwtClaims {
    /// The id of the caller: `sub` unless given.
    pub id: String,
    /// The caller's session: `session_id` unless given.
    pub session: String,
    /// The caller's permissions: `scope`, `scp` and `permissions` unless given. Each claim is a list, or a text that is
    /// split at spaces.
    pub permissions: Vec<String>,
}

impl Default for JwtClaims {
    fn default() -> Self {
        Self {
            id: "sub".to_owned(),
            session: "session_id".to_owned(),
            permissions: ["scope", "scp", "permissions"].map(str::to_owned).to_vec(),
        }
    }
}

/// A signature algorithm (RFC 7518, RFC 8037).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Decode)]
#[cfg_attr(any(test, feature = "checker"), derive(serde::Deserialize, schemars::JsonSchema))]
pub enum JwtAlgorithm {
    /// HMAC with SHA-256, and a shared secret.
    #[serde(rename = "HS256")]
    Hs256,
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    #[serde(rename = "RS256")]
    Rs256,
    /// ECDSA with P-256 and SHA-256.
    #[serde(rename = "ES256")]
    Es256,
    /// Ed25519.
    #[serde(rename = "EdDSA")]
    EdDsa,
}

/// The kind of the card's declaration of a scheme of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Decode)]
#[cfg_attr(any(test, feature = "checker"), derive(serde::Deserialize, schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum DeclaredAs {
    /// `httpAuthSecurityScheme` with `Bearer`, `JWT`.
    #[default]
    Http,
    /// `oauth2SecurityScheme` with `flows`.
    OAuth2,
    /// `openIdConnectSecurityScheme` with the discovery document of the issuer.
    #[serde(rename = "openIdConnect")]
    OpenIdConnect,
}

/// An OAuth 2.0 flow (spec §4.5.8 and following).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Decode)]
#[cfg_attr(any(test, feature = "checker"), derive(serde::Deserialize, schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct OAuthFlow {
    /// The page at which people allow access.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authorization_url: Option<String>,
    /// The URL from which devices request codes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_authorization_url: Option<String>,
    /// The URL from which clients request tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_url: Option<String>,
    /// The URL from which clients request new tokens for old ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refresh_url: Option<String>,
    /// True if PKCE (RFC 7636) is required.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pkce_required: bool,
    /// The scopes, each with a description.
    pub scopes: SortedMap<String, String>,
}

/// The token that Cloudflare Access sends in `Cf-Access-Jwt-Assertion`, signed with the keys of the team.
#[derive(Clone, Debug, PartialEq, Serialize, Decode)]
#[cfg_attr(any(test, feature = "checker"), derive(serde::Deserialize, schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CloudflareAccess {
    /// The description in the card, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The team domain, as `https://example.cloudflareaccess.com`.
    pub team: String,
    /// The audience tags of the applications, each of which is accepted.
    pub audience: Vec<String>,
    /// The names of the claims that are read. A service token has no `sub`; its caller is the claim `common_name`.
    #[serde(default)]
    pub claims: JwtClaims,
}

/// A client certificate that the platform has verified.
#[derive(Clone, Debug, PartialEq, Serialize, Decode)]
#[cfg_attr(any(test, feature = "checker"), derive(serde::Deserialize, schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MutualTls {
    /// The description in the card, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The accepted SHA-256 fingerprints, in hexadecimal digits. If empty, every certificate of a client authority that the
    /// zone trusts is accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fingerprints: Vec<String>,
    /// The permissions of the callers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permissions: Vec<String>,
}

/// The maximum accepted difference between clocks, in seconds.
#[cfg(any(test, feature = "checker"))]
pub(super) const MAX_LEEWAY_S: u32 = 300;

fn default_leeway() -> u32 {
    60
}

#[cfg(any(test, feature = "checker"))]
/// The names of the flows.
pub(super) const FLOWS: [&str; 3] = ["authorizationCode", "clientCredentials", "deviceCode"];
