//! Credentials that no agent accepts: the findings of each agent that a request concerns, and the addresses that have sent too
//! many such credentials.

use std::cell::RefCell;

use super::method::Place;
use a2a::model::UnixMillis;
use a2a::sorted::SortedMap;

/// The finding of an agent about the value in one place of a request. A request has at most one value in a place, so the place
/// identifies the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The value is right.
    Taken,
    /// The value was not judged completely: its keys cannot be fetched at the moment, or the caller was identified
    /// without it.
    Open,
    /// The value is wrong.
    Refused {
        /// The reason: a fixed text that repeats nothing of the value.
        reason: String,
        /// True if the value looks like a credential for another scheme.
        is_foreign: bool,
    },
    /// The value was not judged: for this number of seconds the agent accepts nothing from the address.
    Held(u32),
}

impl Finding {
    /// Of two findings about one value, the one that decides.
    pub(super) fn or(self, other: Self) -> Self {
        if other.rank() < self.rank() { other } else { self }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Taken => 0,
            Self::Open => 1,
            Self::Held(_) => 2,
            Self::Refused { is_foreign: false, .. } => 3,
            Self::Refused { is_foreign: true, .. } => 4,
        }
    }
}

/// The findings of all agents that a request concerns. A value that no agent accepts is a guess. A value that one agent accepts is
/// not counted as a guess at the others, since callers of several agents send the credentials for one agent to all of them.
#[derive(Clone, Debug, Default)]
pub struct Guesses(Vec<Value>);

#[derive(Clone, Debug)]
struct Value {
    /// The place of the value; `None` for a value in the path, which is for only one agent.
    place: Option<Place>,
    /// True if an agent accepts the value or may accept it.
    is_taken: bool,
    /// For how many seconds an agent accepts nothing from the address.
    held_s: Option<u32>,
    refusals: Vec<Guess>,
}

/// The refusal of a value by an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guess {
    /// The slug of the agent.
    pub agent: String,
    /// The reason: a fixed text that repeats nothing of the value.
    pub reason: String,
    is_foreign: bool,
}

impl Guesses {
    /// Notes the findings of the agent with this slug.
    pub fn note(&mut self, agent: &str, findings: &[(&Place, Finding)]) {
        for (place, finding) in findings {
            let known = self.0.iter().position(|value| value.place.as_ref() == Some(*place));
            let known = known.unwrap_or_else(|| {
                let (place, refusals) = (Some((*place).clone()), Vec::new());
                self.0.push(Value { place, is_taken: false, held_s: None, refusals });
                self.0.len() - 1
            });
            let Some(value) = self.0.get_mut(known) else { continue };
            match finding {
                Finding::Taken | Finding::Open => value.is_taken = true,
                Finding::Held(seconds) => value.held_s = value.held_s.max(Some(*seconds)),
                Finding::Refused { reason, is_foreign } => value.refusals.push(Guess {
                    agent: agent.to_owned(),
                    reason: reason.clone(),
                    is_foreign: *is_foreign,
                }),
            }
        }
    }

    /// Notes that the agent with this slug has refused a value in the path, for example the token of a callback, with
    /// the reason.
    pub fn note_path(&mut self, agent: &str, reason: &str) {
        let (agent, reason) = (agent.to_owned(), reason.to_owned());
        let refusals = vec![Guess { agent, reason, is_foreign: false }];
        self.0.push(Value { place: None, is_taken: false, held_s: None, refusals });
    }

    /// One refusal for each value that no agent accepts, preferably by an agent whose credentials have the form of the value.
    pub fn wrong(&self) -> impl Iterator<Item = &Guess> {
        let refusals = self.guessed().map(|value| &value.refusals);
        refusals.filter_map(|refusals| refusals.iter().min_by_key(|guess| guess.is_foreign))
    }

    /// The slugs of the agents that have refused a guess, each once.
    pub fn agents(&self) -> Vec<&str> {
        let mut agents: Vec<&str> = Vec::new();
        for guess in self.guessed().flat_map(|value| &value.refusals) {
            if !agents.contains(&guess.agent.as_str()) {
                agents.push(&guess.agent);
            }
        }
        agents
    }

    /// The number of seconds for which an agent accepts no credentials from the address. This applies to an agent for which a
    /// value may be meant, if no other agent accepts the value; the answer must not reveal if this agent would accept it.
    pub fn held_s(&self) -> Option<u32> {
        self.guessed().filter_map(|value| value.held_s).max()
    }

    fn guessed(&self) -> impl Iterator<Item = &Value> {
        self.0.iter().filter(|value| !value.is_taken)
    }
}

/// The addresses that have sent more guesses than a rate limit allows: at most [`MAX_HELD`], each until an instant.
#[derive(Default)]
pub(super) struct HeldAddresses(RefCell<SortedMap<String, UnixMillis>>);

impl HeldAddresses {
    /// For how many more seconds nothing is accepted from an address; `None` if it is not held. `address` is called
    /// only if an address is held.
    pub(super) fn seconds(&self, address: impl FnOnce() -> String, now: UnixMillis) -> Option<u32> {
        let held = self.0.borrow();
        if held.is_empty() {
            return None;
        }
        let left_ms = held.get(&address())?.millis_since(now);
        (left_ms > 0).then(|| u32::try_from(left_ms.div_ceil(1000)).unwrap_or(u32::MAX))
    }

    /// Accepts nothing from an address until an instant.
    pub(super) fn hold(&self, address: &str, until: UnixMillis, now: UnixMillis) {
        let mut held = self.0.borrow_mut();
        held.retain(|_, until| now < *until);
        if held.len() >= MAX_HELD
            && let Some(first) = held.iter().min_by_key(|(_, until)| **until)
        {
            let first = first.0.clone();
            held.remove(&first);
        }
        held.insert(address.to_owned(), until);
    }
}

/// The largest number of held addresses of a policy.
const MAX_HELD: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn header(name: &str) -> Place {
        Place::Header(name.to_owned())
    }

    fn refused(is_foreign: bool) -> Finding {
        Finding::Refused { reason: format!("foreign: {is_foreign}"), is_foreign }
    }

    #[test]
    fn a_value_that_no_agent_takes_is_a_guess_also_beside_a_right_one() {
        let (mine, other) = (header("x-key"), Place::Bearer);
        let mut guesses = Guesses::default();
        guesses.note("a", &[(&mine, Finding::Taken), (&other, refused(true))]);
        guesses.note("b", &[(&mine, refused(false)), (&other, refused(false))]);
        guesses.note("c", &[(&other, refused(false))]);
        let wrong: Vec<&str> = guesses.wrong().map(|guess| guess.agent.as_str()).collect();
        assert_eq!(wrong, ["b"], "it is told once, and the right one never");
        assert_eq!(guesses.agents(), ["a", "b", "c"], "each counts it once");
        guesses.note("d", &[(&other, Finding::Taken)]);
        assert_eq!((guesses.wrong().count(), guesses.agents()), (0, Vec::new()));
    }

    #[test]
    fn a_value_that_may_be_right_is_no_guess() {
        let mut guesses = Guesses::default();
        guesses.note("a", &[(&Place::Bearer, refused(true))]);
        guesses.note("b", &[(&Place::Bearer, Finding::Open)]);
        assert_eq!((guesses.wrong().count(), guesses.agents()), (0, Vec::new()));
    }

    #[test]
    fn what_is_for_an_agent_that_takes_nothing_is_held_unless_another_takes_it() {
        let (mine, other) = (header("x-key"), Place::Bearer);
        for (beside, held) in [
            (vec![(&mine, Finding::Taken)], None),
            (vec![(&mine, Finding::Taken), (&other, Finding::Held(7))], Some(7)),
            (vec![(&mine, refused(false))], Some(5)),
            (vec![], Some(5)),
        ] {
            let mut guesses = Guesses::default();
            guesses.note("held", &[(&mine, Finding::Held(5))]);
            guesses.note("beside", &beside);
            assert_eq!(guesses.held_s(), held, "{beside:?}");
        }
        assert_eq!(Guesses::default().held_s(), None);
    }

    #[test]
    fn what_is_in_the_path_is_a_guess_also_beside_a_right_credential() {
        let mut guesses = Guesses::default();
        guesses.note("a", &[(&Place::Bearer, Finding::Taken)]);
        guesses.note_path("a", "there is no such callback");
        let wrong: Vec<&str> = guesses.wrong().map(|guess| guess.reason.as_str()).collect();
        assert_eq!((wrong, guesses.agents()), (vec!["there is no such callback"], vec!["a"]));
    }

    #[test]
    fn an_address_is_held_for_a_while_and_the_first_of_too_many_is_let_go() {
        let held = HeldAddresses::default();
        let at = |address: &str, now: i64| held.seconds(|| address.to_owned(), UnixMillis(now));
        assert_eq!(held.seconds(|| panic!("nothing is held"), UnixMillis(0)), None);
        held.hold("a", UnixMillis(60_000), UnixMillis(0));
        assert_eq!([at("a", 0), at("a", 58_999), at("a", 59_999)], [Some(60), Some(2), Some(1)]);
        assert_eq!([at("a", 60_000), at("b", 0)], [None, None]);
        for number in 0..MAX_HELD {
            held.hold(&format!("n{number}"), UnixMillis(60_001), UnixMillis(0));
        }
        assert_eq!([at("a", 0), at("n0", 0)], [None, Some(61)]);
        held.hold("z", UnixMillis(90_000), UnixMillis(60_001));
        assert_eq!(held.0.borrow().len(), 1, "those whose time is over are gone");
    }
}
