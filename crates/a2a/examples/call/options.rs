//! The options of the command line.

use a2a::binding::Binding;
use a2a::client::Verify;
use a2a::dialect::Dialect;
use serde_json::Value;

/// The text of `--help`.
pub(crate) const USAGE: &str = "Calls an A2A agent, of version 1.0, 0.3 or 0.1.

Usage: call COMMAND URL [ARGUMENT] [OPTIONS]

    call card URL               shows the agent's card
    call send URL TEXT          sends a message, and shows what the agent gives as it comes
    call get URL TASK           shows a task
    call cancel URL TASK        cancels a task
    call list URL               lists your tasks
    call subscribe URL TASK     shows a task, and what happens to it from now on

URL is that of the agent, below which its card is looked for, or that of its card.

    --task ID               with send: answers a question of this task, or goes on with it
    --context ID            with send: the conversation; with list: only its tasks
    --data JSON             with send: sends this data besides the text, which may be \"\" then
    --version 1.0|0.3|0.1   calls the agent in this version, whatever its card says
    --binding JSONRPC|HTTP+JSON
    --bearer TOKEN          sends this bearer token; else that in A2A_BEARER, if it is set
    --api-key NAME=VALUE    sends this key in a header; query:NAME=VALUE or cookie:NAME=VALUE elsewhere;
                            else that in A2A_API_KEY, if it is set
    --header NAME:VALUE     sends this header too; may be repeated
    --allow-other-hosts     calls the host that the card names, if it is another one, without credentials
    --verify MODE           checks the signatures of the card: required, or if-signed
    --no-stream             polls, even if the agent streams
    --timeout SECONDS       how long to wait with send and subscribe: 300; the task is canceled then
    --page TOKEN            with list: the next page
    --json                  prints JSON: the card, the task, or one event in a line
    -h, --help              this text

What the agent says is printed on standard output, how the task is doing on standard error. Exit codes: 0 the task is
completed, or the call was made; 1 it failed; 2 the command line is wrong; 3 the agent asks something; 4 it wants
credentials; 5 the task was canceled; 6 the time is over.";

/// The command.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    Card,
    Send,
    Get,
    Cancel,
    List,
    Subscribe,
}

/// The options of the command line.
pub(crate) struct Options {
    pub(crate) command: Command,
    pub(crate) url: String,
    /// The text or the task id; empty if the command needs none.
    pub(crate) argument: String,
    pub(crate) data: Option<Value>,
    pub(crate) task: Option<String>,
    pub(crate) context: Option<String>,
    pub(crate) page: Option<String>,
    pub(crate) version: Option<Dialect>,
    pub(crate) binding: Option<Binding>,
    pub(crate) bearer: Option<String>,
    /// The place, the name and the value.
    pub(crate) api_key: Option<(String, String, String)>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) allow_other_hosts: bool,
    pub(crate) verify: Verify,
    pub(crate) no_stream: bool,
    pub(crate) timeout_s: u64,
    pub(crate) json: bool,
}

impl Options {
    /// Parses the arguments; `None` if the help is requested.
    pub(crate) fn read(arguments: impl Iterator<Item = String>) -> Result<Option<Self>, String> {
        let mut arguments = arguments.peekable();
        let mut words = Vec::new();
        let mut options = Self::none();
        while let Some(argument) = arguments.next() {
            if argument == "-h" || argument == "--help" {
                return Ok(None);
            }
            if argument == "--" {
                words.extend(arguments.by_ref());
                break;
            }
            let Some(name) = argument.strip_prefix("--") else {
                words.push(argument);
                continue;
            };
            if options.flag(name) {
                continue;
            }
            let (name, value) = match name.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (name, arguments.next()),
            };
            options.value(name, value.ok_or_else(|| format!("--{name} needs a value"))?)?;
        }
        if words.is_empty() {
            return Ok(None);
        }
        options.words(words)?;
        options.environment()?;
        Ok(Some(options))
    }

    fn none() -> Self {
        Self {
            command: Command::Card,
            url: String::new(),
            argument: String::new(),
            data: None,
            task: None,
            context: None,
            page: None,
            version: None,
            binding: None,
            bearer: None,
            api_key: None,
            headers: Vec::new(),
            allow_other_hosts: false,
            verify: Verify::Never,
            no_stream: false,
            timeout_s: 300,
            json: false,
        }
    }

    fn flag(&mut self, name: &str) -> bool {
        let flag = match name {
            "json" => &mut self.json,
            "no-stream" => &mut self.no_stream,
            "allow-other-hosts" => &mut self.allow_other_hosts,
            _ => return false,
        };
        *flag = true;
        true
    }

    fn value(&mut self, name: &str, value: String) -> Result<(), String> {
        match name {
            "data" => {
                let wrong = |error| format!("--data must be JSON: {error}");
                self.data = Some(a2a::model::read_own(&value).map_err(wrong)?);
            }
            "task" => self.task = Some(value),
            "context" => self.context = Some(value),
            "page" => self.page = Some(value),
            "bearer" => self.bearer = Some(value),
            "api-key" => self.api_key = Some(api_key(&value)?),
            "header" => {
                let pair = value.split_once(':').ok_or("--header must be NAME:VALUE")?;
                self.headers.push((pair.0.trim().to_owned(), pair.1.trim().to_owned()));
            }
            "version" => {
                self.version = Some(match value.as_str() {
                    "1.0" | "1" => Dialect::V1,
                    "0.3" | "0.2" => Dialect::V0_3,
                    "0.1" | "legacy" => Dialect::Legacy,
                    _ => return Err(format!("--version must be 1.0, 0.3 or 0.1, got {value:?}")),
                });
            }
            "binding" => {
                self.binding = Some(match value.to_ascii_uppercase().as_str() {
                    "JSONRPC" => Binding::JsonRpc,
                    "HTTP+JSON" => Binding::Rest,
                    _ => {
                        return Err(format!(
                            "--binding must be JSONRPC or HTTP+JSON, got {value:?}"
                        ));
                    }
                });
            }
            "verify" => {
                self.verify = match value.as_str() {
                    "required" => Verify::Required,
                    "if-signed" => Verify::IfSigned,
                    _ => {
                        return Err(format!(
                            "--verify must be required or if-signed, got {value:?}"
                        ));
                    }
                };
            }
            "timeout" => {
                let seconds = value.parse::<u64>().ok().filter(|seconds| *seconds > 0);
                let wrong = || format!("--timeout must be a number of seconds, got {value:?}");
                self.timeout_s = seconds.ok_or_else(wrong)?;
            }
            _ => return Err(format!("there is no option --{name}")),
        }
        Ok(())
    }

    fn words(&mut self, words: Vec<String>) -> Result<(), String> {
        let mut words = words.into_iter();
        let command = words.next().unwrap_or_default();
        let (command, needed) = match command.as_str() {
            "card" => (Command::Card, None),
            "send" => (Command::Send, Some("TEXT")),
            "get" => (Command::Get, Some("TASK")),
            "cancel" => (Command::Cancel, Some("TASK")),
            "list" => (Command::List, None),
            "subscribe" => (Command::Subscribe, Some("TASK")),
            _ => return Err(format!("there is no command {command:?}")),
        };
        self.command = command;
        self.url = words.next().ok_or("the URL of the agent is missing")?;
        if let Some(needed) = needed {
            self.argument = words.next().ok_or_else(|| format!("{needed} is missing"))?;
        }
        match words.next() {
            Some(word) => {
                Err(format!("{word:?} is one argument too many; quote a text with spaces"))
            }
            None => Ok(()),
        }
    }

    fn environment(&mut self) -> Result<(), String> {
        let said = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        if self.bearer.is_none() && self.api_key.is_none() {
            self.bearer = said("A2A_BEARER");
            self.api_key = said("A2A_API_KEY").map(|key| api_key(&key)).transpose()?;
        }
        Ok(())
    }
}

/// The place of an API key, its name and its value.
fn api_key(text: &str) -> Result<(String, String, String), String> {
    let (name, value) = text.split_once('=').ok_or("an API key must be NAME=VALUE")?;
    let (place, name) = name.split_once(':').unwrap_or(("header", name));
    match place {
        "header" | "query" | "cookie" => Ok((place.to_owned(), name.to_owned(), value.to_owned())),
        _ => Err(format!("an API key goes to header, query or cookie, got {place:?}")),
    }
}
