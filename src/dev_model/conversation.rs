//! Where a conversation stands: what is asked, what calls have given, and which questions of other agents are open.

use super::request::{Call, Message, at};

/// Where a conversation stands.
#[derive(Default)]
pub(super) struct Standing<'a> {
    /// What the user has said last, and then answered to questions of the model.
    pub(super) said: Vec<&'a str>,
    /// How many images and files came with it.
    pub(super) files: usize,
    /// How often the user has said something.
    pub(super) turns: usize,
    /// The results of calls since then.
    pub(super) results: Vec<Outcome<'a>>,
    /// The questions of other agents that nobody has answered, oldest first.
    pub(super) open: Vec<Open<'a>>,
    /// The answer of the user to the first of them.
    pub(super) answer: Option<&'a str>,
    /// How many calls the model has made.
    pub(super) calls: usize,
}

/// The result of a call.
pub(super) struct Outcome<'a> {
    pub(super) tool: &'a str,
    pub(super) text: &'a str,
}

/// A question of another agent.
pub(super) struct Open<'a> {
    pub(super) tool: &'a str,
    pub(super) task: &'a str,
    pub(super) question: &'a str,
}

impl<'a> Standing<'a> {
    pub(super) fn of(messages: &'a [Message]) -> Self {
        let mut standing = Self::default();
        let mut calls: Vec<&Call> = Vec::new();
        let mut told = "";
        for message in messages {
            match message {
                Message::System => {}
                Message::User { text, files } => standing.hear(text, *files, told),
                Message::Assistant { text, calls: made } => {
                    told = text;
                    standing.calls += made.len();
                    // What is handed on to an agent is not open any more.
                    let is_answered = |open: &Open<'_>| {
                        made.iter().any(|call| *at(&call.arguments, "/task_id") == *open.task)
                    };
                    if standing.open.iter().any(is_answered) {
                        standing.open.retain(|open| !is_answered(open));
                        standing.answer = None;
                    }
                    calls.extend(made);
                }
                Message::Tool { call, text } => {
                    let made = calls.iter().rev().find(|known| known.id == *call);
                    standing.take(made.map_or("", |call| &call.name), text);
                }
            }
        }
        standing
    }

    /// The user says something. It answers an open question if that was the last thing told.
    fn hear(&mut self, text: &'a str, files: usize, told: &str) {
        self.open.retain(|open| told.contains(open.question));
        self.open.truncate(1);
        self.answer = (!self.open.is_empty()).then_some(text);
        self.results.clear();
        self.turns += 1;
        self.said = vec![text];
        self.files = files;
    }

    /// A call has given a result.
    fn take(&mut self, tool: &'a str, text: &'a str) {
        if tool == ASK_USER {
            if self.open.is_empty() {
                self.said.push(text)
            } else {
                self.answer = Some(text)
            }
            return;
        }
        let asked =
            text.strip_prefix("[INPUT_REQUIRED:task_id=").and_then(|rest| rest.split_once(']'));
        match asked {
            Some((task, question)) => {
                self.open.push(Open { tool, task, question: question.trim() });
            }
            None => self.results.push(Outcome { tool, text }),
        }
    }
}

/// The tool that asks the user.
pub(super) const ASK_USER: &str = "ask_user";
