//! Checks before the caller is known: allowed origins and rate limits.

use crate::Problem;
use crate::access::{Access, PERIODS_S, RateLimit};

impl Access {
    /// The problems of the allowed origins and of the rate limits, each with its key in the agent file and the fix.
    pub(crate) fn gate_problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut report = |key: String, fix: String| problems.push(Problem::at(key, fix));
        if self.allowed_origins.len() > MAX_ORIGINS {
            report(
                "access.allowed_origins".to_owned(),
                format!("may have at most {MAX_ORIGINS} entries"),
            );
        }
        for (index, origin) in self.allowed_origins.iter().enumerate() {
            if !is_origin(origin) {
                let fix = format!(
                    "is {origin:?}, but must be an origin as browsers send it, such as \"https://app.example\": in lower \
                     case, without path, final slash or default port"
                );
                report(format!("access.allowed_origins[{index}]"), fix);
            }
        }
        if self.rate_limits.len() > MAX_RATE_LIMITS {
            report(
                "access.rate_limits".to_owned(),
                format!("may have at most {MAX_RATE_LIMITS} entries"),
            );
        }
        for (index, RateLimit { binding, period_s, by: _ }) in self.rate_limits.iter().enumerate() {
            if !is_binding(binding) {
                let fix = format!(
                    "is {binding:?}, but must be the name of one of [[ratelimits]] in wrangler.toml, such as \"PER_CALLER\""
                );
                report(format!("access.rate_limits[{index}].binding"), fix);
            }
            if !PERIODS_S.contains(period_s) {
                let fix = format!("is {period_s}, but must be the period of the binding, 10 or 60");
                report(format!("access.rate_limits[{index}].period_s"), fix);
            }
        }
        problems
    }
}

/// True if a text is an origin as browsers send it in `Origin`: scheme, host and port, nothing else.
fn is_origin(text: &str) -> bool {
    let (host, default_port) = match (text.strip_prefix("https://"), text.strip_prefix("http://")) {
        (Some(host), _) => (host, ":443"),
        (None, Some(host)) => (host, ":80"),
        (None, None) => return false,
    };
    let is_port =
        |port: &str| !port.starts_with('0') && port.parse::<u16>().is_ok_and(|port| port > 0);
    if host.ends_with(default_port) || text.len() > MAX_ORIGIN_BYTES {
        return false;
    }
    if let Some((address, rest)) = host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        let is_address = address.parse::<std::net::Ipv6Addr>().is_ok();
        return is_address && (rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port));
    }
    let (name, port) = host.split_once(':').map_or((host, None), |(name, port)| (name, Some(port)));
    let is_made = |letter: char| {
        letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-._".contains(letter)
    };
    let is_name = !name.is_empty() && name.chars().all(is_made) && !name.starts_with('.');
    is_name && port.is_none_or(is_port)
}

fn is_binding(name: &str) -> bool {
    let mut letters = name.chars();
    let is_begun = letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    is_begun && name.len() <= 64 && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The maximum length of an origin, in bytes.
const MAX_ORIGIN_BYTES: usize = 300;

/// The maximum number of origins that an agent may allow.
const MAX_ORIGINS: usize = 100;

/// The maximum number of rate limits of an agent. Each may cost one call of its binding per request.
const MAX_RATE_LIMITS: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::LimitedBy;

    #[test]
    fn origins_are_those_that_browsers_send() {
        let problems = |origin: &str| {
            Access { allowed_origins: vec![origin.to_owned()], ..Access::default() }.gate_problems()
        };
        for origin in [
            "https://app.example",
            "http://localhost:8787",
            "https://a-b.example:8443",
            "http://127.0.0.1:3000",
            "http://[::1]:3000",
            "https://[::1]",
            "https://xn--bcher-kva.example",
        ] {
            assert_eq!(problems(origin), [], "{origin}");
        }
        for origin in [
            "",
            "*",
            "null",
            "app.example",
            "https://",
            "https://app.example/",
            "https://app.example/x",
            "https://App.example",
            "https://*.example",
            "https://user@app.example",
            "https://app.example:443",
            "http://app.example:80",
            "https://app.example:",
            "https://app.example:0",
            "https://app.example:99999",
            "https://app.example:080",
            "https://bücher.example",
            "ftp://app.example",
            "https://app.example ",
            "https://[::1",
            "https://[nine]",
            "https://a b",
            "https://.example",
        ] {
            let found = problems(origin);
            assert_eq!(found.len(), 1, "{origin}");
            assert_eq!(found[0].key, "access.allowed_origins[0]");
        }
    }

    #[test]
    fn rate_limits_name_a_binding_and_its_period() {
        let problems = |binding: &str, period_s: u32| {
            let limit = RateLimit { binding: binding.to_owned(), by: LimitedBy::Caller, period_s };
            let access = Access { rate_limits: vec![limit], ..Access::default() };
            access
                .gate_problems()
                .into_iter()
                .map(|Problem { key, text, .. }| format!("{key} {text}"))
        };
        for (binding, period_s) in [("PER_CALLER", 60), ("_x1", 10)] {
            assert_eq!(problems(binding, period_s).count(), 0);
        }
        for (binding, period_s, told) in [
            ("", 60, "rate_limits[0].binding is \"\", but"),
            ("1X", 60, "is \"1X\", but"),
            ("PER-CALLER", 60, "one of [[ratelimits]] in wrangler.toml"),
            ("PER_CALLER", 30, "rate_limits[0].period_s is 30, but"),
        ] {
            let found: Vec<String> = problems(binding, period_s).collect();
            assert!(found.len() == 1 && found[0].contains(told), "{found:?}");
        }
    }

    #[test]
    fn lists_are_bounded() {
        let origin = "https://app.example".to_owned();
        let limit = RateLimit { binding: "A".to_owned(), by: LimitedBy::Address, period_s: 60 };
        let access = Access {
            allowed_origins: vec![origin; MAX_ORIGINS + 1],
            rate_limits: vec![limit; MAX_RATE_LIMITS + 1],
            ..Access::default()
        };
        assert_eq!(access.gate_problems().len(), 2);
    }
}
