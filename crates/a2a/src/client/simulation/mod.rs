//! Simulated time and servers in memory, for tests of programs that call agents: tests need no real waiting, and every run
//! of a test has the same result.
//!
//! [`serve`](Simulation::serve) adds a server for a host: a closure that receives each [request](SimulatedRequest) and
//! returns a [`SimulatedAnswer`], whose body may arrive in pieces, late, incompletely, or never. [`run`](Simulation::run)
//! runs a program; whenever the whole program waits, the time moves to the next timer. [`requests`](Simulation::requests) is
//! the log of received requests.
//!
//! ```
//! use a2a::client::simulation::{Simulation, SimulatedAnswer};
//! use a2a::client::{Client, Outcome, Settings, create_message};
//! use serde_json::json;
//!
//! let simulation = Simulation::default();
//! simulation.serve("agent.example", |request| {
//!     if request.method == "GET" {
//!         return SimulatedAnswer::card("https://agent.example/a2a");
//!     }
//!     let task = |state: &str| json!({"id": "t-1", "contextId": "c-1", "status": {"state": state}});
//!     let event = |task| json!({"jsonrpc": "2.0", "id": "1", "result": {"task": task}});
//!     match request.call_number {
//!         // The stream breaks off after its first event.
//!         1 => SimulatedAnswer::events([event(task("TASK_STATE_WORKING"))]).wait(2_000).cut("the line broke"),
//!         // The client reconnects.
//!         _ => SimulatedAnswer::events([event(task("TASK_STATE_COMPLETED"))]),
//!     }
//! });
//! let client = Client::new(Settings::new("https://agent.example"), simulation.ports());
//! let observed = simulation.run(client.send_and_observe(create_message("hi", &simulation.ports()), || false));
//! assert_eq!(observed.outcome, Outcome::Completed);
//! assert!(simulation.requests()[2].body.contains("SubscribeToTask"));
//! assert!(simulation.now_ms() > 2_000);
//! ```

mod server;
mod time;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use super::Ports;
use crate::http::memory::MemoryHttp;
use crate::model::Uuid;
use crate::port::Random;
pub use server::{Piece, SimulatedAnswer, SimulatedRequest};

/// A machine in memory: its clock, its random numbers, and the servers that it can reach. Clones share its state.
#[derive(Clone, Default)]
pub struct Simulation(Rc<State>);

#[derive(Default)]
struct State {
    http: MemoryHttp,
    servers: RefCell<BTreeMap<String, Rc<server::Server>>>,
    requests: RefCell<Vec<SimulatedRequest>>,
    now: Cell<i64>,
    /// The instants of the active timers, with the number of timers for each.
    timers: RefCell<BTreeMap<i64, usize>>,
    ids: Cell<u64>,
    chance: Cell<Option<f64>>,
}

impl Simulation {
    /// Adds a server for a host, for example `agent.example` or `localhost:8080`, and replaces an earlier one. Other hosts
    /// are served by [`http`](Self::http); until that server has a closure, connections to other hosts fail.
    pub fn serve(
        &self,
        host: &str,
        server: impl Fn(&SimulatedRequest) -> SimulatedAnswer + 'static,
    ) {
        self.0.servers.borrow_mut().insert(host.to_owned(), Rc::new(server));
    }

    /// The server for all hosts without a server of their own: one closure.
    pub fn http(&self) -> &MemoryHttp {
        &self.0.http
    }

    /// The requests to the hosts of [`serve`](Self::serve), in order.
    pub fn requests(&self) -> Vec<SimulatedRequest> {
        self.0.requests.borrow().clone()
    }

    /// The present instant, in milliseconds since the simulation began.
    pub fn now_ms(&self) -> u64 {
        u64::try_from(self.0.now.get()).unwrap_or_default()
    }

    /// Sets the result of all random decisions, from 0 to 1; the default is 0.5.
    pub fn set_chance(&self, chance: f64) {
        self.0.chance.set(Some(chance));
    }

    /// The ports of this machine for a client.
    pub fn ports(&self) -> Ports {
        let machine = Rc::new(self.clone());
        Ports { http: machine.clone(), clock: machine.clone(), random: machine }
    }

    /// Runs a future to its end. Whenever the whole future waits, the time moves to the next timer.
    ///
    /// # Panics
    ///
    /// If the future waits for something that is not a timer, so that it would wait for ever; if it is busy without ever
    /// waiting; and if it has not ended after 100 days.
    #[expect(clippy::panic, reason = "a test fails by panicking")]
    pub fn run<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        let (flag, waker) = time::flag();
        let mut context = Context::from_waker(&waker);
        let end = self.0.now.get().saturating_add(LONGEST_RUN_MS);
        let mut rounds = 0;
        loop {
            if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
                return value;
            }
            if flag.was_woken() {
                rounds += 1;
                assert!(rounds < MAX_ROUNDS, "it wakes itself again and again{}", self.situation());
                continue;
            }
            let now = self.0.now.get();
            let next = self.0.timers.borrow().range(now + 1..).next().map(|(due, _)| *due);
            let Some(next) = next else {
                panic!("it waits for something that never happens{}", self.situation())
            };
            assert!(next <= end, "it has not ended after 100 days{}", self.situation());
            self.0.now.set(next);
            rounds = 0;
        }
    }

    /// The situation of a run that cannot continue, for the error.
    fn situation(&self) -> String {
        let requests = self.0.requests.borrow();
        let last =
            requests.last().map(|last| format!(", the last of them {} {}", last.method, last.url));
        let (now, count, last) = (self.now_ms(), requests.len(), last.unwrap_or_default());
        format!(" (after {now} ms and {count} requests{last})")
    }
}

impl Random for Simulation {
    fn new_id(&self) -> Uuid {
        self.0.ids.set(self.0.ids.get() + 1);
        Uuid::v4(u128::from(self.0.ids.get()).to_be_bytes())
    }

    fn secret_bytes(&self) -> [u8; 32] {
        [7; 32]
    }

    fn chance(&self) -> f64 {
        self.0.chance.get().unwrap_or(0.5)
    }
}

const LONGEST_RUN_MS: i64 = 100 * 24 * 60 * 60 * 1_000;

/// The largest number of times that a future may wake itself without waiting for a timer.
const MAX_ROUNDS: u32 = 1_000_000;

#[cfg(test)]
mod tests;
