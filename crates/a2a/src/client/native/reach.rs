//! The allowed targets of guarded requests.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use reqwest::Url;

/// Checks that a guarded request may be sent to this URL. Host names are checked later, at their resolution.
///
/// # Errors
///
/// The violated requirement, as a text that begins with `must`.
pub(super) fn check(url: &str) -> Result<(), String> {
    let url = Url::parse(url).map_err(|error| format!("must be a URL: {error}"))?;
    if url.scheme() != "https" {
        return Err(format!("must be one of https, got {}", url.scheme()));
    }
    let host = url.host_str().unwrap_or_default();
    let literal = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    if literal.is_ok_and(|address| !is_public(address)) {
        return Err(format!("must lead to a public address, got {host}"));
    }
    Ok(())
}

/// True if an address belongs to the public internet, and not to this machine or a private network.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    let is_shared = first == 100 && (64..128).contains(&second);
    let is_benchmark = first == 198 && (18..20).contains(&second);
    let is_assigned = (first, second, third) == (192, 0, 0);
    !(first == 0
        || first >= 224
        || address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || is_shared
        || is_benchmark
        || is_assigned)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    // An IPv4 address in another form: mapped, by NAT64, by 6to4 or by Teredo.
    let is_wrapped = address.to_ipv4_mapped().is_some()
        || (first, second) == (0x64, 0xff9b)
        || first == 0x2002
        || (first, second) == (0x2001, 0);
    let is_documentation = (first, second) == (0x2001, 0xdb8);
    // Only addresses with the prefix 001 are assigned in the public internet.
    first & 0xe000 == 0x2000 && !is_wrapped && !is_documentation
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guarded_requests_go_to_public_addresses_by_https() {
        for (url, may) in [
            ("https://a.example/x", true),
            ("https://8.8.8.8/", true),
            ("https://[2606:4700::1111]/", true),
            ("http://a.example/x", false),
            ("https://127.0.0.1/", false),
            ("https://0x7f.1/", false),
            ("https://10.0.0.1/", false),
            ("https://169.254.169.254/latest", false),
            ("https://192.168.0.1/", false),
            ("https://172.16.0.1/", false),
            ("https://100.64.0.1/", false),
            ("https://0.0.0.0/", false),
            ("https://[::1]/", false),
            ("https://[::]/", false),
            ("https://[fd00::1]/", false),
            ("https://[fe80::1]/", false),
            ("https://[::ffff:10.0.0.1]/", false),
            ("https://[64:ff9b::a00:1]/", false),
            ("https://[2002:a00:1::]/", false),
            ("ftp://a.example", false),
            ("none", false),
        ] {
            assert_eq!(check(url).is_ok(), may, "{url}");
        }
    }
}
