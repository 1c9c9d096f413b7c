//! Walks through the operations with the official Rust SDK: `peer ORIGIN JSONRPC|HTTP+JSON`.
//!
//! Each step checks what it gets. The first that fails ends the walk with a panic that names it.

use a2a::{
    A2AError, AuthenticationInfo, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, ListTaskPushNotificationConfigsRequest,
    ListTasksRequest, Message, Part, Role, SendMessageConfiguration, SendMessageRequest,
    SendMessageResponse, StreamResponse, SubscribeToTaskRequest, Task, TaskPushNotificationConfig,
    TaskState, error_code, new_context_id,
};
use a2a_client::{A2AClient, A2AClientFactory, Transport, agent_card::AgentCardResolver};
use futures::StreamExt;

type Client = A2AClient<Box<dyn Transport>>;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let origin = arguments.next().expect("the origin");
    let binding = arguments.next().expect("the binding");
    let card =
        AgentCardResolver::new(None).resolve(&format!("{origin}/demo")).await.expect("the card");
    let factory = A2AClientFactory::builder().preferred_bindings(vec![binding.clone()]).build();
    let (client, interface) =
        factory.create_from_card_with_interface(&card).await.expect("a client");
    assert_eq!(interface.protocol_binding, binding);

    tasks(&client).await;
    println!("tasks: ok");
    listing(&client).await;
    println!("listing: ok");
    webhooks(&client).await;
    println!("webhooks: ok");
    streams(&client).await;
    println!("streams: ok");
}

fn saying(text: &str) -> SendMessageRequest {
    SendMessageRequest {
        message: Message::new(Role::User, vec![Part::text(text)]),
        configuration: None,
        metadata: None,
        tenant: None,
    }
}

fn answering(task: &Task, text: &str) -> SendMessageRequest {
    let mut request = saying(text);
    request.message.task_id = Some(task.id.clone());
    request
}

async fn send(client: &Client, request: &SendMessageRequest) -> Task {
    match client.send_message(request).await {
        Ok(SendMessageResponse::Task(task)) => task,
        other => panic!("no task but {other:?}"),
    }
}

fn get(id: &str) -> GetTaskRequest {
    GetTaskRequest { id: id.to_owned(), history_length: None, tenant: None }
}

fn cancel(id: &str) -> CancelTaskRequest {
    CancelTaskRequest { id: id.to_owned(), metadata: None, tenant: None }
}

fn assert_refused<T: std::fmt::Debug>(answer: Result<T, A2AError>, code: i32) {
    assert_eq!(answer.expect_err("a refusal").code, code);
}

/// Sending, getting, canceling, several turns, errors.
async fn tasks(client: &Client) {
    let task = send(client, &saying("hello")).await;
    assert_eq!(task.status.state, TaskState::Completed);
    let artifacts = task.artifacts.as_ref().expect("artifacts");
    assert_eq!(artifacts[0].parts[0].as_text(), Some("hello"));
    assert_eq!(client.get_task(&get(&task.id)).await.expect("the task"), task);

    match client.send_message(&saying("message")).await {
        Ok(SendMessageResponse::Message(said)) => {
            assert_eq!(said.text(), Some("A message instead of a task."));
        }
        other => panic!("no message but {other:?}"),
    }

    let asked = send(client, &saying("ask")).await;
    assert_eq!(asked.status.state, TaskState::InputRequired);
    let done = send(client, &answering(&asked, "red")).await;
    assert_eq!(done.status.state, TaskState::Completed);
    let history = done.history.unwrap_or_default();
    let said: Vec<_> = history.iter().filter_map(Message::text).collect();
    assert_eq!(said, ["ask", "Which colour?", "red"]);

    let mut long = saying("hold 60000");
    long.configuration = Some(SendMessageConfiguration {
        accepted_output_modes: None,
        task_push_notification_config: None,
        history_length: None,
        return_immediately: Some(true),
    });
    let held = send(client, &long).await;
    let canceled = client.cancel_task(&cancel(&held.id)).await.expect("the task");
    assert_eq!(canceled.status.state, TaskState::Canceled);

    assert_refused(client.get_task(&get("nobody")).await, error_code::TASK_NOT_FOUND);
    assert_refused(client.cancel_task(&cancel(&task.id)).await, error_code::TASK_NOT_CANCELABLE);
    let more = client.send_message(&answering(&task, "more")).await;
    assert_refused(more, error_code::UNSUPPORTED_OPERATION);
}

/// A task is listed as soon as it was answered, page by page.
async fn listing(client: &Client) {
    let context_id = new_context_id();
    let mut sent = Vec::new();
    for text in ["one", "two", "three"] {
        let mut request = saying(text);
        request.message.context_id = Some(context_id.clone());
        sent.push(send(client, &request).await.id);
    }
    let mut request = ListTasksRequest {
        context_id: Some(context_id),
        status: None,
        page_size: Some(2),
        page_token: None,
        history_length: None,
        status_timestamp_after: None,
        include_artifacts: None,
        tenant: None,
    };
    let first = client.list_tasks(&request).await.expect("a page");
    assert_eq!((first.tasks.len(), first.total_size), (2, 3));
    request.page_token = Some(first.next_page_token);
    let second = client.list_tasks(&request).await.expect("a page");
    assert_eq!(second.next_page_token, "");
    let mut listed: Vec<_> =
        first.tasks.into_iter().chain(second.tasks).map(|task| task.id).collect();
    listed.sort();
    sent.sort();
    assert_eq!(listed, sent);
}

/// Webhooks are created, got, listed and deleted. Their secrets are shown once.
async fn webhooks(client: &Client) {
    let task = send(client, &saying("ask")).await;
    let mut given = TaskPushNotificationConfig {
        url: "https://hooks.example.com/a".to_owned(),
        id: None,
        task_id: task.id.clone(),
        token: Some("t".to_owned()),
        authentication: Some(AuthenticationInfo {
            scheme: "Bearer".to_owned(),
            credentials: Some("c".to_owned()),
        }),
        tenant: None,
    };
    let created = client.create_push_config(&given).await.expect("a webhook");
    given.id = Some(created.id.clone().filter(|id| !id.is_empty()).expect("an id"));
    assert_eq!(created, given);

    let mut shown = created.clone();
    shown.token = None;
    shown.authentication =
        Some(AuthenticationInfo { scheme: "Bearer".to_owned(), credentials: None });
    let id = created.id.expect("an id");
    let one = GetTaskPushNotificationConfigRequest {
        task_id: task.id.clone(),
        id: id.clone(),
        tenant: None,
    };
    assert_eq!(client.get_push_config(&one).await.expect("the webhook"), shown);
    let every = ListTaskPushNotificationConfigsRequest {
        task_id: task.id.clone(),
        page_size: None,
        page_token: None,
        tenant: None,
    };
    assert_eq!(client.list_push_configs(&every).await.expect("the webhooks").configs, [shown]);
    let deletion = DeleteTaskPushNotificationConfigRequest { task_id: task.id, id, tenant: None };
    client.delete_push_config(&deletion).await.expect("a deletion");
    assert_refused(client.get_push_config(&one).await, error_code::TASK_NOT_FOUND);
}

/// The stream of a send, a message as a stream, and a second subscriber.
async fn streams(client: &Client) {
    let stream = client.send_streaming_message(&saying("chunks")).await.expect("a stream");
    let events: Vec<_> = stream.map(|event| event.expect("an event")).collect().await;
    assert!(matches!(events.first(), Some(StreamResponse::Task(_))));
    let pieces: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            StreamResponse::ArtifactUpdate(update) => update.artifact.parts[0].as_text(),
            _ => None,
        })
        .collect();
    assert_eq!(pieces, ["one ", "two ", "three"]);
    assert_completed(events.last());

    let stream = client.send_streaming_message(&saying("message")).await.expect("a stream");
    let events: Vec<_> = stream.map(|event| event.expect("an event")).collect().await;
    assert!(matches!(events.as_slice(), [StreamResponse::Message(_)]));

    let asked = send(client, &saying("ask")).await;
    let request = SubscribeToTaskRequest { id: asked.id.clone(), tenant: None };
    let mut stream = client.subscribe_to_task(&request).await.expect("a stream");
    match stream.next().await {
        Some(Ok(StreamResponse::Task(task))) => assert_eq!(task, asked),
        other => panic!("no task but {other:?}"),
    }
    send(client, &answering(&asked, "red")).await;
    let events: Vec<_> = stream.map(|event| event.expect("an event")).collect().await;
    assert_completed(events.last());
}

fn assert_completed(event: Option<&StreamResponse>) {
    match event {
        Some(StreamResponse::StatusUpdate(update)) => {
            assert_eq!(update.status.state, TaskState::Completed);
        }
        other => panic!("the last event is {other:?}"),
    }
}
