//! Recorded answers of servers by other authors (tests/golden/answers): each server ran the agent of tests/e2e/servers and
//! received the same requests.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::super::sse::SseReader;
use super::*;
use crate::dialect::Dialect;
use crate::model::decode::decode;
use crate::model::{Part, Task, TaskState};

struct Golden {
    server: String,
    wire: Wire,
    answers: Vec<(String, HttpAnswer<String>)>,
}

fn goldens() -> Vec<Golden> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/answers");
    let files = fs::read_dir(folder).unwrap().map(|file| fs::read(file.unwrap().path()).unwrap());
    files.map(|text| golden(&serde_json::from_slice(&text).unwrap())).collect()
}

fn golden(file: &Value) -> Golden {
    let text = |name: &str| file[name].as_str().unwrap().to_owned();
    let version = text("version");
    let dialect = Dialect::ALL.into_iter().find(|known| known.version() == version).unwrap();
    let binding = match text("binding").as_str() {
        "JSONRPC" => Binding::JsonRpc,
        _ => Binding::Rest,
    };
    let url = "https://a.example".to_owned();
    let (tenant, is_trusted, streams) = (None, true, true);
    let connection = Connection { url: url.clone(), binding, dialect, tenant, is_trusted, streams };
    let wire = Wire::new(&Rc::new(connection), &Settings::new(url.clone()));
    let answers = file["answers"].as_array().unwrap().iter().map(|answer| {
        let status = u16::try_from(answer["status"].as_u64().unwrap()).unwrap();
        let body = answer["body"].as_str().unwrap().to_owned();
        let operation = answer["operation"].as_str().unwrap().to_owned();
        (operation, HttpAnswer { status, headers: Vec::new(), body, url: url.clone() })
    });
    Golden { server: text("server"), wire, answers: answers.collect() }
}

fn call(operation: &str) -> Call {
    let message = json!({"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "parts"}]});
    let params = json!({"id": "t", "message": message});
    crate::Operation::named(operation).unwrap().decode(params).unwrap()
}

#[test]
fn what_servers_have_answered_is_read() {
    let goldens = goldens();
    assert_eq!(goldens.len(), 9);
    for Golden { server, wire, answers } in goldens {
        let mut tasks = Vec::new();
        let mut codes = Vec::new();
        for (operation, answer) in answers {
            if operation == "SendStreamingMessage" {
                assert_eq!(streamed(&wire, &answer.body), "one two three", "{server}");
                continue;
            }
            match wire.answer(&call(&operation), answer) {
                Ok(Answer::Task(task)) => tasks.push(task),
                Ok(Answer::Message(message)) => {
                    assert_eq!(message.text(), "hello yourself", "{server}");
                }
                Ok(Answer::Tasks(page)) => {
                    assert_eq!(page.tasks.len(), 1, "{server}");
                    assert!(
                        !page.next_page_token.is_empty() && page.total_size > Some(1),
                        "{server}"
                    );
                }
                Err(ClientError::Remote(error)) => codes.push(error.code),
                other => panic!("{server} {operation}: {other:?}"),
            }
        }
        check(&server, &tasks, &codes);
    }
}

/// The text of the artifacts in a stream, whose last event must complete the task.
fn streamed(wire: &Wire, body: &str) -> String {
    let mut reader = SseReader::new(1_000_000);
    reader.push(body.as_bytes()).unwrap();
    let frames = std::iter::from_fn(|| reader.pop());
    let events: Vec<_> =
        frames.map(|frame| wire.event(Some(&frame.event), &frame.data).unwrap()).collect();
    let Some(StreamResponse::StatusUpdate(last)) = events.last() else { panic!("{events:?}") };
    assert_eq!(last.status.state, TaskState::Completed);
    let artifacts = events.iter().filter_map(|event| match event {
        StreamResponse::ArtifactUpdate(update) => Some(&update.artifact.parts),
        _ => None,
    });
    artifacts.flatten().filter_map(Part::as_text).collect()
}

fn check(server: &str, tasks: &[Task], codes: &[i32]) {
    let states: Vec<_> = tasks.iter().map(|task| task.status.state).collect();
    assert!(tasks.iter().all(|task| task.context_id.is_some()), "{server}");
    if server.starts_with("fasta2a") {
        // This server answers before the task begins.
        assert_eq!((states, codes), (vec![TaskState::Submitted; 2], &[-32001][..]));
        assert!(tasks.iter().all(|task| task.status.timestamp.is_some()));
        assert_eq!(tasks[0].history[0].parts.len(), 3);
        return;
    }
    assert_eq!(
        states,
        [TaskState::Completed, TaskState::InputRequired, TaskState::Failed],
        "{server}"
    );
    assert_eq!(codes, [-32001, -32002], "{server}");
    let told = |task: &Task| task.status.message.as_ref().map(|message| message.text());
    assert_eq!(told(&tasks[1]).as_deref(), Some("which colour?"), "{server}");
    assert_eq!(told(&tasks[2]).as_deref(), Some("no luck"), "{server}");
    let Part { content, .. } = &tasks[0].artifacts[0].parts[1];
    assert_eq!(tasks[0].artifacts[0].parts[0].as_data(), Some(json!({"total": 1.5})), "{server}");
    let expected = decode::<Part>(json!({"raw": "AAEC"})).unwrap().content;
    assert_eq!(*content, expected, "{server}");
}
