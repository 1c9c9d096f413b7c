//! Finds the secrets in a text, and the position from which the text may be the beginning of a secret. A pure
//! computation, in one pass from the left.

use a2a::model::Secret;
use a2a::sorted::sort_by;
use a2a_agents::forms_of_secret;

/// The registered secrets.
#[derive(Default)]
pub(super) struct Secrets {
    /// Each form of each secret (for example percent-encoded) with its name, the longest first.
    forms: Vec<(String, Secret)>,
    /// The set of first bytes of all forms, one bit for each byte value.
    firsts: [u64; 4],
}

/// A secret in a text; `at` and `end` are positions in bytes.
pub(super) struct Found<'a> {
    pub(super) at: usize,
    pub(super) end: usize,
    pub(super) name: &'a str,
}

/// The result of searching a text for secrets.
pub(super) struct Scan<'a> {
    /// The complete secrets, from the left, the longest at each position; they do not overlap.
    pub(super) found: Vec<Found<'a>>,
    /// The position at which the end of the text may be the beginning of a secret, so that more text is needed to
    /// decide. Without such an end, the length of the text.
    pub(super) open: usize,
}

impl Secrets {
    /// True if no secret is registered.
    pub(super) fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    /// Adds a secret, in all its forms. A short secret is ignored, because it would occur in too many texts by chance.
    pub(super) fn add(&mut self, name: &str, secret: &Secret) {
        let is_known = self.forms.iter().any(|(_, known)| known == secret);
        if secret.reveal().len() < MIN_BYTES || is_known {
            return;
        }
        let forms = forms_of_secret(secret).into_iter();
        self.forms.extend(forms.map(|form| (name.to_owned(), Secret::new(form))));
        sort_by(&mut self.forms, |(_, one), (_, other)| {
            other.reveal().len().cmp(&one.reveal().len())
        });
        for (_, form) in &self.forms {
            let first = form.reveal().bytes().next().unwrap_or_default();
            if let Some(bits) = self.firsts.get_mut(usize::from(first >> 6)) {
                *bits |= 1 << (first & 63);
            }
        }
    }

    /// Searches a text that may be continued.
    pub(super) fn scan(&self, text: &[u8]) -> Scan<'_> {
        self.look(text, 0, true)
    }

    /// The secrets in a text from this byte on; the text is complete.
    pub(super) fn scan_end(&self, text: &[u8], from: usize) -> Vec<Found<'_>> {
        self.look(text, from, false).found
    }

    fn look(&self, text: &[u8], from: usize, goes_on: bool) -> Scan<'_> {
        let mut found = Vec::new();
        let mut at = from;
        loop {
            let rest = text.get(at..).unwrap_or_default();
            let Some(skipped) = rest.iter().position(|byte| self.may_begin(*byte)) else { break };
            at += skipped;
            let rest = text.get(at..).unwrap_or_default();
            if goes_on && self.has_beginning(rest) {
                return Scan { found, open: at };
            }
            match self.longest(rest) {
                Some((name, length)) => {
                    found.push(Found { at, end: at + length, name });
                    at += length;
                }
                None => at += 1,
            }
        }
        Scan { found, open: text.len() }
    }

    fn may_begin(&self, byte: u8) -> bool {
        let bits = self.firsts.get(usize::from(byte >> 6)).copied().unwrap_or_default();
        bits >> (byte & 63) & 1 == 1
    }

    /// True if a text is the beginning of a secret, but not the whole secret.
    fn has_beginning(&self, text: &[u8]) -> bool {
        let forms = self.forms.iter().map(|(_, form)| form.reveal().as_bytes());
        forms.take_while(|form| form.len() > text.len()).any(|form| form.starts_with(text))
    }

    /// The longest secret that a text begins with.
    fn longest(&self, text: &[u8]) -> Option<(&str, usize)> {
        let is_there = |form: &Secret| text.starts_with(form.reveal().as_bytes());
        let (name, form) = self.forms.iter().find(|(_, form)| is_there(form))?;
        Some((name, form.reveal().len()))
    }
}

/// The shortest secret that is replaced, in bytes.
const MIN_BYTES: usize = 8;
