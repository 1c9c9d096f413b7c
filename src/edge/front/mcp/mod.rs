//! The MCP server: agents as tools for hosts of MCP, at `/mcp` and `/<agent>/mcp`. `mcp::server` reads requests and writes
//! answers. Calls are sent to the agents as requests of A2A inside of this Worker, with the credentials of the request of MCP. So
//! the access rules, limits, audits and depth limits of the agents apply without further code.
//!
//! | file | contents |
//! |---|---|
//! | `access` | decides which agents a request may call, with the reasons of refusals |
//! | `origin` | decides which pages may send requests and read the answers |
//! | `catalog` | makes the list of tools, and finds the tool of a name |
//! | `outer` | sends requests to agents |
//! | `call` | begins calls of agents, and continues calls after a question |
//! | `running` | follows the task of a call |
//! | `stream` | answers by a stream |
//! | `outcome` | makes results, and the JSON of tasks |
//! | `tasks` | reads and cancels tasks |
//! | `remote` | calls agents elsewhere that the caller names |
//! | `resources` | returns cards and tasks as resources |
//! | `address` | the addresses of resources |
//!
//! # The MCP server
//!
//! `/mcp` and `/<agent>/mcp` belong to a guest, so the plan passes them to `visit` (`front/visit.rs`). `mcp::server`
//! reads the requests and writes the answers, in the form of the client's protocol version; `front/mcp/` decides. A
//! call of a tool becomes a message to the agent. `a2a::client` sends the message through a port that answers inside of
//! the Worker (`outer.rs`). The front Worker decides this request of A2A like any other, with the headers and the query
//! of the request of MCP. Agents identify the caller only by these, so there are no access rules other than those of
//! A2A. `running.rs` folds the events of the task into progress, questions and results. Nothing is stored for MCP: the
//! task contains all that a question or a retry needs, and a client that returns names the task (`requestState`,
//! `taskId`, `task_id`).

mod access;
mod address;
mod call;
mod catalog;
pub(super) mod origin;
pub(super) mod outcome;
mod outer;
mod remote;
mod resources;
mod running;
mod stream;
mod tasks;

use js_sys::Uint8Array;
use serde_json::{Value, json};
use worker::{Request, Response, Result};

use super::deployment::Front;
use super::facts::body::Body;
use crate::edge::response::to_response;
use crate::front::head::Head;
use a2a::binding::http::{HttpResponse, split_url};
use a2a::error::Error;
use catalog::{Catalog, Found};
use mcp::model::{RpcError, TASKS_EXTENSION, code};
use mcp::server::{Asked, Era, Incoming, Received, Reply, ServerInfo, ToolCall, read};
use outer::Outer;
use running::Running;

impl Front {
    /// Answers a request to the MCP server of all agents, or of the agent with this slug.
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
            ("OPTIONS", _) => to_response(head.preflight("POST, OPTIONS")),
            (_, true) => {
                to_response(refusal(403, "pages of this origin may not call the agents here"))
            }
            _ => match Box::pin(self.answer_mcp(request, head, slug, body)).await {
                Ok(Answer::Whole(answer)) => to_response(answer),
                Ok(Answer::Stream(running, can_leave)) => {
                    stream::respond(*running, request, can_leave)
                }
                Err(refused) => to_response(refused),
            },
        };
        pages.show(answer?)
    }

    /// The answer; the error is a refusal.
    async fn answer_mcp(
        &self,
        request: &Request,
        head: &Head<'_>,
        slug: Option<&str>,
        body: Option<Uint8Array>,
    ) -> std::result::Result<Answer, HttpResponse> {
        let header = |name: &str| request.headers().get(name).ok().flatten();
        let server = self.server_info(slug);
        let read = |body: &[u8]| {
            let max_values = self.deployment.settings.limits.max_json_values;
            read(&Incoming { method: head.method(), header: &header, body, max_values }, &server)
        };
        if head.method() != "POST" {
            return match read(&[]) {
                Received::Answer(answer) => Err(answer),
                Received::Request(_) => Err(refusal(405, "only POST is taken here")),
            };
        }
        let scope = self.scope(head, slug, header("origin").as_deref()).await?;
        let limit = self.deployment.settings.max_body_bytes;
        let body = match body {
            Some(body) if body.length() as usize > limit => Err(Error::TooLarge(limit)),
            Some(body) => Ok(Body::of(body.to_vec())),
            None => Body::receive(request, slug.unwrap_or("mcp"), limit).await,
        };
        let body = body.map_err(|error| refused(&error))?;
        let mcp = match read(body.bytes()) {
            Received::Answer(answer) => return Err(answer),
            Received::Request(mcp) => mcp,
        };
        // The turn is held until the end of the call.
        let _turn = body.into_turn();
        let outer = Outer::new(self.env.clone(), head, &mcp.meta);
        let (origin, _, _) = split_url(head.url());
        let origin = self.deployment.settings.place_of(origin).origin;
        let may_call_out = self.may_call_out(&scope);
        let catalog = Catalog { scope: &scope, slug, origin, may_call_out };
        if let Asked::CallTool(call) = &mcp.asked {
            let running = match catalog.find(&call.name) {
                Found::Agent(admitted, skill) => {
                    Box::pin(self.call_agent(&outer, &catalog, admitted, skill, &mcp, call)).await
                }
                Found::Refused(refusing) => {
                    return Err(self.challenge(slug, head, &scope.counted, refusing).await);
                }
                found => Err(Box::pin(self.own_tool(&outer, &catalog, found, &mcp, call)).await),
            };
            let Ok(running) = running else {
                return Ok(whole(running.err().unwrap_or_default()));
            };
            let takes_stream = header("accept").is_some_and(|kinds| kinds.contains(EVENTS));
            return Ok(match streaming(&mcp).filter(|_| takes_stream) {
                Some(can_leave) => Answer::Stream(Box::new(running), can_leave),
                None => whole(Box::pin(running.finish()).await),
            });
        }
        Ok(Answer::Whole(Box::pin(self.tell(&outer, &catalog, &mcp)).await))
    }

    /// The answer to a call of a tool that is not an agent.
    async fn own_tool(
        &self,
        outer: &Outer,
        catalog: &Catalog<'_>,
        found: Found<'_>,
        request: &mcp::server::Request,
        call: &ToolCall,
    ) -> Value {
        let result = match found {
            Found::GetTask => self.get_task_tool(outer, catalog, &call.arguments).await,
            Found::CancelTask => self.cancel_task_tool(outer, catalog, &call.arguments).await,
            Found::DeleteTask => self.delete_task_tool(outer, catalog, &call.arguments).await,
            Found::Discover => self.discover_tool(outer, catalog, &call.arguments).await,
            Found::Invoke => {
                let depth = request.meta.depth;
                self.invoke_tool(outer, catalog, &call.arguments, depth).await
            }
            Found::Agent(..) | Found::Refused(_) | Found::Nothing => {
                let shown: String = call.name.chars().take(80).collect();
                let message = format!("there is no tool {shown}");
                return request.reply.error_message(&RpcError::new(code::INVALID_PARAMS, message));
            }
        };
        request.reply.called(result)
    }

    /// The answer to any request except a call of a tool.
    async fn tell(
        &self,
        outer: &Outer,
        catalog: &Catalog<'_>,
        request: &mcp::server::Request,
    ) -> HttpResponse {
        let reply = &request.reply;
        let introduction = |wanted: Option<&str>| {
            let capabilities = capabilities(reply);
            reply.introduction(wanted, &capabilities, catalog.instructions(), TTL_MS)
        };
        match &request.asked {
            Asked::Discover => introduction(None),
            Asked::Initialize(wanted) => introduction(Some(wanted)),
            Asked::Ping | Asked::CallTool(_) => reply.result(json!({})),
            Asked::ListTools => {
                let tools: Vec<Value> = catalog.tools().iter().map(|tool| tool.to_json()).collect();
                reply.cacheable(json!({"tools": tools}), TTL_MS, catalog.scope.is_private)
            }
            Asked::ListResources => self.list_mcp_resources(catalog, reply),
            Asked::ListTemplates => self.list_mcp_templates(catalog, reply),
            Asked::ReadResource(uri) => self.read_mcp_resource(outer, catalog, reply, uri).await,
            Asked::GetTask(id) => self.get_mcp_task(outer, catalog, reply, id).await,
            Asked::UpdateTask(id, answers) => {
                self.update_mcp_task(outer, catalog, reply, id, answers).await
            }
            Asked::CancelTask(id) => self.cancel_mcp_task(outer, catalog, reply, id).await,
        }
    }

    fn server_info(&self, slug: Option<&str>) -> ServerInfo {
        let name = slug.unwrap_or("a2a-edge");
        ServerInfo::new(name, env!("CARGO_PKG_VERSION"))
    }
}

/// An answer.
enum Answer {
    /// A complete answer.
    Whole(HttpResponse),
    /// The stream of a call. The flag is true if a disconnect of the client cancels the call.
    Stream(Box<Running>, bool),
}

fn whole(message: Value) -> Answer {
    Answer::Whole(HttpResponse::json(200, message.to_string()))
}

/// `Some` if a call is answered by a stream; true if a disconnect cancels the call. A stream is used if the client has requested
/// progress, or if a disconnect cancels the call. A call that may continue as a task of its own is not canceled by a disconnect.
fn streaming(request: &mcp::server::Request) -> Option<bool> {
    let can_leave = match request.reply.era() {
        Era::Modern(capabilities) => !capabilities.tasks,
        Era::Legacy => false,
    };
    (can_leave || request.meta.progress_token.is_some()).then_some(can_leave)
}

/// The capabilities of this server.
fn capabilities(reply: &Reply) -> Value {
    match reply.era() {
        Era::Modern(_) => {
            json!({"tools": {}, "resources": {}, "extensions": {TASKS_EXTENSION: {}}})
        }
        Era::Legacy => json!({"tools": {}, "resources": {}}),
    }
}

/// A refusal at the level of HTTP, when the id of the request is not known yet. The code is the HTTP status: codes of MCP have
/// other meanings, and codes of A2A do not apply here.
fn refusal(status: u16, message: &str) -> HttpResponse {
    let error = RpcError::new(status.into(), message);
    let body = json!({"jsonrpc": "2.0", "id": null, "error": error.to_json()});
    HttpResponse::json(status, body.to_string())
}

/// An error of A2A as a refusal at the level of HTTP.
fn refused(error: &Error) -> HttpResponse {
    let wire = error.wire();
    refusal(wire.http, &error.to_string()).with_headers(wire.headers)
}

/// The lifetime of lists in the caches of clients, in milliseconds.
const TTL_MS: u64 = 60_000;

/// The media type of streams.
const EVENTS: &str = "text/event-stream";
