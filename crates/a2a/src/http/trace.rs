//! W3C Trace Context: reads the trace of a request, and passes it on to other requests.

use serde::Serialize;

use crate::model::decode::{Decode, Fields};

/// The trace of a request, from its headers `traceparent` and `tracestate`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TraceContext {
    /// `traceparent` of version 00.
    parent: String,
    /// `tracestate`, within [`MAX_STATE_BYTES`].
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<String>,
}

impl TraceContext {
    /// Reads the two headers; several headers `tracestate` are joined by commas. `None` without a valid `traceparent`:
    /// there is no trace to continue. An invalid `tracestate` is left out.
    pub fn read(traceparent: &str, tracestate: Option<&str>) -> Option<Self> {
        let parent = parent(traceparent)?;
        Some(Self { parent, state: tracestate.and_then(state) })
    }

    /// The id of the trace: 32 hexadecimal digits.
    pub fn trace_id(&self) -> &str {
        self.parent.get(3..35).unwrap_or_default()
    }

    /// A new trace whose first span has this id. Both ids must have their form: 32 and 16 hexadecimal digits in lower case,
    /// not all 0; otherwise `None`.
    pub fn begin(trace_id: &str, span: &str, is_sampled: bool) -> Option<Self> {
        Self::read(&format!("00-{trace_id}-{span}-0{}", u8::from(is_sampled)), None)
    }

    /// The id of the parent span: 16 hexadecimal digits.
    pub fn span_id(&self) -> &str {
        self.parent.get(36..52).unwrap_or_default()
    }

    /// True if the caller records the trace, and asks those it calls to record it, too.
    pub fn is_sampled(&self) -> bool {
        self.parent.ends_with(['1', '3'])
    }

    /// The header `traceparent`.
    pub fn traceparent(&self) -> &str {
        &self.parent
    }

    /// The header `tracestate`, if there is one.
    pub fn tracestate(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// The headers of the trace, with names in lower case.
    pub fn headers(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let state = self.tracestate().map(|state| ("tracestate", state));
        std::iter::once(("traceparent", self.traceparent())).chain(state)
    }

    /// The same trace for a request of this program, whose span has this id: 16 hexadecimal digits in lower case, not
    /// all 0. If `span` is not such an id, the request counts as part of the client's span.
    #[must_use]
    pub fn within(&self, span: &str) -> Self {
        if !is_id(span, 16) {
            return self.clone();
        }
        let flags = self.parent.get(53..55).unwrap_or("00");
        let parent = format!("00-{}-{span}-{flags}", self.trace_id());
        Self { parent, state: self.state.clone() }
    }
}

impl Decode for TraceContext {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let (parent, state) = (fields.string("parent"), fields.string("state"));
        Self::read(&parent?, state.as_deref())
    }
}

/// A `traceparent` of version 00 with the same content. Additional content of later versions is dropped.
fn parent(text: &str) -> Option<String> {
    let text = text.trim_matches([' ', '\t']);
    if text.len() > MAX_PARENT_BYTES {
        return None;
    }
    let mut fields = text.split('-');
    let mut field = || fields.next();
    let (version, trace, span, flags) = (field()?, field()?, field()?, field()?);
    let is_version = is_hex(version, 2) && version != "ff";
    if !is_version || !is_id(trace, 32) || !is_id(span, 16) || !is_hex(flags, 2) {
        return None;
    }
    if version == "00" && field().is_some() {
        return None;
    }
    // The flags for a sampled trace and for a random trace id; other bits have no meaning yet.
    let flags = u8::from_str_radix(flags, 16).ok()? & 0b11;
    Some(format!("00-{trace}-{span}-{flags:02x}"))
}

/// A valid `tracestate`, without the entries that exceed the size limit.
fn state(text: &str) -> Option<String> {
    if text.len() > MAX_READ_BYTES {
        return None;
    }
    let entries = text.split(',').map(|entry| entry.trim_matches([' ', '\t']));
    let mut entries: Vec<&str> = entries.filter(|entry| !entry.is_empty()).collect();
    if entries.is_empty() || entries.len() > MAX_ENTRIES {
        return None;
    }
    let mut keys = Vec::with_capacity(entries.len());
    for entry in &entries {
        let (key, value) = entry.split_once('=')?;
        if !is_key(key) || !is_value(value) || keys.contains(&key) {
            return None;
        }
        keys.push(key);
    }
    let size = |entries: &[&str]| entries.iter().map(|entry| entry.len() + 1).sum::<usize>();
    // The specification drops long entries first, and then those at the end.
    if size(&entries) > MAX_STATE_BYTES {
        entries.retain(|entry| entry.len() <= LONG_ENTRY_BYTES);
    }
    while size(&entries) > MAX_STATE_BYTES {
        entries.pop();
    }
    if entries.is_empty() { None } else { Some(entries.join(",")) }
}

/// Whether a text is a key: 1 to 256 lower-case letters, digits and some signs, beginning with a letter or a digit, with
/// at most one `@`.
fn is_key(key: &str) -> bool {
    let is_begun =
        |part: &str| part.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    let is_made = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-*/".contains(c);
    let is_part = |part: &str| is_begun(part) && part.chars().all(is_made);
    key.len() <= 256
        && match key.split_once('@') {
            None => is_part(key),
            Some((tenant, system)) => {
                is_part(tenant) && tenant.len() <= 241 && is_part(system) && system.len() <= 14
            }
        }
}

/// Whether a text is a value: 1 to 256 visible ASCII characters and spaces, without comma and `=`, and without a space
/// at the end.
fn is_value(value: &str) -> bool {
    let is_made = |c: char| matches!(c, ' '..='~') && c != ',' && c != '=';
    !value.is_empty() && value.len() <= 256 && value.chars().all(is_made) && !value.ends_with(' ')
}

fn is_id(text: &str, digits: usize) -> bool {
    is_hex(text, digits) && text.bytes().any(|digit| digit != b'0')
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|c| c.is_ascii_digit() || (b'a'..=b'f').contains(&c))
}

/// The longest `traceparent` that is read, in bytes. Version 00 has 55 bytes.
const MAX_PARENT_BYTES: usize = 512;

/// The longest `tracestate` that is read, in bytes.
const MAX_READ_BYTES: usize = 4096;

/// The longest `tracestate` that is passed on, in bytes: the minimum of the specification.
const MAX_STATE_BYTES: usize = 512;

/// Entries longer than this are dropped first, in bytes.
const LONG_ENTRY_BYTES: usize = 128;

/// The largest number of entries in a `tracestate`.
const MAX_ENTRIES: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::decode::read_json;

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_valid_parent_is_taken_over() {
        for (given, taken) in [
            (PARENT.to_owned(), PARENT.to_owned()),
            (format!("  {PARENT}\t"), PARENT.to_owned()),
            // Headers of later versions, with and without additional content.
            (PARENT.replacen("00", "cc", 1), PARENT.to_owned()),
            (format!("{}-what-else", PARENT.replacen("00", "01", 1)), PARENT.to_owned()),
            (PARENT.replace("-01", "-ff"), PARENT.replace("-01", "-03")),
            (PARENT.replace("-01", "-00"), PARENT.replace("-01", "-00")),
        ] {
            let read = TraceContext::read(&given, None);
            assert_eq!(
                read.as_ref().map(TraceContext::traceparent),
                Some(taken.as_str()),
                "{given}"
            );
        }
    }

    #[test]
    fn what_is_no_parent_begins_no_trace() {
        let zero = |digits: usize| "0".repeat(digits);
        for given in [
            String::new(),
            "00".to_owned(),
            PARENT.to_ascii_uppercase(),
            PARENT.replacen("00", "ff", 1),
            PARENT.replacen("00", "0", 1),
            format!("{PARENT}-"),
            format!("{PARENT}-00"),
            format!("{PARENT}, {PARENT}"),
            PARENT.replace("4bf92f3577b34da6a3ce929d0e0e4736", &zero(32)),
            PARENT.replace("00f067aa0ba902b7", &zero(16)),
            PARENT.replace("4bf9", "4bg9"),
            PARENT.replace("4bf9", "4bf"),
            PARENT.replace("-01", "-1"),
            PARENT.replace("-01", "-+1"),
            PARENT.replace("4bf9", "４bf9"),
            PARENT.replace('-', "_"),
            format!("{}{}", PARENT.replacen("00", "01", 1), "-x".repeat(300)),
        ] {
            assert_eq!(TraceContext::read(&given, Some("a=b")), None, "{given}");
        }
    }

    #[test]
    fn a_state_is_taken_over_if_it_is_valid() {
        let taken = |given: &str| {
            let read = TraceContext::read(PARENT, Some(given)).expect("a valid parent");
            read.tracestate().map(str::to_owned)
        };
        for (given, expected) in [
            ("congo=t61rcWkgMzE", "congo=t61rcWkgMzE"),
            ("a=1, b=2 ,\tc=x y", "a=1,b=2,c=x y"),
            ("a=1,,b=2,", "a=1,b=2"),
            ("0t@v-1*/_=!\"#", "0t@v-1*/_=!\"#"),
        ] {
            assert_eq!(taken(given).as_deref(), Some(expected), "{given}");
        }
        let many = (0..33).map(|n| format!("k{n}=v")).collect::<Vec<_>>().join(",");
        let long_value = format!("a={}", "x".repeat(257));
        for given in [
            "",
            ",",
            "a",
            "a=",
            "=b",
            "A=b",
            "a=b=c",
            "a=1,a=2",
            "a@b@c=1",
            "@b=1",
            "a=é",
            "a=\u{7f}",
            "a b=c",
            many.as_str(),
            long_value.as_str(),
        ] {
            assert_eq!(taken(given), None, "{given}");
        }
    }

    #[test]
    fn a_long_state_is_shortened_by_whole_entries() {
        let entry = |key: &str, length: usize| format!("{key}={}", "v".repeat(length));
        let short: Vec<String> = (0..9).map(|n| entry(&format!("s{n}"), 60)).collect();
        let long = [short[0].clone(), entry("long", 200), short[1..].join(",")].join(",");
        let read = TraceContext::read(PARENT, Some(&long)).unwrap();
        let expected = short[..8].join(",");
        assert_eq!(read.tracestate(), Some(expected.as_str()));
        assert!(expected.len() <= MAX_STATE_BYTES);
        let oversized = [entry("a", 60), "x".repeat(5_000)].join(",");
        assert_eq!(TraceContext::read(PARENT, Some(&oversized)).unwrap().tracestate(), None);
    }

    #[test]
    fn a_request_of_ours_is_a_span_of_the_same_trace() {
        let context = TraceContext::read(PARENT, Some("a=1")).unwrap();
        let child = context.within("00000000000000ab");
        assert_eq!(child.traceparent(), "00-4bf92f3577b34da6a3ce929d0e0e4736-00000000000000ab-01");
        assert_eq!((child.trace_id(), child.tracestate()), (context.trace_id(), Some("a=1")));
        for none in ["", "0000000000000000", "AB00000000000000", "id-1"] {
            assert_eq!(context.within(none), context, "{none}");
        }
    }

    #[test]
    fn a_trace_that_begins_has_its_ids_and_its_flag() {
        let (trace, span) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
        for is_sampled in [true, false] {
            let begun = TraceContext::begin(trace, span, is_sampled).unwrap();
            assert_eq!((begun.trace_id(), begun.span_id()), (trace, span));
            assert_eq!(begun.is_sampled(), is_sampled);
        }
        let random = TraceContext::read(&PARENT.replace("-01", "-03"), None).unwrap();
        assert!(random.is_sampled());
        let random = TraceContext::read(&PARENT.replace("-01", "-02"), None).unwrap();
        assert!(!random.is_sampled());
        assert_eq!(TraceContext::begin(span, span, true), None);
    }

    #[test]
    fn contexts_are_read_as_they_were_written() {
        for state in [None, Some("a=1,b=2")] {
            let context = TraceContext::read(PARENT, state).unwrap();
            let text = serde_json::to_string(&context).unwrap();
            assert_eq!(read_json::<TraceContext>(&text).unwrap(), context);
        }
        assert!(read_json::<TraceContext>(r#"{"parent": "00-x"}"#).is_err());
    }
}
