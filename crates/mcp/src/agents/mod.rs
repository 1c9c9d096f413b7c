//! A2A agents as MCP tools: translates cards to tools, and tasks to results, questions or progress. Pure; the caller of this
//! module calls the agents.
//!
//! | item | content |
//! |---|---|
//! | [`agent_tool`], [`skill_tool`], [`tool_name`] | an agent or a skill as a tool |
//! | [`Arguments`] | the arguments of such a tool, as a message |
//! | [`result_of`], [`answered`] | a task or a message as a result |
//! | [`Waiting`] | the question of an interrupted task |
//! | [`progress_text`] | an event as progress |

mod arguments;
mod progress;
mod question;
mod result;
mod tool;

pub use arguments::{Arguments, Callee, SKILL_KEY, say_depth};
pub use progress::progress_text;
pub use question::Waiting;
pub use result::{answered, content_of, result_of, state_name};
pub use tool::{agent_tool, result_schema, skill_tool, tool_name};
