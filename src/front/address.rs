//! The address of a client, in the form in which rate limits and the memory limits for bodies count it.

use std::net::{IpAddr, Ipv6Addr};

use super::head::Head;
use a2a::binding::http::OWS;

/// The address of a request for counting: an IPv4 address, or the network of an IPv6 address.
pub(crate) fn address(head: &Head<'_>) -> String {
    // The platform always sets the header. All requests without it count as one address.
    head.header(ADDRESS).and_then(network).unwrap_or_else(|| "unknown".to_owned())
}

/// The text under which an address is counted; `None` if `text` is no IP address. An IPv6 address is counted by its
/// first 64 bits, because a client usually controls the other 64.
pub(crate) fn network(text: &str) -> Option<String> {
    match text.trim_matches(OWS).parse::<IpAddr>().ok()?.to_canonical() {
        IpAddr::V4(address) => Some(address.to_string()),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Some(format!("{}/64", Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0)))
        }
    }
}

/// The header in which the platform passes the address of the client. The platform replaces any value that a client
/// sends.
pub(crate) use a2a_agents::access::ADDRESS;
