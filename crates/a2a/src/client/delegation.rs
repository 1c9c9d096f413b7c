//! Other agents as tools for a model.

use std::fmt;

use serde_json::{Value, json};

use super::{Client, Observed, Outcome, RemoteCard, create_message, slugify};
use crate::model::{Part, PartContent, TaskId};

/// A tool that delegates a task to another agent, for a model that coordinates several agents.
#[derive(Clone)]
pub struct DelegationTool {
    /// The tool's name: the slug of the card's name, unless the caller has passed another name.
    pub name: String,
    /// The description of the tool for the model.
    pub description: String,
    /// The JSON schema of the tool's arguments: `prompt`, and `task_id` to continue a task.
    pub parameters: Value,
    client: Client,
}

/// The arguments of a tool that delegates a task to an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelegationArguments {
    /// The work for the agent, or the answer to its question.
    pub prompt: String,
    /// The task that waits for this answer; `None` for a new task.
    pub task_id: Option<TaskId>,
}

/// The result of a delegation. `Display` writes it as the line that a model receives:
///
/// - `[COMPLETED] text`, with data as JSON, and files by name
/// - `[INPUT_REQUIRED:task_id=…] question`, with data and files in the same form
/// - `[AUTH_REQUIRED:task_id=…] text`, with data and files in the same form
/// - `[FAILED] reason`
/// - `[CANCELED]`
/// - `[TIMEOUT]`
#[derive(Clone, Debug, PartialEq)]
pub enum Delegated {
    /// The agent was called.
    Observed(Box<Observed>),
    /// The arguments are invalid, for this reason.
    Refused(String),
}

/// Makes the tool that delegates tasks to the agent of this client. By default the tool's name is the slug of the card's
/// name; [`tool_names`](super::tool_names) chooses unique names for several agents.
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
    let name = name.map_or_else(|| slugify(&card.name), str::to_owned);
    let parameters = DelegationArguments::schema();
    DelegationTool { name, description, parameters, client: client.clone() }
}

impl DelegationTool {
    /// Sends the prompt to the agent, and waits until the task ends or asks a question. `is_canceled` is called repeatedly; after it
    /// returns true, the task is canceled.
    pub async fn call(&self, arguments: &Value, is_canceled: impl Fn() -> bool) -> Delegated {
        let DelegationArguments { prompt, task_id } = match DelegationArguments::read(arguments) {
            Ok(arguments) => arguments,
            Err(reason) => return Delegated::Refused(reason),
        };
        let mut message = create_message(prompt, self.client.ports());
        message.task_id = task_id;
        Delegated::Observed(Box::new(self.client.send_and_observe(message, is_canceled).await))
    }

    /// The client of the agent.
    pub fn client(&self) -> &Client {
        &self.client
    }
}

impl DelegationArguments {
    /// The JSON schema of the arguments.
    pub fn schema() -> Value {
        json!({
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
        })
    }

    /// Reads the arguments that a model has written. A blank task id counts as no task id.
    ///
    /// ```
    /// use a2a::client::DelegationArguments;
    /// use serde_json::json;
    ///
    /// let arguments = DelegationArguments::read(&json!({"prompt": " Say hello. ", "task_id": ""}));
    /// assert_eq!(arguments.map(|arguments| (arguments.prompt, arguments.task_id)), Ok(("Say hello.".to_owned(), None)));
    /// assert_eq!(DelegationArguments::read(&json!({"prompt": 5})), Err("the argument prompt must be a string".to_owned()));
    /// ```
    ///
    /// # Errors
    ///
    /// The mistake in the arguments, as a text for the model.
    pub fn read(arguments: &Value) -> Result<Self, String> {
        let text = |name: &str| match arguments.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.trim()).filter(|text| !text.is_empty())),
            Some(_) => Err(format!("the argument {name} must be a string")),
        };
        let prompt = text("prompt")?;
        let prompt =
            prompt.ok_or("the argument prompt is missing: say what the agent is to do")?.to_owned();
        Ok(Self { prompt, task_id: text("task_id")?.and_then(TaskId::new) })
    }
}

impl fmt::Debug for DelegationTool {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "DelegationTool({})", self.name)
    }
}

impl Delegated {
    /// True if the agent waits for an answer to its question.
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
        match in_words(observed).as_deref().unwrap_or(&observed.text).trim() {
            "" => out.write_str(&head),
            text => write!(out, "{head} {text}"),
        }
    }
}

/// The parts of the result or question as one text: texts unchanged, data as JSON, and for each file its name, media type and URL. `None`
/// if all parts are texts.
fn in_words(observed: &Observed) -> Option<String> {
    let said = observed.message.as_ref();
    let said = said.or_else(|| observed.task.as_ref()?.status.message.as_ref());
    let said = said.map(|message| message.parts.as_slice()).unwrap_or_default();
    let artifacts = match (observed.outcome, &observed.task) {
        (Outcome::Completed, Some(task)) => task.artifacts.as_slice(),
        (Outcome::Completed | Outcome::InputRequired | Outcome::AuthRequired, _) => &[],
        (Outcome::Failed | Outcome::Canceled | Outcome::Timeout, _) => return None,
    };
    let results: Vec<&[Part]> =
        artifacts.iter().map(|artifact| artifact.parts.as_slice()).collect();
    let has_text = results.iter().any(|parts| parts.iter().any(|part| part.as_text().is_some()));
    // The message of the status is used only if no artifact contains text.
    let said = Some(said).filter(|_| !has_text);
    let all: Vec<&[Part]> = said.into_iter().chain(results).filter(|all| !all.is_empty()).collect();
    if all.iter().all(|parts| parts.iter().all(|part| part.as_text().is_some())) {
        return None;
    }
    Some(all.into_iter().map(parts_in_words).collect::<Vec<_>>().join("\n"))
}

fn parts_in_words(parts: &[Part]) -> String {
    let mut text = String::new();
    let mut was_text = true;
    for part in parts {
        // Consecutive text parts are chunks of one text; any other part starts on a new line.
        let is_text = part.as_text().is_some();
        if !(text.is_empty() || is_text && was_text) {
            text.push('\n');
        }
        text += &part_in_words(part);
        was_text = is_text;
    }
    text
}

fn part_in_words(part: &Part) -> String {
    let name = part.filename.as_deref().unwrap_or("a file");
    let kind = part.media_type.as_deref().map(|kind| format!(" ({kind})")).unwrap_or_default();
    match &part.content {
        PartContent::Text(text) => (**text).to_owned(),
        PartContent::Data(data) => data.as_str().to_owned(),
        PartContent::Url(url) => format!("{name}{kind}: {}", &**url),
        PartContent::Raw(_) => format!("{name}{kind}"),
    }
}

#[cfg(test)]
mod tests;
