//! The issuers of tokens for the agents behind an MCP server (RFC 9728): the issuers of their schemes of kind `jwt`.

use serde_json::json;

use super::super::decision::{Front, preflight};
use crate::auth::Policy;
use crate::front::admission::unknown_path;
use crate::front::head::Head;
use a2a::binding::http::{HttpResponse, split_url};
use a2a::error::Error;
use a2a_agents::access::Scheme;

impl Front {
    /// Answers a request for the metadata of an MCP server.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if there is no issuer, [`Error::MethodNotAllowed`].
    pub(in crate::edge::front) fn protected_resource(
        &self,
        slug: Option<&str>,
        path: &str,
        head: &Head<'_>,
    ) -> Result<HttpResponse, Error> {
        let issuers = self.issuers(slug);
        if issuers.is_empty() {
            return Err(unknown_path(path, &self.agents));
        }
        match head.method() {
            "GET" | "HEAD" => {}
            "OPTIONS" => return Ok(preflight(head, "GET, HEAD, OPTIONS")),
            _ => return Err(Error::MethodNotAllowed("GET, HEAD, OPTIONS")),
        }
        let mut scopes: Vec<&String> = Vec::new();
        for agent in self.mcp_agents(slug) {
            let requires = agent.policy.iter().flat_map(|policy| &policy.access().requires);
            for scope in requires.flat_map(|requirement| requirement.values()).flatten() {
                if !scopes.contains(&scope) {
                    scopes.push(scope);
                }
            }
        }
        let metadata = json!({
            "resource": format!("{}{}", self.origin(head), path_of(slug)),
            "authorization_servers": issuers,
            "scopes_supported": scopes,
            "bearer_methods_supported": ["header"],
        });
        let answer = HttpResponse::json(200, metadata.to_string());
        Ok(answer.with_header("cache-control", "public, max-age=300"))
    }

    /// The URL of an MCP server's metadata; `None` if there is no issuer.
    pub(super) fn metadata_url(&self, slug: Option<&str>, head: &Head<'_>) -> Option<String> {
        let path = path_of(slug);
        let origin = self.origin(head);
        (!self.issuers(slug).is_empty())
            .then(|| format!("{origin}/.well-known/oauth-protected-resource{path}"))
    }

    /// The issuers of tokens that the agents accept in the header `Authorization`.
    fn issuers(&self, slug: Option<&str>) -> Vec<String> {
        let mut issuers: Vec<String> = Vec::new();
        for agent in self.mcp_agents(slug) {
            let schemes = agent
                .policy
                .as_ref()
                .ok()
                .map(Policy::access)
                .into_iter()
                .flat_map(|access| access.schemes.values());
            for scheme in schemes {
                let Scheme::Jwt(jwt) = scheme else { continue };
                let issuer = jwt.issuer.as_ref().filter(|_| jwt.cookie.is_none());
                if let Some(issuer) = issuer.filter(|issuer| !issuers.contains(issuer)) {
                    issuers.push(issuer.clone());
                }
            }
        }
        issuers
    }

    fn origin<'a>(&'a self, head: &Head<'a>) -> &'a str {
        let (origin, _, _) = split_url(head.url());
        self.settings.place_of(origin).origin
    }
}

fn path_of(slug: Option<&str>) -> String {
    slug.map_or_else(|| "/mcp".to_owned(), |slug| format!("/{slug}/mcp"))
}
