//! Redacts text that arrives in pieces: adjacent parts, and chunks of an artifact. If the end of the text may be the
//! beginning of a secret, the end is held back until more text arrives. If it must be released earlier, the [`Tail`]
//! records this, and following text that would complete the secret is not released.

use std::ops::Range;

use super::Redaction;
use super::secrets::Found;
use a2a::model::{Part, PartContent};

/// The end of a text, which may be the beginning of a secret.
#[derive(Clone)]
pub(crate) struct Tail {
    text: String,
    /// The number of bytes of `text` that were released.
    shown: usize,
    /// The part that the text belongs to, without its text.
    shape: Part,
}

impl Tail {
    /// The text that is not released.
    fn held(&self) -> &str {
        self.text.get(self.shown..).unwrap_or_default()
    }

    /// The number of characters that are not released.
    pub(crate) fn held_chars(&self) -> usize {
        self.held().chars().count()
    }

    /// True if the tail has [`LONG_CHARS`] characters of a possible secret or more: it must not be released merely
    /// because no more text arrives.
    pub(crate) fn is_long(&self) -> bool {
        self.text.chars().count() >= LONG_CHARS
    }

    /// Appends the unreleased text to the parts in front of it, as in the original message.
    pub(crate) fn put_behind(&self, parts: &mut Vec<Part>) {
        let held = self.held();
        let said = parts.last().and_then(Part::as_text).map(|text| format!("{text}{held}"));
        match parts.last_mut() {
            Some(last) if said.is_some() && shape_of(last) == self.shape => {
                *last = with_text(&self.shape, said.unwrap_or_default());
            }
            _ => parts.push(with_text(&self.shape, held.to_owned())),
        }
    }
}

impl Redaction {
    /// The redacted parts that can be released, and the end that may be the beginning of a secret. The parts continue
    /// the text that ends with `before`. If `is_last`, nothing is held back.
    pub(crate) fn chunk(
        &self,
        before: Option<Tail>,
        parts: Vec<Part>,
        is_last: bool,
    ) -> (Vec<Part>, Option<Tail>) {
        if self.is_empty() && before.is_none() {
            return (parts, None);
        }
        let mut out = Vec::with_capacity(parts.len() + 1);
        let mut side_by_side = Vec::new();
        let mut before = before;
        for part in parts {
            if part.as_text().is_some() {
                side_by_side.push(part);
                continue;
            }
            self.texts(before.take(), std::mem::take(&mut side_by_side), true, &mut out);
            out.push(self.part(part));
        }
        let tail = self.texts(before, side_by_side, is_last, &mut out);
        (out, tail)
    }

    /// Redacts adjacent texts and appends them to `out`; if `is_last`, completely. Returns the end that may be the
    /// beginning of a secret.
    fn texts(
        &self,
        before: Option<Tail>,
        parts: Vec<Part>,
        is_last: bool,
        out: &mut Vec<Part>,
    ) -> Option<Tail> {
        let secrets = self.secrets.borrow();
        if let (None, [Part { content: PartContent::Text(text), .. }]) = (&before, &*parts) {
            let scan = secrets.scan(text.as_bytes());
            if scan.found.is_empty() && scan.open == text.len() {
                out.extend(parts.into_iter().map(|part| self.around(part)));
                return None;
            }
        }
        let is_behind = before.is_some();
        let (mut text, shown) = (String::new(), before.as_ref().map_or(0, |tail| tail.shown));
        // Each part without its text, and the position where its text ends.
        let mut shapes = Vec::with_capacity(parts.len() + 1);
        if let Some(tail) = before {
            text = tail.text;
            shapes.push((tail.shape, text.len()));
        }
        for part in parts {
            text.push_str(part.as_text().unwrap_or_default());
            shapes.push((self.around(shape_of(&part)), text.len()));
        }
        let scan = secrets.scan(text.as_bytes());
        let (mut found, open) = (scan.found, scan.open);
        let mut cut = open.max(shown);
        if is_last {
            found.extend(secrets.scan_end(text.as_bytes(), open));
            cut = text.len();
        }
        let pieces = pieces(&found, shown..cut);
        let mut start = 0;
        for (at, (shape, end)) in shapes.iter().enumerate() {
            let said = said(&text, &pieces, start..*end);
            start = *end;
            match out.last_mut() {
                // Text that was held back is joined with the next part, if both have the same kind.
                Some(last) if is_behind && at == 1 && shape_of(last) == *shape => {
                    let held = last.as_text().unwrap_or_default();
                    *last = with_text(shape, format!("{held}{said}"));
                }
                _ if is_behind && at == 0 && said.is_empty() => {}
                _ => out.push(with_text(shape, said)),
            }
        }
        let holder = shapes.iter().find(|(_, end)| *end > cut).or(shapes.last());
        let shape = holder.map(|(shape, _)| shape.clone())?;
        let tail = Tail { text: text.get(open..)?.to_owned(), shown: cut - open, shape };
        Some(tail).filter(|tail| !tail.text.is_empty())
    }

    /// Releases the text that is held back, and records this in the tail.
    pub(crate) fn let_out(&self, tail: &mut Tail) -> Option<Part> {
        let whole = tail.shown..tail.text.len();
        if whole.is_empty() {
            return None;
        }
        tail.shown = whole.end;
        let secrets = self.secrets.borrow();
        let pieces = pieces(&secrets.scan_end(tail.text.as_bytes(), 0), whole.clone());
        Some(with_text(&tail.shape, said(&tail.text, &pieces, whole)))
    }

    /// The tail of a text that an earlier attempt has emitted without its last `held` characters.
    pub(crate) fn recalled(
        &self,
        before: Option<Tail>,
        parts: &[Part],
        held: usize,
    ) -> Option<Tail> {
        let broken = parts.iter().rposition(|part| part.as_text().is_none());
        let parts = parts.get(broken.map_or(0, |at| at + 1)..).unwrap_or_default();
        let before = before.filter(|_| broken.is_none());
        let known = before.as_ref().map(|tail| tail.shape.clone());
        let mut text = before.map_or_else(String::new, |tail| tail.text);
        parts.iter().filter_map(Part::as_text).for_each(|more| text.push_str(more));
        let shown = text.char_indices().rev().take(held).last().map_or(text.len(), |(at, _)| at);
        let open = self.secrets.borrow().scan(text.as_bytes()).open.min(shown);
        let shape = parts.last().map(|part| self.around(shape_of(part))).or(known)?;
        let tail = Tail { text: text.get(open..)?.to_owned(), shown: shown - open, shape };
        Some(tail).filter(|tail| !tail.text.is_empty())
    }
}

/// A piece of a redacted text.
pub(super) enum Piece<'a> {
    /// The text in this range of bytes.
    Text(Range<usize>),
    /// The name of a secret, which replaces the secret at this position.
    Name(usize, &'a str),
}

/// The pieces of the range `part` of a text that contains these secrets. The text in front of the range was released
/// before.
pub(super) fn pieces<'a>(found: &[Found<'a>], part: Range<usize>) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    let mut at = part.start;
    for found in found.iter().filter(|found| found.end > part.start) {
        if found.at > at {
            pieces.push(Piece::Text(at..found.at));
        }
        pieces.push(Piece::Name(found.at.max(at), found.name));
        at = found.end;
    }
    if at < part.end {
        pieces.push(Piece::Text(at..part.end));
    }
    pieces
}

/// The text of the pieces that begin or lie within this range of bytes.
pub(super) fn said(text: &str, pieces: &[Piece<'_>], within: Range<usize>) -> String {
    let mut said = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(range) => {
                let range = range.start.max(within.start)..range.end.min(within.end);
                said.push_str(text.get(range).unwrap_or_default());
            }
            Piece::Name(at, name) if within.contains(at) => {
                said.extend(["[", name, "]"]);
            }
            Piece::Name(..) => {}
        }
    }
    said
}

/// A text part without its text.
fn shape_of(part: &Part) -> Part {
    let Part { metadata, filename, media_type, .. } = part.clone();
    Part { metadata, filename, media_type, ..Part::text("") }
}

fn with_text(shape: &Part, text: String) -> Part {
    Part { content: PartContent::Text(text.into()), ..shape.clone() }
}

/// From this number of characters on, a possible beginning of a secret is not released merely because no more text
/// arrives.
const LONG_CHARS: usize = 6;
