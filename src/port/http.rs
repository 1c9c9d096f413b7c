//! Requests to other servers.

/// A request to another server. Redirects are not followed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpRequest {
    /// The method, as `POST`.
    pub method: &'static str,
    /// The absolute URL, http or https.
    pub url: String,
    /// Headers.
    pub headers: Vec<(String, String)>,
    /// The body, if there is one.
    pub body: Option<String>,
    /// How long to wait for the whole answer, in milliseconds.
    pub timeout_ms: u64,
    /// The largest body that is taken, in bytes; a larger one is an error.
    pub max_bytes: usize,
}

impl HttpRequest {
    /// A request with the bounds that suit most: 30 s and 1 MiB.
    pub fn new(method: &'static str, url: impl Into<String>) -> Self {
        let url = url.into();
        Self { method, url, timeout_ms: 30_000, max_bytes: 1024 * 1024, ..Self::default() }
    }
}

/// What the other server answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpAnswer {
    /// The status.
    pub status: u16,
    /// The body; what is not UTF-8 in it is replaced.
    pub body: String,
}

impl HttpAnswer {
    /// Whether the status says that the request succeeded.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}
