//! Tools without Rust: requests to other servers, described in files.
//!
//! These modules check the contents of files. The platform checks the addresses to which requests are sent.

mod answer;
mod arguments;
#[cfg(any(test, feature = "checker"))]
mod check;
mod definition;
mod excerpt;
mod exchange;
mod redaction;

use async_trait::async_trait;
use serde_json::{Map, Value};

#[cfg(any(test, feature = "checker"))]
pub(crate) use check::problems_of;
pub use definition::{HttpToolDefinition, Method};
pub use redaction::forms_of_secret;

use crate::service::{PATH_RULE, ServerKeys, check_service, service_name, service_url};
use crate::template::{BodyTemplate, FillError, Filling, HeaderTemplate, UrlTemplate};
use crate::tool::{Tool, ToolCall, ToolError, ToolOutput};
use crate::{Misfit, NotSet, Problem, Values};
use a2a::model::Secret;
use a2a::sorted::SortedSet;
use answer::Answer;
use arguments::{schema_of, with_defaults};
use exchange::Exchange;
use redaction::Redaction;

/// An HTTP tool that can be called. Each call is one durable step: after a crash, a request with a stored response is
/// not sent again.
#[derive(Clone, Debug)]
pub struct HttpTool {
    name: String,
    description: String,
    schema: Value,
    method: Method,
    url: UrlTemplate,
    /// The service binding of another Worker that receives the request.
    service: Option<String>,
    headers: Vec<HeaderTemplate>,
    body: Option<BodyTemplate>,
    result: Option<String>,
    timeout_ms: u64,
    max_bytes: usize,
    attempts: u32,
    idempotency: Option<String>,
}

impl HttpTool {
    /// Makes a tool from its description.
    ///
    /// # Errors
    ///
    /// The first problem of the tool; the checker reports all of them.
    pub fn new(definition: &HttpToolDefinition) -> Result<Self, Misfit> {
        let misfit = |problem| Misfit(format!("the tool {}: {problem}", definition.name));
        Self::read(definition).map_err(misfit)
    }

    fn read(definition: &HttpToolDefinition) -> Result<Self, Problem> {
        let headers = definition.headers.iter().map(header_of);
        Ok(Self {
            name: definition.name.clone(),
            description: definition.description.clone(),
            schema: schema_of(definition)?,
            method: definition.method,
            url: url_of(definition)?,
            service: definition.service.clone(),
            headers: headers.collect::<Result<_, _>>()?,
            body: body_of(definition)?,
            result: definition.result.clone(),
            timeout_ms: definition.timeout_ms,
            max_bytes: definition.max_bytes,
            attempts: definition.retry.max(1),
            idempotency: definition.idempotency.clone(),
        })
    }

    /// The request of a call; every attempt sends the same request.
    fn exchange<'a>(
        &'a self,
        arguments: &Map<String, Value>,
        values: &'a Read,
        call: &'a dyn ToolCall,
    ) -> Result<Exchange<'a>, FillError> {
        let filling = Filling { arguments, values };
        let mut headers = Vec::new();
        for header in &self.headers {
            if let Some(value) = header.fill(&filling)? {
                headers.push((header.name.clone(), value));
            }
        }
        let mut unless_given = |name: &str, value: &str| {
            if !headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
                headers.push((name.to_owned(), value.to_owned()));
            }
        };
        unless_given("user-agent", "a2a-edge");
        if let Some(body) = &self.body {
            unless_given("content-type", body.media_type());
        }
        if let Some(name) = &self.idempotency {
            headers.push((name.clone(), call.idempotency_key()));
        }
        Ok(Exchange {
            tool: self,
            call,
            url: self.url.fill(&filling)?,
            headers,
            body: self.body.as_ref().map(|body| body.fill(&filling)).transpose()?,
            redaction: Redaction::new(&values.secrets),
        })
    }

    /// The URL as the file has it, for messages: it contains the names of secrets, not their values. For another Worker its
    /// path and its service binding.
    fn shown_url(&self) -> String {
        let written = self.url.text();
        let Some(service) = &self.service else { return written.to_owned() };
        let path = written.strip_prefix(&service_url("")).unwrap_or(written);
        format!("{path} of {}", service_name(service))
    }

    /// The names of all secrets and variables of the request, each once.
    fn value_names(&self) -> Vec<&str> {
        let names: SortedSet<&str> = self.url.origin_values().chain(self.secret_names()).collect();
        names.into_iter().collect()
    }

    /// The names of the secrets and variables outside of the URL's origin.
    fn secret_names(&self) -> impl Iterator<Item = &str> {
        let headers = self.headers.iter().map(HeaderTemplate::value);
        let body = self.body.iter().flat_map(BodyTemplate::templates);
        let values = headers.chain(body).flat_map(|template| template.values());
        self.url.path_and_query_values().chain(values)
    }
}

#[async_trait(?Send)]
impl Tool for HttpTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn input_schema(&self) -> &Value {
        &self.schema
    }

    fn needs(&self) -> Vec<String> {
        self.value_names().into_iter().map(str::to_owned).collect()
    }

    async fn call(&self, arguments: Value, call: &dyn ToolCall) -> Result<ToolOutput, ToolError> {
        let arguments = with_defaults(&self.schema, arguments);
        let values = Read::new(self, call)?;
        let exchange = self.exchange(&arguments, &values, call).map_err(|error| match error {
            FillError::Argument(text) => ToolError::Arguments(text),
            FillError::Value(text) => ToolError::Tool(text),
            FillError::NotSet(missing) => ToolError::Tool(missing.to_string()),
        })?;
        let answer: Answer = call.step("request", async || exchange.run().await).await?;
        Ok(answer.into())
    }
}

/// The secrets and variables of a call, read once at its beginning.
struct Read {
    /// The values that must not be shown, each with its name.
    secrets: Vec<(String, Secret)>,
    /// The origins of the servers, which may be shown, each with its name.
    origins: Vec<(String, Secret)>,
}

impl Read {
    fn new(tool: &HttpTool, call: &dyn ToolCall) -> Result<Self, ToolError> {
        let (mut secrets, mut origins) = (Vec::new(), Vec::new());
        for name in tool.value_names() {
            let is_origin = !tool.secret_names().any(|secret| secret == name);
            let origin = call.var(name).ok().filter(|origin| is_origin && !holds_token(origin));
            match origin {
                Some(origin) => origins.push((name.to_owned(), Secret::new(origin))),
                None => secrets.push((name.to_owned(), call.value(name)?)),
            }
        }
        Ok(Self { secrets, origins })
    }
}

impl Values for Read {
    fn value(&self, name: &str) -> Result<Secret, NotSet> {
        let found = self.secrets.iter().chain(&self.origins).find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone()).ok_or_else(|| NotSet::value(name))
    }
}

/// True if a URL has a long segment in its path, and so may be a secret itself, as the URLs of some services for
/// incoming webhooks.
fn holds_token(url: &str) -> bool {
    url.split('/').skip(3).any(|segment| segment.len() >= TOKEN_BYTES)
}

const TOKEN_BYTES: usize = 16;

fn url_of(definition: &HttpToolDefinition) -> Result<UrlTemplate, Problem> {
    let HttpToolDefinition { url, service, path, .. } = definition;
    let keys = ServerKeys { url: url.is_some(), service: service.is_some(), path: path.is_some() };
    if let Some((key, fix)) = keys.problem() {
        return Err(Problem::at(key, fix));
    }
    if let Some(service) = service {
        check_service(service).map_err(|text| Problem::at("service", text))?;
        let path = path.as_deref().unwrap_or("/");
        if !path.starts_with('/') || path.starts_with("//") {
            return Err(Problem::at("path", PATH_RULE));
        }
        return UrlTemplate::parse(&service_url(path)).map_err(|text| Problem::at("path", text));
    }
    UrlTemplate::parse(url.as_deref().unwrap_or_default()).map_err(|text| Problem::at("url", text))
}

fn header_of((name, value): (&String, &String)) -> Result<HeaderTemplate, Problem> {
    HeaderTemplate::parse(name, value).map_err(|text| Problem::at(format!("headers.{name}"), text))
}

fn body_of(definition: &HttpToolDefinition) -> Result<Option<BodyTemplate>, Problem> {
    let within = |key: &'static str| move |problem: Problem| problem.under(key);
    match (&definition.body, &definition.form) {
        (Some(_), Some(_)) => {
            Err(Problem::at("form", "is given beside `body`; keep one of the two"))
        }
        (Some(body), None) => BodyTemplate::parse(body).map(Some).map_err(within("body")),
        (None, Some(fields)) => BodyTemplate::form(fields).map(Some).map_err(within("form")),
        (None, None) => Ok(None),
    }
}
