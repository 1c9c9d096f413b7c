//! How callers prove who they are: `[access.schemes.<name>]`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A scheme. Texts with `${NAME}` are expanded with the variables of the deployment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// What Cloudflare Access says in `Cf-Access-Jwt-Assertion`.
    CloudflareAccess(CloudflareAccess),
    /// A client certificate that the platform has verified.
    MutualTls(MutualTls),
}

impl Scheme {
    /// The ids of the callers that it knows; `None` for a scheme that lists none.
    pub fn callers(&self) -> Option<impl Iterator<Item = &str>> {
        let callers = self.static_callers()?;
        Some(callers.iter().map(|caller| caller.id.as_str()))
    }

    /// Whether the caller of this id is the same one for both schemes, and may do the same: it has the same secrets, or its
    /// tokens are checked and read alike. Where a secret is shown does not count.
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApiKey {
    /// Where it is.
    #[serde(rename = "in", default)]
    pub location: KeyLocation,
    /// The name of the header, of the query parameter or of the cookie.
    pub name: String,
    /// For people, in the card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whose keys there are.
    pub callers: Vec<StaticCaller>,
}

/// Where a key is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StaticBearer {
    /// For people, in the card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whose tokens there are.
    pub callers: Vec<StaticCaller>,
}

/// A name and a password (RFC 7617). The name is the id of a caller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Basic {
    /// For people, in the card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whose passwords there are.
    pub callers: Vec<StaticCaller>,
}

/// A caller who shows a secret of the deployment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StaticCaller {
    /// Who it is. The id of the caller is this behind the name of the scheme, as `key:billing`.
    pub id: String,
    /// The names of Worker secrets, any of which is taken: two while one replaces the other. One that is not set is
    /// passed over; none at all is a fault of the deployment.
    pub secrets: Vec<String>,
    /// What the caller may do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permissions: Vec<String>,
    /// Its claims, for `share_by`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub claims: BTreeMap<String, String>,
}

/// A JSON Web Token (RFC 7519). Its keys are one of `secrets`, `jwks_url` and `discover`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jwt {
    /// For people, in the card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The claim `iss` that tokens must have. Needed unless there are `secrets`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// One of these must be in the claim `aud`.
    pub audience: Vec<String>,
    /// The names of Worker secrets for HS256: two while one replaces the other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// Where the public keys are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jwks_url: Option<String>,
    /// Whether `<issuer>/.well-known/openid-configuration` says where the public keys are.
    #[serde(default)]
    pub discover: bool,
    /// The algorithms that are taken. Without it HS256 with `secrets`, else RS256, ES256 and EdDSA.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub algorithms: Vec<JwtAlgorithm>,
    /// The cookie that holds the token, instead of the header `Authorization`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cookie: Option<String>,
    /// Which claims say what.
    #[serde(default)]
    pub claims: JwtClaims,
    /// By how much clocks may differ, in seconds: 0 to 300.
    #[serde(default = "default_leeway")]
    pub leeway_s: u32,
    /// How the card declares it. A token in a cookie is declared as an API key.
    #[serde(default)]
    pub declared_as: DeclaredAs,
    /// Where tokens are to be had, for `declared_as = "oauth2"`: one flow, by its name in the card.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub flows: BTreeMap<String, OAuthFlow>,
    /// Metadata of the authorization server (RFC 8414), for `declared_as = "oauth2"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oauth2_metadata_url: Option<String>,
}

/// Which claims of a token say what. A name with dots leads into objects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JwtClaims {
    /// Who the caller is: `sub`.
    pub id: String,
    /// The caller's session: `session_id`.
    pub session: String,
    /// What the caller may do: `scope`, `scp` and `permissions`, each a list or a text with spaces.
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

/// An algorithm of signatures (RFC 7518, RFC 8037).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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

/// How the card declares a scheme of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OAuthFlow {
    /// Where people allow it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authorization_url: Option<String>,
    /// Where devices ask for codes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_authorization_url: Option<String>,
    /// Where tokens are given out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_url: Option<String>,
    /// Where tokens are renewed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refresh_url: Option<String>,
    /// Whether PKCE (RFC 7636) is needed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pkce_required: bool,
    /// The scopes, each with a description.
    pub scopes: BTreeMap<String, String>,
}

/// What Cloudflare Access says in `Cf-Access-Jwt-Assertion`. Its keys are those of the team.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CloudflareAccess {
    /// For people, in the card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The team domain, as `https://example.cloudflareaccess.com`.
    pub team: String,
    /// The audience tags of the applications, any of which is taken.
    pub audience: Vec<String>,
    /// Which claims say what. For a service token, which has no `sub`, the claim `common_name` is the caller.
    #[serde(default)]
    pub claims: JwtClaims,
}

/// A client certificate that the platform has verified.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MutualTls {
    /// For people, in the card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The SHA-256 fingerprints that are taken, in hexadecimal digits; without any, every certificate of a client
    /// authority that the zone trusts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fingerprints: Vec<String>,
    /// What the callers may do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permissions: Vec<String>,
}

fn default_leeway() -> u32 {
    60
}
