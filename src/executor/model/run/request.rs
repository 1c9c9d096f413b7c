//! One request to a model: repeated after temporary errors. Its answer is stored as a step.

use futures_util::future::{Either, select};
use serde::Serialize;
use serde_json::{Value, json};

use super::super::budget::Budget;
use super::super::conversation::{Conversation, Entry, size_of};
use super::super::ending::{self, Ending};
use super::super::limits::usage_of;
use super::super::writer::Writer;
use super::Run;
use crate::executor::{ExecutorError, Redaction, StepStart};
use crate::port::{Work, WorkEnd};
use a2a::model::Json;
use a2a::model::decode::Decode;
use chat::{
    AnswerStream, ChatAnswer, ChatError, ChatErrorKind, ChatMessage, ChatRequest, Content, Delta,
    Endpoint, ToolSpec, Usage,
};

/// The content of a request, except the conversation.
pub(super) struct Asking {
    pub(super) endpoint: Endpoint,
    pub(super) model: String,
    pub(super) instructions: String,
    pub(super) tools: Vec<ToolSpec>,
    /// The id of the artifact that receives the answer.
    pub(super) artifact: String,
}

impl Asking {
    /// Appends a note to the instructions.
    pub(super) fn note(&mut self, note: &str) {
        if !self.instructions.is_empty() {
            self.instructions.push_str("\n\n");
        }
        self.instructions.push_str(note);
    }
}

/// An answer, as a step stores it.
pub(super) struct Answered {
    /// The answer. If it is read from storage and its text is in the artifact, a placeholder replaces the text.
    pub(super) answer: ChatAnswer,
    /// The usage of the request.
    pub(super) usage: Usage,
    /// The size of the request, in bytes of text.
    pub(super) request_bytes: usize,
    /// True if an earlier attempt has received this answer.
    pub(super) is_recalled: bool,
}

/// The end of a request.
enum Heard {
    Answer(Box<ChatAnswer>),
    Failed(ChatError),
    Canceled,
}

/// The end of a request to a model, for observations.
fn end_of(heard: &Result<Heard, ExecutorError>, request_bytes: usize) -> WorkEnd {
    match heard {
        Ok(Heard::Answer(answer)) => {
            let Usage { input, output, .. } = usage_of(answer, request_bytes);
            let used = crate::usage::Usage {
                requests: 1,
                input_tokens: input,
                output_tokens: output,
                cost_micros: 0,
            };
            WorkEnd { failure: None, usage: Some(used) }
        }
        Ok(Heard::Failed(error)) => WorkEnd { failure: Some(error.kind.name()), usage: None },
        Ok(Heard::Canceled) => WorkEnd { failure: Some("canceled"), usage: None },
        Err(_) => WorkEnd::of(true),
    }
}

/// A request whose answer is being received. If the answer fails, or the run is dropped, the usage that is known is recorded.
struct Pending<'a> {
    run: &'a Run<'a>,
    /// The stream of the answer, if the answer has begun.
    stream: Option<AnswerStream>,
    is_open: bool,
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if self.is_open {
            self.run.record_repeated(self.stream.as_ref().and_then(AnswerStream::usage));
        }
    }
}

impl Run<'_> {
    /// The next answer of the model to this conversation. `None` if the task has ended meanwhile.
    ///
    /// # Errors
    ///
    /// The reason why the run fails.
    pub(super) async fn ask(
        &self,
        asking: &Asking,
        conversation: &Conversation,
        budget: &mut Budget,
    ) -> Result<Option<Answered>, ExecutorError> {
        let known = self.traced.replace(conversation.entries.len());
        let nth = match self.turn.begin_step::<StoredAnswer>(STEP)? {
            StepStart::New(nth) => nth,
            StepStart::Done(kept) => {
                return kept.map(|kept| Some(kept.into())).map_err(ExecutorError);
            }
        };
        self.turn.run_task.note_input(STEP, nth, &|| {
            let is_first = known == 0 && self.turn.number == 1;
            given(is_first.then_some(asking), conversation.entries.get(known..).unwrap_or_default())
        });
        // The lost attempt has sent this request, or was about to send it: the request is counted once more.
        if !self.is_beyond.replace(true) && self.turn.resumes && self.turn.attempt > 1 {
            self.record_repeated(None);
        }
        if self.is_used_up()? {
            return Ok(None);
        }
        let interval_ms = self.settings().event_interval_ms;
        let mut writer = Writer::new(self.turn, self.events, &asking.artifact, interval_ms);
        let (mut tries, mut asked) = (0, 0);
        let mut may_be_empty = false;
        let mut is_halved = false;
        loop {
            let (request, request_bytes) = self.request(asking, conversation, budget);
            writer.begin();
            // The name of the model may come from a value that is to be kept from clients.
            let model = &self.turn.redaction.text(&asking.model);
            let work = Work::Model { provider: self.provider(), model };
            asked += 1;
            let timed = self.turn.begin_timed("chat", &nth.to_string(), asked);
            let heard = Box::pin(self.hear(asking, &request, &mut writer));
            let heard = self.turn.within(timed.as_ref(), heard).await;
            self.turn.end_timed(timed, work, end_of(&heard, request_bytes));
            let error = match heard? {
                Heard::Canceled => return Ok(None),
                Heard::Answer(answer) => {
                    let usage = usage_of(&answer, request_bytes);
                    if ending::may_be_repeated(&answer) && !may_be_empty {
                        may_be_empty = true;
                        self.record_repeated(Some(usage));
                        continue;
                    }
                    self.record(usage);
                    let answered =
                        Answered { answer: *answer, usage, request_bytes, is_recalled: false };
                    self.keep(nth, &answered, &mut writer)?;
                    return Ok(Some(answered));
                }
                Heard::Failed(error) => error,
            };
            if error.kind == ChatErrorKind::ContextTooLong && !is_halved {
                is_halved = true;
                budget.halve(request_bytes);
                // If nothing could be removed, the same request would be too long again.
                if self.request(asking, conversation, budget).1 < request_bytes {
                    continue;
                }
            }
            tries += 1;
            if !self.waits_after(&error, tries).await? {
                return Ok(None);
            }
        }
    }

    fn request(
        &self,
        asking: &Asking,
        conversation: &Conversation,
        budget: &Budget,
    ) -> (ChatRequest, usize) {
        let tools = asking.tools.iter().map(|tool| {
            tool.name.len() + tool.description.len() + Json::from(&tool.parameters).as_str().len()
        });
        let schema = self.settings().output_schema.as_ref();
        let schema_bytes = schema.map_or(0, |schema| Json::from(schema).as_str().len());
        let others = tools.sum::<usize>() + schema_bytes;
        let messages = budget.fit(&asking.instructions, conversation, others);
        let size = others + messages.iter().map(size_of).sum::<usize>();
        let request = ChatRequest {
            tools: asking.tools.clone(),
            output_schema: schema.cloned(),
            parameters: self.settings().parameters.clone(),
            ..ChatRequest::new(asking.model.clone(), messages)
        };
        (request, size)
    }

    /// Sends a request, and emits the text of the answer while it arrives. A cancel drops the request.
    async fn hear(
        &self,
        asking: &Asking,
        request: &ChatRequest,
        writer: &mut Writer<'_>,
    ) -> Result<Heard, ExecutorError> {
        let heard = {
            let answer = Box::pin(self.listen(asking, request, writer));
            match select(answer, Box::pin(self.turn.canceled())).await {
                Either::Left((heard, _)) => heard,
                Either::Right(_) => return Ok(Heard::Canceled),
            }
        };
        match heard {
            // A task that was canceled refuses further events.
            Err(_) if self.turn.is_canceled() => Ok(Heard::Canceled),
            heard => heard,
        }
    }

    async fn listen(
        &self,
        asking: &Asking,
        request: &ChatRequest,
        writer: &mut Writer<'_>,
    ) -> Result<Heard, ExecutorError> {
        let mut pending = Pending { run: self, stream: None, is_open: true };
        let stream = match chat::open(self.http(), &asking.endpoint, request).await {
            Ok(stream) => pending.stream.insert(stream),
            Err(error) => {
                // There is no answer, or only an error answer.
                pending.is_open = false;
                return Ok(Heard::Failed(error));
            }
        };
        // An answer that must fit a schema is not shown before it is checked as a whole.
        let shows = self.settings().output_schema.is_none();
        loop {
            match self.next(stream, writer).await? {
                Ok(Some(Delta::Text(text))) if shows => writer.take(&text)?,
                Ok(Some(Delta::Text(_) | Delta::Refusal(_))) => {}
                Ok(None) => break,
                Err(error) => {
                    let broke_off =
                        matches!(error.kind, ChatErrorKind::CutOff | ChatErrorKind::Silent);
                    pending.is_open = broke_off || stream.has_begun() || stream.usage().is_some();
                    return Ok(Heard::Failed(error));
                }
            }
        }
        pending.is_open = false;
        Ok(match pending.stream.take().map(AnswerStream::into_answer) {
            Some(Ok(answer)) => Heard::Answer(Box::new(answer)),
            Some(Err(error)) => Heard::Failed(error),
            None => Heard::Canceled,
        })
    }

    /// The next piece of an answer. While waiting for it, held text is emitted when it is due.
    async fn next(
        &self,
        stream: &mut AnswerStream,
        writer: &mut Writer<'_>,
    ) -> Result<Result<Option<Delta>, ChatError>, ExecutorError> {
        let mut next = stream.next();
        while let Some(wait_ms) = writer.due_ms() {
            match select(next, self.turn.run_outside.sleep(wait_ms)).await {
                Either::Left((piece, _)) => return Ok(piece),
                Either::Right(((), goes_on)) => {
                    writer.say(false)?;
                    next = goes_on;
                }
            }
        }
        Ok(next.await)
    }

    /// Emits the end of an answer's text, and stores the answer as the result of the step. The event and the result are in
    /// one row of the log.
    fn keep(
        &self,
        nth: u32,
        answered: &Answered,
        writer: &mut Writer<'_>,
    ) -> Result<(), ExecutorError> {
        let text = &answered.answer.text;
        let stays = ending::ending(&answered.answer) != Ending::Calls;
        writer.end(stays)?;
        if !stays && !text.trim().is_empty() {
            self.events.working(Some(text))?;
        }
        let is_shown = stays && self.settings().output_schema.is_none();
        let kept = StoredAnswer::of(answered, is_shown, &self.turn.redaction);
        self.turn.end_step(STEP, nth, Ok(&kept))
    }

    /// After a failed request: waits until the request may be repeated. Returns true if the request may be repeated now; if
    /// not, the task has ended.
    async fn waits_after(&self, error: &ChatError, tries: u32) -> Result<bool, ExecutorError> {
        let give_up = |reason: String| {
            self.events.fail(&format!("the model gave no answer: {reason}")).map(|()| false)
        };
        if !error.is_retryable() {
            return give_up(format!("{error}{}", remedy(error.kind)));
        }
        if tries >= MAX_TRIES {
            return give_up(format!("{error}; it was asked {tries} times"));
        }
        let backoff_ms = FIRST_PAUSE_MS << (tries - 1);
        let chance = self.turn.run_outside.random().chance();
        let wait_ms = error.retry_after_ms.unwrap_or(backoff_ms).max(backoff_ms / 2);
        let wait_ms = wait_ms.saturating_add(spread(backoff_ms, chance));
        if wait_ms.saturating_add(CLOSING_MS) >= self.turn.time_left_ms() {
            let seconds = wait_ms.div_ceil(1_000);
            return give_up(format!(
                "{error}; it may be asked again in {seconds} s, which is longer than the task may take"
            ));
        }
        let seconds = wait_ms.div_ceil(1_000);
        self.events.working(Some(&format!("{error}; it is asked again in {seconds} s")))?;
        self.turn.sleep(wait_ms).await;
        Ok(!self.turn.is_canceled())
    }
}

/// An answer and the usage of its request, in the form in which a step stores them.
#[derive(Serialize, Decode)]
#[serde(rename_all = "camelCase")]
struct StoredAnswer {
    #[serde(flatten)]
    answer: ChatAnswer,
    took: Usage,
    request_bytes: usize,
    /// True if the artifact contains the text; the chunk is in the same row as this step.
    #[serde(default)]
    is_shown: bool,
}

impl StoredAnswer {
    fn of(answered: &Answered, is_shown: bool, redaction: &Redaction) -> Self {
        let Answered { answer, usage, request_bytes, is_recalled: _ } = answered;
        let text = if is_shown { "".into() } else { redaction.text(&answer.text) };
        Self {
            answer: ChatAnswer { text: text.into_owned(), ..answer.clone() },
            took: *usage,
            request_bytes: *request_bytes,
            is_shown: is_shown && !answer.text.is_empty(),
        }
    }
}

impl From<StoredAnswer> for Answered {
    fn from(stored: StoredAnswer) -> Self {
        let StoredAnswer { mut answer, took, request_bytes, is_shown } = stored;
        // The meaning of an answer depends on whether it has a text, so a placeholder is needed.
        if is_shown {
            answer.text = SHOWN.to_owned();
        }
        Self { answer, usage: took, request_bytes, is_recalled: true }
    }
}

/// What a request has that the request before it had not, for traces. `asking` is present for the first request of a task. What other
/// entries of the log have is named: messages of the client, and results of calls.
fn given(asking: Option<&Asking>, new: &[Entry]) -> Value {
    let entries = new.iter().filter_map(|Entry { message, client }| {
        Some(match (message, client) {
            (_, Some(client)) => json!({"client": client}),
            (ChatMessage::Tool { call_id, .. }, _) => json!({"result": call_id}),
            (ChatMessage::User(contents), _) => {
                json!({"user": contents.iter().map(words).collect::<Value>()})
            }
            (ChatMessage::System(text), _) => json!({"system": text}),
            // An answer with calls is the outcome of the request before.
            (ChatMessage::Assistant { calls, .. }, _) if !calls.is_empty() => return None,
            (ChatMessage::Assistant { text, .. }, _) => json!({"assistant": text}),
        })
    });
    let new: Value = entries.collect();
    match asking {
        None => json!({"new": new}),
        Some(Asking { model, instructions, tools, .. }) => {
            let tools: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
            json!({"model": model, "instructions": instructions, "tools": tools, "new": new})
        }
    }
}

/// The text of a content. Of images and files, that they are there.
fn words(content: &Content) -> &str {
    match content {
        Content::Text(text) => text,
        Content::Image { .. } => "(an image)",
        Content::File { .. } => "(a file)",
    }
}

/// A hint for the author of the agent, by the kind of the error.
fn remedy(kind: ChatErrorKind) -> &'static str {
    match kind {
        ChatErrorKind::Unauthorized => "; check `api_key` of the agent, and what it may use",
        ChatErrorKind::NotFound | ChatErrorKind::Malformed => {
            "; check `base_url` and `model` of the agent: requests go to `base_url` with /chat/completions behind it"
        }
        ChatErrorKind::ContextTooLong => "; lower `context_tokens` of the agent, or send less",
        _ => "",
    }
}

/// A random addition of up to a quarter of a pause.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a part of a small positive number"
)]
fn spread(pause_ms: u64, chance: f64) -> u64 {
    (pause_ms as f64 * chance / 4.0) as u64
}

/// The placeholder for a text that is in the artifact.
const SHOWN: &str = "…";

/// The name of the step that stores an answer.
const STEP: &str = "model";

/// The largest number of attempts of a request, if each fails with a temporary error.
const MAX_TRIES: u32 = 4;

/// The pause before a request is repeated, in milliseconds. The pause doubles each time.
const FIRST_PAUSE_MS: u64 = 1_000;

/// The time that is reserved at the end of a run, in milliseconds.
const CLOSING_MS: u64 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;
    use a2a::model::decode::read_json;

    #[test]
    fn an_answer_has_the_form_that_0_3_0_has_stored() {
        let usage = r#"{"input":7,"output":2,"cached":0,"reasoning":0}"#;
        let stored = format!(
            r#"{{"text":"","refusal":null,"calls":[{{"id":"c","name":"x","arguments":"{{}}","extra":null}}],"end":"stop","usage":{usage},"model":"m","reasoning":null,"took":{usage},"requestBytes":90,"isShown":true}}"#
        );
        let kept: StoredAnswer = read_json(&stored).unwrap();
        assert_eq!(serde_json::to_value(&kept).unwrap().to_string(), stored);
        let answered = Answered::from(kept);
        assert_eq!((answered.answer.text.as_str(), answered.request_bytes), (SHOWN, 90));
        let answered =
            Answered { answer: ChatAnswer { text: "rain".into(), ..answered.answer }, ..answered };
        let again = StoredAnswer::of(&answered, true, &Redaction::default());
        assert_eq!(serde_json::to_value(&again).unwrap().to_string(), stored);
        let shown = StoredAnswer::of(&answered, false, &Redaction::default());
        assert_eq!((shown.answer.text.as_str(), shown.is_shown), ("rain", false));
    }
}
