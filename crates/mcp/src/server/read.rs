//! Parses requests. The order of the checks is: HTTP method, JSON, envelope, era, and for modern requests their `_meta`,
//! headers, version, method.

use a2a::binding::http::HttpResponse;
use a2a::binding::json::parse;
use a2a::binding::media_type::essence;
use a2a::client::{DEPTH_KEY, read_depth};
use a2a::error::Error;
use serde_json::{Map, Value, json};

use super::{Asked, Capabilities, Era, Reply, ServerInfo};
use crate::header;
use crate::model::{LATEST, Revision, RpcError, code, meta};

/// An HTTP request.
pub struct Incoming<'a> {
    /// The method, in upper case.
    pub method: &'a str,
    /// Returns the value of a header; the name is in lower case.
    pub header: &'a dyn Fn(&str) -> Option<String>,
    /// The body.
    pub body: &'a [u8],
    /// The largest number of JSON values in the body.
    pub max_values: usize,
}

/// The decision about an HTTP request.
#[derive(Clone, Debug, PartialEq)]
pub enum Received {
    /// The answer to a refused request, or to a notification, which is ignored.
    Answer(HttpResponse),
    /// A request that the caller must answer.
    Request(Box<Request>),
}

/// A request.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The parsed method and params.
    pub asked: Asked,
    /// The `_meta` of the request.
    pub meta: Meta,
    /// Makes the answer.
    pub reply: Reply,
}

/// The `_meta` of a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meta {
    /// The client's token for the progress of the request: a text or a number.
    pub progress_token: Option<Value>,
    /// The depth of the request: the number of agent-to-agent calls before it.
    pub depth: u32,
    /// The trace of the request, in the form of the header `traceparent`.
    pub traceparent: Option<String>,
    /// The header `tracestate` of the trace.
    pub tracestate: Option<String>,
}

/// Parses a request.
pub fn read(incoming: &Incoming<'_>, server: &ServerInfo) -> Received {
    match incoming.read(server) {
        Ok(Some(request)) => Received::Request(Box::new(request)),
        Ok(None) => Received::Answer(HttpResponse::empty(202)),
        Err(answer) => Received::Answer(answer),
    }
}

impl Incoming<'_> {
    /// The request; `None` for a notification.
    fn read(&self, server: &ServerInfo) -> Result<Option<Request>, HttpResponse> {
        if self.method != "POST" {
            // In MCP, GET opens a separate stream and DELETE ends a session. This server has neither.
            let reply = Reply::new(Value::Null, Era::Legacy, server);
            let message = format!("the method {} is not taken here; POST a request", self.method);
            let answer = reply.refused(405, &RpcError::new(code::INVALID_REQUEST, message));
            return Err(answer.with_header("allow", "POST, OPTIONS"));
        }
        let mut reply = Reply::new(Value::Null, Era::Legacy, server);
        if let Some(kind) = self.header("content-type").filter(|kind| !is_json(kind)) {
            let message = format!("content-type must be application/json, got {kind}");
            return Err(reply.refused(415, &invalid_request(message)));
        }
        let body = parse(self.body, self.max_values);
        let mut members = match body.map_err(|error| reply.error(&no_json(&error)))? {
            Value::Object(members) => members,
            Value::Array(_) => {
                let message = "batches are not taken; send one request at a time";
                return Err(reply.error(&invalid_request(message)));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                return Err(reply.error(&invalid_request("the body must be a JSON object")));
            }
        };
        let id = members.remove("id");
        if let Some(id) = &id {
            if !is_id(id) {
                let message = "id must be a text or a whole number";
                return Err(reply.error(&invalid_request(message)));
            }
            reply.id = id.clone();
        }
        if members.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err(reply.error(&invalid_request("jsonrpc must be \"2.0\"")));
        }
        let Some(Value::String(method)) = members.remove("method") else {
            let is_answer = members.contains_key("result") || members.contains_key("error");
            let message = if is_answer {
                "nothing was asked, so that nothing can be answered"
            } else {
                "method must be a text"
            };
            return Err(reply.error(&invalid_request(message)));
        };
        if id.is_none() {
            return Ok(None);
        }
        let params = match members.remove("params") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(params)) => params,
            Some(_) => return Err(reply.error(&invalid_request("params must be an object"))),
        };
        let said = params.get("_meta").and_then(Value::as_object);
        reply.era = self.era(&method, &params, said).map_err(|(era, error)| {
            reply.era = era;
            if error.code == code::INVALID_PARAMS {
                reply.refused(400, &error)
            } else {
                reply.error(&error)
            }
        })?;
        let asked = Asked::read(&method, &params, reply.era);
        let asked = asked.map_err(|error| reply.error(&error))?;
        let meta = said.map(Meta::read).unwrap_or_default();
        Ok(Some(Request { asked, meta, reply }))
    }

    /// The era of a request, after the checks of that era. The `Era` of an error is the era of its answer.
    fn era(
        &self,
        method: &str,
        params: &Map<String, Value>,
        said: Option<&Map<String, Value>>,
    ) -> Result<Era, (Era, RpcError)> {
        let told = said.and_then(|said| said.get(meta::PROTOCOL_VERSION));
        let header = self.header(VERSION);
        let header = header.as_deref().map(str::trim);
        // Revisions are dates, so comparing their texts compares their dates.
        let is_modern = told.is_some() || header.is_some_and(|version| version >= LATEST.as_str());
        if is_modern {
            return self.modern(method, params, said, header).map_err(|error| (MODERN, error));
        }
        let known = header.is_none_or(|version| Revision::parse(version).is_some());
        if !known && method != "initialize" {
            let message = format!(
                "the header {VERSION} names a revision that is not spoken here: {}; there are: {}",
                header.unwrap_or_default(),
                Revision::ALL.map(Revision::as_str).join(", ")
            );
            return Err((Era::Legacy, invalid_request(message)));
        }
        Ok(Era::Legacy)
    }

    fn modern(
        &self,
        method: &str,
        params: &Map<String, Value>,
        said: Option<&Map<String, Value>>,
        header: Option<&str>,
    ) -> Result<Era, RpcError> {
        let lacking = |name: &str, what: &str| {
            let message = format!("params._meta must have {name}, {what}");
            RpcError::new(code::INVALID_PARAMS, message)
        };
        let member = |name: &str| said.and_then(|said| said.get(name));
        let version = member(meta::PROTOCOL_VERSION).and_then(Value::as_str);
        let version = version.ok_or_else(|| lacking(meta::PROTOCOL_VERSION, "a text"))?;
        let capabilities = member(meta::CLIENT_CAPABILITIES).filter(|value| value.is_object());
        let capabilities =
            capabilities.ok_or_else(|| lacking(meta::CLIENT_CAPABILITIES, "an object"))?;
        must_say(VERSION, header, version)?;
        must_say(METHOD, self.header(METHOD).as_deref(), method)?;
        if let Some(name) = named_by(method)
            && let Some(wanted) = params.get(name).and_then(Value::as_str)
        {
            let value = self.header(NAME);
            let said = value.as_deref().map(|value| header::decode(value).ok_or(value));
            match said {
                Some(Ok(said)) if said == wanted => {}
                Some(Ok(_)) => return Err(mismatch(NAME, value.as_deref(), wanted)),
                Some(Err(value)) => return Err(mismatch(NAME, Some(value), wanted)),
                None => return Err(mismatch(NAME, None, wanted)),
            }
        }
        if version != LATEST.as_str() {
            let message = format!("the revision {} is not spoken here", shown(version));
            let data = json!({"supported": [LATEST.as_str()], "requested": version});
            let error = RpcError::new(code::UNSUPPORTED_VERSION, message);
            return Err(RpcError { data: Some(data), ..error });
        }
        Ok(Era::Modern(Capabilities::read(capabilities)))
    }

    fn header(&self, name: &str) -> Option<String> {
        (self.header)(name)
    }
}

impl Meta {
    fn read(said: &Map<String, Value>) -> Self {
        let text = |name: &str| {
            let found = said.get(name).and_then(Value::as_str);
            found.filter(|text| text.len() <= MAX_TRACE_BYTES).map(str::to_owned)
        };
        let token = said.get(meta::PROGRESS_TOKEN);
        Self {
            progress_token: token.filter(|token| token.is_string() || token.is_number()).cloned(),
            depth: said.get(DEPTH_KEY).map_or(0, read_depth),
            traceparent: text("traceparent"),
            tracestate: text("tracestate"),
        }
    }
}

/// The member of the params that the header `Mcp-Name` repeats.
fn named_by(method: &str) -> Option<&'static str> {
    match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some("taskId"),
        _ => None,
    }
}

fn must_say(name: &str, value: Option<&str>, wanted: &str) -> Result<(), RpcError> {
    if value.map(str::trim) == Some(wanted) { Ok(()) } else { Err(mismatch(name, value, wanted)) }
}

fn mismatch(name: &str, value: Option<&str>, wanted: &str) -> RpcError {
    let wanted = shown(wanted);
    let message = match value {
        Some(value) => format!("the header {name} is {}, but the body says {wanted}", shown(value)),
        None => format!("the header {name} is missing; the body says {wanted}"),
    };
    RpcError::new(code::HEADER_MISMATCH, message)
}

/// The error for a body that is not JSON, or exceeds the limits.
fn no_json(error: &Error) -> RpcError {
    let code = match error {
        Error::JsonParse(_) => code::PARSE,
        _ => code::INVALID_REQUEST,
    };
    RpcError::new(code, error.to_string())
}

fn invalid_request(message: impl Into<String>) -> RpcError {
    RpcError::new(code::INVALID_REQUEST, message)
}

/// True if a value may be the id of a request.
fn is_id(id: &Value) -> bool {
    match id {
        Value::String(_) => true,
        Value::Number(number) => !number.is_f64(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

fn is_json(kind: &str) -> bool {
    essence(kind).eq_ignore_ascii_case("application/json")
}

/// A text of the client, shortened for an error.
fn shown(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(MAX_SHOWN).collect()
}

/// The modern era, for errors before the client's capabilities are known.
const MODERN: Era = Era::Modern(Capabilities { forms: false, urls: false, tasks: false });

const VERSION: &str = "mcp-protocol-version";
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";

/// The longest text of a client in an error, in characters.
const MAX_SHOWN: usize = 80;

/// The longest header of a trace that is passed on, in bytes.
const MAX_TRACE_BYTES: usize = 512;
