//! Runs the client with the official conformance kit: `conform URL` lists the tools of a scenario's server and calls them,
//! with the arguments of the scenario (`MCP_CONFORMANCE_CONTEXT`) or with arguments that match their schemas, and answers
//! each question with the defaults of its form. See tests/conformance/mcp/ of the repository.

use std::process::ExitCode;

use a2a::client::native;
use mcp::client::{Call, CallEvent, Client, McpError, Settings, ToolList, ToolRequest};
use mcp::model::{Answer, Question, QuestionKind, Tool};
use serde_json::{Map, Value, json};

fn main() -> ExitCode {
    let Some(url) = std::env::args().next_back() else { return ExitCode::from(2) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let done = match runtime {
        Ok(runtime) => runtime.block_on(drive(url)),
        Err(error) => Err(McpError::Unexpected(error.to_string())),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn drive(url: String) -> Result<(), McpError> {
    let client = Client::new(Settings::new(url), native::ports());
    let list = client.list_tools().await?;
    for dropped in &list.dropped {
        eprintln!("not called: {}: {}", dropped.name, dropped.reason);
    }
    for (tool, arguments) in calls(&list) {
        match call(&client, tool, arguments).await {
            Ok(text) => eprintln!("{}: {text}", tool.name),
            Err(error @ McpError::Rpc { .. }) => eprintln!("{}: {error}", tool.name),
            Err(error) => return Err(error),
        }
    }
    client.close().await;
    Ok(())
}

/// The calls: those of the scenario, otherwise one of each tool.
fn calls(list: &ToolList) -> Vec<(&Tool, Value)> {
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    let context: Value = a2a::model::read_own(&context).unwrap_or_default();
    if let Some(wanted) = context.get("toolCalls").and_then(Value::as_array) {
        let find = |name: &Value| list.tools.iter().find(|tool| tool.name == *name);
        let calls = wanted.iter().filter_map(|call| {
            Some((find(call.get("name")?)?, call.get("arguments").cloned().unwrap_or_default()))
        });
        return calls.collect();
    }
    let tools = list.tools.iter();
    tools.map(|tool| (tool, Value::Object(content(&tool.input_schema, list)))).collect()
}

/// An object that matches a schema: its defaults, and its required members. An argument `schema` is the schema of another
/// tool, as received.
fn content(schema: &Value, list: &ToolList) -> Map<String, Value> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array);
    let mut content = Map::new();
    for (name, property) in properties.into_iter().flatten() {
        let is_required = required.is_some_and(|names| names.contains(&json!(name)));
        let value = match property.get("default") {
            Some(default) => default.clone(),
            None if name == "schema" => {
                let first = list.tools.first();
                first.map(|tool| tool.input_schema.clone()).unwrap_or_default()
            }
            None if is_required => sample(property),
            None => continue,
        };
        content.insert(name.clone(), value);
    }
    content
}

fn sample(property: &Value) -> Value {
    let first = property.get("enum").and_then(Value::as_array).and_then(|values| values.first());
    match (first, property.get("type").and_then(Value::as_str)) {
        (Some(first), _) => first.clone(),
        (None, Some("number" | "integer")) => json!(5),
        (None, Some("boolean")) => json!(true),
        (None, Some("array")) => json!([]),
        (None, Some("object")) => json!({}),
        (None, _) => json!("text"),
    }
}

/// Calls a tool, including all rounds of questions, and returns the text of the result.
async fn call(client: &Client, tool: &Tool, arguments: Value) -> Result<String, McpError> {
    let mut request = ToolRequest::new(tool, arguments);
    loop {
        match round(client.call(request.clone())).await? {
            CallEvent::Asked { questions, state, round } => {
                let answers = questions.into_iter().map(|question| {
                    let answer = answer(&question);
                    (question.key, answer)
                });
                request = ToolRequest { answers: answers.collect(), state, round, ..request };
            }
            CallEvent::Finished(result) => return Ok(result.text()),
            CallEvent::Task(task) => return Ok(format!("task {}", task.id)),
            CallEvent::Progress(_) | CallEvent::LegacyAsked(_) => return Ok(String::new()),
        }
    }
}

/// The last event of a call.
async fn round(mut call: Call) -> Result<CallEvent, McpError> {
    while let Some(event) = call.next().await {
        match event? {
            CallEvent::LegacyAsked(question) => {
                call.answer(&question.key, &answer(&question)).await?
            }
            CallEvent::Progress(_) => {}
            last => return Ok(last),
        }
    }
    Err(McpError::Unexpected("the call brought nothing".to_owned()))
}

fn answer(question: &Question) -> Answer {
    Answer::Accept(match &question.kind {
        QuestionKind::Form(schema) => Some(Value::Object(content(schema, &ToolList::default()))),
        QuestionKind::Url(_) => None,
    })
}
