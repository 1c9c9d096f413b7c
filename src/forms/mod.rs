//! The forms between the front Worker, the objects and the queues, each as a type with its text. During a deploy, two versions of
//! the Worker exchange these texts: `docs/upgrades.md` describes how a form may change, `src/format.rs` has the numbers.
//!
//! | file | form |
//! |---|---|
//! | `address` | the address of a task's object |
//! | `command` | a call of a client, for the object of its task |
//! | `callback` | a post to a callback, for the object of its task |
//! | `ask` | the requests to an object, and its refusals |
//! | `answer` | an HTTP answer as text, for JavaScript |
//! | `listing` | the lines of a page of the index, as D1 selects them |
//! | `queue` | the bodies of the queues |

pub(crate) mod address;
pub(crate) mod answer;
pub(crate) mod ask;
pub(crate) mod callback;
pub(crate) mod command;
pub(crate) mod listing;
pub(crate) mod queue;
#[cfg(test)]
mod upgrade;
