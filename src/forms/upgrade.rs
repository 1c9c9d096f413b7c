//! This version reads the texts that earlier releases have exchanged between their parts. `tests/fixtures` contains
//! these texts. Frames are read by JavaScript: `tests/js/client-stream.test.mjs`.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use super::callback::CallbackPost;
use super::command::{Command, StreamCommand};
use super::queue::{Body, QueuedJob};
use crate::push::{NextNotification, NotificationTurn};
use a2a::model::decode::{Decode, read_json};

/// The texts of one kind from all releases.
fn sent(kind: &str) -> Vec<String> {
    let lines = releases().into_iter().flat_map(|release| {
        let messages = fs::read_to_string(release.join("messages.jsonl")).unwrap();
        messages.lines().map(str::to_owned).collect::<Vec<_>>()
    });
    let messages = lines.map(|line| serde_json::from_str::<Value>(&line).unwrap());
    let texts: Vec<String> = messages
        .filter(|message| message["kind"] == kind)
        .map(|message| message["text"].as_str().unwrap().to_owned())
        .collect();
    assert!(!texts.is_empty(), "no release has sent a {kind}");
    texts
}

fn releases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    fs::read_dir(folder).unwrap().map(|release| release.unwrap().path()).collect()
}

/// Reads each text, writes it again, and checks that no member is missing. So the test fails if a member is no longer
/// read.
fn reads_all<T: Decode + Serialize>(kind: &str) {
    for text in sent(kind) {
        let read: T = read_json(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let now = serde_json::to_value(&read).unwrap();
        let then: Value = serde_json::from_str(&text).unwrap();
        assert!(holds(&now, &then), "{text} is read as {now}");
    }
}

/// True if a value contains all members and items of another value; a member with its default may be absent.
fn holds(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::Object(value), Value::Object(wanted)) => wanted.iter().all(|(name, wanted)| {
            value.get(name).map_or(is_default(wanted), |value| holds(value, wanted))
        }),
        (Value::Array(value), Value::Array(wanted)) => {
            value.len() == wanted.len()
                && value.iter().zip(wanted).all(|(value, wanted)| holds(value, wanted))
        }
        (value, wanted) => value == wanted,
    }
}

/// True if a member with this value may be left out: null, `false`, an empty list, or an object of such members.
fn is_default(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(values) => values.is_empty(),
        Value::Object(members) => members.values().all(is_default),
        Value::Bool(true) | Value::Number(_) | Value::String(_) => false,
    }
}

/// The text with the number of a form that no version has yet.
fn of_a_newer_form(text: &str) -> String {
    text.replacen('{', r#"{"format":1000000,"#, 1)
}

fn leaves_newer_ones<T: Decode>(kind: &str) {
    for text in sent(kind) {
        let newer = of_a_newer_form(&text);
        assert!(read_json::<T>(&newer).is_err(), "{newer}");
    }
}

#[test]
fn commands_are_read() {
    reads_all::<Command>("command");
    reads_all::<StreamCommand>("stream");
    reads_all::<CallbackPost>("callback");
}

#[test]
fn queue_bodies_are_read() {
    reads_all::<QueuedJob>("job");
    for letter in sent("deadLetter") {
        assert_eq!(Body::read(&letter).unwrap(), Body::DeadLetter, "{letter}");
    }
}

#[test]
fn what_senders_ask_and_are_told_is_read() {
    reads_all::<NextNotification>("ask");
    reads_all::<NotificationTurn>("turn");
}

#[test]
fn newer_forms_are_not_read() {
    leaves_newer_ones::<Command>("command");
    leaves_newer_ones::<StreamCommand>("stream");
    leaves_newer_ones::<CallbackPost>("callback");
    leaves_newer_ones::<QueuedJob>("job");
    leaves_newer_ones::<NextNotification>("ask");
    leaves_newer_ones::<NotificationTurn>("turn");
}
