//! Reads server-sent events as they arrive, in any pieces (HTML standard §9.2.6).

use std::collections::VecDeque;

/// One server-sent event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// The event type (`event:`); empty if the server sends none.
    pub event: String,
    /// The data: all lines of `data:`, joined by line breaks.
    pub data: String,
    /// The id that the server has sent with this event (`id:`); `None` if this event has no id of its own.
    pub id: Option<String>,
}

/// Reads events from the pieces of a body. The result does not depend on the borders of the pieces.
#[derive(Debug)]
pub struct SseReader {
    /// The incomplete line.
    line: Vec<u8>,
    /// The incomplete event.
    event: SseEvent,
    has_data: bool,
    /// True if the last line ended with CR, so that a following LF belongs to the same line end.
    is_after_cr: bool,
    is_first_line: bool,
    retry_ms: Option<u64>,
    max_bytes: usize,
    events: VecDeque<SseEvent>,
}

/// The error for an event above the reader's size limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

impl SseReader {
    /// A reader for events of up to this number of bytes.
    pub fn new(max_bytes: usize) -> Self {
        Self {
            line: Vec::new(),
            event: SseEvent::default(),
            has_data: false,
            is_after_cr: false,
            is_first_line: true,
            retry_ms: None,
            max_bytes,
            events: VecDeque::new(),
        }
    }

    /// Reads the next piece of the body. [`pop`](Self::pop) then returns the events of the piece.
    ///
    /// # Errors
    ///
    /// [`TooLarge`] if an event is too large. The reader cannot be used after that.
    pub fn push(&mut self, piece: &[u8]) -> Result<(), TooLarge> {
        let mut rest = piece;
        if self.is_after_cr && !rest.is_empty() {
            self.is_after_cr = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, more) = rest.split_at(end);
            self.extend(line)?;
            self.end_line();
            rest = match more {
                [b'\r', b'\n', rest @ ..] => rest,
                [b'\r'] => {
                    self.is_after_cr = true;
                    &[]
                }
                [_, rest @ ..] => rest,
                [] => &[],
            };
        }
        self.extend(rest)
    }

    /// The next complete event.
    pub fn pop(&mut self) -> Option<SseEvent> {
        self.events.pop_front()
    }

    /// The incomplete event at the end of the body. The standard drops it, but some servers omit the empty line at
    /// the end, so the event may be whole.
    pub fn rest(&mut self) -> Option<SseEvent> {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.dispatch();
        self.pop()
    }

    /// The delay that the server requires before a client reconnects (`retry:`), in milliseconds.
    pub fn retry_ms(&self) -> Option<u64> {
        self.retry_ms
    }

    fn extend(&mut self, bytes: &[u8]) -> Result<(), TooLarge> {
        if self.line.len() + self.event.data.len() + bytes.len() > self.max_bytes {
            return Err(TooLarge);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let mut line = line.as_slice();
        if std::mem::take(&mut self.is_first_line) {
            line = line.strip_prefix(BOM).unwrap_or(line);
        }
        if line.is_empty() {
            return self.dispatch();
        }
        let line = String::from_utf8_lossy(line);
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            "event" => value.clone_into(&mut self.event.event),
            "id" if !value.contains('\0') => self.event.id = Some(value.to_owned()),
            "retry" if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.retry_ms = Some(value.parse().unwrap_or(u64::MAX));
            }
            // A comment, or a field without a meaning.
            _ => {}
        }
    }

    fn dispatch(&mut self) {
        let event = std::mem::take(&mut self.event);
        if std::mem::take(&mut self.has_data) {
            self.events.push_back(event);
        }
    }
}

const BOM: &[u8] = "\u{feff}".as_bytes();

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<SseEvent> {
        let mut reader = SseReader::new(1_000);
        for piece in pieces {
            reader.push(piece).expect("small events");
        }
        std::iter::from_fn(|| reader.pop()).collect()
    }

    fn event(event: &str, data: &str, id: Option<&str>) -> SseEvent {
        SseEvent { event: event.to_owned(), data: data.to_owned(), id: id.map(str::to_owned) }
    }

    #[test]
    fn events_are_read_as_the_standard_says() {
        for (text, expected) in [
            ("data: a\n\n", vec![event("", "a", None)]),
            ("data:a\r\n\r\n", vec![event("", "a", None)]),
            ("data:  a\r\r", vec![event("", " a", None)]),
            ("\u{feff}data: a\n\ndata: b\n\n", vec![event("", "a", None), event("", "b", None)]),
            ("data: a\ndata: b\ndata\n\n", vec![event("", "a\nb\n", None)]),
            (": keep-alive\n\n:\n\ndata: a\n\n", vec![event("", "a", None)]),
            (
                "id: 7\nevent: status\ndata: {\"a\": 1}\n\n",
                vec![event("status", "{\"a\": 1}", Some("7"))],
            ),
            ("id: 7\n\ndata: a\n\n", vec![event("", "a", None)]),
            ("id: 7\0\nid\ndata: é\n\n", vec![event("", "é", Some(""))]),
            ("event: ping\n\n", vec![]),
            ("data: a", vec![]),
            ("data: a\n", vec![]),
            ("unknown: b\nretry: x\ndata: a\n\n", vec![event("", "a", None)]),
            ("data\n\n", vec![event("", "", None)]),
        ] {
            assert_eq!(read(&[text.as_bytes()]), expected, "{text:?}");
        }
    }

    #[test]
    fn the_time_until_a_new_attempt_is_kept() {
        let mut reader = SseReader::new(1_000);
        reader.push(b"retry: 250\n\nretry: soon\n").unwrap();
        assert_eq!(reader.retry_ms(), Some(250));
        reader.push(b"retry: 99999999999999999999999\n").unwrap();
        assert_eq!(reader.retry_ms(), Some(u64::MAX));
    }

    #[test]
    fn what_is_under_way_at_the_end_can_be_had() {
        for (text, rest) in [
            ("data: a\n\ndata: b", Some(event("", "b", None))),
            ("data: a\n\nid: 2\ndata: b\n", Some(event("", "b", Some("2")))),
            ("data: a\n\n: comment", None),
            ("data: a\n\n", None),
        ] {
            let mut reader = SseReader::new(1_000);
            reader.push(text.as_bytes()).unwrap();
            assert_eq!(reader.pop(), Some(event("", "a", None)));
            assert_eq!(reader.rest(), rest, "{text:?}");
        }
    }

    #[test]
    fn an_event_has_a_bound_and_a_stream_has_none() {
        let mut reader = SseReader::new(20);
        for _ in 0..100 {
            reader.push(b"data: 0123456789\n\n").unwrap();
        }
        assert_eq!(std::iter::from_fn(|| reader.pop()).count(), 100);
        let one_line = [b"data: ".as_slice(), &[b'x'; 20]].concat();
        assert_eq!(SseReader::new(20).push(&one_line), Err(TooLarge));
        let mut lines = (0..9).map(|_| b"data: 12\n");
        let mut reader = SseReader::new(20);
        assert!(lines.any(|line| reader.push(line) == Err(TooLarge)), "many lines of one event");
    }

    /// Lines of any kind, with any of the three line endings.
    fn stream() -> impl Strategy<Value = Vec<u8>> {
        let line = prop_oneof![
            3 => "data:? ?[a-zé{}:]{0,6}",
            1 => "id:? ?[0-9]{0,3}",
            1 => "event: [a-z]{0,4}",
            1 => "retry: [0-9]{0,3}",
            1 => ":[a-z ]{0,5}",
            3 => Just(String::new()),
        ];
        let end = prop_oneof![Just("\n"), Just("\r\n"), Just("\r")];
        proptest::collection::vec((line, end), 0..24).prop_map(|lines| {
            lines.into_iter().map(|(line, end)| line + end).collect::<String>().into()
        })
    }

    proptest! {
        #[test]
        fn any_pieces_give_the_same_events(stream in stream(), cuts in proptest::collection::vec(0..200_usize, 0..12)) {
            let whole = read(&[&stream]);
            let mut cuts: Vec<usize> = cuts.into_iter().filter(|cut| *cut <= stream.len()).collect();
            cuts.extend([0, stream.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &stream[cut[0]..cut[1]]).collect();
            prop_assert_eq!(read(&pieces), whole.clone());
            let bytes: Vec<&[u8]> = stream.chunks(1).collect();
            prop_assert_eq!(read(&bytes), whole);
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..8)) {
            let mut reader = SseReader::new(64);
            for piece in &pieces {
                if reader.push(piece).is_err() {
                    break;
                }
            }
            let _ = reader.rest();
        }
    }
}
