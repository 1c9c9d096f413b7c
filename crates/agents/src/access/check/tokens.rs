//! Checks schemes whose credentials are JSON Web Tokens. The module `declaration` checks how cards declare them.

use super::Problems;
use super::callers::check_secrets;
use crate::access::url::{check_origin, check_url};
use crate::access::{CloudflareAccess, Jwt, JwtAlgorithm, JwtClaims, MAX_LEEWAY_S};
use crate::{Expandable, Problem};

/// The problems of a scheme of the kind `jwt`.
pub(super) fn check_jwt(jwt: &Jwt) -> Problems {
    let mut problems = check_keys(jwt);
    problems.extend(check_audience(&jwt.audience));
    problems.extend(check_claims(&jwt.claims));
    if jwt.leeway_s > MAX_LEEWAY_S {
        let fix = format!("must be from 0 to {MAX_LEEWAY_S}, got {}", jwt.leeway_s);
        problems.push(Problem::at("leeway_s", fix));
    }
    problems
}

/// The problems of a scheme of the kind `cloudflare_access`.
pub(super) fn check_access(access: &CloudflareAccess) -> Problems {
    let mut problems = check_audience(&access.audience);
    problems.extend(check_claims(&access.claims));
    let team = access.team.strip_suffix('/').unwrap_or(&access.team);
    let fix = check_text(&access.team)
        .and_then(|literal| if literal { check_origin(team) } else { Ok(()) });
    if let Err(fix) = fix {
        let fix =
            format!("{fix}; it is the team domain, as \"https://example.cloudflareaccess.com\"");
        problems.push(Problem::at("team", fix));
    }
    problems
}

fn check_keys(jwt: &Jwt) -> Problems {
    let mut problems = Vec::new();
    let mut report = |key: &str, fix: &str| problems.push(Problem::at(key, fix));
    let sources = [!jwt.secrets.is_empty(), jwt.jwks_url.is_some(), jwt.discover];
    let key = if jwt.secrets.is_empty() { "jwks_url" } else { "secrets" };
    match sources.iter().filter(|is_given| **is_given).count() {
        1 => {}
        0 => report(
            key,
            "is needed, or `discover = true` with an `issuer`, or `secrets` for HS256: where the keys are",
        ),
        _ => report(
            key,
            "stands beside another place of keys; keep one of `secrets`, `jwks_url` and `discover`",
        ),
    }
    let is_shared = !jwt.secrets.is_empty();
    match (&jwt.issuer, is_shared) {
        (None, false) => {
            report("issuer", "is needed with public keys: the claim `iss` that tokens must have")
        }
        (None, true) => {}
        (Some(issuer), _) => match check_text(issuer) {
            Err(fix) => report("issuer", &fix),
            Ok(true) if jwt.discover => {
                if let Err(fix) = check_url(issuer) {
                    report("issuer", &fix);
                }
            }
            Ok(_) => {}
        },
    }
    if let Some(url) = &jwt.jwks_url {
        let fix = check_text(url).and_then(|literal| if literal { check_url(url) } else { Ok(()) });
        if let Err(fix) = fix {
            report("jwks_url", &fix);
        }
    }
    for (index, algorithm) in jwt.algorithms.iter().enumerate() {
        let key = format!("algorithms[{index}]");
        match (*algorithm == JwtAlgorithm::Hs256, is_shared) {
            (true, false) => report(
                &key,
                "is HS256, which is for `secrets`: with public keys everybody could sign by it",
            ),
            (false, true) => {
                report(&key, "needs public keys, and there are `secrets`, which are for HS256")
            }
            _ if jwt.algorithms.iter().take(index).any(|earlier| earlier == algorithm) => {
                report(&key, "stands twice");
            }
            _ => {}
        }
    }
    if is_shared {
        problems.extend(check_secrets(&jwt.secrets, "secrets"));
    }
    problems
}

fn check_audience(audience: &[String]) -> Problems {
    if audience.is_empty() {
        let fix = "must not be empty: a token that was given out for another service would let its bearer in here";
        return vec![Problem::at("audience", fix)];
    }
    let wrong = audience.iter().enumerate().filter_map(|(index, audience)| {
        Some(Problem::at(format!("audience[{index}]"), check_text(audience).err()?))
    });
    wrong.collect()
}

fn check_claims(claims: &JwtClaims) -> Problems {
    let named = [("claims.id", &claims.id), ("claims.session", &claims.session)];
    let lists = claims.permissions.iter().map(|name| ("claims.permissions", name));
    let wrong = named.into_iter().chain(lists).filter(|(_, name)| {
        name.is_empty() || name.trim() != name.as_str() || name.split('.').any(str::is_empty)
    });
    let fix = "must be the name of a claim, as \"sub\", or names with dots that lead into objects";
    wrong.map(|(key, _)| Problem::at(key, fix)).collect()
}

/// Checks a text: not empty, no spaces at its ends, and valid placeholders. Returns true if the text contains no
/// variables.
fn check_text(text: &str) -> Result<bool, String> {
    if text.is_empty() || text.trim() != text {
        return Err("must not be empty, and have no spaces at its ends".to_owned());
    }
    let expandable = Expandable::parse(text)?;
    Ok(expandable.values().next().is_none())
}
