use serde_json::json;

use super::*;
use crate::auth::Caller;
use crate::edge::command::Command;
use crate::session::frame;
use a2a::binding::{MediaType, Reply};
use a2a::model::TaskState;
use a2a::{Call, Operation, Terms};

fn following(operation: Operation, task: Option<&str>, after: Option<u64>) -> StreamCommand {
    let params = match operation {
        Operation::SubscribeToTask => json!({"id": task}),
        _ => json!({"message": {"messageId": "m", "role": "ROLE_USER",
            "parts": [{"text": "x"}], "taskId": task}}),
    };
    let Ok(Call::Follow(call)) = operation.decode(params) else { panic!("{operation:?}") };
    let command = Command {
        agent: "a".to_owned(),
        caller: Caller::anonymous(),
        reply: Reply::rest(MediaType::Json),
        fingerprint: None,
        terms: Terms::default(),
        call,
    };
    StreamCommand { command, after }
}

fn stream(hello: StreamCommand) -> ClientStream {
    ClientStream::new(TaskId::new("t"), hello)
}

fn new_task() -> ClientStream {
    stream(following(Operation::SendStreamingMessage, None, None))
}

fn subscription(after: Option<u64>) -> ClientStream {
    stream(following(Operation::SubscribeToTask, Some("t"), after))
}

fn render(stream: &mut ClientStream, text: &str) -> String {
    stream.render(&Frame::parse(text).expect(text))
}

fn event(generation: u64, json: &str) -> String {
    format!("id: {generation}\ndata: {json}\n\n")
}

fn snapshot(generation: u64) -> String {
    frame::snapshot(generation, TaskState::Working, "{}")
}

#[test]
fn a_stream_of_a_new_task_begins_with_its_first_event() {
    let mut stream = new_task();
    assert_eq!(stream.hello().after, Some(0));
    assert_eq!(render(&mut stream, "E1\n.a\n.b"), event(1, "a") + &event(2, "b"));
    assert!(stream.has_begun() && !stream.is_over());
}

#[test]
fn a_stream_without_a_position_waits_for_a_snapshot_and_takes_one() {
    let mut stream = subscription(None);
    assert_eq!(render(&mut stream, "E1\n.a"), "");
    assert!(!stream.has_begun());
    assert_eq!(render(&mut stream, &snapshot(3)), event(3, r#"{"task":{}}"#));
    assert_eq!(render(&mut stream, &snapshot(4)), "");
    // The snapshot holds the event of generation 3.
    assert_eq!(render(&mut stream, "E3\n.c\n.d"), event(4, "d"));
}

#[test]
fn a_missing_event_is_asked_for_from_the_position() {
    let mut stream = subscription(Some(2));
    assert_eq!(render(&mut stream, "E3\n.c"), event(3, "c"));
    assert_eq!(render(&mut stream, "E5\n.e"), "");
    assert!(stream.take_gap());
    assert!(!stream.take_gap());
    assert_eq!(stream.pause_ms(), Some(0));
    assert_eq!(stream.hello().after, Some(3));
    assert_eq!(render(&mut stream, "E4\n.d\n.e"), event(4, "d") + &event(5, "e"));
}

#[test]
fn a_turn_ends_when_the_task_asks_for_input_and_a_subscription_does_not() {
    let mut sent = new_task();
    assert_eq!(render(&mut sent, "E1\nIa\n.b"), event(1, "a"));
    assert!(sent.is_over());
    let mut subscribed = subscription(Some(0));
    assert_eq!(render(&mut subscribed, "E1\nIa\n.b"), event(1, "a") + &event(2, "b"));
    assert!(!subscribed.is_over());
    assert_eq!(render(&mut subscribed, "E3\nTc"), event(3, "c"));
    assert!(subscribed.is_over());
}

#[test]
fn a_message_instead_of_a_task_is_all_there_is() {
    let mut stream = new_task();
    let text = render(&mut stream, &frame::message("{}"));
    assert_eq!(text, "data: {\"message\":{}}\n\n");
    assert!(stream.is_over() && stream.take_last_word().is_none());
}

#[test]
fn a_follower_that_missed_nothing_gets_its_stream_opened() {
    let mut stream = subscription(Some(2));
    assert_eq!(render(&mut stream, &frame::ready()), sse::HEARTBEAT);
    assert_eq!(render(&mut stream, &frame::ready()), "");
}

/// The quota in the terms of a keyed send says nothing of why its object refuses it.
#[test]
fn a_refusal_has_the_headers_that_the_object_gave_it_and_no_others() {
    let told = |headers: &[(&str, &str)]| {
        let mut hello = following(Operation::SendStreamingMessage, None, None);
        hello.command.fingerprint = Some("f".to_owned());
        hello.command.terms.over_quota = Some(3);
        let mut stream = stream(hello);
        let headers: Vec<_> =
            headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        assert_eq!(render(&mut stream, &frame::refusal(401, &headers, "{}")), "");
        assert!(stream.is_over());
        let refusal = stream.take_refusal().expect("a refusal");
        assert_eq!((refusal.status, refusal.body.as_str()), (401, "{}"));
        let mut all = refusal.headers.into_iter();
        assert_eq!(all.next(), Some(("content-type".into(), "application/json".to_owned())));
        all.map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>()
    };
    assert!(told(&[]).is_empty());
    assert_eq!(told(&[("retry-after", "5")]), ["retry-after: 5"]);
    let both = [("retry-after", "5"), ("www-authenticate", "Bearer")];
    assert_eq!(told(&both), ["retry-after: 5", "www-authenticate: Bearer"]);
}

#[test]
fn a_stream_that_has_begun_breaks_off_with_an_event() {
    let mut stream = new_task();
    render(&mut stream, "E1\n.a");
    let text = render(&mut stream, &frame::refusal::<&str>(500, &[], "{}"));
    assert_eq!(text, "event: error\ndata: {}\n\n");
    assert!(stream.is_over() && stream.take_refusal().is_none());
}

#[test]
fn a_stream_that_has_not_begun_is_refused_after_a_few_failures() {
    let mut stream = new_task();
    let mut pauses = Vec::new();
    while let Some(pause_ms) = stream.pause_ms() {
        pauses.push(pause_ms);
        // It is the send that is repeated.
        let call = &stream.hello().command.call;
        assert!(matches!(call, FollowCall::SendStreamingMessage(_)), "{call:?}");
        stream.note_failure();
    }
    assert_eq!(pauses, [0, 50, 100]);
    assert_eq!(stream.take_refusal().expect("a refusal").status, 500);
}

#[test]
fn a_stream_that_has_begun_comes_back_as_a_subscription_for_about_a_minute() {
    let mut stream = new_task();
    render(&mut stream, "E1\n.a");
    let mut waited_ms = 0;
    while let Some(pause_ms) = stream.pause_ms() {
        waited_ms += pause_ms;
        assert!(pause_ms <= MAX_PAUSE_MS);
        assert_eq!(stream.hello().after, Some(1));
        assert!(matches!(&stream.hello().command.call, FollowCall::SubscribeToTask(_)));
        stream.note_closed(1006);
    }
    assert!((30_000..90_000).contains(&waited_ms), "{waited_ms}");
    let last = stream.take_last_word().expect("a last event");
    assert!(last.starts_with("event: error\ndata: "), "{last}");
}

#[test]
fn an_object_of_another_version_is_asked_again_before_the_client_is_told() {
    let mut stream = new_task();
    let mut pauses = Vec::new();
    while let Some(pause_ms) = stream.pause_ms() {
        pauses.push(pause_ms);
        stream.note_closed(CloseCode::Unreadable.number());
    }
    assert_eq!(pauses, [0, 50, 100]);
    assert_eq!(stream.take_refusal().expect("a refusal").status, 503);
}

#[test]
fn a_frame_of_another_version_is_asked_for_again_after_a_pause() {
    let mut stream = new_task();
    render(&mut stream, "E1\n.a");
    stream.note_unreadable();
    assert!(stream.take_gap());
    assert_eq!((stream.pause_ms(), stream.hello().after), (Some(50), Some(1)));
    assert_eq!(render(&mut stream, "E2\n.b"), event(2, "b"));
    assert_eq!(stream.pause_ms(), Some(0));
    while stream.pause_ms().is_some() {
        stream.note_unreadable();
    }
    let last = stream.take_last_word().expect("a last event");
    assert!(last.contains("UNAVAILABLE"), "{last}");
}

#[test]
fn only_sockets_that_were_lost_or_of_another_version_count_as_failures() {
    for (code, pause_ms, is_over) in [
        (CloseCode::Over.number(), None, true),
        (CloseCode::More.number(), Some(0), false),
        (CloseCode::TooSlow.number(), Some(0), false),
        (CloseCode::Unreadable.number(), Some(50), false),
        (CloseCode::Unavailable.number(), Some(50), false),
        (1006, Some(50), false),
    ] {
        let mut stream = new_task();
        render(&mut stream, "E1\n.a");
        stream.note_closed(code);
        assert_eq!(stream.is_over(), is_over, "{code}");
        if !is_over {
            assert_eq!(stream.pause_ms(), pause_ms, "{code}");
        }
    }
}

/// The object may have handled the message before its socket dropped. Then it knows the repetition, and gives a
/// snapshot.
#[test]
fn a_follow_up_is_sent_again_to_an_object_that_cannot_open_its_task_now() {
    let mut stream = stream(following(Operation::SendStreamingMessage, Some("t"), None));
    for code in [1006, CloseCode::Unavailable.number()] {
        stream.note_closed(code);
        assert!(stream.pause_ms().is_some(), "{code}");
        assert!(matches!(&stream.hello().command.call, FollowCall::SendStreamingMessage(_)));
    }
    assert_eq!(render(&mut stream, &snapshot(3)), event(3, r#"{"task":{}}"#));
}
