//! Executors that are functions.

use std::rc::Rc;

use async_trait::async_trait;

use super::described::{Cancels, DescribedExecutor};
use super::document::turn_document;
use super::run::{OpenRun, Role};
use super::runs::Runs;
use super::thrown::Thrown;
use crate::executor::{AgentExecutor, Events, ExecutorError, Turn};
use crate::task::Recovery;
use a2a::model::decode::{Decode, read_json};
use a2a_agents::{CheckedExecutor, Misfit};

/// A kind of executors.
pub(super) struct FunctionKind {
    described: DescribedExecutor,
    runs: Rc<Runs>,
}

/// The executor of one agent.
struct FunctionExecutor {
    described: DescribedExecutor,
    /// The table of the agent file, as JSON.
    settings: String,
    /// True if a run may wait outside of memory.
    parks: bool,
    runs: Rc<Runs>,
}

/// A problem of the settings in an agent file.
#[derive(Decode)]
struct SettingsProblem {
    path: String,
    problem: String,
}

impl FunctionKind {
    pub(super) fn new(described: DescribedExecutor, runs: Rc<Runs>) -> Self {
        Self { described, runs }
    }

    /// The executor of an agent.
    ///
    /// # Errors
    ///
    /// If the table of the agent does not fit the kind.
    pub(super) fn executor(
        &self,
        executor: &CheckedExecutor,
    ) -> Result<Rc<dyn AgentExecutor>, Misfit> {
        let (described, runs) = (self.described.clone(), self.runs.clone());
        let settings = executor.table.json().to_string();
        if let Some(problems) = runs.functions.check_settings(&described.kind, &settings) {
            return Err(misfit(executor, &problems));
        }
        // A run may wait outside of memory only if it is resumed.
        let recovery = executor.run.recovery.unwrap_or(described.recovery);
        let parks = recovery == Recovery::Resume;
        Ok(Rc::new(FunctionExecutor { described, settings, parks, runs }))
    }
}

fn misfit(executor: &CheckedExecutor, problems: &str) -> Misfit {
    let problems: Vec<SettingsProblem> = match read_json(problems) {
        Ok(problems) => problems,
        Err(error) => return Misfit(format!("its problems cannot be read: {error}")),
    };
    let problems = problems.iter().map(|SettingsProblem { path, problem }| {
        let Misfit(text) = match path.as_str() {
            "" => executor.misfit_of_table(Misfit(problem.clone())),
            path => executor.misfit_of_key(path, problem),
        };
        text
    });
    Misfit(problems.collect::<Vec<_>>().join("\n"))
}

impl FunctionExecutor {
    fn name(&self) -> String {
        format!("the executor {}", self.described.kind)
    }
}

#[async_trait(?Send)]
impl AgentExecutor for FunctionExecutor {
    async fn execute(&self, turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
        turn.run_task.skip_repeated();
        let Self { described, settings, runs, .. } = self;
        let run = runs.open(OpenRun::new(turn, events, Role::Turn));
        let document = turn_document(turn, runs.is_development);
        let end = runs.functions.execute(&described.kind, run.number(), &document, settings);
        let end = run.ended(end).await;
        if end.is_empty() || turn.is_canceled() {
            return Ok(());
        }
        Err(ExecutorError(Thrown::read(&end).told(turn, &self.name(), runs.is_development)))
    }

    async fn cancel(&self, turn: &Turn) {
        let Self { described, settings, runs, .. } = self;
        if described.cancels == Cancels::Never {
            return;
        }
        let events =
            Events { run_task: turn.run_task.clone(), run_outside: turn.run_outside.clone() };
        let run = runs.open(OpenRun::new(turn, &events, Role::Hook));
        let document = turn_document(turn, runs.is_development);
        let end = runs.functions.cancel(&described.kind, run.number(), &document, settings);
        let end = run.ended(end).await;
        if !end.is_empty() {
            // Nobody reads the text of a hook: the error is logged.
            let function = format!("`onCancel` of {}", self.name());
            let _ = Thrown::read(&end).told(turn, &function, runs.is_development);
        }
    }

    fn ensures_cancel(&self) -> bool {
        self.described.cancels == Cancels::Sure
    }

    fn recovery(&self) -> Recovery {
        self.described.recovery
    }

    fn parks(&self) -> bool {
        self.parks
    }
}
