//! The Worker of this repository: the agents of `agents/`, and the tools of `tools/`.

use crate::embedded;
use crate::host::Host;
use crate::tools;

/// The host with these agents and tools.
pub(crate) fn host() -> Host {
    Host::embedded(embedded!()).tools(tools::all())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::twins::MemoryPlatform;

    #[test]
    fn what_the_build_embedded_can_be_served() {
        host().check().unwrap();
        let outside = MemoryPlatform::default().outside();
        let agents = host().agents(None, &outside, false, None).unwrap();
        let default = agents.find(None).unwrap();
        let card: serde_json::Value = serde_json::from_str(&default.cards().card).unwrap();
        assert_eq!(card["supportedInterfaces"][0]["url"], "{origin}/");
        let date = &default.cards().date;
        assert!(a2a::model::UnixMillis::parse_http_date(date).is_some(), "{date}");
    }
}
