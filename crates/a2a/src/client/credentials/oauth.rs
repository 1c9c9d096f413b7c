//! Tokens for programs: the OAuth 2.0 client credentials grant (RFC 6749 §4.4).

use std::cell::RefCell;
use std::rc::Rc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures_util::FutureExt;
use futures_util::future::{LocalBoxFuture, Shared};
use serde_json::Value;

use super::{Credentials, authorize};
use crate::client::address::Address;
use crate::client::{ClientError, Ports};
use crate::http::{HttpError, HttpRequest};
use crate::model::{MAX_DOCUMENT_VALUES, Secret, UnfitJson, UnixMillis, read_foreign};
use crate::sorted::SortedMap;
use crate::wire::percent;

/// The token endpoint, and the parameters of token requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OAuthSettings {
    /// The token endpoint: an https URL, or a URL of this machine.
    pub token_url: String,
    /// The client id of the program.
    pub client_id: String,
    /// The client secret.
    pub client_secret: Secret,
    /// The requested scopes.
    pub scopes: Vec<String>,
    /// The parameter `audience`, which some providers require.
    pub audience: Option<String>,
    /// True if the client id and secret are sent in the body instead of the header `Authorization` (RFC 6749 §2.3.1), for
    /// providers that do not accept the header.
    pub secret_in_body: bool,
}

impl OAuthSettings {
    /// Settings for a program at a token endpoint, without scopes.
    pub fn new(
        token_url: impl Into<String>,
        client_id: impl Into<String>,
        client_secret: impl Into<String>,
    ) -> Self {
        Self {
            token_url: token_url.into(),
            client_id: client_id.into(),
            client_secret: Secret::new(client_secret),
            scopes: Vec::new(),
            audience: None,
            secret_in_body: false,
        }
    }

    /// The cache key of the tokens for these settings.
    fn key(&self) -> String {
        let audience = self.audience.as_deref().unwrap_or_default();
        let secret = self.client_secret.reveal();
        let all = [&self.token_url, &self.client_id, &self.scopes.join(" "), audience, secret];
        // Different settings have different keys, because no encoded text contains a line break.
        all.map(percent::encode).join("\n")
    }
}

/// Tokens of OAuth 2.0 client credentials. A token is fetched when it is first needed, cached until shortly before it
/// expires, and fetched again if the agent refuses it. Concurrent callers share one token request.
///
/// ```
/// use std::rc::Rc;
///
/// use a2a::client::simulation::Simulation;
/// use a2a::client::{Client, OAuth, OAuthSettings, Settings};
///
/// let ports = Simulation::default().ports();
/// let oauth = OAuthSettings {
///     scopes: vec!["agents.call".to_owned()],
///     ..OAuthSettings::new("https://login.example/token", "my-program", "its secret")
/// };
/// let client = Client::new(Settings::new("https://a.example"), ports.clone());
/// let client = client.with_credentials(Rc::new(OAuth::new(oauth, ports)));
/// ```
pub struct OAuth {
    settings: OAuthSettings,
    ports: Ports,
    tokens: Rc<Tokens>,
    /// The token request in progress.
    fetching: RefCell<Option<Fetching>>,
}

type Fetching = Shared<LocalBoxFuture<'static, Result<Secret, ClientError>>>;

/// A cache of at most 100 tokens. The cache is plain data that a whole program may share, for any number of providers.
#[derive(Default)]
pub struct Tokens(RefCell<SortedMap<String, Token>>);

#[derive(Clone)]
struct Token {
    value: Secret,
    fetched: UnixMillis,
    /// The end of the time in which the token is used.
    until: UnixMillis,
}

impl OAuth {
    /// A source of tokens with its own cache.
    pub fn new(settings: OAuthSettings, ports: Ports) -> Self {
        let fetching = RefCell::default();
        Self { settings, ports, tokens: Rc::default(), fetching }
    }

    /// Uses a shared cache, whose tokens other users may also fetch and use.
    #[must_use]
    pub fn with_tokens(self, tokens: Rc<Tokens>) -> Self {
        Self { tokens, ..self }
    }

    async fn token(&self) -> Result<Secret, ClientError> {
        let now = self.ports.clock.now();
        if let Some(token) = self.tokens.get(&self.settings.key(), now) {
            return Ok(token.value);
        }
        let under_way = self.fetching.borrow().clone().filter(|fetching| fetching.peek().is_none());
        let fetching = under_way.unwrap_or_else(|| {
            let (settings, ports) = (self.settings.clone(), self.ports.clone());
            let tokens = Rc::clone(&self.tokens);
            let fetching = fetch(settings, ports, tokens).boxed_local().shared();
            self.fetching.replace(Some(fetching.clone()));
            fetching
        });
        fetching.await
    }
}

impl Credentials for OAuth {
    fn put<'a>(
        &'a self,
        request: &'a mut HttpRequest,
    ) -> LocalBoxFuture<'a, Result<(), ClientError>> {
        Box::pin(async move {
            let token = self.token().await?;
            authorize(request, &token)
        })
    }

    fn refused(&self) -> bool {
        self.tokens.refuse(&self.settings.key(), self.ports.clock.now());
        true
    }
}

impl Tokens {
    fn get(&self, key: &str, now: UnixMillis) -> Option<Token> {
        self.0.borrow().get(key).filter(|token| now < token.until).cloned()
    }

    fn keep(&self, key: String, token: Token) {
        let mut all = self.0.borrow_mut();
        all.retain(|_, other| token.fetched < other.until);
        if all.len() >= MAX_TOKENS {
            let first = all.iter().min_by_key(|(_, other)| other.until);
            let first = first.map(|(key, _)| key.clone());
            first.map(|first| all.remove(&first));
        }
        all.insert(key, token);
    }

    /// Removes a token that an agent has refused, unless the token is so new that another request has already fetched it as
    /// the replacement.
    fn refuse(&self, key: &str, now: UnixMillis) {
        let is_new = |token: &Token| now.millis_since(token.fetched) < NEW_MS;
        let mut all = self.0.borrow_mut();
        if all.get(key).is_some_and(|token| !is_new(token)) {
            all.remove(key);
        }
    }
}

async fn fetch(
    settings: OAuthSettings,
    ports: Ports,
    tokens: Rc<Tokens>,
) -> Result<Secret, ClientError> {
    let request = token_request(&settings)?;
    let asked = ports.clock.now();
    let answer = ports.http.send(request).await?.text().await?;
    let url = &settings.token_url;
    if !answer.is_success() {
        let json = read_foreign(answer.body.as_bytes(), MAX_DOCUMENT_VALUES).unwrap_or_default();
        let status = answer.status;
        // These statuses are temporary failures of the provider, not refusals.
        if matches!(status, 408 | 429 | 500..=599) {
            let begins = String::new();
            return Err(HttpError::Status { url: url.clone(), status, begins }.into());
        }
        let code = json.get("error").and_then(Value::as_str).filter(|code| is_code(code));
        let code = code.map(|code| format!(" ({code})")).unwrap_or_default();
        return Err(failed(&format!("the token endpoint answered {status}{code}")));
    }
    let json =
        read_foreign(answer.body.as_bytes(), MAX_DOCUMENT_VALUES).map_err(|unfit| match unfit {
            // The parser's error may quote the answer, which may contain secrets.
            UnfitJson::NotJson { .. } => failed("the answer of the token endpoint is not JSON"),
            beyond => failed(&format!("the answer of the token endpoint {beyond}")),
        })?;
    let text = |name: &str| json.get(name).and_then(Value::as_str);
    if !text("token_type").is_none_or(|kind| kind.eq_ignore_ascii_case("bearer")) {
        return Err(failed("the token endpoint gives out tokens that are no bearer tokens"));
    }
    let value = text("access_token").filter(|token| !token.is_empty());
    let value =
        value.ok_or_else(|| failed("the answer of the token endpoint has no access_token"))?;
    let value = Secret::new(value);
    let lives_ms = lifetime_ms(json.get("expires_in"));
    let margin_ms = MARGIN_MS.min(lives_ms / 2);
    let until = asked.after(lives_ms - margin_ms);
    let token = Token { value: value.clone(), fetched: ports.clock.now(), until };
    tokens.keep(settings.key(), token);
    Ok(value)
}

fn token_request(settings: &OAuthSettings) -> Result<HttpRequest, ClientError> {
    let place = Address::parse(&settings.token_url).filter(Address::is_safe);
    let place = place.ok_or_else(|| {
        let reason = "the URL of the token endpoint must be an absolute one of https";
        ClientError::Settings(reason.to_owned())
    })?;
    let mut form = vec![("grant_type", "client_credentials".to_owned())];
    if !settings.scopes.is_empty() {
        form.push(("scope", settings.scopes.join(" ")));
    }
    form.extend(settings.audience.iter().map(|audience| ("audience", audience.clone())));
    let (id, secret) = (&settings.client_id, settings.client_secret.reveal());
    let mut request = HttpRequest::post(place.url()).with_header("Accept", "application/json");
    request.max_bytes = MAX_BYTES;
    if settings.secret_in_body {
        form.extend([("client_id", id.clone()), ("client_secret", secret.to_owned())]);
    } else {
        let both = format!("{}:{}", percent::encode(id), percent::encode(secret));
        let value = format!("Basic {}", STANDARD.encode(both));
        request = request.with_header("Authorization", value);
    }
    let pairs = form.iter().map(|(name, value)| format!("{name}={}", percent::encode(value)));
    let body = pairs.collect::<Vec<_>>().join("&");
    Ok(request.with_header("Content-Type", "application/x-www-form-urlencoded").with_body(body))
}

/// The lifetime of a token, in milliseconds.
fn lifetime_ms(expires_in: Option<&Value>) -> u64 {
    let seconds = match expires_in {
        Some(Value::Number(number)) => {
            number.as_u64().or_else(|| number.as_f64().map(|it| it as u64))
        }
        Some(Value::String(text)) => text.parse().ok(),
        _ => None,
    };
    seconds.map_or(DEFAULT_MS, |seconds| seconds.saturating_mul(1_000)).min(MAX_MS)
}

/// True if the text is an error code (RFC 6749 §5.2); any other text might quote secrets.
fn is_code(code: &str) -> bool {
    code.len() <= 40 && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

fn failed(reason: &str) -> ClientError {
    ClientError::Credentials(format!("no token was obtained: {reason}"))
}

/// The time before the end of a token in which the token is not used, in milliseconds; at most half of the token's
/// lifetime.
const MARGIN_MS: u64 = 60_000;

/// The lifetime of a token for which the provider sends no lifetime, in milliseconds.
const DEFAULT_MS: u64 = 300_000;

/// The longest time for which a token is cached: a day, in milliseconds.
const MAX_MS: u64 = 86_400_000;

/// A token below this age, in milliseconds, may have been fetched while the request with the refused token was in progress.
const NEW_MS: u64 = 10_000;

/// The largest number of cached tokens.
const MAX_TOKENS: usize = 100;

/// The largest answer of a token endpoint, in bytes.
const MAX_BYTES: usize = 64 * 1024;

#[cfg(test)]
mod tests;
