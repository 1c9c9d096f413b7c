//! Other agents as tools of a model.

use std::fmt;

use serde_json::{Value, json};

use super::{create_message, slugify};
use crate::client::{Client, Observed, Outcome, RemoteCard};
use crate::model::TaskId;

/// A tool that hands a task to another agent, for a model that coordinates several.
#[derive(Clone)]
pub struct DelegationTool {
    /// Its name: the slug of the card's name, unless another one was given.
    pub name: String,
    /// What a model is told of it.
    pub description: String,
    /// The JSON schema of its arguments: `prompt`, and `task_id` to go on with a task.
    pub parameters: Value,
    client: Client,
}

/// What came of a delegation. As text it is the line that a model understands:
///
/// - `[COMPLETED] text`
/// - `[INPUT_REQUIRED:task_id=…] question`
/// - `[AUTH_REQUIRED:task_id=…] text`
/// - `[FAILED] reason`
/// - `[CANCELED]`
/// - `[TIMEOUT]`
#[derive(Clone, Debug, PartialEq)]
pub enum Delegated {
    /// The agent was called.
    Observed(Box<Observed>),
    /// The arguments cannot be used, for this reason.
    Refused(String),
}

/// Makes the tool that hands tasks to the agent of this client. Its name is the slug of the card's name; [`tool_names`](super::tool_names)
/// chooses names for several agents.
///
/// ```
/// use a2a::client::simulation::Simulation;
/// use a2a::client::{Client, RemoteCard, Settings, create_a2a_tool};
/// use a2a::http::memory::ok;
///
/// const CARD: &str = r#"{"name": "Echo Agent", "version": "1", "capabilities": {}, "description": "Repeats.",
///     "supportedInterfaces": [{"url": "https://echo.example/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]}"#;
/// let simulation = Simulation::default();
/// simulation.http().answer_with(|request, _| Ok(ok(match request.method {
///     "GET" => CARD,
///     _ => r#"{"jsonrpc": "2.0", "id": "1", "result": {"task": {"id": "t-1", "contextId": "c-1",
///         "status": {"state": "TASK_STATE_INPUT_REQUIRED",
///             "message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "How often?"}]}}}}}"#,
/// })));
/// let client = Client::new(Settings::new("https://echo.example"), simulation.ports());
/// let tool = create_a2a_tool(&client, &RemoteCard::parse(CARD)?, None);
/// assert_eq!(tool.name, "echo_agent");
/// assert_eq!(tool.parameters["required"], serde_json::json!(["prompt"]));
///
/// let arguments = serde_json::json!({"prompt": "Say hello."});
/// let delegated = simulation.run(tool.call(&arguments, || false));
/// assert_eq!(delegated.to_string(), "[INPUT_REQUIRED:task_id=t-1] How often?");
/// # Ok::<(), a2a::client::ClientError>(())
/// ```
pub fn create_a2a_tool(client: &Client, card: &RemoteCard, name: Option<&str>) -> DelegationTool {
    let about = card.description.trim();
    let skills: Vec<&str> = card.skills.iter().map(|skill| skill.name.as_str()).collect();
    let mut description = format!("Hands a task to the agent {}.", card.name);
    if !about.is_empty() {
        description += &format!(" {about}");
    }
    if !skills.is_empty() {
        description += &format!(" Skills: {}.", skills.join(", "));
    }
    let parameters = json!({
        "type": "object",
        "properties": {
            "prompt": {
                "type": "string",
                "description": "What the agent is to do, with all that it needs to know; or the answer to its question.",
            },
            "task_id": {
                "type": "string",
                "description": "The task whose question is answered, as the result of the call before named it. Not for a new task.",
            },
        },
        "required": ["prompt"],
        "additionalProperties": false,
    });
    let name = name.map_or_else(|| slugify(&card.name), str::to_owned);
    DelegationTool { name, description, parameters, client: client.clone() }
}

impl DelegationTool {
    /// Hands a task over, and waits for its end or its question. `is_canceled` is asked again and again; once it is true, the task
    /// is canceled.
    pub async fn call(&self, arguments: &Value, is_canceled: impl Fn() -> bool) -> Delegated {
        let text = |name: &str| match arguments.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.trim()).filter(|text| !text.is_empty())),
            Some(_) => Err(Delegated::Refused(format!("the argument {name} must be a string"))),
        };
        let (prompt, task) = match (text("prompt"), text("task_id")) {
            (Ok(Some(prompt)), Ok(task)) => (prompt, task),
            (Ok(None), _) => {
                let reason = "the argument prompt is missing: say what the agent is to do";
                return Delegated::Refused(reason.to_owned());
            }
            (Err(refused), _) | (_, Err(refused)) => return refused,
        };
        let mut message = create_message(prompt, self.client.ports());
        message.task_id = task.map(TaskId::new);
        Delegated::Observed(Box::new(self.client.send_and_observe(message, is_canceled).await))
    }

    /// The client of the agent.
    pub fn client(&self) -> &Client {
        &self.client
    }
}

impl fmt::Debug for DelegationTool {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "DelegationTool({})", self.name)
    }
}

impl Delegated {
    /// Whether the agent waits for an answer.
    pub fn is_question(&self) -> bool {
        match self {
            Self::Observed(observed) => observed.outcome == Outcome::InputRequired,
            Self::Refused(_) => false,
        }
    }
}

impl fmt::Display for Delegated {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let observed = match self {
            Self::Observed(observed) => observed,
            Self::Refused(reason) => return write!(out, "[FAILED] {reason}"),
        };
        let asks = |word: &str| match &observed.task {
            Some(task) => format!("[{word}:task_id={}]", task.id),
            None => format!("[{word}]"),
        };
        let head = match observed.outcome {
            Outcome::Completed => "[COMPLETED]".to_owned(),
            Outcome::InputRequired => asks("INPUT_REQUIRED"),
            Outcome::AuthRequired => asks("AUTH_REQUIRED"),
            Outcome::Failed => "[FAILED]".to_owned(),
            Outcome::Canceled => return out.write_str("[CANCELED]"),
            Outcome::Timeout => return out.write_str("[TIMEOUT]"),
        };
        match observed.text.trim() {
            "" => out.write_str(&head),
            text => write!(out, "{head} {text}"),
        }
    }
}

#[cfg(test)]
mod tests;
