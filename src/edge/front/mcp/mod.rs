//! The MCP server: agents as tools for hosts of MCP, at `/mcp` and `/<agent>/mcp`. A request is read and answered by
//! `mcp::server`; what it does goes to the agents as requests of A2A inside of this Worker, with the credentials of the request of
//! MCP. So their rules of access, limits, audits and the depth of calls hold by themselves.
//!
//! | file | what it does |
//! |---|---|
//! | `access` | says which agents a request may call, and why not the others |
//! | `origin` | says which pages may send requests, and read the answers |
//! | `catalog` | makes the list of tools, and finds the tool of a name |
//! | `outer` | carries requests to agents |
//! | `call` | calls an agent, and follows its task |
//! | `tasks` | looks at tasks, and cancels them |
//! | `metadata` | says who gives out tokens |

mod access;
mod call;
mod catalog;
mod metadata;
mod origin;
mod outer;
mod tasks;

use js_sys::Uint8Array;
use serde_json::{Value, json};
use worker::{Request, Response, Result};

use super::body::Body;
use super::decision::{Front, preflight};
use super::head::Head;
use crate::edge::response::to_response;
use a2a::binding::http::{HttpResponse, split_url};
use a2a::error::Error;
use a2a_agents::McpTools;
use catalog::{Catalog, Found};
use mcp::model::{CallResult, RpcError, code};
use mcp::server::{Asked, Incoming, Received, ServerInfo, read};
use outer::Outer;

impl Front {
    /// Whether there is an MCP server: of all agents, or of the one of this slug.
    pub(super) fn has_mcp(&self, slug: Option<&str>) -> bool {
        slug.is_none_or(|slug| {
            self.agents.find(Some(slug)).is_some_and(|agent| agent.mcp_tools != McpTools::None)
        })
    }

    /// Answers a request to the MCP server of all agents, or of the one of this slug.
    pub(super) async fn mcp(
        &self,
        request: &Request,
        head: &Head<'_>,
        slug: Option<&str>,
        body: Option<Uint8Array>,
    ) -> Result<Response> {
        let origin = request.headers().get("origin").ok().flatten();
        let pages = self.pages(head, slug, origin.as_deref());
        let answer = match (head.method(), pages.is_refused) {
            ("OPTIONS", _) => preflight(head, "POST, OPTIONS"),
            (_, true) => refusal(403, "pages of this origin may not call the agents here"),
            _ => Box::pin(self.answer_mcp(request, head, slug, body)).await.unwrap_or_else(|no| no),
        };
        pages.show(to_response(answer)?)
    }

    /// The answer, or the refusal.
    async fn answer_mcp(
        &self,
        request: &Request,
        head: &Head<'_>,
        slug: Option<&str>,
        body: Option<Uint8Array>,
    ) -> std::result::Result<HttpResponse, HttpResponse> {
        let header = |name: &str| request.headers().get(name).ok().flatten();
        let server = self.server_info(slug);
        let read = |body: &[u8]| {
            let max_values = self.settings.limits.max_json_values;
            read(&Incoming { method: head.method(), header: &header, body, max_values }, &server)
        };
        if head.method() != "POST" {
            return match read(&[]) {
                Received::Answer(answer) => Err(answer),
                Received::Request(_) => Err(refusal(405, "only POST is taken here")),
            };
        }
        let scope = self.scope(head, slug, header("origin").as_deref()).await?;
        let limit = self.settings.max_body_bytes;
        let body = match body {
            Some(body) if body.length() as usize > limit => Err(Error::TooLarge(limit)),
            Some(body) => Ok(Body::of(&body)),
            None => Body::receive(request, limit).await,
        };
        let body = body.map_err(|error| refused(&error))?;
        let request = match read(body.bytes()) {
            Received::Answer(answer) => return Ok(answer),
            Received::Request(request) => request,
        };
        // Kept to the end of the call.
        let _turn = body.into_turn();
        let outer = Outer::new(self.env.clone(), head, &request.meta);
        let (origin, _, _) = split_url(head.url());
        let place = self.settings.place_of(origin).origin.to_owned();
        let catalog = Catalog { scope: &scope, slug, origin: &place };
        let reply = &request.reply;
        Ok(match &request.asked {
            Asked::Discover => {
                reply.introduction(None, &capabilities(), &catalog.instructions(), TTL_MS)
            }
            Asked::Initialize(wanted) => {
                reply.introduction(Some(wanted), &capabilities(), &catalog.instructions(), TTL_MS)
            }
            Asked::Ping => reply.result(json!({})),
            Asked::ListTools => {
                let tools: Vec<Value> = catalog.tools().iter().map(|tool| tool.to_json()).collect();
                reply.cacheable(json!({"tools": tools}), TTL_MS, scope.is_private)
            }
            Asked::CallTool(call) => match catalog.find(&call.name) {
                Found::Agent(admitted, skill) => {
                    let called = self.call_agent(&outer, &catalog, admitted, skill, &request, call);
                    Box::pin(called).await
                }
                Found::GetTask => {
                    let result = self.get_task_tool(&outer, &catalog, &call.arguments).await;
                    respond(reply, result)
                }
                Found::CancelTask => {
                    let result = self.cancel_task_tool(&outer, &catalog, &call.arguments).await;
                    respond(reply, result)
                }
                Found::Refused(refusing) => {
                    return Err(self.challenge(slug, head, refusing).await);
                }
                Found::Nothing => {
                    let shown: String = call.name.chars().take(80).collect();
                    let message = format!("there is no tool {shown}");
                    reply.error(&RpcError::new(code::INVALID_PARAMS, message))
                }
            },
            Asked::ListResources
            | Asked::ListTemplates
            | Asked::ReadResource(_)
            | Asked::GetTask(_)
            | Asked::UpdateTask(..)
            | Asked::CancelTask(_) => {
                let message = "there are neither resources nor tasks here";
                reply.error(&RpcError::new(code::METHOD_NOT_FOUND, message))
            }
        })
    }

    fn server_info(&self, slug: Option<&str>) -> ServerInfo {
        let name = slug.unwrap_or("a2a-edge");
        ServerInfo::new(name, env!("CARGO_PKG_VERSION"))
    }
}

fn respond(reply: &mcp::server::Reply, result: CallResult) -> HttpResponse {
    HttpResponse::json(200, reply.called(result).to_string())
}

fn capabilities() -> Value {
    json!({"tools": {}})
}

/// A refusal of HTTP, before it is known which request it answers. Its code is the status: codes of MCP mean other things, and
/// those of A2A are none here.
fn refusal(status: u16, message: &str) -> HttpResponse {
    let error = RpcError::new(status.into(), message);
    let body = json!({"jsonrpc": "2.0", "id": null, "error": error.to_json()});
    HttpResponse::json(status, body.to_string())
}

/// An error of A2A as a refusal of HTTP.
fn refused(error: &Error) -> HttpResponse {
    let wire = error.wire();
    refusal(wire.http, &error.to_string()).with_headers(wire.headers)
}

/// How long lists may be remembered, in milliseconds.
const TTL_MS: u64 = 60_000;
