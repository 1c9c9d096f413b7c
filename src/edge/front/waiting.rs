//! A request whose decision needs facts that have to be awaited: its state from one plan to the next. `js/hop.js` holds
//! a `Waiting`, and frees it when the request is answered.
#![allow(unreachable_pub, reason = "what JavaScript calls must be public")]

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;
use worker::{Env, Request, Response, Result};

use super::deployment::Front;
use super::facts::FoundBody;
use super::facts::body::{Body, Turn};
use super::plan::{answered, shown_to, text_of};
use crate::edge::panics::caught;
use crate::edge::service::clock::now;
use crate::front::decide::{Decision, decide, refuse};
use crate::front::facts::{Facts, FoundPage, Need, Received};
use crate::front::failure::Failure;
use crate::front::head::Head;
use crate::front::limit::refused_s;
use crate::front::plan::{Form, Plan};
use crate::front::route::{Route, route};
use a2a::binding::http::{HttpResponse, split_url};
use a2a::error::Error;
use a2a::model::decode::read_json;

/// A request whose decision needs facts that have to be awaited. Its methods return plans as
/// [`plan`](super::plan::plan) does, but with the facts that were found.
#[wasm_bindgen]
pub struct Waiting {
    inner: Rc<Inner>,
}

struct Inner {
    front: Front,
    head: String,
    body: RefCell<FoundBody>,
    facts: RefCell<Facts>,
    /// The turn of a large body, kept until the request is answered.
    turn: RefCell<Option<Turn>>,
    /// The missing fact that the last plan named.
    need: RefCell<Option<Need>>,
    /// The format of the error answer for the case that the object does not answer. It is kept because the body, from
    /// which it follows, is dropped once the object is called.
    form: RefCell<Option<Form>>,
    /// True if the audit lines of this request were written.
    is_audited: Cell<bool>,
    rounds: Cell<usize>,
}

#[wasm_bindgen]
impl Waiting {
    /// The next plan, see [`Plan`].
    #[wasm_bindgen(js_name = plan)]
    pub fn plan(&self) -> String {
        let inner = &self.inner;
        inner.rounds.set(inner.rounds.get() + 1);
        if inner.rounds.get() > MAX_ROUNDS {
            return answered(&HttpResponse::error(&Error::Internal { task: None }));
        }
        let head = Head::parse(&inner.head);
        let decision = inner.decide(&head);
        if !matches!(decision.plan, Plan::Need(_)) && !inner.is_audited.replace(true) {
            inner.front.report(&decision.audits);
        }
        inner.form.replace(decision.plan.form());
        // If a rate limit refuses, the error answer depends on the body. So the body is kept while the decision names
        // rate limits.
        if decision.limits.is_empty() {
            inner.let_go();
        }
        inner.text_of(decision)
    }

    /// Finds the missing fact that the last plan named. The promise is rejected only if a panic occurs.
    #[wasm_bindgen(js_name = find)]
    pub fn find(&self, request: Option<web_sys::Request>) -> js_sys::Promise {
        let inner = self.inner.clone();
        let found = caught(async move {
            if inner.need.borrow().is_none() {
                inner.text_of(inner.decide(&Head::parse(&inner.head)));
            }
            let need = inner.need.take();
            if let Some(need) = need {
                let request = request.map(Request::from);
                let found = inner.front.find(need, request.as_ref()).await;
                if let Some(body) = found.keep(&mut inner.facts.borrow_mut()) {
                    inner.body.replace(body);
                }
            }
        });
        future_to_promise(async move { Ok(found.await.map(|()| JsValue::UNDEFINED)?) })
    }

    /// Records that these rate limits, a JSON list, have admitted the request.
    #[wasm_bindgen(js_name = noteLimits)]
    pub fn note_limits(&self, limits: &str) {
        let asked: Vec<_> = read_json(limits).unwrap_or_default();
        self.inner.facts.borrow_mut().asked.extend(asked);
        self.inner.let_go();
    }

    /// The plan for a request that these rate limits, a JSON list, have refused.
    #[wasm_bindgen(js_name = held)]
    pub fn held(&self, limits: &str) -> String {
        let Inner { front, head, facts, .. } = &*self.inner;
        let head = Head::parse(head);
        let seconds = refused_s(limits, &front.deployment.agents, &head, now());
        facts.borrow_mut().held_s = Some(seconds);
        let Decision { plan, origin, .. } = self.inner.decide(&head);
        let plan = match plan {
            Plan::Answer(answer) => answered(&answer),
            _ => answered(&HttpResponse::error(&Error::RateLimited(seconds))),
        };
        shown_to(origin, plan)
    }

    /// The plan for a request whose object returned no answer for the client. `status` is the status that the object
    /// returned instead: 404 if the namespace does not know the object, 0 if nothing arrived. `reason` is the text for
    /// the log.
    #[wasm_bindgen(js_name = failed)]
    pub fn failed(&self, status: u16, reason: &str) -> String {
        let Inner { front, head, facts, form, .. } = &*self.inner;
        let failure = Failure::of_status(status, reason);
        if let Some(form) = form.take() {
            let (answer, reports) = refuse(&form, &failure);
            front.report(&reports);
            return answered(&answer);
        }
        facts.borrow_mut().failure.get_or_insert(failure);
        let head = Head::parse(head);
        let decision = self.inner.decide(&head);
        let (_, path, _) = split_url(head.url());
        if matches!(route(path), Route::Callback(..)) {
            front.report(&decision.audits);
        }
        self.inner.text_of(decision)
    }

    /// The plan for a list whose SQL statement returned these lines, see [`listed`](super::plan::listed). `None` means
    /// that the statement has failed.
    #[wasm_bindgen(js_name = listed)]
    pub fn listed(&self, lines: Option<String>, total: Option<f64>) -> String {
        let page = lines.map_or(FoundPage::NoLines, |lines| FoundPage::lines(lines, total));
        self.inner.facts.borrow_mut().page = Some(page);
        let decision = self.inner.decide(&Head::parse(&self.inner.head));
        // The first plan contained the origin and the rate limits before the statement, so they were applied already.
        self.inner.text_of(Decision { origin: None, limits: Vec::new(), ..decision })
    }
}

impl Waiting {
    /// A request whose body was received or refused, or is still missing, with the facts that are known already.
    pub(super) fn of(front: Front, head: String, body: FoundBody, facts: Facts) -> Self {
        Self {
            inner: Rc::new(Inner {
                front,
                head,
                body: RefCell::new(body),
                facts: RefCell::new(facts),
                turn: RefCell::default(),
                need: RefCell::default(),
                form: RefCell::default(),
                is_audited: Cell::default(),
                rounds: Cell::default(),
            }),
        }
    }

    /// Answers the request: JavaScript carries out its plans.
    ///
    /// # Errors
    ///
    /// If the platform fails.
    pub(super) async fn answer(self) -> Result<Response> {
        let env = JsValue::from(self.inner.front.env.clone());
        let response = answer_waiting(&env, self).await?;
        Ok(response.unchecked_into::<web_sys::Response>().into())
    }
}

impl Inner {
    /// Decides the request with the facts found so far, and writes the reports of the decision.
    fn decide<'h>(&self, head: &Head<'h>) -> Decision<'h> {
        let Self { front, facts, body, .. } = self;
        let body = body.borrow();
        let decision = decide(&front.deployment, &facts.borrow(), head, &body.received(), now);
        front.report(&decision.reports);
        decision
    }

    /// The plan of a decision as text. The missing fact that the plan names is kept in `need`.
    fn text_of(&self, decision: Decision<'_>) -> String {
        let (text, need) = text_of(decision);
        if need.is_some() {
            self.need.replace(need);
        }
        text
    }

    /// Drops the body if the plan calls the object, because the object may take a long time to answer. The turn of a
    /// large body is kept.
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

/// Makes a [`Waiting`] from a request that got its first plan from [`plan`](super::plan::plan). `limits` are the rate
/// limits that have admitted the request, as JSON, or empty. `body` is `undefined` if the body was not received.
/// `is_audited` is true if the first plan did more than name a missing fact.
///
/// # Errors
///
/// If the settings or the agents cannot be read. This is not expected, because the first plan could read them.
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
    let waiting = Waiting::of(front, head, body, Facts::default());
    waiting.inner.is_audited.set(is_audited);
    waiting.note_limits(limits);
    Ok(waiting)
}

#[wasm_bindgen(module = "/js/glue.js")]
extern "C" {
    /// Carries out the plans of `waiting`, a request inside of the Worker, and returns the promise of its response.
    #[wasm_bindgen(catch, js_name = answerWaiting)]
    async fn answer_waiting(
        env: &JsValue,
        waiting: Waiting,
    ) -> std::result::Result<JsValue, JsValue>;
}

/// The largest number of plans of one request. Each plan but the last names one missing fact, and a request needs fewer
/// facts than this.
const MAX_ROUNDS: usize = 12;
