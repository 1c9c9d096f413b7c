//! Looks at the sources from which agents learn skills, before a card is shown.
//!
//! | what is known | the card waits for |
//! |---|---|
//! | was looked at within the last minute | nothing, in Rust either |
//! | something, by this instance or another one | D1 at most; whether the source has changed is asked beside |
//! | nothing yet, for the first time in an instance | the source, two seconds at most; asking it goes on beside |
//! | nothing yet, from then on | nothing: it is shown without these skills, and clients should ask again |

use std::rc::Rc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{Either, LocalBoxFuture, join_all, select};
use worker::Delay;

use super::decision::{Decision, Front};
use crate::edge::service::cards::{RecalledCard, RememberedCards, WebVerifier};
use crate::edge::service::clock::{WorkerClock, now};
use crate::edge::service::outbound::Outbound;
use crate::edge::service::random::WorkerRandom;
use crate::executor::{HostedAgent, Learned, Taken};
use crate::port::{Observation, Observer};
use crate::remembered::UNUSED_MS;
use a2a::client::{Client, Ports, RemoteCard, Settings};
use a2a::model::UnixMillis;
use a2a_agents::{LearnedSource, take_over};

impl Front {
    /// What a request for a card comes to first, if the skills that the agent learns were not looked at for a while.
    pub(super) fn unlearned(&self, agent: &HostedAgent) -> Option<Decision> {
        let learned = agent.learned.as_ref()?;
        let is_due = !self.has_learned.get() && learned.is_due(now());
        is_due.then(|| Decision::Learn(agent.slug.clone()))
    }

    /// Looks at the sources of an agent, and lets it show what is known of them.
    pub(super) async fn learn(&self, slug: &str) {
        self.has_learned.set(true);
        let Some(agent) = self.agents.find(Some(slug)) else { return };
        let Some(learned) = &agent.learned else { return };
        // Meanwhile the others show what they have, if they have anything.
        if !agent.cards().is_partial
            && (0..learned.sources().count()).all(|part| learned.known(part).is_some())
        {
            learned.look_again(now().after(SOON_MS));
        }
        let until = learned.patient_until(now());
        let looks = self.look(learned, vec![slug], until).await;
        let again_ms = looks.iter().map(|look| look.again_ms).min().unwrap_or(LATER_MS);
        let taken: Vec<Option<Taken>> = looks.into_iter().map(|look| look.taken).collect();
        agent.show_learned(&taken, now());
        learned.look_again(now().after(again_ms));
    }

    /// Looks at each source of an agent. `path` are the agents that have led to it, itself the last: none is asked for what it
    /// learns itself from one of them.
    fn look<'a>(
        &'a self,
        learned: &'a Learned,
        path: Vec<&'a str>,
        until: UnixMillis,
    ) -> LocalBoxFuture<'a, Vec<Look>> {
        Box::pin(async move {
            let looks = learned.sources().enumerate().map(|(part, source)| {
                let path = path.clone();
                async move {
                    match source {
                        LearnedSource::Remote(name) => {
                            self.look_at_remote(learned, part, name, path, until).await
                        }
                    }
                }
            });
            join_all(looks).await
        })
    }

    /// Looks at the card of a remote agent.
    async fn look_at_remote<'a>(
        &'a self,
        learned: &'a Learned,
        part: usize,
        name: &str,
        path: Vec<&'a str>,
        until: UnixMillis,
    ) -> Look {
        let known = learned.known(part);
        let found = match learned.remote(name) {
            Ok(found) => found,
            Err(reason) => {
                let agent = &learned.outside().agent;
                self.observer.observe(&Observation::SkillsUnavailable { agent, reason: &reason });
                return Look { taken: known, again_ms: LATER_MS };
            }
        };
        if let Some(slug) = &found.agent {
            return self.look_inside(slug, path, until).await;
        }
        let ports = Ports {
            http: Rc::new(Outbound),
            clock: Rc::new(WorkerClock),
            random: Rc::new(WorkerRandom),
        };
        let request_timeout_ms = found.client.request_timeout_ms.min(REQUEST_MS);
        let settings = Settings { request_timeout_ms, ..found.client };
        let client = Client::new(settings, ports.clone()).with_verifier(Rc::new(WebVerifier));
        let client = learned.outside().remotes.equip(client, found.credentials, ports);
        let cards = RememberedCards { env: self.env.clone() };
        let until = if known.is_some() { now() } else { until };
        match in_time(until, cards.recall(&client, UNUSED_MS)).await {
            Some(Ok(RecalledCard { card, fetched, is_fresh })) => {
                let again_ms = if is_fresh { LATER_MS } else { SOON_MS };
                let is_same = |known: &Taken| known.fetched == fetched;
                if let Some(known) = known.filter(is_same) {
                    return Look { taken: Some(known), again_ms };
                }
                let skills = take_over(card.skills.clone()).into();
                let taken = Taken { skills, fetched, is_partial: false };
                learned.keep(part, &taken);
                Look { taken: Some(taken), again_ms }
            }
            Some(Err(_)) | None => Look { taken: known, again_ms: SOON_MS },
        }
    }

    /// Looks at the card of an agent of this Worker, as everybody gets it.
    async fn look_inside<'a>(
        &'a self,
        slug: &str,
        mut path: Vec<&'a str>,
        until: UnixMillis,
    ) -> Look {
        let nothing = Taken { skills: [].into(), fetched: UnixMillis(0), is_partial: false };
        let agent =
            self.agents.find(Some(slug)).filter(|agent| !path.contains(&agent.slug.as_str()));
        let Some(agent) = agent else {
            return Look { taken: Some(nothing), again_ms: LATER_MS };
        };
        let skills =
            |card: &str| RemoteCard::parse(card).map(|card| card.skills).unwrap_or_default();
        let Some(learned) = &agent.learned else {
            let skills = skills(&agent.cards().card).into();
            return Look { taken: Some(Taken { skills, ..nothing }), again_ms: LATER_MS };
        };
        path.push(&agent.slug);
        let looks = self.look(learned, path, until).await;
        let again_ms = looks.iter().map(|look| look.again_ms).min().unwrap_or(LATER_MS);
        let taken: Vec<Option<Taken>> = looks.into_iter().map(|look| look.taken).collect();
        let fetched = taken.iter().flatten().map(|taken| taken.fetched).max();
        let cards = learned.cards(&taken, now()).ok();
        let taken = cards.map(|cards| Taken {
            skills: skills(&cards.card).into(),
            fetched: fetched.unwrap_or(nothing.fetched),
            is_partial: cards.is_partial,
        });
        Look { taken, again_ms }
    }
}

/// What a look at a source has found.
struct Look {
    /// Its skills, if they are known.
    taken: Option<Taken>,
    /// After which time it is worth to look again, in milliseconds.
    again_ms: u64,
}

/// What some work gives until an instant; if that is not to come any more, what it gives without waiting. Requests that it has
/// begun in the background go on.
async fn in_time<T>(until: UnixMillis, work: impl Future<Output = T>) -> Option<T> {
    let work = Box::pin(work);
    match until.millis_since(now()) {
        0 => work.now_or_never(),
        millis => match select(work, Delay::from(Duration::from_millis(millis))).await {
            Either::Left((given, _)) => Some(given),
            Either::Right(_) => None,
        },
    }
}

/// How long a card is shown without another look at its sources, which are known and fresh: a minute, in milliseconds.
const LATER_MS: u64 = 60_000;

/// The same while something is about to change: a source is being asked, or has not answered yet. A look costs no request.
const SOON_MS: u64 = 2_000;

/// How long a source may take to answer one request, in milliseconds.
const REQUEST_MS: u64 = 10_000;
