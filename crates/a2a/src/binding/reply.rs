//! In which form an answer goes to the client.

use serde::Serialize;

use super::http::HttpResponse;
use super::jsonrpc::{self, RequestId};
use super::media_type::MediaType;
use super::rest;
use super::sse::EventWriter;
use crate::error::Error;
use crate::model::decode::{Decode, Fields};
use crate::model::{EventFilter, ShownWebhook, WEBHOOKS_EXTENSION, encode};
use crate::{Outcome, ShownTask};

/// How to answer a request: made where it is read, used by whoever has the answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reply {
    form: Form,
    /// The URIs of the extensions that the answer says are in use (spec §3.2.6).
    extensions: Vec<String>,
}

/// The form of an answer: that of the binding through which the request came.
#[derive(Clone, Debug, PartialEq, Serialize)]
enum Form {
    /// A JSON-RPC response with this id (spec §9).
    JsonRpc(RequestId),
    /// The bare result, or an error as `google.rpc.Status` (spec §11). A result is of this type;
    /// errors are `application/json` in any case.
    Rest(MediaType),
}

impl Decode for Reply {
    fn decode(fields: &mut Fields) -> Option<Self> {
        let extensions = fields.strings("extensions");
        Some(Self { form: fields.required_object("form")?, extensions })
    }
}

impl Decode for Form {
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
    /// As a JSON-RPC response with this id.
    pub fn json_rpc(id: RequestId) -> Self {
        Self { form: Form::JsonRpc(id), extensions: Vec::new() }
    }

    /// As an answer of the HTTP+JSON binding, results in this media type.
    pub fn rest(media_type: MediaType) -> Self {
        Self { form: Form::Rest(media_type), extensions: Vec::new() }
    }

    /// The same with these extensions in use.
    pub fn with_extensions(self, extensions: Vec<String>) -> Self {
        Self { extensions, ..self }
    }

    /// The answer with a result that is JSON text already.
    pub fn result(&self, json: &str) -> HttpResponse {
        self.result_of(&[json])
    }

    /// The answer with a result whose JSON text comes in pieces: they are copied once.
    fn result_of(&self, json: &[&str]) -> HttpResponse {
        let response = match &self.form {
            Form::JsonRpc(id) => jsonrpc::result(id, json),
            Form::Rest(media_type) => rest::result(*media_type, json),
        };
        match self.extensions_header() {
            Some((name, value)) => response.with_header(name, value),
            None => response,
        }
    }

    /// The answer with what an operation gave; where that is one task, with its `Generation`.
    ///
    /// # Errors
    ///
    /// [`Error::Internal`] if it cannot be encoded.
    pub fn outcome(&self, outcome: &Outcome) -> Result<HttpResponse, Error> {
        let (result, generation) = match outcome {
            Outcome::SentMessage(message) => {
                return Ok(self.result_of(&[r#"{"message":"#, &encoded(message)?, "}"]));
            }
            Outcome::SentTask(ShownTask { json, generation }) => {
                (self.result_of(&[r#"{"task":"#, json, "}"]), generation)
            }
            Outcome::Task(ShownTask { json, generation }) => (self.result(json), generation),
            Outcome::PushConfig(config) => return Ok(self.result(&encoded(&self.shown(config))?)),
            Outcome::PushConfigs(configs) => {
                let shown: Vec<_> = configs.iter().map(|config| self.shown(config)).collect();
                let json = [r#"{"configs":"#, &encoded(&shown)?, r#","nextPageToken":""}"#];
                return Ok(self.result_of(&json));
            }
            Outcome::PushConfigDeleted => return Ok(self.nothing()),
            Outcome::Deliveries(json) => return Ok(self.result(json)),
        };
        Ok(result.with_header("generation", generation.to_string()))
    }

    /// A webhook as this client sees it: what the extension adds is for those that use it.
    fn shown(&self, webhook: &ShownWebhook) -> ShownWebhook {
        let mut shown = webhook.clone();
        if !self.extensions.iter().any(|uri| uri == WEBHOOKS_EXTENSION) {
            shown.config.events = EventFilter::All;
            shown.config.signing_secret = None;
            shown.has = None;
        }
        shown
    }

    /// The answer of an operation that was done and gives nothing.
    fn nothing(&self) -> HttpResponse {
        match &self.form {
            Form::JsonRpc(_) => self.result("null"),
            Form::Rest(_) => self.result("{}"),
        }
    }

    /// What writes the events of a stream: each carries the body of a [`Self::result`].
    pub fn events(&self) -> EventWriter {
        match &self.form {
            Form::JsonRpc(id) => {
                EventWriter::new(jsonrpc::result_opening(id), jsonrpc::RESULT_CLOSING)
            }
            Form::Rest(_) => EventWriter::new(String::new(), ""),
        }
    }

    /// The answer with an error.
    pub fn error(&self, error: &Error) -> HttpResponse {
        match &self.form {
            Form::JsonRpc(id) => jsonrpc::error(id, error),
            Form::Rest(_) => HttpResponse::error(error),
        }
    }

    /// The header that names the extensions in use, if there are any. [`Self::result`] sets it.
    pub fn extensions_header(&self) -> Option<(&'static str, String)> {
        let is_any = !self.extensions.is_empty();
        is_any.then(|| ("a2a-extensions", self.extensions.join(", ")))
    }
}

fn encoded<T: Serialize>(value: &T) -> Result<String, Error> {
    encode(value).map_err(|_| Error::Internal { task: None })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::decode::{decode, read_json};
    use crate::model::{KnownSecrets, TaskPushNotificationConfig};

    fn header<'a>(response: &'a HttpResponse, name: &str) -> Option<&'a str> {
        let found = response.headers.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.as_str())
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
            let answer = reply.result("{}");
            assert_eq!((answer.status, answer.body.as_str()), (200, result));
            assert_eq!(header(&answer, "content-type"), Some(media_type));
            assert_eq!(reply.events().event(Some(3), "{}"), format!("id: 3\ndata: {result}\n\n"));
            let refusal = reply.error(&error);
            assert_eq!(refusal.status, status);
            assert_eq!(header(&refusal, "content-type"), Some("application/json"));
        }
    }

    #[test]
    fn an_answer_that_is_a_task_tells_its_generation() {
        let task = ShownTask { json: "{}".to_owned().into(), generation: 7 };
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
            let answer = reply.outcome(&Outcome::PushConfigDeleted).expect("an answer");
            assert_eq!((answer.status, answer.body.as_str()), (200, body));
        }
    }

    #[test]
    fn extensions_in_use_are_named_with_results() {
        let reply = Reply::rest(MediaType::Json);
        assert_eq!(header(&reply.result("{}"), "a2a-extensions"), None);
        let uris = vec!["urn:a".to_owned(), "urn:b".to_owned()];
        let reply = reply.with_extensions(uris);
        assert_eq!(header(&reply.result("{}"), "a2a-extensions"), Some("urn:a, urn:b"));
    }

    #[test]
    fn a_reply_survives_the_way_to_the_object() {
        let reply = Reply::rest(MediaType::A2aJson).with_extensions(vec!["urn:a".to_owned()]);
        let text = serde_json::to_string(&reply).expect("plain data");
        assert_eq!(read_json::<Reply>(&text).expect("plain data"), reply);
    }
}
