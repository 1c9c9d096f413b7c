//! OpenID Connect Discovery 1.0: finds the URL of an issuer's keys.

use a2a::model::{MAX_DOCUMENT_VALUES, read_foreign_as};
use serde::Deserialize;

/// The URL of an issuer's discovery document (§4). A slash at the end of the issuer is ignored.
pub fn document_url(issuer: &str) -> String {
    let issuer = issuer.strip_suffix('/').unwrap_or(issuer);
    format!("{issuer}/.well-known/openid-configuration")
}

/// The URL of the key set in the discovery document of this issuer.
///
/// # Errors
///
/// If the document is invalid; the text states the requirement. The document must name exactly this issuer (§4.3);
/// otherwise the author of another document could issue tokens in the issuer's name.
pub fn key_set_url(document: &str, issuer: &str) -> Result<String, &'static str> {
    let no_document = "must be a JSON object with the texts issuer and jwks_uri";
    let found: Document =
        read_foreign_as(document.as_bytes(), MAX_DOCUMENT_VALUES).map_err(|_| no_document)?;
    if found.issuer != issuer {
        return Err(
            "must have the member issuer that the agent's file names, character by character",
        );
    }
    Ok(found.jwks_uri)
}

#[derive(Deserialize)]
struct Document {
    issuer: String,
    jwks_uri: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_below_its_issuer() {
        for issuer in ["https://id.example/realms/a", "https://id.example/realms/a/"] {
            let url = "https://id.example/realms/a/.well-known/openid-configuration";
            assert_eq!(document_url(issuer), url);
        }
    }

    #[test]
    fn a_document_must_be_about_its_issuer() {
        let read = |document: &str| key_set_url(document, "https://id.example");
        let document = |issuer: &str, rest: &str| format!(r#"{{"issuer":"{issuer}"{rest}}}"#);
        let keys = r#","jwks_uri":"https://keys.example/","scopes_supported":["a"]"#;
        assert_eq!(read(&document("https://id.example", keys)).unwrap(), "https://keys.example/");
        for issuer in ["https://id.example/", "https://ID.example", "http://id.example", "", "evil"]
        {
            assert!(read(&document(issuer, keys)).unwrap_err().contains("issuer"), "{issuer}");
        }
        for rest in ["", r#","jwks_uri":7"#, r#","jwks_uri":null"#, r#","jwks_uri":["a"]"#] {
            assert!(read(&document("https://id.example", rest)).is_err(), "{rest}");
        }
        let twice = r#","issuer":"evil","jwks_uri":"https://keys.example/""#;
        assert!(read(&document("https://id.example", twice)).is_err());
        let values = |count: usize| format!(r#"{keys},"rest":[{}0]"#, "0,".repeat(count));
        assert!(read(&document("https://id.example", &values(19_000))).is_ok());
        assert!(read(&document("https://id.example", &values(20_000))).is_err());
        let deep = format!(r#"{keys},"rest":{}{}"#, "[".repeat(101), "]".repeat(101));
        assert!(read(&document("https://id.example", &deep)).is_err());
        for text in ["", "<html>", "[]", "null"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
