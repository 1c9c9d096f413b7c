//! `probe_ask`: calls another agent by its name.

use a2a_edge::client::{Client, StreamExt, create_message};
use a2a_edge::model::{Message, Part, SendMessageConfiguration, SendMessageRequest, TaskId};
use a2a_edge::tool::prelude::*;

/// Asks another agent: a text, or a call of a tool of its. Gives `{outcome, text, task, data}`; with `stream` the kinds of events that
/// came, too.
#[tool]
pub(super) async fn probe_ask(
    agent: String,
    text: Option<String>,
    tool: Option<String>,
    arguments: Option<Value>,
    task: Option<String>,
    #[default(false)] stream: bool,
    call: &dyn ToolCall,
) -> Result<Value, ToolError> {
    let client = call.remote(&agent)?;
    let mut message = create_message(text.unwrap_or_default(), client.ports());
    if let Some(tool) = tool {
        message.parts = vec![Part::data(json!({"tool": tool, "arguments": arguments}))];
    }
    message.task_id = task.and_then(TaskId::new);
    if stream {
        return Ok(streamed(&client, message).await);
    }
    let observed = client.send_and_observe(message, || call.is_canceled()).await;
    let task = observed.task.as_ref().map(|task| task.id.as_str());
    let artifacts = observed.task.iter().flat_map(|task| &task.artifacts);
    let data = artifacts.flat_map(|artifact| &artifact.parts).filter_map(Part::as_data);
    let data: Vec<Value> = data.collect();
    let outcome = format!("{:?}", observed.outcome);
    Ok(json!({"outcome": outcome, "text": observed.text, "task": task, "data": data}))
}

async fn streamed(client: &Client, message: Message) -> Value {
    let configuration = SendMessageConfiguration::default();
    let request = SendMessageRequest { tenant: None, message, configuration, metadata: None };
    let mut events = client.send_streaming(request);
    let mut seen = Vec::new();
    while let Some(event) = events.next().await {
        seen.push(match event {
            Ok(event) => a2a_edge::model::encode(&event.event).unwrap_or_default(),
            Err(error) => error.to_string(),
        });
    }
    json!({"events": seen})
}
