//! The beginning of a turn with a model: the tools, the URL of the model, and the earlier messages.

use std::rc::Rc;

use serde::Serialize;
use serde_json::Value;

use super::super::ask_user::AskUser;
use super::super::budget::Budget;
use super::super::callable::Question;
use super::super::conversation::{Conversation, StoredEntry};
use super::super::delegate::Team;
use super::super::mcp::ServerTool;
use super::super::own::OwnTool;
use super::super::parts;
use super::super::toolbox::Toolbox;
use super::Run;
use super::calls::StoredCall;
use super::request::Asking;
use crate::executor::call::is_for;
use crate::executor::{ExecutorError, StepStart};
use crate::task::StepRecord;
use a2a::model::TaskState;
use a2a::model::decode::Decode;
use a2a_agents::{DEV_MODEL, Expandable, ModelSettings, Provider};
use chat::{ChatMessage, Endpoint, ToolCall};

/// How a turn begins.
pub(super) enum Start {
    /// The turn begins with a conversation whose last message is the client's.
    Talk(Conversation),
    /// The turn begins with calls that asked the user in an earlier turn. The client's message is the answer.
    Answered {
        /// The conversation so far, without the results of these calls.
        conversation: Conversation,
        /// The calls, each with the data that it has stored.
        pending: Vec<(ToolCall, Value)>,
    },
    /// An earlier attempt has stored this question, which the client may or may not have received.
    Asked(Question),
}

impl Run<'_> {
    /// The tools of the turn, and the constant content of its requests.
    pub(super) async fn prepare(&self) -> Result<(Toolbox, Asking), ExecutorError> {
        let mut toolbox = Toolbox::default();
        let mut notes = Vec::new();
        let max_bytes = self.result_bytes();
        let (offer, turn) = (&self.executor.offer, self.turn);
        let ModelSettings { agents, limits, instructions, .. } = self.settings();
        let team = if agents.is_empty() {
            None
        } else {
            Some(Team::of(turn, agents, limits.delegations, max_bytes).await?)
        };
        // The agents are added first, so that no other tool has one of their stored names.
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
            artifact: super::super::ANSWER.to_owned(),
        };
        self.model.get_or_init(|| asking.model.clone());
        notes.iter().for_each(|note| asking.note(note));
        Ok((toolbox, asking))
    }

    /// The conversation before the first request.
    pub(super) async fn start(&self, asking: &mut Asking) -> Result<Start, ExecutorError> {
        let (turn, takes) = (self.turn, &self.settings().takes);
        if turn.number > 1
            && let Some(start) = self.go_on(&turn.run_task.steps()?)
        {
            return Ok(start);
        }
        let mut conversation = Conversation::default();
        match Box::pin(turn.earlier_tasks(self.settings().context_tasks)).await {
            Ok(messages) => conversation.push_earlier(&messages),
            // Earlier messages are helpful but not required.
            Err(_) => asking
                .note("The earlier messages of this conversation cannot be read at the moment."),
        }
        if turn.number > 1 {
            let mut before = turn.history();
            let own =
                before.iter().position(|message| message.message_id == turn.message.message_id);
            before.truncate(own.unwrap_or_default());
            conversation.push_earlier(&before);
            self.traced.set(conversation.entries.len());
        }
        conversation.push_client(&turn.message, takes);
        Ok(Start::Talk(conversation))
    }

    /// Continues from the newest turn that has stored a conversation. `None` if there is none, or it cannot be read.
    fn go_on(&self, turns: &[Vec<StepRecord>]) -> Option<Start> {
        for turn in turns.iter().rev() {
            if let Some(kept) = newest(turn, STEP) {
                let kept: StoredConversation = kept.result()?;
                if kept.turn == self.turn.number {
                    return Some(Start::Asked(kept.question));
                }
                return self.answered(kept);
            }
            // If the call of this turn is repeated, it asks its question again.
            if let Some(kept) = newest(turn, OPEN) {
                let kept: OpenCalls = kept.result()?;
                if kept.turn != self.turn.number {
                    return self.without_open(kept, turn).map(Start::Talk);
                }
            }
        }
        None
    }

    /// The calls of an earlier turn that the client's message answers.
    fn answered(&self, kept: StoredConversation) -> Option<Start> {
        let conversation = self.read(kept.entries)?;
        let calls = conversation.calls();
        let pending = kept.pending.into_iter().map(|PendingCall { id, kept }| {
            let call = calls.iter().find(|call| call.id == id)?;
            Some((call.clone(), kept))
        });
        let pending = pending.collect::<Option<Vec<_>>>()?;
        Some(Start::Answered { conversation, pending })
    }

    /// The conversation of an earlier turn whose run was lost while a call was asking the user. The result of the lost call is
    /// an error; the client's message follows.
    fn without_open(&self, kept: OpenCalls, turn: &[StepRecord]) -> Option<Conversation> {
        let mut conversation = self.read(kept.entries)?;
        for (index, call) in conversation.calls().into_iter().enumerate() {
            let done = newest(turn, &format!("{}.{}", kept.round, index + 1));
            let done = done.and_then(|done| done.result::<StoredCall>()?.result);
            let text = done.unwrap_or_else(|| LOST.to_owned());
            conversation.push(ChatMessage::Tool { call_id: call.id, text });
        }
        conversation.push_client(&self.turn.message, &self.settings().takes);
        Some(conversation)
    }

    fn read(&self, entries: Vec<StoredEntry>) -> Option<Conversation> {
        let read = Conversation::read(entries, &self.turn.history(), &self.settings().takes)?;
        self.traced.set(read.entries.len());
        Some(read)
    }

    /// Stores the conversation of a round in which a call is about to ask the user while its connection is open. If this run is
    /// lost, the client's answer begins a new turn without the open call; that turn reads the stored conversation.
    pub(super) fn keep_open(
        &self,
        conversation: &Conversation,
        round: u64,
    ) -> Result<(), ExecutorError> {
        loop {
            match self.turn.begin_step::<OpenCalls>(OPEN)? {
                StepStart::Done(Ok(kept)) if kept.round == round => return Ok(()),
                StepStart::Done(_) => {}
                StepStart::New(nth) => {
                    let (turn, entries) = (self.turn.number, conversation.kept(MAX_KEPT_BYTES));
                    let kept = OpenCalls { turn, round, entries };
                    return self.turn.end_step(OPEN, nth, Ok(&kept));
                }
            }
        }
    }

    /// Asks the user the questions of calls. The conversation is stored for the turn that continues with the answer.
    pub(super) fn ask_user(
        &self,
        conversation: &Conversation,
        asked: Vec<(String, Question)>,
    ) -> Result<(), ExecutorError> {
        let needs_auth = asked.iter().all(|(_, asked)| asked.state == TaskState::AuthRequired);
        let (mut pending, mut parts) = (Vec::new(), Vec::new());
        for (id, asked) in asked {
            pending.push(PendingCall { id, kept: asked.kept });
            parts.extend(asked.parts);
        }
        let state = if needs_auth { TaskState::AuthRequired } else { TaskState::InputRequired };
        let kept = StoredConversation {
            turn: self.turn.number,
            entries: conversation.kept(MAX_KEPT_BYTES),
            pending,
            question: Question { state, parts, kept: Value::Null },
        };
        if let StepStart::New(nth) = self.turn.begin_step::<StoredConversation>(STEP)? {
            self.turn.end_step(STEP, nth, Ok(&kept))?;
        }
        self.say_question(&kept.question)
    }

    /// Asks the client. The client's next message begins another turn.
    pub(super) fn say_question(&self, question: &Question) -> Result<(), ExecutorError> {
        let parts = question.parts.iter().filter(|part| is_for(part, self.turn)).cloned();
        self.events.status_with(question.state, parts.collect())
    }

    /// Adds the client's message after the results, if it contains files that the model can read. (The results contain
    /// only its text.)
    pub(super) fn push_files(&self, conversation: &mut Conversation) {
        let takes = &self.settings().takes;
        if parts::has_files(&self.turn.message.parts, takes) {
            conversation.push_client(&self.turn.message, takes);
        }
    }

    /// The largest size of a call's result for the model, in bytes: a quarter of the request's budget.
    fn result_bytes(&self) -> usize {
        (Budget::new(self.settings().context_tokens).bytes() / 4).min(MAX_RESULT_BYTES)
    }

    /// The URL of the model, with the current values of secrets and variables.
    fn endpoint(&self) -> Result<Endpoint, ExecutorError> {
        let ModelSettings { provider, base_url, api_key, headers, timeout_ms, .. } =
            self.settings();
        let endpoint = match provider {
            Provider::WorkersAi => Endpoint::workers_ai(),
            Provider::OpenAi if base_url == DEV_MODEL => {
                let url = self.filled(DEV_MODEL_URL);
                Endpoint::new(url.map_err(|_| ExecutorError(NO_DEV_MODEL.to_owned()))?)
            }
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

    /// A text with its secrets and variables filled in.
    fn filled(&self, text: &str) -> Result<String, ExecutorError> {
        Ok(expandable(text)?.expand(self.turn)?.reveal().to_owned())
    }
}

fn expandable(text: &str) -> Result<Expandable, ExecutorError> {
    Expandable::parse(text).map_err(|fix| ExecutorError(format!("the agent file {fix}")))
}

/// The conversation of a turn that has asked the user, as a step stores it.
#[derive(Serialize, Decode)]
struct StoredConversation {
    /// The number of the turn.
    turn: usize,
    entries: Vec<StoredEntry>,
    /// The calls that have asked.
    pending: Vec<PendingCall>,
    question: Question,
}

/// A call that has asked the user.
#[derive(Serialize, Decode)]
struct PendingCall {
    id: String,
    /// The data that the call needs to continue.
    kept: Value,
}

/// The conversation of a round in which a call with an open connection asks the user, as a step stores it.
#[derive(Serialize, Decode)]
struct OpenCalls {
    /// The number of the turn.
    turn: usize,
    round: u64,
    entries: Vec<StoredEntry>,
}

/// The newest step of this name that has not failed.
fn newest<'t>(turn: &'t [StepRecord], name: &str) -> Option<&'t StepRecord> {
    turn.iter().rev().find(|step| step.name == name && step.outcome.is_ok())
}

/// The name of the step that stores the conversation while the user is asked.
const STEP: &str = "conversation";

/// The name of the step that stores the conversation while a call with an open connection asks the user.
const OPEN: &str = "open calls";

/// The result for the model of a call that was lost with its connection.
const LOST: &str = "error: the agent was interrupted while this call was open, and what its server had asked the user is lost with \
                    the connection; it is not known whether the call was carried out. If it is still wanted, make it again: the \
                    server asks again then";

/// The largest size of a stored conversation, in bytes of JSON.
const MAX_KEPT_BYTES: usize = 200_000;

/// The largest size of a call's result for the model, in bytes.
const MAX_RESULT_BYTES: usize = 64 * 1024;

/// The timeout for loading the lists of tools of MCP servers, in milliseconds.
const PATIENCE_MS: u64 = 10_000;

/// The base URL of the scripted model, a variable that `npm start` and `npm run dev` set.
const DEV_MODEL_URL: &str = "${DEV_MODEL_URL}";

/// The error if the scripted model is used in a deployment.
const NO_DEV_MODEL: &str = "dev:model is the scripted model of development, which `npm start` serves and no deployment has; set \
    `base_url`, `model` and `api_key` in [executor.model] to those of a real one";

#[cfg(test)]
mod tests {
    use super::*;
    use a2a::model::decode::read_json;

    #[test]
    fn conversations_have_the_form_that_0_3_0_has_stored() {
        let entries = concat!(
            r#"[{"client":"m-1"},{"role":"assistant","text":"","calls":"#,
            r#"[{"id":"c","name":"x","arguments":"{}","extra":null}],"reasoning":null}]"#
        );
        let stored = format!(
            r#"{{"turn":2,"entries":{entries},"pending":[{{"id":"c","kept":{{"task":"t"}}}}],"question":{{"needsAuth":false,"parts":[{{"text":"who?"}}],"kept":null}}}}"#
        );
        let kept: StoredConversation = read_json(&stored).unwrap();
        assert_eq!(kept.entries[0], StoredEntry::Client { client: "m-1".to_owned() });
        assert_eq!(serde_json::to_value(&kept).unwrap().to_string(), stored);
        let stored = format!(r#"{{"turn":2,"round":3,"entries":{entries}}}"#);
        let kept: OpenCalls = read_json(&stored).unwrap();
        assert_eq!(serde_json::to_value(&kept).unwrap().to_string(), stored);
    }
}
