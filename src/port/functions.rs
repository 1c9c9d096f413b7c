//! The functions of the project: tools and executors that its entry module registers in JavaScript.

use futures_util::future::LocalBoxFuture;

/// The functions of the entry module. Values pass as JSON; `js/index.d.ts` describes what authors see.
///
/// A run is a call of one function. It has a number, by which the function reaches its task (`executor::function::Runs`) as long as
/// the run is open.
pub trait Functions {
    /// The tools and the kinds of executors: `{"tools": [{"name", "description", "inputSchema", "needs"}], "executors": [{"kind",
    /// "recovery", "cancels"}]}`.
    ///
    /// # Errors
    ///
    /// The reason why the functions cannot be described.
    fn describe(&self) -> Result<String, String>;

    /// Checks the settings of an agent for a kind of executor. Returns `None`, or a list of problems: `[{"path": "hall.rows",
    /// "problem": "must be a number"}]`.
    fn check_settings(&self, kind: &str, settings: &str) -> Option<String>;

    /// Calls an executor for a turn.
    fn execute(&self, kind: &str, run: u32, turn: &str, settings: &str) -> FunctionEnd;

    /// Calls the cancel hook of an executor.
    fn cancel(&self, kind: &str, run: u32, turn: &str, settings: &str) -> FunctionEnd;

    /// Calls a tool.
    fn call_tool(&self, name: &str, run: u32, arguments: &str, call: &str) -> FunctionEnd;

    /// Reports the end of a run. After [`RunEnd::Canceled`] the function continues for up to five seconds, and its end is reported,
    /// too.
    fn over(&self, run: u32, end: RunEnd);

    /// A number that no other run of this isolate has had.
    fn next_run(&self) -> u32;
}

/// The end of a function: empty text, the result of a tool, or the error that it has thrown, as JSON.
pub enum FunctionEnd {
    /// The function has ended without waiting.
    Now(String),
    /// The function continues.
    Later(LocalBoxFuture<'static, String>),
}

/// The reason why a run has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// The client has canceled the task.
    Canceled,
    /// The time of the run is over, or the run made no progress for too long.
    TimedOut,
    /// The run waits outside of memory.
    Parked,
    /// The function has ended.
    Over,
}

impl RunEnd {
    /// The name of the reason for authors.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Canceled => "canceled",
            Self::TimedOut => "timeout",
            Self::Parked => "parked",
            Self::Over => "over",
        }
    }
}
