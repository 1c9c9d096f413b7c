//! The imports for the author of an agent: `use a2a_edge::prelude::*`.

pub use crate::executor::{
    AgentExecutor, Callback, CallbackTerms, Called, Events, ExecutorError, NoSettings, Retry, Turn,
    Wait, Woken,
};
pub use crate::host::Host;
pub use crate::port::Outside;
pub use crate::task::Recovery;
pub use crate::usage::{CallerLimits, Usage};
pub use a2a::http::{self, HttpAnswer, HttpRequest};
pub use a2a::model::{Artifact, Message, Part, Task, TaskState, UnixMillis};
pub use a2a_agents::{Expandable, Misfit, Table, Values, settings};
pub use async_trait::async_trait;
pub use serde_json::{Value, json};
