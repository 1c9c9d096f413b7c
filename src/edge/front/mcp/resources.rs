//! Resources: the cards of the agents that a request may call, and the tasks of its caller.

use serde_json::{Value, json};

use super::super::deployment::Front;
use super::TTL_MS;
use super::address::{Named, named, template};
use super::catalog::Catalog;
use super::outer::Outer;
use super::tasks::internal;
use a2a::binding::http::HttpResponse;
use a2a::model::encode;
use mcp::model::{ResourceContents, RpcError, code};
use mcp::server::{Era, Reply};

impl Front {
    /// Answers `resources/list`: a card for each agent.
    pub(super) fn list_mcp_resources(&self, catalog: &Catalog<'_>, reply: &Reply) -> HttpResponse {
        let resource = |admitted| {
            let card = catalog.card(admitted)?;
            Some(json!({
                "uri": catalog.place(&admitted.agent.slug).address(),
                "name": admitted.agent.slug,
                "title": card.name,
                "description": card.description,
                "mimeType": JSON,
            }))
        };
        let resources: Vec<Value> = catalog.scope.admitted.iter().filter_map(resource).collect();
        reply.cacheable(json!({"resources": resources}), TTL_MS, catalog.scope.is_private)
    }

    /// Answers `resources/templates/list`: the address pattern of tasks.
    pub(super) fn list_mcp_templates(&self, catalog: &Catalog<'_>, reply: &Reply) -> HttpResponse {
        let templates = json!([{
            "uriTemplate": template(catalog.origin),
            "name": "task",
            "title": "Task",
            "description": "A task of an agent, as A2A has it.",
            "mimeType": JSON,
        }]);
        reply.cacheable(json!({"resourceTemplates": templates}), TTL_MS, false)
    }

    /// Answers `resources/read`.
    pub(super) async fn read_mcp_resource(
        &self,
        outer: &Outer,
        catalog: &Catalog<'_>,
        reply: &Reply,
        uri: &str,
    ) -> HttpResponse {
        let found = match named(uri, catalog.origin) {
            Some(Named::Card(slug)) => {
                let mut admitted = catalog.scope.admitted.iter();
                let admitted = admitted.find(|admitted| admitted.agent.slug == slug);
                let card = admitted.and_then(|admitted| catalog.card(admitted));
                card.map(|card| (card.json.to_string(), TTL_MS))
            }
            Some(Named::Task(slug, id)) => {
                match self.find_task(outer, catalog, Some(slug), id).await {
                    Ok(found) => found.map(|found| (encode(&found.task).unwrap_or_default(), 0)),
                    Err(error) => return reply.error(&internal(&error)),
                }
            }
            None => None,
        };
        let Some((text, ttl_ms)) = found else {
            let shown: String = uri.chars().take(200).collect();
            let code = match reply.era() {
                Era::Modern(_) => code::INVALID_PARAMS,
                Era::Legacy => code::RESOURCE_NOT_FOUND,
            };
            let error = RpcError::new(code, format!("there is no resource {shown}"));
            return reply.error(&RpcError { data: Some(json!({"uri": shown})), ..error });
        };
        let mime_type = Some(JSON.to_owned());
        let contents = ResourceContents { uri: uri.to_owned(), mime_type, body: Ok(text) };
        reply.cacheable(json!({"contents": [contents.to_json()]}), ttl_ms, true)
    }
}

const JSON: &str = "application/json";
