//! A delegation: a call of the model that becomes a task of another agent.

use std::cell::RefMut;
use std::rc::Rc;

use futures_util::future::{Either, select};
use serde_json::Value;

use super::super::super::calling::{CANCEL_MS, CLOSING_MS};
use super::super::super::remote::link::Link;
use super::super::super::remote::messages::context_at;
use super::super::super::remote::send::{Begun, Kept, Opened, Sending, kept};
use super::super::super::{ExecutorError, Turn};
use super::super::callable::{Callable, ModelCall, Said, Saying};
use super::super::result::cut;
use super::ledger::{Ledger, step_name};
use super::outcome::{Told, refused, told};
use super::{Member, Shared};
use crate::port::{Work, WorkEnd};
use a2a::client::{CallOptions, Client, DelegationArguments, Observe, Observed, create_message};
use a2a::model::{
    Artifact, Message, Part, SendMessageConfiguration, SendMessageRequest, Task, TaskId, TaskState,
    TaskStatus, UnixMillis,
};
use chat::ToolSpec;

/// The tool that delegates tasks to one agent.
pub(in crate::executor::model) struct Delegation {
    member: Member,
    shared: Rc<Shared>,
}

impl Delegation {
    pub(super) fn new(member: Member, shared: Rc<Shared>) -> Self {
        Self { member, shared }
    }

    async fn delegate(&self, call: &ModelCall<'_>) -> Result<Said, ExecutorError> {
        let DelegationArguments { prompt, task_id } =
            match DelegationArguments::read(&Value::Object(call.arguments.clone())) {
                Ok(arguments) => arguments,
                Err(reason) => return Ok(refused(reason)),
            };
        let known = match &task_id {
            Some(task) => match self.task_of(call.turn, task)? {
                Ok(link) => Some(link),
                Err(reason) => return Ok(refused(reason)),
            },
            None => None,
        };
        let is_answer = known.is_some();
        let deadline = self.deadline(call.turn);
        let begun = match self.begin(call, prompt, known, deadline).await? {
            Ok(begun) => begun,
            Err(reason) => return Ok(refused(reason)),
        };
        match begun {
            Begun::Answered(message) => self.tell(call, Observed::answered(&message)),
            Begun::Failed(reason) => Ok(refused(reason)),
            Begun::TimedOut(total_ms) => self.tell(call, Observed::timed_out(total_ms, None)),
            Begun::Over => Err(canceled()),
            Begun::Linked(link, client, opened) => {
                self.shared.ledger(call.turn)?.add(&self.member.agent, (*link).clone());
                let observe = observe(call.turn, deadline);
                let observing = Box::pin(observed(&client, &link, opened, is_answer, observe));
                let Either::Left((observed, _)) =
                    select(observing, Box::pin(call.turn.canceled())).await
                else {
                    // The run cancels the tasks of its open delegations.
                    return Err(canceled());
                };
                self.tell(call, observed)
            }
        }
    }

    /// Begins or continues a task, unless an earlier attempt has already done this. `Err` inside of `Ok` is the reason why the
    /// task cannot be begun, for the model.
    async fn begin(
        &self,
        call: &ModelCall<'_>,
        prompt: String,
        known: Option<Link>,
        deadline: UnixMillis,
    ) -> Result<Result<Begun, String>, ExecutorError> {
        let (turn, agent) = (call.turn, self.member.agent.as_str());
        let step = step_name(&call.key, agent);
        let nth = match kept(turn, &step)? {
            Kept::Nothing(nth) => nth,
            Kept::Failed(reason) => return Ok(Err(reason)),
            Kept::Link(link) => {
                let client = link.reach(self.member.client.clone());
                return Ok(Ok(Begun::Linked(link, client, None)));
            }
        };
        if known.is_none() && !self.shared.may_begin(turn)? {
            let limit = self.shared.limit;
            return Ok(Err(format!(
                "no more than {limit} tasks may be given to agents in a turn; answer with what there is"
            )));
        }
        let client = self.member.client.clone();
        let client =
            known.as_ref().map_or_else(|| client.clone(), |link| link.reach(client.clone()));
        let sending = sending(turn, agent, &call.key, &step, known, call.is_doubtful);
        let sending = Sending { deadline, ..sending };
        let request = request(&sending, &client, prompt);
        sending.begin(nth, client, Box::pin(async { Ok(request) })).await.map(Ok)
    }

    /// The latest end of the call: limited by the total timeout of the agent's calls, and early enough that the model can
    /// still write its answer.
    fn deadline(&self, turn: &Turn) -> UnixMillis {
        let left_ms = turn.time_left_ms();
        let answer_ms = (left_ms / 10).clamp(CLOSING_MS, LONGEST_ANSWER_MS).min(left_ms / 2);
        turn.now().after(self.member.client.settings().timeout_ms.min(left_ms - answer_ms))
    }

    /// The task whose question the call answers, if the task belongs to this agent and was begun by our task.
    fn task_of(&self, turn: &Turn, task: &TaskId) -> Result<Result<Link, String>, ExecutorError> {
        let ledger = self.shared.ledger(turn)?;
        Ok(match ledger.find(&self.member.agent, task) {
            Some(known) if known.agent == self.member.agent => Ok(known.link.clone()),
            Some(known) => Err(format!("{task} is a task of another agent, {}", known.agent)),
            None => Err(format!("there is no task {task}; leave `task_id` out to begin one")),
        })
    }

    /// The result of the call for the model. Files, which a model cannot read, are sent to the client: the files in the task's
    /// artifacts as one artifact for the task, replaced by later calls; the files in messages as one artifact for the call.
    fn tell(&self, call: &ModelCall<'_>, observed: Observed) -> Result<Said, ExecutorError> {
        let task = observed.task.as_ref().map(|task| task.id.clone());
        if let Some(ended) = observed.task.as_ref().filter(|task| task.status.state.is_terminal()) {
            self.shared.ledger(call.turn)?.close(&self.member.agent, &ended.id);
        }
        let Told { line, has_failed, results, said } = told(observed);
        let tool = &self.member.tool;
        if let Some(task) = task {
            self.give(call, format!("{tool}-{task}"), results)?;
        }
        self.give(call, call.artifact_id(tool), said)?;
        Ok(if has_failed { Said::Failed(line) } else { Said::Result(line) })
    }

    /// Emits the files as an artifact, unless there are none or the task already has the same artifact.
    fn give(
        &self,
        call: &ModelCall<'_>,
        id: String,
        files: Vec<Part>,
    ) -> Result<(), ExecutorError> {
        let ours = call.turn.task().map(|task| task.artifacts).unwrap_or_default();
        let is_given = |known: &Artifact| known.artifact_id == id && known.parts == files;
        if files.is_empty() || ours.iter().any(is_given) {
            return Ok(());
        }
        let name = Some(self.member.tool.clone());
        let artifact = Artifact::new(id, Part::text(""));
        call.events.artifact(Artifact { parts: files, name, ..artifact })
    }
}

impl Callable for Delegation {
    fn spec(&self) -> ToolSpec {
        let Member { tool, description, .. } = &self.member;
        let parameters = DelegationArguments::schema();
        ToolSpec { name: tool.clone(), description: description.clone(), parameters }
    }

    fn call<'a>(&'a self, call: &'a ModelCall<'a>) -> Saying<'a> {
        Box::pin(async move {
            let fit = |line: String| cut(&call.turn.redaction.text(&line), self.shared.max_bytes);
            let (turn, timed) = (call.turn, call.turn.begin_timed("agent", &call.key, 1));
            let said = turn.within(timed.as_ref(), Box::pin(self.delegate(call))).await;
            let end = WorkEnd::of(matches!(said, Ok(Said::Failed(_)) | Err(_)));
            turn.end_timed(timed, Work::Agent(&self.member.agent), end);
            Ok(match said? {
                Said::Result(line) => Said::Result(fit(line)),
                Said::Failed(line) => Said::Failed(fit(line)),
                Said::Asks(question) => Said::Asks(question),
            })
        })
    }
}

impl Shared {
    /// The delegations of the task so far.
    fn ledger(&self, turn: &Turn) -> Result<RefMut<'_, Ledger>, ExecutorError> {
        if self.ledger.borrow().is_none() {
            // Before the first run of a task, nothing can have been delegated.
            let ledger = if turn.number == 1 && !turn.resumes {
                Ledger::default()
            } else {
                Ledger::of(&turn.run_task.steps()?)
            };
            self.begun.set(ledger.begun);
            self.ledger.replace(Some(ledger));
        }
        Ok(RefMut::map(self.ledger.borrow_mut(), |ledger| ledger.get_or_insert_default()))
    }

    /// Counts one more task of the turn, and returns true if the turn may begin it.
    fn may_begin(&self, turn: &Turn) -> Result<bool, ExecutorError> {
        drop(self.ledger(turn)?);
        let begun = self.begun.get();
        self.begun.set(begun + 1);
        Ok(begun < self.limit)
    }
}

/// The error of a call without a result, because the task was canceled.
fn canceled() -> ExecutorError {
    ExecutorError("the task was canceled".to_owned())
}

/// The parameters for sending the message of a delegation.
pub(super) fn sending<'a>(
    turn: &'a Turn,
    agent: &'a str,
    key: &str,
    step: &'a str,
    known: Option<Link>,
    is_doubtful: bool,
) -> Sending<'a> {
    Sending {
        turn,
        step,
        agent,
        message_id: format!("{}-{}-{key}", turn.unique_id(), turn.number),
        context: context_at(turn, &[agent]),
        known,
        is_doubtful,
        deadline: turn.now().after(turn.time_left_ms()),
    }
}

fn request(sending: &Sending<'_>, client: &Client, prompt: String) -> SendMessageRequest {
    let known = sending.known.as_ref();
    let context = known.and_then(|link| link.context.clone());
    let context = context.unwrap_or_else(|| sending.context.clone());
    let message = Message {
        message_id: sending.message_id.clone(),
        context_id: Some(context),
        task_id: known.map(|link| link.task.clone()),
        ..create_message(prompt, client.ports())
    };
    let configuration = SendMessageConfiguration {
        return_immediately: true,
        ..SendMessageConfiguration::default()
    };
    SendMessageRequest { tenant: None, message, configuration, metadata: None }
}

/// The options for following a task until the deadline. At the deadline, the client cancels the task, and the run
/// continues.
fn observe(turn: &Turn, deadline: UnixMillis) -> Observe<'static> {
    let rest_ms = turn.deadline.millis_since(deadline);
    let options = CallOptions { deadline: Some(deadline), ..CallOptions::default() };
    Observe { options, cancel_ms: Some(CANCEL_MS.min(rest_ms / 2)), ..Observe::default() }
}

/// Follows a task until it ends or asks a question.
async fn observed(
    client: &Client,
    link: &Link,
    opened: Option<Opened>,
    is_answer: bool,
    observe: Observe<'_>,
) -> Observed {
    match opened {
        Some(Opened::Stream(events)) => client.observe_stream(events, is_answer, observe).await,
        Some(Opened::Task(task)) => match Observed::of(*task) {
            Ok(observed) => observed,
            Err(task) => client.observe_task(*task, observe).await,
        },
        None => client.observe_task(unseen(link), observe).await,
    }
}

/// A task of which only the ids are known.
fn unseen(link: &Link) -> Task {
    Task {
        id: link.task.clone(),
        context_id: link.context.clone(),
        status: TaskStatus { state: TaskState::Submitted, message: None, timestamp: None },
        artifacts: Vec::new(),
        history: Vec::new(),
        metadata: None,
    }
}

/// The longest time that is reserved for the model's answer, in milliseconds.
const LONGEST_ANSWER_MS: u64 = 30_000;
