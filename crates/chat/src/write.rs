//! Encodes a request as its body.

use a2a::model::{MAX_FOREIGN_VALUES, read_foreign};
use serde_json::{Map, Value, json};

use crate::{ChatMessage, ChatRequest, Content, Dialect, ToolCall, ToolSpec};

/// The body of a request.
pub(crate) fn write(request: &ChatRequest, dialect: Dialect) -> Value {
    let messages = request.messages.iter().map(|message| message_json(message, dialect));
    let mut body = Map::new();
    if dialect == Dialect::ChatCompletions {
        put(&mut body, "model", json!(request.model));
    }
    put(&mut body, "messages", messages.collect::<Vec<_>>().into());
    if !request.tools.is_empty() {
        put(&mut body, "tools", request.tools.iter().map(tool_json).collect::<Vec<_>>().into());
    }
    if let Some(schema) = &request.output_schema {
        put(&mut body, "response_format", format_json(schema, dialect));
    }
    if streams(request, dialect) {
        put(&mut body, "stream", true.into());
        if dialect == Dialect::ChatCompletions {
            put(&mut body, "stream_options", json!({"include_usage": true}));
        }
    }
    for (name, value) in &request.parameters {
        match name.as_str() {
            "model" | "messages" | "tools" | "stream" => {}
            "stream_options" | "response_format" if *value == Value::Bool(false) => {
                body.shift_remove(name);
            }
            // Providers refuse this parameter without a stream.
            "stream_options" if !body.contains_key("stream") => {}
            name => put(&mut body, name, value.clone()),
        }
    }
    Value::Object(body)
}

/// Whether to request the answer in chunks. Workers AI does not stream answers with a schema.
fn streams(request: &ChatRequest, dialect: Dialect) -> bool {
    request.streams && (dialect == Dialect::ChatCompletions || request.output_schema.is_none())
}

fn message_json(message: &ChatMessage, dialect: Dialect) -> Value {
    match message {
        ChatMessage::System(text) => json!({"role": "system", "content": text}),
        ChatMessage::User(contents) => json!({"role": "user", "content": contents_json(contents)}),
        ChatMessage::Assistant { text, calls, reasoning } => {
            // Workers AI does not accept `null` here, and most other providers do not accept an empty text.
            let is_null =
                dialect == Dialect::ChatCompletions && text.is_empty() && !calls.is_empty();
            let content = if is_null { Value::Null } else { json!(text) };
            let mut message = Map::new();
            put(&mut message, "role", "assistant".into());
            put(&mut message, "content", content);
            if let Some(reasoning) = reasoning.as_ref().filter(|_| !calls.is_empty()) {
                put(&mut message, "reasoning_content", json!(reasoning));
            }
            if !calls.is_empty() {
                let calls: Vec<Value> = calls.iter().map(call_json).collect();
                put(&mut message, "tool_calls", calls.into());
            }
            Value::Object(message)
        }
        ChatMessage::Tool { call_id, text } => {
            json!({"role": "tool", "tool_call_id": call_id, "content": text})
        }
    }
}

/// The contents of a message; a single text if all are texts, because not all models accept a list.
fn contents_json(contents: &[Content]) -> Value {
    let texts = contents.iter().map(|content| match content {
        Content::Text(text) => Some(text.as_str()),
        Content::Image { .. } | Content::File { .. } => None,
    });
    match texts.collect::<Option<Vec<&str>>>() {
        Some(texts) => json!(texts.join("\n\n")),
        None => contents.iter().map(content_json).collect::<Vec<_>>().into(),
    }
}

fn content_json(content: &Content) -> Value {
    match content {
        Content::Text(text) => json!({"type": "text", "text": text}),
        Content::Image { url } => json!({"type": "image_url", "image_url": {"url": url}}),
        Content::File { name, media_type, base64 } => {
            if let Some(format) = audio_format(media_type) {
                return json!({"type": "input_audio", "input_audio": {"data": base64, "format": format}});
            }
            let subtype = media_type.rsplit('/').next().unwrap_or_default();
            let name = name.clone().unwrap_or_else(|| format!("file.{subtype}"));
            let data = format!("data:{media_type};base64,{base64}");
            json!({"type": "file", "file": {"filename": name, "file_data": data}})
        }
    }
}

fn audio_format(media_type: &str) -> Option<&'static str> {
    match media_type {
        "audio/wav" | "audio/x-wav" | "audio/wave" => Some("wav"),
        "audio/mpeg" | "audio/mp3" => Some("mp3"),
        _ => None,
    }
}

/// A call in the conversation. Many servers parse the arguments, and refuse the whole conversation if they are not a JSON
/// object.
fn call_json(call: &ToolCall) -> Value {
    let arguments = match read_foreign(call.arguments.as_bytes(), MAX_FOREIGN_VALUES) {
        Ok(Value::Object(_)) => call.arguments.clone(),
        _ if call.arguments.trim().is_empty() => "{}".to_owned(),
        _ => json!({"invalid": call.arguments}).to_string(),
    };
    let mut json = Map::new();
    put(&mut json, "id", json!(call.id));
    put(&mut json, "type", "function".into());
    put(&mut json, "function", json!({"name": call.name, "arguments": arguments}));
    if let Some(extra) = &call.extra {
        put(&mut json, "extra_content", extra.clone());
    }
    Value::Object(json)
}

fn tool_json(tool: &ToolSpec) -> Value {
    let mut parameters = tool.parameters.as_object().cloned().unwrap_or_default();
    // Providers require both members, even for a tool without arguments.
    parameters.entry("type").or_insert_with(|| "object".into());
    parameters.entry("properties").or_insert_with(|| json!({}));
    json!({"type": "function", "function": {
        "name": tool.name, "description": tool.description, "parameters": parameters}})
}

fn format_json(schema: &Value, dialect: Dialect) -> Value {
    let json_schema = match dialect {
        Dialect::WorkersAi => schema.clone(),
        Dialect::ChatCompletions if is_strict(schema) => {
            json!({"name": "answer", "schema": schema, "strict": true})
        }
        Dialect::ChatCompletions => json!({"name": "answer", "schema": schema}),
    };
    json!({"type": "json_schema", "json_schema": json_schema})
}

/// Whether a schema uses only features that providers can enforce: objects whose members are all required, without
/// additional members, and no keyword that such providers refuse.
fn is_strict(schema: &Value) -> bool {
    let Some(schema) = schema.as_object() else { return false };
    let all = |schemas: &Value| match schemas {
        Value::Object(schemas) => schemas.values().all(is_strict),
        Value::Array(schemas) => schemas.iter().all(is_strict),
        _ => false,
    };
    schema.iter().all(|(keyword, value)| match keyword.as_str() {
        "properties" => {
            let required = schema.get("required").and_then(Value::as_array);
            let is_required = |name: &String| {
                required.is_some_and(|required| required.iter().any(|one| one == name))
            };
            schema.get("additionalProperties") == Some(&Value::Bool(false))
                && value.as_object().is_some_and(|members| members.keys().all(is_required))
                && all(value)
        }
        "anyOf" | "$defs" => all(value),
        "items" => is_strict(value),
        "type" => value != "object" || schema.contains_key("properties"),
        keyword => PLAIN_KEYWORDS.contains(&keyword),
    })
}

/// The keywords without inner schemas that providers which enforce schemas know.
const PLAIN_KEYWORDS: [&str; 16] = [
    "required",
    "additionalProperties",
    "enum",
    "const",
    "title",
    "description",
    "$ref",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
];

/// Adds a member. As a function of its own, because each inlined use of the map's method would be compiled again.
#[inline(never)]
fn put(members: &mut Map<String, Value>, name: &str, value: Value) {
    members.insert(name.to_owned(), value);
}
