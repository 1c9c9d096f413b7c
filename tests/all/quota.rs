//! Quotas of callers in the object of a task: what it refuses, and when the place that was reserved for a task is given back.

use std::rc::Rc;

use a2a::error::Error;
use a2a::model::{Generation, Part, SendMessageRequest};
use a2a::{Outcome, Quota, Terms};
use a2a_edge::operation::{send_message, send_streaming_message};
use a2a_edge::session::{Sender, TaskSession};

use crate::support::{Host, first, next};

const QUOTA: Quota = Quota::Tasks(3);

/// The terms of a send for whose task a place is reserved.
fn reserved() -> Terms {
    Terms { is_reserved: true, ..Terms::default() }
}

/// An agent that answers `say` by a message, and asks back otherwise.
fn host() -> Host {
    Host::new(|turn, events| {
        Box::pin(async move {
            match turn.message.text().as_str() {
                "say" => events.reply(vec![Part::text("hello")]),
                _ => events.require_input("more?"),
            }
        })
    })
}

fn send(
    host: &Host,
    session: &Rc<TaskSession>,
    text: &str,
    terms: Terms,
) -> Result<Outcome, Error> {
    let request: SendMessageRequest = serde_json::from_value(first(text)).unwrap();
    let sender = Sender { fingerprint: Some(request.fingerprint()), ..host.sender() };
    host.platform.run_until(send_message(session, sender, request, terms))
}

#[test]
fn beyond_the_quota_no_task_begins_but_what_was_begun_is_answered() {
    let host = Host::new(|_, events| Box::pin(async move { events.require_input("more?") }));
    let send = |session: &Rc<TaskSession>, over_quota| {
        let request: SendMessageRequest = serde_json::from_value(first("begin")).unwrap();
        let sender = Sender { fingerprint: Some(request.fingerprint()), ..host.sender() };
        let terms = Terms { over_quota, ..Terms::default() };
        host.platform.run_until(send_message(session, sender, request, terms))
    };
    let (session, reached) = (host.open(), Some(QUOTA));
    assert_eq!(send(&session, reached), Err(Error::OverQuota(QUOTA)));
    assert_eq!(host.rows(), 0);
    let first = send(&session, None);
    assert!(first.is_ok());
    assert_eq!(send(&session, reached), first);
}

#[test]
fn a_place_is_given_back_before_the_answer_if_no_task_has_begun() {
    let place = vec![("agent".to_owned(), "anonymous".to_owned())];
    let host = host();
    assert!(matches!(send(&host, &host.open(), "say", reserved()), Ok(Outcome::SentMessage(_))));
    assert_eq!(host.platform.memory_index().released(), place, "a message is no task");

    let used_up = a2a::UsedUp { limit: a2a::DayLimit::Tokens(1), seconds: 9 };
    let refused = Terms { used_up: Some(used_up), ..reserved() };
    let host = self::host();
    assert_eq!(send(&host, &host.open(), "begin", refused), Err(Error::UsedUp(used_up)));
    assert_eq!(host.platform.memory_index().released(), place, "the send was refused");
}

#[test]
fn the_row_of_a_task_takes_its_place() {
    let host = host();
    let session = host.open();
    assert!(send(&host, &session, "begin", reserved()).is_ok());
    let row = host.platform.memory_index().row(session.id()).expect("a row");
    assert!(row.takes_place && row.bytes > 0, "{row:?}");
    assert!(host.platform.run_until(host.send(&session, next("m2", "more"))).is_ok());
    let row = host.platform.memory_index().row(session.id()).expect("a row");
    assert!(!row.takes_place, "the first row has taken it");
    assert_eq!(host.platform.memory_index().released(), []);
}

#[test]
fn a_repeated_send_gives_back_the_place_that_its_task_does_not_need() {
    let host = host();
    let session = host.open();
    let begun = send(&host, &session, "begin", reserved());
    assert_eq!(send(&host, &session, "begin", reserved()), begun);
    assert_eq!(host.platform.memory_index().released().len(), 1, "the row is there already");
    let again = host.open();
    assert_eq!(send(&host, &again, "begin", reserved()), begun);
    assert_eq!(host.platform.memory_index().released().len(), 2);
}

#[test]
fn a_stream_that_begins_no_task_gives_its_place_back_too() {
    let host = host();
    for (text, after, released) in [("say", None, 1), ("begin", Some(Generation(7)), 2)] {
        let request: SendMessageRequest = serde_json::from_value(first(text)).unwrap();
        let session = host.open();
        let sent = send_streaming_message(&session, host.sender(), request, after, reserved());
        assert_eq!(host.platform.run_until(sent).is_ok(), after.is_none(), "{text}");
        assert_eq!(host.platform.memory_index().released().len(), released, "{text}");
    }
}

#[test]
fn an_index_that_is_down_keeps_no_answer_back() {
    let host = host();
    host.platform.memory_index().set_failing(true);
    assert!(matches!(send(&host, &host.open(), "say", reserved()), Ok(Outcome::SentMessage(_))));
}
