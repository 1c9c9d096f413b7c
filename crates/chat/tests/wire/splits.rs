//! The pieces of a body do not affect the answer, a stream has the same content as one object, and no bytes
//! make the reader panic.

use a2a::http::HttpError;
use chat::{Delta, End};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Outcome, answer, asked, endpoint, events, read, read_pieces, request};

/// The content of a model's answer: its texts, its calls with the pieces of their arguments, and its end.
#[derive(Clone, Debug)]
struct Saying {
    texts: Vec<String>,
    calls: Vec<(String, String, Vec<String>)>,
    end: &'static str,
    usage: Option<(u32, u32)>,
}

impl Saying {
    fn usage(&self) -> Value {
        self.usage.map_or(
            Value::Null,
            |(input, output)| json!({"prompt_tokens": input, "completion_tokens": output}),
        )
    }

    fn whole(&self) -> String {
        let calls = self.calls.iter().map(|(id, name, arguments)| {
            json!({"id": id, "type": "function",
                "function": {"name": name, "arguments": arguments.concat()}})
        });
        let calls: Vec<Value> = calls.collect();
        let message = json!({"role": "assistant", "content": self.texts.concat(),
            "refusal": null, "tool_calls": calls});
        json!({"model": "m", "usage": self.usage(),
            "choices": [{"index": 0, "message": message, "finish_reason": self.end}]})
        .to_string()
    }

    fn streamed(&self) -> String {
        let chunk = |delta: Value, end: Option<&str>| {
            json!({"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": end}]})
                .to_string()
        };
        let mut chunks = vec![chunk(json!({"role": "assistant", "content": ""}), None)];
        chunks.extend(self.texts.iter().map(|text| chunk(json!({"content": text}), None)));
        for (index, (id, name, arguments)) in self.calls.iter().enumerate() {
            let first = json!({"index": index, "id": id, "type": "function",
                "function": {"name": name, "arguments": ""}});
            chunks.push(chunk(json!({"tool_calls": [first]}), None));
            for piece in arguments {
                let piece = json!({"index": index, "function": {"arguments": piece}});
                chunks.push(chunk(json!({"tool_calls": [piece]}), None));
            }
        }
        chunks.push(chunk(json!({}), Some(self.end)));
        chunks.push(json!({"model": "m", "choices": [], "usage": self.usage()}).to_string());
        chunks.push("[DONE]".to_owned());
        events(&chunks.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

fn saying() -> impl Strategy<Value = Saying> {
    let call = ("[a-z]{1,6}", "[a-z_]{1,8}", prop::collection::vec("\\PC{0,6}", 0..4));
    let end = prop::sample::select(vec!["stop", "tool_calls", "length", "content_filter"]);
    let usage = prop::option::of((0..9_000_u32, 0..9_000_u32));
    (prop::collection::vec("\\PC{0,9}", 0..5), prop::collection::vec(call, 0..4), end, usage)
        .prop_map(|(texts, calls, end, usage)| Saying { texts, calls, end, usage })
}

/// The outcome for a body in pieces of these sizes, which are used in a cycle.
fn in_pieces(body: &[u8], sizes: &[usize]) -> Outcome {
    let (mut rest, mut pieces) = (body, Vec::new());
    for size in sizes.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, more) = rest.split_at((*size).min(rest.len()));
        pieces.push(Ok(piece.to_vec()));
        rest = more;
    }
    read_pieces(pieces)
}

/// The texts of a stream, joined, because their number depends on the pieces of the body.
fn heard(outcome: &Outcome) -> String {
    let text = |delta: &Delta| {
        let (Delta::Text(text) | Delta::Refusal(text)) = delta;
        text.clone()
    };
    outcome.deltas.iter().map(text).collect()
}

proptest! {
    #[test]
    fn whole_and_streamed_say_the_same(saying in saying()) {
        let (whole, streamed) = (read(&saying.whole()), read(&saying.streamed()));
        prop_assert_eq!(heard(&whole), saying.texts.concat());
        prop_assert_eq!(heard(&streamed), saying.texts.concat());
        let (whole, streamed) = (whole.answer(), streamed.answer());
        prop_assert_eq!(&whole.text, &saying.texts.concat());
        prop_assert_eq!(whole.calls.len(), saying.calls.len());
        prop_assert!(saying.calls.is_empty() || whole.end != End::Stop);
        prop_assert_eq!(whole.usage.map(|usage| usage.total()),
            saying.usage.map(|(input, output)| u64::from(input) + u64::from(output)));
        prop_assert_eq!(whole, streamed);
    }

    #[test]
    fn any_pieces_give_the_same_answer(
        saying in saying(),
        sizes in prop::collection::vec(1..40_usize, 1..5),
        is_whole: bool,
        line_end in prop::sample::select(vec!["\n", "\r\n", "\r"]),
    ) {
        let body = if is_whole { saying.whole() } else { saying.streamed().replace('\n', line_end) };
        prop_assert_eq!(in_pieces(body.as_bytes(), &sizes), read(&body));
    }

    #[test]
    fn a_body_that_ends_early_is_never_an_answer_of_another_kind(saying in saying(), cut in 0..2_000_usize) {
        let body = saying.streamed();
        let cut = cut.min(body.len());
        let outcome = in_pieces(&body.as_bytes()[..cut], &[16]);
        prop_assert!(saying.texts.concat().starts_with(&heard(&outcome)));
        if let Ok(answer) = outcome.answer {
            // Only after the model has reported its end; the usage may be lost.
            prop_assert_eq!(&answer.text, &saying.texts.concat());
            prop_assert_eq!(answer.calls.len(), saying.calls.len());
        }
    }

    #[test]
    fn no_bytes_are_too_odd(bytes in prop::collection::vec(any::<u8>(), 0..400), status in 200..600_u16) {
        let body = bytes.clone();
        let outcome = asked(&endpoint(), &request(), move |_| {
            Ok(answer(status, &[], vec![Ok(body.clone())]))
        });
        prop_assert!(outcome.answer.is_err());
    }

    #[test]
    fn no_json_is_too_odd(text in json_text(3), is_event: bool, in_choice: bool) {
        let text = if in_choice { format!(r#"{{"choices":[{{"delta":{text}}}]}}"#) } else { text };
        let body = if is_event { format!("data: {text}\n\ndata: [DONE]\n\n") } else { text };
        let _ = read(&body);
    }
}

/// JSON with the member names of answers.
fn json_text(depth: u32) -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec![
        "choices",
        "delta",
        "message",
        "content",
        "refusal",
        "tool_calls",
        "index",
        "id",
        "function",
        "name",
        "arguments",
        "finish_reason",
        "usage",
        "prompt_tokens",
        "error",
        "code",
        "type",
        "response",
        "model",
        "extra_content",
        "detail",
        "errors",
        "metadata",
        "raw",
    ]);
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("1e400".to_owned()),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f64>().prop_map(|number| json!(number).to_string()),
        "[a-z{}\\[\\]:]{0,4}".prop_map(|text| json!(text).to_string()),
        Just("\"error\"".to_owned()),
    ];
    leaf.prop_recursive(depth, 24, 4, move |inner| {
        let member = (name.clone(), inner.clone());
        prop_oneof![
            prop::collection::vec(inner, 0..3).prop_map(|list| format!("[{}]", list.join(","))),
            prop::collection::vec(member, 0..4).prop_map(|members| {
                let members = members.iter().map(|(name, value)| format!("\"{name}\":{value}"));
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            }),
        ]
    })
}

#[test]
fn a_stream_split_at_every_byte_gives_the_same_answer() {
    let body = Saying {
        texts: vec!["Grüße ".to_owned(), "🙂\n".to_owned()],
        calls: vec![(
            "a".to_owned(),
            "t".to_owned(),
            vec!["{\"n\":".to_owned(), "\"é\"}".to_owned()],
        )],
        end: "tool_calls",
        usage: Some((3, 4)),
    };
    for body in [
        body.streamed(),
        body.streamed().replace('\n', "\r\n"),
        body.whole(),
        format!("\u{feff}\r\n{}", body.whole()),
    ] {
        let once = read(&body);
        assert!(once.answer.is_ok(), "{once:?}");
        for at in 1..body.len() {
            let (one, two) = body.as_bytes().split_at(at);
            let pieces: Vec<Result<Vec<u8>, HttpError>> =
                vec![Ok(one.to_vec()), Ok(Vec::new()), Ok(two.to_vec())];
            assert_eq!(read_pieces(pieces), once, "split at {at}");
        }
        assert_eq!(in_pieces(body.as_bytes(), &[1]), once, "in single bytes");
    }
}
