//! One row of the table: a model, what our agent is to make of it, and what holds for all of them.

use a2a::model::TaskState;

use crate::support::model::{Answer, Asked, Fate};
use crate::support::modeled::{KEY, Modeled, Setup, answer_of};

/// A model, and what our agent is to make of it.
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
    /// Between which instants the task ends.
    ends: (i64, i64),
    checks: Vec<Check>,
}

type Check = Box<dyn Fn(&Modeled) -> Result<(), String>>;

enum Text {
    Is(&'static str),
    Holds(Vec<&'static str>),
}

/// A model that answers like this. The task completes with `hello`, and takes one request, unless something else is said.
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

/// As [`case_with`], with a model that gives these answers, one after the other.
pub(crate) fn case<const COUNT: usize>(name: &'static str, answers: [Answer; COUNT]) -> Case {
    let plan = move |asked: &Asked| {
        let unscripted = || Answer::error(500, "unscripted", "nothing is left to say");
        answers.get(asked.number - 1).cloned().unwrap_or_else(unscripted)
    };
    case_with(name, plan).requests(COUNT)
}

impl Case {
    /// What the agent is made of.
    pub(crate) fn setup(self, setup: impl Fn(Setup) -> Setup + 'static) -> Self {
        Self { setup: Box::new(setup), ..self }
    }

    /// What is told to the surroundings first.
    pub(crate) fn before(self, before: impl Fn(&Modeled) + 'static) -> Self {
        Self { before: Box::new(before), ..self }
    }

    /// What the client does, instead of one message.
    pub(crate) fn act(self, act: impl Fn(&Modeled) + 'static) -> Self {
        Self { act: Box::new(act), ..self }
    }

    /// How the task ends, and its text: of its artifacts if it completes, else of its status.
    pub(crate) fn is(self, state: TaskState, text: &'static str) -> Self {
        Self { state, text: Text::Is(text), ..self }
    }

    /// As [`is`](Self::is), with words that stand in the text.
    pub(crate) fn holds<const COUNT: usize>(
        self,
        state: TaskState,
        words: [&'static str; COUNT],
    ) -> Self {
        Self { state, text: Text::Holds(words.to_vec()), ..self }
    }

    /// The model gets any number of requests, and the shop any orders.
    pub(crate) fn any_requests(self) -> Self {
        Self { requests: None, orders: None, ..self }
    }

    /// How many requests the model gets.
    pub(crate) fn requests(self, requests: usize) -> Self {
        Self { requests: Some(requests), ..self }
    }

    /// What is ordered at the shop, whatever comes first.
    pub(crate) fn orders<const COUNT: usize>(self, orders: [&'static str; COUNT]) -> Self {
        let mut orders = orders.to_vec();
        orders.sort_unstable();
        Self { orders: Some(orders), ..self }
    }

    /// Between which instants the task ends, in milliseconds.
    pub(crate) fn ends(self, from: i64, to: i64) -> Self {
        Self { ends: (from, to), ..self }
    }

    /// What else holds.
    pub(crate) fn check(
        mut self,
        check: impl Fn(&Modeled) -> Result<(), String> + 'static,
    ) -> Self {
        self.checks.push(Box::new(check));
        self
    }

    /// The results of calls that the newest request tells, each with words that stand in it.
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

    /// Whether our agent makes of the model what it should; else what it made of it.
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

/// What holds whatever the model does.
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

/// Whatever a follower saw at any time, each artifact of it was the beginning of what became of it, or was begun anew.
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
    // A text that is begun anew never holds what was there before as its beginning by accident: rows say different things.
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
