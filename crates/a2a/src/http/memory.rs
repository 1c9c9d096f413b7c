//! Other servers in memory, for tests.

use std::cell::RefCell;
use std::rc::Rc;

use futures_util::future::LocalBoxFuture;
use futures_util::stream;

use super::{Http, HttpAnswer, HttpBody, HttpError, HttpRequest};

/// Other servers as one closure; until [`answer_with`](Self::answer_with) sets it, requests fail. Clones share the closure.
#[derive(Clone, Default)]
pub struct MemoryHttp(Rc<Servers>);

#[derive(Default)]
struct Servers {
    answering: RefCell<Option<Rc<Answering>>>,
    guarding: RefCell<Option<Rc<Guarding>>>,
    urls: RefCell<Vec<String>>,
}

type Answering = dyn Fn(&HttpRequest, &str) -> Result<HttpAnswer, HttpError>;
type Guarding = dyn Fn(&str) -> Result<(), String>;

impl MemoryHttp {
    /// Sets the closure that answers all requests. It receives each request and its body as text, and returns the answer, or
    /// the reason why there is none. [`ok`] and [`status`] make answers.
    pub fn answer_with(
        &self,
        answering: impl Fn(&HttpRequest, &str) -> Result<HttpAnswer<String>, String> + 'static,
    ) {
        self.respond_with(move |request, body| {
            let url = &request.url;
            let failed = |reason| HttpError::Failed { url: url.clone(), reason };
            let HttpAnswer { status, headers, body, .. } =
                answering(request, body).map_err(failed)?;
            let (url, max_bytes) = (url.clone(), request.max_bytes);
            let body = if body.len() > max_bytes {
                let url = url.clone();
                HttpBody::stream(stream::iter([Err(HttpError::TooLarge { url, max_bytes })]))
            } else {
                HttpBody::from(body)
            };
            Ok(HttpAnswer { status, headers, body, url })
        });
    }

    /// As [`answer_with`](Self::answer_with), with bodies of any kind, for example a stream that arrives in pieces or breaks
    /// off, and with any error in place of an answer.
    pub fn respond_with(
        &self,
        answering: impl Fn(&HttpRequest, &str) -> Result<HttpAnswer, HttpError> + 'static,
    ) {
        self.0.answering.replace(Some(Rc::new(answering)));
    }

    /// Sets the closure that checks the URLs of guarded requests; by default all are allowed. Its error is the requirement
    /// that the URL violates.
    pub fn guard_with(&self, guarding: impl Fn(&str) -> Result<(), String> + 'static) {
        self.0.guarding.replace(Some(Rc::new(guarding)));
    }

    /// The requested URLs, in order.
    pub fn called(&self) -> Vec<String> {
        self.0.urls.borrow().clone()
    }
}

/// An answer with status 200.
#[must_use]
pub fn ok(body: impl Into<String>) -> HttpAnswer<String> {
    HttpAnswer { body: body.into(), ..status(200) }
}

/// An answer without a body.
#[must_use]
pub fn status(status: u16) -> HttpAnswer<String> {
    HttpAnswer { status, headers: Vec::new(), body: String::new(), url: String::new() }
}

impl Http for MemoryHttp {
    fn send(
        &self,
        mut request: HttpRequest,
    ) -> LocalBoxFuture<'static, Result<HttpAnswer, HttpError>> {
        let guarding = self.0.guarding.borrow().clone().filter(|_| request.is_guarded);
        if let Some(Err(reason)) = guarding.map(|guarding| guarding(&request.url)) {
            let refused = HttpError::Refused { url: request.url, reason };
            return Box::pin(std::future::ready(Err(refused)));
        }
        self.0.urls.borrow_mut().push(request.url.clone());
        let servers = self.0.clone();
        Box::pin(async move {
            let url = request.url.clone();
            let body = std::mem::take(&mut request.body).bytes().await?;
            let answering = servers.answering.borrow().clone();
            let Some(answering) = answering else {
                let reason = "it cannot be reached from memory".to_owned();
                return Err(HttpError::Failed { url, reason });
            };
            let answer = answering(&request, &String::from_utf8_lossy(&body))?;
            Ok(HttpAnswer { url, ..answer })
        })
    }
}
