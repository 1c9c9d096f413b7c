//! The body of a post to a callback is stored once in the log. If an event contains the same body, or the body is posted again, the
//! stored line has a reference to the first place instead. `STORAGE.md` has the form, which only `journal/` handles.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::port::StoreError;
use crate::task::LogEntry;
use a2a::model::{Part, PartContent, encode};
use a2a::sorted::SortedMap;

/// A part of the stored log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Passage {
    /// The first row of its batch.
    pub(in crate::session) row: u64,
    /// The offset of the part in the lines of the batch, in bytes.
    pub(in crate::session) start: usize,
    /// The length of the part, in bytes.
    pub(in crate::session) bytes: usize,
}

/// The places of callback bodies in the log, and the unsaved entries in their stored form.
#[derive(Default)]
pub(super) struct Passages {
    known: SortedMap<(usize, u64), Passage>,
    /// The bodies in unsaved entries: the key and the offset of each.
    new: Vec<((usize, u64), usize)>,
    /// The unsaved entries in their stored form, if one of them has a reference.
    folded: Option<String>,
}

impl Passages {
    /// True if no body is known.
    pub(in crate::session) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The passage with the length and the hash of the content. The caller must compare the texts.
    pub(in crate::session) fn find(&self, content: &str) -> Option<Passage> {
        self.known.get(&key(content)).copied()
    }

    /// Records the place of a body in a stored batch.
    pub(in crate::session) fn note(&mut self, content: &str, row: u64, start: usize) {
        self.known.get_or_insert_with(key(content), || Passage {
            row,
            start,
            bytes: content.len(),
        });
    }

    /// Adds a line to the unsaved lines `before`. `folded` is the stored form of the line if it has references; otherwise `bodies` are the
    /// callback bodies in the line.
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

    /// Takes the unsaved lines in their stored form, if that differs from the added lines.
    pub(super) fn take_folded(&mut self) -> Option<String> {
        self.folded.take()
    }

    /// Records that the added lines are stored as a batch that begins in this row.
    pub(super) fn stored_in(&mut self, row: u64) {
        for (key, start) in self.new.drain(..) {
            self.known.get_or_insert_with(key, || Passage { row, start, bytes: key.0 });
        }
    }
}

fn key(content: &str) -> (usize, u64) {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    (content.len(), hasher.finish())
}

/// The contents of an entry that may be replaced by references, each as its member in the JSON of its part.
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

/// The reference to a passage, which begins with a control character that JSON text cannot contain.
pub(super) fn reference(passage: Passage) -> String {
    let Passage { row, start, bytes } = passage;
    format!("{MARK}{row} {start} {bytes}{MARK}")
}

/// Stored lines with their references replaced by the texts that `read` returns.
///
/// # Errors
///
/// If `read` fails, or a reference cannot be parsed.
pub(super) fn unfold<'l>(
    lines: &'l str,
    read: &dyn Fn(Passage) -> Result<String, StoreError>,
) -> Result<Cow<'l, str>, StoreError> {
    if !lines.contains(MARK) {
        return Ok(Cow::Borrowed(lines));
    }
    let mut whole = String::with_capacity(lines.len());
    // The text between two marks is a reference.
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

/// The mark before and after a reference.
const MARK: char = '\u{1a}';

/// The smallest content that is replaced by a reference, in bytes: a reference to a shorter content would save little.
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
