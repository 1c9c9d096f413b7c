//! Who may have agents elsewhere called by way of the console, and from which pages.

use super::super::super::mcp::origin::is_loopback;

/// What is known of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts<'a> {
    /// The header `Origin`, which browsers send with every POST.
    pub(super) origin: Option<&'a str>,
    /// The header `Sec-Fetch-Site`, by which browsers say the same.
    pub(super) fetch_site: Option<&'a str>,
    /// The origin at which the request came in.
    pub(super) own: &'a str,
    /// The origin that the operator says it has.
    pub(super) place: &'a str,
    /// Whether an agent of this Worker knows the caller.
    pub(super) is_known: bool,
    /// Whether this is development.
    pub(super) is_development: bool,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stranger {
    /// It comes from a page of another site.
    Page,
    /// No agent knows who makes it.
    Caller,
}

/// Says whether a request may have agents elsewhere called. Pages of other sites never may, whoever has opened them; a caller must be
/// known to an agent of this Worker. In development everybody on this machine may: a request to a name that is no name of this machine comes
/// from elsewhere, or from a page that has given its own name to this machine.
///
/// # Errors
///
/// Why it may not.
pub(super) fn judge(facts: Facts<'_>) -> Result<(), Stranger> {
    let Facts { origin, fetch_site, own, place, is_known, is_development } = facts;
    let is_own = |origin: &str| origin == own || origin == place;
    if !origin.is_none_or(is_own) || fetch_site.is_some_and(|site| site != "same-origin") {
        return Err(Stranger::Page);
    }
    if is_known || is_development && is_loopback(own) { Ok(()) } else { Err(Stranger::Caller) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "https://a.workers.example";
    const PLACE: &str = "https://agents.example";
    const LOCAL: &str = "http://localhost:8787";

    #[test]
    fn known_callers_and_people_at_this_machine_in_development_may() {
        use Stranger::{Caller, Page};
        for (own, origin, fetch_site, is_known, is_development, expected) in [
            // A program with credentials, and one without.
            (OWN, None, None, true, false, Ok(())),
            (OWN, None, None, false, false, Err(Caller)),
            // The console.
            (OWN, Some(OWN), Some("same-origin"), true, false, Ok(())),
            (OWN, Some(PLACE), Some("same-origin"), true, false, Ok(())),
            (OWN, Some(OWN), Some("same-origin"), false, false, Err(Caller)),
            // Pages of others, with the cookies of somebody who is known.
            (OWN, Some("https://evil.example"), Some("cross-site"), true, false, Err(Page)),
            (OWN, Some("https://evil.example"), None, true, false, Err(Page)),
            (OWN, Some("https://b.workers.example"), Some("same-site"), true, false, Err(Page)),
            (OWN, Some("http://a.workers.example"), None, true, false, Err(Page)),
            (OWN, Some("https://a.workers.example.evil.example"), None, true, false, Err(Page)),
            (OWN, Some("null"), None, true, false, Err(Page)),
            (OWN, Some(""), None, true, false, Err(Page)),
            (OWN, None, Some("cross-site"), true, false, Err(Page)),
            (OWN, None, Some("same-site"), true, false, Err(Page)),
            (OWN, None, Some("none"), true, false, Err(Page)),
            // Development.
            (LOCAL, None, None, false, true, Ok(())),
            (LOCAL, Some(LOCAL), Some("same-origin"), false, true, Ok(())),
            ("http://[::1]:8787", None, None, false, true, Ok(())),
            (LOCAL, None, None, false, false, Err(Caller)),
            (LOCAL, Some("http://localhost:3000"), Some("same-site"), false, true, Err(Page)),
            // From another machine, and a page that has given its own name to this one.
            ("http://192.168.1.5:8787", None, None, false, true, Err(Caller)),
            (
                "http://evil.example:8787",
                Some("http://evil.example:8787"),
                Some("same-origin"),
                false,
                true,
                Err(Caller),
            ),
            ("http://192.168.1.5:8787", None, None, true, true, Ok(())),
        ] {
            let facts = Facts { origin, fetch_site, own, place: PLACE, is_known, is_development };
            assert_eq!(judge(facts), expected, "{facts:?}");
        }
    }
}
