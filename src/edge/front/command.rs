//! What is to be done with a command that was admitted: it is listed, or the object of its task is asked.

use super::decision::Front;
use super::facts::{FoundPage, FoundTerms, Need, TermsNeed};
use super::listing::{listing_failed, query_of, whole_page};
use super::plan::Plan;
use super::{quota, usage};
use crate::edge::objects::AskError;
use crate::edge::service::index::D1Index;
use crate::format;
use crate::forms::address::TaskAddress;
use crate::forms::command::{Command, StreamCommand};
use crate::operation::list_tasks::Page;
use crate::port::{Act, Audit, Observation, Observer};
use a2a::binding::ServiceParameters;
use a2a::error::Error;
use a2a::model::{ListTasksRequest, TaskId};
use a2a::{Call, FollowCall, Operation, Outcome};

impl Front {
    /// The plan for a command.
    pub(super) fn plan_command(
        &self,
        parameters: &ServiceParameters,
        command: Command<Call>,
    ) -> Plan {
        let (reply, is_stream) = (command.reply.clone(), command.call.is_stream());
        let planned = self.try_to_plan(parameters, command);
        planned.unwrap_or_else(|error| Plan::Answer(reply.refusal(is_stream, &error)))
    }

    fn try_to_plan(
        &self,
        parameters: &ServiceParameters,
        mut command: Command<Call>,
    ) -> Result<Plan, Error> {
        if let Some(failure) = self.facts.failure.get() {
            return Err(self.failure(failure, command.call.task_id()));
        }
        if matches!(command.call, Call::List(_) | Call::Webhooks(_)) {
            return self.plan_list(command);
        }
        let key = parameters.idempotency_key()?;
        if let Some(need) = self.terms_needed(&command, key) {
            return Ok(Plan::Need(Need::Terms(Box::new(need(command)))));
        }
        if let Some(found) = self.facts.terms.get() {
            self.apply(found, &mut command)?;
        }
        let (command, call) = command.take_call();
        let address = TaskAddress::of_command(&command, call.task_id(), key);
        if let TaskAddress::Object(id) = &address
            && !id.is_well_formed()
        {
            return Err(Error::TaskNotFound(id.task_id()));
        }
        match call {
            Call::Task(call) => Ok(Plan::Call(address, Box::new(command.with_call(call)))),
            Call::Follow(call) => {
                let hello = hello(parameters, command.with_call(call))?;
                Ok(Plan::Stream(address, Box::new(hello)))
            }
            // The exchange has answered the one, and the others are listed.
            Call::Card | Call::List(_) | Call::Webhooks(_) => Err(Error::Internal { task: None }),
        }
    }

    /// What has to be found about a message before its object is asked; `None` if nothing has.
    fn terms_needed(
        &self,
        command: &Command<Call>,
        key: Option<&str>,
    ) -> Option<impl FnOnce(Command<Call>) -> TermsNeed + use<>> {
        let has_quota = command.call.begins_task() && self.settings.max_active_tasks > 0;
        let has_allowance =
            command.call.message().is_some() && !self.caller_limits(&command.agent).is_none();
        let has_credentials = command.unsealed.is_some() && command.may_go_on();
        let is_needed = has_quota || has_allowance || has_credentials;
        if !is_needed || self.facts.terms.get().is_some() {
            return None;
        }
        let key = key.map(str::to_owned);
        Some(move |command| TermsNeed { command, key, has_quota, has_allowance, has_credentials })
    }

    /// Refuses a message that goes beyond what was found to bound it, or says in its terms what its object has to know.
    fn apply(&self, found: &FoundTerms, command: &mut Command<Call>) -> Result<(), Error> {
        let FoundTerms { quota, used, sealed } = found;
        quota::apply(*quota, command)?;
        if let Some((used, at)) = used {
            usage::apply(self.caller_limits(&command.agent), *used, *at, command)?;
        }
        if let Some(sealed) = sealed {
            command.credentials = Some(sealed.clone()?);
        }
        Ok(())
    }

    fn plan_list(&self, command: Command<Call>) -> Result<Plan, Error> {
        let found = self.facts.page.take();
        let is_found = found.is_some();
        let (operation, page) = match (&command.call, found) {
            (Call::Webhooks(_), Some(FoundPage::Whole(page))) => {
                (Operation::ListWebhooks, Outcome::Webhooks(page?))
            }
            (Call::List(_), Some(FoundPage::Whole(page))) => {
                (Operation::ListTasks, Outcome::Tasks(page?))
            }
            (Call::List(request), found) if !request.include_artifacts => {
                if !is_found && !command.scope.hides_all(request) {
                    let query = query_of(&command, request)?;
                    return Ok(Plan::List(D1Index::listing(&query)));
                }
                match self.page_of(&command, request, found)? {
                    Some(page) => (Operation::ListTasks, Outcome::Tasks(page)),
                    None => return Ok(Plan::Need(Need::Page(Box::new(command)))),
                }
            }
            _ => return Ok(Plan::Need(Need::Page(Box::new(command)))),
        };
        self.note_operator(&command, operation);
        command.reply.outcome(&page).map(Plan::Answer)
    }

    /// The page that the lines of a statement make; `None` if they do not tell the total, or there are none.
    fn page_of(
        &self,
        command: &Command<Call>,
        request: &ListTasksRequest,
        found: Option<FoundPage>,
    ) -> Result<Option<String>, Error> {
        let query = query_of(command, request)?;
        let page = match found {
            None => Some(Page::empty(&query, request)),
            Some(FoundPage::Lines { lines, total }) => {
                let found = D1Index::listed(&query, &lines, total);
                let found = found.map_err(|reason| listing_failed(&reason, &self.observer))?;
                found.map(|found| Page::new(&query, request, found))
            }
            Some(FoundPage::NoLines | FoundPage::Whole(_)) => None,
        };
        Ok(page.map(|page| whole_page(&page, request)))
    }

    /// Records for the audit that an operator has listed something by this operation.
    fn note_operator<C>(&self, command: &Command<C>, operation: Operation) {
        if command.is_operators() {
            let Command { agent, caller, trail, .. } = command;
            let acted = Audit::of(Act::OperatorActed, agent, &caller.id, trail);
            self.observer.observe(&Observation::Audited(acted.by(operation)));
        }
    }

    /// The error for a client whose object gave no answer for it.
    pub(super) fn failure(&self, failure: &AskError, task: Option<&TaskId>) -> Error {
        match (failure, task) {
            (AskError::Unknown, Some(task)) => Error::TaskNotFound(task.clone()),
            (failure, task) => self.unreachable(task, failure),
        }
    }

    /// The error for an object that does not answer as objects do, which is reported.
    pub(super) fn unreachable(&self, task: Option<&TaskId>, error: &AskError) -> Error {
        let reason = error.to_string();
        self.observer.observe(&Observation::ObjectUnreachable { task, reason: &reason });
        if error.is_of_versions() {
            return Error::Unavailable(format::OTHER_VERSION);
        }
        Error::Internal { task: None }
    }
}

/// The command that opens a stream at the object of a task.
///
/// # Errors
///
/// When the request names wrongly the events that the client has.
fn hello(
    parameters: &ServiceParameters,
    command: Command<FollowCall>,
) -> Result<StreamCommand, Error> {
    let after = match &command.call {
        _ if !command.reply.dialect().resumes_by_event() => None,
        FollowCall::SubscribeToTask(_) => parameters.after()?,
        FollowCall::SendStreamingMessage(_) if parameters.idempotency_key()?.is_some() => {
            parameters.after()?
        }
        FollowCall::SendStreamingMessage(_) => None,
    };
    Ok(StreamCommand { command, after })
}
