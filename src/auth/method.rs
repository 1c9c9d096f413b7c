//! One scheme of a policy, with the secrets and variables of the deployment: the place of its credential, and the rules
//! that identify the caller.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};

use super::certificate::{CertificateRules, normal_fingerprint};
use super::credential::Shown;
use super::jwt::{Keys, TokenRules, Verdicts};
use super::keyring::{Keyring, Vault};
use super::known::KnownTokens;
use super::origin::check_origin;
use super::proof::{Proof, Proven, Refused};
use super::{Evidence, KeySource};
use a2a::model::UnixMillis;
use a2a_agents::access::{ASSERTION, CloudflareAccess, Jwt, JwtAlgorithm, KeyLocation, Scheme};
use a2a_agents::{Expandable, Values};

/// A scheme that identifies the callers of requests.
pub(super) struct Method {
    /// The name of the scheme in the agent file.
    pub(super) name: String,
    /// The place of the credential.
    pub(super) place: Place,
    /// True if a browser adds the credential itself, for any page that sends a request.
    pub(super) is_ambient: bool,
    rules: Rules,
}

/// The place of a credential in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In `Authorization`, behind `Bearer`.
    Bearer,
    /// In `Authorization`, behind `Basic`.
    Basic,
    /// The whole value of this header, whose name is in lower case.
    Header(String),
    /// In this parameter of the query.
    Query(String),
    /// In this cookie.
    Cookie(String),
    /// In the header in which Cloudflare Access names the admitted user.
    CloudflareAccess,
    /// In the handshake of the connection.
    Certificate,
}

enum Rules {
    /// A secret that identifies a caller.
    Secret(Keyring),
    /// A name and its secret.
    Password(Keyring),
    Token(TokenRules),
    Certificate(CertificateRules),
}

/// The data for judging a request, other than its evidence.
#[derive(Clone, Copy)]
pub(super) struct Circumstances<'a> {
    pub(super) known: &'a KnownTokens,
    pub(super) verdict: Verdicts<'a>,
    pub(super) allowed_origins: &'a [String],
    pub(super) now: UnixMillis,
}

/// The data from which schemes are made.
pub(super) struct Making<'a> {
    /// The slug of the agent.
    pub(super) agent: &'a str,
    pub(super) vault: Vault<'a>,
    pub(super) values: &'a dyn Values,
    /// The claim that names groups.
    pub(super) share_by: Option<&'a str>,
}

impl Method {
    /// Makes the scheme of this name.
    ///
    /// # Errors
    ///
    /// The mistake in the scheme, or in the secrets and variables that it needs.
    pub(super) fn new(name: &str, scheme: &Scheme, making: &Making<'_>) -> Result<Self, String> {
        let keyring =
            |callers, is_alone| Keyring::new(callers, making.share_by, &making.vault, is_alone);
        let (place, rules) = match scheme {
            Scheme::ApiKey(key) => {
                let place = match key.location {
                    KeyLocation::Header => Place::Header(key.name.to_ascii_lowercase()),
                    KeyLocation::Query => Place::Query(key.name.clone()),
                    KeyLocation::Cookie => Place::Cookie(key.name.clone()),
                };
                (place, Rules::Secret(keyring(&key.callers, true)?))
            }
            Scheme::Bearer(bearer) => {
                (Place::Bearer, Rules::Secret(keyring(&bearer.callers, true)?))
            }
            Scheme::Basic(basic) => {
                (Place::Basic, Rules::Password(keyring(&basic.callers, false)?))
            }
            Scheme::Jwt(jwt) => {
                let place = jwt.cookie.clone().map_or(Place::Bearer, Place::Cookie);
                (place, Rules::Token(making.token_rules(name, jwt)?))
            }
            Scheme::CloudflareAccess(access) => {
                (Place::CloudflareAccess, Rules::Token(making.access_rules(name, access)?))
            }
            Scheme::MutualTls(tls) => {
                let normal = |print: &String| {
                    let wrong = || format!("{print:?} is no SHA-256 fingerprint");
                    normal_fingerprint(print).ok_or_else(wrong)
                };
                let fingerprints = tls.fingerprints.iter().map(normal).collect::<Result<_, _>>()?;
                let permissions = tls.permissions.clone();
                (
                    Place::Certificate,
                    Rules::Certificate(CertificateRules { fingerprints, permissions }),
                )
            }
        };
        Ok(Self { name: name.to_owned(), place, is_ambient: scheme.is_ambient(), rules })
    }

    /// The order of schemes if several are required: the first one identifies the caller.
    pub(super) fn rank(&self) -> u8 {
        match (&self.rules, &self.place) {
            (Rules::Token(_), Place::CloudflareAccess) => 1,
            (Rules::Token(_), _) => 0,
            (Rules::Password(_), _) => 2,
            (Rules::Secret(_), Place::Bearer) => 3,
            (Rules::Secret(_), _) => 4,
            (Rules::Certificate(_), _) => 5,
        }
    }

    /// Identifies the caller of a request by this scheme.
    pub(super) fn prove(&self, evidence: &Evidence<'_>, given: Circumstances<'_>) -> Proof {
        if let (Rules::Certificate(rules), reported) =
            (&self.rules, evidence.header(Evidence::CERTIFICATE))
        {
            let judged = reported.and_then(|reported| rules.prove(reported, given.now));
            return judged
                .map_or(Proof::Absent, |judged| self.guarded(evidence, given, || judged.into()));
        }
        match self.place.shown(evidence) {
            Shown::Nothing => Proof::Absent,
            Shown::Wrongly(reason) => Proof::Refused(Refused::because(reason)),
            Shown::Once(credential) => {
                self.guarded(evidence, given, || self.judge(&credential, given))
            }
        }
    }

    /// True if a wrong credential may be a guess. A certificate cannot be guessed: whoever sends one possesses its key.
    pub(super) fn can_be_guessed(&self) -> bool {
        self.place != Place::Certificate
    }

    /// True if a request contains a value in the place of this scheme.
    pub(super) fn is_shown(&self, evidence: &Evidence<'_>) -> bool {
        match &self.rules {
            Rules::Certificate(_) => evidence.header(Evidence::CERTIFICATE).is_some(),
            _ => !matches!(self.place.shown(evidence), Shown::Nothing),
        }
    }

    /// The proof, if the credential is allowed in a request of this kind.
    fn guarded(
        &self,
        evidence: &Evidence<'_>,
        given: Circumstances<'_>,
        prove: impl FnOnce() -> Proof,
    ) -> Proof {
        if self.is_ambient
            && let Err(reason) = check_origin(evidence, given.allowed_origins)
        {
            return Proof::Forbidden(reason);
        }
        prove()
    }

    fn judge(&self, credential: &str, given: Circumstances<'_>) -> Proof {
        let unknown = |what: &str| Refused::foreign(format!("the {what} is not known"));
        match &self.rules {
            Rules::Secret(keys) => {
                let what = if self.place == Place::Bearer { "token" } else { "key" };
                keys.find(credential).ok_or_else(|| unknown(what)).into()
            }
            Rules::Password(keys) => password(keys, credential).into(),
            Rules::Token(rules) => rules.prove(credential, given.known, given.verdict, given.now),
            Rules::Certificate(_) => Proof::Absent,
        }
    }
}

fn password(keys: &Keyring, credential: &str) -> Result<Proven, Refused> {
    let decoded = STANDARD.decode(credential).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let known = decoded.as_deref().and_then(|pair| pair.split_once(':'));
    let proven = known.and_then(|(name, password)| keys.find_named(name, password));
    proven.ok_or_else(|| Refused::because("the name or the password is wrong"))
}

impl Place {
    fn shown<'e>(&self, evidence: &'e Evidence<'_>) -> Shown<'e> {
        match self {
            Self::Bearer => evidence.authorization("bearer"),
            Self::Basic => evidence.authorization("basic"),
            Self::Header(name) => evidence.whole_header(name),
            Self::Query(name) => evidence.query_parameter(name),
            Self::Cookie(name) => evidence.cookie(name),
            Self::CloudflareAccess => evidence.whole_header(ASSERTION),
            Self::Certificate => Shown::Nothing,
        }
    }
}

impl Making<'_> {
    fn token_rules(&self, name: &str, jwt: &Jwt) -> Result<TokenRules, String> {
        let issuer = jwt.issuer.as_deref().map(|issuer| self.text("issuer", issuer)).transpose()?;
        let source = match (&jwt.jwks_url, jwt.discover, &issuer) {
            _ if !jwt.secrets.is_empty() => None,
            (Some(url), _, _) => Some(KeySource::KeySet(self.url("jwks_url", url)?)),
            (None, true, Some(issuer)) => Some(KeySource::Discovery(self.url("issuer", issuer)?)),
            (None, _, _) => return Err("needs `secrets`, `jwks_url` or `discover`".to_owned()),
        };
        let (keys, fitting) = match source {
            Some(_) if issuer.is_none() => {
                return Err("needs `issuer`, as everybody may use a public key".to_owned());
            }
            Some(source) => (Keys::Public(source), PUBLIC),
            None => {
                let secrets = self.vault.secrets(&jwt.secrets, LEAST_HS256_BYTES)?;
                let key = |(_, secret): &(&str, a2a::model::Secret)| {
                    Hmac::new_from_slice(secret.reveal().as_bytes()).ok()
                };
                (Keys::Shared(secrets.iter().filter_map(key).collect()), SHARED)
            }
        };
        let algorithms = match jwt.algorithms.as_slice() {
            [] => fitting.to_vec(),
            chosen if chosen.iter().all(|algorithm| fitting.contains(algorithm)) => chosen.to_vec(),
            _ => return Err("`algorithms` must fit the keys: HS256 for `secrets` alone".to_owned()),
        };
        Ok(TokenRules {
            scheme: self.scheme(name),
            issuer,
            audience: self.audience(&jwt.audience)?,
            algorithms,
            keys,
            claims: jwt.claims.clone(),
            id_otherwise: None,
            share_by: self.share_by.map(str::to_owned),
            leeway_ms: u64::from(jwt.leeway_s) * 1000,
        })
    }

    fn access_rules(&self, name: &str, access: &CloudflareAccess) -> Result<TokenRules, String> {
        let team = self.url("team", &access.team)?;
        let team = team.trim_end_matches('/');
        Ok(TokenRules {
            scheme: self.scheme(name),
            issuer: Some(team.to_owned()),
            audience: self.audience(&access.audience)?,
            algorithms: vec![JwtAlgorithm::Rs256],
            keys: Keys::Public(KeySource::KeySet(format!("{team}/cdn-cgi/access/certs"))),
            claims: access.claims.clone(),
            id_otherwise: Some("common_name"),
            share_by: self.share_by.map(str::to_owned),
            leeway_ms: ACCESS_LEEWAY_MS,
        })
    }

    /// The unique name of a scheme: no two schemes of a deployment have the same.
    fn scheme(&self, name: &str) -> String {
        format!("{} {name}", self.agent)
    }

    fn audience(&self, audience: &[String]) -> Result<Vec<String>, String> {
        if audience.is_empty() {
            return Err("`audience` must not be empty".to_owned());
        }
        audience.iter().map(|audience| self.text("audience", audience)).collect()
    }

    /// A text with its variables filled in.
    fn text(&self, key: &str, text: &str) -> Result<String, String> {
        let expandable = Expandable::parse(text).map_err(|problem| format!("`{key}` {problem}"))?;
        let expanded = expandable.expand(self.values);
        let expanded = expanded.map_err(|missing| format!("`{key}`: {missing}"))?;
        match expanded.reveal() {
            "" => Err(format!("`{key}` must not be empty")),
            expanded => Ok(expanded.to_owned()),
        }
    }

    fn url(&self, key: &str, text: &str) -> Result<String, String> {
        let url = self.text(key, text)?;
        let checked = a2a_agents::access::check_url(&url);
        checked.map(|()| url).map_err(|rule| format!("`{key}` {rule}"))
    }
}

const SHARED: &[JwtAlgorithm] = &[JwtAlgorithm::Hs256];
const PUBLIC: &[JwtAlgorithm] = &[JwtAlgorithm::Rs256, JwtAlgorithm::Es256, JwtAlgorithm::EdDsa];

/// The shortest secret for HS256 outside of development, in bytes (RFC 7518 §3.2): the owner of a token can try secrets
/// offline.
const LEAST_HS256_BYTES: usize = 32;

/// The accepted difference to the clocks of Cloudflare Access, in milliseconds.
const ACCESS_LEEWAY_MS: u64 = 60_000;
