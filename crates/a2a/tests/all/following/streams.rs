//! Streams that the caller reads itself: subscriptions, streams that resume from a known task, deadlines, and streams that end before
//! the task.

use a2a::client::simulation::{SimulatedAnswer, SimulatedRequest, Simulation};
use a2a::client::{
    CallOptions, Client, ClientError, Settings, Streaming, TaskEvent, TaskStream, create_message,
};
use a2a::model::{
    SendMessageConfiguration, SendMessageRequest, StreamResponse, Task, TaskId, UnixMillis,
};
use futures_util::StreamExt;
use serde_json::{Value, json};

fn rpc(result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": "1", "result": result})
}

fn refused(code: i32) -> SimulatedAnswer {
    SimulatedAnswer::json(
        &json!({"jsonrpc": "2.0", "id": "1", "error": {"code": code, "message": "no"}}),
    )
}

fn task(state: &str, texts: &[&str]) -> Value {
    let parts: Vec<Value> = texts.iter().map(|text| json!({"text": text})).collect();
    let artifacts =
        if parts.is_empty() { json!([]) } else { json!([{"artifactId": "a", "parts": parts}]) };
    json!({"id": "t-1", "contextId": "c-1", "status": {"state": format!("TASK_STATE_{state}")}, "artifacts": artifacts})
}

fn known(state: &str, texts: &[&str]) -> Task {
    a2a::model::decode::read_json(&task(state, texts).to_string()).expect("a task")
}

fn status(state: &str) -> Value {
    let status = json!({"state": format!("TASK_STATE_{state}")});
    rpc(json!({"statusUpdate": {"taskId": "t-1", "contextId": "c-1", "status": status}}))
}

fn chunk(text: &str) -> Value {
    let artifact = json!({"artifactId": "a", "parts": [{"text": text}]});
    rpc(
        json!({"artifactUpdate": {"taskId": "t-1", "contextId": "c-1", "artifact": artifact, "append": true}}),
    )
}

/// A client of a server with these answers to calls.
fn client(
    settings: impl Fn(Settings) -> Settings,
    calls: impl Fn(&SimulatedRequest) -> SimulatedAnswer + 'static,
) -> (Simulation, Client) {
    let simulation = Simulation::default();
    simulation.serve("agent.example", move |request| match request.method {
        "GET" => SimulatedAnswer::card("https://agent.example/"),
        _ => calls(request),
    });
    let client = Client::new(settings(Settings::new("https://agent.example")), simulation.ports());
    (simulation, client)
}

/// The items of a stream, in short form.
fn told(simulation: &Simulation, stream: TaskStream) -> Vec<String> {
    let items: Vec<_> = simulation.run(stream.collect());
    items.into_iter().map(|item| item.map_or_else(|error| format!("{error:?}"), short)).collect()
}

fn short(event: TaskEvent) -> String {
    let text = |parts: &[a2a::model::Part]| {
        parts.iter().filter_map(a2a::model::Part::as_text).collect::<Vec<_>>().join("|")
    };
    match event.event {
        StreamResponse::Task(task) => {
            let parts =
                task.artifacts.first().map(|artifact| text(&artifact.parts)).unwrap_or_default();
            format!("task {} {parts}", task.status.state)
        }
        StreamResponse::Message(message) => format!("message {}", text(&message.parts)),
        StreamResponse::StatusUpdate(event) => event.status.state.to_string(),
        StreamResponse::ArtifactUpdate(event) => {
            let sign = if event.append { "+" } else { "=" };
            format!("{sign}{}", text(&event.artifact.parts))
        }
    }
}

fn methods(simulation: &Simulation) -> Vec<String> {
    let calls = simulation.requests().into_iter().filter(|request| request.method == "POST");
    calls.map(|request| request.rpc_method()).collect()
}

fn send(client: &Client, options: CallOptions) -> TaskStream {
    let (message, configuration) =
        (create_message("hi", client.ports()), SendMessageConfiguration::default());
    let request = SendMessageRequest { tenant: None, message, configuration, metadata: None };
    client.send_streaming_with(request, options)
}

/// A stream that breaks off after its first chunk.
fn cut_behind_one() -> SimulatedAnswer {
    SimulatedAnswer::events([rpc(json!({"task": task("WORKING", &[])})), chunk("one")]).cut("reset")
}

#[test]
fn a_subscription_begins_with_the_task_and_ends_with_it() {
    let (simulation, client) = client(
        |settings| settings,
        |_| {
            let begin = rpc(json!({"task": task("INPUT_REQUIRED", &["a"])}));
            SimulatedAnswer::events([begin, status("WORKING"), chunk("b"), status("COMPLETED")])
        },
    );
    let told = told(&simulation, client.subscribe(TaskId::new("t-1").unwrap(), None));
    assert_eq!(told, ["task input required a", "working", "+b", "completed"]);
}

#[test]
fn what_a_stream_has_left_out_when_it_went_on_is_told_before_what_came_then() {
    let (simulation, client) = client(
        |settings| settings,
        |request| match request.rpc_method().as_str() {
            "SendStreamingMessage" => cut_behind_one(),
            "SubscribeToTask" => SimulatedAnswer::events([chunk("three"), status("COMPLETED")]),
            _ => SimulatedAnswer::json(&rpc(task("COMPLETED", &["one", "two", "three"]))),
        },
    );
    let told = told(&simulation, send(&client, CallOptions::default()));
    assert_eq!(told, ["task working ", "+one", "+two|three", "completed"]);
    let expected = ["SendStreamingMessage", "SubscribeToTask", "GetTask"];
    assert_eq!(methods(&simulation), expected);
}

#[test]
fn a_stream_that_leaves_something_out_tells_what_a_look_shows_and_the_question_at_its_end() {
    let (simulation, client) = client(
        |settings| settings,
        |request| match request.rpc_method().as_str() {
            "SendStreamingMessage" => cut_behind_one(),
            "SubscribeToTask" => {
                let frame = |event: Value| format!("data: {event}\n\n");
                let first = SimulatedAnswer::events([]).text(frame(chunk("three")));
                first.text(frame(status("INPUT_REQUIRED"))).hang()
            }
            _ if request.call_number < 4 => {
                SimulatedAnswer::json(&rpc(task("WORKING", &["one", "two", "three"])))
            }
            _ => SimulatedAnswer::json(&rpc(task("INPUT_REQUIRED", &["one", "two", "three"]))),
        },
    );
    let told = told(&simulation, send(&client, CallOptions::default()));
    assert_eq!(told, ["task working ", "+one", "+two|three", "input required"]);
}

#[test]
fn a_subscription_to_a_task_that_has_ended_gives_it() {
    for refusal in [-32004, -32602] {
        let (simulation, client) = client(
            |settings| settings,
            move |request| match request.rpc_method().as_str() {
                "GetTask" => SimulatedAnswer::json(&rpc(task("FAILED", &["a"]))),
                _ => refused(refusal),
            },
        );
        let told = told(&simulation, client.subscribe(TaskId::new("t-1").unwrap(), None));
        assert_eq!(told, ["task failed a"]);
    }
}

#[test]
fn a_subscription_to_a_task_that_nobody_knows_is_refused() {
    let (simulation, client) = client(|settings| settings, |_| refused(-32001));
    let told = told(&simulation, client.subscribe(TaskId::new("t-1").unwrap(), None));
    assert!(told.len() == 1 && told[0].contains("-32001"), "{told:?}");
}

#[test]
fn an_agent_that_does_not_stream_is_looked_at_until_the_task_ends() {
    let (simulation, client) = client(
        |settings| Settings { streaming: Streaming::Never, ..settings },
        |request| match request.call_number {
            1 => SimulatedAnswer::json(&rpc(task("INPUT_REQUIRED", &["a"]))),
            2 => SimulatedAnswer::json(&rpc(task("WORKING", &["a", "b"]))),
            _ => SimulatedAnswer::json(&rpc(task("COMPLETED", &["a", "b"]))),
        },
    );
    let told = told(&simulation, client.subscribe(TaskId::new("t-1").unwrap(), None));
    assert_eq!(told, ["task input required a", "+b", "working", "completed"]);
    assert_eq!(simulation.now_ms(), 2_000);
}

#[test]
fn a_stream_goes_on_from_what_is_known_with_what_is_missing() {
    for (known, after, expected) in [
        // The client finds the missing events in a snapshot.
        (known("WORKING", &["a"]), None, &["+b", "+c", "completed"] as &[_]),
        (known("SUBMITTED", &[]), None, &["=a|b", "working", "+c", "completed"]),
        (known("WORKING", &["a", "b"]), None, &["+c", "completed"]),
        // The server sends the missing events.
        (known("WORKING", &["a"]), Some("2"), &["+b", "+c", "completed"]),
    ] {
        let (simulation, client) = client(
            |settings| settings,
            |request| {
                let look = rpc(json!({"task": task("WORKING", &["a", "b"])}));
                match (request.rpc_method().as_str(), request.header("last-event-id")) {
                    ("GetTask", _) => {
                        SimulatedAnswer::json(&rpc(task("COMPLETED", &["a", "b", "c"])))
                    }
                    (_, Some("2")) => {
                        let events = [(3, chunk("b")), (4, chunk("c")), (5, status("COMPLETED"))];
                        let events =
                            events.map(|(id, event)| format!("id: {id}\ndata: {event}\n\n"));
                        events.iter().fold(SimulatedAnswer::events([]), SimulatedAnswer::text)
                    }
                    _ => SimulatedAnswer::events([look, chunk("c"), status("COMPLETED")]),
                }
            },
        );
        let told = told(&simulation, client.resume(known.clone(), after.map(str::to_owned)));
        assert_eq!(told, expected, "{known:?} {after:?}");
    }
}

#[test]
fn a_task_that_has_ended_meanwhile_gives_what_is_missing() {
    let (simulation, client) = client(
        |settings| settings,
        |request| match request.rpc_method().as_str() {
            "GetTask" => SimulatedAnswer::json(&rpc(task("COMPLETED", &["a", "b"]))),
            _ => refused(-32004),
        },
    );
    let told = told(&simulation, client.resume(known("WORKING", &["a"]), None));
    assert_eq!(told, ["+b", "completed"]);
    assert_eq!(methods(&simulation), ["SubscribeToTask", "GetTask"]);
}

#[test]
fn a_task_that_ends_neither_by_streams_nor_by_looks_is_an_error_in_the_end() {
    let (simulation, client) = client(
        |settings| settings,
        |request| match request.rpc_method().as_str() {
            "GetTask" => SimulatedAnswer::json(&rpc(task("WORKING", &[]))),
            _ => SimulatedAnswer::events([rpc(json!({"task": task("WORKING", &[])}))]),
        },
    );
    let told = told(&simulation, send(&client, CallOptions::default()));
    assert_eq!(told, ["task working ".to_owned(), format!("{:?}", ClientError::Ended)]);
    let seen = methods(&simulation);
    let count = |method: &str| seen.iter().filter(|known| *known == method).count();
    assert_eq!((count("SendStreamingMessage"), count("SubscribeToTask")), (1, 3));
    assert!((300_000..330_000).contains(&simulation.now_ms()), "{}", simulation.now_ms());
}

#[test]
fn a_stream_has_a_deadline_if_one_is_named() {
    for settings in [Streaming::Auto, Streaming::Never] {
        let (simulation, client) = client(
            move |base| Settings { streaming: settings, ..base },
            |request| match request.rpc_method().as_str() {
                "SendStreamingMessage" => {
                    let begin = rpc(json!({"task": task("WORKING", &[])}));
                    SimulatedAnswer::events([begin]).wait(20_000).text(":\n").hang()
                }
                "SendMessage" => SimulatedAnswer::json(&rpc(json!({"task": task("WORKING", &[])}))),
                _ => SimulatedAnswer::json(&rpc(task("WORKING", &[]))),
            },
        );
        let options = CallOptions { deadline: Some(UnixMillis(25_000)), ..CallOptions::default() };
        let told = told(&simulation, send(&client, options));
        assert_eq!(told, ["task working ".to_owned(), format!("{:?}", ClientError::Timeout)]);
        assert!((24_000..=25_000).contains(&simulation.now_ms()), "{}", simulation.now_ms());
    }
}

#[test]
fn a_stream_that_nobody_reads_asks_nothing() {
    let (simulation, client) = client(|settings| settings, |_| SimulatedAnswer::status(500));
    drop(send(&client, CallOptions::default()));
    assert_eq!(simulation.requests(), []);
}

#[test]
fn a_numbered_stream_tells_the_numbers_and_a_look_has_none() {
    let (simulation, client) = client(
        |settings| settings,
        |request| {
            let begin =
                format!("id: x-1\ndata: {}\n\n", rpc(json!({"task": task("WORKING", &[])})));
            let end = format!("id: x-3\ndata: {}\n\n", status("COMPLETED"));
            match request.header("last-event-id") {
                Some("x-2") => SimulatedAnswer::events([]).text(end),
                _ => SimulatedAnswer::events([])
                    .text(begin)
                    .text(format!("id: x-2\ndata: {}\n\n", chunk("a")))
                    .cut("reset"),
            }
        },
    );
    let items: Vec<_> = simulation.run(send(&client, CallOptions::default()).collect());
    let ids: Vec<_> = items.into_iter().map(|item| item.expect("an event").id).collect();
    assert_eq!(ids, ["x-1", "x-2", "x-3"].map(|id| Some(id.to_owned())));
    assert_eq!(methods(&simulation), ["SendStreamingMessage", "SubscribeToTask"]);
}
