//! The skills that an agent learns from other servers, as one instance of the Worker knows them.
//!
//! Whoever shows a card looks at its sources now and then, and tells here what is found. Looking is the platform's matter: a
//! request waits once per instance, while nothing is known of a source; from then on what is known is shown, and sources are
//! looked at beside.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::Value;

use super::Cards;
use crate::mcp::FoundServer;
use crate::port::{Outside, Random};
use crate::remotes::Found;
use a2a::client::{Ports, Settings};
use a2a::model::{Secret, UnixMillis};
use a2a_agents::{LearnedPart, LearnedSkills, LearnedSource, Misfit, NotSet, ShownSkills, Values};

/// What an instance knows of the skills that an agent learns.
pub struct Learned {
    skills: LearnedSkills,
    outside: Outside,
    /// The cards as the build has made them.
    written: Rc<Cards>,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    /// What is known of each part, by its number.
    known: Vec<Option<Taken>>,
    /// From when on the sources are looked at again.
    due: Option<UnixMillis>,
    /// Until when requests wait for sources of which nothing is known.
    patient_until: Option<UnixMillis>,
}

/// The skills of a source.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    /// The skills as a card shows them, within bounds and verbatim: what [`take_over`](a2a_agents::take_over) gives.
    pub skills: Rc<[Value]>,
    /// When they were fetched.
    pub fetched: UnixMillis,
    /// Whether some are missing, since the source has not learned them itself yet.
    pub is_partial: bool,
}

impl Learned {
    /// Nothing is known yet.
    pub fn new(skills: LearnedSkills, outside: Outside, written: Rc<Cards>) -> Self {
        Self { skills, outside, written, state: RefCell::default() }
    }

    /// The sources, part by part.
    pub fn sources(&self) -> impl Iterator<Item = &LearnedSource> {
        self.skills.parts.iter().map(|LearnedPart { source, .. }| source)
    }

    /// The outside of the agent.
    pub fn outside(&self) -> &Outside {
        &self.outside
    }

    /// The agent of this name, for its card; what is missing is told to the caller alone.
    ///
    /// # Errors
    ///
    /// As [`Remotes::find`](crate::remotes::Remotes::find).
    pub fn remote(&self, name: &str, random: Rc<dyn Random>) -> Result<Found, String> {
        let Outside { http, clock, remotes, .. } = &self.outside;
        let ports = Ports { http: http.clone(), clock: clock.clone(), random };
        let bound = |settings: Settings| Settings {
            request_timeout_ms: settings.request_timeout_ms.min(REQUEST_MS),
            ..settings
        };
        remotes.client(name, &Unobserved(&self.outside), ports, &bound, Rc::new(|_| {}))
    }

    /// The MCP server of this name, for its tools; what is missing is told to the caller alone.
    ///
    /// # Errors
    ///
    /// As [`McpServers::find`](crate::mcp::McpServers::find).
    pub fn server(&self, name: &str, random: Rc<dyn Random>) -> Result<FoundServer, String> {
        let Outside { http, clock, mcp, .. } = &self.outside;
        let ports = Ports { http: http.clone(), clock: clock.clone(), random };
        mcp.find(name, &Unobserved(&self.outside), ports, &|settings| settings, Rc::new(|_| {}))
    }

    /// Whether the sources are to be looked at before a card is shown.
    pub fn is_due(&self, now: UnixMillis) -> bool {
        self.state.borrow().due.is_none_or(|due| now >= due)
    }

    /// The sources are looked at again from this instant on.
    pub fn look_again(&self, due: UnixMillis) {
        self.state.borrow_mut().due = Some(due);
    }

    /// Until when a request waits for a source of which nothing is known: until [`PATIENCE_MS`] after the first one that asks.
    pub fn patient_until(&self, now: UnixMillis) -> UnixMillis {
        *self.state.borrow_mut().patient_until.get_or_insert_with(|| now.after(PATIENCE_MS))
    }

    /// What is known of the source of a part.
    pub fn known(&self, part: usize) -> Option<Taken> {
        self.state.borrow().known.get(part).cloned().flatten()
    }

    /// Keeps what the source of a part has.
    pub fn keep(&self, part: usize, taken: &Taken) {
        let known = &mut self.state.borrow_mut().known;
        known.resize(self.skills.parts.len(), None);
        if let Some(known) = known.get_mut(part) {
            *known = Some(taken.clone());
        }
    }

    /// The cards with these skills: for each part those of its source, if they are known.
    ///
    /// # Errors
    ///
    /// None with a card that the build made.
    pub fn cards(&self, taken: &[Option<Taken>], now: UnixMillis) -> Result<Cards, Misfit> {
        let skills = taken.iter().map(|part| match part {
            Some(taken) => &taken.skills[..],
            None => &[],
        });
        let skills: Vec<&[Value]> = skills.collect();
        let Cards { card, restricted, .. } = &*self.written;
        let ShownSkills { card, restricted } = self.skills.show(card, restricted, &skills)?;
        let built = UnixMillis::parse_http_date(&self.written.date);
        let is_partial =
            taken.iter().any(|part| part.as_ref().is_none_or(|taken| taken.is_partial));
        let changed = if is_partial {
            // No client may take it for the one that was there before.
            Some(now)
        } else {
            taken.iter().flatten().map(|taken| taken.fetched).max().max(built)
        };
        let date = changed.map_or_else(|| self.written.date.clone(), UnixMillis::http_date);
        Ok(self.written.others(card, restricted, date, is_partial))
    }
}

/// The secrets and variables of an outside, of which nobody is told that one is missing.
pub(super) struct Unobserved<'a>(pub(super) &'a Outside);

impl Values for Unobserved<'_> {
    fn value(&self, name: &str) -> Result<Secret, NotSet> {
        self.0.find_value(name)
    }
}

/// How long the first request for a card waits for sources of which nothing is known, in milliseconds.
pub const PATIENCE_MS: u64 = 2_000;

/// How long a source may take to answer one request, in milliseconds.
const REQUEST_MS: u64 = 10_000;

#[cfg(test)]
mod tests;
