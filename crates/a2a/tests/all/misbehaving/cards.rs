//! Wrong cards, and servers that differ from their cards.

use a2a::client::Outcome::{Completed, Failed};
use a2a::client::Settings;
use a2a::client::simulation::SimulatedAnswer;
use a2a::dialect::Dialect;
use serde_json::json;

use super::case::{Case, OTHER, case};
use super::said::{
    bare, card_at, card_json, completed, message, refused, rpc, snapshot, stream, task,
};

fn answer(
    json: serde_json::Value,
) -> impl Fn(&a2a::client::simulation::SimulatedRequest) -> SimulatedAnswer {
    move |_| SimulatedAnswer::json(&json)
}

pub(crate) fn cases() -> Vec<Case> {
    let elsewhere = || card_at(&format!("https://{OTHER}/a2a"), "JSONRPC", "1.0", true);
    vec![
        case("the card names another host", |request| match request.path() {
            "/a2a" => completed("hello"),
            _ => SimulatedAnswer::status(404),
        })
        .card(answer(elsewhere()))
        .requests(1),
        case("the card names another host, which may be called", |_| completed("not this one"))
            .card(answer(elsewhere()))
            .set(|settings| Settings { allow_other_hosts: true, ..settings })
            .requests(0)
            .others(1),
        case("the card names the host without encryption", |_| completed("hello"))
            .card(answer(card_at("http://agent.example/a2a", "JSONRPC", "1.0", true)))
            .requests(1),
        case("the card is a page of HTML", |_| completed("never"))
            .card(|_| SimulatedAnswer::status(200).header("content-type", "text/html").text("<html>"))
            .holds(Failed, "submit failed: ")
            .requests(0),
        case("there is no card", |_| completed("never"))
            .card(|_| SimulatedAnswer::status(404))
            .is(Failed, "submit failed: HTTP 404")
            .requests(0),
        case("the card is out of reach once", |_| completed("hello"))
            .card(|request| match request.call_number {
                1 => SimulatedAnswer::status(503),
                2 => SimulatedAnswer::refused("reset"),
                _ => super::said::card(),
            })
            .requests(1),
        case("the card is out of reach for ever", |_| completed("never"))
            .card(|_| SimulatedAnswer::status(503))
            .is(Failed, "submit failed: HTTP 503")
            .requests(0),
        case("the card is too large", |_| completed("never"))
            .card(|_| SimulatedAnswer::json(&json!({"name": "x".repeat(2_000_000)})))
            .holds(Failed, "submit failed: ")
            .requests(0),
        case("the card offers what nobody here speaks", |_| completed("never"))
            .card(answer(card_at("https://agent.example/a2a", "GRPC", "1.0", true)))
            .holds(Failed, "GRPC")
            .requests(0),
        case("the card is sent elsewhere", |_| completed("never"))
            .card(|_| SimulatedAnswer::status(302).header("location", format!("https://{OTHER}/")))
            .holds(Failed, "submit failed: ")
            .requests(0),
        case("the card promises streams, and the server knows no such method", |request| {
            match request.rpc_method().as_str() {
                "SendMessage" => SimulatedAnswer::json(&snapshot("COMPLETED", &[("a", "hello")])),
                _ => refused(-32601, "Method not found"),
            }
        })
        // The attempts: in the version of the card, in the other version, and without a stream.
        .requests(3),
        case("the card promises streams, and the server refuses them", |request| {
            match request.rpc_method().as_str() {
                "SendMessage" => SimulatedAnswer::json(&snapshot("COMPLETED", &[("a", "hello")])),
                _ => refused(-32004, "Streaming is not supported"),
            }
        })
        .requests(2),
        case("the card promises streams, and the server refuses them in a stream", |request| {
            match request.rpc_method().as_str() {
                "SendMessage" => SimulatedAnswer::json(&message("hello")),
                _ => stream([super::said::error(-32004, "Streaming is not supported")]),
            }
        })
        .requests(2),
        case("the card says 1.0, and the server speaks 0.3", |request| {
            match request.rpc_method().as_str() {
                "message/stream" => stream([rpc(json!({"kind": "task", "id": "t-1", "contextId": "c-1",
                    "status": {"state": "completed"},
                    "artifacts": [{"artifactId": "a", "parts": [{"kind": "text", "text": "hello"}]}]}))]),
                _ => refused(-32601, "Method not found"),
            }
        })
        .requests(2),
        case("the card says 0.3, and the server speaks 1.0", |request| {
            match request.rpc_method().as_str() {
                "SendStreamingMessage" => completed("hello"),
                _ => refused(-32601, "Method not found"),
            }
        })
        .card(answer(card_json("0.3", true)))
        .requests(2),
        case("the settings know the version better than the card", |request| {
            match request.rpc_method().as_str() {
                "SendStreamingMessage" => completed("hello"),
                _ => refused(-32601, "Method not found"),
            }
        })
        .card(answer(card_json("0.3", true)))
        .set(|settings| Settings { version: Some(Dialect::V1), ..settings })
        .requests(1),
        case("the server knows no method at all", |_| refused(-32601, "Method not found"))
            .holds(Failed, "Method not found"),
        case("the call is sent to another host", |_| {
            SimulatedAnswer::status(307).header("location", format!("https://{OTHER}/a2a"))
        })
        .holds(Failed, "other.example")
        .requests(1),
        case("the call is sent to a place on the same host", |request| match request.path() {
            "/a2a/" => completed("hello"),
            _ => SimulatedAnswer::status(307).header("location", "/a2a/"),
        })
        .requests(2),
        case("the call is sent round in a circle", |_| {
            SimulatedAnswer::status(308).header("location", "/a2a")
        })
        .holds(Failed, "redirects")
        .requests(4),
        case("the server wraps no task, as that of the older version", |request| {
            match request.rpc_method().as_str() {
                "SendMessage" => bare("COMPLETED", &[("a", "hello")]),
                _ => stream([rpc(task("COMPLETED", &[("a", "hello")]))]),
            }
        })
        .polled()
        .is(Completed, "hello")
        .requests(1),
    ]
}
