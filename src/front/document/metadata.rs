//! The issuers of tokens for the agents behind an MCP server (RFC 9728): the issuers of their schemes of kind `jwt`.

use serde_json::json;

use crate::auth::Policy;
use crate::front::admit::unknown_path;
use crate::front::deployment::Deployment;
use crate::front::head::Head;
use a2a::binding::http::{HttpResponse, split_url};
use a2a::error::Error;
use a2a_agents::access::Scheme;

/// Answers a request for the metadata of an MCP server.
///
/// # Errors
///
/// [`Error::NotFound`] if there is no issuer, [`Error::MethodNotAllowed`].
#[inline(never)]
pub(in crate::front) fn protected_resource(
    deployment: &Deployment,
    slug: Option<&str>,
    path: &str,
    head: &Head<'_>,
) -> Result<HttpResponse, Error> {
    let issuers = issuers(deployment, slug);
    if issuers.is_empty() {
        return Err(unknown_path(path, &deployment.agents));
    }
    match head.method() {
        "GET" | "HEAD" => {}
        "OPTIONS" => return Ok(head.preflight("GET, HEAD, OPTIONS")),
        _ => return Err(Error::MethodNotAllowed("GET, HEAD, OPTIONS")),
    }
    let mut scopes: Vec<&String> = Vec::new();
    for agent in deployment.mcp_agents(slug) {
        let requires = agent.policy.iter().flat_map(|policy| &policy.access().requires);
        for scope in requires.flat_map(|requirement| requirement.values()).flatten() {
            if !scopes.contains(&scope) {
                scopes.push(scope);
            }
        }
    }
    let metadata = json!({
        "resource": format!("{}{}", origin(deployment, head), path_of(slug)),
        "authorization_servers": issuers,
        "scopes_supported": scopes,
        "bearer_methods_supported": ["header"],
    });
    let answer = HttpResponse::json(200, metadata.to_string());
    Ok(answer.with_header("cache-control", "public, max-age=300"))
}

/// The URL of an MCP server's metadata; `None` if there is no issuer.
pub(crate) fn metadata_url(
    deployment: &Deployment,
    slug: Option<&str>,
    head: &Head<'_>,
) -> Option<String> {
    let path = path_of(slug);
    let origin = origin(deployment, head);
    (!issuers(deployment, slug).is_empty())
        .then(|| format!("{origin}/.well-known/oauth-protected-resource{path}"))
}

/// The issuers of tokens that the agents accept in the header `Authorization`.
fn issuers(deployment: &Deployment, slug: Option<&str>) -> Vec<String> {
    let mut issuers: Vec<String> = Vec::new();
    for agent in deployment.mcp_agents(slug) {
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

fn origin<'a>(deployment: &'a Deployment, head: &Head<'a>) -> &'a str {
    let (origin, _, _) = split_url(head.url());
    deployment.settings.place_of(origin).origin
}

fn path_of(slug: Option<&str>) -> String {
    slug.map_or_else(|| "/mcp".to_owned(), |slug| format!("/{slug}/mcp"))
}
