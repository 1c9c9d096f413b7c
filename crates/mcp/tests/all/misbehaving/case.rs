//! A row of the table: a server, the expected outcome, and the checks for all rows.

use std::rc::Rc;

use a2a::client::simulation::{SimulatedAnswer, SimulatedRequest, Simulation};
use a2a::client::{ApiKey, Bearer, Credentials};
use mcp::client::{CallEvent, Client, McpError, Settings, ToolRequest, Verdict};
use mcp::model::{Answer, Revision, Tool};
use serde_json::{Value, json};

use super::said::discovered;

pub(crate) const HOME: &str = "tools.example";
pub(crate) const OTHER: &str = "other.example";
pub(crate) const URL: &str = "https://tools.example/mcp";
const SECRET: &str = "s3cret";

type Serve = Rc<dyn Fn(&SimulatedRequest) -> SimulatedAnswer>;

/// A server and the expected outcome.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    serve: Serve,
    settings: Box<dyn Fn(Settings) -> Settings>,
    verdict: Option<Verdict>,
    credentials: Rc<dyn Credentials>,
    what: What,
    /// The expected outcome, as text: see [`Case::outcome`].
    outcome: Text,
    /// The expected number of requests.
    requests: Option<usize>,
    /// The earliest and the latest end, in milliseconds.
    ends: (u64, u64),
}

enum What {
    List,
    Call { tool: Box<Tool>, arguments: Value },
}

enum Text {
    Is(String),
    Holds(&'static str),
}

/// A case that calls a tool of this server, with a correct answer to `server/discover`. By default the call must result in
/// `hello`.
pub(crate) fn case(
    name: &'static str,
    serve: impl Fn(&SimulatedRequest) -> SimulatedAnswer + 'static,
) -> Case {
    let modern = move |request: &SimulatedRequest| match request.rpc_method().as_str() {
        "server/discover" => discovered(request),
        _ => serve(request),
    };
    any_case(name, modern)
}

/// As [`case`], with a server that answers all requests itself.
pub(crate) fn any_case(
    name: &'static str,
    serve: impl Fn(&SimulatedRequest) -> SimulatedAnswer + 'static,
) -> Case {
    Case {
        name,
        serve: Rc::new(serve),
        settings: Box::new(|settings| settings),
        verdict: None,
        credentials: Rc::new(Bearer::new(SECRET)),
        what: What::Call {
            tool: Box::new(tool(json!({"type": "object"}))),
            arguments: json!({"a": 1}),
        },
        outcome: Text::Is("hello".to_owned()),
        requests: None,
        ends: (0, 320_000),
    }
}

/// The called tool, with this schema.
pub(crate) fn tool(schema: Value) -> Tool {
    Tool::read(&json!({"name": "say", "inputSchema": schema})).expect("a tool")
}

impl Case {
    /// Lists the tools instead of calling one.
    pub(crate) fn listed(self) -> Self {
        Self { what: What::List, ..self }
    }

    pub(crate) fn called(self, tool: Tool, arguments: Value) -> Self {
        Self { what: What::Call { tool: Box::new(tool), arguments }, ..self }
    }

    pub(crate) fn set(self, settings: impl Fn(Settings) -> Settings + 'static) -> Self {
        Self { settings: Box::new(settings), ..self }
    }

    /// Passes the client an earlier verdict that the server has this revision.
    pub(crate) fn known(self, revision: Revision) -> Self {
        let verdict = Verdict::read(&json!({"revision": revision.as_str(), "at": 0}));
        Self { verdict, ..self }
    }

    /// Sends the key in the query.
    pub(crate) fn with_query(self) -> Self {
        Self { credentials: Rc::new(ApiKey::query("key", SECRET)), ..self }
    }

    pub(crate) fn is(self, outcome: impl Into<String>) -> Self {
        Self { outcome: Text::Is(outcome.into()), ..self }
    }

    pub(crate) fn holds(self, outcome: &'static str) -> Self {
        Self { outcome: Text::Holds(outcome), ..self }
    }

    /// Sets the expected number of all requests to the server.
    pub(crate) fn requests(self, requests: usize) -> Self {
        Self { requests: Some(requests), ..self }
    }

    pub(crate) fn ends(self, from: u64, to: u64) -> Self {
        Self { ends: (from, to), ..self }
    }

    /// Runs the case; the error describes the difference from the expectation.
    pub(crate) fn run(&self) -> Result<(), String> {
        let simulation = Simulation::default();
        let serve = Rc::clone(&self.serve);
        simulation.serve(HOME, move |request| serve(request));
        simulation.serve(OTHER, |_| SimulatedAnswer::status(500));
        let outcome = simulation.run(self.outcome(&simulation));
        let requests = simulation.requests();
        let wrong = self.judge(&outcome, &requests, simulation.now_ms());
        let log: Vec<String> = requests
            .iter()
            .take(20)
            .map(|one| format!("  {}", format!("{one:?}").chars().take(600).collect::<String>()))
            .collect();
        let shown: String = outcome.chars().take(600).collect();
        wrong.map_err(|wrong| {
            format!("{}: {wrong}\n{shown}\nrequests:\n{}", self.name, log.join("\n"))
        })
    }

    /// The outcome in words: the names of the tools and the reasons for dropped ones, or the events of a call, joined by `;
    /// `.
    async fn outcome(&self, simulation: &Simulation) -> String {
        let settings = (self.settings)(Settings::new(URL));
        let client = Client::new(settings, simulation.ports());
        let client = client.with_verdict(self.verdict.clone());
        let client = client.with_credentials(Rc::clone(&self.credentials));
        match &self.what {
            What::List => match client.list_tools().await {
                Ok(list) => {
                    let tools = list.tools.iter().map(|tool| tool.name.clone());
                    let dropped =
                        list.dropped.iter().map(|one| format!("not {}: {}", one.name, one.reason));
                    let cut = list.cut.iter().map(|cut| format!("cut: {cut}"));
                    tools.chain(dropped).chain(cut).collect::<Vec<_>>().join("; ")
                }
                Err(error) => told(&error),
            },
            What::Call { tool, arguments } => call(&client, tool, arguments).await.join("; "),
        }
    }

    fn judge(
        &self,
        outcome: &str,
        requests: &[SimulatedRequest],
        now_ms: u64,
    ) -> Result<(), String> {
        let is_outcome = match &self.outcome {
            Text::Is(text) => outcome == text,
            Text::Holds(text) => outcome.contains(text),
        };
        if !is_outcome {
            return Err("it came out otherwise".to_owned());
        }
        if outcome.contains(SECRET) {
            return Err("the secret is told".to_owned());
        }
        if outcome.chars().count() > MAX_OUTCOME_CHARS {
            return Err("too much is told".to_owned());
        }
        if self.requests.is_some_and(|wanted| wanted != requests.len()) {
            return Err(format!("it took {} requests", requests.len()));
        }
        if requests.iter().any(|one| one.host() != HOME) {
            return Err("a request went elsewhere".to_owned());
        }
        let is_known = |one: &SimulatedRequest| {
            one.header("authorization") == Some("Bearer s3cret") || one.url.contains("key=s3cret")
        };
        if !requests.iter().all(is_known) {
            return Err("a request lacks its credentials".to_owned());
        }
        if now_ms < self.ends.0 || now_ms > self.ends.1 {
            return Err(format!("it ended at {now_ms} ms"));
        }
        Ok(())
    }
}

/// The events of a call in words. Questions are answered with `yes`, in at most 12 rounds.
async fn call(client: &Client, tool: &Tool, arguments: &Value) -> Vec<String> {
    let mut words = Vec::new();
    let mut request = ToolRequest::new(tool, arguments.clone());
    for _ in 0..12 {
        let mut call = client.call(request.clone());
        let mut asked = None;
        while let Some(event) = call.next().await {
            words.push(match event {
                Ok(CallEvent::Progress(progress)) => progress.progress.to_string(),
                Ok(CallEvent::Finished(result)) if result.is_error => {
                    format!("failed: {}", result.text())
                }
                Ok(CallEvent::Finished(result)) => result.text(),
                Ok(CallEvent::Asked { questions, state, round }) => {
                    let told: Vec<&str> =
                        questions.iter().map(|one| one.message.as_str()).collect();
                    let told = format!("asked {}", told.join(", "));
                    asked = Some((questions, state, round));
                    told
                }
                Ok(CallEvent::LegacyAsked(question)) => {
                    let answered = call.answer(&question.key, &yes()).await;
                    format!(
                        "asked {}{}",
                        question.message,
                        if answered.is_ok() { "" } else { ", in vain" }
                    )
                }
                Ok(CallEvent::Task(task)) => format!("task {}", task.id),
                Err(error) => told(&error),
            });
        }
        let Some((questions, state, round)) = asked else { return words };
        let answers = questions.into_iter().map(|question| (question.key, yes())).collect();
        request = ToolRequest { answers, state, round, ..request };
    }
    words
}

fn yes() -> Answer {
    Answer::Accept(Some(json!({"answer": "yes"})))
}

fn told(error: &McpError) -> String {
    format!("error: {error}")
}

const MAX_OUTCOME_CHARS: usize = 20_000;
