//! A coordinator of two agents in memory, whose process may die between any two polls.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use a2a::http::{Http, HttpAnswer, HttpError, HttpRequest};
use a2a::model::{Artifact, Part, TaskState};
use a2a_agents::{Remote as Named, RunSettings, Table};
use a2a_edge::executor::Registry;
use a2a_edge::port::Outside;
use a2a_edge::remotes::Remotes;
use a2a_edge::twins::MemoryPlatform;
use futures_util::future::LocalBoxFuture;
use serde_json::{Value, json};

use super::front::Front;
use super::lead::lead;
use super::model::{BASE_URL, Model};
use super::remote::{Act, Habits, Remote};

/// A coordinator with its agents and its model, which by default coordinates the team by [`lead`].
pub struct Coordinated {
    pub front: Front,
    pub weather: Remote,
    pub travel: Remote,
    pub model: Model,
}

/// The acts of an agent for a text.
pub type Plan = fn(&str) -> Vec<(u64, Act)>;

impl Coordinated {
    /// A coordinator of agents with these habits and plans, with these keys in `[executor.model]`.
    pub fn new(habits: Habits, weather: Plan, travel: Plan, keys: Value) -> Self {
        Self::calling(habits, [weather, travel], &keys, &json!({"max_retries": 0}))
    }

    /// As [`new`](Self::new), with these additional keys in the tables of the agents.
    pub fn calling(
        habits: Habits,
        [weather, travel]: [Plan; 2],
        keys: &Value,
        called: &Value,
    ) -> Self {
        let platform = MemoryPlatform::default();
        let weather =
            Remote::new(&platform, habits, weather).described("Weather", "Forecasts rain.");
        let travel =
            Remote::new(&platform, habits, travel).described("Travel", "Books trains and hotels.");
        let named = ["weather", "travel"].map(|name| {
            let mut table = called.clone();
            table["url"] = json!(format!("https://{name}.example/"));
            let table = Table::of(&table).unwrap_or_else(|_| panic!("a table"));
            Named { name: name.to_owned(), table, needs: Vec::new() }
        });
        let remotes = Rc::new(Remotes::new(named.to_vec(), Vec::new()));
        let outside = Outside { remotes, ..platform.outside() };
        let mut table =
            json!({"model": "scripted", "base_url": BASE_URL, "agents": ["weather", "travel"]});
        for (key, value) in keys.as_object().expect("keys") {
            table[key] = value.clone();
        }
        let embedded = json!({
            "slug": "team", "default": true, "development": true, "card": "{}", "capabilities": {"streaming": true},
            "executor": {"kind": "model", "table": table, "run": {}}, "tools": [], "restricted": [],
        });
        let embedded = a2a::model::decode::decode(embedded).expect("an agent");
        let made = Registry::default().make(&embedded, &outside);
        let made = made.unwrap_or_else(|misfit| panic!("{misfit}"));
        let model = Model::new(&platform);
        model.answer_with(|asked| lead(asked).pace(15));
        let hosts =
            Hosts { weather: weather.clone(), travel: travel.clone(), model: model.clone() };
        let front = Front::over(&platform, made, outside, |commits| {
            hosts.weather.gate_by(commits.clone());
            hosts.travel.gate_by(commits.clone());
            hosts.model.gate(commits);
            Rc::new(hosts)
        });
        let (one, two) = (weather.clone(), travel.clone());
        let front = front.beside_others(move || {
            let mut hasher = DefaultHasher::new();
            (one.mark(), two.mark()).hash(&mut hasher);
            hasher.finish()
        });
        let run = RunSettings { max_attempts: Some(100), ..RunSettings::default() };
        Self { front: front.with_run(run), weather, travel, model }
    }

    /// The text of the newest answer.
    pub fn answer(&self) -> String {
        let task = self.front.task().expect("a task");
        let answer = task.artifacts.iter().find(|artifact| artifact.artifact_id == "answer");
        let parts = answer.map(|Artifact { parts, .. }| parts.as_slice()).unwrap_or_default();
        parts.iter().filter_map(Part::as_text).collect()
    }

    /// The text in the task's status.
    pub fn said(&self) -> String {
        let task = self.front.task().expect("a task");
        task.status.message.map(|message| message.text()).unwrap_or_default()
    }

    /// Sends a text, and continues until the task has ended or asks a question.
    pub fn ask(&self, text: &str) -> Option<TaskState> {
        self.front.send(text);
        self.front.settle();
        self.front.finish();
        self.front.state()
    }
}

/// The agents at their hosts, and the model for all other URLs.
struct Hosts {
    weather: Remote,
    travel: Remote,
    model: Model,
}

impl Http for Hosts {
    fn send(&self, request: HttpRequest) -> LocalBoxFuture<'static, Result<HttpAnswer, HttpError>> {
        match request.url.as_str() {
            url if url.starts_with("https://weather.example") => self.weather.send(request),
            url if url.starts_with("https://travel.example") => self.travel.send(request),
            url => {
                assert!(url.starts_with(BASE_URL), "{url}");
                self.model.send(request)
            }
        }
    }
}
