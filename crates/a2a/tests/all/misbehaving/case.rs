//! A row of the table: a server, the expected outcome, and the checks for all rows.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;

use a2a::client::simulation::{SimulatedAnswer, SimulatedRequest, Simulation};
use a2a::client::{Bearer, Client, Observe, Observed, Outcome, Settings, create_message};
use a2a::model::{SendMessageConfiguration, SendMessageRequest, TaskId};

use super::said::{card, completed};

pub(crate) const HOME: &str = "agent.example";
pub(crate) const OTHER: &str = "other.example";
const SECRET: &str = "s3cret";

type Serve = Rc<dyn Fn(&SimulatedRequest) -> SimulatedAnswer>;

/// A server and the expected outcome.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    card: Serve,
    calls: Serve,
    settings: Box<dyn Fn(Settings) -> Settings>,
    /// When the caller cancels the call, in milliseconds.
    cancel_ms: Option<u64>,
    /// The task that the message continues.
    task_id: Option<&'static str>,
    outcome: Outcome,
    text: Text,
    requests: Option<usize>,
    others: usize,
    /// The earliest and the latest end of the call, in milliseconds.
    ends: (u64, u64),
}

enum Text {
    Is(&'static str),
    Holds(&'static str),
    Any,
}

/// A case with this server for calls, and a correct card. By default the call must complete with the text `hello`.
pub(crate) fn case(
    name: &'static str,
    calls: impl Fn(&SimulatedRequest) -> SimulatedAnswer + 'static,
) -> Case {
    Case {
        name,
        card: Rc::new(|_| card()),
        calls: Rc::new(calls),
        settings: Box::new(|settings| settings),
        cancel_ms: None,
        task_id: None,
        outcome: Outcome::Completed,
        text: Text::Is("hello"),
        requests: None,
        others: 0,
        ends: (0, 320_000),
    }
}

impl Case {
    pub(crate) fn card(
        self,
        card: impl Fn(&SimulatedRequest) -> SimulatedAnswer + 'static,
    ) -> Self {
        Self { card: Rc::new(card), ..self }
    }

    pub(crate) fn set(self, settings: impl Fn(Settings) -> Settings + 'static) -> Self {
        Self { settings: Box::new(settings), ..self }
    }

    /// Sets a card of an agent that does not stream.
    pub(crate) fn polled(self) -> Self {
        self.card(|_| SimulatedAnswer::json(&super::said::card_json("1.0", false)))
    }

    pub(crate) fn canceled_at(self, millis: u64) -> Self {
        Self { cancel_ms: Some(millis), outcome: Outcome::Canceled, text: Text::Any, ..self }
    }

    pub(crate) fn answers(self, task_id: &'static str) -> Self {
        Self { task_id: Some(task_id), ..self }
    }

    pub(crate) fn is(self, outcome: Outcome, text: &'static str) -> Self {
        Self { outcome, text: Text::Is(text), ..self }
    }

    pub(crate) fn holds(self, outcome: Outcome, text: &'static str) -> Self {
        Self { outcome, text: Text::Holds(text), ..self }
    }

    /// Sets the expected number of requests to the server, without those for the card.
    pub(crate) fn requests(self, requests: usize) -> Self {
        Self { requests: Some(requests), ..self }
    }

    /// Sets the expected number of requests to the other host.
    pub(crate) fn others(self, others: usize) -> Self {
        Self { others, ..self }
    }

    /// Sets the earliest and the latest end of the call, in milliseconds.
    pub(crate) fn ends(self, from: u64, to: u64) -> Self {
        Self { ends: (from, to), ..self }
    }

    /// Runs the case; the error describes the difference from the expectation.
    pub(crate) fn run(&self) -> Result<(), String> {
        let simulation = Simulation::default();
        let (card, calls) = (Rc::clone(&self.card), Rc::clone(&self.calls));
        simulation.serve(HOME, move |request| match request.method {
            "GET" if request.path().contains(".well-known") => card(request),
            _ => calls(request),
        });
        simulation.serve(OTHER, |_| completed("hello"));
        let observed = self.observe(&simulation);
        let requests = simulation.requests();
        let wrong = self.judge(&observed, &requests, simulation.now_ms());
        let log: Vec<String> = requests.iter().map(|one| format!("  {one:?}")).collect();
        wrong.map_err(|wrong| {
            format!("{}: {wrong}\n{observed:?}\nrequests:\n{}", self.name, log.join("\n"))
        })
    }

    fn observe(&self, simulation: &Simulation) -> Observed {
        let settings = Settings::new(format!("https://{HOME}"));
        let headers = vec![("X-Team".to_owned(), "blue".to_owned())];
        let settings = (self.settings)(Settings { headers, ..settings });
        let credentials = Rc::new(Bearer::new(SECRET));
        let client = Client::new(settings, simulation.ports()).with_credentials(credentials);
        let mut message = create_message("say hello", client.ports());
        message.task_id = self.task_id.and_then(TaskId::new);
        let configuration = SendMessageConfiguration::default();
        let request = SendMessageRequest { tenant: None, message, configuration, metadata: None };
        let (clock, cancel_ms, was_canceled) =
            (simulation.clone(), self.cancel_ms, Cell::new(false));
        let is_canceled = || {
            was_canceled.set(cancel_ms.is_some_and(|at| clock.now_ms() >= at));
            was_canceled.get()
        };
        let is_canceled: &dyn Fn() -> bool = &is_canceled;
        let is_canceled = cancel_ms.map(|_| is_canceled);
        let observe = Observe { is_canceled, ..Observe::default() };
        simulation.run(client.observe(request, observe))
    }

    fn judge(
        &self,
        observed: &Observed,
        requests: &[SimulatedRequest],
        now_ms: u64,
    ) -> Result<(), String> {
        let is_text = match self.text {
            Text::Is(text) => observed.text == text,
            Text::Holds(text) => observed.text.contains(text),
            Text::Any => true,
        };
        if observed.outcome != self.outcome || !is_text {
            return Err(format!("it came out as {:?}: {}", observed.outcome, observed.text));
        }
        let is_card = |one: &SimulatedRequest| one.path().contains(".well-known");
        let at_home = requests.iter().filter(|one| one.host() == HOME);
        let calls: Vec<_> = at_home.filter(|one| !is_card(one)).collect();
        if self.requests.is_some_and(|wanted| wanted != calls.len()) {
            return Err(format!("it took {} requests", calls.len()));
        }
        let others: Vec<_> = requests.iter().filter(|one| one.host() != HOME).collect();
        if others.len() != self.others {
            return Err(format!("{} requests went elsewhere", others.len()));
        }
        let is_secret = |text: &str| text.contains(SECRET) || text.contains("blue");
        let tells = |one: &SimulatedRequest| {
            is_secret(&one.url) || one.headers.iter().any(|(_, value)| is_secret(value))
        };
        if others.into_iter().any(tells) {
            return Err("credentials went elsewhere".to_owned());
        }
        let is_known = |one: &&SimulatedRequest| {
            one.header("authorization") == Some("Bearer s3cret")
                && one.header("x-team") == Some("blue")
        };
        if !calls.iter().all(is_known) {
            return Err("a request lacks its headers".to_owned());
        }
        self.is_one_send(&calls)?;
        if now_ms < self.ends.0 || now_ms > self.ends.1 {
            return Err(format!("it ended at {now_ms} ms"));
        }
        Ok(())
    }

    /// Checks that all attempts of a send have the same message id and the same key.
    fn is_one_send(&self, calls: &[&SimulatedRequest]) -> Result<(), String> {
        let id = |one: &&SimulatedRequest| {
            let json = one.json();
            let params = json.get("params").unwrap_or(&json).clone();
            params["message"]["messageId"].as_str().map(str::to_owned)
        };
        let sends: Vec<_> = calls.iter().filter_map(|one| Some((id(one)?, one))).collect();
        let ids: BTreeSet<&String> = sends.iter().map(|(id, _)| id).collect();
        let is_keyed = |one: &&&SimulatedRequest| {
            one.header("idempotency-key") == ids.first().map(|id| id.as_str())
        };
        let is_keyed = self.task_id.is_some() || sends.iter().all(|(_, one)| is_keyed(one));
        if ids.len() > 1 || !is_keyed {
            return Err(format!("it sent {ids:?}, or without their key"));
        }
        Ok(())
    }
}
