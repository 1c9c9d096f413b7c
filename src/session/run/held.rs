//! What a run says passes here on its way into the task: its secrets are replaced, and the end of a text that may be the
//! beginning of a secret is held back, in memory, until more text decides. It is let out when the artifact ends, when the
//! run asks its client, waits outside of memory or ends, at a cancel, and when its artifact was silent for a while.
//!
//! # What a run says
//!
//! ```text
//! Events ──> RunTask::emit ──> secrets replaced, the end held back   session/run/held.rs, executor/redaction/
//!                               said before? (a run that resumes)     Recall
//!                               TaskMachine::step ──> journal, row, followers
//! ```
//!
//! - All that any executor says passes `Held::hear`, behind which nothing knows of secrets. `Secrets::scan` goes through a text once: it finds the secrets, the leftmost first, the longest at each place, and from where on the text is the beginning of one.
//!   Without secrets nothing is looked at; a chunk that ends with no beginning of a secret is given on as it is.
//! - The end of a text is kept for each artifact (`Tail`), in memory, together with how much of it was let out. So what was let out before it was decided is part of what the next chunk is compared with, and no secret is completed by it.
//! - `held::let_out` is called where an artifact can get no more text for now: before a question, an end, a cancel and a park, and behind the last poll of a run. `Flushing` has the timer of the 200 ms, which is set only while something short is held.
//! - Each chunk that a run says is an event, if need be with an empty text, so a run that resumes is compared event by event. `held` in the log says how many characters of a chunk were not let out, or that an event is not the run's own; the text itself the run says again. A run that takes
//!   up its task (`Turn::take_up`: models, HTTP agents, remotes) is not compared: it writes no `held`, and no event for a chunk of which nothing is let out.
//! - `Turn::task` has the ends that are held back: an executor that says what its task lacks would double them otherwise.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::executor::{Emission, Redaction, Tail};
use crate::session::TaskSession;
use crate::task::{HeldText, Input};
use a2a::model::{Artifact, Part, Task, UnixMillis};

/// The secrets of a run, and what is held back of its artifacts.
#[derive(Default)]
pub(in crate::session) struct Held {
    redaction: RefCell<Rc<Redaction>>,
    /// The ends of artifacts that may be beginnings of secrets, by the ids of the artifacts, and when they came.
    tails: RefCell<BTreeMap<String, (Tail, UnixMillis)>>,
}

/// Something that a run says, on its way.
pub(super) struct Heard {
    /// What of it is let out.
    pub(super) emission: Emission,
    /// The end of the artifact that it is about.
    pub(in crate::session) end: Option<End>,
}

/// The end of an artifact, as a chunk leaves it.
pub(super) struct End {
    id: String,
    before: Option<Tail>,
    tail: Option<Tail>,
    /// The parts as they were said, of a chunk that may have been said before.
    said: Vec<Part>,
    /// Whether the chunk tells nothing but what is held back.
    is_silent: bool,
}

impl Held {
    /// A run begins.
    pub(in crate::session) fn begin(&self) {
        self.redaction.take();
        self.tails.take();
    }

    /// What the run has read of secrets.
    pub(super) fn redaction(&self) -> Rc<Redaction> {
        Rc::clone(&self.redaction.borrow())
    }

    /// Takes what the run says. Nothing is kept of it before [`keep`](Self::keep) or [`recall`](Self::recall).
    /// `repeats` says whether it may have been said before.
    pub(super) fn hear(&self, emission: Emission, repeats: bool) -> Heard {
        let redaction = self.redaction();
        let tells_all = redaction.is_empty() && self.tails.borrow().is_empty() && !repeats;
        match emission {
            emission if tells_all => Heard { emission, end: None },
            Emission::Status { state, message, metadata } => {
                let message = message.map(|message| redaction.message(message));
                let metadata = metadata.map(|metadata| redaction.metadata(&metadata));
                Heard { emission: Emission::Status { state, message, metadata }, end: None }
            }
            Emission::Reply(message) => {
                Heard { emission: Emission::Reply(redaction.message(message)), end: None }
            }
            Emission::Artifact { artifact, append, last_chunk, metadata } => {
                let artifact = redaction.artifact(artifact);
                let id = artifact.artifact_id.clone();
                let said = if repeats { artifact.parts.clone() } else { Vec::new() };
                let before = append.then(|| self.tail(&id)).flatten();
                let (parts, tail) = redaction.chunk(before.clone(), artifact.parts, last_chunk);
                let artifact = Artifact { parts, ..artifact };
                let metadata = metadata.map(|metadata| redaction.metadata(&metadata));
                let is_silent = append && !last_chunk && metadata.is_none() && is_empty(&artifact);
                Heard {
                    emission: Emission::Artifact { artifact, append, last_chunk, metadata },
                    end: Some(End { id, before, tail, said, is_silent }),
                }
            }
        }
    }

    /// The task has taken a chunk.
    pub(super) fn keep(&self, end: End, now: UnixMillis) {
        self.set(end.id, end.tail, now);
    }

    /// A chunk was said before, and this many characters at its end were not let out.
    pub(super) fn recall(&self, end: End, held: usize, now: UnixMillis) {
        let tail = self.redaction().recalled(end.before, &end.said, held);
        self.set(end.id, tail, now);
    }

    /// When something is to be let out because nothing came behind it.
    pub(in crate::session) fn due(&self) -> Option<UnixMillis> {
        let tails = self.tails.borrow();
        let waiting = tails.values().filter(|(tail, _)| tail.held_chars() > 0 && !tail.is_long());
        waiting.map(|(_, since)| since.after(SILENCE_MS)).min()
    }

    /// The task as the run has told it.
    pub(super) fn complete(&self, task: &mut Task) {
        for artifact in &mut task.artifacts {
            if let Some(tail) =
                self.tail(&artifact.artifact_id).filter(|tail| tail.held_chars() > 0)
            {
                tail.put_behind(&mut artifact.parts);
            }
        }
    }

    fn tail(&self, id: &str) -> Option<Tail> {
        self.tails.borrow().get(id).map(|(tail, _)| tail.clone())
    }

    fn set(&self, id: String, tail: Option<Tail>, now: UnixMillis) {
        let mut tails = self.tails.borrow_mut();
        match tail {
            Some(tail) => tails.insert(id, (tail, now)),
            None => tails.remove(&id),
        };
    }
}

impl End {
    /// What the log says of it: how much is held back.
    pub(in crate::session) fn text(&self) -> Option<HeldText> {
        let chars = self.tail.as_ref().map_or(0, Tail::held_chars);
        (chars > 0).then_some(HeldText { chars })
    }

    /// Whether all of the chunk is held back, and the task, which has its artifact, need not be told of it.
    pub(super) fn is_all_held(&self, task: &Task) -> bool {
        self.is_silent
            && self.text().is_some()
            && task.artifacts.iter().any(|known| known.artifact_id == self.id)
    }
}

/// Whether a chunk has nothing but empty text.
fn is_empty(chunk: &Artifact) -> bool {
    let Artifact { name, description, parts, metadata, extensions, .. } = chunk;
    (name, description, metadata) == (&None, &None, &None)
        && extensions.is_empty()
        && parts.iter().all(|part| *part == Part::text(""))
}

/// Lets out all that is held back.
pub(in crate::session) fn let_out(session: &TaskSession) {
    let_out_if(session, |_, _| true);
}

/// Lets out what has waited for more text until this instant.
pub(super) fn let_out_silent(session: &TaskSession, now: UnixMillis) {
    let_out_if(session, |tail, since| !tail.is_long() && since.after(SILENCE_MS) <= now);
}

fn let_out_if(session: &TaskSession, is_due: impl Fn(&Tail, UnixMillis) -> bool) {
    if session.held.tails.borrow().is_empty() {
        return;
    }
    let redaction = session.held.redaction();
    let mut parts = Vec::new();
    for (id, (tail, since)) in session.held.tails.borrow_mut().iter_mut() {
        if is_due(tail, *since) {
            parts.extend(redaction.let_out(tail).map(|part| (id.clone(), part)));
        }
    }
    for (id, part) in parts {
        let artifact = Artifact { name: None, ..Artifact::new(id, part) };
        let held = session.run.is_repeated().then_some(HeldText { chars: 0 });
        let (append, last_chunk, metadata) = (true, false, None);
        // Refused for a task that has ended meanwhile.
        let _ = session.step(Input::Artifact { artifact, append, last_chunk, metadata, held });
    }
}

/// For how long an artifact has to be silent before what is held back of it is let out, in milliseconds.
const SILENCE_MS: u64 = 200;
