//! A row of the table: a model, the expected outcome, and the checks for all rows.

use a2a::model::TaskState;

use crate::support::model::{Answer, Asked, Fate};
use crate::support::modeled::{KEY, Modeled, Setup, answer_of};

/// A model and the expected outcome.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    setup: Box<dyn Fn(Setup) -> Setup>,
    before: Box<dyn Fn(&Modeled)>,
    plan: Box<dyn Fn(&Modeled)>,
    act: Box<dyn Fn(&Modeled)>,
    state: TaskState,
    text: Text,
    requests: Option<usize>,
    orders: Option<Vec<&'static str>>,
    /// The earliest and the latest end of the task.
    ends: (i64, i64),
    checks: Vec<Check>,
}

type Check = Box<dyn Fn(&Modeled) -> Result<(), String>>;

enum Text {
    Is(&'static str),
    Holds(Vec<&'static str>),
}

/// A case with this model. By default the task must complete with the text `hello` after one request.
pub(crate) fn case_with(
    name: &'static str,
    plan: impl Fn(&Asked) -> Answer + Clone + 'static,
) -> Case {
    Case {
        name,
        setup: Box::new(|setup| setup),
        before: Box::new(|_| {}),
        plan: Box::new(move |modeled| modeled.model.answer_with(plan.clone())),
        act: Box::new(|modeled| {
            modeled.ask("hi");
        }),
        state: TaskState::Completed,
        text: Text::Is("hello"),
        requests: Some(1),
        orders: Some(Vec::new()),
        ends: (0, 600_000),
        checks: Vec::new(),
    }
}

/// As [`case_with`], with a model that returns these answers in order.
pub(crate) fn case<const COUNT: usize>(name: &'static str, answers: [Answer; COUNT]) -> Case {
    let plan = move |asked: &Asked| {
        let unscripted = || Answer::error(500, "unscripted", "nothing is left to say");
        answers.get(asked.number - 1).cloned().unwrap_or_else(unscripted)
    };
    case_with(name, plan).requests(COUNT)
}

impl Case {
    /// Changes the setup of the agent.
    pub(crate) fn setup(self, setup: impl Fn(Setup) -> Setup + 'static) -> Self {
        Self { setup: Box::new(setup), ..self }
    }

    /// Prepares the environment before the task.
    pub(crate) fn before(self, before: impl Fn(&Modeled) + 'static) -> Self {
        Self { before: Box::new(before), ..self }
    }

    /// Replaces the single message by these actions of the client.
    pub(crate) fn act(self, act: impl Fn(&Modeled) + 'static) -> Self {
        Self { act: Box::new(act), ..self }
    }

    /// Sets the expected state and text: of the artifacts if the task completes, else of the status.
    pub(crate) fn is(self, state: TaskState, text: &'static str) -> Self {
        Self { state, text: Text::Is(text), ..self }
    }

    /// As [`is`](Self::is), with words that the text must contain.
    pub(crate) fn holds<const COUNT: usize>(
        self,
        state: TaskState,
        words: [&'static str; COUNT],
    ) -> Self {
        Self { state, text: Text::Holds(words.to_vec()), ..self }
    }

    /// Allows any number of requests to the model, and any orders.
    pub(crate) fn any_requests(self) -> Self {
        Self { requests: None, orders: None, ..self }
    }

    /// Sets the expected number of requests to the model.
    pub(crate) fn requests(self, requests: usize) -> Self {
        Self { requests: Some(requests), ..self }
    }

    /// Sets the expected orders at the shop, in any order.
    pub(crate) fn orders<const COUNT: usize>(self, orders: [&'static str; COUNT]) -> Self {
        let mut orders = orders.to_vec();
        orders.sort_unstable();
        Self { orders: Some(orders), ..self }
    }

    /// Sets the earliest and the latest end of the task, in milliseconds.
    pub(crate) fn ends(self, from: i64, to: i64) -> Self {
        Self { ends: (from, to), ..self }
    }

    /// Adds a check.
    pub(crate) fn check(
        mut self,
        check: impl Fn(&Modeled) -> Result<(), String> + 'static,
    ) -> Self {
        self.checks.push(Box::new(check));
        self
    }

    /// Sets the words that the results of calls in the newest request must contain.
    pub(crate) fn told<const COUNT: usize>(
        self,
        results: [&'static [&'static str]; COUNT],
    ) -> Self {
        self.check(move |modeled| {
            let told = modeled.model.last().results();
            let fits = told.len() == COUNT
                && told
                    .iter()
                    .zip(results)
                    .all(|((_, text), words)| words.iter().all(|word| text.contains(word)));
            fits.then_some(()).ok_or_else(|| format!("it was told {told:?}"))
        })
    }

    /// Runs the case; the error describes the difference from the expectation.
    pub(crate) fn run(&self) -> Result<(), String> {
        let setup = Setup::default().sells("pay").sells("ship");
        let modeled = (self.setup)(setup).build();
        (self.before)(&modeled);
        (self.plan)(&modeled);
        (self.act)(&modeled);
        self.judge(&modeled).map_err(|wrong| {
            let asked = modeled.model.asked();
            let log: Vec<String> = asked.iter().map(told).collect();
            format!(
                "{}: {wrong}\n  {} {:?} {:?}\n  requests:\n{}",
                self.name,
                modeled.state(),
                modeled.status(),
                modeled.answer(),
                log.join("\n")
            )
        })
    }

    fn judge(&self, modeled: &Modeled) -> Result<(), String> {
        let at = modeled.changed_at();
        let state = modeled.state();
        let said = match state {
            TaskState::Completed => modeled.answer(),
            _ => modeled.status(),
        };
        let is_text = match &self.text {
            Text::Is(text) => said == *text,
            Text::Holds(words) => words.iter().all(|word| said.contains(word)),
        };
        let asked = modeled.model.asked();
        if state != self.state || !is_text {
            return Err(format!("it ended as {state}: {said}"));
        }
        if self.requests.is_some_and(|wanted| wanted != asked.len()) {
            return Err(format!("it took {} requests", asked.len()));
        }
        let mut orders: Vec<String> =
            modeled.shop.orders().into_iter().map(|order| order.name).collect();
        orders.sort();
        if self.orders.as_ref().is_some_and(|wanted| orders != *wanted) {
            return Err(format!("it ordered {orders:?}"));
        }
        if at < self.ends.0 || at > self.ends.1 {
            return Err(format!("it ended at {at} ms"));
        }
        holds_for_all(modeled, &asked)?;
        self.checks.iter().try_for_each(|check| check(modeled))
    }
}

/// The checks for all rows.
fn holds_for_all(modeled: &Modeled, asked: &[Asked]) -> Result<(), String> {
    for one in asked {
        if !one.url.starts_with("https://models.example/v1/") {
            return Err(format!("request {} went to {}", one.number, one.url));
        }
        if one.header("authorization") != Some(format!("Bearer {KEY}").as_str()) {
            return Err(format!("request {} lacks its key", one.number));
        }
        if let Some(mistake) = one.mistakes().first() {
            return Err(format!("request {}: {mistake}", one.number));
        }
        if one.fate() == Fate::UnderWay {
            return Err(format!("request {} is under way for ever", one.number));
        }
    }
    if modeled.seen().contains("sk-marker") {
        return Err("the key of the provider is shown".to_owned());
    }
    if let Some(disagreement) = modeled.disagreement() {
        return Err(disagreement);
    }
    let keys: Vec<_> = modeled.shop.orders().into_iter().map(|order| order.key).collect();
    let twice = keys.iter().enumerate().find(|(at, key)| keys[..*at].contains(key));
    if let Some((_, key)) = twice {
        return Err(format!("two orders have the key {key:?}"));
    }
    no_mix(modeled)
}

/// Checks that in every version of the task that a follower has received, each artifact was the beginning of its final
/// text, or was started again.
fn no_mix(modeled: &Modeled) -> Result<(), String> {
    let followed = modeled.followed();
    let mut grown = String::new();
    let mut seen = Vec::new();
    for task in &followed {
        let now = answer_of(task);
        if !now.starts_with(&grown) {
            seen.push(std::mem::take(&mut grown));
        }
        grown = now;
    }
    // A restarted text never happens to begin like the previous one, because rows have different texts.
    let ended = modeled.answer();
    if grown == ended {
        Ok(())
    } else {
        Err(format!("followers saw {seen:?} and at last {grown:?}, not {ended:?}"))
    }
}

fn told(asked: &Asked) -> String {
    let lines = asked.lines().join(" | ");
    format!("  {} at {} ms, {:?}: {lines}", asked.number, asked.at_ms, asked.fate())
}
