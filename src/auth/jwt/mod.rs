//! JSON Web Tokens: which tokens are accepted, and the caller that they identify (RFC 7519, RFC 8725).

mod claims;
mod json;
mod parse;

use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};

use self::claims::Claims;
use self::parse::Token;
use super::known::KnownTokens;
use super::proof::{Proof, Proven, Refused};
use super::{KeySource, TokenDigest, UncheckedToken, Verdict};
use a2a::model::UnixMillis;
use a2a_agents::access::{JwtAlgorithm, JwtClaims};

/// The tokens that a scheme accepts.
pub(super) struct TokenRules {
    /// A name that no other scheme of the deployment has.
    pub(super) scheme: String,
    /// The required issuer; `None` accepts any.
    pub(super) issuer: Option<String>,
    /// The accepted audiences: the token must have at least one of them.
    pub(super) audience: Vec<String>,
    /// The accepted algorithms, all of which fit the keys.
    pub(super) algorithms: Vec<JwtAlgorithm>,
    pub(super) keys: Keys,
    pub(super) claims: JwtClaims,
    /// The claim with the caller's id if the claim named in `claims` is missing.
    pub(super) id_otherwise: Option<&'static str>,
    /// The claim that names the caller's group.
    pub(super) share_by: Option<String>,
    /// The accepted difference between clocks, in milliseconds.
    pub(super) leeway_ms: u64,
}

/// The keys with which signatures are checked.
pub(super) enum Keys {
    /// Secrets that the issuer has, too.
    Shared(Vec<Hmac<Sha256>>),
    /// Public keys of the issuer.
    Public(KeySource),
}

/// The result of checking a token's signature, if it was checked in this request.
pub(super) type Verdicts<'a> = &'a dyn Fn(&TokenDigest) -> Option<Verdict>;

impl TokenRules {
    /// Identifies the caller of a token.
    pub(super) fn prove(
        &self,
        text: &str,
        known: &KnownTokens,
        verdict: Verdicts<'_>,
        now: UnixMillis,
    ) -> Proof {
        let digest = self.digest(text);
        if let Some(proven) = known.find(&digest, now) {
            return Proof::Passed(proven);
        }
        let judged = Token::parse(text, &self.algorithms)
            .and_then(|token| Ok((self.judge(&token, now)?, token)));
        let (proven, token) = match judged {
            Ok(judged) => judged,
            Err(refused) => return Proof::Refused(refused),
        };
        let genuine = match &self.keys {
            Keys::Shared(secrets) => {
                if is_signed(&token, secrets) {
                    Verdict::Genuine
                } else {
                    Verdict::Refused("the signature of the token is wrong")
                }
            }
            Keys::Public(source) => match verdict(&digest) {
                Some(verdict) => verdict,
                None => return Proof::Unchecked(unchecked(token, digest, source)),
            },
        };
        match genuine {
            Verdict::Genuine => {
                known.keep(digest, &proven, now);
                Proof::Passed(proven)
            }
            Verdict::Refused(reason) => Proof::Refused(Refused::because(reason)),
            Verdict::Unavailable => Proof::Unavailable,
        }
    }

    /// Identifies the caller of a token, provided that its signature is right.
    fn judge(&self, token: &Token<'_>, now: UnixMillis) -> Result<Proven, Refused> {
        let claims = Claims(&token.claims);
        if self.issuer.as_ref().is_some_and(|issuer| !claims.is_from(issuer)) {
            return Err(Refused::foreign("the token is of another issuer"));
        }
        if !claims.is_for(&self.audience).map_err(Refused::because)? {
            return Err(Refused::because("the token is for another audience"));
        }
        let instant = |name| claims.instant(name).map_err(Refused::because);
        let expires_at = instant("exp")?;
        let expires_at = expires_at.ok_or_else(|| Refused::because("the token never expires"))?;
        let expires_at = expires_at.after(self.leeway_ms);
        if now >= expires_at {
            return Err(Refused::because("the token has expired"));
        }
        for (name, reason) in
            [("nbf", "the token is not valid yet"), ("iat", "the token is from the future")]
        {
            if instant(name)?.is_some_and(|instant| instant > now.after(self.leeway_ms)) {
                return Err(Refused::because(reason));
            }
        }
        let text = |name: &str| claims.id(name).map_err(Refused::because);
        let mut subject = text(&self.claims.id)?;
        if let (None, Some(otherwise)) = (&subject, self.id_otherwise) {
            subject = text(otherwise)?;
        }
        let missing = || Refused::because(format!("the token has no claim {}", self.claims.id));
        let group = self.share_by.as_deref().map_or(Ok(None), text)?;
        let permissions = claims.permissions(&self.claims.permissions);
        Ok(Proven {
            subject: subject.ok_or_else(missing)?,
            session: text(&self.claims.session)?,
            permissions: permissions.map_err(Refused::because)?,
            group,
            expires_at: Some(expires_at),
        })
    }

    fn digest(&self, text: &str) -> TokenDigest {
        let digest = Sha256::new().chain_update(&self.scheme).chain_update([0]).chain_update(text);
        TokenDigest(digest.finalize().into())
    }
}

/// True if a token was signed with one of the secrets. All are tried, and each comparison takes constant time.
fn is_signed(token: &Token<'_>, secrets: &[Hmac<Sha256>]) -> bool {
    let is_right = |secret: &Hmac<Sha256>| {
        let mac = secret.clone().chain_update(token.signing_input);
        mac.verify_slice(&token.signature).is_ok()
    };
    secrets.iter().fold(false, |found, secret| is_right(secret) | found)
}

fn unchecked(token: Token<'_>, digest: TokenDigest, source: &KeySource) -> UncheckedToken {
    UncheckedToken {
        digest,
        source: source.clone(),
        kid: token.kid,
        algorithm: token.algorithm,
        signing_input: token.signing_input.to_owned(),
        signature: token.signature,
    }
}

#[cfg(test)]
mod tests;
