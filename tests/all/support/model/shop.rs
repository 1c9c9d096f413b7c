//! A server in memory that the tools of agents call: it counts its requests, and never returns the same answer
//! twice.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use a2a::http::{Http, HttpAnswer, HttpBody, HttpError, HttpRequest};
use a2a_edge::port::{Clock, yield_once};
use a2a_edge::twins::MemoryPlatform;
use futures_util::future::LocalBoxFuture;
use serde_json::{Value, json};

/// The URL of the shop: `https://shop.example/<tool>`.
pub const SHOP: &str = "https://shop.example";

/// A server with the answers `<path> <number of the order>`. Clones share it.
#[derive(Clone)]
pub struct Shop(Rc<State>);

struct State {
    platform: MemoryPlatform,
    orders: RefCell<Vec<Order>>,
    delays: RefCell<BTreeMap<String, u64>>,
    fails: RefCell<BTreeMap<String, u16>>,
    gate: RefCell<Option<Rc<Cell<usize>>>>,
}

/// A request to the shop.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// The path without its slash.
    pub name: String,
    /// The header `Idempotency-Key`.
    pub key: Option<String>,
    /// The body; null if it is not JSON.
    pub body: Value,
    /// When the order arrived.
    pub at_ms: i64,
    /// Whether the order was answered.
    pub is_answered: bool,
}

impl Shop {
    pub fn new(platform: &MemoryPlatform) -> Self {
        let state = State {
            platform: platform.clone(),
            orders: RefCell::default(),
            delays: RefCell::default(),
            fails: RefCell::default(),
            gate: RefCell::default(),
        };
        Self(Rc::new(state))
    }

    /// Delays orders until this counter increases, which means that the earlier writes are durable.
    pub fn gate(&self, commits: Rc<Cell<usize>>) {
        self.0.gate.replace(Some(commits));
    }

    /// Delays the answers to orders of this name.
    pub fn delay(&self, name: &str, millis: u64) {
        self.0.delays.borrow_mut().insert(name.to_owned(), millis);
    }

    /// Sets the status of the answers to orders of this name.
    pub fn fail(&self, name: &str, status: u16) {
        self.0.fails.borrow_mut().insert(name.to_owned(), status);
    }

    pub fn orders(&self) -> Vec<Order> {
        self.0.orders.borrow().clone()
    }

    /// A number that changes with each order and each answer.
    pub fn mark(&self) -> u64 {
        let orders = self.0.orders.borrow();
        (orders.len() + orders.iter().filter(|order| order.is_answered).count()) as u64
    }

    /// The definition of a tool that sends orders by POST, with a key; in the form of `[[tools]]`.
    pub fn tool(name: &str) -> Value {
        json!({
            "name": name, "description": format!("Orders {name}."), "method": "POST",
            "url": format!("{SHOP}/{name}"), "arguments": {"what": {"type": "string", "optional": true}},
            "body": {"what": "{what}"}, "idempotency": "Idempotency-Key",
        })
    }
}

impl Http for Shop {
    fn send(
        &self,
        mut request: HttpRequest,
    ) -> LocalBoxFuture<'static, Result<HttpAnswer, HttpError>> {
        let shop = self.clone();
        Box::pin(async move {
            let gate = shop.0.gate.borrow().clone();
            let before = gate.as_ref().map(|commits| commits.get());
            while before.is_some() && gate.as_ref().map(|commits| commits.get()) == before {
                yield_once().await;
            }
            let body = std::mem::take(&mut request.body).bytes().await?;
            let name = request.url.rsplit('/').next().unwrap_or_default().to_owned();
            let key = request
                .headers
                .iter()
                .rfind(|(name, _)| name.eq_ignore_ascii_case("idempotency-key"));
            let order = Order {
                name: name.clone(),
                key: key.map(|(_, value)| value.clone()),
                body: serde_json::from_slice(&body).unwrap_or_default(),
                at_ms: shop.0.platform.now().0,
                is_answered: false,
            };
            shop.0.orders.borrow_mut().push(order);
            let number = shop.0.orders.borrow().len();
            let delay = shop.0.delays.borrow().get(&name).copied();
            if let Some(millis) = delay {
                shop.0.platform.sleep(millis).await;
            }
            yield_once().await;
            shop.0.orders.borrow_mut()[number - 1].is_answered = true;
            let status = shop.0.fails.borrow().get(&name).copied().unwrap_or(200);
            let body = HttpBody::from(json!(format!("{name} {number}")).to_string());
            let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
            Ok(HttpAnswer { status, headers, body, url: request.url })
        })
    }
}
