//! What `[access]` needs of a deployment.

use super::{Access, Scheme, StaticCaller};
use crate::Expandable;

/// The secrets and variables in texts with `${NAME}`: who needs them, and their names.
pub(crate) fn needs_of(access: &Access) -> Vec<(String, String)> {
    let mut needs = Vec::new();
    for (name, scheme) in &access.schemes {
        let texts: Vec<&String> = match scheme {
            Scheme::Jwt(jwt) => {
                jwt.issuer.iter().chain(&jwt.jwks_url).chain(&jwt.audience).collect()
            }
            Scheme::CloudflareAccess(access) => {
                std::iter::once(&access.team).chain(&access.audience).collect()
            }
            Scheme::ApiKey(_) | Scheme::Bearer(_) | Scheme::Basic(_) | Scheme::MutualTls(_) => {
                continue;
            }
        };
        for text in texts {
            let expandable = Expandable::parse(text).ok();
            let names = expandable.iter().flat_map(Expandable::values);
            needs.extend(names.map(|value| (needed_by(name), value.to_owned())));
        }
    }
    needs
}

/// The secrets that schemes compare with: who needs them, and their names, of which one has to be set.
pub(crate) fn secrets_of(access: &Access) -> Vec<(String, &[String])> {
    let mut needs: Vec<(String, &[String])> = Vec::new();
    for (name, scheme) in &access.schemes {
        let callers: &[StaticCaller] = match scheme {
            Scheme::ApiKey(key) => &key.callers,
            Scheme::Bearer(bearer) => &bearer.callers,
            Scheme::Basic(basic) => &basic.callers,
            Scheme::Jwt(jwt) => {
                needs.extend((!jwt.secrets.is_empty()).then(|| (needed_by(name), &*jwt.secrets)));
                continue;
            }
            Scheme::CloudflareAccess(_) | Scheme::MutualTls(_) => continue,
        };
        needs.extend(callers.iter().map(|caller| (needed_by(name), caller.secrets.as_slice())));
    }
    needs
}

fn needed_by(scheme: &str) -> String {
    format!("scheme {scheme}")
}
