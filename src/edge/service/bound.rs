//! Requests through bindings of the Worker: other Workers by `fetch`, Workers AI by `run`. The agent's file names the binding; a
//! URL never does.

use futures_util::future::LocalBoxFuture;
use js_sys::{Array, Function, JSON, Promise, Reflect};
use worker::js_sys::futures::JsFuture;
use worker::wasm_bindgen::{JsCast, JsValue};
use worker::{AbortController, Env, Error, Response};

use super::outbound::{Bounds, Exchange, to_request};
use crate::port::{Http, HttpAnswer, HttpBody, HttpError, HttpRequest, Target};

/// The binding of the Worker with this name.
pub(in crate::edge) struct BoundHttp {
    pub(in crate::edge) env: Env,
    pub(in crate::edge) target: Target,
}

/// True if the binding that an agent requires exists.
pub(in crate::edge) fn is_bound(env: &Env, target: &Target) -> bool {
    match target {
        Target::Service(name) => Called::find(env, name, "fetch").is_some(),
        Target::WorkersAi(name) => Called::find(env, name, "run").is_some(),
    }
}

impl Http for BoundHttp {
    fn send(&self, request: HttpRequest) -> LocalBoxFuture<'static, Result<HttpAnswer, HttpError>> {
        if request.is_guarded {
            let reason = "that somebody else chose leads to no binding".to_owned();
            let refused = HttpError::Refused { url: request.url, reason };
            return Box::pin(std::future::ready(Err(refused)));
        }
        let missing = || Box::pin(std::future::ready(Err(self.target.missing())));
        let (name, method) = match &self.target {
            Target::Service(name) => (name, "fetch"),
            Target::WorkersAi(name) => (name, "run"),
        };
        let Some(called) = Called::find(&self.env, name, method) else { return missing() };
        match method {
            "run" => Box::pin(run(called, request)),
            _ => Box::pin(fetch(called, request)),
        }
    }
}

/// A method of a binding.
struct Called {
    binding: JsValue,
    method: Function,
}

impl Called {
    fn find(env: &Env, name: &str, method: &str) -> Option<Self> {
        let binding = Reflect::get(env.as_ref(), &name.into()).ok()?;
        let method = Reflect::get(&binding, &method.into()).ok()?.dyn_into().ok()?;
        Some(Self { binding, method })
    }

    /// Calls the method with these arguments and returns its promise.
    fn with(&self, one: &JsValue, two: &JsValue) -> Result<JsFuture, JsValue> {
        // By `Reflect`: for another Worker, `call` would be the name of a remote method.
        let given = Reflect::apply(&self.method, &self.binding, &Array::of2(one, two))?;
        // Another Worker returns a promise of its own class.
        Ok(JsFuture::from(Promise::resolve(&given)))
    }
}

async fn fetch(called: Called, request: HttpRequest) -> Result<HttpAnswer, HttpError> {
    let bounds = Bounds::of(&request);
    let controller = AbortController::default();
    let signal = controller.signal();
    let exchange = Exchange(Some(controller));
    let opened = Box::pin(async {
        let request = to_request(request)?;
        let init = web_sys::RequestInit::new();
        init.set_signal(Some(&signal));
        let answer = called.with(request.inner(), &init)?.await?;
        answer.dyn_into::<web_sys::Response>().map_err(|_| Error::from("it gave no response"))
    });
    match bounds.in_time(opened).await? {
        Ok(answer) => Ok(bounds.answer_of(answer.into(), exchange)),
        Err(error) => Err(bounds.failed(&error)),
    }
}

/// Runs a model. An exception in the form of Workers AI becomes an answer with an error status.
async fn run(called: Called, request: HttpRequest) -> Result<HttpAnswer, HttpError> {
    let bounds = Bounds::of(&request);
    let url = request.url.clone();
    let model = url.strip_prefix(chat::Endpoint::WORKERS_AI).unwrap_or_default();
    let model = model.trim_start_matches('/').to_owned();
    let inputs = String::from_utf8_lossy(&request.body.bytes().await?).into_owned();
    let opened = Box::pin(async {
        let inputs = JSON::parse(&inputs)?;
        called.with(&model.into(), &inputs)?.await
    });
    let output = match bounds.in_time(opened).await? {
        Ok(output) => output,
        Err(thrown) => {
            let error = Error::from(thrown);
            let Some((status, body)) = chat::workers_ai_failure(&error.to_string()) else {
                return Err(bounds.failed(&error));
            };
            let body = HttpBody::Text(body);
            return Ok(HttpAnswer { status, headers: Vec::new(), body, url });
        }
    };
    let response = match output.dyn_into::<web_sys::Response>() {
        Ok(response) => response,
        Err(output) => match output.dyn_into::<web_sys::ReadableStream>() {
            Ok(stream) => web_sys::Response::new_with_opt_readable_stream(Some(&stream)),
            Err(output) => {
                let json = JSON::stringify(&output).map(String::from).unwrap_or_default();
                web_sys::Response::new_with_opt_str(Some(&json))
            }
        }
        .map_err(|error| bounds.failed(&error.into()))?,
    };
    Ok(bounds.answer(Response::from(response)))
}
