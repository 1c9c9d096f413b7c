//! The known facts about a server: its era, and its description of itself.

use a2a::model::UnixMillis;
use serde_json::{Value, json};

use crate::model::{Revision, meta};

/// The known facts about a server. Callers may store the verdict, so that the next client of the server need not send
/// `server/discover`.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The revision that the client uses with the server.
    pub revision: Revision,
    /// The name in the server's description of itself.
    pub server_name: Option<String>,
    /// The version in the server's description of itself.
    pub server_version: Option<String>,
    /// The capabilities; an object, empty if it would have more than 16 KiB.
    pub capabilities: Value,
    /// The server's instructions for the use of its tools.
    pub instructions: Option<String>,
    /// The time of the request to the server.
    pub at: UnixMillis,
    /// True if the era of the server is certain. False if the server did not answer `server/discover` but answered in the
    /// older era: such a verdict must not be stored.
    pub is_settled: bool,
}

impl Verdict {
    /// True if the server speaks 2026-07-28.
    pub fn is_modern(&self) -> bool {
        self.revision.is_modern()
    }

    /// True if `server/discover` must be sent again: the verdict names an older revision and is at least a day old, or
    /// the era is uncertain.
    pub fn is_stale(&self, now: UnixMillis) -> bool {
        !self.is_settled || (!self.is_modern() && now.millis_since(self.at) >= LEGACY_MS)
    }

    /// The stored form of the verdict.
    pub fn to_json(&self) -> Value {
        json!({
            "revision": self.revision.as_str(),
            "name": self.server_name,
            "version": self.server_version,
            "capabilities": self.capabilities,
            "instructions": self.instructions,
            "at": self.at.0,
            "settled": self.is_settled,
        })
    }

    /// Reads a verdict from its stored form; `None` if `json` is not a verdict.
    pub fn read(json: &Value) -> Option<Self> {
        let text = |name: &str| json.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(Self {
            revision: Revision::parse(&text("revision")?)?,
            server_name: text("name"),
            server_version: text("version"),
            capabilities: json.get("capabilities").cloned().unwrap_or_else(|| json!({})),
            instructions: text("instructions"),
            at: UnixMillis(json.get("at").and_then(Value::as_i64)?),
            is_settled: json.get("settled").and_then(Value::as_bool).unwrap_or(true),
        })
    }

    /// The verdict from the result of `server/discover` or `initialize`, for a server of this revision.
    pub(super) fn of(revision: Revision, result: &Value, at: UnixMillis) -> Self {
        let of_meta = result.get("_meta").and_then(|members| members.get(meta::SERVER_INFO));
        let info = of_meta.or_else(|| result.get("serverInfo"));
        let of_info = |name: &str| cut(info.and_then(|info| info.get(name)), MAX_NAME_CHARS);
        let is_kept =
            |known: &&Value| known.is_object() && known.to_string().len() <= MAX_CAPABILITIES_BYTES;
        let capabilities = result.get("capabilities").filter(is_kept);
        Self {
            revision,
            server_name: of_info("name"),
            server_version: of_info("version"),
            capabilities: capabilities.cloned().unwrap_or_else(|| json!({})),
            instructions: cut(result.get("instructions"), MAX_INSTRUCTIONS_CHARS),
            at,
            is_settled: true,
        }
    }
}

/// The beginning of a text.
fn cut(text: Option<&Value>, max_chars: usize) -> Option<String> {
    let text = text?.as_str()?;
    let end = text.char_indices().nth(max_chars).map_or(text.len(), |(end, _)| end);
    text.get(..end).map(str::to_owned)
}

/// The time for which a server counts as a legacy server: a day, in milliseconds.
const LEGACY_MS: u64 = 24 * 60 * 60 * 1_000;

const MAX_CAPABILITIES_BYTES: usize = 16 * 1_024;
const MAX_NAME_CHARS: usize = 200;
const MAX_INSTRUCTIONS_CHARS: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(revision: Revision) -> Verdict {
        let result = json!({
            "capabilities": {"tools": {}}, "instructions": "be kind",
            "_meta": {meta::SERVER_INFO: {"name": "files", "version": "2"}},
        });
        Verdict::of(revision, &result, UnixMillis(5))
    }

    #[test]
    fn what_is_kept_is_read_again() {
        for revision in Revision::ALL {
            let known = verdict(revision);
            assert_eq!(Verdict::read(&known.to_json()).as_ref(), Some(&known));
            let unsettled = Verdict { is_settled: false, ..known };
            assert_eq!(Verdict::read(&unsettled.to_json()), Some(unsettled));
        }
        for other in [json!(null), json!({"revision": "2024-11-05", "at": 1}), json!({"at": 1})] {
            assert_eq!(Verdict::read(&other), None, "{other}");
        }
    }

    #[test]
    fn an_older_server_is_asked_again_after_a_day() {
        let at = |millis: i64| UnixMillis(5 + millis);
        let day = 24 * 60 * 60 * 1_000;
        let legacy = verdict(Revision::V2025_06_18);
        assert!(!legacy.is_stale(at(day - 1)) && legacy.is_stale(at(day)));
        assert!(!verdict(Revision::V2026_07_28).is_stale(at(1_000 * day)));
        assert!(Verdict { is_settled: false, ..legacy }.is_stale(at(0)));
    }

    #[test]
    fn what_servers_say_of_themselves_is_taken_from_either_place_and_cut() {
        let known = verdict(Revision::V2026_07_28);
        assert_eq!(
            (known.server_name.as_deref(), known.server_version.as_deref()),
            (Some("files"), Some("2"))
        );
        let long = json!({"serverInfo": {"name": "é".repeat(300)}, "capabilities": 7});
        let known = Verdict::of(Revision::V2025_11_25, &long, UnixMillis(0));
        assert_eq!(known.server_name, Some("é".repeat(200)));
        assert_eq!((known.capabilities, known.server_version), (json!({}), None));
        let large = json!({"capabilities": {"tools": {}, "experimental": "x".repeat(20_000)}});
        let known = Verdict::of(Revision::V2025_11_25, &large, UnixMillis(0));
        assert_eq!(known.capabilities, json!({}));
    }
}
