//! The requests that servers receive.

use chat::{
    ChatAnswer, ChatMessage, ChatRequest, Content, Dialect, End, Endpoint, ToolCall, ToolSpec,
};
use serde_json::{Value, json};

use crate::support::{request, sent};
use a2a::model::Secret;
use a2a::model::decode::decode;

fn call(id: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: id.to_owned(),
        name: "weather".to_owned(),
        arguments: arguments.to_owned(),
        extra: None,
    }
}

fn body(change: impl Fn(&mut ChatRequest)) -> Value {
    let mut request = request();
    change(&mut request);
    sent(&Endpoint::new("https://a.example"), &request).1
}

#[test]
fn a_plain_request_has_the_model_the_messages_and_asks_for_chunks_and_usage() {
    let expected = json!({
        "model": "small",
        "messages": [{"role": "user", "content": "Hi"}],
        "stream": true,
        "stream_options": {"include_usage": true},
    });
    assert_eq!(body(|_| {}), expected);
    let expected = json!({"model": "small", "messages": [{"role": "user", "content": "Hi"}]});
    assert_eq!(body(|request| request.streams = false), expected);
}

#[test]
fn a_conversation_with_tools_is_written_as_the_api_wants_it() {
    let mut signed = call("c-2", "{}");
    signed.extra = Some(json!({"google": {"thought_signature": "s"}}));
    let messages = vec![
        ChatMessage::System("Be kind.".to_owned()),
        ChatMessage::User(vec![Content::Text("Hi".to_owned()), Content::Text("there".to_owned())]),
        ChatMessage::Assistant {
            text: String::new(),
            calls: vec![call("c-1", r#"{"city":"Bonn"}"#), signed],
            reasoning: Some("Hm.".to_owned()),
        },
        ChatMessage::Tool { call_id: "c-1".to_owned(), text: "12 °C".to_owned() },
        ChatMessage::Assistant {
            text: "12.".to_owned(),
            calls: Vec::new(),
            reasoning: Some("Not wanted without calls.".to_owned()),
        },
    ];
    let body = body(|request| request.messages = messages.clone());
    let expected = json!([
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Hi\n\nthere"},
        {"role": "assistant", "content": null, "reasoning_content": "Hm.", "tool_calls": [
            {"id": "c-1", "type": "function",
                "function": {"name": "weather", "arguments": "{\"city\":\"Bonn\"}"}},
            {"id": "c-2", "type": "function", "function": {"name": "weather", "arguments": "{}"},
                "extra_content": {"google": {"thought_signature": "s"}}},
        ]},
        {"role": "tool", "tool_call_id": "c-1", "content": "12 °C"},
        {"role": "assistant", "content": "12."},
    ]);
    assert_eq!(body["messages"], expected);
    for message in messages {
        let kept = serde_json::to_value(&message).unwrap();
        assert_eq!(decode::<ChatMessage>(kept).unwrap(), message);
    }
}

#[test]
fn arguments_that_are_no_object_are_written_as_one_so_that_servers_which_read_them_go_on() {
    for (arguments, written) in [
        ("", json!({})),
        (" \n", json!({})),
        (r#"{"a": 1}"#, json!({"a": 1})),
        (r#"{"a": "#, json!({"invalid": "{\"a\": "})),
        ("[1]", json!({"invalid": "[1]"})),
    ] {
        let calls = vec![call("c", arguments)];
        let message = ChatMessage::Assistant { text: String::new(), calls, reasoning: None };
        let body = body(|request| request.messages.push(message.clone()));
        let text = body["messages"][1]["tool_calls"][0]["function"]["arguments"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), written, "{arguments}");
    }
}

#[test]
fn images_files_and_sounds_are_parts() {
    let file = |name: Option<&str>, media_type: &str| Content::File {
        name: name.map(str::to_owned),
        media_type: media_type.to_owned(),
        base64: "AAAA".to_owned(),
    };
    let contents = vec![
        Content::Text("See".to_owned()),
        Content::Image { url: "https://a.example/a.png".to_owned() },
        file(Some("a.pdf"), "application/pdf"),
        file(None, "application/pdf"),
        file(None, "audio/mpeg"),
    ];
    let message = ChatMessage::User(contents);
    let body = body(|request| request.messages = vec![message.clone()]);
    let expected = json!([
        {"type": "text", "text": "See"},
        {"type": "image_url", "image_url": {"url": "https://a.example/a.png"}},
        {"type": "file",
            "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AAAA"}},
        {"type": "file",
            "file": {"filename": "file.pdf", "file_data": "data:application/pdf;base64,AAAA"}},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}},
    ]);
    assert_eq!(body["messages"][0]["content"], expected);
    let kept = serde_json::to_value(&message).unwrap();
    assert_eq!(decode::<ChatMessage>(kept).unwrap(), message);
}

#[test]
fn tools_without_arguments_have_a_schema_that_providers_take() {
    for (parameters, written) in [
        (Value::Null, json!({"type": "object", "properties": {}})),
        (json!({"type": "object"}), json!({"type": "object", "properties": {}})),
        (json!({"properties": {"a": {}}}), json!({"properties": {"a": {}}, "type": "object"})),
    ] {
        let tool = ToolSpec {
            name: "now".to_owned(),
            description: "The time.".to_owned(),
            parameters: parameters.clone(),
        };
        let body = body(|request| request.tools = vec![tool.clone()]);
        let function = json!({"name": "now", "description": "The time.", "parameters": written});
        assert_eq!(body["tools"], json!([{"type": "function", "function": function}]));
        assert_eq!(body.get("tool_choice"), None);
    }
}

#[test]
fn a_schema_is_strict_where_providers_can_hold_a_model_to_it() {
    let object = |more: Value| {
        let mut schema = json!({"type": "object", "properties": {"a": {"type": "string"}},
            "required": ["a"], "additionalProperties": false});
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        schema
    };
    for (schema, is_strict) in [
        (object(json!({})), true),
        (object(json!({"properties": {"a": object(json!({}))}})), true),
        (object(json!({"$defs": {"b": object(json!({}))}, "title": "T"})), true),
        (object(json!({"properties": {"a": {"type": "array", "items": object(json!({}))}}})), true),
        (
            object(json!({"properties": {"a": {"type": "array", "items": {"type": "object"}}}})),
            false,
        ),
        (object(json!({"required": []})), false),
        (object(json!({"additionalProperties": true})), false),
        (object(json!({"allOf": []})), false),
        (object(json!({"properties": {"a": {"minLength": 1}}})), false),
        (object(json!({"properties": {"a": {"anyOf": [{"type": "null"}, {"not": {}}]}}})), false),
        (json!(true), false),
    ] {
        let body = body(|request| request.output_schema = Some(schema.clone()));
        let format = &body["response_format"];
        assert_eq!(format["type"], "json_schema");
        assert_eq!(format["json_schema"]["name"], "answer");
        assert_eq!(format["json_schema"]["schema"], schema);
        let strict = format["json_schema"].get("strict");
        assert_eq!(strict, is_strict.then_some(&json!(true)), "{schema}");
    }
}

#[test]
fn parameters_are_passed_on_but_never_replace_what_the_request_is() {
    let parameters = json!({"temperature": 0.2, "model": "large", "messages": [], "stream": false,
        "tools": [], "stop": ["."], "stream_options": {"include_usage": true, "x": 1}});
    let parameters = parameters.as_object().unwrap().clone();
    let body = body(|request| request.parameters = parameters.clone());
    let expected = json!({
        "model": "small",
        "messages": [{"role": "user", "content": "Hi"}],
        "stream": true,
        "stream_options": {"include_usage": true, "x": 1},
        "temperature": 0.2,
        "stop": ["."],
    });
    assert_eq!(body, expected);
}

#[test]
fn what_an_endpoint_does_not_know_can_be_left_out() {
    let off = json!({"stream_options": false, "response_format": false});
    let body_off = body(|request| {
        request.output_schema = Some(json!({"type": "object"}));
        request.parameters = off.as_object().unwrap().clone();
    });
    assert_eq!((body_off.get("stream_options"), body_off.get("response_format")), (None, None));
    let other = json!({"stream_options": {"a": 1}, "response_format": {"type": "json_object"}});
    let whole = body(|request| {
        request.output_schema = Some(json!({"type": "object"}));
        request.parameters = other.as_object().unwrap().clone();
        request.streams = false;
    });
    assert_eq!(whole.get("stream_options"), None, "which is refused without chunks");
    assert_eq!(whole["response_format"], json!({"type": "json_object"}));
}

#[test]
fn requests_go_below_the_base_url_with_key_and_headers() {
    for (base, url) in [
        ("https://a.example/v1", "https://a.example/v1/chat/completions"),
        ("https://a.example/v1/", "https://a.example/v1/chat/completions"),
        ("https://a.example/v1/chat/completions", "https://a.example/v1/chat/completions"),
        ("https://a.example/x?api-version=1", "https://a.example/x/chat/completions?api-version=1"),
    ] {
        let endpoint = Endpoint {
            api_key: Some(Secret::new("sk-1234567890")),
            headers: vec![("x-title".to_owned(), Secret::new("Shop"))],
            timeout_ms: 7,
            ..Endpoint::new(base)
        };
        let (sent, _) = sent(&endpoint, &request());
        assert_eq!((sent.method, sent.url.as_str(), sent.timeout_ms), ("POST", url, 7));
        assert!(!sent.is_guarded);
        let header = |name: &str| {
            let found = sent.headers.iter().rev().find(|(known, _)| known == name);
            found.map(|(_, value)| value.as_str())
        };
        assert_eq!(header("authorization"), Some("Bearer sk-1234567890"));
        assert_eq!(header("content-type"), Some("application/json"));
        assert_eq!(header("x-title"), Some("Shop"));
        assert!(!format!("{endpoint:?}").contains("sk-"));
    }
    let (sent, _) = sent(&Endpoint::new("https://a.example"), &request());
    assert!(sent.headers.iter().all(|(name, _)| name != "authorization"));
}

#[test]
fn workers_ai_gets_inputs_for_its_binding() {
    let endpoint = Endpoint::workers_ai();
    assert_eq!(endpoint.dialect, Dialect::WorkersAi);
    let mut asked = request();
    asked.model = "@cf/meta/llama-3.3-70b-instruct-fp8-fast".to_owned();
    asked.messages.push(ChatMessage::Assistant {
        text: String::new(),
        calls: vec![call("c", "{}")],
        reasoning: None,
    });
    asked.parameters.insert("max_tokens".to_owned(), json!(500));
    let (request, inputs) = sent(&endpoint, &asked);
    assert_eq!(request.url, "https://workers-ai.internal/@cf/meta/llama-3.3-70b-instruct-fp8-fast");
    let calls = json!([{"id": "c", "type": "function",
        "function": {"name": "weather", "arguments": "{}"}}]);
    let messages = json!([{"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "", "tool_calls": calls}]);
    assert_eq!(inputs, json!({"messages": messages, "stream": true, "max_tokens": 500}));
    // In Workers AI, answers with a schema are not streamed, and the schema is not wrapped in an
    // object.
    asked.output_schema = Some(json!({"type": "object"}));
    let (_, inputs) = sent(&endpoint, &asked);
    assert_eq!(inputs.get("stream"), None);
    let format = json!({"type": "json_schema", "json_schema": {"type": "object"}});
    assert_eq!(inputs["response_format"], format);
}

#[test]
fn an_answer_is_kept_and_becomes_a_message() {
    let answer = ChatAnswer {
        text: String::new(),
        refusal: Some("No.".to_owned()),
        calls: vec![ToolCall { extra: Some(json!({"a": 1})), ..call("c", "{}") }],
        end: End::Other("odd".to_owned()),
        usage: Some(chat::Usage { input: 3, output: 2, cached: 1, reasoning: 1 }),
        model: Some("small".to_owned()),
        reasoning: Some("Hm.".to_owned()),
    };
    for end in [
        End::Stop,
        End::ToolCalls,
        End::Length,
        End::ContentFilter,
        End::Unsaid,
        answer.end.clone(),
    ] {
        let answer = ChatAnswer { end, ..answer.clone() };
        let kept = serde_json::to_value(&answer).unwrap();
        assert_eq!(decode::<ChatAnswer>(kept).unwrap(), answer);
    }
    let ChatMessage::Assistant { text, calls, reasoning } = answer.to_message() else {
        panic!("another message");
    };
    assert_eq!((text.as_str(), calls, reasoning.as_deref()), ("No.", answer.calls, Some("Hm.")));
    assert!(decode::<ChatAnswer>(json!({"text": "a"})).is_err());
    assert!(decode::<ChatMessage>(json!({"role": "tool"})).is_err());
}
