//! Which path leads where.

/// What a path stands for. Agents are named by slug; `None` is the default agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route<'a> {
    /// The JSON-RPC endpoint of an agent.
    JsonRpc(Option<&'a str>),
    /// The card of an agent.
    Card(Option<&'a str>),
    /// What the agents have received, for tests.
    Received,
    /// Nothing.
    Unknown,
}

/// Reads a path. Whether an agent of that name exists is not decided here.
pub fn route(path: &str) -> Route<'_> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let trimmed = path.strip_suffix('/').unwrap_or(path);
    let segments: Vec<&str> = trimmed.split('/').collect();
    match segments.as_slice() {
        [""] => Route::JsonRpc(None),
        [".well-known", file] if is_card(file) => Route::Card(None),
        [agent, ".well-known", file] if is_card(file) => Route::Card(Some(agent)),
        ["_dev", "received"] => Route::Received,
        [agent] if !agent.is_empty() => Route::JsonRpc(Some(agent)),
        _ => Route::Unknown,
    }
}

/// The names under which a card is found: today's, and that of A2A 0.1 and 0.2.
fn is_card(file: &str) -> bool {
    matches!(file, "agent-card.json" | "agent.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_to_agents_and_cards() {
        for (path, expected) in [
            ("/", Route::JsonRpc(None)),
            ("", Route::JsonRpc(None)),
            ("/demo", Route::JsonRpc(Some("demo"))),
            ("/demo/", Route::JsonRpc(Some("demo"))),
            ("/.well-known/agent-card.json", Route::Card(None)),
            ("/.well-known/agent.json", Route::Card(None)),
            ("/demo/.well-known/agent-card.json", Route::Card(Some("demo"))),
            ("/_dev/received", Route::Received),
            ("/.well-known/other.json", Route::Unknown),
            ("//", Route::JsonRpc(None)),
            ("/demo//", Route::Unknown),
            ("/demo/x/y", Route::Unknown),
        ] {
            assert_eq!(route(path), expected, "{path}");
        }
    }
}
