//! Parses JSON Web Tokens in compact form (RFC 7515 §7.1). Nothing is verified here.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

use super::json::read_object;
use crate::auth::proof::Refused;
use a2a_agents::access::JwtAlgorithm;

/// A parsed token.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token<'a> {
    /// The algorithm that the header names.
    pub(super) algorithm: JwtAlgorithm,
    /// The name of the key that signed the token.
    pub(super) kid: Option<String>,
    /// The claims of the token.
    pub(super) claims: Map<String, Value>,
    /// The text that is signed.
    pub(super) signing_input: &'a str,
    /// The signature.
    pub(super) signature: Vec<u8>,
}

impl<'a> Token<'a> {
    /// Parses a token that names one of these algorithms.
    ///
    /// # Errors
    ///
    /// The reason why the token cannot be accepted.
    pub(super) fn parse(text: &'a str, algorithms: &[JwtAlgorithm]) -> Result<Self, Refused> {
        let not_a_token = || Refused::foreign("the credential is not a JSON Web Token");
        let parts: Vec<&str> = text.splitn(4, '.').collect();
        let [header, claims, signature] = parts.as_slice() else { return Err(not_a_token()) };
        let bytes = |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_| not_a_token());
        let header = read_object(&bytes(header)?).ok_or_else(|| {
            Refused::because("the header of the token is not a JSON object with each member once")
        })?;
        let algorithm = check_header(&header, algorithms).map_err(Refused::because)?;
        let kid = read_kid(&header).map_err(Refused::because)?;
        let claims = read_object(&bytes(claims)?).ok_or_else(|| {
            Refused::because("the claims of the token are not a JSON object with each member once")
        })?;
        let signature = bytes(signature)?;
        let length = signature.len();
        let fits = match algorithm {
            JwtAlgorithm::Hs256 => length == 32,
            JwtAlgorithm::Es256 | JwtAlgorithm::EdDsa => length == 64,
            // Keys of 2048 to 8192 bits.
            JwtAlgorithm::Rs256 => (256..=1024).contains(&length),
        };
        if !fits {
            return Err(Refused::because("the signature of the token is wrong"));
        }
        let signed = text.len() - parts.last().map_or(0, |last| last.len()) - 1;
        let signing_input = text.get(..signed).unwrap_or_default();
        Ok(Self { algorithm, kid, claims, signing_input, signature })
    }
}

/// The algorithm that a header names, if it is one of `algorithms`. A header can add neither an algorithm nor a key to
/// those that are accepted.
fn check_header(
    header: &Map<String, Value>,
    algorithms: &[JwtAlgorithm],
) -> Result<JwtAlgorithm, &'static str> {
    if KEYS_IN_HEADERS.iter().any(|name| header.contains_key(*name)) {
        return Err("the token brings a key along or names its place (jku, jwk, x5u)");
    }
    if CHANGED_RULES.iter().any(|name| header.contains_key(*name)) {
        return Err("the token asks for extensions of its format (crit, b64, enc, zip)");
    }
    match header.get("typ") {
        None => {}
        Some(Value::String(typ)) if TYPES.iter().any(|known| known.eq_ignore_ascii_case(typ)) => {}
        Some(_) => return Err("the type of the token is neither JWT nor at+jwt"),
    }
    let named = header.get("alg").and_then(Value::as_str).unwrap_or_default();
    let found = algorithms.iter().find(|algorithm| name_of(**algorithm) == named);
    found.copied().ok_or("the token is signed with an algorithm that is not taken")
}

/// The name of the key in a header. It is only compared with the names of keys.
fn read_kid(header: &Map<String, Value>) -> Result<Option<String>, &'static str> {
    match header.get("kid") {
        None => Ok(None),
        Some(Value::String(kid))
            if !kid.is_empty()
                && kid.len() <= MAX_KID_BYTES
                && !kid.chars().any(char::is_control) =>
        {
            Ok(Some(kid.clone()))
        }
        Some(_) => Err("the name of the key (kid) is not a text of 1 to 256 bytes"),
    }
}

fn name_of(algorithm: JwtAlgorithm) -> &'static str {
    match algorithm {
        JwtAlgorithm::Hs256 => "HS256",
        JwtAlgorithm::Rs256 => "RS256",
        JwtAlgorithm::Es256 => "ES256",
        JwtAlgorithm::EdDsa => "EdDSA",
    }
}

/// Members with which a token would choose its own key. The members for certificates that well-known providers send
/// (`x5c`, `x5t`) are ignored.
const KEYS_IN_HEADERS: [&str; 3] = ["jku", "jwk", "x5u"];

/// Members that change what the parts of a token mean (RFC 7515 §4.1.11, RFC 7797, RFC 7516).
const CHANGED_RULES: [&str; 4] = ["crit", "b64", "enc", "zip"];

/// The types of tokens that grant access (RFC 7519 §5.1, RFC 9068 §2.1).
const TYPES: [&str; 4] = ["JWT", "at+jwt", "application/jwt", "application/at+jwt"];

/// The longest name of a key.
const MAX_KID_BYTES: usize = 256;
