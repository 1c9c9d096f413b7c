//! A request that has to wait: what is known of it from one plan to the next. `js/hop.js` holds it, and frees it when the
//! request is answered.
#![allow(unreachable_pub, reason = "what JavaScript calls must be public")]

use std::cell::{Cell, RefCell};
use std::panic::AssertUnwindSafe;
use std::rc::Rc;

use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;
use worker::{Env, Request, Response, Result};

use super::body::{Body, Turn};
use super::decision::{Front, Received};
use super::facts::{FoundBody, FoundPage, Need};
use super::plan::{Form, NEED, Plan, answered};
use crate::edge::objects::AskError;
use crate::edge::response::to_response;
use crate::front::head::Head;
use crate::front::route::{Route, route};
use a2a::binding::http::{HttpResponse, split_url};
use a2a::error::Error;
use a2a::model::read_own;

/// A request that has to wait. Its methods plan as [`plan`](super::plan::plan) does, with the facts that were found.
#[wasm_bindgen]
pub struct Waiting {
    inner: Rc<Inner>,
}

struct Inner {
    front: Front,
    head: String,
    body: RefCell<FoundBody>,
    /// The turn of a large body, kept until the request is answered.
    turn: RefCell<Option<Turn>>,
    /// The fact that the last plan lacks.
    need: RefCell<Option<Need>>,
    /// How an answer is written that the object does not give, once the object is asked: the body is gone then.
    form: RefCell<Option<Form>>,
    /// Whether its lines for the audit were written.
    is_audited: Cell<bool>,
    rounds: Cell<usize>,
}

// A request whose decision panicked is answered by an internal error, and freed.
impl std::panic::UnwindSafe for Waiting {}
impl std::panic::RefUnwindSafe for Waiting {}

#[wasm_bindgen]
impl Waiting {
    /// What is to be done, see [`Plan`].
    #[wasm_bindgen(js_name = plan)]
    pub fn plan(&self) -> String {
        let inner = &self.inner;
        inner.rounds.set(inner.rounds.get() + 1);
        if inner.rounds.get() > MAX_ROUNDS {
            return answered(&HttpResponse::error(&Error::Internal { task: None }));
        }
        let head = Head::parse(&inner.head);
        let plan = inner.front.decide(&head, &inner.body.borrow().received());
        if !matches!(plan, Plan::Need(_)) && !inner.is_audited.replace(true) {
            inner.front.seen.audit(&head, &inner.front.observer);
        }
        inner.form.replace(plan.form());
        let limits = inner.front.limits(&head);
        // Rate limits that refuse are answered by what the body says.
        if limits.is_empty() {
            inner.let_go();
        }
        inner.front.limited(&head, &limits, inner.text_of(plan))
    }

    /// Finds the fact that the last plan lacks. The promise is never rejected.
    #[wasm_bindgen(js_name = find)]
    pub fn find(&self, request: Option<web_sys::Request>) -> js_sys::Promise {
        let inner = self.inner.clone();
        future_to_promise(AssertUnwindSafe(async move {
            if inner.need.borrow().is_none() {
                inner.text_of(inner.decide());
            }
            let need = inner.need.take();
            if let Some(need) = need {
                let request = request.map(Request::from);
                if let Some(body) = inner.front.find(need, request.as_ref()).await {
                    inner.body.replace(body);
                }
            }
            Ok(JsValue::UNDEFINED)
        }))
    }

    /// Notes that these rate limits, a list as JSON, have let the request through.
    #[wasm_bindgen(js_name = noteLimits)]
    pub fn note_limits(&self, limits: &str) {
        self.inner.front.seen.note_asked(read_own(limits).unwrap_or_default());
        self.inner.let_go();
    }

    /// The plan for a request that rate limits refuse, a list as JSON.
    #[wasm_bindgen(js_name = held)]
    pub fn held(&self, limits: &str) -> String {
        let Inner { front, head, .. } = &*self.inner;
        let head = Head::parse(head);
        let seconds = front.seen.refused_by(limits, &front.agents, &head);
        front.seen.hold(seconds);
        let plan = match self.inner.decide() {
            Plan::Answer(answer) => answered(&answer),
            _ => answered(&HttpResponse::error(&Error::RateLimited(seconds))),
        };
        front.shown_to(&head, plan)
    }

    /// The plan for a request whose object has no answer for the client: it answered `status` instead, 404 if the namespace
    /// does not know it, 0 if nothing came, for this reason.
    #[wasm_bindgen(js_name = failed)]
    pub fn failed(&self, status: u16, reason: &str) -> String {
        let Inner { front, head, form, .. } = &*self.inner;
        let failure = AskError::of_status(status, reason);
        if let Some(form) = form.take() {
            return answered(&front.refusal(&form, &failure));
        }
        let _ = front.facts.failure.set(failure);
        let plan = self.inner.decide().into_text();
        let head = Head::parse(head);
        let (_, path, _) = split_url(head.url());
        if matches!(route(path), Route::Callback(..)) {
            front.seen.audit_guesses(&head, None, &front.observer);
        }
        front.limited(&head, &front.limits(&head), plan)
    }

    /// The plan for a list whose statement has found these lines, see [`listed`](super::plan::listed). Without lines it has
    /// failed.
    #[wasm_bindgen(js_name = listed)]
    pub fn listed(&self, lines: Option<String>, total: Option<f64>) -> String {
        let lines = lines.map(|lines| FoundPage::lines(lines, total));
        self.inner.front.facts.page.replace(Some(lines.unwrap_or(FoundPage::NoLines)));
        self.inner.text_of(self.inner.decide())
    }
}

impl Waiting {
    /// A request whose body is there.
    pub(super) fn of(front: Front, head: String, body: FoundBody) -> Self {
        Self {
            inner: Rc::new(Inner {
                front,
                head,
                body: RefCell::new(body),
                turn: RefCell::default(),
                need: RefCell::default(),
                form: RefCell::default(),
                is_audited: Cell::default(),
                rounds: Cell::default(),
            }),
        }
    }

    /// Answers it.
    ///
    /// # Errors
    ///
    /// When the platform fails.
    pub(super) async fn answer(self) -> Result<Response> {
        let env = JsValue::from(self.inner.front.env.clone());
        let response = answer_waiting(&env, self).await?;
        Ok(response.unchecked_into::<web_sys::Response>().into())
    }
}

impl Inner {
    fn decide(&self) -> Plan {
        self.front.decide(&Head::parse(&self.head), &self.body.borrow().received())
    }

    /// The text of a plan. The fact that it lacks is kept.
    fn text_of(&self, plan: Plan) -> String {
        let Plan::Need(need) = plan else { return plan.into_text() };
        self.need.replace(Some(need));
        NEED.to_owned()
    }

    /// Frees the body once the object is asked, which may take long to answer. The turn of a large one is kept.
    fn let_go(&self) {
        if self.form.borrow().is_some()
            && let FoundBody::Whole(body) = self.body.take()
        {
            self.turn.replace(body.into_turn());
        }
    }
}

impl FoundBody {
    fn received(&self) -> Received<'_> {
        match self {
            Self::Nothing => Received::Nothing,
            Self::Whole(body) => Received::Whole(body.bytes()),
            Self::Refused(error) => Received::Refused(error.clone()),
        }
    }
}

/// A request that was planned before and has to wait: `limits` are the rate limits that let it through, as JSON, or empty. Its
/// body is `undefined` while it was not received. `is_audited` tells whether that plan was more than to find a fact.
///
/// # Errors
///
/// If the settings or the agents cannot be read, which the plan before could.
#[wasm_bindgen(js_name = wait)]
pub fn wait(
    env: Env,
    head: String,
    body: Option<Vec<u8>>,
    is_broken: bool,
    limits: &str,
    is_audited: bool,
) -> std::result::Result<Waiting, JsError> {
    let front = Front::of(env).map_err(|answer| JsError::new(&answer.body))?;
    let body = match body {
        _ if is_broken => FoundBody::Refused(Error::BodyIncomplete),
        Some(body) => FoundBody::Whole(Body::of(body)),
        None => FoundBody::Nothing,
    };
    let waiting = Waiting::of(front, head, body);
    waiting.inner.is_audited.set(is_audited);
    waiting.note_limits(limits);
    Ok(waiting)
}

/// Answers a request of MCP or of the console, which asks agents itself. Its body is `undefined` while it was not received.
///
/// # Errors
///
/// When the platform fails to build a response.
#[wasm_bindgen(js_name = visit)]
pub async fn visit(
    env: Env,
    request: web_sys::Request,
    head: String,
    body: Option<js_sys::Uint8Array>,
) -> std::result::Result<web_sys::Response, JsValue> {
    let answered = AssertUnwindSafe(async move {
        let front = match Front::of(env) {
            Ok(front) => front,
            Err(answer) => return to_response(answer),
        };
        let (request, head) = (Request::from(request), Head::parse(&head));
        let (_, path, _) = split_url(head.url());
        match route(path) {
            Route::Mcp(slug) => Box::pin(front.mcp(&request, &head, slug, body)).await,
            Route::Console(below) => Box::pin(front.console(&head, below)).await,
            _ => to_response(HttpResponse::error(&Error::Internal { task: None })),
        }
    });
    Ok(answered.await?.into())
}

#[wasm_bindgen(module = "/js/glue.js")]
extern "C" {
    /// Answers a request inside of the Worker.
    #[wasm_bindgen(catch, js_name = answerWaiting)]
    async fn answer_waiting(
        env: &JsValue,
        waiting: Waiting,
    ) -> std::result::Result<JsValue, JsValue>;
}

/// How often a request is planned at most: each round finds a fact, and there are few.
const MAX_ROUNDS: usize = 12;
