//! Property tests: random secrets, in random texts, cut at random positions.

use proptest::prelude::*;

use super::*;

/// Random secrets, and a text made of pieces of the secrets and of other letters.
fn any_text() -> impl Strategy<Value = (Vec<String>, String)> {
    let word = |length| {
        let letter = prop_oneof![Just("a"), Just("b"), Just("é")];
        proptest::collection::vec(letter, length).prop_map(|word| word.concat())
    };
    proptest::collection::vec(word(8..14), 0..4).prop_flat_map(move |secrets| {
        let known = secrets.clone();
        let piece = (0..6usize, 0..14usize, word(0..5)).prop_map(move |(which, length, word)| {
            match known.get(which) {
                // A secret, or the beginning of a secret.
                Some(secret) => secret.chars().take(length).collect(),
                None => word,
            }
        });
        let text = proptest::collection::vec(piece, 0..10).prop_map(|pieces| pieces.concat());
        (Just(secrets), text)
    })
}

/// The position of each cut: the length of the part, true if a chunk ends there, and true if held text is released
/// there.
fn any_cuts() -> impl Strategy<Value = Vec<(usize, bool, bool)>> {
    proptest::collection::vec((0..8usize, any::<bool>(), any::<bool>()), 0..40)
}

fn knows(secrets: &[String]) -> Redaction {
    let redaction = Redaction::default();
    for (at, secret) in secrets.iter().enumerate() {
        redaction.note(&format!("K{at}"), &Secret::new(secret.as_str()));
    }
    redaction
}

/// The chunks of a text; each with a value that is true if all held text is released after the chunk.
fn chunks(text: &str, cuts: &[(usize, bool, bool)]) -> Vec<(Vec<Part>, bool)> {
    let mut letters = text.chars();
    let mut chunks = Vec::new();
    let mut parts = Vec::new();
    for (length, ends_chunk, lets_out) in cuts {
        parts.push(Part::text(letters.by_ref().take(*length).collect::<String>()));
        if *ends_chunk {
            chunks.push((std::mem::take(&mut parts), *lets_out));
        }
    }
    parts.push(Part::text(letters.collect::<String>()));
    chunks.push((parts, false));
    chunks
}

fn joined(parts: &[Part]) -> String {
    parts.iter().filter_map(Part::as_text).collect()
}

/// A simple redaction of a whole text, letter by letter, to compare with.
fn redacted(secrets: &[String], text: &str) -> String {
    let longest = |rest: &str| {
        let found =
            secrets.iter().enumerate().filter(|(_, secret)| rest.starts_with(secret.as_str()));
        found.rev().max_by_key(|(_, secret)| secret.len()).map(|(at, secret)| (at, secret.len()))
    };
    let mut said = String::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let length = match longest(rest) {
            Some((at, length)) => {
                said.push_str(&format!("[K{at}]"));
                length
            }
            None => {
                said.push(letter);
                letter.len_utf8()
            }
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    said
}

/// True if a text ends with an incomplete secret.
fn ends_open(secrets: &[String], text: &str) -> bool {
    let mut ends = text.char_indices().map(|(at, _)| text.get(at..).unwrap_or_default());
    ends.any(|end| secrets.iter().any(|secret| secret != end && secret.starts_with(end)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn what_is_let_out_is_the_redaction_of_the_whole((secrets, text) in any_text(), cuts in any_cuts()) {
        let redaction = knows(&secrets);
        let chunks = chunks(&text, &cuts);
        let (mut heard, mut said, mut tail) = (String::new(), String::new(), None);
        let count = chunks.len();
        for (at, (parts, _)) in chunks.into_iter().enumerate() {
            heard.push_str(&joined(&parts));
            let (parts, kept) = redaction.chunk(tail.take(), parts, at + 1 == count);
            said.push_str(&joined(&parts));
            for secret in &secrets {
                prop_assert!(!said.contains(secret.as_str()), "{said}");
            }
            let held = kept.as_ref().map_or(0, Tail::held_chars);
            prop_assert!(held == 0 || ends_open(&secrets, &heard), "{heard} holds {held}");
            prop_assert!(held < 14);
            tail = kept;
        }
        prop_assert_eq!(&said, &redacted(&secrets, &text));
        prop_assert_eq!(redaction.text(&text).into_owned(), said);
    }

    #[test]
    fn what_was_let_out_before_it_was_decided_completes_no_secret((secrets, text) in any_text(), cuts in any_cuts()) {
        let redaction = knows(&secrets);
        let (mut said, mut tail) = (String::new(), None);
        for (parts, lets_out) in chunks(&text, &cuts) {
            let (parts, kept) = redaction.chunk(tail.take(), parts, false);
            said.push_str(&joined(&parts));
            tail = kept;
            if lets_out && let Some(tail) = &mut tail {
                said.push_str(&joined(redaction.let_out(tail).as_slice()));
                prop_assert_eq!(tail.held_chars(), 0);
            }
        }
        said.push_str(&joined(tail.and_then(|mut tail| redaction.let_out(&mut tail)).as_slice()));
        for secret in &secrets {
            prop_assert!(!said.contains(secret.as_str()), "{said}");
        }
        if !secrets.iter().any(|secret| text.contains(secret.as_str())) {
            prop_assert_eq!(said, text);
        }
    }

    #[test]
    fn a_run_that_repeats_a_text_holds_the_same_end((secrets, text) in any_text(), cuts in any_cuts(), crash in 0..20usize) {
        for forgets in [false, true] {
            let redaction = knows(&secrets);
            // `forgets`: a run that does not read its secrets again.
            let next = if forgets { Redaction::default() } else { knows(&secrets) };
            let (mut said, mut rest, mut tail, mut repeated) = (String::new(), String::new(), None, None);
            let chunks = chunks(&text, &cuts);
            let count = chunks.len();
            for (at, (parts, lets_out)) in chunks.into_iter().enumerate() {
                if at > crash {
                    rest.push_str(&joined(&parts));
                    let (parts, kept) = next.chunk(repeated.take(), parts, at + 1 == count);
                    said.push_str(&joined(&parts));
                    repeated = kept;
                    continue;
                }
                let (shown, kept) = redaction.chunk(tail.take(), parts.clone(), at + 1 == count);
                said.push_str(&joined(&shown));
                tail = kept;
                if lets_out && let Some(tail) = &mut tail {
                    said.push_str(&joined(redaction.let_out(tail).as_slice()));
                }
                let held = tail.as_ref().map_or(0, Tail::held_chars);
                repeated = next.recalled(repeated.take(), &parts, held);
                prop_assert_eq!(repeated.as_ref().map_or(0, Tail::held_chars), held);
                prop_assert!(crash > at || forgets || same(&repeated, &tail));
            }
            if !secrets.iter().any(|secret| text.contains(secret.as_str())) {
                prop_assert_eq!(said, text.clone(), "behind the crash came {}", rest);
            }
        }
    }
}

fn same(left: &Option<Tail>, right: &Option<Tail>) -> bool {
    let shown = |tail: &Option<Tail>| {
        let mut parts = Vec::new();
        tail.iter().for_each(|tail| tail.put_behind(&mut parts));
        (joined(&parts), tail.as_ref().is_some_and(Tail::is_long))
    };
    shown(left) == shown(right)
}

#[test]
fn the_end_of_a_part_is_a_part_of_its_kind() {
    let redaction = knows(&["abcdefgh".to_owned()]);
    let html = |text: &str| Part { media_type: Some("text/html".to_owned()), ..Part::text(text) };
    let (parts, tail) = redaction.chunk(None, vec![Part::text("x"), html("y abc")], false);
    assert_eq!(parts, [Part::text("x"), html("y ")]);
    let tail = tail.unwrap();
    assert_eq!((tail.held_chars(), tail.is_long()), (3, false));
    let mut whole = parts;
    tail.put_behind(&mut whole);
    assert_eq!(whole, [Part::text("x"), html("y abc")]);

    let go_on = |parts| redaction.chunk(Some(tail.clone()), parts, true).0;
    assert_eq!(go_on(vec![html("d.")]), [html("abcd.")]);
    assert_eq!(go_on(vec![Part::text("d.")]), [html("abc"), Part::text("d.")]);
    assert_eq!(go_on(vec![Part::text("defgh.")]), [html("[K0]"), Part::text(".")]);
    let data = || Part::data(serde_json::json!(1));
    assert_eq!(
        go_on(vec![data(), Part::text("defgh")]),
        [html("abc"), data(), Part::text("defgh")]
    );
    assert_eq!(redaction.let_out(&mut tail.clone()), Some(html("abc")));
}

#[test]
fn a_beginning_is_long_from_six_characters_on() {
    let redaction = knows(&["abcdéfgh".to_owned()]);
    let tail = |text: &str| redaction.chunk(None, vec![Part::text(text)], false).1.unwrap();
    assert!(!tail("abcdé").is_long());
    assert!(tail("abcdéf").is_long());
}
