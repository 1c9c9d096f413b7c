//! The secrets of callers: keys, tokens and passwords.

use hmac::digest::CtOutput;
use sha2::{Digest, Sha256};

use super::proof::Proven;
use a2a::model::Secret;
use a2a_agents::access::StaticCaller;

/// The secrets of a deployment.
#[derive(Clone, Copy)]
pub(super) struct Vault<'a> {
    /// The secret of a name, if it is set.
    pub(super) secret: &'a dyn Fn(&str) -> Option<Secret>,
    /// True if short secrets are accepted.
    pub(super) is_development: bool,
}

impl Vault<'_> {
    /// The given secrets that are set, each with its name. `least` is the required number of bytes.
    ///
    /// # Errors
    ///
    /// If no secret is set, or a secret is too short.
    pub(super) fn secrets<'n>(
        &self,
        names: &'n [String],
        least: usize,
    ) -> Result<Vec<(&'n str, Secret)>, String> {
        let mut found = Vec::new();
        for name in names {
            let secret = (self.secret)(name);
            let Some(secret) = secret.filter(|secret| !secret.reveal().trim().is_empty()) else {
                continue;
            };
            let length = secret.reveal().trim().len();
            if length < least && !self.is_development {
                return Err(format!(
                    "the secret {name} has {length} bytes, and needs {least} at least; `openssl rand -hex 32` makes one"
                ));
            }
            found.push((name.as_str(), secret));
        }
        match (found.is_empty(), names) {
            (false, _) => Ok(found),
            (true, [name]) => Err(format!("the secret {name} is not set in this deployment")),
            (true, _) => {
                Err(format!("none of the secrets {} is set in this deployment", names.join(", ")))
            }
        }
    }
}

/// Callers, and the digests of their secrets. The secrets themselves are not stored.
pub(super) struct Keyring {
    keys: Vec<(CtOutput<Sha256>, usize)>,
    callers: Vec<Proven>,
}

impl Keyring {
    /// The secrets of these callers. If a caller is identified only by its secret (`is_alone`), two callers must not
    /// have the same secret.
    ///
    /// # Errors
    ///
    /// The mistake in the secrets of the deployment.
    pub(super) fn new(
        callers: &[StaticCaller],
        share_by: Option<&str>,
        vault: &Vault<'_>,
        is_alone: bool,
    ) -> Result<Self, String> {
        let mut keys: Vec<(CtOutput<Sha256>, usize)> = Vec::new();
        for (index, caller) in callers.iter().enumerate() {
            for (name, secret) in vault.secrets(&caller.secrets, LEAST_BYTES)? {
                // The secret may be stored with a line break at its end, which no request can contain.
                let secret = secret.reveal().trim();
                check_letters(name, secret, is_alone)?;
                let digest = digest(secret);
                let is_taken = keys.iter().any(|(known, of)| *of != index && *known == digest);
                if is_alone && is_taken {
                    return Err(format!(
                        "the secret {name} of the caller {:?} is another caller's, too",
                        caller.id
                    ));
                }
                keys.push((digest, index));
            }
        }
        let group = |caller: &StaticCaller| caller.claims.get(share_by?).cloned();
        let proven = |caller: &StaticCaller| Proven {
            subject: caller.id.clone(),
            permissions: caller.permissions.clone(),
            group: group(caller),
            ..Proven::default()
        };
        Ok(Self { keys, callers: callers.iter().map(proven).collect() })
    }

    /// The caller with this secret. All secrets are compared, by their digests, so that the time reveals nothing about
    /// them.
    pub(super) fn find(&self, shown: &str) -> Option<Proven> {
        self.find_of(shown, |_| true)
    }

    /// The caller with this id, if `shown` is a secret of the caller.
    pub(super) fn find_named(&self, id: &str, shown: &str) -> Option<Proven> {
        self.find_of(shown, |caller| caller.subject == id)
    }

    fn find_of(&self, shown: &str, fits: impl Fn(&Proven) -> bool) -> Option<Proven> {
        let shown = digest(shown);
        let mut found = None;
        for (key, index) in &self.keys {
            let caller = self.callers.get(*index).filter(|caller| fits(caller));
            // `==` of digests takes constant time.
            if *key == shown && caller.is_some() {
                found = caller;
            }
        }
        found.cloned()
    }
}

fn digest(secret: &str) -> CtOutput<Sha256> {
    CtOutput::new(Sha256::digest(secret))
}

fn check_letters(name: &str, secret: &str, is_alone: bool) -> Result<(), String> {
    let fits = if is_alone {
        secret.bytes().all(|byte| byte.is_ascii_graphic() && !b",;\"\\".contains(&byte))
    } else {
        !secret.chars().any(char::is_control)
    };
    match (fits, is_alone) {
        (true, _) => Ok(()),
        (false, true) => Err(format!(
            "the secret {name} must hold letters, digits and signs of ASCII only, without spaces and , ; \" \\"
        )),
        (false, false) => Err(format!("the secret {name} must hold no control letters")),
    }
}

/// The shortest secret outside of development, in bytes.
pub(super) const LEAST_BYTES: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: [(&str, &str); 7] = [
        ("FIRST", "first-secret-0001\n"),
        ("SECOND", "second-secret-002"),
        ("SHORT", "short"),
        ("SAME", "first-secret-0001"),
        ("SPACED", "with a space inside"),
        ("BLANK", "   "),
        ("WIDE", "p\u{e4}ssw\u{f6}rd p\u{e4}ssw\u{f6}rd"),
    ];

    fn caller(id: &str, secrets: &[&str]) -> StaticCaller {
        StaticCaller {
            id: id.to_owned(),
            secrets: secrets.iter().map(|name| (*name).to_owned()).collect(),
            permissions: vec!["read".to_owned()],
            claims: [("team".to_owned(), format!("team of {id}"))].into(),
        }
    }

    fn keyring(
        callers: &[StaticCaller],
        is_development: bool,
        is_alone: bool,
    ) -> Result<Keyring, String> {
        let secret = |name: &str| {
            let found = VALUES.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| Secret::new(*value))
        };
        let vault = Vault { secret: &secret, is_development };
        Keyring::new(callers, Some("team"), &vault, is_alone)
    }

    #[test]
    fn a_secret_is_that_of_its_caller_and_either_of_two_counts() {
        let callers = [caller("a", &["FIRST", "SECOND"]), caller("b", &["WIDE", "MISSING"])];
        let keyring = keyring(&callers, false, false).unwrap();
        for (shown, found) in [
            ("first-secret-0001", Some("a")),
            ("second-secret-002", Some("a")),
            ("p\u{e4}ssw\u{f6}rd p\u{e4}ssw\u{f6}rd", Some("b")),
            ("first-secret-0001 ", None),
            ("first-secret-000", None),
            ("FIRST-SECRET-0001", None),
            ("", None),
        ] {
            let proven = keyring.find(shown);
            assert_eq!(proven.as_ref().map(|proven| proven.subject.as_str()), found, "{shown:?}");
        }
        let proven = keyring.find("first-secret-0001").unwrap();
        assert_eq!(
            (proven.permissions, proven.group),
            (vec!["read".to_owned()], Some("team of a".to_owned()))
        );
        assert!(keyring.find_named("a", "second-secret-002").is_some());
        assert!(keyring.find_named("b", "second-secret-002").is_none());
    }

    #[test]
    fn the_same_password_may_be_that_of_two_names() {
        let callers = [caller("a", &["FIRST"]), caller("b", &["SAME"])];
        let keyring = keyring(&callers, false, false).unwrap();
        for id in ["a", "b"] {
            assert_eq!(keyring.find_named(id, "first-secret-0001").unwrap().subject, id);
        }
    }

    #[test]
    fn secrets_that_cannot_be_used_are_told() {
        for (secrets, is_development, told) in [
            (vec!["MISSING"], true, Some("the secret MISSING is not set")),
            (vec!["MISSING", "BLANK"], true, Some("none of the secrets MISSING, BLANK is set")),
            (vec!["SHORT"], false, Some("the secret SHORT has 5 bytes, and needs 16")),
            (vec!["SHORT", "FIRST"], false, Some("the secret SHORT has 5 bytes, and needs 16")),
            (vec!["SHORT"], true, None),
            (vec!["SPACED"], true, Some("the secret SPACED must hold letters")),
            (vec!["MISSING", "FIRST"], false, None),
        ] {
            let told_now = keyring(&[caller("a", &secrets)], is_development, true).err();
            let fits = match (told, &told_now) {
                (None, None) => true,
                (Some(told), Some(now)) => now.starts_with(told),
                _ => false,
            };
            assert!(fits, "{secrets:?}: {told_now:?}");
        }
        let callers = [caller("a", &["FIRST"]), caller("b", &["SAME"])];
        let told = keyring(&callers, true, true).err().unwrap();
        assert_eq!(told, "the secret SAME of the caller \"b\" is another caller's, too");
    }
}
