//! The agent of `npm run conformance:itk`, as the program behind an agent of kind `http`: `itk PORT` takes turns at this port of the
//! loopback interface. A turn's message holds an instruction of the ITK ([`instruction`]): to return a text, or to call another agent
//! with an instruction for it. The calls are made by the client of this crate ([`calls`]). See tests/conformance/itk/ of the repository.

mod calls;
mod instruction;
mod turn;

use std::future::Future;
use std::io::Write;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::ExitCode;

use a2a::client::native;
use a2a::port::Clock;
use serde_json::{Value, json};

use instruction::Instruction;
use turn::Turn;

/// Why a turn fails; the text becomes that of the task.
type Failure = String;

fn main() -> ExitCode {
    let port = std::env::args().nth(1).and_then(|argument| argument.parse::<u16>().ok());
    let Some(port) = port else {
        eprintln!("itk PORT");
        return ExitCode::from(2);
    };
    match serve(port) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("itk: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Takes connections for as long as the process runs, each in a thread of its own: a client of the crate stays on one thread.
#[expect(clippy::disallowed_methods, reason = "this is no WebAssembly")]
fn serve(port: u16) -> std::io::Result<()> {
    for connection in TcpListener::bind((Ipv4Addr::LOCALHOST, port))?.incoming() {
        let connection = connection?;
        std::thread::spawn(move || {
            if let Err(error) = answer(connection) {
                eprintln!("itk: a connection broke: {error}");
            }
        });
    }
    Ok(())
}

/// Answers one request with a line of JSON for each command to the executor. The body ends when the connection closes.
fn answer(mut connection: TcpStream) -> std::io::Result<()> {
    let Some(turn) = Turn::read(&connection)? else {
        return connection.write_all(
            b"HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        );
    };
    connection.write_all(
        b"HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\nconnection: close\r\n\r\n",
    )?;
    let mut say = |verb: Value| writeln!(connection, "{verb}");
    say(json!({"do": "working"}))?;
    let carried_out = turn.instruction.as_ref().map_err(Clone::clone).and_then(|instruction| {
        let texts = block_on(calls::carry_out(instruction, turn.depth))??;
        Ok((texts.join("\n"), instruction.is_held()))
    });
    match carried_out {
        Err(failure) => say(json!({"do": "fail", "text": failure})),
        Ok((text, false)) => say(json!({"do": "complete", "text": text})),
        Ok((text, true)) => hold(&format!("{text}\n{FINISHED}"), say),
    }
}

/// Repeats the text while the task stays at work, so that everybody who subscribes gets it, then completes the task. A canceled task
/// closes the connection, which ends this at the next line.
fn hold(text: &str, mut say: impl FnMut(Value) -> std::io::Result<()>) -> std::io::Result<()> {
    for _ in 0..HELD_TICKS {
        say(json!({"do": "working", "text": text}))?;
        block_on(native::NativeClock.sleep(HELD_TICK_MS)).map_err(std::io::Error::other)?;
    }
    say(json!({"do": "complete", "text": text}))
}

fn block_on<T>(future: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    Ok(runtime.map_err(|error| format!("there is no runtime: {error}"))?.block_on(future))
}

/// What the text of a held task ends with: its subscriber has read the whole text.
const FINISHED: &str = "task-finished";

/// A held task completes after ten seconds, as those of the other agents of the ITK do.
const HELD_TICKS: u32 = 5;
const HELD_TICK_MS: u64 = 2_000;

/// How long another agent has for its answer. A circuit nests its calls, and a held task takes ten seconds at each of them.
const CALL_TIME_MS: u64 = 60_000;
