//! The skills that an agent copies from other servers, cached in one instance of the Worker.
//!
//! The code that serves a card decides when to fetch the sources, and stores the result here. Requests wait for sources
//! that were never fetched only until [`PATIENCE_MS`] after the first request of an instance; later, the cached skills
//! are shown, and the sources are fetched in the background.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::Value;

use super::Cards;
use crate::mcp::FoundServer;
use crate::port::{Http, Outside, Random};
use crate::remotes::Found;
use a2a::client::{Ports, Settings};
use a2a::model::{Secret, UnixMillis};
use a2a_agents::{LearnedPart, LearnedSkills, LearnedSource, Misfit, NotSet, ShownSkills, Values};

/// The cached skills of an agent that learns skills.
pub struct Learned {
    skills: LearnedSkills,
    outside: Outside,
    /// The cards from the checker, without learned skills.
    written: Rc<Cards>,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    /// The skills of each part, by the part's number.
    known: Vec<Option<Taken>>,
    /// The time from which the sources are fetched again.
    due: Option<UnixMillis>,
    /// The time until which requests wait for sources that were never fetched.
    patient_until: Option<UnixMillis>,
}

/// The skills of a source.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    /// The skills in the form of a card, limited in size and otherwise unchanged: the result of
    /// [`take_over`](a2a_agents::take_over).
    pub skills: Rc<[Value]>,
    /// The instant at which the skills were fetched.
    pub fetched: UnixMillis,
    /// True if skills are missing, because the source itself has not learned all of its skills yet.
    pub is_partial: bool,
}

impl Learned {
    /// An empty cache.
    pub fn new(skills: LearnedSkills, outside: Outside, written: Rc<Cards>) -> Self {
        Self { skills, outside, written, state: RefCell::default() }
    }

    /// The sources, one for each part.
    pub fn sources(&self) -> impl Iterator<Item = &LearnedSource> {
        self.skills.parts.iter().map(|LearnedPart { source, .. }| source)
    }

    /// The `Outside` of the agent.
    pub fn outside(&self) -> &Outside {
        &self.outside
    }

    /// The client for the card of the agent with this name. A missing secret or variable is reported only to the caller
    /// of this function.
    ///
    /// # Errors
    ///
    /// The errors of [`Remotes::find`](crate::remotes::Remotes::find).
    pub fn remote(&self, name: &str, random: Rc<dyn Random>) -> Result<Found, String> {
        let Outside { http, clock, remotes, .. } = &self.outside;
        let ports = Ports { http: http.clone(), clock: clock.clone(), random };
        let bound = |settings: Settings| Settings {
            request_timeout_ms: settings.request_timeout_ms.min(REQUEST_MS),
            ..settings
        };
        remotes.client(name, &Unobserved(&self.outside), ports, &bound, Rc::new(|_| {}))
    }

    /// The client for the tools of the MCP server with this name; `bound` makes the client for a service binding. A missing
    /// secret or variable is reported only to the caller of this function.
    ///
    /// # Errors
    ///
    /// The errors of [`McpServers::find`](crate::mcp::McpServers::find).
    pub fn server(
        &self,
        name: &str,
        random: Rc<dyn Random>,
        bound: &dyn Fn(&str) -> Rc<dyn Http>,
    ) -> Result<FoundServer, String> {
        let Outside { http, clock, mcp, .. } = &self.outside;
        let ports = Ports { http: http.clone(), clock: clock.clone(), random };
        let values = Unobserved(&self.outside);
        mcp.find(name, &values, ports, bound, &|settings| settings, Rc::new(|_| {}))
    }

    /// True if the sources must be fetched before a card is shown.
    pub fn is_due(&self, now: UnixMillis) -> bool {
        self.state.borrow().due.is_none_or(|due| now >= due)
    }

    /// Sets the time from which the sources are fetched again.
    pub fn look_again(&self, due: UnixMillis) {
        self.state.borrow_mut().due = Some(due);
    }

    /// The end of the time for which requests wait for a source that was never fetched: [`PATIENCE_MS`] after the first
    /// request.
    pub fn patient_until(&self, now: UnixMillis) -> UnixMillis {
        *self.state.borrow_mut().patient_until.get_or_insert_with(|| now.after(PATIENCE_MS))
    }

    /// The cached skills of a part's source.
    pub fn known(&self, part: usize) -> Option<Taken> {
        self.state.borrow().known.get(part).cloned().flatten()
    }

    /// Caches the skills of a part's source.
    pub fn keep(&self, part: usize, taken: &Taken) {
        let known = &mut self.state.borrow_mut().known;
        known.resize(self.skills.parts.len(), None);
        if let Some(known) = known.get_mut(part) {
            *known = Some(taken.clone());
        }
    }

    /// The cards with these skills. `taken` holds, for each part, the skills of its source, if they were fetched.
    ///
    /// # Errors
    ///
    /// Only for a card that the checker did not make.
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
            // The date is now, so that a client with an older copy of the card fetches the incomplete card again.
            Some(now)
        } else {
            taken.iter().flatten().map(|taken| taken.fetched).max().max(built)
        };
        let date = changed.map_or_else(|| self.written.date.clone(), UnixMillis::http_date);
        Ok(self.written.others(card, restricted, date, is_partial))
    }
}

/// The secrets and variables of an `Outside`. A missing value is not written to the log.
pub(super) struct Unobserved<'a>(pub(super) &'a Outside);

impl Values for Unobserved<'_> {
    fn value(&self, name: &str) -> Result<Secret, NotSet> {
        self.0.find_value(name)
    }
}

/// The longest time that a request for a card waits for sources that were never fetched, in milliseconds.
pub const PATIENCE_MS: u64 = 2_000;

/// The timeout for one request to a source, in milliseconds.
const REQUEST_MS: u64 = 10_000;

#[cfg(test)]
mod tests;
