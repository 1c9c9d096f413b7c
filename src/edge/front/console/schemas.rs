//! The JSON schemas of the arguments of an agent's skills, from which the console makes forms. Cards have no member for
//! them.

use serde_json::{Map, Value, json};

use crate::auth::Caller;
use crate::executor::HostedAgent;
use a2a::binding::http::HttpResponse;
use a2a::dialect::Dialect;
use a2a::model::read_own;

/// The schemas of the skills that a caller may use, by their ids. A skill without a known schema is left out.
pub(super) fn answer(agent: &HostedAgent, caller: &Caller) -> HttpResponse {
    let cards = agent.cards();
    let own = cards.extended(caller, Dialect::V1).ok();
    let card = own.as_deref().unwrap_or(&cards.card);
    // The checker made the card, so it can be parsed.
    let card: Map<String, Value> = read_own(card).unwrap_or_default();
    let skills = card.get("skills").and_then(Value::as_array).into_iter().flatten();
    let known = skills.filter_map(|skill| {
        let id = skill.get("id")?.as_str()?;
        let schema = agent.runner.as_ref().ok()?.executor.input_schema(id)?;
        Some((id.to_owned(), schema.clone()))
    });
    let body = json!({"skills": known.collect::<Map<String, Value>>()});
    HttpResponse::json(200, body.to_string()).with_header("cache-control", "no-store")
}
