//! The list of this Worker's agents, which the console shows before sign-in: the public part of their cards, and their health.

use serde_json::{Map, Value, json};

use super::PARTIAL_SECONDS;
use crate::config::Settings;
use crate::executor::{Agents, HostedAgent, Needs};
use a2a::binding::discovery::at_origin;
use a2a::binding::http::HttpResponse;
use a2a::dialect::Dialect;
use a2a::model::read_own;

/// The list for a request to `origin`. Browsers cache the list for half a minute. They cache it for a shorter time
/// while learned skills are missing, and not at all in development, where agents change often.
pub(in crate::front) fn answer(settings: &Settings, agents: &Agents, origin: &str) -> HttpResponse {
    let place = settings.place_of(origin).origin;
    let hosted: Vec<&HostedAgent> = agents.all().collect();
    let is_partial = hosted.iter().any(|agent| agent.cards().is_partial);
    let shown = hosted.iter().map(|agent| entry(agent, place, settings.development));
    let shown: Vec<Value> = shown.collect();
    let body = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "development": settings.development,
        "currency": settings.currency,
        "agents": shown,
    });
    let kept = match (settings.development, is_partial) {
        (true, _) => "no-cache".to_owned(),
        (false, true) => format!("public, max-age={PARTIAL_SECONDS}"),
        (false, false) => format!("public, max-age={SECONDS}"),
    };
    HttpResponse::json(200, body.to_string()).with_header("cache-control", kept)
}

/// The entry of an agent.
fn entry(agent: &HostedAgent, origin: &str, is_development: bool) -> Value {
    let card = at_origin(&agent.cards().card, origin);
    // The checker made the card, so it can be parsed.
    let card: Map<String, Value> = read_own(&card).unwrap_or_default();
    let of_card = |name: &str| card.get(name).cloned().unwrap_or_default();
    let access = agent.policy.as_ref().ok().map(|policy| policy.access());
    let older = [Dialect::V0_3, Dialect::Legacy];
    let older = older.into_iter().filter(|dialect| agent.dialects.has(*dialect));
    let dialects: Vec<&str> =
        std::iter::once(Dialect::V1).chain(older).map(Dialect::version).collect();
    let has_operators =
        access.is_some_and(|access| !access.is_anonymous() && !access.operator.is_empty());
    json!({
        "slug": agent.slug,
        "name": of_card("name"),
        "description": of_card("description"),
        "version": of_card("version"),
        "isDefault": agent.is_default,
        "isOpen": access.is_some_and(|access| access.is_anonymous()),
        "dialects": dialects,
        "capabilities": {
            "streaming": agent.capabilities.streaming,
            "pushNotifications": agent.capabilities.push_notifications,
            "extendedAgentCard": agent.capabilities.extended_agent_card,
        },
        "skills": skills(&card),
        "access": {
            "securitySchemes": card.get("securitySchemes").cloned().unwrap_or_else(|| json!({})),
            "securityRequirements": card.get("securityRequirements").cloned().unwrap_or_else(|| json!([])),
            "hasOperators": has_operators,
        },
        "health": health(agent, is_development),
    })
}

/// The skills, with only their ids and names; the card contains the rest.
fn skills(card: &Map<String, Value>) -> Vec<Value> {
    let skills = card.get("skills").and_then(Value::as_array).into_iter().flatten();
    let named = |skill: &Value| json!({"id": skill.get("id"), "name": skill.get("name")});
    skills.map(named).collect()
}

/// The health of an agent by its configuration alone. The reason for a misconfiguration names secrets and bindings, so
/// outside of development it is only in the log.
pub(crate) fn health(agent: &HostedAgent, is_development: bool) -> Value {
    let of_executor = agent.runner.as_ref().err().map(|misfit| ("executor", misfit));
    let misfit = of_executor.or(agent.policy.as_ref().err().map(|misfit| ("access", misfit)));
    match misfit {
        // `npm start` and `npm test` report this reason.
        Some((part, misfit)) if is_development => {
            json!({"state": "misconfigured", "part": part, "reason": misfit.0})
        }
        Some(_) => json!({"state": "misconfigured", "reason": NOT_SET_UP}),
        None => {
            let is_partial = agent.cards().is_partial;
            let state = if is_partial { "partial" } else { "ok" };
            let mut health = Map::from_iter([("state".to_owned(), state.into())]);
            if is_partial {
                health.insert("reason".to_owned(), NOT_LEARNED.into());
            }
            if needs_more(agent) {
                health.insert("outside".to_owned(), true.into());
            }
            Value::Object(health)
        }
    }
}

/// True if an agent needs something outside of this Worker, which `/health` then checks.
fn needs_more(agent: &HostedAgent) -> bool {
    let needs = agent.runner.as_ref().map(|runner| runner.executor.needs(&runner.outside));
    needs.is_ok_and(|needs| needs != Ok(Needs::Nothing))
}

const NOT_SET_UP: &str = "it is not set up correctly; the log of the Worker says why";

const NOT_LEARNED: &str = "some of its skills come from other servers, which have not answered yet";

/// The lifetime of the list in the caches of browsers, in seconds.
const SECONDS: u32 = 30;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::rc::Rc;

    use super::*;
    use crate::executor::Parts;
    use crate::port::Outside;
    use crate::twins::MemoryPlatform;
    use a2a::model::Secret;

    fn settings(development: bool) -> Settings {
        let variable = |name: &str| match name {
            "DEVELOPMENT" => Some(development.to_string()),
            _ => None,
        };
        Settings::read(variable).unwrap()
    }

    fn agent(slug: &str, access: &Value, kind: &str) -> Value {
        let card = json!({"name": format!("The {slug}"), "description": "d", "version": "1.2.3",
            "supportedInterfaces": [{"url": "{origin}/x"}],
            "securitySchemes": {"key": {"apiKeySecurityScheme": {"location": "header", "name": "X-Key"}}},
            "securityRequirements": [{"schemes": {"key": {"list": []}}}],
            "skills": [{"id": "s", "name": "S", "description": "long"}]});
        let capabilities =
            json!({"streaming": true, "push_notifications": false, "extended_agent_card": false});
        json!({"slug": slug, "default": slug == "a", "development": false, "access": access,
            "capabilities": capabilities, "card": card.to_string(),
            "executor": {"kind": kind, "table": {"rules": []}, "run": {}}})
    }

    fn answered(development: bool, agents: &[Value]) -> (Value, String) {
        let text = json!({"built_ms": 0, "agents": agents}).to_string();
        let outside = MemoryPlatform::default().outside();
        let agents =
            Agents::read(&text, Parts { is_development: development, ..Parts::of(outside) })
                .unwrap();
        let answer = answer(&settings(development), &agents, "https://a.example");
        let kept = answer.headers.iter().find(|(name, _)| name == "cache-control").unwrap();
        (serde_json::from_str(&answer.body).unwrap(), kept.1.clone())
    }

    #[test]
    fn agents_are_listed_with_what_everybody_may_know() {
        let agents = [
            agent("a", &json!({"open": true}), "script"),
            agent("b", &json!({"open": true}), "oracle"),
            agent("c", &json!({}), "script"),
        ];
        let (list, kept) = answered(false, &agents);
        assert_eq!(kept, "public, max-age=30");
        assert_eq!(
            (&list["development"], &list["version"]),
            (&json!(false), &json!(env!("CARGO_PKG_VERSION")))
        );
        let [a, b, c] = list["agents"].as_array().unwrap().as_slice() else { panic!("{list}") };
        assert_eq!(
            (&a["slug"], &a["name"], &a["version"]),
            (&json!("a"), &json!("The a"), &json!("1.2.3"))
        );
        assert_eq!((&a["isDefault"], &b["isDefault"]), (&json!(true), &json!(false)));
        assert_eq!(a["health"], json!({"state": "ok"}));
        assert_eq!(a["skills"], json!([{"id": "s", "name": "S"}]));
        assert_eq!(a["dialects"], json!(["1.0", "0.3"]));
        assert_eq!(a["access"]["securitySchemes"]["key"]["apiKeySecurityScheme"]["name"], "X-Key");
        for (broken, is_open) in [(b, true), (c, false)] {
            assert_eq!(broken["health"], json!({"state": "misconfigured", "reason": NOT_SET_UP}));
            assert_eq!(broken["isOpen"], is_open);
        }
    }

    #[test]
    fn only_development_is_told_what_is_wrong() {
        let agents = [agent("b", &json!({"open": true}), "oracle")];
        let (list, kept) = answered(true, &agents);
        assert_eq!(kept, "no-cache");
        let health = &list["agents"][0]["health"];
        assert_eq!(health["part"], "executor");
        let reason = health["reason"].as_str().unwrap();
        assert!(reason.contains("no kind of executor \"oracle\""), "{reason}");
        assert!(!answered(false, &agents).0.to_string().contains("oracle"));
    }

    #[test]
    fn an_agent_that_knows_its_callers_is_not_open_and_may_have_operators() {
        let scheme = json!({"kind": "api_key", "in": "header", "name": "X-Key",
            "callers": [{"id": "billing", "secrets": ["K"]}]});
        for (operator, has_operators) in [("operator", true), ("", false)] {
            let access = json!({"schemes": {"key": scheme.clone()}, "operator": operator});
            let agents = [agent("a", &access, "script")];
            let text = json!({"built_ms": 0, "agents": agents}).to_string();
            let secrets = [("K".to_owned(), Secret::new("a-key-of-enough-letters".to_owned()))];
            let secrets = Rc::new(BTreeMap::from(secrets));
            let outside = Outside { secrets, ..MemoryPlatform::default().outside() };
            let agents = Agents::read(&text, Parts::of(outside)).unwrap();
            let list = answer(&settings(false), &agents, "https://a.example").body;
            let list: Value = serde_json::from_str(&list).unwrap();
            let shown = &list["agents"][0];
            assert_eq!(shown["health"], json!({"state": "ok"}), "{shown}");
            assert_eq!(
                (&shown["isOpen"], &shown["access"]["hasOperators"]),
                (&json!(false), &json!(has_operators))
            );
            assert!(!list.to_string().contains("billing"), "callers are nobody's matter");
        }
    }
}
