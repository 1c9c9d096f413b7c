//! What a turn with a model begins with: what may be called, where the model is, and what was said before.

use std::rc::Rc;

use serde_json::{Value, json};

use super::ask_user::AskUser;
use super::budget::Budget;
use super::callable::Question;
use super::calls::{question_json, read_question};
use super::conversation::Conversation;
use super::delegate::Team;
use super::mcp::ServerTool;
use super::own::OwnTool;
use super::parts;
use super::request::Asking;
use super::run::Run;
use super::toolbox::Toolbox;
use crate::executor::tools::is_for;
use crate::executor::{ExecutorError, StepStart};
use a2a::model::{Json, TaskState};
use a2a_agents::{DEV_MODEL, Expandable, ModelSettings, Provider};
use chat::{ChatMessage, Endpoint, ToolCall};

/// How a turn begins.
pub(super) enum Start {
    /// With what was said so far, the client's message last.
    Talk(Conversation),
    /// With calls that have asked the user, and the client's message answers them.
    Answered {
        /// What was said before. The results of these calls are missing.
        conversation: Conversation,
        /// The calls, each with what it kept.
        pending: Vec<(ToolCall, Value)>,
    },
    /// An earlier attempt has come to a question, and it is not certain that the client was asked.
    Asked(Question),
}

impl Run<'_> {
    /// All that the model may call, and what its requests are made of.
    pub(super) async fn prepare(&self) -> Result<(Toolbox, Asking), ExecutorError> {
        let mut toolbox = Toolbox::default();
        let mut notes = Vec::new();
        let max_bytes = self.result_bytes();
        let (offer, turn) = (&self.executor.offer, self.turn);
        let ModelSettings { agents, limits, instructions, .. } = self.settings();
        let team = match agents.is_empty() {
            true => None,
            false => Some(Team::of(turn, agents, limits.delegations, max_bytes).await?),
        };
        // They come first, so that nothing else has the names that the team has chosen.
        for tool in team.iter().flat_map(Team::tools) {
            toolbox.add(Rc::new(tool));
        }
        for tool in offer.own(&turn.caller) {
            toolbox.add(Rc::new(OwnTool { tool, max_bytes }));
        }
        if let Some(mcp) = &self.executor.mcp {
            let known = mcp.known(offer, turn, PATIENCE_MS).await;
            for tool in known.tools {
                toolbox.add(Rc::new(ServerTool { tool, max_bytes }));
            }
            let down = known.down.into_iter();
            notes.extend(
                down.map(|reason| format!("Some tools are missing at the moment: {reason}.")),
            );
        }
        if self.settings().ask_user {
            toolbox.add(Rc::new(AskUser));
        }
        let mut asking = Asking {
            endpoint: self.endpoint()?,
            model: self.filled(&self.settings().model)?,
            instructions: team
                .map_or_else(|| instructions.clone(), |team| team.prompt(instructions)),
            tools: toolbox.specs(),
            artifact: super::ANSWER.to_owned(),
        };
        notes.iter().for_each(|note| asking.note(note));
        Ok((toolbox, asking))
    }

    /// What was said before the model is asked.
    pub(super) async fn start(&self, asking: &mut Asking) -> Result<Start, ExecutorError> {
        let (turn, takes) = (self.turn, &self.settings().takes);
        if turn.number > 1
            && let Some(kept) = turn.last_step::<Value>(STEP)?
            && let Some(start) = self.go_on(&kept)
        {
            return Ok(start);
        }
        let mut conversation = Conversation::default();
        match Box::pin(turn.earlier_tasks(self.settings().context_tasks)).await {
            Ok(messages) => conversation.push_earlier(&messages),
            // They are of use, but not needed.
            Err(_) => asking
                .note("The earlier messages of this conversation cannot be read at the moment."),
        }
        if turn.number > 1 {
            let mut before = turn.history();
            let own =
                before.iter().position(|message| message.message_id == turn.message.message_id);
            before.truncate(own.unwrap_or_default());
            conversation.push_earlier(&before);
        }
        conversation.push_client(&turn.message, takes);
        Ok(Start::Talk(conversation))
    }

    /// Goes on from what an earlier turn has kept. `None` if that cannot be read.
    fn go_on(&self, kept: &Value) -> Option<Start> {
        if kept.get("turn")?.as_u64()? == u64::try_from(self.turn.number).ok()? {
            return read_question(kept.get("question")?).map(Start::Asked);
        }
        let (history, takes) = (self.turn.history(), &self.settings().takes);
        let conversation = Conversation::read(kept.get("entries")?, &history, takes)?;
        let calls = conversation.entries.iter().rev().find_map(|entry| match &entry.message {
            ChatMessage::Assistant { calls, .. } if !calls.is_empty() => Some(calls.clone()),
            _ => None,
        });
        let calls = calls?;
        let pending = kept.get("pending")?.as_array()?.iter().map(|pending| {
            let id = pending.get("id")?.as_str()?;
            let call = calls.iter().find(|call| call.id == id)?;
            Some((call.clone(), pending.get("kept")?.clone()))
        });
        let pending = pending.collect::<Option<Vec<_>>>()?;
        Some(Start::Answered { conversation, pending })
    }

    /// Asks the user what calls want to know. What was said so far is kept for the turn that goes on.
    pub(super) fn ask_user(
        &self,
        conversation: &Conversation,
        asked: Vec<(String, Question)>,
    ) -> Result<(), ExecutorError> {
        let needs_auth = asked.iter().all(|(_, asked)| asked.state == TaskState::AuthRequired);
        let pending: Vec<Value> =
            asked.iter().map(|(id, asked)| json!({"id": id, "kept": asked.kept})).collect();
        let question = Question {
            state: if needs_auth { TaskState::AuthRequired } else { TaskState::InputRequired },
            parts: asked.into_iter().flat_map(|(_, asked)| asked.parts).collect(),
            kept: Value::Null,
        };
        let kept = json!({
            "turn": self.turn.number,
            "entries": conversation.kept(MAX_KEPT_BYTES),
            "pending": pending,
            "question": question_json(&question),
        });
        if let StepStart::New(nth) = self.turn.host.begin_step(STEP)? {
            self.turn.host.end_step(STEP, nth, Ok(Json::from(&kept)))?;
        }
        self.say_question(&question)
    }

    /// Asks the client, whose next message is another turn.
    pub(super) fn say_question(&self, question: &Question) -> Result<(), ExecutorError> {
        let parts = question.parts.iter().filter(|part| is_for(part, self.turn)).cloned();
        self.events.status_with(question.state, parts.collect())
    }

    /// Adds the client's message behind the results that its text is, if the model reads more of it than text.
    pub(super) fn push_files(&self, conversation: &mut Conversation) {
        let takes = &self.settings().takes;
        if parts::has_files(&self.turn.message.parts, takes) {
            conversation.push_client(&self.turn.message, takes);
        }
    }

    /// How much of the result of a call the model is told, in bytes: a quarter of what a request may have.
    fn result_bytes(&self) -> usize {
        (Budget::new(self.settings().context_tokens).bytes() / 4).min(MAX_RESULT_BYTES)
    }

    /// Where the model is, with secrets and variables as they are now.
    fn endpoint(&self) -> Result<Endpoint, ExecutorError> {
        let ModelSettings { provider, base_url, api_key, headers, timeout_ms, .. } =
            self.settings();
        let endpoint = match provider {
            Provider::WorkersAi => Endpoint::workers_ai(),
            Provider::OpenAi if base_url == DEV_MODEL => Endpoint::new(DEV_MODEL_URL),
            Provider::OpenAi => Endpoint::new(self.filled(base_url)?),
        };
        let secret =
            |text: &String| expandable(text)?.expand(self.turn).map_err(ExecutorError::from);
        let headers = headers.iter().map(|(name, value)| Ok((name.clone(), secret(value)?)));
        Ok(Endpoint {
            api_key: api_key.as_ref().map(secret).transpose()?,
            headers: headers.collect::<Result<_, ExecutorError>>()?,
            timeout_ms: (*timeout_ms).min(self.turn.time_left_ms().max(1)),
            ..endpoint
        })
    }

    /// A text with its secrets and variables.
    fn filled(&self, text: &str) -> Result<String, ExecutorError> {
        Ok(expandable(text)?.expand(self.turn)?.reveal().to_owned())
    }
}

fn expandable(text: &str) -> Result<Expandable, ExecutorError> {
    Expandable::parse(text).map_err(|fix| ExecutorError(format!("the agent file {fix}")))
}

/// The step that keeps the conversation while the user is asked.
const STEP: &str = "conversation";

/// How much of a conversation is kept for the next turn, in bytes of JSON.
const MAX_KEPT_BYTES: usize = 200_000;

/// How much of the result of a call the model is told at most, in bytes.
const MAX_RESULT_BYTES: usize = 64 * 1024;

/// How long MCP servers have to say what they offer, in milliseconds.
const PATIENCE_MS: u64 = 10_000;

/// The base URL of the scripted model of development, which is only a name.
const DEV_MODEL_URL: &str = "https://dev-model.internal/v1";
