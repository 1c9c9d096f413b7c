//! Calls every operation of an agent, for `tests/e2e/remote-sdk-*.spec.ts`: `walk <url> <version> <binding> <receiver>`,
//! where the version and the binding may be `auto`. The agent is that of tests/e2e/servers/, written with an SDK. Each step
//! prints one line, `name: ok` or the reason of the failure.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for tests may panic"
)]

mod steps;

use std::env::args;

use a2a::binding::Binding;
use a2a::client::{Client, Settings, Streaming, native};
use a2a::dialect::Dialect;

/// The reason why a step failed.
type Failed = String;

fn main() {
    let [_, url, version, binding, receiver] = &args().collect::<Vec<_>>()[..] else {
        panic!("walk <url> <version> <binding> <receiver of notifications>");
    };
    let known = Dialect::ALL.into_iter().find(|known| known.version() == version);
    assert!(known.is_some() || version == "auto", "{version} is no version");
    let binding = match binding.as_str() {
        "JSONRPC" => Some(Binding::JsonRpc),
        "HTTP+JSON" => Some(Binding::Rest),
        _ => None,
    };
    let settings = |streaming| Settings {
        version: known,
        binding,
        poll_interval_ms: 50,
        timeout_ms: 10_000,
        request_timeout_ms: 10_000,
        retry_delay_ms: 50,
        streaming,
        ..Settings::new(url)
    };
    let client = |streaming| Client::new(settings(streaming), native::ports());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let walk = steps::walk(client(Streaming::Auto), client(Streaming::Never), receiver);
    runtime.expect("a runtime").block_on(walk);
}
