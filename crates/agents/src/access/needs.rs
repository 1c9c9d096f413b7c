//! The secrets and variables of the deployment that `[access]` needs.

use serde_json::Value;

use super::{Access, Scheme, StaticCaller};
use crate::Expandable;

/// The secrets and variables in texts with `${NAME}`, each as a pair: the scheme that needs the value, and the name of
/// the value.
pub(crate) fn needs_of(access: &Access) -> Vec<(String, String)> {
    let mut needs = Vec::new();
    for (name, scheme) in &access.schemes {
        let value = serde_json::to_value(scheme).unwrap_or_default();
        visit_texts(&value, &mut |text| {
            let expandable = Expandable::parse(text).ok();
            let names = expandable.iter().flat_map(Expandable::values);
            needs.extend(names.map(|value| (needed_by(name), value.to_owned())));
        });
    }
    needs
}

/// The secrets that schemes compare credentials with: the scheme and the names of the secrets, at least one of which
/// must be set.
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

fn visit_texts(value: &Value, visit: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => visit(text),
        Value::Array(values) => values.iter().for_each(|value| visit_texts(value, visit)),
        Value::Object(members) => members.values().for_each(|value| visit_texts(value, visit)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn needed_by(scheme: &str) -> String {
    format!("scheme {scheme}")
}
