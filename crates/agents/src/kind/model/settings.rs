//! What `[executor.model]` says, as the executor takes it.

use serde_json::{Map, Value};

use crate::kind::KindTable;
use crate::table::Reader;

/// What `[executor.model]` says. Texts in which `${NAME}` may stand are not filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelSettings {
    /// The model, as the provider names it; `${NAME}` is filled in.
    pub model: String,
    /// What is spoken with it.
    pub provider: Provider,
    /// The base URL of the API, or [`DEV_MODEL`]; `${NAME}` is filled in.
    pub base_url: String,
    /// The binding of Workers AI.
    pub binding: String,
    /// The key of the API; `${NAME}` is filled in.
    pub api_key: Option<String>,
    /// Further headers of each request; `${NAME}` is filled in in their values.
    pub headers: Vec<(String, String)>,
    /// How long the model may take until its answer begins, and for each next piece of it, in milliseconds.
    pub timeout_ms: u64,
    /// What the model is told about its work; may be empty.
    pub instructions: String,
    /// The names of tools of this Worker. The agent's own are offered besides.
    pub tools: Vec<String>,
    /// What is offered of MCP servers.
    pub mcp: Vec<String>,
    /// The agents to which the model may delegate: names of `remotes.toml`, or slugs of this Worker.
    pub agents: Vec<String>,
    /// Parameters that are passed on to the API as they are, the temperature among them.
    pub parameters: Map<String, Value>,
    /// The JSON schema of the answer.
    pub output_schema: Option<Value>,
    /// The shortest time between two chunks of text, in milliseconds.
    pub event_interval_ms: u64,
    /// Whether the model may ask the user.
    pub ask_user: bool,
    /// How many tokens a request may have, roughly.
    pub context_tokens: u64,
    /// How many earlier tasks of the conversation the model is told.
    pub context_tasks: u8,
    /// The media types of files that the model reads besides text, as `image/*`.
    pub takes: Vec<String>,
    /// What the model costs.
    pub price: Option<Price>,
    /// What bounds a turn, and a caller.
    pub limits: ModelLimits,
}

/// What is spoken with a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    /// Chat completions, as the API of OpenAI and many others.
    OpenAi,
    /// The binding of Workers AI.
    WorkersAi,
}

/// What a model costs, in any currency, for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// What it reads.
    pub input: f64,
    /// What it reads of what the provider knew already; as `input` unless given.
    pub cached_input: f64,
    /// What it writes.
    pub output: f64,
}

/// What bounds the turns of an agent, and its callers.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelLimits {
    /// How many requests to the model a turn may take, repeated ones not counted.
    pub rounds: u64,
    /// How many tokens a turn may take; none for no limit.
    pub tokens: Option<u64>,
    /// What a turn may cost; none for no limit.
    pub cost: Option<f64>,
    /// How many tasks a turn may give to other agents.
    pub delegations: u64,
    /// How many calls go on at once.
    pub parallel: u64,
    /// How many tokens a caller may take in a day; none for no limit.
    pub caller_tokens_per_day: Option<u64>,
    /// What a caller may cost in a day; none for no limit.
    pub caller_cost_per_day: Option<f64>,
}

impl KindTable for ModelSettings {
    const KEYS: &'static [&'static str] = &KEYS;

    fn read(keys: &mut Reader<'_>) -> Self {
        let provider = provider(keys);
        let agents = keys.texts("agents");
        let settings = Self {
            model: model(keys),
            provider,
            base_url: base_url(keys, provider),
            binding: binding(keys, provider),
            api_key: keys.text("api_key"),
            headers: keys.pairs("headers"),
            timeout_ms: keys.number("timeout_ms", 1_000, 600_000).unwrap_or(TIMEOUT_MS),
            instructions: instructions(keys),
            tools: keys.texts("tools"),
            mcp: keys.texts("mcp"),
            parameters: parameters(keys),
            output_schema: output_schema(keys),
            event_interval_ms: keys.number("event_interval_ms", 0, 10_000).unwrap_or(INTERVAL_MS),
            ask_user: keys.flag("ask_user").unwrap_or(!agents.is_empty()),
            agents,
            context_tokens: keys
                .number("context_tokens", 1_000, 10_000_000)
                .unwrap_or(CONTEXT_TOKENS),
            context_tasks: keys
                .number("context_tasks", 0, 50)
                .and_then(|count| count.try_into().ok())
                .unwrap_or(CONTEXT_TASKS),
            takes: takes(keys, provider),
            price: keys.below("price", price),
            limits: limits(keys),
        };
        if settings.price.is_none() {
            for (key, limit) in [
                ("limits.cost", settings.limits.cost),
                ("limits.caller_cost_per_day", settings.limits.caller_cost_per_day),
            ] {
                if limit.is_some() {
                    keys.report(key, NO_PRICE);
                }
            }
        }
        settings
    }
}

/// The base URL of the scripted model of development.
pub const DEV_MODEL: &str = "dev:model";

fn provider(keys: &mut Reader<'_>) -> Provider {
    match keys.text("provider").as_deref() {
        None | Some("openai") => Provider::OpenAi,
        Some("workers-ai") => Provider::WorkersAi,
        Some(other) => {
            let fix = format!(
                "is {other:?}, but must be \"openai\", which is any API of chat completions, or \"workers-ai\""
            );
            keys.report("provider", fix);
            Provider::OpenAi
        }
    }
}

fn model(keys: &mut Reader<'_>) -> String {
    keys.need("model", ": the name of the model, as the provider writes it");
    let model = keys.text("model").unwrap_or_default();
    if keys.has("model") && model.trim().is_empty() {
        keys.report("model", "must be the name of the model, as the provider writes it");
    }
    model
}

fn base_url(keys: &mut Reader<'_>, provider: Provider) -> String {
    if provider == Provider::WorkersAi {
        for key in ["base_url", "api_key", "headers"] {
            if keys.has(key) {
                let fix = "stands beside `provider = \"workers-ai\"`, which is called by a binding; remove one of the two";
                keys.report(key, fix);
            }
        }
        return String::new();
    }
    keys.text("base_url").unwrap_or_else(|| OPENAI.to_owned())
}

fn binding(keys: &mut Reader<'_>, provider: Provider) -> String {
    let binding = keys.text("binding");
    if binding.is_some() && provider == Provider::OpenAi {
        keys.report("binding", "belongs to `provider = \"workers-ai\"`");
    }
    binding.unwrap_or_else(|| "AI".to_owned())
}

fn instructions(keys: &mut Reader<'_>) -> String {
    let instructions = keys.text("instructions");
    if keys.has("instructions_file") {
        let fix = if keys.has("instructions") {
            "stands beside `instructions`; keep one of the two"
        } else {
            "names a file, which the build reads; write its text as `instructions`"
        };
        keys.report("instructions_file", fix);
    }
    instructions.unwrap_or_default()
}

fn output_schema(keys: &mut Reader<'_>) -> Option<Value> {
    if keys.has("output_schema_file") {
        let fix = if keys.has("output_schema") {
            "stands beside `output_schema`; keep one of the two"
        } else {
            "names a file, which the build reads; write its schema as `output_schema`"
        };
        keys.report("output_schema_file", fix);
    }
    keys.members("output_schema").map(|schema| Value::Object(schema.clone()))
}

fn parameters(keys: &mut Reader<'_>) -> Map<String, Value> {
    let mut parameters = keys.members("parameters").cloned().unwrap_or_default();
    for key in ["model", "messages", "stream", "tools"] {
        if parameters.shift_remove(key).is_some() {
            let fix = match key {
                "model" => "would overwrite `model`; remove it",
                "tools" => {
                    "would overwrite the tools of the agent, which are `tools`, `mcp` and `agents`; remove it"
                }
                _ => "is written by a2a-edge itself; remove it",
            };
            keys.report(&format!("parameters.{key}"), fix);
        }
    }
    if let Some(temperature) = keys.amount("temperature") {
        let known = parameters.insert("temperature".to_owned(), temperature.into());
        if known.is_some() {
            let fix = "stands beside `temperature`; keep one of the two";
            keys.report("parameters.temperature", fix);
        }
    }
    parameters
}

fn takes(keys: &mut Reader<'_>, provider: Provider) -> Vec<String> {
    if !keys.has("takes") {
        let default: &[&str] = match provider {
            Provider::OpenAi => &["image/*", "application/pdf"],
            Provider::WorkersAi => &[],
        };
        return default.iter().map(|&kind| kind.to_owned()).collect();
    }
    let takes = keys.texts("takes");
    for (index, kind) in takes.iter().enumerate() {
        if !kind.contains('/') {
            let fix =
                format!("{kind:?} is no media type, such as \"image/*\" or \"application/pdf\"");
            keys.report(&format!("takes[{index}]"), fix);
        }
    }
    takes
}

fn price(keys: &mut Reader<'_>) -> Option<Price> {
    keys.only(&["input", "cached_input", "output"]);
    let (input, output) = (keys.amount("input"), keys.amount("output"));
    let cached_input = keys.amount("cached_input");
    for key in ["input", "output"] {
        keys.need(key, ": what a million tokens cost");
    }
    let (input, output) = (input?, output?);
    Some(Price { input, cached_input: cached_input.unwrap_or(input), output })
}

fn limits(keys: &mut Reader<'_>) -> ModelLimits {
    let read = |keys: &mut Reader<'_>| {
        keys.only(&LIMITS);
        Some(ModelLimits {
            rounds: keys.number("rounds", 1, 1_000).unwrap_or(ROUNDS),
            tokens: keys.number("tokens", 1, u64::MAX),
            cost: keys.amount("cost"),
            delegations: keys.number("delegations", 0, 1_000).unwrap_or(DELEGATIONS),
            parallel: keys.number("parallel", 1, 32).unwrap_or(PARALLEL),
            caller_tokens_per_day: keys.number("caller_tokens_per_day", 1, u64::MAX),
            caller_cost_per_day: keys.amount("caller_cost_per_day"),
        })
    };
    keys.below("limits", read).unwrap_or(ModelLimits {
        rounds: ROUNDS,
        tokens: None,
        cost: None,
        delegations: DELEGATIONS,
        parallel: PARALLEL,
        caller_tokens_per_day: None,
        caller_cost_per_day: None,
    })
}

const KEYS: [&str; 23] = [
    "model",
    "provider",
    "base_url",
    "binding",
    "api_key",
    "headers",
    "timeout_ms",
    "instructions",
    "instructions_file",
    "tools",
    "mcp",
    "agents",
    "temperature",
    "parameters",
    "output_schema",
    "output_schema_file",
    "event_interval_ms",
    "ask_user",
    "context_tokens",
    "context_tasks",
    "takes",
    "price",
    "limits",
];

const LIMITS: [&str; 7] = [
    "rounds",
    "tokens",
    "cost",
    "delegations",
    "parallel",
    "caller_tokens_per_day",
    "caller_cost_per_day",
];

const OPENAI: &str = "https://api.openai.com/v1";
const NO_PRICE: &str =
    "needs to know what tokens cost: add `price = { input = …, output = … }`, for a million tokens";
const TIMEOUT_MS: u64 = 120_000;
const INTERVAL_MS: u64 = 100;
const CONTEXT_TOKENS: u64 = 32_000;
const CONTEXT_TASKS: u8 = 5;
const ROUNDS: u64 = 10;
const DELEGATIONS: u64 = 10;
const PARALLEL: u64 = 8;
