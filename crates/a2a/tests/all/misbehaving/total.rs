//! The total time of a call is limited, for every kind of call and every kind of silent agent.

use a2a::client::simulation::{SimulatedAnswer, SimulatedRequest, Simulation};
use a2a::client::{
    Client, ClientError, Outcome, RemoteCard, Settings, StreamExt, TaskStream, create_a2a_tool,
    create_message,
};
use a2a::model::{
    CancelTaskRequest, GetTaskRequest, ListTasksRequest, SendMessageConfiguration,
    SendMessageRequest, TaskId,
};
use serde_json::json;

use super::case::HOME;
use super::said::{card_json, snapshot, stream};

const TOTAL_MS: u64 = 15_000;

/// A kind of silent server.
type Silent = (&'static str, fn(&SimulatedRequest) -> SimulatedAnswer);

const SILENT: [Silent; 3] = [
    ("it never answers", |_| SimulatedAnswer::status(200).after(u64::MAX)),
    ("its body never comes", |_| {
        SimulatedAnswer::status(200).header("content-type", "application/json").hang()
    }),
    ("it is overloaded, and asks for time", |_| {
        SimulatedAnswer::status(503).after(6_000).header("retry-after", "5")
    }),
];

/// A stream of comments.
fn comments(_: &SimulatedRequest) -> SimulatedAnswer {
    let comments = (0..1_000).map(|_| ":\n\n".to_owned());
    comments.fold(stream([]), |stream, comment| stream.wait(2_000).text(comment))
}

fn send(client: &Client, is_immediate: bool) -> SendMessageRequest {
    let configuration = SendMessageConfiguration {
        return_immediately: is_immediate,
        ..SendMessageConfiguration::default()
    };
    let message = create_message("hello", client.ports());
    SendMessageRequest { tenant: None, message, configuration, metadata: None }
}

async fn first(mut events: TaskStream) -> Result<(), ClientError> {
    events.next().await.unwrap_or(Err(ClientError::Ended)).map(drop)
}

/// Makes each kind of call to the agent; returns the result and the end of each.
fn ways(silent: &Silent, streams: bool, request_timeout_ms: u64) -> Vec<(String, u64)> {
    let call = |way: usize| {
        let simulation = Simulation::default();
        let (_, calls) = *silent;
        simulation.serve(HOME, move |request| match request.method {
            "GET" if request.path().contains(".well-known") => {
                SimulatedAnswer::json(&card_json("1.0", streams))
            }
            _ => calls(request),
        });
        let settings = Settings {
            timeout_ms: TOTAL_MS,
            request_timeout_ms,
            max_retries: 9,
            ..Settings::new(format!("https://{HOME}"))
        };
        let client = Client::new(settings, simulation.ports());
        let id = || TaskId::new("t-1").unwrap();
        let done = simulation.run(async {
            match way {
                0 => client.send(send(&client, true)).await.map(drop),
                1 => client.send(send(&client, false)).await.map(drop),
                2 => first(client.send_streaming(send(&client, false))).await,
                3 => first(client.subscribe(id(), None)).await,
                4 => {
                    let request = GetTaskRequest { tenant: None, id: id(), history_length: None };
                    client.get(request).await.map(drop)
                }
                5 => {
                    let request = CancelTaskRequest { tenant: None, id: id(), metadata: None };
                    client.cancel(request).await.map(drop)
                }
                6 => {
                    let request = ListTasksRequest {
                        tenant: None,
                        context_id: None,
                        status: None,
                        page_size: 5,
                        page_token: None,
                        history_length: None,
                        status_timestamp_after: None,
                        include_artifacts: false,
                        text: None,
                        waiting: false,
                        include_summary: false,
                    };
                    client.list(request).await.map(drop)
                }
                7 => {
                    let message = create_message("hello", client.ports());
                    let observed = client.send_and_observe(message, || false).await;
                    let is_timeout = observed.outcome == Outcome::Timeout;
                    Err(observed.error.filter(|_| is_timeout).unwrap_or(ClientError::Ended))
                }
                _ => {
                    let card = RemoteCard::parse(&card_json("1.0", streams).to_string())?;
                    let tool = create_a2a_tool(&client, &card, None);
                    let told = tool.call(&json!({"prompt": "hello"}), || false).await.to_string();
                    Err(if told == "[TIMEOUT]" { ClientError::Timeout } else { ClientError::Ended })
                }
            }
        });
        (format!("{way}: {done:?}"), simulation.now_ms())
    };
    (0..9).map(call).collect()
}

#[test]
fn a_call_of_an_agent_that_is_silent_ends_with_its_total_time() {
    for silent in SILENT {
        for streams in [true, false] {
            for (way, ended) in ways(&silent, streams, 30_000) {
                let told = format!("{} ({streams}) {way} at {ended} ms", silent.0);
                assert!(ended <= TOTAL_MS, "{told}");
                assert!(silent.0.starts_with("it is") || way.ends_with("Err(Timeout)"), "{told}");
            }
        }
    }
}

#[test]
fn requests_that_are_repeated_end_with_the_total_time_of_their_call() {
    for silent in SILENT {
        for streams in [true, false] {
            for (way, ended) in ways(&silent, streams, 4_000) {
                assert!(ended <= TOTAL_MS, "{} ({streams}) {way} at {ended} ms", silent.0);
            }
        }
    }
}

#[test]
fn a_stream_is_open_with_its_first_event_and_then_has_the_time_that_it_takes() {
    let silent: Silent = ("it sends comments alone", comments);
    let (way, ended) = ways(&silent, true, 30_000).swap_remove(2);
    assert_eq!((way.as_str(), ended), ("2: Err(Timeout)", TOTAL_MS));
    let simulation = Simulation::default();
    simulation.serve(HOME, |request| match request.method {
        "GET" => SimulatedAnswer::json(&card_json("1.0", true)),
        _ if request.rpc_method() == "GetTask" => super::said::bare("COMPLETED", &[]),
        _ => stream([snapshot("WORKING", &[])])
            .wait(25_000)
            .text(format!("data: {}\n\n", super::said::status("COMPLETED"))),
    });
    let settings = Settings { timeout_ms: TOTAL_MS, ..Settings::new(format!("https://{HOME}")) };
    let client = Client::new(settings, simulation.ports());
    let events = client.send_streaming(send(&client, false));
    let events: Vec<_> = simulation.run(events.collect());
    assert!(events.len() == 2 && events.iter().all(Result::is_ok), "{events:?}");
    assert_eq!(simulation.now_ms(), 25_000);
}
