//! The JSON schemas with which an agent's skills are called, of which the console makes forms. Cards have no place for them.

use serde_json::{Map, Value, json};

use crate::auth::Caller;
use crate::executor::HostedAgent;
use a2a::binding::http::HttpResponse;
use a2a::dialect::Dialect;

/// The slug in a path below the console that asks for schemas.
pub(super) fn slug_in(below: &str) -> Option<&str> {
    let slug = below.strip_prefix("api/agents/")?.strip_suffix("/schemas")?;
    (!slug.is_empty() && !slug.contains('/')).then_some(slug)
}

/// The schemas of the skills that a caller may use, by their ids. A skill without a known schema is left out.
pub(super) fn answer(agent: &HostedAgent, caller: &Caller) -> HttpResponse {
    let cards = agent.cards();
    let own = cards.extended(caller, Dialect::V1).ok();
    let card = own.as_deref().unwrap_or(&cards.card);
    // A card that the build made can be read.
    let card: Map<String, Value> = serde_json::from_str(card).unwrap_or_default();
    let skills = card.get("skills").and_then(Value::as_array).into_iter().flatten();
    let known = skills.filter_map(|skill| {
        let id = skill.get("id")?.as_str()?;
        let schema = agent.runner.as_ref().ok()?.executor.input_schema(id)?;
        Some((id.to_owned(), schema.clone()))
    });
    let body = json!({"skills": known.collect::<Map<String, Value>>()});
    HttpResponse::json(200, body.to_string()).with_header("cache-control", "no-store")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_an_agent() {
        for (below, slug) in [
            ("api/agents/demo/schemas", Some("demo")),
            ("api/agents//schemas", None),
            ("api/agents/a/b/schemas", None),
            ("api/agents/schemas", None),
            ("api/agents/demo", None),
        ] {
            assert_eq!(slug_in(below), slug, "{below}");
        }
    }
}
