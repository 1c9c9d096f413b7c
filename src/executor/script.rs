//! The executor `script`: answers by fixed rules. See [`a2a_agents::script`] for the rules.

use std::rc::Rc;

use async_trait::async_trait;

use serde_json::json;

use super::{
    AgentExecutor, CallbackTerms, Called, Events, ExecutorError, LONGEST_WAIT_MS, Retry, Script,
    Turn, Wait, Woken, double,
};
use crate::port::HttpRequest;
use crate::task::Recovery;
use a2a::model::{Artifact, Message, Part, PartContent, Role};
use a2a_agents::script::{
    Action, ArtifactAction, ArtifactContent, MAX_REPEAT, MAX_WAIT_MS, StepsAction, Values, rule_for,
};
use a2a_agents::tool::Tool;
use a2a_agents::{CheckedAgent, Misfit, ScriptTable};

/// Plays the first rule that matches the message.
pub(super) struct ScriptExecutor {
    table: ScriptTable,
}

/// Makes the executor of an agent of kind `script`.
pub(super) fn make(
    agent: &CheckedAgent,
    _: &[Rc<dyn Tool>],
) -> Result<Rc<dyn AgentExecutor>, Misfit> {
    Ok(Rc::new(ScriptExecutor { table: ScriptTable::of(&agent.executor.table)? }))
}

#[async_trait(?Send)]
impl AgentExecutor for ScriptExecutor {
    async fn execute(&self, turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
        let mut messages: Vec<Message> = turn.history();
        messages.retain(|message| message.role == Role::User);
        // A run that is repeated must not read messages that arrived later.
        messages.truncate(turn.number);
        let set = double::script_of(&turn.agent);
        let rules = set.as_deref().map_or(self.table.rules.as_slice(), Script::rules);
        let Some((rule, values)) =
            rule_for(rules, &messages, &|permission| turn.caller.may(permission))
        else {
            return events.reject("no rule of this agent fits the message");
        };
        for (index, action) in rule.then.iter().enumerate() {
            if turn.is_canceled() {
                return Ok(());
            }
            play(action, index, &values, turn, events).await?;
        }
        Ok(())
    }

    fn recovery(&self) -> Recovery {
        Recovery::Resume
    }

    fn parks(&self) -> bool {
        self.table.parks()
    }
}

async fn play(
    action: &Action,
    index: usize,
    values: &Values,
    turn: &Turn,
    events: &Events,
) -> Result<(), ExecutorError> {
    let filled = |text: &Option<String>| text.as_ref().map(|text| values.fill(text));
    match action {
        Action::Working(text) => events.working(filled(text).as_deref()),
        Action::Artifact(artifact) => produce(artifact, index, values, turn, events).await,
        Action::Wait(ms) => {
            let Some(millis) = values.number(ms, MAX_WAIT_MS) else {
                return events.fail("the time to wait is not a number of milliseconds");
            };
            match millis {
                ..DURABLE_WAIT_MS => turn.sleep(millis).await,
                _ => turn.pause("wait", millis).await?,
            }
            Ok(())
        }
        Action::Park { span, until_message } => {
            let Some(millis) = span.millis(values) else {
                return events.fail("the time to wait is no number");
            };
            let wait = Wait::for_millis(millis);
            let wait = if *until_message { wait.or_message() } else { wait };
            if turn.wait_until(wait).await? == Woken::Message {
                turn.next_message().await;
            }
            Ok(())
        }
        Action::Callback { id, count, span } => {
            let id = id.as_deref().unwrap_or("callback");
            let Some(millis) = span.millis(values) else {
                return events.fail("the time to wait is no number");
            };
            wait_for_calls(id, *count, millis, turn, events).await
        }
        Action::Polls(count) => {
            turn.polled(u64::from(*count)).await;
            Ok(())
        }
        Action::Complete(text) => events.complete(filled(text).as_deref()),
        Action::Fail(text) => events.fail(&values.fill(text)),
        Action::Reject(text) => events.reject(&values.fill(text)),
        Action::InputRequired(text) => events.require_input(&values.fill(text)),
        Action::AuthRequired(text) => events.require_auth(&values.fill(text)),
        Action::Message(text) => events.reply(vec![Part::text(values.fill(text))]),
        Action::Panic => panic_as_told(),
        Action::Steps(steps) => work_in_steps(steps, values, turn, events).await,
    }
}

async fn wait_for_calls(
    id: &str,
    count: u32,
    millis: u64,
    turn: &Turn,
    events: &Events,
) -> Result<(), ExecutorError> {
    let callback =
        turn.callback_with(id, CallbackTerms::times(count).for_millis(LONGEST_WAIT_MS))?;
    events.artifact(Artifact::new(id, Part::data(json!({"url": callback.url()}))))?;
    for number in 1..=count {
        let called = turn.wait_callback(&callback, Wait::for_millis(millis)).await?;
        let Called::Body(body) = called else {
            return events.fail("nobody has posted to the callback in time");
        };
        let id = match number {
            1 => format!("{id}-body"),
            _ => format!("{id}-body-{number}"),
        };
        events.artifact(Artifact::new(id, body))?;
    }
    Ok(())
}

async fn work_in_steps(
    action: &StepsAction,
    values: &Values,
    turn: &Turn,
    events: &Events,
) -> Result<(), ExecutorError> {
    let amount = |amount| values.number(amount, MAX_REPEAT);
    let (Some(count), Some(delay_ms)) =
        (amount(&action.count), values.number(&action.delay_ms, MAX_WAIT_MS))
    else {
        return events.fail("the number of steps, or the pause after each, is no number");
    };
    let panic_at = action.panic_at.as_ref().and_then(amount);
    let retry = Retry { attempts: action.attempts, delay_ms: 50, max_delay_ms: 1_000 };
    let url = values.fill(&action.url);
    for number in 1..=count {
        events.working(Some(&format!("step {number} of {count}")))?;
        if panic_at == Some(number) && turn.attempt == 1 {
            panic_as_told();
        }
        let answer = turn.step_with("step", retry, async || {
            let body = json!({"task": turn.task_id, "step": number, "attempt": turn.attempt});
            let request = HttpRequest::new("POST", format!("{url}/{number}"));
            let answer = turn.fetch(request.with_body(body.to_string())).await?;
            if answer.is_success() {
                Ok(answer.body)
            } else {
                Err(ExecutorError(format!("step {number}: status {}", answer.status)))
            }
        });
        let piece = Part::text(format!("{number} {}\n", answer.await?));
        let piece = Artifact::new("steps", piece);
        match number {
            1 => events.begin(piece)?,
            _ => events.append(piece, number == count)?,
        }
        if delay_ms > 0 {
            turn.sleep(delay_ms).await;
        }
    }
    Ok(())
}

async fn produce(
    action: &ArtifactAction,
    index: usize,
    values: &Values,
    turn: &Turn,
    events: &Events,
) -> Result<(), ExecutorError> {
    let artifact = |content: PartContent| {
        let part = Part {
            content,
            metadata: None,
            filename: action.filename.clone(),
            media_type: action.media_type.clone(),
        };
        let id = action.id.clone().unwrap_or_else(|| format!("artifact-{}", index + 1));
        Artifact { name: action.name.clone(), ..Artifact::new(id, part) }
    };
    let content = match &action.content {
        ArtifactContent::Text(text) => PartContent::Text(values.fill(text).into()),
        ArtifactContent::Data(data) => PartContent::Data((&values.fill_json(data)).into()),
        ArtifactContent::Raw(raw) => PartContent::Raw(raw.clone()),
        ArtifactContent::Url(url) => PartContent::Url(values.fill(url).into()),
        ArtifactContent::Chunks { pieces, repeat, delay_ms } => {
            let repeat = values.number(repeat, MAX_REPEAT);
            let delay_ms = values.number(delay_ms, MAX_WAIT_MS);
            let (Some(repeat), Some(delay_ms)) = (repeat, delay_ms) else {
                return events
                    .fail("how often or how slowly to go through the pieces is no number");
            };
            let count = pieces.len().saturating_mul(usize::try_from(repeat).unwrap_or(usize::MAX));
            for (at, piece) in pieces.iter().cycle().take(count).enumerate() {
                let chunk = artifact(PartContent::Text(values.fill(piece).into()));
                let is_last = at + 1 == count;
                match at {
                    0 if is_last => events.artifact(chunk)?,
                    0 => events.begin(chunk)?,
                    _ => events.append(chunk, is_last)?,
                }
                if !is_last && delay_ms > 0 {
                    turn.sleep(delay_ms).await;
                }
            }
            return Ok(());
        }
    };
    events.artifact(artifact(content))
}

/// The shortest wait that is continued after an interruption, in milliseconds. Such a wait costs a row; a resumed run
/// repeats a shorter wait as a whole.
const DURABLE_WAIT_MS: u64 = 1_000;

#[expect(clippy::panic, reason = "a script that says panic wants just that")]
fn panic_as_told() -> ! {
    panic!("the script told the agent to panic");
}
