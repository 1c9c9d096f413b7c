//! Builds the requests to the agent: their URL, their headers and their signature.

use std::rc::Rc;

use a2a_agents::{
    Expandable, HttpTable, Values, check_agent_url, check_path, http_of, service_name, service_url,
};

use super::super::{ExecutorError, Turn};
use super::document::idempotency_key;
use crate::port::{Http, HttpRequest, Target};
use crate::push::signature::SigningSecret;

/// The requests of one run to the agent, with the current values of secrets and variables.
pub(super) struct Call {
    http: Rc<dyn Http>,
    url: String,
    cancel_url: Option<String>,
    /// The name of the agent in error messages: its URL without the query, or its service.
    pub(super) name: String,
    /// The host and port of the agent, without the path.
    pub(super) host: String,
    /// True if the agent is another Worker that is called by a service binding.
    pub(super) is_bound: bool,
    headers: Vec<(String, String)>,
    secret: Option<SigningSecret>,
    key: String,
}

impl Call {
    /// Fills in the secrets and variables in the table of the agent.
    ///
    /// # Errors
    ///
    /// If a secret or a variable is not set, or its value is not allowed in its place. The text names the key and
    /// contains no value.
    pub(super) fn of(table: &HttpTable, turn: &Turn) -> Result<Self, ExecutorError> {
        let fill = |key: &str, text: &str| filled(turn, key, text);
        let (url, name) = match &table.service {
            Some(service) => {
                let path = fill("path", table.path.as_deref().unwrap_or("/"))?;
                check_path(&path).map_err(|fix| unfit("path", &fix))?;
                (service_url(&path), service_name(service))
            }
            None => {
                let url = program_url(table, turn)?;
                let name = url.split('?').next().unwrap_or_default().to_owned();
                (url, name)
            }
        };
        let bound = |service: &str| turn.run_outside.bound(&Target::Service(service.to_owned()));
        let http = http_of(table.service.as_deref(), &turn.ports().http, bound);
        let cancel_url = match &table.cancel_url {
            None => None,
            Some(written) => Some(beside(&url, &fill("cancel_url", written)?)?),
        };
        let mut headers = Vec::new();
        for (header, value) in &table.headers {
            let key = format!("headers.{header}");
            let value = fill(&key, value)?;
            if !value.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
                return Err(unfit(&key, "may hold only visible ASCII letters and spaces"));
            }
            headers.push((header.clone(), value));
        }
        let secret = match &table.signing_secret {
            None => None,
            Some(written) => {
                let secret = SigningSecret::parse(&fill("signing_secret", written)?);
                Some(secret.map_err(|fix| unfit("signing_secret", &fix))?)
            }
        };
        let (key, is_bound) = (idempotency_key(turn), table.service.is_some());
        let host = if is_bound { name.clone() } else { host_of(&turn.redaction.text(&url)) };
        Ok(Self { http, url, cancel_url, name, host, is_bound, headers, secret, key })
    }

    /// The client that sends requests to the agent.
    pub(super) fn http(&self) -> &dyn Http {
        self.http.as_ref()
    }

    /// The request that posts the turn.
    pub(super) fn ask(&self, turn: &Turn, document: String) -> HttpRequest {
        self.post(turn, &self.url, document).with_header("accept", ACCEPTED)
    }

    /// The request that reports a cancel, if the agent file has a `cancel_url`.
    pub(super) fn cancel(&self, turn: &Turn, document: String) -> Option<HttpRequest> {
        self.cancel_url.as_deref().map(|url| self.post(turn, url, document))
    }

    fn post(&self, turn: &Turn, url: &str, document: String) -> HttpRequest {
        let mut request = HttpRequest::post(url)
            .with_header("content-type", "application/json")
            .with_header("user-agent", "a2a-edge")
            .with_header("idempotency-key", &self.key);
        request.headers.extend(self.headers.iter().cloned());
        if let Some(secret) = &self.secret {
            let (id, timestamp_s) =
                (String::from(turn.run_outside.random().new_id()), turn.now().0 / 1_000);
            request = request
                .with_header("webhook-id", &id)
                .with_header("webhook-timestamp", timestamp_s.to_string())
                .with_header("webhook-signature", secret.sign(&id, timestamp_s, &document));
        }
        request.with_body(document)
    }
}

/// The URL of the agent's program, with the current values of secrets and variables.
pub(super) fn program_url(
    table: &HttpTable,
    values: &impl Values,
) -> Result<String, ExecutorError> {
    let url = filled(values, "url", table.url.as_deref().unwrap_or_default())?;
    check_agent_url(&url).map_err(|fix| unfit("url", &fix))?;
    Ok(url)
}

/// The text with its secrets and variables filled in.
fn filled(values: &impl Values, key: &str, text: &str) -> Result<String, ExecutorError> {
    let text = Expandable::parse(text).map_err(|fix| unfit(key, &fix))?;
    Ok(text.expand(values)?.reveal().trim().to_owned())
}

/// The URL of a path at the server of another URL. A whole URL instead of a path is checked and returned.
fn beside(url: &str, written: &str) -> Result<String, ExecutorError> {
    if !written.starts_with('/') {
        check_agent_url(written).map_err(|fix| unfit("cancel_url", &fix))?;
        return Ok(written.to_owned());
    }
    check_path(written).map_err(|fix| unfit("cancel_url", &fix))?;
    let host = url.find("://").map_or(0, |at| at + 3);
    let rest = url.get(host..).unwrap_or_default();
    let end = rest.find(['/', '?']).map_or(url.len(), |at| host + at);
    Ok(format!("{}{written}", url.get(..end).unwrap_or_default()))
}

/// The host and the port of a URL in which secrets may have been replaced by their names.
fn host_of(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?']).next().unwrap_or_default().to_owned()
}

fn unfit(key: &str, fix: &str) -> ExecutorError {
    ExecutorError(format!("the agent cannot be called: `{key}` of [executor.http] {fix}"))
}

const ACCEPTED: &str = "text/event-stream, application/x-ndjson, application/json";
