//! Encodes calls as requests and decodes answers, for the version and the binding of one interface; no other module of the
//! client depends on these two. The forms of each version are defined in [`dialect`](crate::dialect).

mod failure;
#[cfg(test)]
mod goldens;
#[cfg(test)]
mod losses;
#[cfg(test)]
mod shapes;
#[cfg(test)]
mod tests;

use std::rc::Rc;

use serde_json::Value;

use super::{Answer, CallOptions, ClientError, Connection, RemoteCard, Settings, TaskPage};
use crate::call::{Call, TaskCall, WebhookCall};
use crate::dialect::{Page, Reader};
use crate::http::{HttpAnswer, HttpError, HttpRequest, one_line};
use crate::model::decode::{Decode, Fields, decode_with};
use crate::model::{
    ContextDeletion, FieldViolation, StreamResponse, TaskId, TaskPushNotificationConfig, encode,
};
use crate::model::{MAX_DOCUMENT_VALUES, MAX_FOREIGN_VALUES, UnfitJson, read_foreign};
use crate::wire::{Binding, percent};

/// The encoder and decoder for one interface.
#[derive(Clone, Debug)]
pub(super) struct Wire {
    connection: Rc<Connection>,
    /// The URIs of the requested extensions, separated by commas.
    extensions: String,
}

impl Wire {
    pub(super) fn new(connection: &Rc<Connection>, settings: &Settings) -> Self {
        let extensions = settings.extensions.join(", ");
        Self { connection: Rc::clone(connection), extensions }
    }

    /// The request of a call. Equal calls result in equal requests. Timeouts and credentials are added elsewhere.
    ///
    /// # Errors
    ///
    /// [`ClientError::NotInVersion`].
    pub(super) fn request(
        &self,
        call: &Call,
        options: &CallOptions,
    ) -> Result<HttpRequest, ClientError> {
        let Connection { url, binding, dialect, .. } = &*self.connection;
        let none = || self.not_in_version(call);
        let mut request = match binding {
            Binding::JsonRpc => {
                let method = dialect.method(call.operation()).ok_or_else(none)?;
                let params = self.in_tenant(call, self.asked(call)?)?;
                let body = format!(
                    r#"{{"jsonrpc":"2.0","id":"1","method":"{method}","params":{params}}}"#
                );
                HttpRequest::post(url).with_body(body)
            }
            Binding::Rest => {
                let (verb, path) = dialect.target(call).ok_or_else(none)?;
                let tenant = self.connection.tenant.as_deref().or(call.tenant());
                let tenant = tenant.filter(|_| dialect.is_v1());
                let path = match tenant {
                    Some(tenant) => format!("{}/{path}", percent::encode(tenant)),
                    None => path,
                };
                let request = HttpRequest::new(verb, below(url, &path));
                match verb {
                    "POST" => request.with_body(self.asked(call)?),
                    _ => request,
                }
            }
        };
        if request.method == "POST" {
            request = request.with_header("content-type", "application/json");
        }
        let accept = if call.is_stream() {
            "text/event-stream, application/json"
        } else {
            "application/json"
        };
        let extensions = Some(&self.extensions).filter(|uris| !uris.is_empty());
        for (name, value) in [
            ("accept", Some(accept)),
            ("a2a-version", dialect.version_header()),
            (dialect.extensions_header(), extensions.map(String::as_str)),
            ("idempotency-key", options.idempotency_key.as_deref()),
            ("last-event-id", options.last_event_id.as_deref()),
        ] {
            if let Some(value) = value {
                request = request.with_header(name, value);
            }
        }
        Ok(request)
    }

    fn asked(&self, call: &Call) -> Result<String, ClientError> {
        let asked = self.connection.dialect.asked(self.connection.binding, call);
        asked.map_err(|error| ClientError::Unexpected(error.to_string()))
    }

    /// Adds the tenant of the interface to the parameters, unless the call contains a tenant.
    fn in_tenant(&self, call: &Call, params: String) -> Result<String, ClientError> {
        let Connection { tenant, dialect, .. } = &*self.connection;
        let (Some(tenant), None, true) = (tenant, call.tenant(), dialect.is_v1()) else {
            return Ok(params);
        };
        let tenant = encode(tenant).map_err(|error| ClientError::Unexpected(error.to_string()))?;
        let members = params.strip_prefix('{').unwrap_or_default();
        let separator = if members.starts_with('}') { "" } else { "," };
        Ok(format!(r#"{{"tenant":{tenant}{separator}{members}"#))
    }

    fn not_in_version(&self, call: &Call) -> ClientError {
        let Connection { binding, dialect, .. } = &*self.connection;
        let binding = match binding {
            Binding::JsonRpc => "JSON-RPC",
            Binding::Rest => "HTTP+JSON",
        };
        let goes_on = call.message().is_some_and(|request| request.message.task_id.is_some());
        let goes_on = if goes_on { " for a task that has begun" } else { "" };
        let (version, operation) = (dialect.version(), call.operation().name());
        ClientError::NotInVersion(format!(
            "A2A {version} over {binding} has no {operation}{goes_on}"
        ))
    }

    fn reader(&self) -> Reader {
        self.connection.dialect.reader(self.connection.binding)
    }

    /// Decodes the whole answer of a call; also the answer of a streaming call if the server answers with one task or
    /// message.
    ///
    /// # Errors
    ///
    /// The error that the server reports, or the reason why its answer cannot be used.
    pub(super) fn answer(
        &self,
        call: &Call,
        answer: HttpAnswer<String>,
    ) -> Result<Answer, ClientError> {
        let status = answer.status;
        let max_values = match call {
            Call::Card => MAX_DOCUMENT_VALUES,
            _ => MAX_FOREIGN_VALUES,
        };
        let json = match read_foreign(answer.body.as_bytes(), max_values) {
            Ok(json) => json,
            // REST servers answer a deletion with an empty body.
            Err(_) if answer.is_success() && answer.body.trim().is_empty() => Value::Null,
            Err(unfit) => {
                let HttpAnswer { url, body, .. } = answer.success()?;
                let reason = match unfit {
                    UnfitJson::NotJson { reason, .. } => {
                        let begins: String = one_line(&body).chars().take(SHOWN_CHARS).collect();
                        format!("it is not JSON ({reason}) and begins with {begins:?}")
                    }
                    beyond => format!("it {beyond}"),
                };
                return Err(HttpError::Misfit { url, reason }.into());
            }
        };
        if let Some(error) = failure::read(&json, status) {
            return Err(ClientError::Remote(Box::new(error)));
        }
        answer.success()?;
        match call {
            // The Python SDK omits a result that is `null`.
            Call::Task(TaskCall::Webhook(WebhookCall::DeleteTaskPushNotificationConfig(_))) => {
                Ok(Answer::Done)
            }
            _ => self.result(call, self.unwrapped(json)?),
        }
    }

    /// Decodes an event of a stream: the name of its frame, if there is one, and its data.
    ///
    /// # Errors
    ///
    /// As [`answer`](Self::answer).
    pub(super) fn event(
        &self,
        name: Option<&str>,
        data: &str,
    ) -> Result<StreamResponse, ClientError> {
        let json = read_foreign(data.as_bytes(), MAX_FOREIGN_VALUES)
            .map_err(|unfit| unreadable("an event", &format!("it {unfit}")))?;
        // The status 500 makes `failure::read` accept an error in any form.
        let status = if name == Some("error") { 500 } else { 200 };
        if let Some(error) = failure::read(&json, status) {
            return Err(ClientError::Remote(Box::new(error)));
        }
        let reader = self.reader();
        read("an event", self.unwrapped(json)?, |fields| reader.event(fields))
    }

    /// The result in an answer, without the JSON-RPC envelope.
    fn unwrapped(&self, mut json: Value) -> Result<Value, ClientError> {
        match (self.connection.binding, &mut json) {
            (Binding::JsonRpc, Value::Object(members)) => members
                .remove("result")
                .ok_or_else(|| unreadable("the answer", "it has neither a result nor an error")),
            (Binding::JsonRpc, _) => Err(unreadable("the answer", "it is no object")),
            (Binding::Rest, _) => Ok(json),
        }
    }

    fn result(&self, call: &Call, json: Value) -> Result<Answer, ClientError> {
        let reader = self.reader();
        let name = call.operation().name();
        let what = format!("the answer to {name}");
        Ok(match call {
            Call::Follow(_) | Call::Task(TaskCall::SendMessage(_)) => {
                match read(&what, json, |fields| reader.sent(fields))? {
                    StreamResponse::Task(task) => Answer::Task(task),
                    StreamResponse::Message(message) => Answer::Message(message),
                    StreamResponse::StatusUpdate(_) | StreamResponse::ArtifactUpdate(_) => {
                        return Err(ClientError::unexpected(name));
                    }
                }
            }
            Call::Task(TaskCall::GetTask(_) | TaskCall::CancelTask(_)) => {
                Answer::Task(read(&what, json, |fields| reader.task(fields))?)
            }
            Call::List(_) => {
                let Page { tasks, next_page_token, total_size } =
                    read(&what, json, |fields| reader.page(fields))?;
                Answer::Tasks(TaskPage { tasks, next_page_token, total_size })
            }
            Call::Task(TaskCall::Webhook(call)) => match call {
                WebhookCall::CreateTaskPushNotificationConfig(_)
                | WebhookCall::GetTaskPushNotificationConfig(_) => {
                    let webhook = read(&what, json, |fields| reader.webhook(fields))?;
                    Answer::Webhook(Box::new(of_task(call, webhook)))
                }
                WebhookCall::ListTaskPushNotificationConfigs(_) => {
                    // In 0.3 the result is a bare list.
                    let json = match json {
                        Value::Array(_) => {
                            Value::Object([("configs".to_owned(), json)].into_iter().collect())
                        }
                        json => json,
                    };
                    let webhooks = read(&what, json, |fields| reader.webhooks(fields))?;
                    let of_task = |webhook| of_task(call, webhook);
                    Answer::Webhooks(webhooks.into_iter().map(of_task).collect())
                }
                WebhookCall::DeleteTaskPushNotificationConfig(_)
                | WebhookCall::ListTaskPushNotificationDeliveries(_)
                | WebhookCall::RedeliverTaskPushNotifications(_)
                | WebhookCall::TestTaskPushNotificationConfig(_)
                | WebhookCall::VerifyTaskPushNotificationSignature(_) => Answer::Done,
            },
            Call::Task(TaskCall::GetTaskTimeline(_) | TaskCall::DeleteTask(_)) => Answer::Done,
            Call::Context(_) => Answer::ContextDeleted(read(&what, json, ContextDeletion::decode)?),
            // The client never sends this call.
            Call::Webhooks(_) => Answer::Done,
            Call::Card => Answer::Card(Box::new(RemoteCard::read(json)?)),
        })
    }
}

/// Adds the task of the call to a webhook, if the server does not name the task.
fn of_task(
    call: &WebhookCall,
    webhook: TaskPushNotificationConfig<Option<TaskId>>,
) -> TaskPushNotificationConfig {
    let task_id = webhook.task_id.clone().unwrap_or_else(|| call.task_id().clone());
    webhook.of_task(task_id)
}

/// The length of the excerpt from an answer that is not JSON, in characters.
const SHOWN_CHARS: usize = 80;

/// Appends a path to a URL, which may end with a slash or have a query.
fn below(url: &str, path: &str) -> String {
    let (url, query) = url.split_once('?').unwrap_or((url, ""));
    let whole = format!("{}/{path}", url.trim_end_matches('/'));
    match (query, whole.contains('?')) {
        ("", _) => whole,
        (query, true) => format!("{whole}&{query}"),
        (query, false) => format!("{whole}?{query}"),
    }
}

fn read<T>(
    what: &str,
    json: Value,
    read: impl FnOnce(&mut Fields) -> Option<T>,
) -> Result<T, ClientError> {
    decode_with(json, read).map_err(|found| {
        let told = found.iter().map(|FieldViolation { field, description }| match field.as_str() {
            "" => format!("it {description}"),
            field => format!("{field} {description}"),
        });
        unreadable(what, &told.collect::<Vec<_>>().join("; "))
    })
}

fn unreadable(what: &str, why: &str) -> ClientError {
    ClientError::Unexpected(format!("{what} cannot be read: {why}"))
}
