//! The headers of a request on which the access rules of an agent depend. Names are in lower case.

use super::{Access, KeyLocation, Scheme};

/// The header with the address of the client. Cloudflare sets it.
pub const ADDRESS: &str = "cf-connecting-ip";

/// The header that names the caller for whom an operator acts.
pub const ACT_AS: &str = "act-as";

/// The header in which Cloudflare Access names the user whom it has admitted.
pub const ASSERTION: &str = "cf-access-jwt-assertion";

/// The name under which `js/hop.js` passes the client certificate, beside the headers.
pub const CERTIFICATE: &str = ":certificate";

/// The header that names the page from which a browser sends a request.
pub const ORIGIN: &str = "origin";

const AUTHORIZATION: &str = "authorization";
const COOKIE: &str = "cookie";

impl Access {
    /// The headers that decide who the caller is: those of the schemes; those that name the page of a browser, which adds some
    /// credentials itself; and the header of operators.
    pub fn credential_headers(&self) -> Vec<String> {
        let of_schemes = self.schemes.values().filter_map(Scheme::header);
        let is_ambient = self.schemes.values().any(Scheme::is_ambient);
        let of_pages: &[&str] = if is_ambient { &[ORIGIN, "sec-fetch-site"] } else { &[] };
        // Only an agent that identifies its callers can have operators.
        let of_operators = (!self.is_anonymous()).then(|| ACT_AS.to_owned());
        of_schemes
            .chain(of_pages.iter().map(|name| (*name).to_owned()))
            .chain(of_operators)
            .collect()
    }

    /// All headers that the rules read: [`credential_headers`](Self::credential_headers), and those of credentials for tasks, of
    /// allowed origins and of rate limits. An agent that can have no operators refuses requests in the name of one.
    pub fn headers(&self) -> Vec<String> {
        let others = [
            (self.is_anonymous(), ACT_AS),
            (self.may_hand_authorization_to_tasks(), AUTHORIZATION),
            (!self.allowed_origins.is_empty(), ORIGIN),
            (!self.rate_limits.is_empty(), ADDRESS),
        ];
        let others = others.into_iter().filter(|(is_read, _)| *is_read);
        self.credential_headers()
            .into_iter()
            .chain(others.map(|(_, name)| name.to_owned()))
            .collect()
    }
}

impl Scheme {
    /// The header that contains the credential; `None` for a key in the query.
    pub fn header(&self) -> Option<String> {
        let name = match self {
            Self::ApiKey(key) => match key.location {
                KeyLocation::Header => return Some(key.name.to_ascii_lowercase()),
                KeyLocation::Query => return None,
                KeyLocation::Cookie => COOKIE,
            },
            Self::Bearer(_) | Self::Basic(_) => AUTHORIZATION,
            Self::Jwt(jwt) => jwt.cookie.as_ref().map_or(AUTHORIZATION, |_| COOKIE),
            Self::CloudflareAccess(_) => ASSERTION,
            Self::MutualTls(_) => CERTIFICATE,
        };
        Some(name.to_owned())
    }

    /// True if a browser adds the credential itself, for any page that sends a request.
    pub fn is_ambient(&self) -> bool {
        match self {
            Self::ApiKey(key) => key.location == KeyLocation::Cookie,
            Self::Jwt(jwt) => jwt.cookie.is_some(),
            Self::Bearer(_) | Self::Basic(_) => false,
            Self::CloudflareAccess(_) | Self::MutualTls(_) => true,
        }
    }
}
