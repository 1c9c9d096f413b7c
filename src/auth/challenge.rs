//! The answers to refused clients: a message, and challenges in `WWW-Authenticate` (RFC 9110 §11.6.1, RFC 6750 §3).

use super::method::{Method, Place};
use a2a::error::{Error, Refusal};
use a2a::sorted::sort_by;

/// The challenges of an agent.
pub(super) struct Challenges {
    realm: String,
    /// The places of credentials, each once, `Bearer` first: some clients read only the first challenge.
    places: Vec<Place>,
}

impl Challenges {
    /// The challenges of the agent with this slug and these schemes.
    pub(super) fn new(realm: &str, methods: &[Method]) -> Self {
        let mut places: Vec<Place> = Vec::new();
        for method in methods {
            if !places.contains(&method.place) {
                places.push(method.place.clone());
            }
        }
        let rank = |place: &Place| match place {
            Place::Bearer => 0,
            Place::Basic => 1,
            _ => 2,
        };
        sort_by(&mut places, |one, other| rank(one).cmp(&rank(other)));
        Self { realm: realm.to_owned(), places }
    }

    /// The refusal of a request without credentials.
    pub(super) fn missing(&self) -> Error {
        let ways: Vec<String> = self.places.iter().map(described).collect();
        let message = format!("credentials are needed: {}", ways.join(", or "));
        let challenges = self.places.iter().map(|place| self.challenge(place, "")).collect();
        Error::Unauthenticated(Box::new(Refusal { message, challenges }))
    }

    /// The refusal of credentials.
    pub(super) fn refused(&self, reason: &str) -> Error {
        let described = description(reason);
        let error = format!(", error=\"invalid_token\", error_description=\"{described}\"");
        let challenge = |place: &Place| match place {
            Place::Bearer => self.challenge(place, &error),
            _ => self.challenge(place, ""),
        };
        let message = format!("the credentials are refused: {reason}");
        let challenges = self.places.iter().map(challenge).collect();
        Error::Unauthenticated(Box::new(Refusal { message, challenges }))
    }

    /// The refusal of a caller who lacks these scopes.
    pub(super) fn insufficient(&self, scopes: &[String]) -> Error {
        let listed = scopes.join(" ");
        let message = format!("the credentials are too weak; these scopes are needed: {listed}");
        let error = format!(", error=\"insufficient_scope\", scope=\"{}\"", description(&listed));
        let bearer = self.places.iter().filter(|place| **place == Place::Bearer);
        let challenges = bearer.map(|place| self.challenge(place, &error)).collect();
        Error::PermissionDenied(Box::new(Refusal { message, challenges }))
    }

    /// The refusal of a credential that is not allowed in a request of this kind.
    pub(super) fn forbidden(&self, reason: &str) -> Error {
        let refusal = Refusal { message: reason.to_owned(), challenges: Vec::new() };
        Error::PermissionDenied(Box::new(refusal))
    }

    fn challenge(&self, place: &Place, more: &str) -> String {
        let realm = &self.realm;
        match place {
            Place::Bearer => format!("Bearer realm=\"{realm}\"{more}"),
            Place::Basic => format!("Basic realm=\"{realm}\", charset=\"UTF-8\""),
            Place::Header(name) => key_challenge(realm, "header", name),
            Place::Query(name) => key_challenge(realm, "query", name),
            Place::Cookie(name) => key_challenge(realm, "cookie", name),
            Place::CloudflareAccess => format!("CloudflareAccess realm=\"{realm}\""),
            Place::Certificate => format!("ClientCertificate realm=\"{realm}\""),
        }
    }
}

fn key_challenge(realm: &str, location: &str, name: &str) -> String {
    format!("ApiKey realm=\"{realm}\", in=\"{location}\", name=\"{}\"", description(name))
}

fn described(place: &Place) -> String {
    match place {
        Place::Bearer => "a token, as \"Authorization: Bearer …\"".to_owned(),
        Place::Basic => "a name and a password, as \"Authorization: Basic …\"".to_owned(),
        Place::Header(name) => format!("a key in the header {name}"),
        Place::Query(name) => format!("a key in the query parameter {name}"),
        Place::Cookie(name) => format!("the cookie {name}"),
        Place::CloudflareAccess => "the way through Cloudflare Access".to_owned(),
        Place::Certificate => "a client certificate".to_owned(),
    }
}

/// A text in which every character that is not allowed between quotes in a challenge is replaced by a question mark.
fn description(text: &str) -> String {
    let fits = |letter: char| matches!(letter, ' '..='~') && letter != '"' && letter != '\\';
    text.chars().map(|letter| if fits(letter) { letter } else { '?' }).collect()
}
