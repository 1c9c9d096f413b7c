//! What passes between the front Worker, the objects and the queues, each form as a type with its text. During a deploy, two versions
//! of the Worker exchange these texts: `docs/upgrades.md` says how a form may change, `src/format.rs` has the numbers.
//!
//! | file | form |
//! |---|---|
//! | `address` | which object has a task |
//! | `command` | a call of a client, for the object of its task |
//! | `callback` | a post to a callback, for the object of its task |
//! | `ask` | the ways in which an object is asked, and its refusals |
//! | `answer` | an HTTP answer as text, for JavaScript |
//! | `queue` | the bodies of the queues |

pub(crate) mod address;
pub(crate) mod answer;
pub(crate) mod ask;
pub(crate) mod callback;
pub(crate) mod command;
pub(crate) mod queue;
#[cfg(test)]
mod upgrade;
