//! The request of the server for one turn (docs/http-agents.md).

use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;

use a2a::client::{DEPTH_KEY, read_depth};
use a2a::model::read_own;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use super::{Failure, Instruction};

/// What a turn asks for.
pub(crate) struct Turn {
    pub(crate) instruction: Result<Instruction, Failure>,
    /// How many agents have called each other before the message.
    pub(crate) depth: u32,
}

impl Turn {
    /// Reads the request of a connection; nothing if it is no `POST`.
    pub(crate) fn read(connection: &TcpStream) -> std::io::Result<Option<Self>> {
        let mut reader = BufReader::new(connection);
        let (mut line, mut is_post, mut length) = (String::new(), false, 0);
        while reader.read_line(&mut line)? > 0 && !line.trim().is_empty() {
            is_post |= line.starts_with("POST ");
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap_or_default();
            }
            line.clear();
        }
        if !is_post {
            return Ok(None);
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let turn: Value = read_own(&String::from_utf8_lossy(&body))?;
        Ok(Some(Self::of(&turn)))
    }

    fn of(turn: &Value) -> Self {
        let depth = turn.pointer("/message/metadata").and_then(|metadata| metadata.get(DEPTH_KEY));
        let parts = turn.pointer("/message/parts").and_then(Value::as_array);
        let instruction = parts.into_iter().flatten().find_map(instruction_in);
        Self {
            instruction: instruction.unwrap_or(Err("the message holds no instruction".to_owned())),
            depth: depth.map_or(0, read_depth),
        }
    }
}

/// The instruction in a part of bytes.
fn instruction_in(part: &Value) -> Option<Result<Instruction, Failure>> {
    let raw = part.get("raw")?.as_str()?;
    let decoded = BASE64_STANDARD.decode(raw).map_err(|error| error.to_string());
    Some(decoded.and_then(|bytes| Instruction::decode(&bytes)))
}
