//! The checker of agent files as WebAssembly: the commands of the npm package run it in Node (`scripts/lib/checker.mjs`).
//!
//! | export | does |
//! |---|---|
//! | `take(length)` | makes room for a text of so many bytes, and gives its address |
//! | `run(address, length)` | takes a `Request` as JSON, and gives the address and the length of the answer, also JSON |
//!
//! | import of `host` | does |
//! |---|---|
//! | `read(address, length)` | gives the `Read` of the file at a path, as JSON, in room that the host has got from `take` |
//! | `list(address, length)` | gives the `Listed` of the folder at a path, likewise |
//!
//! An address and a length are one number of 64 bits: the address in the upper half. `run` frees the request and the
//! answers of the host. The host does not free the answer of `run`, because it uses each instance for one check.

#![allow(unsafe_code, reason = "texts cross the border of the module as addresses")]

use std::collections::BTreeMap;
use std::fmt;

use a2a::model::{UnixMillis, read_own, to_json};
use a2a_agents::files::{Entry, Files, Unreadable};
use a2a_agents::project::{Terms, check};
use a2a_agents::schema::schemas;
use a2a_agents::{AgentTexts, Problem};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the host asks for.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
enum Request {
    /// The check of the project.
    Check {
        /// True if the project has code that may register tools and kinds of executors.
        may_register: bool,
        /// The present instant, in milliseconds since the epoch.
        now_ms: i64,
    },
    /// The JSON Schemas of the files, for editors.
    Schemas {},
}

/// The outcome of a check.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Answer {
    /// The checked form.
    Agents(AgentTexts),
    /// What is wrong with the files.
    Problems(Vec<Told>),
    /// The schemas, by the names of their files.
    Schemas(BTreeMap<&'static str, Value>),
}

/// A problem, in parts and as the line for people.
#[derive(Serialize)]
struct Told {
    shown: String,
    file: Option<String>,
    line: Option<usize>,
    key: String,
    text: String,
}

impl From<Problem> for Told {
    fn from(problem: Problem) -> Self {
        let shown = problem.to_string();
        let Problem { file, line, key, text } = problem;
        Self { shown, file, line, key, text }
    }
}

/// A file, as the host answers.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Read {
    Text(String),
    Missing {},
    Because(String),
}

/// A folder, as the host answers.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Listed {
    /// The names of the entries; those of folders end with `/`.
    Names(Vec<String>),
    Missing {},
    Because(String),
}

/// The files of the project, which the host reads.
struct HostFiles;

impl Files for HostFiles {
    fn read(&self, path: &str) -> Result<String, Unreadable> {
        match asked(path, host::read)? {
            Read::Text(text) => Ok(text),
            Read::Missing {} => Err(Unreadable::Missing),
            Read::Because(reason) => Err(Unreadable::Because(reason)),
        }
    }

    fn list(&self, folder: &str) -> Result<Vec<Entry>, Unreadable> {
        let entry = |name: String| match name.strip_suffix('/') {
            Some(folder) => Entry { name: folder.to_owned(), is_folder: true },
            None => Entry { name, is_folder: false },
        };
        match asked(folder, host::list)? {
            Listed::Names(names) => Ok(names.into_iter().map(entry).collect()),
            Listed::Missing {} => Err(Unreadable::Missing),
            Listed::Because(reason) => Err(Unreadable::Because(reason)),
        }
    }
}

/// Asks the host about a path.
fn asked<T: DeserializeOwned>(
    path: &str,
    ask: unsafe extern "C" fn(*const u8, usize) -> u64,
) -> Result<T, Unreadable> {
    // SAFETY: the host reads the path, and gives a text in room that it got from `take`.
    let answer = unsafe { taken(ask(path.as_ptr(), path.len())) };
    let broken =
        |error: &dyn fmt::Display| Unreadable::Because(format!("the host answers: {error}"));
    let answer = str::from_utf8(&answer).map_err(|error| broken(&error))?;
    read_own(answer).map_err(|error| broken(&error))
}

/// Answers a request of the host.
fn answer(request: &[u8]) -> Answer {
    let failed = |text: String| Answer::Problems(vec![Problem::at("", text).into()]);
    let unread =
        |error: &dyn fmt::Display| format!("the request of the checker cannot be read: {error}");
    let read = str::from_utf8(request).map_err(|error| unread(&error));
    let read = read.and_then(|request| read_own(request).map_err(|error| unread(&error)));
    let (may_register, now_ms) = match read {
        Ok(Request::Check { may_register, now_ms }) => (may_register, now_ms),
        Ok(Request::Schemas {}) => return Answer::Schemas(schemas().into()),
        Err(text) => return failed(text),
    };
    match check(&HostFiles, Terms { may_register, now: UnixMillis(now_ms) }) {
        Ok(checked) => match AgentTexts::of(&checked) {
            Ok(texts) => Answer::Agents(texts),
            Err(error) => failed(error.to_string()),
        },
        Err(problems) => Answer::Problems(problems.into_iter().map(Told::from).collect()),
    }
}

/// Makes room for a text.
#[unsafe(no_mangle)]
pub extern "C" fn take(length: usize) -> *mut u8 {
    Box::leak(vec![0_u8; length].into_boxed_slice()).as_mut_ptr()
}

/// Answers a request, a text in room from [`take`].
///
/// # Safety
///
/// `address` and `length` are those of a call of [`take`], and of no other call of `run`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn run(address: *mut u8, length: usize) -> u64 {
    // SAFETY: as the contract of this function says.
    let request = unsafe { Vec::from_raw_parts(address, length, length) };
    let answer = to_json(&answer(&request)).unwrap_or_default();
    let answer = Box::leak(answer.into_boxed_str());
    ((answer.as_ptr() as u64) << 32) | answer.len() as u64
}

/// The text at an address and of a length.
///
/// # Safety
///
/// The text is in room from [`take`], and nothing else uses it.
unsafe fn taken(place: u64) -> Vec<u8> {
    let (address, length) = ((place >> 32) as usize, (place & u64::from(u32::MAX)) as usize);
    // SAFETY: as the contract of this function says.
    unsafe { Vec::from_raw_parts(address as *mut u8, length, length) }
}

#[cfg(target_arch = "wasm32")]
mod host {
    #[link(wasm_import_module = "host")]
    unsafe extern "C" {
        pub(super) fn read(address: *const u8, length: usize) -> u64;
        pub(super) fn list(address: *const u8, length: usize) -> u64;
    }
}

/// The module is for a host with memory of 32 bits; elsewhere it is only compiled.
#[cfg(not(target_arch = "wasm32"))]
mod host {
    pub(super) unsafe extern "C" fn read(_: *const u8, _: usize) -> u64 {
        0
    }

    pub(super) unsafe extern "C" fn list(_: *const u8, _: usize) -> u64 {
        0
    }
}
