//! Our agent of kind `model`, with its model and a server for its tools in memory: a task whose process may die between any
//! two polls.

use std::collections::BTreeMap;
use std::rc::Rc;

use a2a::client::apply;
use a2a::model::{Part, Secret, StreamResponse, Task, TaskState, decode};
use a2a_agents::RunSettings;
use a2a_agents::tool::Tool;
use a2a_edge::executor::Registry;
use a2a_edge::port::Outside;
use a2a_edge::twins::MemoryPlatform;
use serde_json::{Value, json};

use super::front::{Crash, Front, is_settled};
use super::model::{BASE_URL, Model, Shop};

/// The key of the provider, which only the provider may receive.
pub const KEY: &str = "sk-marker-0123456789abcdef";

/// An agent with its environment.
pub struct Modeled {
    pub front: Front,
    pub model: Model,
    pub shop: Shop,
}

/// The parts from which an agent is built.
pub struct Setup {
    table: Value,
    tools: Vec<Value>,
    registered: Vec<Rc<dyn Tool>>,
    restricted: Value,
    run: RunSettings,
    secrets: BTreeMap<String, Secret>,
}

impl Default for Setup {
    fn default() -> Self {
        let settings = RunSettings { max_attempts: Some(100), ..RunSettings::default() };
        Self {
            table: json!({
                "model": "m", "base_url": BASE_URL, "api_key": "${MODEL_KEY}", "instructions": "Be brief.",
            }),
            tools: Vec::new(),
            registered: Vec::new(),
            restricted: json!([]),
            run: settings,
            secrets: BTreeMap::from([("MODEL_KEY".to_owned(), Secret::new(KEY))]),
        }
    }
}

impl Setup {
    /// Adds these keys to `[executor.model]`; null removes a key.
    #[must_use]
    pub fn with(mut self, keys: Value) -> Self {
        let table = self.table.as_object_mut().expect("a table");
        for (key, value) in keys.as_object().expect("a table") {
            match value {
                Value::Null => drop(table.remove(key)),
                value => drop(table.insert(key.clone(), value.clone())),
            }
        }
        self
    }

    /// Adds an HTTP tool of the agent that sends orders to the shop.
    #[must_use]
    pub fn sells(self, name: &str) -> Self {
        self.http_tool(Shop::tool(name))
    }

    /// Adds an HTTP tool of the agent.
    #[must_use]
    pub fn http_tool(mut self, tool: Value) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds a tool of the Worker, and its name to the table.
    #[must_use]
    pub fn tool(mut self, tool: impl Tool + 'static) -> Self {
        let mut names = self.table["tools"].as_array().cloned().unwrap_or_default();
        names.push(json!(tool.name()));
        self.table["tools"] = json!(names);
        self.registered.push(Rc::new(tool));
        self
    }

    /// Adds a skill that requires a permission.
    #[must_use]
    pub fn restricts(mut self, skill: &str, permission: &str) -> Self {
        let skills = self.restricted.as_array_mut().expect("a list");
        let (position, skill) = (skills.len(), json!({"id": skill, "name": skill}));
        skills.push(json!({"permissions": [permission], "position": position, "skill": skill}));
        self
    }

    #[must_use]
    pub fn run(self, run: RunSettings) -> Self {
        Self { run, ..self }
    }

    pub fn build(self) -> Modeled {
        let platform = MemoryPlatform::default();
        let outside = Outside { secrets: Rc::new(self.secrets), ..platform.outside() };
        let mut registry = Registry::default();
        self.registered.into_iter().for_each(|tool| registry.add_tool(tool));
        let embedded = json!({
            "slug": "a", "default": true, "development": false, "card": "{}", "capabilities": {"streaming": true},
            "executor": {"kind": "model", "table": self.table, "run": {}},
            "tools": self.tools, "restricted": self.restricted,
        });
        let embedded = a2a::model::decode::decode(embedded).expect("an agent");
        let made = registry.make(&embedded, &outside).unwrap_or_else(|misfit| panic!("{misfit}"));
        let model = Model::new(&platform);
        let shop = Shop::new(&platform);
        model.others(Rc::new(shop.clone()));
        let servers = model.clone();
        let gated = shop.clone();
        let front = Front::over(&platform, made, outside, move |commits| {
            servers.gate(commits.clone());
            gated.gate(commits);
            Rc::new(servers)
        });
        let (asked, ordered) = (model.clone(), shop.clone());
        let front = front.beside_others(move || asked.mark() + (ordered.mark() << 32));
        Modeled { front: front.with_run(self.run).with_modes(&[]), model, shop }
    }
}

impl Modeled {
    /// Sends a text and continues until the task has ended or asks a question.
    pub fn ask(&self, text: &str) -> TaskState {
        self.ask_parts(vec![Part::text(text)])
    }

    pub fn ask_parts(&self, parts: Vec<Part>) -> TaskState {
        self.front.send_parts(parts, None);
        self.front.settle();
        self.state()
    }

    /// When the task entered its state.
    pub fn changed_at(&self) -> i64 {
        self.task().status.timestamp.map(|at| at.0).unwrap_or_default()
    }

    pub fn state(&self) -> TaskState {
        self.task().status.state
    }

    pub fn task(&self) -> Task {
        self.front.task().expect("a task")
    }

    /// The text in the task's status.
    pub fn status(&self) -> String {
        let task = self.task();
        task.status.message.as_ref().map(|message| message.text()).unwrap_or_default()
    }

    /// The text of all artifacts.
    pub fn answer(&self) -> String {
        answer_of(&self.task())
    }

    /// The data of all artifacts.
    pub fn data(&self) -> Vec<Value> {
        let task = self.task();
        let parts = task.artifacts.iter().flat_map(|artifact| &artifact.parts);
        parts
            .filter_map(|part| {
                let json = serde_json::to_value(part).ok()?;
                json.get("data").cloned()
            })
            .collect()
    }

    /// The events of the task as followers receive them, by their generations; events that were never durable are not
    /// included.
    pub fn events(&self) -> BTreeMap<u64, StreamResponse> {
        let mut events = BTreeMap::new();
        for frame in self.front.platform.frames() {
            let Some((head, lines)) = frame.split_once('\n') else { continue };
            let Some(first) = head.strip_prefix('E').and_then(|first| first.parse::<u64>().ok())
            else {
                continue;
            };
            for (generation, line) in (first..).zip(lines.lines()) {
                let event = decode::read_json(line.get(1..).unwrap_or_default()).expect("an event");
                events.insert(generation, event);
            }
        }
        let newest = self.front.generation();
        events.retain(|generation, _| *generation <= newest);
        events
    }

    /// The task after each of its events, as followers know it.
    pub fn followed(&self) -> Vec<Task> {
        let mut task = None;
        let known = self.events().into_values().filter_map(|event| {
            apply(&mut task, &event);
            task.clone()
        });
        known.collect()
    }

    /// The difference between the task of a follower and that of a reader, if any.
    pub fn disagreement(&self) -> Option<String> {
        let followed = self.followed().pop();
        let of = |task: Option<&Task>| {
            let task = task?;
            let parts = |parts: &[Part]| {
                let texts = parts.iter().filter_map(Part::as_text).collect::<String>();
                (texts, parts.iter().filter(|part| part.as_text().is_none()).count())
            };
            let artifacts: Vec<_> = task
                .artifacts
                .iter()
                .map(|artifact| (artifact.artifact_id.clone(), parts(&artifact.parts)))
                .collect();
            Some((task.status.state, artifacts))
        };
        let (followed, read) = (of(followed.as_ref()), of(self.front.task().as_ref()));
        (followed != read).then(|| format!("followed: {followed:?}, read: {read:?}"))
    }

    /// Everything that is visible of the task for anybody, including the reports for operators.
    pub fn seen(&self) -> String {
        use a2a_edge::port::Severity;
        let task = serde_json::to_string(&self.front.task()).unwrap_or_default();
        let platform = &self.front.platform;
        let observed = [Severity::Error, Severity::Info, Severity::Detail]
            .map(|severity| platform.observed(severity).join("\n"));
        format!("{task}\n{}\n{}", platform.frames().join("\n"), observed.join("\n"))
    }

    /// Continues until the task has ended or asks a question, or until the process dies. Returns whether the process lives.
    pub fn run(&self, crash: Option<Crash>) -> bool {
        self.front.run(crash, || self.front.state().is_some_and(is_settled))
    }
}

/// The text of all artifacts of a task.
pub fn answer_of(task: &Task) -> String {
    let parts = task.artifacts.iter().flat_map(|artifact| &artifact.parts);
    parts.filter_map(Part::as_text).collect()
}
