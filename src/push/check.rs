//! Checks the signature of a request that a receiver has got, for the developer of the receiver: whether it is right, and if not, what to do.
//!
//! The answer contains neither a secret nor a signature, so it does not help anybody to sign.

use serde::Serialize;

use super::signature::SigningSecret;
use a2a::model::{Generation, Secret, SignedHeaders, UnixMillis, read_foreign, to_json};

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Checked {
    /// True if the webhook's secret gives this signature for these headers and this body.
    pub is_right: bool,
    /// What is wrong, and what to do; also for a right signature that receivers do not accept now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// The number of bytes of the body that are as they were sent, for a body that differs behind them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_bytes: Option<usize>,
}

impl From<&'static str> for Checked {
    /// The result for a signature that is not right.
    fn from(reason: &'static str) -> Self {
        Self { is_right: false, reason: Some(reason), same_bytes: None }
    }
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
        let Some(secret) = self.secret else { return UNSIGNED.into() };
        let SignedHeaders { id: Some(id), timestamp: Some(timestamp), signature: Some(signature) } =
            headers
        else {
            return MISSING.into();
        };
        // What is signed is the text of the number.
        let timestamp_s = match timestamp.parse::<i64>() {
            Ok(timestamp_s) if timestamp_s.to_string() == *timestamp => timestamp_s,
            Ok(_) | Err(_) => return NO_TIME.into(),
        };
        // There may be several signatures, also of other versions.
        if !signature.split(' ').any(|one| one.len() == LENGTH && one.starts_with("v1,")) {
            return NO_SIGNATURE.into();
        }
        let signed = Signed { secret, id, timestamp_s, signature };
        if signed.fits(body) {
            let is_timely = (now.0 / 1_000).abs_diff(timestamp_s) <= TOLERANCE_S;
            let reason = (!is_timely).then_some(TOO_OLD);
            return Checked { is_right: true, reason, same_bytes: None };
        }
        let Some(event) = id.strip_prefix(self.ids) else { return OTHER_WEBHOOK.into() };
        let parsed = read_foreign(body.as_bytes(), MAX_JSON_VALUES).ok();
        if parsed.and_then(|value| to_json(&value).ok()).is_some_and(|body| signed.fits(&body)) {
            return WRITTEN_OTHERWISE.into();
        }
        match event.parse().ok().and_then(|generation| sent(Generation(generation))) {
            Some(sent) if sent == body => OTHER_SECRET.into(),
            Some(sent) if signed.fits(&sent) => {
                let pairs = sent.bytes().zip(body.bytes());
                let same_bytes = pairs.take_while(|(one, other)| one == other).count();
                Checked { same_bytes: Some(same_bytes), ..CHANGED.into() }
            }
            Some(_) | None => UNFIT.into(),
        }
    }
}

/// The secret, and what is signed with it and with the body of a request.
struct Signed<'a> {
    secret: &'a SigningSecret,
    id: &'a str,
    timestamp_s: i64,
    signature: &'a str,
}

impl Signed<'_> {
    /// True if the secret gives one of the signatures for this body.
    #[inline(never)]
    fn fits(&self, body: &str) -> bool {
        let right = Secret::new(self.secret.sign(self.id, self.timestamp_s, body));
        self.signature.split(' ').any(|one| right.is(one))
    }
}

/// The length of `v1,` and the base64 of 32 bytes.
const LENGTH: usize = 47;

/// How many seconds a timestamp may be off, by Standard Webhooks.
const TOLERANCE_S: u64 = 300;

/// The largest number of JSON values in a body that is written anew.
const MAX_JSON_VALUES: usize = 100_000;

const UNSIGNED: &str =
    "the webhook has no signing secret: delete it and register it again, and it gets one";
const MISSING: &str = "a header is missing: webhook-id, webhook-timestamp and webhook-signature are needed, as they came in";
const NO_TIME: &str =
    "webhook-timestamp is not a number of seconds since 1970: take it as it came in";
const NO_SIGNATURE: &str =
    "webhook-signature has no v1, with the base64 of 32 bytes: take it as it came in";
const TOO_OLD: &str =
    "webhook-timestamp is more than 5 minutes off: a receiver would refuse the request now";
const OTHER_WEBHOOK: &str =
    "webhook-id is of another webhook, which has a secret of its own: check it there";
const WRITTEN_OTHERWISE: &str = "the body is the same JSON written otherwise, or with white space around it: verify the bytes as they came in, before they are parsed";
const CHANGED: &str = "the body is not what was sent: verify the bytes as they came in";
const OTHER_SECRET: &str = "webhook-id and body are what was sent: webhook-timestamp was changed, or the webhook had another secret then";
const UNFIT: &str = "webhook-id, webhook-timestamp or the body was changed, or the webhook had another secret then: verify them as they came in";

#[cfg(test)]
mod tests {
    use super::*;

    const SENT: &str = r#"{"statusUpdate":{"taskId":"t","n":1.50,"é":[1,2]}}"#;
    /// The first 20 bytes of it.
    const BEGUN: &str = r#"{"statusUpdate":{"ta"#;
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
            assert_eq!((checked.is_right, checked.reason.is_none()), (true, is_timely), "{off_s}");
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
            (with(|one| one.id = None), SENT, MISSING),
            (with(|one| one.timestamp = None), SENT, MISSING),
            (with(|one| one.signature = None), SENT, MISSING),
            (with(|one| one.timestamp = Some("today".to_owned())), SENT, NO_TIME),
            (with(|one| one.signature = Some("v1,AAAA".to_owned())), SENT, NO_SIGNATURE),
            (with(|one| one.id = Some("o.d.5".to_owned())), SENT, OTHER_WEBHOOK),
            (with(|one| one.timestamp = Some("1700000001".to_owned())), SENT, OTHER_SECRET),
            (test.clone(), &pretty, UNFIT),
            (test.clone(), BEGUN, UNFIT),
            (with(|one| one.id = Some("o.c.6".to_owned())), SENT, UNFIT),
        ] {
            let checked = check(&headers, body);
            assert_eq!(checked, Checked::from(reason));
        }
        for (body, same) in [(&*SENT.replace("1.50", "1.5"), 37), (BEGUN, 20), ("", 0)] {
            let checked = check(&right, body);
            assert_eq!((checked.reason, checked.same_bytes), (Some(CHANGED), Some(same)), "{body}");
        }
        let unsigned = Signer { secret: None, ids: "o.c." };
        let checked = unsigned.check(&right, SENT, UnixMillis(0), |_| None);
        assert_eq!(checked.reason, Some(UNSIGNED));
    }

    #[test]
    fn a_timestamp_is_the_text_that_was_signed() {
        for timestamp in ["+1700000000", "01700000000", "1700000000.0", " 1700000000", ""] {
            let timestamp = Some(timestamp.to_owned());
            let checked = check(&SignedHeaders { timestamp, ..headers("o.c.5", NOW_S) }, SENT);
            assert_eq!(checked.reason, Some(NO_TIME));
        }
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
            assert_eq!(reason, Some(WRITTEN_OTHERWISE), "{body}");
        }
    }
}
