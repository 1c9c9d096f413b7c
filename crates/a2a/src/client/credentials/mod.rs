//! The credentials of the client for agents.

mod oauth;

use std::fmt;

use futures_util::future::LocalBoxFuture;

use super::ClientError;
use crate::http::HttpRequest;
use crate::model::Secret;
use crate::wire::percent;
pub use oauth::{OAuth, OAuthSettings, Tokens};

/// Adds credentials to requests. A client calls this only for requests to the host of its settings' URL.
pub trait Credentials {
    /// Adds the credentials to this request.
    ///
    /// # Errors
    ///
    /// If the credentials cannot be obtained.
    fn put<'a>(
        &'a self,
        request: &'a mut HttpRequest,
    ) -> LocalBoxFuture<'a, Result<(), ClientError>>;

    /// Called if the server has refused the credentials (401). Returns true if the client should send the request
    /// once more, with new credentials.
    fn refused(&self) -> bool {
        false
    }
}

/// A bearer token in the header `Authorization` (RFC 6750).
///
/// ```
/// use std::rc::Rc;
///
/// use a2a::client::simulation::Simulation;
/// use a2a::client::{Bearer, Client, Settings};
///
/// let client = Client::new(Settings::new("https://a.example"), Simulation::default().ports());
/// let client = client.with_credentials(Rc::new(Bearer::new("the token")));
/// ```
#[derive(Clone, Debug)]
pub struct Bearer(Secret);

impl Bearer {
    /// Credentials with this token.
    pub fn new(token: impl Into<String>) -> Self {
        Self(Secret::new(token))
    }
}

impl Credentials for Bearer {
    fn put<'a>(
        &'a self,
        request: &'a mut HttpRequest,
    ) -> LocalBoxFuture<'a, Result<(), ClientError>> {
        let put = authorize(request, &self.0);
        Box::pin(std::future::ready(put))
    }
}

/// A key in a header, in the query or in a cookie (spec §4.5.2).
///
/// ```
/// use a2a::client::{ApiKey, Credentials};
/// use a2a::http::HttpRequest;
///
/// let mut request = HttpRequest::get("https://a.example/x");
/// futures_executor::block_on(ApiKey::query("key", "a b").put(&mut request))?;
/// assert_eq!(request.url, "https://a.example/x?key=a%20b");
/// # Ok::<(), a2a::client::ClientError>(())
/// ```
#[derive(Clone)]
pub struct ApiKey {
    place: Place,
    name: String,
    value: Secret,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Header,
    Query,
    Cookie,
}

impl ApiKey {
    /// A key in the header of this name.
    pub fn header(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { place: Place::Header, name: name.into(), value: Secret::new(value) }
    }

    /// A key in the query parameter of this name, added to each URL.
    pub fn query(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { place: Place::Query, name: name.into(), value: Secret::new(value) }
    }

    /// A key in the cookie of this name.
    pub fn cookie(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { place: Place::Cookie, name: name.into(), value: Secret::new(value) }
    }

    fn put_on(&self, request: &mut HttpRequest) -> Result<(), ClientError> {
        let value = self.value.reveal();
        match self.place {
            Place::Header => {
                check_header(value, &self.name)?;
                request.headers.push((self.name.clone(), value.to_owned()));
            }
            Place::Query => {
                let bare = HttpRequest::new(request.method, std::mem::take(&mut request.url));
                request.url = bare.with_query(&self.name, value).url;
            }
            Place::Cookie => {
                let own = format!("{}={}", self.name, percent::encode(value));
                let is_cookie = |name: &str| name.eq_ignore_ascii_case("cookie");
                let others = request.headers.iter().rfind(|(name, _)| is_cookie(name));
                let all = others.map_or(own.clone(), |(_, others)| format!("{others}; {own}"));
                request.headers.retain(|(name, _)| !is_cookie(name));
                request.headers.push(("cookie".to_owned(), all));
            }
        }
        Ok(())
    }
}

impl Credentials for ApiKey {
    fn put<'a>(
        &'a self,
        request: &'a mut HttpRequest,
    ) -> LocalBoxFuture<'a, Result<(), ClientError>> {
        Box::pin(std::future::ready(self.put_on(request)))
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "ApiKey({:?} {:?})", self.place, self.name)
    }
}

/// Adds a bearer token to a request.
fn authorize(request: &mut HttpRequest, token: &Secret) -> Result<(), ClientError> {
    check_header(token.reveal(), "authorization")?;
    let value = format!("Bearer {}", token.reveal());
    request.headers.push(("authorization".to_owned(), value));
    Ok(())
}

/// Checks that a secret can be the value of a header. Otherwise the platform's error would quote the secret.
fn check_header(value: &str, name: &str) -> Result<(), ClientError> {
    if !value.is_empty() && value.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Ok(());
    }
    let reason = format!("the secret for the header {name} must be printable ASCII, and not empty");
    Err(ClientError::Credentials(reason))
}

#[cfg(test)]
mod tests {
    use futures_executor::block_on;

    use super::*;

    fn put(credentials: &dyn Credentials, mut request: HttpRequest) -> Result<HttpRequest, String> {
        let put = block_on(credentials.put(&mut request));
        put.map(|()| request).map_err(|error| error.to_string())
    }

    #[test]
    fn each_kind_of_credentials_goes_to_its_place() {
        let request = || HttpRequest::get("https://a.example/x?y=1");
        let headers = |key: &dyn Credentials| put(key, request()).expect("put").headers;
        let header = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
        assert_eq!(headers(&Bearer::new("t")), header("authorization", "Bearer t"));
        assert_eq!(headers(&ApiKey::header("X-Key", "k")), header("X-Key", "k"));
        assert_eq!(headers(&ApiKey::cookie("sid", "a;b")), header("cookie", "sid=a%3Bb"));
        let with_cookie = request().with_header("Cookie", "a=1");
        let joined = put(&ApiKey::cookie("sid", "2"), with_cookie).expect("put").headers;
        assert_eq!(joined, header("cookie", "a=1; sid=2"));
        let url = put(&ApiKey::query("k", "a&b"), request()).expect("put").url;
        assert_eq!(url, "https://a.example/x?y=1&k=a%26b");
    }

    #[test]
    fn a_secret_that_no_header_can_hold_is_refused_without_showing_it() {
        for secret in ["", "s3cret\n", "s\u{e9}cret"] {
            for credentials in
                [&Bearer::new(secret) as &dyn Credentials, &ApiKey::header("x", secret)]
            {
                let error = put(credentials, HttpRequest::get("https://a")).expect_err(secret);
                assert!(error.contains("must be printable ASCII"), "{error}");
                assert!(!error.contains("s3cret") && !error.contains('\u{e9}'), "{error}");
            }
        }
    }

    #[test]
    fn credentials_do_not_show() {
        for shown in [
            format!("{:?}", Bearer::new("s3cret")),
            format!("{:?}", ApiKey::header("x", "s3cret")),
            format!("{:?}", ApiKey::query("x", "s3cret")),
        ] {
            assert!(!shown.contains("s3cret"), "{shown}");
        }
    }
}
