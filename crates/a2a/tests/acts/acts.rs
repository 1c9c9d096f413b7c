//! The client as the client tests of ACTS drive it: `acts <operation> <url>` calls one operation of the server there, as its card says,
//! and prints what the client has read from the answer, in the JSON of 1.0. See tests/conformance/acts/ of the repository.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for tests prints what the client has read, and may panic"
)]

use std::process::ExitCode;

use a2a::client::{Client, ClientError, RemoteCard, Sent, Settings, create_message, native};
use a2a::model::{GetTaskRequest, SendMessageConfiguration, SendMessageRequest, TaskId};
use serde_json::{Value, json};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(operation), Some(url)) = (arguments.next(), arguments.next()) else {
        eprintln!("acts <operation> <url>");
        return ExitCode::from(2);
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let read = match runtime {
        Ok(runtime) => runtime.block_on(call(&operation, url)),
        Err(error) => Err(ClientError::Unexpected(error.to_string())),
    };
    let read = match read {
        Ok(read) => read,
        Err(ClientError::Remote(error)) => {
            json!({"error": {"code": error.code, "message": error.message}})
        }
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    println!("{read}");
    ExitCode::SUCCESS
}

async fn call(operation: &str, url: String) -> Result<Value, ClientError> {
    let settings = Settings { max_retries: 0, ..Settings::new(url) };
    let client = Client::new(settings, native::ports());
    match operation {
        "send_message" => {
            let message = create_message("hello", client.ports());
            let configuration = SendMessageConfiguration::default();
            let request =
                SendMessageRequest { tenant: None, message, configuration, metadata: None };
            Ok(match client.send(request).await? {
                Sent::Task(task) => json!({"task": task}),
                Sent::Message(message) => json!({"message": message}),
            })
        }
        "get_task" => {
            let id = TaskId::new("task").unwrap();
            let request = GetTaskRequest { tenant: None, id, history_length: None };
            Ok(json!(client.get(request).await?))
        }
        "get_agent_card" => Ok(card(&*client.card().await?)),
        "get_extended_agent_card" => Ok(card(&client.extended_card().await?)),
        other => Err(ClientError::Settings(format!("{other} is not called here"))),
    }
}

/// What the client knows of a card, under the names of the card.
fn card(card: &RemoteCard) -> Value {
    json!({
        "name": card.name,
        "version": card.version,
        "capabilities": {
            "streaming": card.streams,
            "pushNotifications": card.sends_webhooks,
            "extendedAgentCard": card.has_extended_card,
        },
        "skills": card.skills,
        "supportedInterfaces": card.interfaces,
    })
}
