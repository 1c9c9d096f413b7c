//! What a task asks of the outside, a trait for each subject. `edge` implements them on Cloudflare,
//! `twins` in memory for tests.

mod audit;
mod index;
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
pub use index::{IndexRow, Indexed, TaskIndex};
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

/// All ports of one task but its storage.
#[derive(Clone)]
pub struct Ports {
    /// What time it is.
    pub clock: Rc<dyn Clock>,
    /// Identifiers and secrets.
    pub random: Rc<dyn Random>,
    /// What runs its object.
    pub runtime: Rc<dyn Runtime>,
    /// Those who follow it.
    pub followers: Rc<dyn Followers>,
    /// Where its webhooks wait for notifications to be sent.
    pub queue: Rc<dyn WebhookQueue>,
    /// Where listing finds it.
    pub index: Rc<dyn TaskIndex>,
    /// Where what its turns have used is summed.
    pub usage: Rc<dyn UsageSums>,
    /// Where its webhooks are found that are in trouble.
    pub webhook_list: Rc<dyn WebhookList>,
    /// Other servers, for its agent.
    pub http: Rc<dyn Http>,
    /// Other agents, for its agent.
    pub peers: Rc<dyn Peers>,
    /// Numbers that outlive it, for tools.
    pub counters: Rc<dyn Counters>,
    /// What opens the credentials that its clients give it.
    pub vault: Rc<dyn Vault>,
    /// Who is told what operators want to know.
    pub observer: Rc<dyn Observer>,
}
