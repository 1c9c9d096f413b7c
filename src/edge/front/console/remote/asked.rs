//! What the console asks of an agent elsewhere: the body of a request.

use std::rc::Rc;

use serde_json::{Map, Value};

use a2a::Call;
use a2a::binding::{Binding, json};
use a2a::client::Connection;
use a2a::dialect::{Dialect, Dialects, Spoken};
use a2a::error::Error;
use a2a::model::Secret;

/// What is asked of an agent elsewhere.
pub(super) struct Asked {
    /// The id of the answer, as JSON-RPC has it.
    pub(super) id: Value,
    /// Where the agent is, or its card.
    pub(super) url: String,
    /// The name of the method.
    pub(super) method: String,
    /// What it calls.
    pub(super) wanted: Wanted,
    /// Headers that go along with every request to the origin of the URL.
    pub(super) headers: Vec<(String, Secret)>,
    /// The interface to call, if the console knows it from the card already.
    pub(super) connection: Option<Rc<Connection>>,
    /// Whether the answer is to say what went over the wire.
    pub(super) shows_wire: bool,
}

/// The origin of a URL, if it is one.
type OriginOf = fn(&str) -> Option<String>;

/// What is called.
#[derive(Debug, PartialEq)]
pub(super) enum Wanted {
    /// The public card of the agent.
    Card,
    /// An operation of A2A 1.0.
    Call(Box<Call>),
}

impl Asked {
    /// Reads a body that came in at the origin `own`. `origin_of` gives the origin of a URL, as the platform reads it.
    ///
    /// # Errors
    ///
    /// [`Error::JsonParse`], [`Error::InvalidRequest`], [`Error::InvalidParams`], [`Error::MethodNotFound`].
    pub(super) fn read(
        body: &[u8],
        max_values: usize,
        own: &str,
        origin_of: OriginOf,
    ) -> Result<Self, Error> {
        let Value::Object(mut members) = json::parse(body, max_values)? else {
            return Err(Error::InvalidRequest("the body must be a JSON object".to_owned()));
        };
        let mut take = |name: &str| members.remove(name).filter(|value| !value.is_null());
        let url = match take("url") {
            Some(Value::String(url)) => url.trim().to_owned(),
            _ => return Err(invalid("url", "must be the URL of an agent or of its card")),
        };
        let origin = origin_of(&url).filter(|_| url.starts_with("http"));
        let origin = origin.ok_or_else(|| {
            invalid("url", "must be an absolute URL of https, as https://agents.example/demo")
        })?;
        let Some(Value::String(method)) = take("method") else {
            return Err(invalid("method", "must be the name of a method, as GetAgentCard"));
        };
        let headers = match take("headers") {
            None => Vec::new(),
            Some(Value::Object(headers)) => read_headers(headers, origin == own)?,
            Some(_) => return Err(invalid("headers", "must be an object of names and texts")),
        };
        let connection = match take("interface") {
            None => None,
            Some(interface) => Some(Rc::new(read_interface(&interface, &origin, origin_of)?)),
        };
        let params = take("params").unwrap_or_else(|| Value::Object(Map::new()));
        let wanted = read_wanted(&method, params)?;
        let shows_wire = take("wire").is_some_and(|wire| wire == Value::Bool(true));
        let id =
            take("id").filter(|id| id.is_string() || id.is_number()).unwrap_or_else(|| 1.into());
        Ok(Self { id, url, method, wanted, headers, connection, shows_wire })
    }
}

/// The operation of a method, with its parameters.
fn read_wanted(method: &str, params: Value) -> Result<Wanted, Error> {
    if method == CARD {
        return Ok(Wanted::Card);
    }
    // Operations of our own extensions are those of our own agents.
    if !METHODS.contains(&method) {
        return Err(Error::MethodNotFound(method.chars().take(60).collect()));
    }
    let spoken = Spoken::method(method, Some(Dialect::V1.version()), false, &Dialects::NONE)?;
    let read = Dialect::V1.decode(Binding::JsonRpc, spoken.operation, params)?;
    Ok(Wanted::Call(Box::new(read.call)))
}

/// The headers that go along.
fn read_headers(
    headers: Map<String, Value>,
    is_ours: bool,
) -> Result<Vec<(String, Secret)>, Error> {
    if headers.len() > MAX_HEADERS {
        return Err(invalid("headers", &format!("must be at most {MAX_HEADERS}")));
    }
    let mut read = Vec::new();
    for (name, value) in headers {
        let field = format!("headers.{}", name.chars().take(60).collect::<String>());
        let lower = name.to_ascii_lowercase();
        let is_token = !name.is_empty()
            && name.len() <= MAX_NAME_BYTES
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte));
        if !is_token {
            return Err(invalid(&field, "is no name of a header"));
        }
        if is_kept_back(&lower) || (is_ours && lower == "cookie") {
            return Err(invalid(&field, "is a header that cannot be given"));
        }
        match value {
            Value::String(text) if is_header_value(&text) => read.push((lower, Secret::new(text))),
            _ => {
                return Err(invalid(
                    &field,
                    "must be a text of visible ASCII letters, at most 8 KB",
                ));
            }
        }
    }
    Ok(read)
}

/// Whether a header is the client's, the platform's, or that of a browser: none of the person's matter.
fn is_kept_back(name: &str) -> bool {
    const NAMES: [&str; 26] = [
        "accept",
        "accept-charset",
        "accept-encoding",
        "a2a-version",
        "cdn-loop",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "date",
        "expect",
        "forwarded",
        "host",
        "keep-alive",
        "last-event-id",
        "origin",
        "referer",
        "te",
        "trailer",
        "transfer-encoding",
        "true-client-ip",
        "upgrade",
        "user-agent",
        "via",
        "x-real-ip",
        "x-requested-with",
    ];
    const BEGINNINGS: [&str; 5] = ["cf-connecting", "cf-ray", "proxy-", "sec-", "x-forwarded-"];
    NAMES.contains(&name) || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

fn is_header_value(text: &str) -> bool {
    let is_visible = |byte: u8| byte == b' ' || byte == b'\t' || byte.is_ascii_graphic();
    text.len() <= MAX_VALUE_BYTES && text.bytes().all(is_visible)
}

/// The interface that an answer to `GetAgentCard` named, at the origin of the URL.
fn read_interface(
    interface: &Value,
    origin: &str,
    origin_of: OriginOf,
) -> Result<Connection, Error> {
    let text = |name: &str| interface.get(name).and_then(Value::as_str);
    let unknown = || invalid("interface", "must be the one that the answer to GetAgentCard has");
    let binding = match text("protocolBinding") {
        Some("JSONRPC") => Binding::JsonRpc,
        Some("HTTP+JSON") => Binding::Rest,
        _ => return Err(unknown()),
    };
    let dialects = [Dialect::V1, Dialect::V0_3, Dialect::Legacy];
    let version = text("protocolVersion").ok_or_else(unknown)?;
    let dialect = dialects.into_iter().find(|dialect| dialect.version() == version);
    let url = text("url").ok_or_else(unknown)?;
    if origin_of(url).as_deref() != Some(origin) {
        return Err(invalid("interface.url", "must be at the origin of `url`"));
    }
    Ok(Connection {
        url: url.to_owned(),
        binding,
        dialect: dialect.ok_or_else(unknown)?,
        tenant: text("tenant").map(str::to_owned),
        is_trusted: true,
        streams: interface.get("streams").and_then(Value::as_bool).ok_or_else(unknown)?,
    })
}

fn invalid(field: &str, description: &str) -> Error {
    Error::invalid(field, description)
}

/// The method that is none of A2A: the public card is a document.
const CARD: &str = "GetAgentCard";

/// The methods of A2A.
const METHODS: [&str; 11] = [
    "SendMessage",
    "SendStreamingMessage",
    "GetTask",
    "ListTasks",
    "CancelTask",
    "SubscribeToTask",
    "GetExtendedAgentCard",
    "CreateTaskPushNotificationConfig",
    "GetTaskPushNotificationConfig",
    "ListTaskPushNotificationConfigs",
    "DeleteTaskPushNotificationConfig",
];

/// How many headers may be given, and how large they may be.
const MAX_HEADERS: usize = 32;
const MAX_NAME_BYTES: usize = 100;
const MAX_VALUE_BYTES: usize = 8 * 1024;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const OWN: &str = "https://agents.example";

    fn read(body: &Value) -> Result<Asked, Error> {
        let origin_of = |url: &str| {
            let (origin, _, _) = a2a::binding::http::split_url(url);
            origin.contains("://").then(|| origin.to_owned())
        };
        Asked::read(body.to_string().as_bytes(), 1_000, OWN, origin_of)
    }

    fn with(more: Value) -> Value {
        let mut body =
            json!({"url": "https://b.example/x", "method": "GetTask", "params": {"id": "t"}});
        let members = more.as_object().unwrap().clone();
        body.as_object_mut().unwrap().extend(members);
        body
    }

    #[test]
    fn a_body_names_an_agent_and_a_method_of_1_0() {
        let asked =
            read(&with(json!({"headers": {"Authorization": "Bearer x"}, "wire": true, "id": "a"})))
                .unwrap();
        assert_eq!((asked.url.as_str(), asked.method.as_str()), ("https://b.example/x", "GetTask"));
        assert_eq!(asked.id, json!("a"));
        assert!(asked.shows_wire && asked.connection.is_none());
        let names: Vec<&str> = asked.headers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["authorization"]);
        let card = read(&json!({"url": "https://b.example", "method": "GetAgentCard"})).unwrap();
        assert_eq!((card.wanted, card.id), (Wanted::Card, json!(1)));
        for method in ["ListTasks", "GetExtendedAgentCard"] {
            assert!(read(&with(json!({"method": method, "params": null}))).is_ok(), "{method}");
        }
    }

    #[test]
    fn what_is_none_of_that_is_refused_with_its_place() {
        for (body, part) in [
            (json!([]), "must be a JSON object"),
            (with(json!({"url": 1})), "url"),
            (with(json!({"url": "b.example"})), "url"),
            (with(json!({"url": "ftp://b.example"})), "url"),
            (with(json!({"url": "file:///etc/passwd"})), "url"),
            (with(json!({"method": null})), "method"),
            (with(json!({"method": "GET"})), "GET"),
            (with(json!({"method": "tasks/get"})), "tasks/get"),
            (
                with(
                    json!({"method": "RedeliverTaskPushNotifications", "params": {"taskId": "t", "id": "c", "generation": 1}}),
                ),
                "Redeliver",
            ),
            (with(json!({"params": {}})), "id"),
            (with(json!({"headers": []})), "headers"),
            (with(json!({"headers": {"x y": "v"}})), "headers.x y"),
            (with(json!({"headers": {"x": 1}})), "headers.x"),
            (with(json!({"headers": {"x": "a\r\nb: c"}})), "headers.x"),
            (with(json!({"headers": {"x": "é"}})), "headers.x"),
            (with(json!({"interface": {"url": "https://b.example/"}})), "interface"),
        ] {
            let Err(error) = read(&body) else { panic!("{body} was taken") };
            assert!(error.to_string().contains(part), "{error}");
        }
    }

    #[test]
    fn headers_of_the_client_the_platform_and_the_browser_cannot_be_given() {
        for name in [
            "Host",
            "host",
            "Content-Length",
            "Content-Type",
            "Transfer-Encoding",
            "Connection",
            "Origin",
            "Sec-Fetch-Site",
            "Proxy-Authorization",
            "X-Forwarded-For",
            "CF-Connecting-IP",
            "Upgrade",
            "A2A-Version",
            "Accept",
        ] {
            assert!(read(&with(json!({"headers": {name: "v"}}))).is_err(), "{name}");
        }
        for name in [
            "Authorization",
            "X-API-Key",
            "Cookie",
            "A2A-Extensions",
            "CF-Access-Client-Id",
            "CF-Access-Client-Secret",
        ] {
            assert!(read(&with(json!({"headers": {name: "v"}}))).is_ok(), "{name}");
        }
        let cookie = json!({"headers": {"Cookie": "a=b"}, "url": format!("{OWN}/demo")});
        assert!(read(&with(cookie)).is_err(), "cookies of our own are not for pages to choose");
        let many: Map<String, Value> =
            (0..40).map(|nth| (format!("x-{nth}"), json!("v"))).collect();
        assert!(read(&with(json!({"headers": many}))).is_err());
    }

    #[test]
    fn an_interface_is_at_the_origin_of_the_url() {
        let interface = |url: &str| json!({"interface": {"url": url, "protocolBinding": "HTTP+JSON", "protocolVersion": "0.3", "streams": true}});
        let known = read(&with(interface("https://b.example/rpc"))).unwrap().connection.unwrap();
        assert_eq!(
            (known.binding, known.dialect, known.streams),
            (Binding::Rest, Dialect::V0_3, true)
        );
        for url in ["https://c.example/rpc", "http://b.example/rpc", "https://b.example:8443/", "x"]
        {
            assert!(read(&with(interface(url))).is_err(), "{url}");
        }
    }
}
