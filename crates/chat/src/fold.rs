//! Builds an answer from its chunks. A whole answer is a single chunk.

use a2a::model::{MAX_FOREIGN_VALUES, measure, read_foreign_as};
use serde_json::Value;

use crate::message::string;
use crate::{ChatAnswer, Delta, End, ToolCall, Usage};

/// The parts of an answer that have arrived.
pub(crate) struct Fold {
    text: String,
    refusal: Option<String>,
    reasoning: String,
    calls: Vec<Partial>,
    end: Option<End>,
    usage: Option<Usage>,
    model: Option<String>,
    has_begun: bool,
    /// The number of bytes that the model may still send.
    left_bytes: usize,
    /// The number of JSON values that the extra members of calls may still contain.
    left_values: usize,
    known_ids: Vec<String>,
}

/// A call that is still incomplete.
#[derive(Default)]
struct Partial {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    extra: Option<Value>,
}

/// The exceeded limit of an answer.
#[derive(Debug)]
pub(crate) enum TooMuch {
    /// The limit for bytes.
    Bytes,
    /// The limit for JSON values.
    Values,
}

impl Fold {
    /// An answer of up to this number of bytes. Its calls get none of the known ids.
    pub(crate) fn new(max_bytes: usize, known_ids: Vec<String>) -> Self {
        Self {
            text: String::new(),
            refusal: None,
            reasoning: String::new(),
            calls: Vec::new(),
            end: None,
            usage: None,
            model: None,
            has_begun: false,
            left_bytes: max_bytes,
            left_values: MAX_FOREIGN_VALUES,
            known_ids,
        }
    }

    /// Whether a chunk of a model has arrived, even without content.
    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Whether the model has sent the reason for its end.
    pub(crate) fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// Adds a chunk, and returns the new pieces for a listener.
    ///
    /// # Errors
    ///
    /// If the answer exceeds a limit.
    pub(crate) fn add(&mut self, chunk: &Value) -> Result<Vec<Delta>, TooMuch> {
        let mut deltas = Vec::new();
        self.note_usage(chunk);
        self.note_usage(&chunk["x_groq"]);
        if self.model.is_none() {
            self.model = string(chunk, "model").filter(|model| !model.is_empty());
        }
        let choices = chunk.get("choices").and_then(Value::as_array);
        let is_first =
            |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
        if let Some(choice) = choices.and_then(|choices| choices.iter().find(is_first)) {
            self.has_begun = true;
            self.note_usage(choice);
            let delta = choice.get("delta").filter(|delta| delta.is_object());
            let said = delta.unwrap_or(&choice["message"]);
            self.add_text(text_of(&said["content"]), &mut deltas)?;
            self.add_refusal(text_of(&said["refusal"]), &mut deltas)?;
            if let Some(reasoning) = said.get("reasoning_content").and_then(Value::as_str) {
                self.count(reasoning.len())?;
                self.reasoning.push_str(reasoning);
            }
            self.add_calls(&said["tool_calls"], delta.is_none())?;
            self.note_end(&choice["finish_reason"]);
        } else if choices.is_none()
            && (chunk.get("response").is_some() || chunk.get("tool_calls").is_some())
        {
            // The members that only Workers AI has.
            self.has_begun = true;
            self.add_text(native_text(&chunk["response"]), &mut deltas)?;
            self.add_calls(&chunk["tool_calls"], false)?;
            self.note_end(&chunk["finish_reason"]);
        }
        Ok(deltas)
    }

    /// Finishes the answer.
    pub(crate) fn finish(self) -> ChatAnswer {
        let mut ids = self.known_ids;
        let mut calls = Vec::new();
        for partial in self.calls {
            if partial.name.is_empty() && partial.arguments.trim().is_empty() {
                continue;
            }
            let id = if partial.id.is_empty() || ids.contains(&partial.id) {
                made_up(&ids)
            } else {
                partial.id
            };
            ids.push(id.clone());
            let Partial { name, arguments, extra, .. } = partial;
            calls.push(ToolCall { id, name, arguments, extra });
        }
        let end = match self.end.unwrap_or(End::Unsaid) {
            // Some models report `stop` or nothing when they call tools.
            End::Stop | End::Unsaid if !calls.is_empty() => End::ToolCalls,
            end => end,
        };
        let is_wanted_back = !self.reasoning.is_empty() && !calls.is_empty();
        ChatAnswer {
            text: self.text,
            refusal: self.refusal,
            calls,
            end,
            usage: self.usage,
            model: self.model,
            reasoning: is_wanted_back.then_some(self.reasoning),
        }
    }

    fn add_text(&mut self, text: String, deltas: &mut Vec<Delta>) -> Result<(), TooMuch> {
        self.count(text.len())?;
        self.text.push_str(&text);
        deltas.extend((!text.is_empty()).then_some(Delta::Text(text)));
        Ok(())
    }

    fn add_refusal(&mut self, text: String, deltas: &mut Vec<Delta>) -> Result<(), TooMuch> {
        if text.is_empty() {
            return Ok(());
        }
        self.count(text.len())?;
        self.refusal.get_or_insert_default().push_str(&text);
        deltas.push(Delta::Refusal(text));
        Ok(())
    }

    fn add_calls(&mut self, calls: &Value, are_whole: bool) -> Result<(), TooMuch> {
        for call in calls.as_array().into_iter().flatten().filter(|call| call.is_object()) {
            self.add_call(call, are_whole)?;
        }
        Ok(())
    }

    /// Adds a piece of a call. Servers differ in which members they repeat and omit.
    fn add_call(&mut self, piece: &Value, is_whole: bool) -> Result<(), TooMuch> {
        let function = piece.get("function").filter(|function| function.is_object());
        let function = function.unwrap_or(piece);
        let text = |json: &Value, name: &str| string(json, name).unwrap_or_default();
        let (id, name) = (text(piece, "id"), text(function, "name"));
        let arguments = match &function["arguments"] {
            Value::String(arguments) => arguments.clone(),
            Value::Null => String::new(),
            other => other.to_string(),
        };
        self.count(id.len() + name.len() + arguments.len() + CALL_BYTES)?;
        let index = piece.get("index").and_then(Value::as_u64);
        let known = self.known(index, &id, &name).filter(|_| !is_whole);
        let at = known.unwrap_or(self.calls.len());
        if known.is_none() {
            self.calls.push(Partial { index, ..Partial::default() });
        }
        let Some(call) = self.calls.get_mut(at) else { return Ok(()) };
        if call.id.is_empty() {
            call.id = id;
        }
        if call.name != name {
            call.name.push_str(&name);
        }
        call.arguments.push_str(&arguments);
        if let Some(extra) = piece.get("extra_content").filter(|extra| !extra.is_null()) {
            call.extra = Some(extra.clone());
            let (bytes, values) = measure(extra);
            self.left_values = self.left_values.checked_sub(values).ok_or(TooMuch::Values)?;
            self.count(bytes)?;
        }
        Ok(())
    }

    /// The incomplete call to which a piece belongs; `None` if the piece begins a new call.
    fn known(&self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let at = match index {
            Some(_) => self.calls.iter().rposition(|call| call.index == index),
            None if !id.is_empty() && self.calls.iter().any(|call| call.id == id) => {
                self.calls.iter().rposition(|call| call.id == id)
            }
            None if !name.is_empty() => None,
            None => self.calls.len().checked_sub(1),
        };
        at.filter(|at| self.calls.get(*at).is_some_and(|call| !call.is_over(id, name)))
    }

    fn note_end(&mut self, reason: &Value) {
        if let Some(reason) = reason.as_str().filter(|reason| !reason.is_empty()) {
            self.end = Some(End::read(reason));
        }
    }

    /// The usage of the answer until now, if the provider has reported it.
    pub(crate) fn usage(&self) -> Option<Usage> {
        self.usage
    }

    /// Reads the usage that the provider reports. The last report counts.
    pub(crate) fn note_usage(&mut self, json: &Value) {
        self.usage = json.get("usage").and_then(Usage::read).or(self.usage);
    }

    fn count(&mut self, bytes: usize) -> Result<(), TooMuch> {
        self.left_bytes = self.left_bytes.checked_sub(bytes).ok_or(TooMuch::Bytes)?;
        Ok(())
    }
}

impl Partial {
    /// Whether a piece with this id and this name begins a new call although its index is the same: some servers send the
    /// same index for all calls. Other servers repeat the id and the name in every piece, or send a new id in each piece.
    fn is_over(&self, id: &str, name: &str) -> bool {
        match (self.id.is_empty() || id.is_empty(), name.is_empty()) {
            (_, true) => false,
            (false, false) => self.id != id,
            (true, false) => {
                let arguments = self.arguments.as_bytes();
                let is_whole = read_foreign_as::<serde::de::IgnoredAny>(arguments, usize::MAX);
                let is_whole = is_whole.is_ok();
                !self.arguments.is_empty() && (self.name != name || is_whole)
            }
        }
    }
}

/// An id that is different from these.
fn made_up(ids: &[String]) -> String {
    let mut number = ids.len() + 1;
    loop {
        let id = format!("call_{number}");
        if !ids.contains(&id) {
            return id;
        }
        number += 1;
    }
}

/// The text of a content: a text, or the texts of a list of parts.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part.get("text")?.as_str()).collect::<Vec<_>>().concat()
        }
        _ => String::new(),
    }
}

/// The text of a `response`; its JSON if the answer has a schema.
fn native_text(response: &Value) -> String {
    match response {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// The fixed number of bytes counted for each piece of a call, so that empty pieces also use up the limit.
const CALL_BYTES: usize = 16;
