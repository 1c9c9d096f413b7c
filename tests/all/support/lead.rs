//! The answers of a model that coordinates the agents `weather` and `travel`: it delegates a task to each of the two that is
//! offered as a tool, forwards their questions to the user, forwards the answers, and lists the results. An answer depends
//! only on the conversation.

use serde_json::{Value, json};

use super::model::{Answer, Asked};

/// The delegated tasks, by agent.
const TASKS: [(&str, &str); 2] =
    [("weather", "Will it rain in Rome"), ("travel", "book a train there")];

/// The answer to a request.
pub fn lead(asked: &Asked) -> Answer {
    let standing = Standing::of(asked.messages());
    let id = |nth: usize| format!("call_{}", standing.calls.len() + nth);
    if let Some((agent, task, question)) = standing.open.first() {
        let (name, arguments) = match &standing.answer {
            Some(answer) => (agent.as_str(), json!({"prompt": answer, "task_id": task})),
            None => ("ask_user", json!({"question": question})),
        };
        return Answer::call(&id(1), name, &arguments.to_string());
    }
    match standing.came.as_slice() {
        [] => {
            let tools = asked.tools();
            let mut tasks = TASKS.iter().filter(|(agent, _)| tools.contains(agent)).enumerate();
            let arguments = |prompt: &str| json!({"prompt": prompt}).to_string();
            let (_, (agent, prompt)) = tasks.next().expect("an agent to call");
            let first = Answer::call(&id(1), agent, &arguments(prompt));
            tasks.fold(first, |answer, (nth, (agent, prompt))| {
                answer.and_call(&id(nth + 1), agent, &arguments(prompt))
            })
        }
        [(agent, text)] => say(&format!("{} says: {text}", shown(agent))),
        several => {
            let lines = several.iter().map(|(agent, text)| format!("\n- {}: {text}", shown(agent)));
            let lines: String = lines.collect();
            say(&format!("Here are {} results:{lines}", several.len()))
        }
    }
}

/// A text in pieces of one word.
fn say(text: &str) -> Answer {
    Answer::said(&text.split_inclusive(' ').collect::<Vec<_>>())
}

/// The state of a conversation.
#[derive(Default)]
struct Standing {
    /// The calls until now: ids and names.
    calls: Vec<(String, String)>,
    /// The unanswered questions of agents: agent, task, question.
    open: Vec<(String, String, String)>,
    /// The user's answer to the first of these questions.
    answer: Option<String>,
    /// The outcomes of tasks: agent, text.
    came: Vec<(String, String)>,
}

impl Standing {
    fn of(messages: &[Value]) -> Self {
        let mut standing = Self::default();
        for message in messages {
            if message["role"] == "tool" {
                standing.take(&text(&message["tool_call_id"]), &text(&message["content"]));
            }
            for call in message["tool_calls"].as_array().into_iter().flatten() {
                let function = &call["function"];
                let arguments: Value =
                    serde_json::from_str(&text(&function["arguments"])).unwrap_or_default();
                let is_answered =
                    |(_, task, _): &(String, String, String)| arguments["task_id"] == **task;
                if standing.open.iter().any(is_answered) {
                    standing.open.retain(|open| !is_answered(open));
                    standing.answer = None;
                }
                standing.calls.push((text(&call["id"]), text(&function["name"])));
            }
        }
        standing
    }

    /// Handles the result of a call.
    fn take(&mut self, id: &str, told: &str) {
        let made = self.calls.iter().find(|(known, _)| known == id);
        let name = made.map(|(_, name)| name.clone()).unwrap_or_default();
        let parts = told.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        match parts.map(|(head, rest)| (head, rest.trim().to_owned())) {
            _ if name == "ask_user" => self.answer = Some(told.to_owned()),
            Some(("COMPLETED", rest)) => self.came.push((name, rest)),
            Some((head, rest)) => match head.strip_prefix("INPUT_REQUIRED:task_id=") {
                Some(task) => self.open.push((name, task.to_owned(), rest)),
                None => self.came.push((name, format!("no result, {rest}"))),
            },
            None => self.came.push((name, told.to_owned())),
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn shown(agent: &str) -> &'static str {
    if agent == "weather" { "Weather" } else { "Travel" }
}
