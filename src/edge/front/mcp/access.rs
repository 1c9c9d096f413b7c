//! The agents that a request of MCP may call. Each agent applies its own policy, as for a request of A2A.

use serde_json::Value;

pub(super) use super::super::callers::Refusing;
use super::super::callers::{Callers, Counted};
use super::super::deployment::Front;
use super::{refusal, refused};
use crate::auth::{Caller, Policy};
use crate::executor::HostedAgent;
use crate::front::document::metadata::metadata_url;
use crate::front::head::Head;
use crate::front::identify::shows_credentials;
use a2a::binding::http::{HttpResponse, split_url};
use a2a::error::{Error, Refusal};

/// The agents that a request may call.
pub(super) struct Scope<'a> {
    /// The agents that admit the request.
    pub(super) admitted: Vec<Admitted<'a>>,
    /// The agents that refuse the request.
    pub(super) refusals: Vec<Refusing<'a>>,
    /// The rate limits that were asked, and the notes from which they follow.
    pub(super) counted: Counted,
    /// True if the list of agents depends on the caller or on the page.
    pub(super) is_private: bool,
}

/// An agent that a request may call.
pub(super) struct Admitted<'a> {
    pub(super) agent: &'a HostedAgent,
    /// The caller for this agent.
    pub(super) caller: Caller,
}

impl Admitted<'_> {
    /// True if the agent has an executor.
    pub(super) fn can_run(&self) -> bool {
        self.agent.runner.is_ok()
    }

    /// The schema of the arguments of the skill with this id, if known.
    pub(super) fn input_schema(&self, skill: &str) -> Option<&Value> {
        self.agent.runner.as_ref().ok()?.executor.input_schema(skill)
    }
}

impl Front {
    /// The agents that a request may call. At the server of all agents, refusing agents are left out, unless all refuse, or the
    /// request contains credentials that no agent accepts.
    ///
    /// # Errors
    ///
    /// The answer to a request that may call no agent.
    pub(super) async fn scope<'a>(
        &'a self,
        head: &Head<'_>,
        slug: Option<&'a str>,
        origin: Option<&str>,
    ) -> Result<Scope<'a>, HttpResponse> {
        let (own, _, _) = split_url(head.url());
        let agents: Vec<&HostedAgent> = self.deployment.mcp_agents(slug).collect();
        let is_private = agents.iter().any(|agent| {
            let access = agent.policy.as_ref().ok().map(Policy::access);
            access.is_none_or(|access| !access.is_anonymous() || !access.allowed_origins.is_empty())
        });
        let is_page_admitted =
            |agent: &&HostedAgent| origin.is_none_or(|origin| self.admits_page(agent, origin, own));
        let agents: Vec<_> = agents.into_iter().filter(is_page_admitted).collect();
        let callers = self.callers_of(head, &agents).await;
        let Callers { told, counted } = callers.map_err(|held| refused(&held))?;
        let (mut admitted, mut refusals) = (Vec::new(), Vec::new());
        let (mut is_known, mut shown) = (false, None);
        for told in told {
            match told {
                Ok((agent, caller)) => {
                    is_known |= !caller.is_anonymous();
                    self.learn_if_due(agent).await;
                    admitted.push(Admitted { agent, caller });
                }
                Err(refusing) => {
                    if shown.is_none() && shows_credentials(head, refusing.agent) {
                        shown = Some(refusals.len());
                    }
                    refusals.push(refusing);
                }
            }
        }
        let place = match (is_known, shown, admitted.is_empty()) {
            (false, Some(place), _) => Some(place),
            (_, None, true) => Some(0),
            _ => None,
        };
        match place.and_then(|place| refusals.get(place)) {
            Some(refusing) => Err(self.challenge(slug, head, &counted, refusing).await),
            None => Ok(Scope { admitted, refusals, counted, is_private }),
        }
    }

    /// The answer to a call of an agent that refuses the request.
    pub(super) async fn challenge(
        &self,
        slug: Option<&str>,
        head: &Head<'_>,
        counted: &Counted,
        refusing: &Refusing<'_>,
    ) -> HttpResponse {
        match self.count_refusal(head, counted, refusing).await {
            Ok(()) => self.challenge_of(slug, head, refusing),
            Err(held) => refused(&held),
        }
    }

    /// The refusal of a request by an agent. If an issuer provides tokens, the answer contains the URL of the metadata with the
    /// issuers; otherwise the message states that there is no OAuth.
    fn challenge_of(
        &self,
        slug: Option<&str>,
        head: &Head<'_>,
        refusing: &Refusing<'_>,
    ) -> HttpResponse {
        let Refusing { agent, error } = refusing;
        let (Error::Unauthenticated(refused) | Error::PermissionDenied(refused)) = error else {
            return super::refused(error);
        };
        let Refusal { message, challenges } = refused.as_ref();
        let status = error.wire().http;
        let metadata = metadata_url(&self.deployment, slug, head);
        let message = match (&metadata, status) {
            (None, 401) => {
                format!(
                    "agent {}: {message} (there is no OAuth here: set them in the configuration of your client)",
                    agent.slug
                )
            }
            _ => format!("agent {}: {message}", agent.slug),
        };
        let mut answer = refusal(status, &message);
        let told = challenges.iter().map(|challenge| match &metadata {
            Some(url) if challenge.starts_with("Bearer ") => {
                format!("{challenge}, resource_metadata=\"{url}\"")
            }
            _ => challenge.clone(),
        });
        let told = told.collect::<Vec<_>>().join(", ");
        if !told.is_empty() {
            answer = answer.with_header("www-authenticate", told);
        }
        answer
    }
}
