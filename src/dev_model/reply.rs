//! What the scripted model says or calls.

use serde_json::{Map, Value, json};

use super::choose::choose;
use super::conversation::{ASK_USER, Outcome, Standing};
use super::fill::Filling;
use super::request::{Request, Tool};

/// An answer.
pub(super) struct Reply {
    pub(super) text: String,
    /// The calls, each by its id, tool and arguments.
    pub(super) calls: Vec<(String, String, Value)>,
    /// Whether the text was cut, since it may not have more tokens.
    pub(super) is_cut: bool,
}

impl Reply {
    /// The answer to a request. It follows from the request alone.
    pub(super) fn to(request: &Request) -> Self {
        let standing = Standing::of(&request.messages);
        let mut reply = match calls(request, &standing) {
            calls if !calls.is_empty() => {
                let id = |(index, (tool, arguments)): (usize, (String, Map<String, Value>))| {
                    let id = format!("call_{}", standing.calls + index + 1);
                    (id, tool, Value::Object(arguments))
                };
                let calls = calls.into_iter().enumerate().map(id).collect();
                Self { text: String::new(), calls, is_cut: false }
            }
            _ => Self { text: told(request, &standing), calls: Vec::new(), is_cut: false },
        };
        let most = request.max_tokens.and_then(|most| usize::try_from(most).ok());
        if let Some(most) = most.map(|most| most.saturating_mul(4))
            && reply.text.chars().count() > most
        {
            reply.text = reply.text.chars().take(most).collect();
            reply.is_cut = true;
        }
        reply
    }
}

type Calls = Vec<(String, Map<String, Value>)>;

/// What is called; nothing if everything is there for an answer.
fn calls(request: &Request, standing: &Standing<'_>) -> Calls {
    let asks_user = request.tools.iter().find(|tool| tool.name == ASK_USER);
    if let Some(open) = standing.open.first() {
        if let Some(answer) = standing.answer {
            let task = json!(open.task);
            let arguments = [("prompt".to_owned(), json!(answer)), ("task_id".to_owned(), task)];
            return vec![(open.tool.to_owned(), arguments.into_iter().collect())];
        }
        return asks_user.map(|tool| vec![asking(tool, open.question)]).unwrap_or_default();
    }
    if !standing.results.is_empty() {
        return Calls::new();
    }
    let text = standing.said.join("\n");
    let tools: Vec<&Tool> = request.tools.iter().filter(|tool| tool.name != ASK_USER).collect();
    let mut calls = Calls::new();
    for chosen in choose(&text, &tools) {
        let mut filling = Filling::of(&chosen.text);
        let arguments = filling.object(&chosen.tool.parameters);
        if let (Some(missing), Some(tool)) = (filling.missing, asks_user)
            && standing.said.len() <= MOST_ASKED
        {
            let question = format!("Which number is `{missing}` of {}?", shown(&chosen.tool.name));
            return vec![asking(tool, &question)];
        }
        calls.push((chosen.tool.name.clone(), arguments));
    }
    calls
}

/// A question for the user.
fn asking(tool: &Tool, question: &str) -> (String, Map<String, Value>) {
    let mut arguments = Filling::of(question).object(&tool.parameters);
    let names = arguments.iter_mut().find(|(_, value)| value.is_string());
    match names {
        Some((_, text)) => *text = json!(question),
        None => drop(arguments.insert("question".to_owned(), json!(question))),
    }
    (tool.name.clone(), arguments)
}

/// What is said.
fn told(request: &Request, standing: &Standing<'_>) -> String {
    let text = match standing.results.as_slice() {
        [] => String::new(),
        [only] => sentence(only),
        several => {
            let lines = several.iter().map(|one| format!("\n- {}", line(one)));
            format!("Here are {} results:{}", several.len(), lines.collect::<String>())
        }
    };
    let questions = standing.open.iter().filter(|_| standing.answer.is_none());
    let questions = questions.map(|open| format!("{} asks: {}", shown(open.tool), open.question));
    let text = Some(text).into_iter().chain(questions).filter(|text| !text.is_empty());
    let text = text.collect::<Vec<_>>().join("\n\n");
    let text = if text.is_empty() { introduction(request, standing) } else { text };
    match &request.schema {
        Some(schema) => {
            let said = if standing.results.is_empty() { standing.said.join("\n") } else { text };
            Value::Object(Filling::of(&said).object(schema)).to_string()
        }
        None => text,
    }
}

fn sentence(outcome: &Outcome<'_>) -> String {
    match result(outcome.text) {
        Ok(text) => format!("{} says: {text}", shown(outcome.tool)),
        Err(why) => format!("{} gave no result: {why}", shown(outcome.tool)),
    }
}

fn line(outcome: &Outcome<'_>) -> String {
    match result(outcome.text) {
        Ok(text) => format!("{}: {text}", shown(outcome.tool)),
        Err(why) => format!("{}: no result, {why}", shown(outcome.tool)),
    }
}

/// The text of a result, or why there is none.
fn result(text: &str) -> Result<&str, String> {
    let heads = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let Some((head, rest)) = heads else { return Ok(text) };
    let rest = rest.trim();
    Err(match head {
        "COMPLETED" => return Ok(rest),
        "FAILED" => rest.to_owned(),
        "CANCELED" => "it was canceled".to_owned(),
        "TIMEOUT" => "it took too long".to_owned(),
        head if head.starts_with("AUTH_REQUIRED") => format!("it needs credentials: {rest}"),
        _ => return Ok(text),
    })
}

/// What the model says of itself where nothing matches.
fn introduction(request: &Request, standing: &Standing<'_>) -> String {
    let mut text = "I am the scripted model of development (dev:model): I match words, and understand nothing.".to_owned();
    let names = request.tools.iter().filter(|tool| tool.name != ASK_USER);
    let names: Vec<String> = names.map(|tool| format!("`{}`", tool.name)).collect();
    text += &match names.as_slice() {
        [] => " I have no tools to call.".to_owned(),
        names => format!(" I call {} when your words match.", names.join(", ")),
    };
    let said = standing.said.join(" ");
    match said.chars().count() {
        0 => {}
        length if length > MOST_REPEATED => {
            let begin: String = said.chars().take(MOST_REPEATED).collect();
            text += &format!(" You said: \"{begin}…\"");
        }
        _ => text += &format!(" You said: \"{said}\""),
    }
    if standing.files > 0 {
        text += &format!(" I cannot look into the {} files that came with it.", standing.files);
    }
    if standing.turns > 1 {
        text += &format!(" It is message {} of our conversation.", standing.turns);
    }
    text
}

/// The name of a tool as people read it.
fn shown(tool: &str) -> String {
    let words = tool.replace(['_', '-'], " ");
    let words = words.trim();
    let mut letters = words.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => "A tool".to_owned(),
    }
}

/// How often the model asks for a number in one turn.
const MOST_ASKED: usize = 3;

/// How much of a message is repeated, in characters.
const MOST_REPEATED: usize = 200;
