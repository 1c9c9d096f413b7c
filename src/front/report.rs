//! The reports of a decision to the operator. The edge writes them after the decision.

use crate::executor::{Agents, HostedAgent};
use crate::port::{Act, Audit, Observation, Observer};
use crate::trail::Trail;
use a2a::Operation;
use a2a::model::TaskId;
use a2a_agents::Misfit;

/// An entry for the log or the audit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Report {
    /// A line of the audit.
    Audited(Line),
    /// This agent cannot run, for this reason.
    AgentUnusable(String, String),
    /// The object of this task returned no answer, for this reason.
    ObjectUnreachable(Option<TaskId>, String),
    /// A list cannot be read, for this reason.
    ListingFailed(String),
}

/// A line of the audit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(super) act: Act,
    /// The slug of the agent.
    pub(super) agent: String,
    pub(super) caller: Option<String>,
    pub(super) operation: Option<Operation>,
    /// The reason of a refusal.
    pub(super) refusal: Option<String>,
    pub(super) trail: Trail,
}

impl Report {
    /// The reports about an agent that cannot run.
    pub(super) fn of_unusable(agents: &Agents, slug: &str) -> Vec<Self> {
        let unusable = agents.find(Some(slug)).into_iter().flat_map(HostedAgent::unusable);
        unusable
            .map(|Misfit(reason)| Self::AgentUnusable(slug.to_owned(), reason.clone()))
            .collect()
    }

    /// Passes the report to an observer.
    pub(crate) fn observe(&self, observer: &dyn Observer) {
        match self {
            Self::Audited(line) => line.observe(observer),
            Self::AgentUnusable(agent, reason) => {
                observer.observe(&Observation::AgentUnusable { agent, reason });
            }
            Self::ObjectUnreachable(task, reason) => {
                observer.observe(&Observation::ObjectUnreachable { task: task.as_ref(), reason });
            }
            Self::ListingFailed(reason) => {
                observer.observe(&Observation::ListingFailed { reason });
            }
        }
    }
}

impl Line {
    fn observe(&self, observer: &dyn Observer) {
        let Self { act, agent, caller, operation, refusal, trail } = self;
        let audit = Audit::of(*act, agent, "", trail).refused(refusal.as_deref());
        let audit = Audit { caller: caller.as_deref(), ..audit };
        let audit = match operation {
            Some(operation) => audit.by(*operation),
            None => audit,
        };
        observer.observe(&Observation::Audited(audit));
    }
}
