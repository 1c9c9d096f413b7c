//! A small client for the command line: `cargo run -p a2a-edge-protocol --features native --example call -- --help`.

#[path = "call/options.rs"]
mod options;
#[path = "call/show.rs"]
mod show;

use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use a2a::client::{
    ApiKey, Bearer, Client, ClientError, Observe, Settings, Streaming, TaskEvent, create_message,
    native,
};
use a2a::model::{
    CancelTaskRequest, ContextId, GetTaskRequest, ListTasksRequest, Part, SendMessageConfiguration,
    SendMessageRequest, TaskId, TaskState,
};
use futures_util::StreamExt;

use options::{Command, Options, USAGE};
use show::Shown;

fn main() -> ExitCode {
    let options = match Options::read(std::env::args().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => {
            show::line(USAGE);
            return ExitCode::SUCCESS;
        }
        Err(reason) => {
            eprintln!("call: {reason}\nTry --help.");
            return ExitCode::from(2);
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let called = match runtime {
        Ok(runtime) => runtime.block_on(call(&options)),
        Err(error) => Err(ClientError::Unexpected(format!("there is no runtime: {error}"))),
    };
    match called {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("call: {error}");
            ExitCode::from(if error == ClientError::Timeout { 6 } else { 1 })
        }
    }
}

/// Makes the call, and returns the exit code.
async fn call(options: &Options) -> Result<u8, ClientError> {
    let client = client(options);
    let id = || {
        let id = TaskId::new(options.argument.clone());
        id.ok_or_else(|| ClientError::Unexpected("the id of the task is empty".to_owned()))
    };
    match options.command {
        Command::Card => {
            let card = client.card().await?;
            show::card(&card, options.json);
            Ok(0)
        }
        Command::Send => {
            let mut message = create_message(&options.argument, client.ports());
            if let Some(data) = &options.data {
                message.parts.retain(|part| part.as_text().is_some_and(|text| !text.is_empty()));
                message.parts.push(Part::data(data.clone()));
            }
            message.task_id = options.task.clone().and_then(TaskId::new);
            message.context_id = options.context.clone().and_then(ContextId::new);
            let configuration = SendMessageConfiguration::default();
            let request =
                SendMessageRequest { tenant: None, message, configuration, metadata: None };
            send(&client, request, options).await
        }
        Command::Subscribe => subscribe(&client, id()?, options).await,
        Command::Get => {
            let request = GetTaskRequest { tenant: None, id: id()?, history_length: None };
            let task = client.get(request).await?;
            show::task(&task, options.json);
            Ok(0)
        }
        Command::Cancel => {
            let request = CancelTaskRequest { tenant: None, id: id()?, metadata: None };
            let task = client.cancel(request).await?;
            show::task(&task, options.json);
            Ok(if task.status.state == TaskState::Canceled { 0 } else { 1 })
        }
        Command::List => {
            let request = ListTasksRequest {
                tenant: None,
                context_id: options.context.clone().and_then(ContextId::new),
                status: None,
                page_size: 50,
                page_token: options.page.clone(),
                history_length: Some(0),
                status_timestamp_after: None,
                include_artifacts: false,
                text: None,
                waiting: false,
                include_summary: false,
            };
            let page = client.list(request).await?;
            show::page(&page, options.json);
            Ok(0)
        }
    }
}

fn client(options: &Options) -> Client {
    let settings = Settings {
        version: options.version,
        binding: options.binding,
        headers: options.headers.clone(),
        allow_other_hosts: options.allow_other_hosts,
        verify: options.verify,
        streaming: if options.no_stream { Streaming::Never } else { Streaming::Auto },
        timeout_ms: options.timeout_s.saturating_mul(1_000),
        ..Settings::new(&options.url)
    };
    let client = Client::new(settings, native::ports());
    let client = client.with_verifier(Rc::new(native::NativeVerifier));
    if let Some(token) = &options.bearer {
        return client.with_credentials(Rc::new(Bearer::new(token)));
    }
    let Some((place, name, value)) = &options.api_key else { return client };
    let key = match place.as_str() {
        "query" => ApiKey::query(name, value),
        "cookie" => ApiKey::cookie(name, value),
        _ => ApiKey::header(name, value),
    };
    client.with_credentials(Rc::new(key))
}

/// Sends a message, and prints events as they arrive, until the task ends or is interrupted. An interrupted task ends the
/// command even if the agent may continue by itself, because the caller has to act first. After the time limit, the task is
/// canceled.
async fn send(
    client: &Client,
    request: SendMessageRequest,
    options: &Options,
) -> Result<u8, ClientError> {
    let mut shown = Shown::new(options.json);
    let mut on_event = |event: &TaskEvent| shown.event(&event.event);
    let observe = Observe { on_event: Some(&mut on_event), ..Observe::default() };
    let observed = client.observe(request, observe).await;
    observed.error.map_or_else(|| Ok(shown.end(&options.url)), Err)
}

/// Prints a task, and events as they arrive. After the time limit, the task is canceled.
async fn subscribe(client: &Client, id: TaskId, options: &Options) -> Result<u8, ClientError> {
    let mut shown = Shown::new(options.json);
    let mut events = client.subscribe(id.clone(), None);
    let whole = async {
        while let Some(event) = events.next().await {
            shown.event(&event?.event);
        }
        Ok::<(), ClientError>(())
    };
    match tokio::time::timeout(Duration::from_secs(options.timeout_s), whole).await {
        Ok(ended) => ended?,
        Err(_) => {
            let request = CancelTaskRequest { tenant: None, id, metadata: None };
            // The result of the cancellation is ignored, because the time is over.
            let _ = tokio::time::timeout(CANCEL_TIME, client.cancel(request)).await;
            return Err(ClientError::Timeout);
        }
    }
    Ok(shown.end(&options.url))
}

/// The longest time for the answer to a cancellation.
const CANCEL_TIME: Duration = Duration::from_secs(10);
