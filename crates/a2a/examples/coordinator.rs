//! A coordinator of agents in plain Rust: `cargo run -p a2a-edge-protocol --features native --example coordinator -- QUESTION URL...`
//!
//! The model is a function that is passed to [`coordinate`]. In this example it follows simple rules; a function that calls
//! a real model has the same parameters.

use std::process::ExitCode;

use a2a::client::{
    Client, ClientError, DelegationTool, Settings, build_coordinator_prompt, create_a2a_tool,
    native, tool_names,
};
use serde_json::{Value, json};

/// The next step of a model.
enum Step {
    /// A call of the tool with this name and these arguments.
    Call(String, Value),
    /// The end, with the model's answer.
    Answer(String),
}

/// A model: returns the next step for the system prompt, the tools and the conversation.
type Model = dyn Fn(&str, &[DelegationTool], &[String]) -> Step;

/// Answers a question by a model, with the agents at these URLs as tools.
async fn coordinate(model: &Model, urls: &[String], question: &str) -> Result<String, ClientError> {
    let ports = native::ports();
    let client = |url: &String| Client::new(Settings::new(url), ports.clone());
    let clients: Vec<Client> = urls.iter().map(client).collect();
    let mut cards = Vec::new();
    for client in &clients {
        cards.push(client.card().await?);
    }
    let agents = urls.iter().zip(&cards).map(|(url, card)| (url.as_str(), card.as_ref()));
    let names = tool_names(&agents.collect::<Vec<_>>());
    let all = names.iter().zip(&clients).zip(&cards);
    let tools: Vec<DelegationTool> =
        all.map(|((name, client), card)| create_a2a_tool(client, card, Some(name))).collect();
    let agents = names.iter().zip(&cards).map(|(name, card)| (name.as_str(), card.as_ref()));
    let prompt = build_coordinator_prompt(&agents.collect::<Vec<_>>(), "");
    let mut conversation = vec![format!("user: {question}")];
    while conversation.len() < MAX_LINES {
        let (name, arguments) = match model(&prompt, &tools, &conversation) {
            Step::Answer(text) => return Ok(text),
            Step::Call(name, arguments) => (name, arguments),
        };
        let result = match tools.iter().find(|tool| tool.name == name) {
            Some(tool) => tool.call(&arguments, || false).await.to_string(),
            None => "[FAILED] there is no such tool".to_owned(),
        };
        conversation.push(format!("{name}: {result}"));
    }
    Err(ClientError::Unexpected("the model comes to no end".to_owned()))
}

/// The largest number of lines in a conversation.
const MAX_LINES: usize = 20;

/// A model with three rules: it forwards the user's question to each agent in turn, answers questions of agents with a
/// colour, and then returns the answers of all agents.
fn rules(_: &str, tools: &[DelegationTool], conversation: &[String]) -> Step {
    let question = conversation.first().and_then(|line| line.strip_prefix("user: "));
    let said = conversation.get(1..).unwrap_or_default();
    if let Some((name, asked)) =
        said.last().and_then(|line| line.split_once(": [INPUT_REQUIRED:task_id="))
        && let Some((task, _)) = asked.split_once(']')
    {
        return Step::Call(name.to_owned(), json!({"prompt": "blue", "task_id": task}));
    }
    let is_asked = |tool: &&DelegationTool| {
        said.iter().any(|line| line.starts_with(&format!("{}: ", tool.name)))
    };
    match tools.iter().find(|tool| !is_asked(tool)) {
        Some(tool) => Step::Call(tool.name.clone(), json!({"prompt": question})),
        None => Step::Answer(said.join("\n")),
    }
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (question, urls) = (arguments.next().unwrap_or_default(), arguments.collect::<Vec<_>>());
    if urls.is_empty() {
        eprintln!(
            "Usage: coordinator QUESTION URL...\n\nAsks each agent, and tells what they say."
        );
        return ExitCode::from(2);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else { return ExitCode::FAILURE };
    match runtime.block_on(coordinate(&rules, &urls, &question)) {
        Ok(answer) => println!("{answer}"),
        Err(error) => {
            eprintln!("coordinator: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
