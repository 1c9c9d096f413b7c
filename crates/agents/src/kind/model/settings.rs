//! `[executor.model]` as the type that the executor uses.

use serde_json::{Map, Value};

use crate::kind::KindTable;
use crate::table::{Keys, Reader, keys};

/// `[executor.model]`. `${NAME}` in its texts is not yet filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelSettings {
    /// The provider's name of the model, which may contain `${NAME}`.
    pub model: String,
    /// The provider, which determines the API.
    pub provider: Provider,
    /// The base URL of the API, which may contain `${NAME}`, or [`DEV_MODEL`].
    pub base_url: String,
    /// The binding of Workers AI.
    pub binding: String,
    /// The key of the API, which may contain `${NAME}`.
    pub api_key: Option<String>,
    /// Additional headers of each request, whose values may contain `${NAME}`.
    pub headers: Vec<(String, String)>,
    /// The maximum time until the model's response begins, and between two pieces of it, in milliseconds.
    pub timeout_ms: u64,
    /// The instructions for the model; may be empty.
    pub instructions: String,
    /// The names of tools of this Worker. The tools of the agent alone are offered in addition.
    pub tools: Vec<String>,
    /// The tools of MCP servers that are offered, as `files` or `github:search_*`.
    pub mcp: Vec<String>,
    /// The agents to which the model may delegate: names of `remotes.toml`, or slugs of this Worker.
    pub agents: Vec<String>,
    /// Parameters that are passed to the API unchanged, as the temperature.
    pub parameters: Map<String, Value>,
    /// The JSON schema of the answer.
    pub output_schema: Option<Value>,
    /// The minimum interval between two chunks of text, in milliseconds.
    pub event_interval_ms: u64,
    /// True if the model may ask the user questions.
    pub ask_user: bool,
    /// The approximate maximum number of tokens in a request.
    pub context_tokens: u64,
    /// The maximum number of earlier tasks of the conversation in a request.
    pub context_tasks: u8,
    /// The media types of files that the model reads in addition to text, as `image/*`.
    pub takes: Vec<String>,
    /// The prices of the model.
    pub price: Option<Price>,
    /// The limits of a turn, and of a caller.
    pub limits: ModelLimits,
}

/// The API of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    /// Chat completions, the API of OpenAI and of many other providers.
    OpenAi,
    /// The binding of Workers AI.
    WorkersAi,
}

/// The prices of a model for a million tokens, in the currency of the deployment (`USAGE_CURRENCY`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// The price of input tokens.
    pub input: f64,
    /// The price of input tokens from the provider's cache; the same as `input` unless given.
    pub cached_input: f64,
    /// The price of output tokens.
    pub output: f64,
}

/// The limits of an agent's turns, and of its callers.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelLimits {
    /// The maximum number of requests to the model in a turn, without repeated ones.
    pub rounds: u64,
    /// The maximum number of tokens in a turn; `None` for no limit.
    pub tokens: Option<u64>,
    /// The maximum cost of a turn; `None` for no limit.
    pub cost: Option<f64>,
    /// The maximum number of tasks in a turn that are delegated to other agents.
    pub delegations: u64,
    /// The maximum number of concurrent calls of tools.
    pub parallel: u64,
    /// The maximum number of tokens of a caller in a day; `None` for no limit.
    pub caller_tokens_per_day: Option<u64>,
    /// The maximum cost of a caller in a day; `None` for no limit.
    pub caller_cost_per_day: Option<f64>,
}

impl KindTable for ModelSettings {
    const KEYS: &'static Keys = &KEYS;

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

/// The base URL of the scripted model for development.
pub const DEV_MODEL: &str = "dev:model";

fn provider(keys: &mut Reader<'_>) -> Provider {
    keys.choice("provider", &PROVIDERS).unwrap_or(Provider::OpenAi)
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
    if keys.text("instructions_file").is_some() {
        let fix = if keys.has("instructions") {
            "stands beside `instructions`; keep one of the two"
        } else {
            "names a file, which the checker reads; write its text as `instructions`"
        };
        keys.report("instructions_file", fix);
    }
    instructions.unwrap_or_default()
}

fn output_schema(keys: &mut Reader<'_>) -> Option<Value> {
    if keys.text("output_schema_file").is_some() {
        let fix = if keys.has("output_schema") {
            "stands beside `output_schema`; keep one of the two"
        } else {
            "names a file, which the checker reads; write its schema as `output_schema`"
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
    let takes = keys.texts("takes");
    if !keys.has("takes") {
        let default: &[&str] = match provider {
            Provider::OpenAi => &["image/*", "application/pdf"],
            Provider::WorkersAi => &[],
        };
        return default.iter().map(|&kind| kind.to_owned()).collect();
    }
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
    keys.only(&PRICE);
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

const KEYS: Keys = keys! {
    /// The name of the model, as the provider writes it.
    "model",
    /// The API: `openai`, which is any API of chat completions and the default, or `workers-ai`.
    "provider",
    /// The base URL of the API; `https://api.openai.com/v1` unless given.
    "base_url",
    /// The binding of Workers AI, for `provider = "workers-ai"`; `AI` unless given.
    "binding",
    /// The key of the API: a secret, as `"${OPENAI_API_KEY}"`.
    "api_key",
    /// Further headers of each request, whose values may contain `${NAME}`.
    "headers",
    /// The maximum time until the answer of the model begins, and between two pieces of it, in milliseconds; 120000 unless given.
    "timeout_ms",
    /// The instructions for the model.
    "instructions",
    /// The file of the instructions, beside the agent file; in place of `instructions`.
    "instructions_file",
    /// The names of tools: those in Rust, and those of `tools/*.toml`.
    "tools",
    /// The MCP servers of `remotes.toml` whose tools are offered: all of them, as `files`, or those that match a pattern, as
    /// `github:search_*`.
    "mcp",
    /// The agents to which the model may delegate: names of `remotes.toml`, or slugs of this Worker.
    "agents",
    /// The temperature, passed on to the API.
    "temperature",
    /// Parameters that are passed on to the API as they are.
    "parameters",
    /// The JSON schema of the answer, which then is data.
    "output_schema",
    /// The file of the JSON schema of the answer, beside the agent file; in place of `output_schema`.
    "output_schema_file",
    /// The minimum interval between two chunks of text, in milliseconds; 100 unless given.
    "event_interval_ms",
    /// True if the model may ask the user; true unless given in agents with `agents`, otherwise false.
    "ask_user",
    /// The approximate maximum number of tokens in a request; 32000 unless given.
    "context_tokens",
    /// The maximum number of earlier tasks of the conversation in a request; 5 unless given.
    "context_tasks",
    /// The media types of files that the model reads; `image/*` and `application/pdf` unless given, none for Workers AI.
    "takes",
    /// The prices of a million tokens, in the currency of the deployment (`USAGE_CURRENCY`).
    "price",
    /// The limits of a turn, and of a caller.
    "limits",
};

const PROVIDERS: [(&str, Provider); 2] =
    [("openai", Provider::OpenAi), ("workers-ai", Provider::WorkersAi)];

const PRICE: Keys = keys! {
    /// The price of a million input tokens.
    "input",
    /// The price of a million input tokens from the provider's cache; that of `input` unless given.
    "cached_input",
    /// The price of a million output tokens.
    "output",
};

const LIMITS: Keys = keys! {
    /// The maximum number of requests to the model in a turn; 10 unless given.
    "rounds",
    /// The maximum number of tokens in a turn; no limit unless given.
    "tokens",
    /// The maximum cost of a turn, which needs a `price`; no limit unless given.
    "cost",
    /// The maximum number of tasks that a turn gives to other agents; 10 unless given.
    "delegations",
    /// The maximum number of concurrent calls of tools; 8 unless given.
    "parallel",
    /// The maximum number of tokens of a caller in a day (UTC); no limit unless given.
    "caller_tokens_per_day",
    /// The maximum cost of a caller in a day (UTC), which needs a `price`; no limit unless given.
    "caller_cost_per_day",
};

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
