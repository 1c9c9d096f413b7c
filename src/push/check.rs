//! Checks the signature of a request that a receiver has got, for the developer of the receiver: whether it is right, and if not, what to do.
//!
//! The answer contains neither a secret nor a signature, so it does not help anybody to sign.

use serde::Serialize;

use super::signature::{SigningSecret, given_signatures};
use a2a::model::{Generation, SignedHeaders, UnixMillis, read_foreign};

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Checked {
    /// True if the webhook's secret gives this signature for these headers and this body.
    pub is_right: bool,
    /// For a right signature: true if receivers accept its timestamp now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_timely: Option<bool>,
    /// What is wrong, and what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The webhook whose signature is checked.
pub struct Signer<'a> {
    /// The secret. `None` for a webhook whose notifications are not signed.
    pub secret: Option<&'a SigningSecret>,
    /// The ids of its notifications, up to the generation.
    pub ids: &'a str,
}

impl Signer<'_> {
    /// Checks a request. `sent` gives the body of the event of a generation, if it is known, and is called only for a signature that does not
    /// fit.
    pub fn check(
        &self,
        headers: &SignedHeaders,
        body: &str,
        now: UnixMillis,
        sent: impl FnOnce(Generation) -> Option<String>,
    ) -> Checked {
        match self.timestamp_of(headers, body, sent) {
            Ok(timestamp_s) => {
                let off_s = (now.0 / 1_000).abs_diff(timestamp_s);
                let is_timely = off_s <= TOLERANCE_S;
                let old = || {
                    format!(
                        "webhook-timestamp is {off_s} s off: a receiver accepts {TOLERANCE_S} s, and would refuse the request now"
                    )
                };
                let reason = (!is_timely).then(old);
                Checked { is_right: true, is_timely: Some(is_timely), reason }
            }
            Err(reason) => Checked { reason: Some(reason), ..Checked::default() },
        }
    }

    /// The timestamp of a request whose signature is right.
    ///
    /// # Errors
    ///
    /// What is wrong, and what to do.
    fn timestamp_of(
        &self,
        SignedHeaders { id, timestamp, signature }: &SignedHeaders,
        body: &str,
        sent: impl FnOnce(Generation) -> Option<String>,
    ) -> Result<i64, String> {
        let secret = self.secret.ok_or(UNSIGNED)?;
        let (id, timestamp) = (given(id, "id")?, given(timestamp, "timestamp")?);
        let signatures = given_signatures(given(signature, "signature")?);
        let timestamp_s = timestamp.parse().map_err(|_| NO_TIME)?;
        if signatures.is_empty() {
            return Err(NO_SIGNATURE.to_owned());
        }
        let fits = |body: &str| secret.has_signed(id, timestamp, body, &signatures);
        if fits(body) {
            return Ok(timestamp_s);
        }
        let Some(event) = id.strip_prefix(self.ids) else {
            return Err(OTHER_WEBHOOK.to_owned());
        };
        let trimmed = body.trim();
        if fits(trimmed) {
            return Err(SPACE_AROUND.to_owned());
        }
        let rewritten = read_foreign(body.as_bytes(), MAX_JSON_VALUES).ok();
        if rewritten.is_some_and(|value| fits(&value.to_string())) {
            return Err(WRITTEN_OTHERWISE.to_owned());
        }
        let sent = event.parse().ok().and_then(|generation| sent(Generation(generation)));
        match sent {
            Some(sent) if sent == trimmed => Err(OTHER_SECRET.to_owned()),
            Some(sent) if fits(&sent) => {
                let same = sent.bytes().zip(body.bytes()).take_while(|(one, other)| one == other);
                let (same, sent) = (same.count(), sent.len());
                Err(format!(
                    "the body differs from what was sent from byte {same} on, of {sent}: {AS_IT_CAME}"
                ))
            }
            Some(_) | None => Err(UNFIT.to_owned()),
        }
    }
}

fn given<'a>(header: &'a Option<String>, name: &str) -> Result<&'a str, String> {
    let missing = || {
        format!(
            "webhook-{name} is missing: give the headers as they came in, and see whether a proxy removes it"
        )
    };
    header.as_deref().ok_or_else(missing)
}

/// How many seconds a timestamp may be off, by Standard Webhooks.
const TOLERANCE_S: u64 = 300;

/// The largest number of JSON values in a body that is written anew.
const MAX_JSON_VALUES: usize = 100_000;

const UNSIGNED: &str =
    "the webhook has no signing secret, so nothing is signed: delete it and register it again";
const NO_TIME: &str = "webhook-timestamp is not a number of seconds since 1970: it was changed, or another server has sent the request";
const NO_SIGNATURE: &str =
    "webhook-signature has no \"v1,\" with the base64 of 32 bytes: it was cut or changed";
const OTHER_WEBHOOK: &str =
    "webhook-id is of another webhook, which has a secret of its own: check it there";
const SPACE_AROUND: &str = "the body has white space around it that was not sent: verify the bytes as they came in, without a line end from a log";
const WRITTEN_OTHERWISE: &str = "the body is the same JSON written otherwise: verify the bytes as they came in, before anything parses them";
const OTHER_SECRET: &str = "webhook-id and body are what was sent: webhook-timestamp was changed, or the webhook had another secret then";
const AS_IT_CAME: &str = "verify the bytes as they came in";
const UNFIT: &str = "webhook-id, webhook-timestamp or the body is not what was sent, or the webhook had another secret then: verify all three as they came in";

#[cfg(test)]
mod tests {
    use super::*;

    const SENT: &str = r#"{"statusUpdate":{"taskId":"t","n":1.50,"é":[1,2]}}"#;
    const NOW_S: i64 = 1_700_000_000;

    fn secret() -> SigningSecret {
        SigningSecret::from_random([7; 32])
    }

    fn headers(id: &str, timestamp_s: i64) -> SignedHeaders {
        let signature = secret().sign(id, timestamp_s, SENT);
        let [id, timestamp] = [id.to_owned(), timestamp_s.to_string()];
        SignedHeaders { id: Some(id), timestamp: Some(timestamp), signature: Some(signature) }
    }

    fn check(headers: &SignedHeaders, body: &str) -> Checked {
        let secret = secret();
        let signer = Signer { secret: Some(&secret), ids: "o.c." };
        let sent = |generation| (generation == Generation(5)).then(|| SENT.to_owned());
        signer.check(headers, body, UnixMillis(NOW_S * 1_000), sent)
    }

    #[test]
    fn a_right_signature_is_told_from_one_that_is_too_old() {
        for (off_s, is_timely) in
            [(0, true), (-300, true), (300, true), (-301, false), (9_999, false)]
        {
            let checked = check(&headers("o.c.5", NOW_S + off_s), SENT);
            assert_eq!((checked.is_right, checked.is_timely), (true, Some(is_timely)), "{off_s}");
            assert_eq!(checked.reason.is_none(), is_timely, "{off_s}");
        }
        let right = headers("o.c.5", NOW_S);
        let several = format!("v1a,abc v1,AAAA {}", right.signature.clone().unwrap());
        assert!(check(&SignedHeaders { signature: Some(several), ..right }, SENT).is_right);
        assert!(check(&headers("o.other.5", NOW_S), SENT).is_right, "one secret for two webhooks");
    }

    #[test]
    fn the_reason_says_what_is_wrong() {
        let right = headers("o.c.5", NOW_S);
        let test = headers("o.c.0.1700000000", NOW_S);
        let with = |change: fn(&mut SignedHeaders)| {
            let mut headers = right.clone();
            change(&mut headers);
            headers
        };
        let pretty = serde_json::to_string_pretty(&read_foreign(SENT.as_bytes(), 99).unwrap());
        let pretty = pretty.unwrap();
        for (headers, body, reason) in [
            (with(|one| one.id = None), SENT, "webhook-id is missing"),
            (with(|one| one.timestamp = None), SENT, "webhook-timestamp is missing"),
            (with(|one| one.signature = None), SENT, "webhook-signature is missing"),
            (with(|one| one.timestamp = Some("today".to_owned())), SENT, NO_TIME),
            (with(|one| one.signature = Some("v1,AAAA".to_owned())), SENT, NO_SIGNATURE),
            (with(|one| one.id = Some("o.d.5".to_owned())), SENT, OTHER_WEBHOOK),
            (with(|one| one.timestamp = Some("1700000001".to_owned())), SENT, OTHER_SECRET),
            (right.clone(), &format!("{SENT}\n"), SPACE_AROUND),
            (right.clone(), &SENT.replace("1.50", "1.5"), "from byte 37 on, of 51"),
            (right.clone(), &SENT[..20], "from byte 20 on, of 51"),
            (test.clone(), &pretty, UNFIT),
            (test.clone(), &SENT[..20], UNFIT),
            (with(|one| one.id = Some("o.c.6".to_owned())), SENT, UNFIT),
        ] {
            let checked = check(&headers, body);
            assert!(!checked.is_right && checked.is_timely.is_none(), "{reason}");
            let told = checked.reason.unwrap();
            assert!(told.contains(reason), "{told} for {reason}");
        }
        let unsigned = Signer { secret: None, ids: "o.c." };
        let checked = unsigned.check(&right, SENT, UnixMillis(0), |_| None);
        assert_eq!(checked.reason.as_deref(), Some(UNSIGNED));
    }

    #[test]
    fn a_body_that_a_parser_has_written_anew_is_recognized() {
        const PLAIN: &str = r#"{"a":"é\n","b":[1,true,null]}"#;
        let secret = secret();
        let signature = Some(secret.sign("o.c.0.9", NOW_S, PLAIN));
        let (id, timestamp) = (Some("o.c.0.9".to_owned()), Some(NOW_S.to_string()));
        let headers = SignedHeaders { id, timestamp, signature };
        // As Python, and as an editor writes it.
        for body in [
            "{\"a\": \"\\u00e9\\n\", \"b\": [1, true, null]}",
            "{\n  \"a\": \"é\\n\",\n  \"b\": [1, true, null]\n}",
        ] {
            let reason = check(&headers, body).reason;
            assert_eq!(reason.as_deref(), Some(WRITTEN_OTHERWISE), "{body}");
        }
    }
}
