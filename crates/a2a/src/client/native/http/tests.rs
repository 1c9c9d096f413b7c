use std::rc::Rc;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::LocalSet;

use super::*;

/// Answers each connection with one text, in pieces, and keeps the connection open as long as the
/// test runs.
async fn serve(
    listener: TcpListener,
    pieces: Rc<Vec<&'static str>>,
    asked: tokio::sync::mpsc::UnboundedSender<String>,
) {
    let mut open = Vec::new();
    loop {
        let (stream, _) = listener.accept().await.expect("a connection");
        let _ = asked.send(read_head(&stream).await);
        for piece in pieces.iter() {
            write(&stream, piece).await;
            tokio::task::yield_now().await;
        }
        open.push(stream);
    }
}

async fn read_head(stream: &TcpStream) -> String {
    let mut head = Vec::new();
    let mut buffer = [0; 4096];
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        stream.readable().await.expect("readable");
        match stream.try_read(&mut buffer) {
            Ok(count) => head.extend_from_slice(&buffer[..count]),
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock),
        }
    }
    String::from_utf8_lossy(&head).into_owned()
}

async fn write(stream: &TcpStream, text: &str) {
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        stream.writable().await.expect("writable");
        match stream.try_write(rest) {
            Ok(count) => rest = &rest[count..],
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock),
        }
    }
}

/// Sends a request to a server that answers with these pieces; returns the head of the request as
/// the server received it, and the result.
fn exchanged(
    pieces: &[&'static str],
    change: impl FnOnce(HttpRequest) -> HttpRequest,
) -> (String, Result<HttpAnswer<String>, HttpError>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let local = LocalSet::new();
    let pieces = Rc::new(pieces.to_vec());
    runtime.expect("a runtime").block_on(local.run_until(async move {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/x?key=s3cret", listener.local_addr().expect("an address"));
        let (sender, mut asked) = tokio::sync::mpsc::unbounded_channel();
        tokio::task::spawn_local(serve(listener, pieces, sender));
        let request = change(
            HttpRequest::post(url).with_header("X-A", "1").with_header("x-a", "2").with_body("hi"),
        );
        let answer = match NativeHttp::new().send(request).await {
            Ok(answer) => answer.text().await,
            Err(error) => Err(error),
        };
        (asked.try_recv().unwrap_or_default().to_ascii_lowercase(), answer)
    }))
}

#[test]
fn an_answer_comes_with_its_head_and_piece_by_piece() {
    let pieces = [
        "HTTP/1.1 302 Found\r\nlocation: /y\r\nX-B: 3\r\ntransfer-encoding: chunked\r\n\r\n",
        "2\r\nab\r\n",
        "1\r\nc\r\n0\r\n\r\n",
    ];
    let (asked, answer) = exchanged(&pieces, |request| request);
    assert!(asked.starts_with("post /x?key=s3cret http/1.1\r\n"), "{asked}");
    assert!(asked.contains("\r\nx-a: 2\r\n") && !asked.contains("x-a: 1"), "{asked}");
    let answer = answer.expect("an answer");
    assert_eq!(
        (answer.status, answer.header("x-b"), answer.body.as_str()),
        (302, Some("3"), "abc")
    );
}

#[test]
fn an_answer_that_is_silent_too_large_or_broken_is_an_error() {
    let whole = ["HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n0123456789"];
    let brief = |request| HttpRequest { timeout_ms: 50, ..request };
    let (_, silent) = exchanged(&[], brief);
    assert!(matches!(silent, Err(HttpError::Silent { timeout_ms: 50, .. })), "{silent:?}");
    let (_, half) = exchanged(&["HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n01234"], brief);
    assert!(matches!(half, Err(HttpError::Silent { .. })), "{half:?}");
    let (_, large) = exchanged(&whole, |request| HttpRequest { max_bytes: 9, ..request });
    assert!(matches!(large, Err(HttpError::TooLarge { max_bytes: 9, .. })), "{large:?}");
    let (_, broken) = exchanged(&["no HTTP\r\n\r\n"], |request| request);
    let text = broken.expect_err("no answer").to_string();
    assert!(text.contains("/x did not answer: ") && !text.contains("s3cret"), "{text}");
    let (_, header) = exchanged(&whole, |request| request.with_header("x", "s3cret\n"));
    let text = header.expect_err("no header").to_string();
    assert!(text.contains("the header x cannot be sent") && !text.contains("s3cret"), "{text}");
}

#[test]
fn a_guarded_request_reaches_no_private_address() {
    let (asked, refused) = exchanged(&["HTTP/1.1 200 OK\r\n\r\n"], HttpRequest::guarded);
    assert!(matches!(refused, Err(HttpError::Refused { .. })), "{refused:?}");
    assert_eq!(asked, "");
    // A name that resolves to this machine.
    let (asked, failed) = exchanged(&["HTTP/1.1 200 OK\r\n\r\n"], |request| {
        let url = request.url.replace("http://127.0.0.1", "https://localhost");
        HttpRequest { url, ..request }.guarded()
    });
    let text = failed.expect_err("no answer").to_string();
    assert!(text.contains("the host has no public address"), "{text}");
    assert_eq!(asked, "");
}
