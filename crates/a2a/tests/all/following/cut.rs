//! Streams that break off anywhere: if events are numbered, every event is emitted once; otherwise the events result in the
//! correct task.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use a2a::client::simulation::{Piece, SimulatedAnswer, SimulatedRequest, Simulation};
use a2a::client::{Client, ClientError, Settings, TaskEvent, apply, create_message, extract_text};
use a2a::model::{SendMessageConfiguration, SendMessageRequest, StreamResponse, Task};
use futures_util::StreamExt;
use proptest::prelude::*;
use serde_json::json;

use super::script::{Script, script};

/// A server that sends the events of a script, and breaks off each stream.
struct Server {
    script: Script,
    is_numbered: bool,
    /// Whether a subscription begins with the task.
    is_shown: bool,
    /// The part of each stream that arrives, in thousandths of its bytes; after these cuts, streams arrive completely.
    cuts: RefCell<Vec<usize>>,
    /// The number of events that happen after a cut before the client reconnects.
    unheard: usize,
    /// The number of events by which a snapshot of the task is behind; the stream repeats these events.
    behind: usize,
    /// The size of pieces, in bytes.
    piece: usize,
    /// The number of events that have happened.
    happened: Cell<usize>,
}

impl Server {
    fn answer(&self, request: &SimulatedRequest) -> SimulatedAnswer {
        if request.method == "GET" {
            return SimulatedAnswer::card("https://agent.example/");
        }
        let after = request.header("last-event-id").and_then(|id| id.parse::<usize>().ok());
        let happened = self.happened.get();
        let is_over = happened >= self.script.len();
        match (request.rpc_method().as_str(), after) {
            ("SendStreamingMessage", _) => self.stream(None, 0),
            ("SubscribeToTask", Some(after)) => self.stream(None, after),
            ("SubscribeToTask", None) if is_over => {
                let error = json!({"code": -32004, "message": "the task has ended"});
                SimulatedAnswer::json(&json!({"jsonrpc": "2.0", "id": "1", "error": error}))
            }
            ("SubscribeToTask", None) => {
                if !self.is_shown {
                    return self.stream(None, happened);
                }
                let known = happened.saturating_sub(self.behind).max(1);
                self.stream(Some(StreamResponse::Task(self.script.task(known))), known)
            }
            ("GetTask", _) => {
                let task = self.script.task(happened);
                SimulatedAnswer::json(&json!({"jsonrpc": "2.0", "id": "1", "result": task}))
            }
            (method, _) => panic!("{method}"),
        }
    }

    /// A stream with the events from this one on, after a snapshot if there is one.
    fn stream(&self, look: Option<StreamResponse>, from: usize) -> SimulatedAnswer {
        let events = self.script.0.iter().enumerate().skip(from);
        let frames = look
            .iter()
            .map(|look| (from, look))
            .chain(events.map(|(place, event)| (place + 1, event)));
        let frames: Vec<(usize, String)> =
            frames.map(|(number, event)| (number, self.frame(number, event))).collect();
        let whole: String = frames.iter().map(|(_, frame)| frame.as_str()).collect();
        let cut = self.cuts.borrow_mut().pop();
        let arrives = cut.map_or(whole.len(), |cut| whole.len() * cut / 1_000);
        // All events that were sent have happened, even if they did not arrive.
        let mut sent = 0;
        let on_its_way = frames.iter().take_while(|(_, frame)| {
            let is_begun = sent < arrives;
            sent += frame.len();
            is_begun
        });
        let newest = on_its_way.map(|(number, _)| *number).max().unwrap_or(from);
        let unheard = if cut.is_some() { self.unheard } else { 0 };
        let happened = (newest + unheard).min(self.script.len()).max(self.happened.get()).max(1);
        self.happened.set(happened);
        let bytes = whole.into_bytes();
        let pieces: Vec<Piece> =
            bytes[..arrives].chunks(self.piece).map(|piece| Piece::Bytes(piece.to_vec())).collect();
        let stream = SimulatedAnswer::events([]).pieces(pieces);
        if cut.is_some() { stream.cut("reset") } else { stream }
    }

    fn frame(&self, number: usize, event: &StreamResponse) -> String {
        let id = if self.is_numbered { format!("id: {number}\r\n") } else { String::new() };
        format!("{id}data: {}\r\n\r\n", Script::json(event))
    }
}

/// All events that the client emits for the task.
fn followed(server: Server) -> Result<Vec<TaskEvent>, ClientError> {
    let simulation = Simulation::default();
    let server = Rc::new(server);
    simulation.serve("agent.example", move |request| server.answer(request));
    let settings = Settings { max_retries: 20, ..Settings::new("https://agent.example") };
    let client = Client::new(settings, simulation.ports());
    let (message, configuration) =
        (create_message("hi", client.ports()), SendMessageConfiguration::default());
    let request = SendMessageRequest { tenant: None, message, configuration, metadata: None };
    let events: Vec<Result<TaskEvent, ClientError>> =
        simulation.run(client.send_streaming(request).collect());
    events.into_iter().collect()
}

fn folded(events: &[TaskEvent]) -> Task {
    let mut task = None;
    events.iter().for_each(|event| apply(&mut task, &event.event));
    task.expect("a task")
}

/// Whether the text contains any piece twice, after any event. All pieces of text are different.
fn is_ever_doubled(events: &[TaskEvent]) -> bool {
    (1..=events.len()).any(|count| {
        let text = extract_text(&folded(&events[..count])).unwrap_or_default();
        let mut words: Vec<&str> = text.split_whitespace().collect();
        words.sort_unstable();
        words.windows(2).any(|pair| pair[0] == pair[1])
    })
}

fn cuts() -> impl Strategy<Value = (Vec<usize>, usize, usize, usize)> {
    (proptest::collection::vec(0..1_000_usize, 0..5), 0..4_usize, 0..4_usize, 1..200_usize)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_event_of_a_numbered_stream_comes_once(script in script(), (cuts, unheard, behind, piece) in cuts()) {
        let expected: Vec<StreamResponse> = script.0.clone();
        let (cuts, happened) = (RefCell::new(cuts), Cell::new(0));
        let server = Server { script, is_numbered: true, is_shown: true, cuts, unheard, behind, piece, happened };
        let events = followed(server).expect("it ends");
        let ids: Vec<Option<String>> = events.iter().map(|event| event.id.clone()).collect();
        let told: Vec<StreamResponse> = events.into_iter().map(|event| event.event).collect();
        let numbers: Vec<Option<String>> = (1..=expected.len()).map(|number| Some(number.to_string())).collect();
        prop_assert_eq!(told, expected);
        prop_assert_eq!(ids, numbers);
    }

    #[test]
    fn the_task_of_a_stream_without_numbers_comes_out_right(script in script(), is_shown: bool, (cuts, unheard, behind, piece) in cuts()) {
        let whole = script.task(script.len());
        let (cuts, happened) = (RefCell::new(cuts), Cell::new(0));
        let server = Server { script, is_numbered: false, is_shown, cuts, unheard, behind, piece, happened };
        let events = followed(server).expect("it ends");
        let task = folded(&events);
        prop_assert_eq!(extract_text(&task), extract_text(&whole));
        prop_assert!(!is_ever_doubled(&events), "{events:?}");
        prop_assert_eq!(task, whole);
        let looks = events.iter().filter(|event| matches!(event.event, StreamResponse::Task(_)));
        prop_assert_eq!(looks.count(), 1);
        let ends = events.iter().rposition(|event| matches!(&event.event, StreamResponse::StatusUpdate(event) if event.status.state.is_terminal()));
        let is_whole = matches!(&events[0].event, StreamResponse::Task(task) if task.status.state.is_terminal());
        prop_assert!(ends == Some(events.len() - 1) || is_whole, "the end comes last");
    }
}
