//! The answer of the scripted model on the wire of chat completions.

use serde_json::{Value, json};

use super::reply::Reply;
use super::request::{Request, tokens};

/// The whole answer.
pub(super) fn whole(request: &Request, reply: &Reply) -> Value {
    let calls: Vec<Value> = reply.calls.iter().map(call).collect();
    let message = if calls.is_empty() {
        json!({"role": "assistant", "content": reply.text})
    } else {
        json!({"role": "assistant", "content": null, "tool_calls": calls})
    };
    let choice = json!({"index": 0, "message": message, "finish_reason": end(reply)});
    json!({
        "id": ID, "object": "chat.completion", "created": 0, "model": request.model,
        "choices": [choice], "usage": usage(request, reply),
    })
}

/// The events of a streamed answer, in order: a word each.
pub(super) fn events(request: &Request, reply: &Reply) -> Vec<String> {
    let chunk = |choices: Value, usage: Value| {
        let (id, kind, model) = (ID, "chat.completion.chunk", &request.model);
        json!({"id": id, "object": kind, "created": 0, "model": model, "choices": choices, "usage": usage})
    };
    let delta = |delta: Value, end: Option<&str>| {
        chunk(json!([{"index": 0, "delta": delta, "finish_reason": end}]), Value::Null)
    };
    let mut events = vec![delta(json!({"role": "assistant", "content": ""}), None)];
    events.extend(
        pieces(&reply.text).into_iter().map(|piece| delta(json!({"content": piece}), None)),
    );
    for (index, (id, name, arguments)) in reply.calls.iter().enumerate() {
        let function = json!({"name": name, "arguments": ""});
        let begin = json!({"index": index, "id": id, "type": "function", "function": function});
        events.push(delta(json!({"tool_calls": [begin]}), None));
        let rest = json!({"index": index, "function": {"arguments": arguments.to_string()}});
        events.push(delta(json!({"tool_calls": [rest]}), None));
    }
    events.push(delta(json!({}), Some(end(reply))));
    if request.tells_usage {
        events.push(chunk(json!([]), usage(request, reply)));
    }
    let events = events.into_iter().map(|event| event.to_string()).chain(["[DONE]".to_owned()]);
    events.map(|event| format!("data: {event}\n\n")).collect()
}

/// An error as endpoints tell it.
pub(super) fn error(text: &str) -> Value {
    json!({"error": {"message": text, "type": "invalid_request_error", "param": null, "code": null}})
}

fn call((id, name, arguments): &(String, String, Value)) -> Value {
    let function = json!({"name": name, "arguments": arguments.to_string()});
    json!({"id": id, "type": "function", "function": function})
}

fn end(reply: &Reply) -> &'static str {
    match reply {
        Reply { is_cut: true, .. } => "length",
        Reply { calls, .. } if !calls.is_empty() => "tool_calls",
        _ => "stop",
    }
}

fn usage(request: &Request, reply: &Reply) -> Value {
    let said = reply.text.len();
    let called =
        reply.calls.iter().map(|(_, name, arguments)| name.len() + arguments.to_string().len());
    let (input, output) = (request.tokens, tokens(said + called.sum::<usize>()));
    json!({"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output})
}

/// A text word by word; a long one several words at a time.
fn pieces(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_inclusive(' ').collect();
    let at_once = words.len().div_ceil(MOST_PIECES).max(1);
    words.chunks(at_once).map(<[&str]>::concat).collect()
}

/// The id of every answer: that one call is not another is of no use here, and answers stay the same.
const ID: &str = "chatcmpl-dev";

/// The number of pieces in which a text is streamed at most.
const MOST_PIECES: usize = 200;
