//! Checks the table `[access]`. Only the checker uses this module.

mod callers;
mod gate;
mod place;
mod tokens;

#[cfg(test)]
mod tests;

use self::callers::check_callers;
use self::place::{check_place, place_of};
use self::tokens::{check_access, check_jwt};
use super::{Access, MutualTls, Scheme, StaticCaller};
use crate::Problem;
use a2a::sorted::SortedMap;

/// Problems with keys below `access`, each with the fix.
pub(super) type Problems = Vec<Problem>;

/// All problems of a table, each with its key in the file and the fix.
pub(crate) fn problems_of(access: &Access) -> Problems {
    let mut problems = check_whole(access);
    problems.extend(check_requirements(access));
    problems.extend(check_pairs(&access.schemes));
    for (name, scheme) in &access.schemes {
        if let Err(fix) = check_scheme_name(name) {
            problems.push(Problem::at(format!("schemes.{name}"), fix));
        }
        let found = check_scheme(scheme).into_iter();
        problems.extend(found.map(|problem| problem.under(&format!("schemes.{name}."))));
    }
    problems.into_iter().map(|problem| problem.under("access.")).collect()
}

/// True if the same name means the same scheme in two agents. The ids of callers begin with the name of the scheme, and
/// quotas and the counters of tools count per id over all agents.
pub(crate) fn is_same_scheme(one: &Scheme, other: &Scheme) -> bool {
    let agree = |one: &[StaticCaller], other: &[StaticCaller]| {
        let is_same = |caller: &StaticCaller| {
            let named = other.iter().find(|known| known.id == caller.id);
            named.is_none_or(|known| known.secrets == caller.secrets)
        };
        one.iter().all(is_same)
    };
    match (one, other) {
        (Scheme::ApiKey(one), Scheme::ApiKey(other)) => agree(&one.callers, &other.callers),
        (Scheme::Bearer(one), Scheme::Bearer(other)) => agree(&one.callers, &other.callers),
        (Scheme::Basic(one), Scheme::Basic(other)) => agree(&one.callers, &other.callers),
        (Scheme::Jwt(one), Scheme::Jwt(other)) => {
            let keys = |jwt: &super::Jwt| (jwt.secrets.clone(), jwt.jwks_url.clone(), jwt.discover);
            one.issuer == other.issuer
                && keys(one) == keys(other)
                && one.claims.id == other.claims.id
        }
        (Scheme::CloudflareAccess(one), Scheme::CloudflareAccess(other)) => {
            one.team == other.team && one.claims.id == other.claims.id
        }
        (Scheme::MutualTls(_), Scheme::MutualTls(_)) => true,
        _ => false,
    }
}

fn check_whole(access: &Access) -> Problems {
    let mut problems = Vec::new();
    let mut report = |key: &str, fix: &str| problems.push(Problem::at(key, fix));
    let has_schemes = !access.schemes.is_empty();
    for (key, is_set) in [
        ("open", access.open),
        ("open_listing", access.open_listing),
        ("open_webhooks", access.open_webhooks),
    ] {
        if has_schemes && is_set {
            report(
                key,
                "is for agents that everybody may call, and this one has schemes; remove one of the two",
            );
        }
    }
    if access.schemes.len() > MAX_SCHEMES {
        report("schemes", &format!("must be {MAX_SCHEMES} at most"));
    }
    match access.share_by.as_deref() {
        Some(_) if !has_schemes => {
            report("share_by", "needs schemes, by which callers have claims")
        }
        Some(claim) if claim.trim() != claim || claim.is_empty() => {
            report("share_by", "must be the name of a claim, as \"team\"");
        }
        Some(_) | None => {}
    }
    if let Err(fix) = check_permission(&access.operator) {
        report("operator", &fix);
    }
    if access.authorization_is_for_task && !access.may_hand_authorization_to_tasks() {
        let fix = "takes the header Authorization for tasks, but a scheme reads it; remove one of the two";
        report("authorization_is_for_task", fix);
    }
    problems
}

fn check_requirements(access: &Access) -> Problems {
    let mut problems = Vec::new();
    let known = || {
        if access.schemes.is_empty() {
            "none".to_owned()
        } else {
            access.schemes.keys().cloned().collect::<Vec<_>>().join(", ")
        }
    };
    for (index, requirement) in access.requires.iter().enumerate() {
        let key = format!("requires[{index}]");
        if requirement.is_empty() {
            let fix = "names no scheme, so that everybody would pass; remove it".to_owned();
            problems.push(Problem::at(key.clone(), fix));
        }
        for (name, scopes) in requirement {
            let key = format!("{key}.{name}");
            let Some(scheme) = access.schemes.get(name) else {
                problems.push(Problem::at(
                    key,
                    format!("there is no scheme {name:?}; there are: {}", known()),
                ));
                continue;
            };
            for scope in scopes {
                if let Err(fix) = check_permission(scope) {
                    problems
                        .push(Problem::at(key.clone(), format!("holds {scope:?}, which {fix}")));
                }
            }
            if !can_have(scheme, scopes) {
                let fix =
                    "asks for scopes that nobody has; add them to the permissions of a caller";
                problems.push(Problem::at(key, fix));
            }
        }
        problems
            .extend(check_together(access, requirement.keys()).map(|fix| Problem::at(key, fix)));
    }
    if !access.requires.is_empty() {
        let is_unused = |name: &String| access.requires.iter().all(|all| !all.contains_key(name));
        for name in access.schemes.keys().filter(|name| is_unused(name)) {
            let fix = "stands in no entry of `access.requires`, so that nobody gets in by it; name it there or remove it";
            problems.push(Problem::at(format!("schemes.{name}"), fix));
        }
    }
    problems
}

/// Reports two schemes of one requirement whose credentials are in the same place: no request can contain both.
fn check_together<'a>(access: &Access, names: impl Iterator<Item = &'a String>) -> Option<String> {
    let mut taken: SortedMap<String, &String> = SortedMap::new();
    for name in names {
        let slot = place_of(access.schemes.get(name)?).slot();
        if let Some(other) = taken.insert(slot.clone(), name) {
            return Some(format!(
                "asks for {other} and {name}, which are both in {slot}; no request can have both"
            ));
        }
    }
    None
}

/// Reports pairs of schemes that read the same credential, so that the credential does not decide between them.
fn check_pairs(schemes: &SortedMap<String, Scheme>) -> Problems {
    let mut problems = Vec::new();
    let mut earlier: Vec<(&String, &Scheme)> = Vec::new();
    for (name, scheme) in schemes {
        let same = earlier.iter().find(|(_, other)| is_read_alike(other, scheme));
        if let Some((other, _)) = same {
            let slot = place_of(scheme).slot();
            let fix =
                format!("reads {slot} in the same way as the scheme {other}; make one of the two");
            problems.push(Problem::at(format!("schemes.{name}"), fix));
        }
        earlier.push((name, scheme));
    }
    problems
}

fn is_read_alike(one: &Scheme, other: &Scheme) -> bool {
    let is_same_place = place_of(one) == place_of(other);
    match (one, other) {
        // Two schemes of JWTs differ by their issuers; static tokens are not JWTs.
        (Scheme::Jwt(one), Scheme::Jwt(other)) => is_same_place && one.issuer == other.issuer,
        (Scheme::Jwt(jwt), _) | (_, Scheme::Jwt(jwt)) if jwt.cookie.is_none() => false,
        (Scheme::CloudflareAccess(one), Scheme::CloudflareAccess(other)) => one.team == other.team,
        _ => is_same_place,
    }
}

/// True if a caller of the scheme can have all of these scopes.
fn can_have(scheme: &Scheme, scopes: &[String]) -> bool {
    let has_all = |permissions: &[String]| scopes.iter().all(|scope| permissions.contains(scope));
    let any = |callers: &[StaticCaller]| callers.iter().any(|caller| has_all(&caller.permissions));
    match scheme {
        Scheme::ApiKey(key) => any(&key.callers),
        Scheme::Bearer(bearer) => any(&bearer.callers),
        Scheme::Basic(basic) => any(&basic.callers),
        Scheme::MutualTls(tls) => has_all(&tls.permissions),
        Scheme::Jwt(_) | Scheme::CloudflareAccess(_) => true,
    }
}

fn check_scheme(scheme: &Scheme) -> Problems {
    let mut problems = check_place(scheme);
    problems.extend(match scheme {
        Scheme::ApiKey(key) => check_callers(&key.callers, false),
        Scheme::Bearer(bearer) => check_callers(&bearer.callers, false),
        Scheme::Basic(basic) => check_callers(&basic.callers, true),
        Scheme::Jwt(jwt) => check_jwt(jwt),
        Scheme::CloudflareAccess(access) => check_access(access),
        Scheme::MutualTls(tls) => check_certificates(tls),
    });
    problems
}

fn check_certificates(tls: &MutualTls) -> Problems {
    let mut problems = Vec::new();
    for (index, print) in tls.fingerprints.iter().enumerate() {
        let digits = print.bytes().filter(|byte| *byte != b':');
        if digits.clone().count() != 64 || !digits.clone().all(|digit| digit.is_ascii_hexdigit()) {
            let fix = format!("is {print:?}, but a SHA-256 fingerprint has 64 hexadecimal digits");
            problems.push(Problem::at(format!("fingerprints[{index}]"), fix));
        }
    }
    problems.extend(check_permissions(&tls.permissions, "permissions"));
    problems
}

/// The problems of the permissions at a key.
fn check_permissions(permissions: &[String], key: &str) -> Problems {
    let wrong = permissions.iter().enumerate().filter_map(|(index, permission)| {
        let fix = check_permission(permission).err()?;
        Some(Problem::at(format!("{key}[{index}]"), format!("is {permission:?}, but {fix}")))
    });
    wrong.collect()
}

/// Checks that a permission is a scope of OAuth (RFC 6749 §3.3).
fn check_permission(permission: &str) -> Result<(), String> {
    let fits = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
    match permission {
        "" => Err("must not be empty".to_owned()),
        _ if permission.bytes().all(fits) => Ok(()),
        _ => Err("must hold letters, digits and signs of ASCII only, without spaces, \" and \\"
            .to_owned()),
    }
}

/// Checks the name of a scheme. The ids of its callers are this name, a colon and the caller's own id.
fn check_scheme_name(name: &str) -> Result<(), String> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    let is_good = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.len() <= MAX_NAME
        && name.bytes().all(fits);
    if is_good {
        Ok(())
    } else {
        Err(format!(
            "must be named by letters, digits, - and _, beginning with a letter, at most {MAX_NAME}"
        ))
    }
}

/// The maximum number of schemes of an agent.
const MAX_SCHEMES: usize = 20;

/// The maximum length of the name of a scheme.
const MAX_NAME: usize = 64;
