//! Makes the calls of one answer, at the same time. The result of each call is stored as a step.

use futures_util::StreamExt;
use futures_util::future::LocalBoxFuture;
use futures_util::stream;
use serde::Serialize;
use serde_json::{Map, Value};

use super::super::callable::{ModelCall, Question, Said};
use super::super::conversation::Conversation;
use super::super::toolbox::Toolbox;
use super::Run;
use crate::executor::call::desk::{Desk, Taken, take_again};
use crate::executor::{ExecutorError, StepStart};
use a2a::model::decode::Decode;
use a2a::model::{MAX_FOREIGN_VALUES, MAX_JSON_DEPTH, UnfitJson, read_foreign};
use chat::ToolCall;

/// A call that the model makes, or an earlier call that continues.
pub(super) struct Wanted<'a> {
    pub(super) call: &'a ToolCall,
    /// The data that the call has stored, if it asked the user in an earlier turn.
    pub(super) kept: Option<&'a Value>,
}

impl Run<'_> {
    /// Makes those calls of a round that are not done, and returns the results of all, in order. The last message of the
    /// conversation is the answer with these calls.
    ///
    /// # Errors
    ///
    /// The reason why the run fails.
    pub(super) async fn make_calls(
        &self,
        toolbox: &Toolbox,
        conversation: &Conversation,
        round: u64,
        wanted: &[Wanted<'_>],
        is_doubtful: bool,
    ) -> Result<Vec<Said>, ExecutorError> {
        let desk = Desk::new(self.turn, self.events, |_, _| self.keep_open(conversation, round));
        let desk = &desk;
        let mut said: Vec<Option<Said>> = Vec::new();
        let mut open = Vec::new();
        for (index, wanted) in wanted.iter().enumerate() {
            let key = format!("{round}.{}", index + 1);
            match self.turn.begin_step::<StoredCall>(&key)? {
                StepStart::Done(kept) => {
                    said.push(Some(match kept {
                        Ok(kept) => {
                            take_again(self.turn, kept.taken);
                            kept.said()?
                        }
                        // The result could not be stored.
                        Err(reason) => Said::error(reason),
                    }));
                }
                StepStart::New(nth) => {
                    self.is_beyond.set(true);
                    said.push(None);
                    let too_many = index >= MAX_CALLS;
                    open.push(self.make_call(
                        toolbox,
                        desk,
                        wanted,
                        index,
                        key,
                        nth,
                        is_doubtful,
                        too_many,
                    ));
                }
            }
        }
        let parallel = usize::try_from(self.settings().limits.parallel).unwrap_or(1).max(1);
        let mut open = stream::iter(open).buffer_unordered(parallel);
        let mut failed = None;
        while let Some(made) = open.next().await {
            match made {
                Ok((index, what)) => {
                    if let Some(place) = said.get_mut(index) {
                        *place = Some(what);
                    }
                }
                // Other calls may still have to cancel their work at other servers, so they are not dropped.
                Err(error) if self.turn.is_canceled() => failed = Some(error),
                Err(error) => return Err(error),
            }
        }
        match failed {
            Some(error) => Err(error),
            None => Ok(said.into_iter().flatten().collect()),
        }
    }

    /// True if one of these calls certainly asks the user.
    pub(super) fn asks_user(toolbox: &Toolbox, calls: &[ToolCall]) -> bool {
        calls.iter().take(MAX_CALLS).any(|call| {
            let callable = toolbox.find(&call.name);
            let arguments = arguments_of(&call.arguments).ok();
            callable.zip(arguments).is_some_and(|(callable, arguments)| callable.asks(&arguments))
        })
    }

    #[expect(clippy::too_many_arguments, reason = "what one call is made of")]
    fn make_call<'r>(
        &'r self,
        toolbox: &'r Toolbox,
        desk: &'r Desk<'_>,
        wanted: &'r Wanted<'_>,
        index: usize,
        key: String,
        nth: u32,
        is_doubtful: bool,
        too_many: bool,
    ) -> LocalBoxFuture<'r, Result<(usize, Said), ExecutorError>> {
        Box::pin(async move {
            let step = key.clone();
            let given = &wanted.call.arguments;
            self.turn.run_task.note_input(&step, nth, &|| {
                read_foreign(given.as_bytes(), MAX_FOREIGN_VALUES).unwrap_or(given.as_str().into())
            });
            let said = if too_many {
                Said::error(format!("at most {MAX_CALLS} calls may be made at once"))
            } else {
                self.say(toolbox, desk, wanted, key, is_doubtful).await?
            };
            let kept = StoredCall::of(&said, &wanted.call.name, desk.taken(&step));
            match said {
                Said::Failed(_) => self.turn.end_failed_step(&step, nth, &kept)?,
                Said::Result(_) | Said::Asks(_) => self.turn.end_step(&step, nth, Ok(&kept))?,
            }
            Ok((index, said))
        })
    }

    /// The result of a call. A mistake of the model is a result, too.
    async fn say(
        &self,
        toolbox: &Toolbox,
        desk: &Desk<'_>,
        wanted: &Wanted<'_>,
        key: String,
        is_doubtful: bool,
    ) -> Result<Said, ExecutorError> {
        let ToolCall { name, arguments, .. } = wanted.call;
        let Some(callable) = toolbox.find(name) else {
            let names = toolbox.names();
            return Ok(Said::error(format!("there is no tool {name:?}; there are: {names}")));
        };
        let arguments = match arguments_of(arguments) {
            Ok(arguments) => arguments,
            Err(reason) => return Ok(Said::error(reason)),
        };
        let (turn, events) = (self.turn, self.events);
        let call = ModelCall { turn, events, key, arguments, is_doubtful, desk };
        match wanted.kept {
            Some(kept) => callable.answered(&call, kept).await,
            None => callable.call(&call).await,
        }
    }
}

/// Parses the arguments that a model has written.
///
/// # Errors
///
/// The mistake in the arguments, as text for the model.
fn arguments_of(written: &str) -> Result<Map<String, Value>, String> {
    if written.trim().is_empty() {
        return Ok(Map::new());
    }
    match read_foreign(written.as_bytes(), MAX_FOREIGN_VALUES) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(Value::Null) => Ok(Map::new()),
        Ok(_) => Err("the arguments must be a JSON object".to_owned()),
        Err(UnfitJson::NotJson { reason, .. }) => {
            Err(format!("the arguments are not JSON: {reason}; write one JSON object"))
        }
        Err(UnfitJson::TooManyValues { max_values, .. }) => {
            Err(format!("the arguments hold more than {max_values} JSON values"))
        }
        Err(UnfitJson::TooDeep) => {
            Err(format!("the arguments are nested more than {MAX_JSON_DEPTH} levels deep"))
        }
    }
}

/// The result of a call, as its step stores it. The name of the tool is stored for people who read the task.
#[derive(Serialize, Decode)]
pub(super) struct StoredCall {
    #[serde(default)]
    tool: String,
    /// The text for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) result: Option<String>,
    /// The question, if there is no text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    asks: Option<Box<Question>>,
    #[serde(flatten)]
    taken: Taken,
}

impl StoredCall {
    fn of(said: &Said, tool: &str, taken: Taken) -> Self {
        let (result, asks) = match said {
            Said::Result(text) | Said::Failed(text) => (Some(text.clone()), None),
            Said::Asks(question) => (None, Some(question.clone())),
        };
        Self { tool: tool.to_owned(), result, asks, taken }
    }

    /// The stored result. A stored failure is a result, too: the model received the same text.
    fn said(self) -> Result<Said, ExecutorError> {
        let result = self.result.map(Said::Result);
        let said = result.or_else(|| self.asks.map(Said::Asks));
        said.ok_or_else(|| ExecutorError("the stored result of a call cannot be read".to_owned()))
    }
}

/// The largest number of calls that are made for one answer.
const MAX_CALLS: usize = 64;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use a2a::model::decode::read_json;
    use a2a::model::{Part, TaskState};

    #[test]
    fn what_a_call_said_has_the_form_that_0_3_0_has_stored() {
        let question = Question {
            state: TaskState::AuthRequired,
            parts: vec![Part::text("who?"), Part::data(json!({"a": 1}))],
            kept: json!({"task": "t"}),
        };
        let (result, asks) = (Said::Result("21".to_owned()), Said::Asks(Box::new(question)));
        let asked = r#"{"tool":"x","asks":{"needsAuth":true,"parts":[{"text":"who?"},{"data":{"a":1}}],"kept":{"task":"t"}}}"#;
        for (said, stored) in [
            (&result, r#"{"tool":"x","result":"21"}"#),
            (&Said::error("no"), r#"{"tool":"x","result":"error: no"}"#),
            (&asks, asked),
        ] {
            let call = StoredCall::of(said, "x", Taken::default());
            assert_eq!(serde_json::to_value(&call).unwrap().to_string(), stored);
            let read: StoredCall = read_json(stored).unwrap();
            let read = read.said().unwrap();
            let is_failure = *said == Said::error("no");
            assert!(read == *said || is_failure && read == Said::Result("error: no".to_owned()));
        }
        let stored = r#"{"tool":"x","result":"21","took":2}"#;
        let call: StoredCall = read_json(stored).unwrap();
        assert_eq!(serde_json::to_value(&call).unwrap().to_string(), stored);
        assert!(read_json::<StoredCall>("5").is_err());
        assert!(read_json::<StoredCall>("{}").unwrap().said().is_err());
    }

    #[test]
    fn arguments_are_a_json_object_or_nothing() {
        assert_eq!(arguments_of(" "), Ok(Map::new()));
        assert_eq!(arguments_of("null"), Ok(Map::new()));
        assert_eq!(arguments_of(r#"{"a": 1}"#).unwrap()["a"], 1);
        assert_eq!(arguments_of("[1]").unwrap_err(), "the arguments must be a JSON object");
        assert!(arguments_of(r#"{"a": "#).unwrap_err().starts_with("the arguments are not JSON: "));
    }
}
