//! Client certificates in the platform's report. The platform has verified the chain and the possession of the key.

use serde::Deserialize;

use super::proof::{Proven, Refused, check_id};
use a2a::model::{UnixMillis, read_own};

/// The certificates that a scheme accepts.
pub(super) struct CertificateRules {
    /// The SHA-256 fingerprints of accepted certificates, 64 hexadecimal digits in lower case; if empty, all are
    /// accepted.
    pub(super) fingerprints: Vec<String>,
    /// The permissions of their holders.
    pub(super) permissions: Vec<String>,
}

/// The members of `cf.tlsClientAuth` that are used.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Reported {
    #[serde(rename = "certPresented")]
    presented: String,
    #[serde(rename = "certVerified")]
    verified: String,
    #[serde(rename = "certRevoked")]
    revoked: String,
    #[serde(rename = "certFingerprintSHA256")]
    fingerprint: String,
    #[serde(rename = "certSubjectDNRFC2253")]
    subject: String,
    #[serde(rename = "certNotAfter")]
    not_after: String,
}

impl CertificateRules {
    /// Identifies the holder of the certificate; `None` if the client has sent no certificate. The id is the subject of
    /// the certificate, which stays the same when the certificate is renewed.
    pub(super) fn prove(&self, reported: &str, now: UnixMillis) -> Option<Result<Proven, Refused>> {
        // A report in another form counts as no certificate.
        let reported: Reported = read_own(reported).ok()?;
        (reported.presented == "1").then(|| self.judge(reported, now))
    }

    fn judge(&self, reported: Reported, now: UnixMillis) -> Result<Proven, Refused> {
        if reported.verified != "SUCCESS" {
            return Err(Refused::because("the client certificate could not be verified"));
        }
        if reported.revoked != "0" {
            return Err(Refused::because("the client certificate is revoked"));
        }
        let fingerprint = normal_fingerprint(&reported.fingerprint)
            .ok_or_else(|| Refused::because("the client certificate has no fingerprint"))?;
        if !self.fingerprints.is_empty() && !self.fingerprints.contains(&fingerprint) {
            return Err(Refused::because("the client certificate is not one of those taken"));
        }
        let expires_at = read_end(&reported.not_after);
        if expires_at.is_some_and(|end| now >= end) {
            return Err(Refused::because("the client certificate has expired"));
        }
        let subject = match check_id(&reported.subject) {
            Ok(()) => reported.subject,
            // A subject contains an equals sign behind a name such as CN; this id never does.
            Err(_) => format!("sha256:{fingerprint}"),
        };
        let permissions = self.permissions.clone();
        Ok(Proven { subject, permissions, expires_at, ..Proven::default() })
    }
}

/// The end of a certificate, written as `Dec  2 19:39:00 2026 GMT`; `None` for another text.
fn read_end(text: &str) -> Option<UnixMillis> {
    let words: Vec<&str> = text.split_ascii_whitespace().take(6).collect();
    let [month, day, time, year, "GMT"] = words.as_slice() else { return None };
    UnixMillis::parse_words(year, month, day, time)
}

/// A fingerprint in lower case without colons; `None` if the text is not a fingerprint.
pub(super) fn normal_fingerprint(text: &str) -> Option<String> {
    let digits: String = text.chars().filter(|letter| *letter != ':').collect();
    let is_one = digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_one.then(|| digits.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const PRINT: &str = "8f0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8";
    const NOW: UnixMillis = UnixMillis(1_767_603_601_000);

    fn prove(fingerprints: &[&str], key: &str, value: Value) -> Option<Result<Proven, Refused>> {
        let mut reported = json!({
            "certPresented": "1", "certVerified": "SUCCESS", "certRevoked": "0",
            "certFingerprintSHA256": PRINT, "certSubjectDNRFC2253": "CN=robot,O=Example",
            "certNotAfter": "Dec  2 19:39:00 2026 GMT", "certIssuerDN": "CN=authority",
        });
        reported[key] = value;
        let fingerprints = fingerprints.iter().filter_map(|text| normal_fingerprint(text));
        let rules = CertificateRules {
            fingerprints: fingerprints.collect(),
            permissions: vec!["read".to_owned()],
        };
        rules.prove(&reported.to_string(), NOW)
    }

    #[test]
    fn a_verified_certificate_is_its_subject_until_it_expires() {
        let upper = PRINT.to_ascii_uppercase();
        for fingerprints in [vec![], vec![PRINT], vec!["00", upper.as_str()]] {
            let proven = prove(&fingerprints, "x", json!(0)).unwrap().unwrap();
            assert_eq!(proven.subject, "CN=robot,O=Example");
            assert_eq!(proven.permissions, ["read"]);
            assert_eq!(proven.expires_at.unwrap().to_string(), "2026-12-02T19:39:00.000Z");
        }
        let unreadable = json!("02.12.2026");
        let proven = prove(&[], "certNotAfter", unreadable).unwrap().unwrap();
        assert_eq!(proven.expires_at, None);
        for subject in [json!(""), json!("a\nb")] {
            let proven = prove(&[], "certSubjectDNRFC2253", subject).unwrap().unwrap();
            assert_eq!(proven.subject, format!("sha256:{PRINT}"));
        }
    }

    #[test]
    fn other_certificates_are_refused_and_none_is_none() {
        for (key, value) in [
            ("certVerified", json!("NONE")),
            ("certVerified", json!("FAILED:self signed certificate")),
            ("certVerified", json!("success")),
            ("certRevoked", json!("1")),
            ("certRevoked", json!("")),
            ("certFingerprintSHA256", json!("")),
            ("certNotAfter", json!("Dec  2 19:39:00 2025 GMT")),
        ] {
            assert!(prove(&[], key, value.clone()).unwrap().is_err(), "{key} {value}");
        }
        let other = "0".repeat(64);
        assert!(prove(&[other.as_str()], "x", json!(0)).unwrap().is_err());
        for value in [json!("0"), json!(""), json!(1), json!(null)] {
            assert_eq!(prove(&[], "certPresented", value), None);
        }
    }
}
