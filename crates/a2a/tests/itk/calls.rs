//! Carries out instructions; calls other agents by the client of this crate.

use a2a::binding::Binding;
use a2a::client::{Client, Sent, Settings, StreamExt, apply, create_message, native};
use a2a::model::{
    CancelTaskRequest, Message, Part, Role, Secret, SendMessageConfiguration, SendMessageRequest,
    StreamResponse, Task, TaskId, TaskPushNotificationConfig, TaskState,
};
use futures_util::future::LocalBoxFuture;

use super::instruction::{Behavior, CallAgent};
use super::{CALL_TIME_MS, FINISHED, Failure, Instruction};

/// The texts that an instruction returns. `depth` is how many agents have called each other before it.
pub(crate) fn carry_out(
    instruction: &Instruction,
    depth: u32,
) -> LocalBoxFuture<'_, Result<Vec<String>, Failure>> {
    Box::pin(async move {
        match instruction {
            Instruction::CallAgent(call) => {
                let called = call_agent(call, depth).await;
                called.map_err(|why| format!("the call of {} failed: {why}", call.agent_card_uri))
            }
            Instruction::ReturnResponse { response, .. } => Ok(vec![response.clone()]),
            Instruction::Steps(steps) => {
                let mut texts = Vec::new();
                for step in steps {
                    texts.extend(carry_out(step, depth).await?);
                }
                Ok(texts)
            }
        }
    })
}

async fn call_agent(call: &CallAgent, depth: u32) -> Result<Vec<String>, Failure> {
    let settings = Settings {
        binding: Some(binding(&call.transport)?),
        depth: depth.saturating_add(1),
        timeout_ms: CALL_TIME_MS,
        ..Settings::new(&call.agent_card_uri)
    };
    let client = Client::new(settings, native::ports());
    let request = request(&client, call);
    match (&call.behavior, call.streaming) {
        (Behavior::Resubscribe, _) => resubscribe(&client, request).await,
        (Behavior::SendMessage | Behavior::PushNotification(_), true) => {
            stream(&client, request).await
        }
        (Behavior::SendMessage | Behavior::PushNotification(_), false) => {
            send(&client, request).await
        }
    }
}

fn binding(transport: &str) -> Result<Binding, Failure> {
    match transport {
        "jsonrpc" => Ok(Binding::JsonRpc),
        "http_json" => Ok(Binding::Rest),
        _ => Err(format!("there is no client for the transport {transport}")),
    }
}

fn request(client: &Client, call: &CallAgent) -> SendMessageRequest {
    let mut message = create_message("", client.ports());
    let instruction = Part::raw(&call.instruction, "application/x-protobuf");
    message.parts = vec![Part { filename: Some("instruction.bin".to_owned()), ..instruction }];
    let mut configuration = SendMessageConfiguration::default();
    if let Behavior::PushNotification(url) = &call.behavior {
        configuration.task_push_notification_config = Some(webhook(url));
    }
    SendMessageRequest { tenant: None, message, configuration, metadata: None }
}

fn webhook(url: &str) -> TaskPushNotificationConfig<Option<TaskId>> {
    TaskPushNotificationConfig {
        tenant: None,
        id: String::new(),
        task_id: None,
        url: format!("{url}/notifications"),
        token: Some(Secret::new("itk-token")),
        authentication: None,
        events: Default::default(),
        signing_secret: None,
    }
}

/// Sends a message, and waits for the end of its task.
async fn send(client: &Client, request: SendMessageRequest) -> Result<Vec<String>, Failure> {
    match client.send(request).await.map_err(|error| error.to_string())? {
        Sent::Message(message) => Ok(texts(&message)),
        Sent::Task(task) => completed(Some(task)).map(|task| said_by(&task)),
    }
}

/// Sends a message, and reads the stream of its task.
async fn stream(client: &Client, request: SendMessageRequest) -> Result<Vec<String>, Failure> {
    let mut events = client.send_streaming(request);
    let (mut task, mut said) = (None, Vec::new());
    while let Some(event) = events.next().await {
        let event = event.map_err(|error| error.to_string())?.event;
        match &event {
            StreamResponse::Message(message) => return Ok(texts(message)),
            StreamResponse::StatusUpdate(update) => {
                said.extend(update.status.message.iter().flat_map(texts));
            }
            StreamResponse::Task(_) | StreamResponse::ArtifactUpdate(_) => {}
        }
        apply(&mut task, &event);
    }
    completed(task).map(|_| said)
}

/// Sends a message, leaves its stream at the first event, and subscribes to the task until its text is complete; then cancels it.
async fn resubscribe(client: &Client, request: SendMessageRequest) -> Result<Vec<String>, Failure> {
    let mut events = client.send_streaming(request);
    let first = events.next().await.ok_or("the stream has no event")?;
    let id = match first.map_err(|error| error.to_string())?.event {
        StreamResponse::Task(task) => task.id,
        StreamResponse::StatusUpdate(update) => update.task_id,
        StreamResponse::ArtifactUpdate(update) => update.task_id,
        StreamResponse::Message(_) => return Err("a message instead of a task".to_owned()),
    };
    drop(events);

    let mut events = client.subscribe(id.clone(), None);
    let mut task = None;
    while let Some(event) = events.next().await {
        apply(&mut task, &event.map_err(|error| error.to_string())?.event);
        let said = task.as_ref().map(everything_said_by).unwrap_or_default();
        if let Some(text) = said.into_iter().find(|text| text.contains(FINISHED)) {
            let is_over = task.is_some_and(|task| task.status.state.is_terminal());
            if !is_over {
                let request = CancelTaskRequest { tenant: None, id, metadata: None };
                client.cancel(request).await.map_err(|error| error.to_string())?;
            }
            return Ok(vec![text.replace(FINISHED, "").trim_end().to_owned()]);
        }
    }
    Err("the subscription ended before the text was complete".to_owned())
}

/// The task, if it has completed.
fn completed(task: Option<Task>) -> Result<Task, Failure> {
    let task = task.ok_or("there is no task")?;
    if task.status.state == TaskState::Completed {
        return Ok(task);
    }
    Err(format!("the task is {:?}: {}", task.status.state, said_by(&task).join(" ")))
}

/// The texts of a task's status.
fn said_by(task: &Task) -> Vec<String> {
    task.status.message.iter().flat_map(texts).collect()
}

/// The texts of a task's status and of the agent's messages before it.
fn everything_said_by(task: &Task) -> Vec<String> {
    let earlier = task.history.iter().filter(|message| message.role == Role::Agent);
    earlier.flat_map(texts).chain(said_by(task)).collect()
}

fn texts(message: &Message) -> Vec<String> {
    message.parts.iter().filter_map(Part::as_text).map(str::to_owned).collect()
}
