//! The ports of a task: a trait for each kind of outside service. `edge` implements them on Cloudflare, `twins` in memory for tests.

mod audit;
mod functions;
mod index;
mod join;
mod moment;
mod observation_table;
mod observations;
mod observer;
mod outside;
mod peers;
mod queue;
mod runtime;
mod store;
mod usage;
mod vault;
mod webhook_list;

use std::rc::Rc;

pub use a2a::http::{Http, HttpAnswer, HttpBody, HttpError, HttpRequest};
pub use a2a::port::{Clock, Random};
pub use audit::{Act, Audit};
pub use functions::{FunctionEnd, Functions, RunEnd};
pub use index::{IndexPlaces, IndexRow, Indexed, TaskIndex};
pub(crate) use join::{join_all, join_some};
pub use moment::{AnsweredRequest, Moment, SpanId, SpanPlace, Work, WorkEnd};
pub use observation_table::Severity;
pub use observations::Observation;
pub use observer::Observer;
pub use outside::{Outside, Secrets, Variables};
pub(crate) use peers::Unbound;
pub use peers::{Peers, Target};
pub use queue::{WebhookJob, WebhookQueue};
pub use runtime::{Followers, Runtime, yield_once};
pub use store::{
    Batch, FirstRow, LogRange, LogRow, StoreError, Stored, StoredTask, TaskFacts, TaskStore,
};
pub use usage::{Counted, CountedTurn, UsageSums};
pub use vault::{Sealed, Vault};
pub use webhook_list::{ListedChange, WebhookChange, WebhookList, WebhookTroubles};

use a2a_agents::tool::Counters;

/// All ports of one task except its storage.
#[derive(Clone)]
pub struct Ports {
    /// The clock.
    pub clock: Rc<dyn Clock>,
    /// Identifiers and secrets.
    pub random: Rc<dyn Random>,
    /// Background work, and the alarm of the task's object.
    pub runtime: Rc<dyn Runtime>,
    /// The followers of the task.
    pub followers: Rc<dyn Followers>,
    /// The queue of webhooks with unsent notifications.
    pub queue: Rc<dyn WebhookQueue>,
    /// The index for listings.
    pub index: Rc<dyn TaskIndex>,
    /// The sums of usage.
    pub usage: Rc<dyn UsageSums>,
    /// The list of webhooks in trouble.
    pub webhook_list: Rc<dyn WebhookList>,
    /// Sends requests to other servers, for the task's agent.
    pub http: Rc<dyn Http>,
    /// Sends requests to other agents, for the task's agent.
    pub peers: Rc<dyn Peers>,
    /// Counters for tools, which outlive the task.
    pub counters: Rc<dyn Counters>,
    /// Decrypts the credentials that clients have sent for the task.
    pub vault: Rc<dyn Vault>,
    /// Receives the observations for operators.
    pub observer: Rc<dyn Observer>,
}
