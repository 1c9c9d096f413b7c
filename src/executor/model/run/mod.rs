//! One turn with a model: rounds of requests and calls, until there is an answer.

mod calls;
mod request;
mod start;

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use serde_json::Value;

use super::budget::Budget;
use super::callable::{Question, Said};
use super::conversation::Conversation;
use super::ending::{Ending, ending};
use super::limits::{Spent, cost_micros};
use super::toolbox::Toolbox;
use super::{ANSWER, ModelExecutor, output};
use crate::executor::call::shown;
use crate::executor::{Events, ExecutorError, Turn};
use crate::port::{Http, Target};
use crate::usage::Usage;
use a2a::DayLimit;
use a2a::model::{Artifact, Part, Task, TaskState};
use a2a_agents::{ModelSettings, Provider};
use calls::Wanted;
use chat::{ChatAnswer, ChatMessage, ToolCall};
use request::Answered;
use start::Start;

/// A turn with a model.
pub(in crate::executor::model) struct Run<'a> {
    pub(in crate::executor::model) executor: &'a ModelExecutor,
    pub(in crate::executor::model) turn: &'a Turn,
    pub(in crate::executor::model) events: &'a Events,
    /// The client for a model that is not at a URL but bound to the Worker.
    bound: Option<Rc<dyn Http>>,
    /// True if the run has reached a point that no earlier attempt has stored.
    pub(in crate::executor::model) is_beyond: Cell<bool>,
    /// How many entries of the conversation earlier requests had.
    traced: Cell<usize>,
    /// The name of the model, once it is known.
    model: OnceCell<String>,
}

/// How a turn continues after an answer.
enum Next {
    /// With another request.
    Ask,
    /// The turn does not continue.
    Over,
}

/// The state of a turn so far.
struct Talk {
    conversation: Conversation,
    spent: Spent,
    /// True if a tool was called.
    has_called: bool,
    /// True if a request to correct an answer that does not fit its schema was already sent.
    is_repaired: bool,
    /// The number of client messages that were answered, including those that arrived during the run.
    answered: u32,
}

impl<'a> Run<'a> {
    pub(in crate::executor::model) fn new(
        executor: &'a ModelExecutor,
        turn: &'a Turn,
        events: &'a Events,
    ) -> Self {
        let settings = &executor.settings;
        let target = match settings.provider {
            Provider::WorkersAi => Some(Target::WorkersAi(settings.binding.clone())),
            Provider::OpenAi => None,
        };
        let bound = target.map(|target| turn.run_outside.bound(&target));
        let (is_beyond, traced, model) = (Cell::new(false), Cell::default(), OnceCell::new());
        Self { executor, turn, events, bound, is_beyond, traced, model }
    }

    pub(in crate::executor::model) fn settings(&self) -> &'a ModelSettings {
        &self.executor.settings
    }

    /// The provider of the model in the words of OpenTelemetry. An endpoint elsewhere speaks the API of OpenAI, whoever it is.
    pub(in crate::executor::model) fn provider(&self) -> &'static str {
        match self.settings().provider {
            Provider::WorkersAi => "cloudflare.workers_ai",
            Provider::OpenAi => "openai",
        }
    }

    /// The client through which requests to the model are sent.
    pub(in crate::executor::model) fn http(&self) -> &dyn Http {
        match &self.bound {
            Some(bound) => bound.as_ref(),
            None => self.turn.run_outside.http(),
        }
    }

    /// The name of the model; empty until it is known.
    fn model(&self) -> &str {
        self.model.get().map_or("", String::as_str)
    }

    /// Records the usage of an answer.
    pub(in crate::executor::model) fn record(&self, usage: chat::Usage) {
        self.turn.record_usage_of(self.model(), self.used(usage));
    }

    /// Records the usage of a request that failed, if its usage is known.
    pub(in crate::executor::model) fn record_repeated(&self, usage: Option<chat::Usage>) {
        let used = self.used(usage.unwrap_or_default());
        self.turn.record_repeated_usage_of(self.model(), used);
    }

    /// The usage of one request.
    fn used(&self, usage: chat::Usage) -> Usage {
        Usage {
            requests: 1,
            input_tokens: usage.input,
            output_tokens: usage.output,
            cost_micros: cost_micros(usage, self.settings().price.as_ref()),
        }
    }

    /// Sends requests and makes calls until the task ends or waits for the client.
    ///
    /// # Errors
    ///
    /// The reason why the run fails.
    pub(in crate::executor::model) async fn execute(&self) -> Result<(), ExecutorError> {
        let is_working = |task: Task| task.status.state == TaskState::Working;
        if !self.turn.task().is_some_and(is_working) {
            self.events.working(None)?;
        }
        let (toolbox, mut asking) = Box::pin(self.prepare()).await?;
        let (conversation, pending) = match Box::pin(self.start(&mut asking)).await? {
            Start::Talk(conversation) => (conversation, Vec::new()),
            Start::Answered { conversation, pending } => (conversation, pending),
            Start::Asked(question) => return self.say_question(&question),
        };
        let mut talk = Talk {
            conversation,
            spent: Spent::default(),
            has_called: !pending.is_empty(),
            is_repaired: false,
            answered: 1,
        };
        if !pending.is_empty() {
            let wanted = pending.iter().map(|(call, kept)| Wanted { call, kept: Some(kept) });
            let wanted: Vec<Wanted<'_>> = wanted.collect();
            let (said, resumes) = (&talk.conversation, self.turn.resumes);
            let said = Box::pin(self.make_calls(&toolbox, said, 0, &wanted, resumes)).await?;
            let calls: Vec<&ToolCall> = pending.iter().map(|(call, _)| call).collect();
            if let Next::Over = self.take_results(&mut talk, &calls, said)? {
                return Ok(());
            }
            self.push_files(&mut talk.conversation);
        }
        let mut budget = Budget::new(self.settings().context_tokens);
        loop {
            asking.artifact = artifact_id(talk.answered);
            let asked = self.ask(&asking, &talk.conversation, &mut budget);
            let Some(answered) = Box::pin(asked).await? else { return Ok(()) };
            budget.learn(answered.answer.usage.as_ref(), answered.request_bytes);
            talk.spent.add(answered.usage, self.settings().price.as_ref());
            let next = match ending(&answered.answer) {
                Ending::Calls => Box::pin(self.call(&toolbox, &mut talk, answered)).await?,
                ending => self.end(&mut talk, &answered.answer, ending)?,
            };
            if let Next::Over = next {
                return Ok(());
            }
        }
    }

    /// Makes the calls of an answer. If a limit forbids another request to the model, the calls are made only if one of them asks
    /// the user: the question ends the turn, and the next turn begins with the results of the calls.
    async fn call(
        &self,
        toolbox: &Toolbox,
        talk: &mut Talk,
        answered: Answered,
    ) -> Result<Next, ExecutorError> {
        let Answered { answer, is_recalled, .. } = answered;
        if !Self::asks_user(toolbox, &answer.calls) && self.is_over(talk)? {
            return Ok(Next::Over);
        }
        let wanted = answer.calls.iter().map(|call| Wanted { call, kept: None });
        let wanted: Vec<Wanted<'_>> = wanted.collect();
        talk.has_called = true;
        talk.conversation.push(answer.to_message());
        let round = talk.spent.rounds;
        let said = &talk.conversation;
        let said = Box::pin(self.make_calls(toolbox, said, round, &wanted, is_recalled)).await?;
        let calls: Vec<&ToolCall> = answer.calls.iter().collect();
        self.take_results(talk, &calls, said)
    }

    /// Adds the results of calls to the conversation. If calls ask the user, the questions are shown.
    fn take_results(
        &self,
        talk: &mut Talk,
        calls: &[&ToolCall],
        said: Vec<Said>,
    ) -> Result<Next, ExecutorError> {
        if self.turn.is_canceled() {
            return Ok(Next::Over);
        }
        let mut asked: Vec<(String, Question)> = Vec::new();
        for (call, said) in calls.iter().zip(said) {
            match said {
                Said::Result(text) | Said::Failed(text) => {
                    talk.conversation.push(ChatMessage::Tool { call_id: call.id.clone(), text });
                }
                Said::Asks(question) => asked.push((call.id.clone(), *question)),
            }
        }
        if asked.is_empty() {
            return Ok(Next::Ask);
        }
        self.ask_user(&talk.conversation, asked)?;
        Ok(Next::Over)
    }

    /// Handles an answer without calls. An answer that does not fit its schema is returned to the model once, and a message that
    /// arrived meanwhile is answered, too.
    fn end(
        &self,
        talk: &mut Talk,
        answer: &ChatAnswer,
        ending: Ending,
    ) -> Result<Next, ExecutorError> {
        match ending {
            Ending::Refused(refusal) if talk.has_called => {
                self.events.fail(&format!("the model declines to go on: {refusal}"))?;
                return Ok(Next::Over);
            }
            Ending::Refused(refusal) => {
                self.events.reject(&refusal)?;
                return Ok(Next::Over);
            }
            Ending::Failed(reason) => {
                self.events.fail(&reason)?;
                return Ok(Next::Over);
            }
            Ending::Answered | Ending::Calls => {}
        }
        if let Some(schema) = &self.settings().output_schema {
            match output::parse(&answer.text, schema) {
                Ok(data) => self.give(talk.answered, data)?,
                Err(reason) if talk.is_repaired => {
                    let reason =
                        format!("the answer of the model does not fit `output_schema`: {reason}");
                    self.events.fail(&reason)?;
                    return Ok(Next::Over);
                }
                Err(reason) => {
                    if self.is_over(talk)? {
                        return Ok(Next::Over);
                    }
                    talk.is_repaired = true;
                    talk.conversation.push(answer.to_message());
                    talk.conversation.push(ChatMessage::user(output::repair(&reason)));
                    return Ok(Next::Ask);
                }
            }
        }
        let Some(message) = self.turn.run_task.take_message() else {
            self.events.complete(None)?;
            return Ok(Next::Over);
        };
        if self.is_over(talk)? {
            return Ok(Next::Over);
        }
        talk.conversation.push(answer.to_message());
        talk.conversation.push_client(&message, &self.settings().takes);
        talk.answered += 1;
        talk.is_repaired = false;
        Ok(Next::Ask)
    }

    /// Emits an answer that is data.
    fn give(&self, answered: u32, data: Value) -> Result<(), ExecutorError> {
        let part = shown(Part::data(data), self.turn);
        self.events.artifact(Artifact::new(artifact_id(answered), part))
    }

    /// True if a limit forbids another request to the model; the task is then set to failed.
    fn is_over(&self, talk: &Talk) -> Result<bool, ExecutorError> {
        let Some(reason) = talk.spent.over(&self.settings().limits) else { return Ok(false) };
        self.fail_over(&reason)?;
        Ok(true)
    }
}

impl Run<'_> {
    /// True if the caller has used up the daily limit for models; the task is then set to failed. Only the stored usage of this
    /// turn counts, so this is checked before a request whose answer is not stored yet.
    pub(in crate::executor::model) fn is_used_up(&self) -> Result<bool, ExecutorError> {
        let reason = match self.turn.used_up() {
            None => return Ok(false),
            Some(DayLimit::Tokens(_)) => "the caller has used up the tokens of the day",
            Some(DayLimit::CostMicros(_)) => "the caller has used up what it may cost in a day",
        };
        self.fail_over(reason)?;
        Ok(true)
    }

    /// Fails the task, because no further request to the model is allowed.
    fn fail_over(&self, reason: &str) -> Result<(), ExecutorError> {
        self.events.fail(&format!("the model has come to no answer: {reason}"))
    }
}

/// The id of the artifact that answers the client's message of this number in a turn.
fn artifact_id(number: u32) -> String {
    if number == 1 { ANSWER.to_owned() } else { format!("{ANSWER}-{number}") }
}
