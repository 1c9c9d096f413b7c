//! Verifies the signatures of cards with ring.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::future::LocalBoxFuture;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents,
    UnparsedPublicKey,
};
use serde_json::Value;

use crate::client::Verifier;
use crate::model::read_own;

/// Verifies ES256, RS256 with keys of 2048 to 8192 bits, and EdDSA with Ed25519.
#[derive(Clone, Copy, Debug, Default)]
pub struct NativeVerifier;

impl Verifier for NativeVerifier {
    fn verify<'a>(
        &'a self,
        jwk: &'a str,
        algorithm: &'a str,
        text: &'a [u8],
        signature: &'a [u8],
    ) -> LocalBoxFuture<'a, bool> {
        let is_right = is_right(jwk, algorithm, text, signature).unwrap_or_default();
        Box::pin(std::future::ready(is_right))
    }
}

fn is_right(jwk: &str, algorithm: &str, text: &[u8], signature: &[u8]) -> Option<bool> {
    let jwk: Value = read_own(jwk).ok()?;
    let word = |name: &str| jwk.get(name).and_then(Value::as_str);
    let bytes = |name: &str| URL_SAFE_NO_PAD.decode(word(name)?).ok();
    let verified = match (algorithm, word("kty")?, word("crv")) {
        ("ES256", "EC", Some("P-256")) => {
            // The key as an uncompressed point (SEC 1 §2.3.3).
            let point = [vec![4], bytes("x")?, bytes("y")?].concat();
            UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(text, signature)
        }
        ("EdDSA", "OKP", Some("Ed25519")) => {
            UnparsedPublicKey::new(&ED25519, bytes("x")?).verify(text, signature)
        }
        ("RS256", "RSA", _) => {
            let key = RsaPublicKeyComponents { n: bytes("n")?, e: bytes("e")? };
            key.verify(&RSA_PKCS1_2048_8192_SHA256, text, signature)
        }
        _ => return None,
    };
    Some(verified.is_ok())
}

#[cfg(test)]
mod tests {
    use futures_executor::block_on;

    use super::*;

    /// Signatures made with OpenSSL: the algorithm, the key, and the signed text with its signature.
    const EXAMPLES: [(&str, &str, &str); 3] = [
        (
            "ES256",
            r#"{"kty":"EC","x":"JjWftvM5pWXZeWniDRHw6hhUVzhmjCJfIyy-w8oQPM0","y":"y9Z7UNqrOjPe69pLuzBKCp4CCLGyW5d9Of11WvO3raE","crv":"P-256"}"#,
            "eyJhbGciOiJFUzI1NiIsImtpZCI6IjEifQ.eyJuYW1lIjoiQSJ9.5AOwNUwQLHCHPAVoGG501RP1UagcVblZ4I5itz1hgyLxNzgZVnvvvwUrd_nWf43-dCJ7zUeSrM4j3xZug9pl1Q",
        ),
        (
            "RS256",
            r#"{"kty":"RSA","n":"tQSP6BeWUI6fn8erbTbM5JIpg4dXNRrQr9NcKcyaBwYhNV10fYzyvSUQL9m-xcepnG_XBeDh4N7Q-m_BFEQ0lEUrY1gQQjHal3OGXbXfk5ipdJNehjeOlzs0ewvJiJ5jfXK8sBJhHcUfbovKIJfCqsEo13DRrqulUkgeqYoeEQ1Idhznp1mazZBQCMpnIdtHeXNExNDez_q6Kp1RW1G7UtKMmfOvMUn-f_DFLSOLuM-x7dKpD354zwWCefovcyoKBLut_TGH48Vyq8xif3oj-O7uAWOPCd6Wn2U6hc_DxJlapmCvm1dTk1koKu4rsbCCgczvRJJwpaeOnRG1H67ojQ","e":"AQAB"}"#,
            "eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJuYW1lIjoiQSJ9.K15CZqquQfI3Kclz7SFl2lh46WUZ1ef4pMKByNSbBiQkYNKoL0is2pp62VPkKyRjcVGxFklUH3sbjN3QGX8z-qkeGb9R1JBySUdDzP9BnU90ZAUrxNlqk5-AvL2iq-SiOgjO876U3ehnbrf8OP2p32PXoK67_ZenmT_cbvaRfQfmC5neVOZS8O0ghMjQ8hxnHXuckduILwkr3Nztyu4C2uwy5ZuMosnJHFF-62_K-fiH4x8ewOm9BeA4pO0ADH-GJKkiZUCc4N0b-R2k8nzKIJWmH8O3IanUu9v3v_tWZmDpBFAYwVfFOHGqNBOrbb5rgP-fctGKVcbCH7F_59jxTg",
        ),
        (
            "EdDSA",
            r#"{"crv":"Ed25519","x":"o2dqlOmIB1V28IuB5_qjmjfbJoQ43p1ninTn2qmFhnQ","kty":"OKP"}"#,
            "eyJhbGciOiJFZERTQSIsImtpZCI6IjEifQ.eyJuYW1lIjoiQSJ9.EeW5IMy5J172oKGwLi8IsZeAIed4nw8I9ukArZd3mnOdXJkIr4gpDvB7Qo5gw3kQxZKB1vh7943I4c8ERR8xCw",
        ),
    ];

    #[test]
    fn signatures_of_another_library_are_right_and_anything_else_is_wrong() {
        let verify = |jwk: &str, algorithm: &str, text: &str, signature: &[u8]| {
            block_on(NativeVerifier.verify(jwk, algorithm, text.as_bytes(), signature))
        };
        for (algorithm, jwk, jws) in EXAMPLES {
            let (text, signature) = jws.rsplit_once('.').expect("a signature");
            let signature = URL_SAFE_NO_PAD.decode(signature).expect("base64url");
            assert!(verify(jwk, algorithm, text, &signature), "{algorithm}");
            assert!(!verify(jwk, algorithm, &format!("{text}x"), &signature));
            assert!(!verify(jwk, algorithm, text, &signature[1..]));
            assert!(!verify(jwk, "HS256", text, &signature));
            assert!(!verify("{}", algorithm, text, &signature));
            for (other, other_jwk, _) in EXAMPLES.iter().filter(|(other, ..)| *other != algorithm) {
                assert!(!verify(other_jwk, algorithm, text, &signature), "{other}");
                assert!(!verify(jwk, other, text, &signature), "{other}");
            }
        }
    }
}
