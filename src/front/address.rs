//! The address of a client, as rate limits and the room for bodies count it.

use std::net::{IpAddr, Ipv6Addr};

use super::head::Head;
use a2a::binding::http::OWS;

/// What is counted together as the address of a request.
pub(crate) fn address(head: &Head<'_>) -> String {
    // The platform always gives it. Requests without one count together.
    head.header(ADDRESS).and_then(network).unwrap_or_else(|| "unknown".to_owned())
}

/// What is counted together as this address; `None` if it is none. A client that has one IPv6 address has the 2^64 that begin
/// alike.
pub(crate) fn network(text: &str) -> Option<String> {
    match text.trim_matches(OWS).parse::<IpAddr>().ok()?.to_canonical() {
        IpAddr::V4(address) => Some(address.to_string()),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Some(format!("{}/64", Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0)))
        }
    }
}

/// The header in which the platform gives the address of the client. What a client sends under this name is lost.
pub(crate) const ADDRESS: &str = "cf-connecting-ip";
