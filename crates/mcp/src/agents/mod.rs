//! Agents of A2A as tools of MCP: what a card is as tools, what a task is as a result, as a question or as progress. Pure; who calls
//! the agents is the caller of this module.
//!
//! | module | what it is |
//! |---|---|
//! | [`agent_tool`], [`skill_tool`], [`tool_name`] | an agent or a skill as a tool |
//! | [`Arguments`] | what such a tool is called with, as a message |
//! | [`result_of`], [`answered`] | a task or a message as a result |
//! | [`Waiting`] | what a task waits for, as a question |
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
