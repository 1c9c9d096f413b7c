//! Where the secrets stand in a text, and from where on it may go on to one. Pure; one pass, from the left.

use a2a::model::Secret;
use a2a_agents::forms_of_secret;

/// The secrets that are kept out.
#[derive(Default)]
pub(super) struct Secrets {
    /// Each form of each secret with its name, the longest first.
    forms: Vec<(String, Secret)>,
    /// The bytes that a form begins with, a bit each.
    firsts: [u64; 4],
}

/// A secret in a text, by its place in bytes.
pub(super) struct Found<'a> {
    pub(super) at: usize,
    pub(super) end: usize,
    pub(super) name: &'a str,
}

/// What a text has of secrets.
pub(super) struct Scan<'a> {
    /// Those that are whole, from the left, the longest at each place; none begins within another.
    pub(super) found: Vec<Found<'a>>,
    /// From this byte on the text is the beginning of a secret, which more text decides; the length of the text
    /// if it ends with none.
    pub(super) open: usize,
}

impl Secrets {
    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    /// Adds a secret, in all its forms. A short one is left out: it would stand in too many texts by chance.
    pub(super) fn add(&mut self, name: &str, secret: &Secret) {
        let is_known = self.forms.iter().any(|(_, known)| known == secret);
        if secret.reveal().len() < MIN_BYTES || is_known {
            return;
        }
        let forms = forms_of_secret(secret).into_iter();
        self.forms.extend(forms.map(|form| (name.to_owned(), Secret::new(form))));
        self.forms.sort_by_key(|(_, form)| std::cmp::Reverse(form.reveal().len()));
        for (_, form) in &self.forms {
            let first = form.reveal().bytes().next().unwrap_or_default();
            if let Some(bits) = self.firsts.get_mut(usize::from(first >> 6)) {
                *bits |= 1 << (first & 63);
            }
        }
    }

    /// What a text has of secrets that goes on.
    pub(super) fn scan(&self, text: &[u8]) -> Scan<'_> {
        self.look(text, 0, true)
    }

    /// The secrets in a text from this byte on, behind which nothing comes.
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

    /// Whether a text is the beginning of a secret, and not all of it.
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

/// The shortest secret that is kept out, in bytes.
const MIN_BYTES: usize = 8;
