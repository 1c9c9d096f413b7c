//! The options of the command line.

use serde_json::{Value, json};

/// The text of `--help`.
pub(crate) const USAGE: &str = "Calls the tools of an MCP server, of 2026-07-28, 2025-11-25, 2025-06-18 or 2025-03-26.

Usage: tools URL COMMAND [ARGUMENTS] [OPTIONS]

    tools URL discover           shows what the server is
    tools URL list               lists its tools
    tools URL call NAME [JSON]   calls a tool with these arguments

    --answer JSON                with call: the answer to the next question of the server, its content as an
                                 object, or accept, decline or cancel; may be repeated
    --bearer TOKEN               sends this bearer token; else that in MCP_BEARER, if it is set
    --header NAME:VALUE          sends this header too; may be repeated
    --timeout SECONDS            with call: how long to wait: 300; the call is canceled then
    --json                       prints JSON: a tool in a line, or the result
    -h, --help                   this text

The result is printed on standard output, progress and questions on standard error. Exit codes: 0 the call was made;
1 it or the tool failed; 2 the command line is wrong; 3 the server asks something, and there is no answer left; 5 the
server has canceled its task; 6 the time is over.";

/// The command.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    Discover,
    List,
    Call,
}

/// The options of the command line.
pub(crate) struct Options {
    pub(crate) command: Command,
    pub(crate) url: String,
    /// The name of the tool to call; empty for other commands.
    pub(crate) name: String,
    pub(crate) arguments: Value,
    pub(crate) answers: Vec<Value>,
    pub(crate) bearer: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) timeout_s: f64,
    pub(crate) json: bool,
}

impl Options {
    /// Parses the arguments; `None` if the help is requested.
    pub(crate) fn read(arguments: impl Iterator<Item = String>) -> Result<Option<Self>, String> {
        let mut options = Self {
            command: Command::List,
            url: String::new(),
            name: String::new(),
            arguments: json!({}),
            answers: Vec::new(),
            bearer: std::env::var("MCP_BEARER").ok().filter(|token| !token.is_empty()),
            headers: Vec::new(),
            timeout_s: 300.0,
            json: false,
        };
        let mut words = Vec::new();
        let mut arguments = arguments;
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
            match argument.as_str() {
                "-h" | "--help" => return Ok(None),
                "--answer" => options.answers.push(answer(&value()?)),
                "--bearer" => options.bearer = Some(value()?),
                "--header" => options.headers.push(header(&value()?)?),
                "--timeout" => options.timeout_s = seconds(&value()?)?,
                "--json" => options.json = true,
                other if other.starts_with("--") => {
                    return Err(format!("there is no option {other}"));
                }
                _ => words.push(argument),
            }
        }
        let mut words = words.into_iter();
        options.url = words.next().ok_or("the URL of the server is missing")?;
        let command = words.next().ok_or("the command is missing: discover, list or call")?;
        options.command = match command.as_str() {
            "discover" => Command::Discover,
            "list" => Command::List,
            "call" => Command::Call,
            other => {
                return Err(format!("there is no command {other}: it is discover, list or call"));
            }
        };
        if options.command == Command::Call {
            options.name = words.next().ok_or("the name of the tool is missing")?;
            if let Some(text) = words.next() {
                let wrong = |error| format!("the arguments of the tool are not JSON: {error}");
                options.arguments = a2a::model::read_own(&text).map_err(wrong)?;
            }
        }
        match words.next() {
            Some(word) => Err(format!("there is no place for {word}")),
            None => Ok(Some(options)),
        }
    }
}

/// An answer as JSON; a text that is not JSON becomes a string.
fn answer(text: &str) -> Value {
    a2a::model::read_own(text).unwrap_or_else(|_| json!(text))
}

fn header(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once(':').filter(|(name, _)| !name.trim().is_empty());
    let (name, value) = pair.ok_or(format!("the header {text} must be NAME:VALUE"))?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds: Option<f64> =
        text.parse().ok().filter(|seconds| (0.0..=86_400.0).contains(seconds));
    seconds.ok_or(format!("the time must be a number of seconds up to 86400, got {text}"))
}
