//! An executor for the tests of the Worker: it panics where its agent says.
#![allow(clippy::panic, reason = "that is what it is for")]

use a2a_edge::prelude::*;

/// Panics in the function that `at` names: `constructor`, `caller_limits`, `recovery`, `ensures_cancel`, `cancel` or `execute`. With `stack`, `execute`
/// recurses without an end; with `memory` it allocates more than there is.
#[settings]
pub(crate) struct PanicProbe {
    /// The function.
    at: String,
}

impl PanicProbe {
    pub(crate) fn made(self) -> Result<Self, Misfit> {
        self.reach("constructor");
        Ok(self)
    }

    fn reach(&self, function: &str) {
        if self.at == function {
            panic!("the probe panics in {function}");
        }
    }
}

#[async_trait(?Send)]
impl AgentExecutor for PanicProbe {
    async fn execute(&self, _: &Turn, events: &Events) -> Result<(), ExecutorError> {
        events.working(None)?;
        self.reach("execute");
        match self.at.as_str() {
            "stack" => events.complete(Some(&deeper(0).to_string())),
            "memory" => events.complete(Some(&vec![1_u8; 1 << 31].len().to_string())),
            _ => events.require_input("more?"),
        }
    }

    async fn cancel(&self, _: &Turn) {
        self.reach("cancel");
    }

    fn ensures_cancel(&self) -> bool {
        self.reach("ensures_cancel");
        self.at == "cancel"
    }

    fn recovery(&self) -> Recovery {
        self.reach("recovery");
        Recovery::Fail
    }

    fn caller_limits(&self) -> CallerLimits {
        self.reach("caller_limits");
        CallerLimits::default()
    }
}

/// Uses up the stack.
#[allow(unconditional_recursion, reason = "that is what it is for")]
#[inline(never)]
fn deeper(depth: u64) -> u64 {
    let frame = std::hint::black_box([depth; 64]);
    deeper(depth + 1) + frame.iter().sum::<u64>()
}
