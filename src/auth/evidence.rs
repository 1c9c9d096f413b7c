//! The data of a request that can identify its caller.

/// The data of a request that can identify its caller: everything except its body.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// The HTTP method, in upper case.
    pub method: &'a str,
    /// The origin of the request's URL, for example `https://agents.example`.
    pub origin: &'a str,
    /// The query of the request's URL, without the question mark.
    pub query: &'a str,
    /// The headers of the request: names in lower case, several values of one name joined by commas. The platform adds
    /// [`CERTIFICATE`](Self::CERTIFICATE).
    pub headers: &'a [(&'a str, &'a str)],
}

impl<'a> Evidence<'a> {
    /// The name under which the platform reports the client certificate that it has verified, as JSON. No client can
    /// send a header of this name.
    pub const CERTIFICATE: &'static str = a2a_agents::access::CERTIFICATE;

    /// The value of a header, whose name is in lower case.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        let found = self.headers.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| *value)
    }
}
