//! Redaction of a run's events on their way into the task: secrets are replaced by their names, and the end of a text that may be
//! the beginning of a secret is held back in memory until more text shows if it is a secret. Held-back text is released when the
//! artifact ends, when the run asks its client, is parked or ends, at a cancel, and when its artifact got no text for 200 ms.
//!
//! # The way of an event
//!
//! ```text
//! Events ──> RunTask::emit ──> secrets replaced, the end held back   session/run/held.rs, executor/redaction/
//!                               emitted before? (a resumed run)       Recall
//!                               TaskMachine::step ──> journal, row, followers
//! ```
//!
//! - Every event of every executor passes `Held::hear`; later code does not handle secrets. `Secrets::scan` reads a text once: it
//!   finds the secrets from left to right (the longest secret at each place), and the position from which the rest of the text
//!   may be the beginning of a secret. If the run has read no secrets, texts are not scanned; a chunk whose end is not the
//!   beginning of a secret passes unchanged.
//! - For each artifact, `Tail` stores in memory the end of its text, and the length of the part of that end that was released. So
//!   text that was released although it could be the beginning of a secret is scanned again together with the next chunk, and a
//!   secret that the next chunk completes is found.
//! - `held::let_out` is called when no more text of an artifact is expected at present: before a question, an end, a cancel and a
//!   park, and after the last poll of a run. `Flushing` has the timer of the 200 ms, which is set only while a short text is held
//!   back.
//! - Each chunk of a run is an event, even with an empty text, so a resumed run is compared event by event. `held` in the log is
//!   the number of characters of a chunk that were not released; 0 for an event that releases held-back text and was not emitted by
//!   the run. The resumed run emits the held-back text again. A run that takes up its task (`Turn::take_up`: models, HTTP agents,
//!   remotes) is not compared: it writes no `held`, and no event for a chunk that is completely held back.
//! - `Turn::task` includes held-back text: otherwise an executor that emits the missing content of its task would emit that
//!   text twice.

use std::cell::RefCell;
use std::rc::Rc;

use crate::executor::{Emission, Redaction, Tail};
use crate::session::TaskSession;
use crate::task::{HeldText, Input};
use a2a::model::{Artifact, Part, Task, UnixMillis};
use a2a::sorted::SortedMap;

/// The secrets of a run, and the held-back ends of its artifacts.
#[derive(Default)]
pub(in crate::session) struct Held {
    redaction: RefCell<Rc<Redaction>>,
    /// The ends of artifacts that may be beginnings of secrets, by artifact id, with the instant at which they arrived.
    tails: RefCell<SortedMap<String, (Tail, UnixMillis)>>,
}

/// An event of a run after redaction.
pub(super) struct Heard {
    /// The part that is released.
    pub(super) emission: Emission,
    /// The end of the artifact, if the event is a chunk.
    pub(in crate::session) end: Option<End>,
}

/// The end of an artifact after a chunk.
pub(super) struct End {
    id: String,
    before: Option<Tail>,
    tail: Option<Tail>,
    /// The parts before redaction, of a chunk that an earlier attempt may have emitted.
    said: Vec<Part>,
    /// True if the whole text of the chunk is held back.
    is_silent: bool,
}

impl Held {
    /// Removes the secrets and the ends of artifacts of the earlier run.
    pub(super) fn begin(&self) {
        self.redaction.take();
        self.tails.take();
    }

    /// The secrets that the run has read.
    pub(super) fn redaction(&self) -> Rc<Redaction> {
        Rc::clone(&self.redaction.borrow())
    }

    /// Redacts an event. The end of its artifact is stored only by [`keep`](Self::keep) or [`recall`](Self::recall). `repeats`:
    /// true if an earlier attempt may have emitted the event.
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

    /// Stores the end of an artifact, after the task has accepted the chunk.
    pub(super) fn keep(&self, end: End, now: UnixMillis) {
        self.set(end.id, end.tail, now);
    }

    /// Stores the end of an artifact after a chunk that an earlier attempt has already emitted. The last `held` characters of the
    /// text were not emitted.
    pub(super) fn recall(&self, end: End, held: usize, now: UnixMillis) {
        let tail = self.redaction().recalled(end.before, &end.said, held);
        self.set(end.id, tail, now);
    }

    /// The next instant at which held-back text is released because its artifact got no text.
    pub(super) fn due(&self) -> Option<UnixMillis> {
        let tails = self.tails.borrow();
        let waiting = tails.values().filter(|(tail, _)| tail.held_chars() > 0 && !tail.is_long());
        waiting.map(|(_, since)| since.after(SILENCE_MS)).min()
    }

    /// Adds the held-back texts to a copy of the task.
    pub(super) fn complete(&self, task: &mut Task) {
        for artifact in &mut task.artifacts {
            if let Some(tail) =
                self.tail(&artifact.artifact_id).filter(|tail| tail.held_chars() > 0)
            {
                tail.put_behind(&mut artifact.parts);
            }
        }
    }

    /// Takes texts to release, each with the id of its artifact.
    fn let_out(&self, which: LetOut) -> Vec<(String, Part)> {
        let mut tails = self.tails.borrow_mut();
        let mut parts = Vec::new();
        if tails.is_empty() {
            return parts;
        }
        let redaction = self.redaction();
        for (id, (tail, since)) in tails.iter_mut() {
            if which.is_due(tail, *since) {
                parts.extend(redaction.let_out(tail).map(|part| (id.clone(), part)));
            }
        }
        parts
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
    /// The entry for the log: the number of characters held back, if any.
    pub(in crate::session) fn text(&self) -> Option<HeldText> {
        let chars = self.tail.as_ref().map_or(0, Tail::held_chars);
        (chars > 0).then_some(HeldText { chars })
    }

    /// True if the whole text of the chunk is held back and the task already has the artifact. Such a chunk is no event.
    pub(super) fn is_all_held(&self, task: &Task) -> bool {
        self.is_silent
            && self.text().is_some()
            && task.artifacts.iter().any(|known| known.artifact_id == self.id)
    }
}

/// True if a chunk has nothing but empty text.
fn is_empty(chunk: &Artifact) -> bool {
    let Artifact { name, description, parts, metadata, extensions, .. } = chunk;
    (name, description, metadata) == (&None, &None, &None)
        && extensions.is_empty()
        && parts.iter().all(|part| *part == Part::text(""))
}

/// The texts to release.
#[derive(Clone, Copy)]
pub(in crate::session) enum LetOut {
    /// All held-back texts.
    All,
    /// The short held-back texts of artifacts that got no text in the 200 ms before this instant.
    Silent(UnixMillis),
}

impl LetOut {
    fn is_due(self, tail: &Tail, since: UnixMillis) -> bool {
        match self {
            Self::All => true,
            Self::Silent(now) => !tail.is_long() && since.after(SILENCE_MS) <= now,
        }
    }
}

/// Releases held-back texts as events of the task.
pub(in crate::session) fn let_out(session: &TaskSession, which: LetOut) {
    for (id, part) in session.run.held.let_out(which) {
        let artifact = Artifact { name: None, ..Artifact::new(id, part) };
        let held = session.run.is_repeated().then_some(HeldText { chars: 0 });
        let (append, last_chunk, metadata) = (true, false, None);
        // The step is refused if the task has ended meanwhile.
        let _ = session.step(Input::Artifact { artifact, append, last_chunk, metadata, held });
    }
}

/// The time without new text of an artifact after which its held-back text is released, in milliseconds.
const SILENCE_MS: u64 = 200;
