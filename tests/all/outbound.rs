//! Requests of agents to other servers: whole answers, pieces, limits.

use a2a::model::{Artifact, Part, TaskState};
use a2a_edge::port::HttpRequest;
use a2a_edge::twins::http;

use crate::support::{Host, first, reason, state, task};

#[test]
fn an_agent_reads_headers_and_the_body_of_an_answer_whole_or_in_pieces() {
    let host = Host::new(|turn, events| {
        Box::pin(async move {
            let request = HttpRequest::new("POST", "https://seats.example/a")
                .with_header("Idempotency-Key", turn.task_id.as_str());
            let answer = turn.fetch(request.with_body("row 5")).await?;
            let tag = answer.header("etag").unwrap_or_default().to_owned();
            events
                .artifact(Artifact::new("whole", Part::text(format!("{tag} {}", answer.body))))?;
            let mut answer =
                turn.fetch_stream(HttpRequest::new("GET", "https://seats.example/b")).await?;
            let mut pieces = 0;
            while let Some(piece) = answer.body.next().await {
                pieces += piece?.len();
            }
            events.complete(Some(&format!("{} {pieces}", answer.status)))
        })
    });
    host.platform.memory_http().answer_with(|request, body| {
        let key = request.headers.first().map_or("", |(_, value)| value);
        let mut answer = http::ok(format!("{} {key} {body}", request.method));
        answer.headers.push(("etag".to_owned(), "7".to_owned()));
        Ok(answer)
    });
    let session = host.open();
    host.platform.run_until(host.send(&session, first("hi"))).expect("an answer");
    assert_eq!(task(&session).artifacts[0].parts[0].as_text(), Some("7 POST t row 5"));
    assert_eq!((state(&session), reason(&session)), (TaskState::Completed, "200 5".to_owned()));
    let called = host.platform.memory_http().called();
    assert_eq!(called, ["https://seats.example/a", "https://seats.example/b"]);
}

#[test]
fn a_server_that_gives_no_answer_or_too_large_a_one_fails_the_run_with_its_url() {
    for (max_bytes, told) in [
        (5, "https://a.example did not answer: its answer has more than 5 bytes"),
        (6, "https://a.example did not answer: it is asleep"),
    ] {
        let host = Host::new(move |turn, events| {
            Box::pin(async move {
                let request = HttpRequest::new("GET", "https://a.example");
                let answer = turn.fetch(HttpRequest { max_bytes, ..request }).await?;
                turn.fetch(HttpRequest::new("PUT", "https://a.example").with_body(answer.body))
                    .await?;
                events.complete(None)
            })
        });
        host.platform.memory_http().answer_with(|request, body| match request.method {
            "GET" => Ok(http::ok("123456")),
            _ if body == "123456" => Err("it is asleep".to_owned()),
            other => panic!("{other} {body}"),
        });
        let session = host.open();
        host.platform.run_until(host.send(&session, first("hi"))).expect("an answer");
        assert_eq!((state(&session), reason(&session).as_str()), (TaskState::Failed, told));
    }
}

#[test]
fn a_guarded_request_goes_only_where_it_may() {
    let host = Host::new(|turn, events| {
        Box::pin(async move {
            turn.fetch(HttpRequest::new("GET", "http://10.0.0.1/open")).await?;
            turn.fetch(HttpRequest::new("GET", "https://a.example").guarded()).await?;
            turn.fetch(HttpRequest::new("GET", "http://10.0.0.1/").guarded()).await?;
            events.complete(None)
        })
    });
    let http = host.platform.memory_http();
    http.answer_with(|_, _| Ok(http::ok("")));
    http.guard_with(|url| {
        if url.starts_with("https://") {
            return Ok(());
        }
        Err("must begin with https://".to_owned())
    });
    let session = host.open();
    host.platform.run_until(host.send(&session, first("hi"))).expect("an answer");
    assert_eq!(state(&session), TaskState::Failed);
    assert_eq!(reason(&session), "http://10.0.0.1/ was not called: a URL must begin with https://");
    assert_eq!(host.platform.memory_http().called(), ["http://10.0.0.1/open", "https://a.example"]);
}
