//! Gets the skills that agents learn from their sources. This happens before a card is served, and before a message is
//! refused because the card does not list the media types of its parts.
//!
//! | state of the source | the card waits for |
//! |---|---|
//! | checked within the last minute | nothing: no code of this file runs |
//! | skills stored by this instance or another one | D1 at most; a request to a stale source runs in the background |
//! | no skills yet, first check in an instance | the source, for two seconds at most; the request to the source continues in the background |
//! | no skills yet, later checks | nothing: the card is served without these skills, with a short lifetime in caches |

use std::rc::Rc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{Either, LocalBoxFuture, select};
use worker::Delay;

use crate::edge::front::deployment::Front;
use crate::edge::service::bound::BoundHttp;
use crate::edge::service::cards::{RecalledCard, RememberedCards, WebVerifier};
use crate::edge::service::clock::now;
use crate::edge::service::mcp_tools::RememberedTools;
use crate::edge::service::random::WorkerRandom;
use crate::executor::{Found, Learned, Taken};
use crate::mcp::{KnownTools, Listed, Offered, offered, servers_of};
use crate::port::{Http, Observation, Observer, Target};
use crate::remembered::UNUSED_MS;
use a2a::model::UnixMillis;
use a2a_agents::{LearnedSource, skills_of_card, take_over, take_over_card};

impl Front {
    /// Checks all sources of an agent, and puts the known skills into the agent's card.
    pub(super) async fn learn(&self, slug: &str) {
        let Some(agent) = self.deployment.agents.find(Some(slug)) else { return };
        let Some(learned) = &agent.learned else { return };
        let parts = learned.sources().count();
        // If all parts are known, other requests meanwhile serve the known skills instead of checking the sources too.
        if (0..parts).all(|part| learned.known(part).is_some()) {
            learned.look_again(now().after(SOON_MS));
        }
        let until = learned.patient_until(now());
        let Looked { taken, again_ms } = self.look(learned, vec![slug], until).await;
        agent.show_learned(&taken, now());
        learned.look_again(now().after(again_ms));
    }

    /// Checks all sources of an agent, and waits for them until the instant `until`. `path` lists the slugs of the
    /// agents that led to this agent, and ends with the slug of this agent. A source that is an agent in `path` counts
    /// as one without skills, so that cycles end.
    fn look<'a>(
        &'a self,
        learned: &'a Learned,
        path: Vec<&'a str>,
        until: UnixMillis,
    ) -> LocalBoxFuture<'a, Looked> {
        Box::pin(async move {
            let sources: Vec<&LearnedSource> = learned.sources().collect();
            if sources.len() > 1 {
                // The code sends a request to all sources before it waits for the first of them.
                for (part, source) in sources.iter().enumerate() {
                    self.look_at(learned, part, source, &path, now()).await;
                }
            }
            let mut looked = Looked { taken: Vec::new(), again_ms: LATER_MS };
            for (part, source) in sources.into_iter().enumerate() {
                let (taken, again_ms) = self.look_at(learned, part, source, &path, until).await;
                looked.taken.push(taken);
                looked.again_ms = looked.again_ms.min(again_ms);
            }
            looked
        })
    }

    /// Checks one source. Returns the skills of the source, if known, and the time until the next check, in
    /// milliseconds.
    fn look_at<'a>(
        &'a self,
        learned: &'a Learned,
        part: usize,
        source: &'a LearnedSource,
        path: &'a [&'a str],
        until: UnixMillis,
    ) -> LocalBoxFuture<'a, (Option<Taken>, u64)> {
        Box::pin(async move {
            let name = match source {
                LearnedSource::Remote(name) => name,
                LearnedSource::Mcp { choices, own } => {
                    return self.look_at_servers(learned, part, choices, own, until).await;
                }
            };
            let known = learned.known(part);
            let found = match learned.remote(name, Rc::new(WorkerRandom)) {
                Ok(found) => found,
                Err(reason) => {
                    self.tell_unavailable(learned, &reason);
                    return (known, LATER_MS);
                }
            };
            let client = match found {
                Found::Here { slug, .. } => return self.look_inside(&slug, path, until).await,
                Found::Elsewhere(client) => client.with_verifier(Rc::new(WebVerifier)),
            };
            let cards = RememberedCards { env: self.env.clone() };
            let until = if known.is_some() { now() } else { until };
            let Some(Ok(recalled)) = in_time(until, cards.recall(&client, UNUSED_MS)).await else {
                return (known, SOON_MS);
            };
            let RecalledCard { card, fetched, is_fresh } = recalled;
            let again_ms = if is_fresh { LATER_MS } else { SOON_MS };
            if known.as_ref().is_some_and(|known| known.fetched == fetched) {
                return (known, again_ms);
            }
            let skills = take_over_card(&card).into();
            let taken = Taken { skills, fetched, is_partial: false };
            learned.keep(part, &taken);
            (Some(taken), again_ms)
        })
    }

    /// Checks the tools of MCP servers. `own` lists the names of the agent's tools that do not belong to a server.
    fn look_at_servers<'a>(
        &'a self,
        learned: &'a Learned,
        part: usize,
        choices: &'a [String],
        own: &'a [String],
        until: UnixMillis,
    ) -> LocalBoxFuture<'a, (Option<Taken>, u64)> {
        Box::pin(async move {
            let known = learned.known(part);
            let bound = |service: &str| -> Rc<dyn Http> {
                let target = Target::Service(service.to_owned());
                Rc::new(BoundHttp { env: self.env.clone(), target })
            };
            // If a server is down, its known tools remain. So the code waits only for a source whose tools were never
            // known.
            let until = if known.is_some() { now() } else { until };
            let names = servers_of(choices);
            let mut again_ms = LATER_MS;
            let mut all: Vec<(&str, Option<Rc<KnownTools>>)> = Vec::new();
            for untils in [now(), until] {
                all.clear();
                for name in &names {
                    let server = match learned.server(name, Rc::new(WorkerRandom), &bound) {
                        Ok(server) => server,
                        Err(reason) => {
                            self.tell_unavailable(learned, &reason);
                            all.push((name, None));
                            continue;
                        }
                    };
                    let tools = RememberedTools { env: &self.env, server: &server };
                    let recalled = in_time(untils, tools.recall(None)).await.and_then(Result::ok);
                    if !recalled.as_ref().is_some_and(|recalled| recalled.is_fresh) {
                        again_ms = SOON_MS;
                    }
                    all.push((name, recalled.map(|recalled| recalled.known)));
                }
                // The code sends a request to all servers before it waits for the first of them.
                if untils == until || all.iter().all(|(_, known)| known.is_some()) {
                    break;
                }
            }
            let is_partial = all.iter().any(|(_, known)| known.is_none());
            let lists: Vec<Listed<'_>> = all
                .iter()
                .filter_map(|(server, known)| {
                    Some(Listed { server, tools: &known.as_ref()?.tools })
                })
                .collect();
            let fetched = all.iter().filter_map(|(_, known)| Some(known.as_ref()?.listed)).max();
            let Some(fetched) = fetched else { return (known, SOON_MS) };
            let is_kept = |known: &&Taken| {
                let is_same = known.fetched == fetched && known.is_partial == is_partial;
                is_same || (is_partial && !known.is_partial)
            };
            if known.as_ref().is_some_and(|known| is_kept(&known)) {
                return (known, again_ms);
            }
            let own: Vec<&str> = own.iter().map(String::as_str).collect();
            let skills: Vec<_> =
                offered(choices, &lists, &own).iter().map(Offered::skill).collect();
            let taken = Taken { skills: take_over(&skills).into(), fetched, is_partial };
            learned.keep(part, &taken);
            (Some(taken), again_ms)
        })
    }

    fn tell_unavailable(&self, learned: &Learned, reason: &str) {
        let agent = &learned.outside().agent;
        self.observer.observe(&Observation::SkillsUnavailable { agent, reason });
    }

    /// Checks the card of an agent of this Worker: the card without the skills that need permissions.
    async fn look_inside(
        &self,
        slug: &str,
        path: &[&str],
        until: UnixMillis,
    ) -> (Option<Taken>, u64) {
        let nothing = Taken { skills: [].into(), fetched: UnixMillis(0), is_partial: false };
        let agent = self.deployment.agents.find(Some(slug)).filter(|_| !path.contains(&slug));
        let Some(agent) = agent else { return (Some(nothing), LATER_MS) };
        let Some(learned) = &agent.learned else {
            let skills = skills_of_card(&agent.cards().card).into();
            return (Some(Taken { skills, ..nothing }), LATER_MS);
        };
        let path = path.iter().copied().chain([slug]).collect();
        let Looked { taken, again_ms } = self.look(learned, path, until).await;
        let fetched = taken.iter().flatten().map(|taken| taken.fetched).max();
        let taken = learned.cards(&taken, now()).ok().map(|cards| Taken {
            skills: skills_of_card(&cards.card).into(),
            fetched: fetched.unwrap_or(nothing.fetched),
            is_partial: cards.is_partial,
        });
        (taken, again_ms)
    }
}

/// The result of checking all sources of an agent.
struct Looked {
    /// The skills of each source; `None` for a source without known skills.
    taken: Vec<Option<Taken>>,
    /// The time until the next check of these sources, in milliseconds.
    again_ms: u64,
}

/// The result of `work`, or `None` if `work` is not ready at the instant `until`. If `until` has passed, `work` is
/// polled exactly once. Background tasks that `work` has started continue.
async fn in_time<T>(until: UnixMillis, work: LocalBoxFuture<'_, T>) -> Option<T> {
    match until.millis_since(now()) {
        0 => work.now_or_never(),
        millis => match select(work, Delay::from(Duration::from_millis(millis))).await {
            Either::Left((given, _)) => Some(given),
            Either::Right(_) => None,
        },
    }
}

/// The time between two checks of an agent whose sources are all known and fresh: a minute, in milliseconds.
const LATER_MS: u64 = 60_000;

/// The time between two checks of an agent with a source that is being fetched or has not answered yet, in
/// milliseconds. A check alone sends no request.
const SOON_MS: u64 = 2_000;
