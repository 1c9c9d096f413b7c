//! Bodies that were posted to callbacks stand in the log once. Where an event gives one on as it came, or one is posted
//! again, the stored line names the place of the first instead. `STORAGE.md` has the form; only `journal/` sees it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::port::StoreError;
use crate::task::LogEntry;
use a2a::model::{Part, PartContent, encode};

/// A piece of the log as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Passage {
    /// The first row of its batch.
    pub(in crate::session) row: u64,
    /// Where it begins in the lines of the batch, in bytes.
    pub(in crate::session) start: usize,
    /// How long it is, in bytes.
    pub(in crate::session) bytes: usize,
}

/// Where the bodies of a log stand, and the entries that are not stored yet in the form in which they will be.
#[derive(Default)]
pub(super) struct Passages {
    known: BTreeMap<(usize, u64), Passage>,
    /// The bodies in entries that are not stored yet: what is looked for, and where they begin.
    new: Vec<((usize, u64), usize)>,
    /// The entries that are not stored yet, if one of them names a place.
    folded: Option<String>,
}

impl Passages {
    /// Whether no body is known.
    pub(in crate::session) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Where this content seems to stand. What stands there is to be compared.
    pub(in crate::session) fn find(&self, content: &str) -> Option<Passage> {
        self.known.get(&key(content)).copied()
    }

    /// The stored lines of a batch have this content of a body.
    pub(in crate::session) fn note(&mut self, content: &str, row: u64, start: usize) {
        self.known.entry(key(content)).or_insert(Passage { row, start, bytes: content.len() });
    }

    /// A line is added behind those that are not stored yet, which are `before`. `folded` is its stored form if that is another
    /// one, `bodies` the contents of bodies in it otherwise.
    pub(in crate::session) fn push(
        &mut self,
        before: &str,
        line: &str,
        folded: Option<&str>,
        bodies: &[String],
    ) {
        let start = self.folded.as_deref().unwrap_or(before).len();
        let found = bodies.iter().filter_map(|body| Some((key(body), start + line.find(body)?)));
        self.new.extend(found);
        if folded.is_some() && self.folded.is_none() {
            self.folded = Some(before.to_owned());
        }
        if let Some(lines) = &mut self.folded {
            lines.push_str(folded.unwrap_or(line));
            lines.push('\n');
        }
    }

    /// The lines that are to be stored, if they are others than those that were added.
    pub(super) fn take_folded(&mut self) -> Option<String> {
        self.folded.take()
    }

    /// The lines that were added are stored, as a batch that begins in this row.
    pub(super) fn stored_in(&mut self, row: u64) {
        for (key, start) in self.new.drain(..) {
            self.known.entry(key).or_insert(Passage { row, start, bytes: key.0 });
        }
    }
}

fn key(content: &str) -> (usize, u64) {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    (content.len(), hasher.finish())
}

/// The contents of an entry that may stand elsewhere, each as the member that it is in the JSON of its part.
pub(super) fn contents(entry: &LogEntry) -> Vec<String> {
    match entry {
        LogEntry::StatusUpdate(event) => {
            event.status.message.as_ref().map_or_else(Vec::new, |said| contents_of(&said.parts))
        }
        LogEntry::ArtifactUpdate(event) => contents_of(&event.artifact.parts),
        LogEntry::Called(call) => contents_of(std::slice::from_ref(&call.body)),
        LogEntry::Task(_)
        | LogEntry::Message(_)
        | LogEntry::Run(_)
        | LogEntry::Step(_)
        | LogEntry::Held(_)
        | LogEntry::Taken
        | LogEntry::Parked(_)
        | LogEntry::Woken(_)
        | LogEntry::Ended
        | LogEntry::Callback(_) => Vec::new(),
    }
}

/// As [`contents`], of parts.
pub(super) fn contents_of(parts: &[Part]) -> Vec<String> {
    let large = parts.iter().filter(|part| length_of(&part.content) >= LEAST_BYTES);
    let encoded = large.filter_map(|part| encode(&part.content).ok());
    let members =
        encoded.filter_map(|object| Some(object.strip_prefix('{')?.strip_suffix('}')?.to_owned()));
    members.collect()
}

fn length_of(content: &PartContent) -> usize {
    match content {
        PartContent::Text(text) | PartContent::Url(text) => text.len(),
        PartContent::Raw(bytes) => bytes.as_str().len(),
        PartContent::Data(data) => data.as_str().len(),
    }
}

/// What stands for a passage. JSON has no control characters, so it is nothing else.
pub(super) fn reference(passage: Passage) -> String {
    let Passage { row, start, bytes } = passage;
    format!("{MARK}{row} {start} {bytes}{MARK}")
}

/// Stored lines with what their references stand for, which `read` gives.
///
/// # Errors
///
/// If `read` fails, or a reference is none.
pub(super) fn unfold<'l>(
    lines: &'l str,
    read: &dyn Fn(Passage) -> Result<String, StoreError>,
) -> Result<Cow<'l, str>, StoreError> {
    if !lines.contains(MARK) {
        return Ok(Cow::Borrowed(lines));
    }
    let mut whole = String::with_capacity(lines.len());
    // What is between two marks is a reference.
    for (index, piece) in lines.split(MARK).enumerate() {
        if index % 2 == 0 {
            whole.push_str(piece);
            continue;
        }
        let unreadable = || StoreError::Unreadable(format!("the log names no place by {piece:?}"));
        whole.push_str(&read(parse(piece).ok_or_else(unreadable)?)?);
    }
    Ok(Cow::Owned(whole))
}

fn parse(reference: &str) -> Option<Passage> {
    let mut numbers = reference.split(' ');
    let row = numbers.next()?.parse().ok()?;
    let start = numbers.next()?.parse().ok()?;
    let bytes = numbers.next()?.parse().ok()?;
    numbers.next().is_none().then_some(Passage { row, start, bytes })
}

/// Stands around a reference.
const MARK: char = '\u{1a}';

/// Contents shorter than this are not looked for, in bytes: to name their place would save little.
const LEAST_BYTES: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_as_they_were_written() {
        let passage = Passage { row: 3, start: 70, bytes: 1_024 };
        let lines = format!("a{{{}}}\nb{}\n", reference(passage), reference(passage));
        let read = |asked| {
            assert_eq!(asked, passage);
            Ok("\"text\":\"x\"".to_owned())
        };
        assert_eq!(unfold(&lines, &read).unwrap(), "a{\"text\":\"x\"}\nb\"text\":\"x\"\n");
        assert_eq!(unfold("plain\n", &|_| panic!("nothing is read")).unwrap(), "plain\n");
        for wrong in ["\u{1a}1 2\u{1a}", "\u{1a}1 2 3 4\u{1a}", "\u{1a}a b c\u{1a}", "\u{1a}1 2 3"]
        {
            let read = |_| Err(StoreError::Failed("there is no such row".to_owned()));
            assert!(unfold(wrong, &read).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn contents_are_found_in_the_json_of_their_parts() {
        let long = "\u{1a}\"é\n".repeat(100);
        for part in [
            Part::text(long.as_str()).with_media_type("text/plain"),
            Part::raw(long.as_bytes(), "image/png"),
            Part::data(serde_json::json!({"a": [long]})).with_filename("f"),
        ] {
            let found = contents_of(std::slice::from_ref(&part));
            let json = encode(&part).unwrap();
            assert_eq!(found.len(), 1);
            assert_eq!(json.find(&found[0]), Some(1), "{json}");
            assert!(!json.contains(MARK));
        }
        assert!(contents_of(&[Part::text("short")]).is_empty());
    }
}
