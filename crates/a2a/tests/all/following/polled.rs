//! Polling emits the same events as streaming.

use std::cell::Cell;

use a2a::client::simulation::{SimulatedAnswer, Simulation};
use a2a::client::{Client, Settings, Streaming, TaskEvent, apply, create_message};
use a2a::model::{SendMessageConfiguration, SendMessageRequest, StreamResponse};
use futures_util::StreamExt;
use proptest::prelude::*;
use serde_json::json;

use super::script::{Script, busy_script};

/// All events of a script whose task moves by these numbers of events between two polls, and the number of requests.
fn polled(script: Script, steps: Vec<usize>) -> (Vec<StreamResponse>, usize) {
    let simulation = Simulation::default();
    let (seen, polls) = (Cell::new(1), Cell::new(0));
    simulation.serve("agent.example", move |request| {
        if request.method == "GET" {
            return SimulatedAnswer::card("https://agent.example/");
        }
        let is_send = request.rpc_method() == "SendMessage";
        if !is_send {
            let step = steps.get(polls.replace(polls.get() + 1)).copied().unwrap_or(1);
            seen.set((seen.get() + step).min(script.len()));
        }
        let task = script.task(seen.get());
        let result = if is_send { json!({"task": task}) } else { json!(task) };
        SimulatedAnswer::json(&json!({"jsonrpc": "2.0", "id": "1", "result": result}))
    });
    let settings =
        Settings { streaming: Streaming::Never, ..Settings::new("https://agent.example") };
    let client = Client::new(settings, simulation.ports());
    let (message, configuration) =
        (create_message("hi", client.ports()), SendMessageConfiguration::default());
    let request = SendMessageRequest { tenant: None, message, configuration, metadata: None };
    let events: Vec<_> = simulation.run(client.send_streaming(request).collect());
    let events = events.into_iter().map(|event| event.map(|TaskEvent { event, .. }| event));
    (events.collect::<Result<_, _>>().expect("it ends"), simulation.requests().len() - 1)
}

/// An event without the information that only a stream has: that an artifact is complete, and that a chunk is appended to a
/// new artifact.
fn plain(event: &StreamResponse, is_new: bool) -> StreamResponse {
    match event.clone() {
        StreamResponse::ArtifactUpdate(mut event) => {
            event.last_chunk = false;
            event.append &= !is_new;
            StreamResponse::ArtifactUpdate(event)
        }
        event => event,
    }
}

fn plain_all(events: &[StreamResponse]) -> Vec<StreamResponse> {
    let mut task = None;
    let mut plain_one = |event: &StreamResponse| {
        let is_known = |id: &str| {
            task.as_ref().is_some_and(|task: &a2a::model::Task| {
                task.artifacts.iter().any(|artifact| artifact.artifact_id == id)
            })
        };
        let is_new = matches!(event, StreamResponse::ArtifactUpdate(event) if !is_known(&event.artifact.artifact_id));
        apply(&mut task, event);
        plain(event, is_new)
    };
    events.iter().map(&mut plain_one).collect()
}

proptest! {
    #[test]
    fn looks_after_each_event_give_the_events_of_the_stream(script in busy_script()) {
        let streamed = plain_all(&script.0);
        let (events, requests) = polled(script, Vec::new());
        prop_assert_eq!(requests, streamed.len());
        prop_assert_eq!(plain_all(&events), streamed);
    }

    #[test]
    fn looks_now_and_then_give_the_task_of_the_stream(script in busy_script(), steps in proptest::collection::vec(0..4_usize, 0..10)) {
        let whole = script.task(script.len());
        let (events, _) = polled(script, steps);
        let mut task = None;
        events.iter().for_each(|event| apply(&mut task, event));
        prop_assert_eq!(task, Some(whole));
    }
}
