//! The steps.

use std::future::Future;

use a2a::client::{Client, ClientError, Outcome, Sent, create_message};
use a2a::model::{
    AuthenticationInfo, CancelTaskRequest, GetTaskRequest, ListPushNotificationConfigsRequest,
    ListTasksRequest, Message, Part, PushNotificationConfigRequest, Secret,
    SendMessageConfiguration, SendMessageRequest, StreamResponse, Task, TaskId,
    TaskPushNotificationConfig, TaskState,
};
use futures_util::StreamExt;
use serde_json::json;

use super::Failed;

/// Executes all steps with a client that streams, and some with a client that polls.
pub(crate) async fn walk(client: Client, poller: Client, receiver: &str) {
    show("card", card(&client)).await;
    show("send", send(&client)).await;
    show("message", message(&client)).await;
    show("parts", parts(&client)).await;
    show("stream", stream(&client)).await;
    show("poll", stream(&poller)).await;
    show("ask", ask(&client)).await;
    show("observe", observe(&client)).await;
    show("fail", fail(&client)).await;
    show("cancel", cancel(&client)).await;
    show("subscribe", subscribe(&client)).await;
    show("get", get(&client)).await;
    show("list", list(&client)).await;
    show("errors", errors(&client)).await;
    show("webhooks", webhooks(&client, receiver)).await;
    show("notified", notified(&client, receiver)).await;
    show("extended", extended(&client)).await;
}

async fn show(name: &str, step: impl Future<Output = Result<(), Failed>>) {
    match step.await {
        Ok(()) => println!("{name}: ok"),
        Err(why) => println!("{name}: {why}"),
    }
}

async fn card(client: &Client) -> Result<(), Failed> {
    let card = client.card().await.map_err(told)?;
    same("the name", card.name.as_str(), "Sample")?;
    same("streaming", card.streams, true)
}

async fn send(client: &Client) -> Result<(), Failed> {
    let task = task_of(client, said(client, "hello")).await?;
    same("the state", task.status.state, TaskState::Completed)?;
    same("the text", text(&task).as_str(), "hello")?;
    let has_time = task.status.timestamp.is_some();
    same("a timestamp", has_time, true)
}

async fn message(client: &Client) -> Result<(), Failed> {
    match client.send(said(client, "message")).await.map_err(told)? {
        Sent::Message(message) => same("the text", message.text().as_str(), "hello yourself"),
        Sent::Task(task) => Err(format!("a task instead of a message: {task:?}")),
    }
}

async fn parts(client: &Client) -> Result<(), Failed> {
    let mut request = said(client, "parts");
    let parts = vec![
        Part::data(json!({"total": 41.2, "data": {"deep": [1.5, "x", null]}})),
        Part::raw(&[0, 1, 2, 250], "image/png").with_filename("a.png"),
        Part::url("https://files.example/x.pdf").with_media_type("application/pdf"),
        Part::text("an \u{e9}\u{1f600} \"text\"\n"),
    ];
    request.message.parts.extend(parts.clone());
    let task = task_of(client, request).await?;
    let found = task.artifacts.into_iter().flat_map(|artifact| artifact.parts);
    let bare = |part: Part| {
        // SDKs add the media type of a text if it is missing.
        let is_text = part.as_text().is_some() || part.as_data().is_some();
        Part { media_type: part.media_type.filter(|_| !is_text), metadata: None, ..part }
    };
    same("the parts", found.map(bare).collect::<Vec<_>>(), parts)
}

async fn stream(client: &Client) -> Result<(), Failed> {
    let mut events = client.send_streaming(said(client, "chunks"));
    let mut task: Option<Task> = None;
    let mut names = Vec::new();
    while let Some(event) = events.next().await {
        let event = event.map_err(told)?.event;
        names.push(name(&event));
        a2a::client::apply(&mut task, &event);
    }
    let task = task.ok_or("no event")?;
    same("the state", task.status.state, TaskState::Completed)?;
    let text: String =
        task.artifacts.iter().flat_map(|one| &one.parts).filter_map(Part::as_text).collect();
    same("the text", text.as_str(), "one two three")?;
    same("the last event", names.last().copied(), Some("status"))
}

fn name(event: &StreamResponse) -> &'static str {
    match event {
        StreamResponse::Task(_) => "task",
        StreamResponse::Message(_) => "message",
        StreamResponse::StatusUpdate(_) => "status",
        StreamResponse::ArtifactUpdate(_) => "artifact",
    }
}

async fn ask(client: &Client) -> Result<(), Failed> {
    let asked = client.send_and_observe(create_message("ask", client.ports()), || false).await;
    same("the outcome", asked.outcome, Outcome::InputRequired)?;
    same("the question", asked.text.as_str(), "which colour?")?;
    let task = asked.task.ok_or("no task")?;
    let answer = Message {
        task_id: Some(task.id.clone()),
        context_id: task.context_id,
        ..create_message("red", client.ports())
    };
    let done = client.send_and_observe(answer, || false).await;
    same("the outcome", done.outcome, Outcome::Completed)?;
    same("the text", done.text.as_str(), "red")?;
    same("the task", done.task.map(|task| task.id), Some(task.id))
}

async fn observe(client: &Client) -> Result<(), Failed> {
    let observed = client.send_and_observe(create_message("hello", client.ports()), || false).await;
    same("the outcome", observed.outcome, Outcome::Completed)?;
    same("the text", observed.text.as_str(), "hello")
}

async fn fail(client: &Client) -> Result<(), Failed> {
    for (text, state) in [("fail", TaskState::Failed), ("reject", TaskState::Rejected)] {
        let observed =
            client.send_and_observe(create_message(text, client.ports()), || false).await;
        same("the outcome", observed.outcome, Outcome::Failed)?;
        same("the reason", observed.text.as_str(), "no luck")?;
        same("the state", observed.task.map(|task| task.status.state), Some(state))?;
    }
    Ok(())
}

async fn cancel(client: &Client) -> Result<(), Failed> {
    let begun = begun(client, "slow").await?;
    same("whether it goes on", begun.status.state.is_terminal(), false)?;
    let request = CancelTaskRequest { tenant: None, id: begun.id.clone(), metadata: None };
    let canceled = client.cancel(request).await.map_err(told)?;
    same("the state", canceled.status.state, TaskState::Canceled)?;
    let task = client.get(by_id(&begun.id, None)).await.map_err(told)?;
    same("the state later", task.status.state, TaskState::Canceled)
}

async fn subscribe(client: &Client) -> Result<(), Failed> {
    let begun = begun(client, "hold").await?;
    let mut events = client.subscribe(begun.id.clone(), None);
    let mut task: Option<Task> = None;
    while let Some(event) = events.next().await {
        a2a::client::apply(&mut task, &event.map_err(told)?.event);
    }
    let task = task.ok_or("no event")?;
    same("the task", &task.id, &begun.id)?;
    same("the state", task.status.state, TaskState::Completed)?;
    same("the text", text(&task).as_str(), "held")
}

async fn get(client: &Client) -> Result<(), Failed> {
    let done = task_of(client, said(client, "hello")).await?;
    let task = client.get(by_id(&done.id, None)).await.map_err(told)?;
    same("the id", &task.id, &done.id)?;
    same("the conversation", &task.context_id, &done.context_id)?;
    let heard = task.history.iter().any(|message| message.text() == "hello");
    same("whether the history has the message", heard, true)?;
    let brief = client.get(by_id(&done.id, Some(1))).await.map_err(told)?;
    same("the history", brief.history.len() <= 1, true)
}

async fn list(client: &Client) -> Result<(), Failed> {
    let done = task_of(client, said(client, "hello")).await?;
    let request = |page_size, page_token| ListTasksRequest {
        tenant: None,
        context_id: None,
        status: None,
        page_size,
        page_token,
        history_length: Some(0),
        status_timestamp_after: None,
        include_artifacts: false,
        text: None,
        waiting: false,
        include_summary: false,
    };
    let filtered = ListTasksRequest {
        context_id: done.context_id.clone(),
        status: Some(TaskState::Completed),
        include_artifacts: true,
        ..request(10, None)
    };
    let page = client.list(filtered).await.map_err(told)?;
    let ids: Vec<_> = page.tasks.iter().map(|task| task.id.clone()).collect();
    same("the tasks of the conversation", ids, vec![done.id])?;
    same("the artifacts", page.tasks[0].artifacts.is_empty(), false)?;
    let first = client.list(request(2, None)).await.map_err(told)?;
    same("the size of a page", first.tasks.len(), 2)?;
    let second = client.list(request(2, Some(first.next_page_token))).await.map_err(told)?;
    let is_other =
        second.tasks.iter().all(|task| first.tasks.iter().all(|seen| seen.id != task.id));
    same("whether the next page has other tasks", is_other && !second.tasks.is_empty(), true)
}

async fn errors(client: &Client) -> Result<(), Failed> {
    let nobody = TaskId::new("00000000-0000-4000-8000-000000000000").unwrap();
    refused("GetTask", client.get(by_id(&nobody, None)).await, &[-32001])?;
    let request = CancelTaskRequest { tenant: None, id: nobody.clone(), metadata: None };
    refused("CancelTask", client.cancel(request).await, &[-32001])?;
    let mut late = said(client, "hello");
    late.message.task_id = Some(nobody);
    refused("SendMessage", client.send(late).await, &[-32001])?;

    let done = task_of(client, said(client, "hello")).await?;
    let request = CancelTaskRequest { tenant: None, id: done.id.clone(), metadata: None };
    refused("CancelTask of a finished task", client.cancel(request).await, &[-32002])?;
    let mut late = said(client, "hello");
    late.message.task_id = Some(done.id);
    // The first code is that of the specification; SDKs use the others.
    let codes = [-32004, -32600, -32602];
    refused("SendMessage to a finished task", client.send(late).await, &codes)
}

async fn webhooks(client: &Client, receiver: &str) -> Result<(), Failed> {
    let task = begun(client, "slow").await?;
    let config = webhook(task.id.clone(), "w-1", receiver);
    let created = client.create_webhook(config.clone()).await.map_err(told)?;
    same("the created webhook", created.url.as_str(), config.url.as_str())?;
    same("its task", &created.task_id, &task.id)?;
    let (tenant, task_id) = (None, task.id.clone());
    let named = PushNotificationConfigRequest { tenant, task_id, id: created.id.clone() };
    let found = client.get_webhook(named.clone()).await.map_err(told)?;
    same(
        "the webhook",
        (found.id.as_str(), found.url.as_str()),
        (created.id.as_str(), config.url.as_str()),
    )?;
    let all = ListPushNotificationConfigsRequest { tenant: None, task_id: task.id.clone() };
    let listed = client.list_webhooks(all.clone()).await.map_err(told)?;
    same("the webhooks", listed.len(), 1)?;
    client.delete_webhook(named).await.map_err(told)?;
    let listed = client.list_webhooks(all).await.map_err(told)?;
    same("the webhooks that are left", listed.len(), 0)?;
    let request = CancelTaskRequest { tenant: None, id: task.id, metadata: None };
    client.cancel(request).await.map_err(told)?;
    Ok(())
}

/// A task with a webhook. The spec of the e2e tests checks the notifications.
async fn notified(client: &Client, receiver: &str) -> Result<(), Failed> {
    let mut request = said(client, "hello");
    let config = webhook(None, "w-2", receiver);
    request.configuration.task_push_notification_config = Some(config);
    let task = task_of(client, request).await?;
    same("the state", task.status.state, TaskState::Completed)
}

fn webhook<T>(task_id: T, id: &str, receiver: &str) -> TaskPushNotificationConfig<T> {
    TaskPushNotificationConfig {
        tenant: None,
        id: id.to_owned(),
        task_id,
        url: format!("{receiver}/{id}"),
        token: Some(Secret::new("token-1")),
        authentication: Some(AuthenticationInfo {
            scheme: "Bearer".to_owned(),
            credentials: Some(Secret::new("credentials-1")),
        }),
        events: Default::default(),
        signing_secret: None,
    }
}

async fn extended(client: &Client) -> Result<(), Failed> {
    let card = client.extended_card().await.map_err(told)?;
    same("the name", card.name.as_str(), "Sample, extended")
}

/// A blocking send with this text.
fn said(client: &Client, text: &str) -> SendMessageRequest {
    let message = create_message(text, client.ports());
    let configuration = SendMessageConfiguration::default();
    SendMessageRequest { tenant: None, message, configuration, metadata: None }
}

async fn task_of(client: &Client, request: SendMessageRequest) -> Result<Task, Failed> {
    match client.send(request).await.map_err(told)? {
        Sent::Task(task) => Ok(task),
        Sent::Message(message) => Err(format!("a message instead of a task: {message:?}")),
    }
}

/// A task, returned as soon as it exists.
async fn begun(client: &Client, text: &str) -> Result<Task, Failed> {
    let mut request = said(client, text);
    request.configuration.return_immediately = true;
    task_of(client, request).await
}

fn by_id(id: &TaskId, history_length: Option<i32>) -> GetTaskRequest {
    GetTaskRequest { tenant: None, id: id.clone(), history_length }
}

fn text(task: &Task) -> String {
    let parts = task.artifacts.iter().flat_map(|artifact| &artifact.parts);
    parts.filter_map(Part::as_text).collect()
}

fn refused<T: std::fmt::Debug>(
    what: &str,
    answer: Result<T, ClientError>,
    codes: &[i32],
) -> Result<(), Failed> {
    match answer {
        Err(ClientError::Remote(error)) if codes.contains(&error.code) => Ok(()),
        other => Err(format!("{what} gave {other:?}")),
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), Failed> {
    if found == expected {
        Ok(())
    } else {
        Err(format!("{what}: {found:?} instead of {expected:?}"))
    }
}

fn told(error: ClientError) -> Failed {
    error.to_string()
}
