//! A small client of MCP servers for the command line: `cargo run -p a2a-edge-mcp --features native --example tools -- --help`.

#[path = "tools/options.rs"]
mod options;

use std::io::Write;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use a2a::client::{Bearer, native};
use mcp::client::{
    Call, CallEvent, Client, McpError, Settings, TaskHandle, TaskState, ToolRequest,
};
use mcp::model::{Answer, CallResult, Content, Question, QuestionKind, Tool};
use serde_json::{Value, json};

use options::{Command, Options, USAGE};

fn main() -> ExitCode {
    let options = match Options::read(std::env::args().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => {
            line(USAGE);
            return ExitCode::SUCCESS;
        }
        Err(reason) => {
            eprintln!("tools: {reason}\nTry --help.");
            return ExitCode::from(2);
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let done = match runtime {
        Ok(runtime) => runtime.block_on(run(options)),
        Err(error) => Err(McpError::Unexpected(format!("there is no runtime: {error}"))),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("tools: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Executes the command, and returns the exit code.
async fn run(options: Options) -> Result<u8, McpError> {
    let settings = Settings { headers: options.headers.clone(), ..Settings::new(&options.url) };
    let mut client = Client::new(settings, native::ports());
    if let Some(token) = &options.bearer {
        client = client.with_credentials(Rc::new(Bearer::new(token)));
    }
    let done = match options.command {
        Command::Discover => discover(&client).await.map(|()| 0),
        Command::List => list(&client, options.json).await.map(|()| 0),
        Command::Call => call(&client, &options).await,
    };
    client.close().await;
    done
}

async fn discover(client: &Client) -> Result<(), McpError> {
    let verdict = client.discover().await?;
    line(&verdict.to_json().to_string());
    Ok(())
}

async fn list(client: &Client, as_json: bool) -> Result<(), McpError> {
    let list = client.list_tools().await?;
    for tool in &list.tools {
        if as_json {
            line(&tool.to_json().to_string());
            continue;
        }
        let about = tool.description.as_deref().or(tool.shown_name()).unwrap_or_default();
        line(format!("{}  {}", tool.name, about.lines().next().unwrap_or_default()).trim_end());
    }
    for dropped in &list.dropped {
        eprintln!("{} cannot be called: {}", dropped.name, dropped.reason);
    }
    list.cut.iter().for_each(|reason| eprintln!("there are more tools: {reason}"));
    Ok(())
}

/// Calls a tool, including all rounds of questions and its task.
async fn call(client: &Client, options: &Options) -> Result<u8, McpError> {
    let list = client.list_tools().await?;
    let Some(tool) = list.tools.iter().find(|tool| tool.name == options.name) else {
        eprintln!("tools: the server has no tool {}", options.name);
        return Ok(1);
    };
    let (sender, time) = (Asked::new(options), Duration::from_secs_f64(options.timeout_s));
    let mut current = client.call(ToolRequest::new(tool, options.arguments.clone()));
    let followed = tokio::time::timeout(time, follow(client, tool, options, sender, &mut current));
    match followed.await {
        Ok(code) => code,
        Err(_) => {
            current.cancel().await;
            eprintln!("tools: canceled after {} s", options.timeout_s);
            Ok(6)
        }
    }
}

async fn follow(
    client: &Client,
    tool: &Tool,
    options: &Options,
    mut answers: Asked,
    call: &mut Call,
) -> Result<u8, McpError> {
    while let Some(event) = call.next().await {
        match event? {
            CallEvent::Progress(progress) => {
                let total = progress.total.map(|total| format!(" of {total}")).unwrap_or_default();
                let message = progress.message.unwrap_or_default();
                eprintln!("{}", format!("{}{total} {message}", progress.progress).trim_end());
            }
            CallEvent::Finished(result) => return Ok(show(&result, options.json)),
            CallEvent::LegacyAsked(question) => match answers.to(&question) {
                Some(answer) => call.answer(&question.key, &answer).await?,
                None => return Ok(3),
            },
            CallEvent::Asked { questions, state, round } => {
                let given = questions.into_iter().map(|question| {
                    let answer = answers.to(&question);
                    answer.map(|answer| (question.key, answer))
                });
                let Some(given) = given.collect() else { return Ok(3) };
                let arguments = options.arguments.clone();
                let again = ToolRequest::new(tool, arguments);
                *call = client.call(ToolRequest { answers: given, state, round, ..again });
            }
            CallEvent::Task(task) => return wait(client, &task, options, &mut answers).await,
        }
    }
    Ok(1)
}

/// Waits for the end of a task.
async fn wait(
    client: &Client,
    task: &TaskHandle,
    options: &Options,
    answers: &mut Asked,
) -> Result<u8, McpError> {
    eprintln!("task {}", task.id);
    let mut answered = Vec::new();
    loop {
        let look = client.task(task).await?;
        look.message.iter().for_each(|message| eprintln!("{message}"));
        match look.state {
            TaskState::Working => {}
            TaskState::Asked(questions) => {
                for question in questions {
                    if answered.contains(&question.key) {
                        continue;
                    }
                    let Some(answer) = answers.to(&question) else { return Ok(3) };
                    answered.push(question.key.clone());
                    client.answer_task(task, &[(question.key, answer)]).await?;
                }
            }
            TaskState::Completed(result) => return Ok(show(&result, options.json)),
            TaskState::Failed(error) => return Err(McpError::Rpc { error, status: 200 }),
            TaskState::Cancelled => return Ok(5),
        }
        tokio::time::sleep(Duration::from_millis(look.poll_interval_ms)).await;
    }
}

/// The answers of the command line, which are used one after the other.
struct Asked(std::vec::IntoIter<Value>);

impl Asked {
    fn new(options: &Options) -> Self {
        Self(options.answers.clone().into_iter())
    }

    /// The answer to a question; `None` if no answer is left.
    fn to(&mut self, question: &Question) -> Option<Answer> {
        let place = match &question.kind {
            QuestionKind::Form(schema) => schema.to_string(),
            QuestionKind::Url(url) => url.clone(),
        };
        eprintln!("{}\n{place}", question.message);
        self.0.next().map(|answer| match answer.as_str() {
            Some("decline") => Answer::Decline,
            Some("cancel") => Answer::Cancel,
            Some("accept") => Answer::Accept(None),
            Some(_) | None => Answer::Accept(Some(answer)),
        })
    }
}

/// Prints a result, and returns the exit code.
fn show(result: &CallResult, as_json: bool) -> u8 {
    if as_json {
        line(&result.to_json().to_string());
        return u8::from(result.is_error);
    }
    for piece in &result.content {
        match piece {
            Content::Text(text) => line(text),
            other => line(&other.to_json().to_string()),
        }
    }
    let structured = result.structured.as_ref().map(|value| json!({"structuredContent": value}));
    structured.iter().for_each(|value| line(&value.to_string()));
    u8::from(result.is_error)
}

/// Prints a line. Errors are ignored, because the reader may have closed the output.
fn line(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}
