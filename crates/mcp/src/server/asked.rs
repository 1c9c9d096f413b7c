//! The methods of requests, with their parsed params.

use serde_json::{Map, Value, json};

use super::Era;
use crate::model::{Answer, RpcError, TASKS_EXTENSION, code};

/// A parsed request.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// The description of the server (modern).
    Discover,
    /// The description of the server, at the beginning of a connection (legacy), with the revision that the client requests.
    Initialize(String),
    /// A check of the connection (legacy).
    Ping,
    /// The list of tools.
    ListTools,
    /// A call of a tool.
    CallTool(Box<ToolCall>),
    /// The list of resources.
    ListResources,
    /// The list of templates for the URIs of further resources.
    ListTemplates,
    /// The contents of the resource with this URI.
    ReadResource(String),
    /// A task of the tasks extension (modern).
    GetTask(String),
    /// Answers to the questions of a task (modern).
    UpdateTask(String, Vec<(String, Answer)>),
    /// The cancellation of a task (modern).
    CancelTask(String),
}

/// A call of a tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolCall {
    /// The name of the tool.
    pub name: String,
    /// The arguments of the tool.
    pub arguments: Map<String, Value>,
    /// The answers to the questions of the previous round, by their keys. Invalid answers are left out.
    pub answers: Vec<(String, Answer)>,
    /// The state that the server sent in the previous round. The client may have changed it.
    pub state: Option<String>,
}

impl Asked {
    /// Parses the params of a method.
    ///
    /// # Errors
    ///
    /// The reason of the refusal: the method does not exist in this era, the params are invalid, or the client does not
    /// declare the required capability.
    pub(super) fn read(
        method: &str,
        params: &Map<String, Value>,
        era: Era,
    ) -> Result<Self, RpcError> {
        let is_modern = matches!(era, Era::Modern(_));
        let asked = match (method, era) {
            ("server/discover", Era::Modern(_)) => Self::Discover,
            ("initialize", Era::Legacy) => {
                Self::Initialize(text(params, "protocolVersion").unwrap_or_default())
            }
            ("ping", Era::Legacy) => Self::Ping,
            ("tools/list", _) => return first_page(params, Self::ListTools),
            ("resources/list", _) => return first_page(params, Self::ListResources),
            ("resources/templates/list", _) => return first_page(params, Self::ListTemplates),
            ("tools/call", _) => return Self::read_call(params, is_modern),
            ("resources/read", _) => Self::ReadResource(needed(params, "uri")?),
            ("tasks/get" | "tasks/update" | "tasks/cancel", Era::Modern(capabilities)) => {
                if !capabilities.tasks {
                    return Err(tasks_needed());
                }
                let id = needed(params, "taskId")?;
                match method {
                    "tasks/get" => Self::GetTask(id),
                    "tasks/update" => Self::UpdateTask(id, answers(params)),
                    _ => Self::CancelTask(id),
                }
            }
            _ => {
                let shown: String = method.chars().take(MAX_SHOWN).collect();
                let message = format!("there is no method {shown} here");
                return Err(RpcError::new(code::METHOD_NOT_FOUND, message));
            }
        };
        Ok(asked)
    }

    fn read_call(params: &Map<String, Value>, is_modern: bool) -> Result<Self, RpcError> {
        let arguments = match params.get("arguments") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(arguments)) => arguments.clone(),
            Some(_) => return Err(invalid("params.arguments must be an object")),
        };
        let (answers, state) = if is_modern {
            (answers(params), text(params, "requestState"))
        } else {
            (Vec::new(), None)
        };
        let name = needed(params, "name")?;
        Ok(Self::CallTool(Box::new(ToolCall { name, arguments, answers, state })))
    }
}

/// A request for a list, which has only one page.
fn first_page(params: &Map<String, Value>, asked: Asked) -> Result<Asked, RpcError> {
    match params.get("cursor") {
        None | Some(Value::Null) => Ok(asked),
        Some(_) => Err(invalid("params.cursor must be one that was given out; there is one page")),
    }
}

fn answers(params: &Map<String, Value>) -> Vec<(String, Answer)> {
    let given = params.get("inputResponses").and_then(Value::as_object).into_iter().flatten();
    let given = given.take(MAX_ANSWERS);
    given.filter_map(|(key, answer)| Some((key.clone(), Answer::read(answer)?))).collect()
}

fn text(params: &Map<String, Value>, name: &str) -> Option<String> {
    params.get(name).and_then(Value::as_str).map(str::to_owned)
}

fn needed(params: &Map<String, Value>, name: &str) -> Result<String, RpcError> {
    let found = text(params, name).filter(|text| !text.is_empty());
    found.ok_or_else(|| invalid(format!("params.{name} must be a text that is not empty")))
}

fn invalid(message: impl Into<String>) -> RpcError {
    RpcError::new(code::INVALID_PARAMS, message)
}

fn tasks_needed() -> RpcError {
    let message = format!("the client must declare the extension {TASKS_EXTENSION}");
    let needed = json!({"requiredCapabilities": {"extensions": {TASKS_EXTENSION: {}}}});
    RpcError { data: Some(needed), ..RpcError::new(code::MISSING_CAPABILITY, message) }
}

/// The longest part of a client's name in an error, in characters.
const MAX_SHOWN: usize = 80;

/// The largest number of answers in a request.
const MAX_ANSWERS: usize = 100;
