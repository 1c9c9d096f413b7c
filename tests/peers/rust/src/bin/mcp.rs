//! Uses agents as tools of MCP with `rmcp`: `mcp ORIGIN legacy|auto KEY`.
//!
//! Each step checks what it gets. The first that fails ends the walk with a panic that names it.

use std::future::Future;

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ElicitRequestParams,
    ElicitResult, ElicitationAction, ElicitationCapability, FormElicitationCapability,
    Implementation, ProtocolVersion,
};
use rmcp::service::{RequestContext, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient, ServiceError,
    ServiceExt,
};
use serde_json::{Value, json};

/// A host. With an answer, it can show questions to its user, who always says this.
struct Host {
    answer: Option<&'static str>,
}

impl ClientHandler for Host {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = self.answer.map(|_| {
            ElicitationCapability::default().with_form(FormElicitationCapability::default())
        });
        ClientConfig::new(capabilities, Implementation::new("peer", "0.0.0"))
    }

    fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> impl Future<Output = Result<ElicitResult, ErrorData>> + Send + '_ {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else {
            panic!("no form but {request:?}");
        };
        assert_eq!(message, "Which colour?");
        let content = json!({ "answer": self.answer.expect("no question without elicitation") });
        let result = ElicitResult::new(ElicitationAction::Accept).with_content(content);
        std::future::ready(Ok(result))
    }
}

type Client = RunningService<RoleClient, Host>;

struct Walk {
    origin: String,
    is_modern: bool,
    key: String,
}

impl Walk {
    /// A client in the era of this walk.
    async fn connect(
        &self,
        path: &str,
        key: Option<&str>,
        answer: Option<&'static str>,
    ) -> Result<Client, String> {
        let url = format!("{}{path}", self.origin);
        let mut config = StreamableHttpClientTransportConfig::with_uri(url);
        if let Some(key) = key {
            config = config.auth_header(key);
        }
        let transport = StreamableHttpClientTransport::from_config(config);
        let connected = if self.is_modern {
            let auto = ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                legacy_version: None,
            };
            Host { answer }.serve_with_lifecycle(transport, auto).await
        } else {
            Host { answer }.serve(transport).await
        };
        connected.map_err(|error| format!("{error:?}"))
    }

    async fn tools(&self) {
        let client = self.connect("/mcp", None, None).await.expect("a client");
        let peer = client.peer_info().expect("what the server says of itself");
        let is_modern = peer.protocol_version == ProtocolVersion::V_2026_07_28;
        assert_eq!(is_modern, self.is_modern, "{}", peer.protocol_version);
        let tools = client.list_all_tools().await.expect("the tools");
        for name in ["demo", "double", "asking", "get_task", "cancel_task"] {
            let tool = tools.iter().find(|tool| tool.name == name).expect(name);
            assert!(
                tool.description.is_some() && tool.input_schema.contains_key("properties"),
                "{tool:?}"
            );
        }
    }

    async fn calls(&self) {
        let client = self.connect("/mcp", None, None).await.expect("a client");
        let done = call(&client, "double", json!({ "message": "größer" })).await.expect("a result");
        let told = structured(&done);
        assert_eq!((&told["state"], &told["text"]), (&json!("completed"), &json!("größer")));
        assert_eq!(done.content[0].as_text().expect("a text").text, "größer");
        let task = json!({ "task_id": told["task_id"], "agent": "double" });
        let looked = call(&client, "get_task", task).await.expect("the task");
        assert_eq!(structured(&looked), told);
    }

    async fn refusals(&self) {
        let client = self.connect("/mcp", None, None).await.expect("a client");
        match call(&client, "nobody", json!({ "message": "x" })).await {
            Err(ServiceError::McpError(error)) => {
                assert_eq!(error.code.0, -32602);
                assert!(error.message.contains("there is no tool nobody"), "{error:?}");
            }
            other => panic!("no error but {other:?}"),
        }
        let wrong = call(&client, "double", json!({ "message": 5 })).await.expect("a result");
        assert_eq!(wrong.is_error, Some(true));
    }

    async fn questions(&self) {
        let client = self.connect("/mcp", None, None).await.expect("a client");
        let asked = call(&client, "demo", json!({ "message": "ask" })).await.expect("a result");
        let told = structured(&asked);
        assert_eq!(told["state"], "input_required");
        assert_eq!(told["question"], "Which colour?");
        let answer = json!({ "message": "blue", "task_id": told["task_id"] });
        let done = call(&client, "demo", answer).await.expect("a result");
        assert_eq!(structured(&done)["text"], "blue");
    }

    /// Where the revision has it, the user is asked in the middle of the call; before, the question is the result.
    async fn shown(&self) {
        let client = self.connect("/mcp", None, Some("green")).await.expect("a client");
        let done = call(&client, "demo", json!({ "message": "ask" })).await.expect("a result");
        let told = structured(&done);
        if self.is_modern {
            assert_eq!(told["text"], "green");
        } else {
            assert_eq!(told["state"], "input_required");
        }
    }

    async fn keys(&self) {
        let key = Some(self.key.as_str());
        for path in ["/mcp", "/closed/mcp"] {
            let client = self.connect(path, key, None).await.expect("a client");
            let tools = client.list_all_tools().await.expect("the tools");
            assert!(tools.iter().any(|tool| tool.name == "closed"));
            let done = call(&client, "closed", json!({ "message": "hi" })).await.expect("a result");
            assert_eq!(structured(&done)["text"], "hi");
        }
        for refused in [None, Some("another")] {
            let error = self.connect("/closed/mcp", refused, None).await.err().expect("an error");
            assert!(error.contains("401") || error.contains("AuthRequired"), "{error}");
        }
    }
}

fn structured(result: &CallToolResult) -> &Value {
    result.structured_content.as_ref().expect("structured content")
}

async fn call(
    client: &Client,
    name: &'static str,
    arguments: Value,
) -> Result<CallToolResult, ServiceError> {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    client.call_tool(CallToolRequestParams::new(name).with_arguments(arguments)).await
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let origin = arguments.next().expect("the origin");
    let is_modern = arguments.next().expect("the era") == "auto";
    let walk = Walk { origin, is_modern, key: arguments.next().expect("the key") };

    walk.tools().await;
    println!("tools: ok");
    walk.calls().await;
    println!("calls: ok");
    walk.refusals().await;
    println!("refusals: ok");
    walk.questions().await;
    println!("questions: ok");
    walk.shown().await;
    println!("shown: ok");
    walk.keys().await;
    println!("keys: ok");
}
