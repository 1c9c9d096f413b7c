//! Sends the request of one call, up to the number of attempts of the tool.

use futures_util::future::{Either, select};

use super::HttpTool;
use super::answer::Answer;
use super::excerpt::excerpt;
use super::redaction::Redaction;
use crate::tool::{Retry, ToolCall, ToolError};
use a2a::http::{HttpAnswer, HttpBody, HttpError, HttpRequest, retry_after_ms};

/// One request, and the tool and the call that send it.
pub(super) struct Exchange<'a> {
    pub(super) tool: &'a HttpTool,
    pub(super) call: &'a dyn ToolCall,
    pub(super) url: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Option<String>,
    pub(super) redaction: Redaction,
}

/// An attempt that failed.
struct Failure {
    error: ToolError,
    /// True if another attempt may succeed.
    is_temporary: bool,
    /// The time from the header `Retry-After` of the response, in milliseconds.
    retry_after_ms: Option<u64>,
}

impl Exchange<'_> {
    /// Sends the request until it succeeds or may not be sent again.
    pub(super) async fn run(&self) -> Result<Answer, ToolError> {
        let pauses = Retry { attempts: self.tool.attempts, delay_ms: 500, max_delay_ms: 30_000 };
        let mut failures = 0;
        loop {
            let failure = match self.attempt().await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            failures += 1;
            let is_over = failures >= pauses.attempts;
            let asked = failure.retry_after_ms.unwrap_or(0);
            if is_over || !failure.is_temporary || asked > MAX_RETRY_AFTER_MS {
                return Err(failure.error);
            }
            self.call.sleep(pauses.delay_after(failures).max(asked)).await;
            if self.call.is_canceled() {
                return Err(failure.error);
            }
        }
    }

    async fn attempt(&self) -> Result<Answer, Failure> {
        let timeout_ms = self.tool.timeout_ms;
        let exchange = Box::pin(self.exchange());
        match select(exchange, self.call.sleep(timeout_ms)).await {
            Either::Left((outcome, _)) => outcome,
            Either::Right(_) => {
                let url = self.url.clone();
                Err(self.unanswered(HttpError::Silent { url, timeout_ms }))
            }
        }
    }

    async fn exchange(&self) -> Result<Answer, Failure> {
        let sent = match &self.tool.service {
            Some(service) => self.call.service(service).send(self.request()),
            None => self.call.http().send(self.request()),
        };
        let answer = sent.await;
        let answer = answer.map_err(|error| self.unanswered(error))?;
        if !answer.is_success() {
            return Err(self.refused(answer).await);
        }
        let mut answer = answer.bytes().await.map_err(|error| self.unanswered(error))?;
        answer.body = self.redaction.bytes(answer.body);
        let status = answer.status;
        let read = Answer::read(answer, self.tool.result.as_deref());
        // The first redaction worked on the raw bytes, in which escapes of JSON may have hidden a secret.
        read.map(|answer| answer.redacted(&self.redaction)).map_err(|problem| Failure {
            error: self.upstream(&format!("answered {status}, but {problem}")),
            is_temporary: false,
            retry_after_ms: None,
        })
    }

    fn request(&self) -> HttpRequest {
        let request = HttpRequest {
            headers: self.headers.clone(),
            body: self.body.clone().map_or(HttpBody::Empty, HttpBody::Text),
            timeout_ms: self.tool.timeout_ms,
            max_bytes: self.tool.max_bytes,
            ..HttpRequest::new(self.tool.method.name(), &self.url)
        };
        match self.tool.url.host_arguments().next() {
            Some(_) => request.guarded(),
            None => request,
        }
    }

    /// The failure for a missing or incomplete response.
    fn unanswered(&self, error: HttpError) -> Failure {
        let is_temporary = matches!(error, HttpError::Failed { .. } | HttpError::Silent { .. });
        let error = match error {
            HttpError::Failed { reason, .. } => {
                // The platform's error text may contain the URL with its secrets, so the URL is replaced by its
                // template.
                let reason = reason.replace(&self.url, &self.tool.shown_url());
                self.upstream(&format!("did not answer: {}", self.redaction.text(&reason)))
            }
            HttpError::Silent { timeout_ms, .. } => {
                self.upstream(&format!("did not answer within {timeout_ms} ms"))
            }
            HttpError::TooLarge { max_bytes, .. } => {
                self.upstream(&format!("gave an answer of more than {max_bytes} bytes"))
            }
            HttpError::Status { .. } | HttpError::Misfit { .. } => {
                self.upstream("gave an answer that cannot be used")
            }
            HttpError::Unbound { reason } => self.upstream(&format!("was not called: {reason}")),
            HttpError::Refused { reason, .. } => {
                let url = self.tool.shown_url();
                ToolError::Arguments(format!(
                    "{url} was not called: with these arguments, it {reason}"
                ))
            }
        };
        Failure { error, is_temporary, retry_after_ms: None }
    }

    /// The failure for a response whose status is not 2xx.
    async fn refused(&self, answer: HttpAnswer) -> Failure {
        let status = answer.status;
        let retry_after = answer.header("retry-after");
        let retry_after_ms = retry_after.and_then(|text| retry_after_ms(text, self.call.now()));
        let said = match (status, answer.header("location")) {
            (300..400, Some(location)) => {
                let host = self.redaction.text(host_of(location).unwrap_or("the same host"));
                format!(", a redirect to {}; redirects are not followed", excerpt(&host))
            }
            _ => {
                let body = self.redaction.text(&beginning(answer.body).await);
                let excerpt = excerpt(&body);
                if excerpt.is_empty() { String::new() } else { format!(": {excerpt}") }
            }
        };
        let is_temporary = matches!(status, 408 | 429 | 500..);
        let error = self.upstream(&format!("answered {status}{said}"));
        Failure { error, is_temporary, retry_after_ms }
    }

    /// An error that contains the URL as the file has it.
    fn upstream(&self, what: &str) -> ToolError {
        let (method, url) = (self.tool.method.name(), self.tool.shown_url());
        ToolError::Upstream(format!("{method} {url} {what}"))
    }
}

/// The first bytes of a body. An error of the body ends them.
async fn beginning(mut body: HttpBody) -> String {
    let mut bytes = Vec::new();
    while bytes.len() < MAX_ERROR_BYTES
        && let Some(Ok(piece)) = body.next().await
    {
        bytes.extend(piece);
    }
    bytes.truncate(MAX_ERROR_BYTES);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn host_of(url: &str) -> Option<&str> {
    let authority = url.split("//").nth(1)?.split(['/', '?', '#']).next()?;
    authority.rsplit('@').next().filter(|host| !host.is_empty())
}

/// The maximum accepted `Retry-After`, in milliseconds. After a longer one the request is not sent again.
const MAX_RETRY_AFTER_MS: u64 = 60_000;

/// The number of bytes that are read from the body of an error.
const MAX_ERROR_BYTES: usize = 16 * 1024;
