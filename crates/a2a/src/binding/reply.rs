//! The form of an answer to the client. It has two parts: the transport, which is the binding, and the dialect, which is the
//! version of the protocol.

use std::borrow::Cow;

use serde::Serialize;

use super::rest;
use crate::Outcome;
use crate::dialect::{Dialect, Habits, StreamState, older};
use crate::error::Error;
use crate::model::StreamResponse;
use crate::model::decode::{Decode, Fields, read_json};
use crate::wire::Binding;
use crate::wire::http::HttpResponse;
use crate::wire::jsonrpc::{self, RequestId};
use crate::wire::media_type::{MediaType, accepts_event_stream};
use crate::wire::sse::single_event;

/// The form of the answer to a request: set where the request is read, used where the answer is made.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reply {
    #[serde(rename = "form")]
    transport: Transport,
    #[serde(skip_serializing_if = "Dialect::is_v1")]
    dialect: Dialect,
    #[serde(skip_serializing_if = "Habits::are_default")]
    habits: Habits,
    /// The URIs of the extensions that the answer lists as active (spec §3.2.6).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    extensions: Vec<String>,
}

/// The transport of an answer: the binding through which the request arrived.
#[derive(Clone, Debug, PartialEq, Serialize)]
enum Transport {
    /// A JSON-RPC response with this id (spec §9).
    JsonRpc(RequestId),
    /// The bare result, or an error as `google.rpc.Status` (spec §11). The media type is that of results; errors are always
    /// `application/json`.
    Rest(MediaType),
}

impl Decode for Reply {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let extensions = fields.strings("extensions");
        let dialect = Dialect::read(fields, "dialect")?;
        let habits = fields.object("habits").unwrap_or_default();
        Some(Self { transport: fields.required_object("form")?, dialect, habits, extensions })
    }
}

impl Decode for Transport {
    fn decode(fields: &mut Fields) -> Option<Self> {
        if let Some(id) = fields.nullable("JsonRpc") {
            return RequestId::read(id).map(Self::JsonRpc);
        }
        match fields.required_string("Rest")?.as_str() {
            "Json" => Some(Self::Rest(MediaType::Json)),
            "A2aJson" => Some(Self::Rest(MediaType::A2aJson)),
            _ => None,
        }
    }
}

impl Reply {
    /// A reply by a JSON-RPC response with this id.
    pub fn json_rpc(id: RequestId) -> Self {
        Self::over(Transport::JsonRpc(id))
    }

    /// A reply in the HTTP+JSON binding, with results in this media type.
    pub fn rest(media_type: MediaType) -> Self {
        Self::over(Transport::Rest(media_type))
    }

    fn over(transport: Transport) -> Self {
        let (dialect, habits) = (Dialect::V1, Habits::default());
        Self { transport, dialect, habits, extensions: Vec::new() }
    }

    /// Sets the active extensions.
    pub fn with_extensions(self, extensions: Vec<String>) -> Self {
        Self { extensions, ..self }
    }

    /// Sets the dialect, which is 1.0 by default.
    pub fn in_dialect(self, dialect: Dialect) -> Self {
        Self { dialect, ..self }
    }

    /// Sets the dialect, and the client's form of details that older versions leave open.
    pub fn speak(&mut self, dialect: Dialect, habits: Habits) {
        (self.dialect, self.habits) = (dialect, habits);
    }

    /// The binding of the request and of the answer.
    pub fn binding(&self) -> Binding {
        match self.transport {
            Transport::JsonRpc(_) => Binding::JsonRpc,
            Transport::Rest(_) => Binding::Rest,
        }
    }

    /// The dialect of the request and of the answer.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The answer with the outcome of an operation; if the outcome is one task, with the header `Generation`.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] if the outcome cannot be encoded.
    pub fn outcome(&self, outcome: &Outcome) -> Result<HttpResponse, Error> {
        let (binding, extensions) = (self.binding(), &self.extensions);
        let result = self.dialect.result(binding, self.habits, outcome, extensions)?;
        let nothing = || vec![Cow::Borrowed(self.transport.nothing())];
        let mut response = self.transport.result(&result.unwrap_or_else(nothing));
        if let Some((name, value)) = self.extensions_header() {
            response = response.with_header(name, value);
        }
        if let Some(generation) = outcome.generation() {
            response = response.with_header("generation", generation.to_string());
        }
        Ok(response)
    }

    /// The text before and after the result in each event of a stream. The text of an event is equal to the body of an
    /// [`outcome`](Self::outcome).
    pub fn around_result(&self) -> (String, &'static str) {
        self.transport.around_result()
    }

    /// Translates an event, given as the JSON of a StreamResponse of 1.0, for a stream of an older dialect. `None` if
    /// `event` is not a StreamResponse, or if the dialect is 1.0, whose events are sent unchanged between the texts of
    /// [`around_result`](Self::around_result). `generation` is `None` for a message in place of a task.
    pub fn stream_text(
        &self,
        event: &str,
        generation: Option<u64>,
        state: &mut StreamState,
    ) -> Option<StreamText> {
        let event: StreamResponse = read_json(event).ok()?;
        let piece = self.dialect.piece(self.binding(), self.habits, &event, state)?;
        let (before, behind) = self.around_result();
        let mut text = String::new();
        for (name, json) in piece.frames {
            if let Some(generation) = generation {
                text.push_str(&format!("id: {generation}\n"));
            }
            if let Some(name) = name {
                text.push_str(&format!("event: {name}\n"));
            }
            text.push_str(&format!("data: {before}{json}{behind}\n\n"));
        }
        Some(StreamText { text, is_last: piece.is_last })
    }

    /// Whether a refusal is sent as a stream of one event: over JSON-RPC, clients of older versions accept no other answer
    /// to a streaming method.
    pub fn refuses_by_stream(&self) -> bool {
        !self.dialect.is_v1() && self.binding() == Binding::JsonRpc
    }

    /// The answer with the error of a call, before any other answer was sent. `is_stream`: the call requests a stream, so
    /// the refusal may have to be [a stream](Self::refuses_by_stream).
    pub fn refusal(&self, is_stream: bool, error: &Error) -> HttpResponse {
        self.refused(is_stream && self.refuses_by_stream(), error)
    }

    /// The answer to a request over JSON-RPC that is refused before its call, or even its dialect, is known. The name of the
    /// method reveals a streaming method of an older version, and `Accept` reveals whether the client reads a stream.
    pub fn method_refusal(
        &self,
        method: &str,
        accept: Option<&str>,
        error: &Error,
    ) -> HttpResponse {
        self.refused(older::is_stream(method) && accepts_event_stream(accept), error)
    }

    /// The answer with an error, as a stream of one event if `by_stream`. An error with an HTTP status other than 200 is
    /// never sent as a stream.
    fn refused(&self, by_stream: bool, error: &Error) -> HttpResponse {
        let answer = self.error(error);
        if by_stream && answer.status == 200 { single_event(&answer.body) } else { answer }
    }

    /// The answer with an error.
    pub fn error(&self, error: &Error) -> HttpResponse {
        let error = self.dialect.named_late(self.binding(), error);
        let error = error.as_ref();
        match &self.transport {
            Transport::JsonRpc(id) => {
                let (code, text) = (self.dialect.error_code(error), self.dialect.error_text(error));
                jsonrpc::failure(id, error, code, &text, &self.dialect.error_data(error))
            }
            Transport::Rest(_) => self.dialect.rest_error(error),
        }
    }

    /// The header that lists the active extensions, if there are any. [`Self::outcome`] sets it.
    pub fn extensions_header(&self) -> Option<(&'static str, String)> {
        let is_any = !self.extensions.is_empty();
        is_any.then(|| (self.dialect.extensions_header(), self.extensions.join(", ")))
    }
}

impl Transport {
    /// The answer with a result that is already JSON text, in pieces, which are copied once.
    fn result(&self, json: &[Cow<'_, str>]) -> HttpResponse {
        match self {
            Self::JsonRpc(id) => jsonrpc::result(id, json),
            Self::Rest(media_type) => rest::result(*media_type, json),
        }
    }

    /// The result of an operation that succeeded and has no result.
    fn nothing(&self) -> &'static str {
        match self {
            Self::JsonRpc(_) => "null",
            Self::Rest(_) => "{}",
        }
    }

    /// The text before and after a result in an event of a stream.
    fn around_result(&self) -> (String, &'static str) {
        match self {
            Self::JsonRpc(id) => (jsonrpc::result_opening(id), jsonrpc::RESULT_CLOSING),
            Self::Rest(_) => (String::new(), ""),
        }
    }
}

/// The text of an event on a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamText {
    /// The server-sent events for the client; empty if the dialect does not report this event.
    pub text: String,
    /// Whether this event ends the stream.
    pub is_last: bool,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ShownTask;
    use crate::model::decode::{decode, read_json};
    use crate::model::{
        KnownSecrets, ShownWebhook, TaskId, TaskPushNotificationConfig, WEBHOOKS_EXTENSION,
    };

    fn header<'a>(response: &'a HttpResponse, name: &str) -> Option<&'a str> {
        let found = response.headers.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.as_str())
    }

    #[test]
    fn a_stream_is_refused_by_a_stream_where_the_client_reads_nothing_else() {
        let unknown = Error::TaskNotFound(TaskId::new("t").unwrap());
        let (rpc, rest) = (Reply::json_rpc(RequestId::NULL), Reply::rest(MediaType::Json));
        for (reply, dialect, is_stream, error, refuses_by_stream) in [
            (&rpc, Dialect::V0_3, true, &unknown, true),
            (&rpc, Dialect::Legacy, true, &unknown, true),
            (&rpc, Dialect::V0_3, false, &unknown, false),
            (&rpc, Dialect::V1, true, &unknown, false),
            (&rest, Dialect::V0_3, true, &unknown, false),
            (&rpc, Dialect::V0_3, true, &Error::RateLimited(1), false),
        ] {
            let reply = reply.clone().in_dialect(dialect);
            let (answer, plain) = (reply.refusal(is_stream, error), reply.error(error));
            if !refuses_by_stream {
                assert_eq!(answer, plain);
                continue;
            }
            assert_eq!((answer.status, answer.body), (200, format!("data: {}\n\n", plain.body)));
            let media_type = answer.headers.iter().find(|(name, _)| *name == "content-type");
            assert_eq!(media_type.map(|(_, value)| value.as_str()), Some("text/event-stream"));
        }
    }

    #[test]
    fn older_streams_are_refused_by_a_stream_before_their_dialect_is_known() {
        let reply = Reply::json_rpc(RequestId::NULL);
        let both = Some("application/json, text/event-stream");
        let refused = Error::UnsupportedOperation("no".to_owned());
        for (method, accept, error, is_stream) in [
            ("message/stream", Some("text/event-stream"), &refused, true),
            ("tasks/resubscribe", both, &refused, true),
            ("tasks/sendSubscribe", both, &refused, true),
            ("message/stream", Some("application/json"), &refused, false),
            ("message/stream", None, &refused, false),
            ("message/send", both, &refused, false),
            ("SendStreamingMessage", both, &refused, false),
            ("message/stream", both, &Error::RateLimited(1), false),
        ] {
            let answer = reply.method_refusal(method, accept, error);
            let is_event = answer.body.starts_with("data: {") && answer.body.ends_with("}\n\n");
            assert_eq!(is_event, is_stream, "{method} {accept:?}");
            let media_type = header(&answer, "content-type");
            assert_eq!(media_type == Some("text/event-stream"), is_stream, "{method} {accept:?}");
        }
    }

    #[test]
    fn results_and_errors_are_in_the_form_of_the_binding() {
        let error = Error::MethodNotFound("x".to_owned());
        for (reply, result, media_type, status) in [
            (
                Reply::json_rpc(RequestId::NULL),
                r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
                "application/json",
                200,
            ),
            (Reply::rest(MediaType::Json), "{}", "application/json", 404),
            (Reply::rest(MediaType::A2aJson), "{}", "application/a2a+json", 404),
        ] {
            let answer = reply.outcome(&Outcome::Tasks("{}".to_owned())).expect("an answer");
            assert_eq!((answer.status, answer.body.as_str()), (200, result));
            assert_eq!(header(&answer, "content-type"), Some(media_type));
            let (before, behind) = reply.around_result();
            assert_eq!(format!("{before}{{}}{behind}"), result);
            let refusal = reply.error(&error);
            assert_eq!(refusal.status, status);
            assert_eq!(header(&refusal, "content-type"), Some("application/json"));
        }
    }

    #[test]
    fn an_answer_that_is_a_task_tells_its_generation() {
        let task =
            ShownTask { json: "{}".to_owned().into(), generation: 7, ..ShownTask::default() };
        for (outcome, body) in
            [(Outcome::Task(task.clone()), "{}"), (Outcome::SentTask(task), r#"{"task":{}}"#)]
        {
            let answer = Reply::rest(MediaType::Json).outcome(&outcome).expect("an answer");
            assert_eq!(answer.body, body);
            assert_eq!(header(&answer, "generation"), Some("7"));
        }
    }

    #[test]
    fn webhooks_show_what_the_extension_adds_to_those_that_use_it() {
        let secret = format!("whsec_{}", "A".repeat(32));
        let full = json!({"id": "c", "taskId": "t", "url": "https://example.com", "token": "k",
            "events": "status", "signingSecret": secret});
        let mut plain = full.clone();
        let _ = ["events", "signingSecret"].map(|name| plain.as_object_mut().unwrap().remove(name));
        let config: TaskPushNotificationConfig = decode(full.clone()).expect("a good config");
        let has = KnownSecrets { has_token: true, has_signing_secret: true, ..Default::default() };
        let config = ShownWebhook { config, has: Some(has) };
        let mut full = full;
        full["hasToken"] = json!(true);
        full["hasCredentials"] = json!(false);
        full["hasSigningSecret"] = json!(true);
        let reply = Reply::rest(MediaType::Json);
        let informed = reply.clone().with_extensions(vec![WEBHOOKS_EXTENSION.to_owned()]);
        let read = |reply: &Reply, outcome: &Outcome| -> serde_json::Value {
            serde_json::from_str(&reply.outcome(outcome).expect("an answer").body).expect("JSON")
        };
        for (reply, shown) in [(reply, plain), (informed, full)] {
            let one = Outcome::PushConfig(Box::new(config.clone()));
            assert_eq!(read(&reply, &one), shown);
            let all = Outcome::PushConfigs(vec![config.clone(), config.clone()]);
            assert_eq!(read(&reply, &all), json!({"configs": [shown, shown], "nextPageToken": ""}));
        }
    }

    #[test]
    fn what_is_deleted_leaves_nothing_to_show() {
        for (reply, body) in [
            (Reply::json_rpc(RequestId::NULL), r#"{"jsonrpc":"2.0","id":null,"result":null}"#),
            (Reply::rest(MediaType::A2aJson), "{}"),
        ] {
            let answer = reply.outcome(&Outcome::Deleted).expect("an answer");
            assert_eq!((answer.status, answer.body.as_str()), (200, body));
        }
    }

    #[test]
    fn extensions_in_use_are_named_with_results() {
        let tasks = Outcome::Tasks("{}".to_owned());
        let named = |reply: &Reply| {
            let answer = reply.outcome(&tasks).expect("an answer");
            header(&answer, "a2a-extensions").map(str::to_owned)
        };
        let reply = Reply::rest(MediaType::Json);
        assert_eq!(named(&reply), None);
        let uris = vec!["urn:a".to_owned(), "urn:b".to_owned()];
        let reply = reply.with_extensions(uris);
        assert_eq!(named(&reply).as_deref(), Some("urn:a, urn:b"));
    }

    #[test]
    fn a_reply_survives_the_way_to_the_object() {
        let reply = Reply::rest(MediaType::A2aJson).with_extensions(vec!["urn:a".to_owned()]);
        let text = serde_json::to_string(&reply).expect("plain data");
        assert_eq!(read_json::<Reply>(&text).expect("plain data"), reply);
        // During a deploy, objects and front Workers of two versions exchange this text.
        assert_eq!(text, r#"{"form":{"Rest":"A2aJson"},"extensions":["urn:a"]}"#);
    }
}
