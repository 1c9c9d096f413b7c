//! The front decides requests: [`decide`](decide::decide) is a pure function of the deployment, the facts, the head and the body, and its
//! result is a plan. It names no platform and waits for nothing. `src/edge/front/` finds the facts, `js/hop.js` carries the plan out.
//!
//! | file | what it does |
//! |---|---|
//! | `decide` | decides a request: sends it to the file for its route, and gathers what follows from it |
//! | `deployment` | what every request is decided by: settings, agents, keys |
//! | `facts` | what has to be waited for, and what was found |
//! | `head`, `address` | the head of a request, as JavaScript passes it, and the address of its client |
//! | `route` | which agent and which resource a path names |
//! | `identify` | who makes it, by the policy of the agent |
//! | `exchange` | a request to an agent, read as its binding writes it |
//! | `admit/` | whether it is admitted, up to the point where its task is needed |
//! | `command` | what is done with an admitted command: its object is asked |
//! | `terms` | the bounds of a message: quota, usage, credentials |
//! | `listing` | ListTasks and ListWebhooks |
//! | `stream` | what a stream is made from |
//! | `document/` | documents: cards, keys, pages |
//! | `callback`, `overview`, `console` | the routes beside the protocol |
//! | `plan` | what is to be done with a request |
//! | `failure` | why an object gave no answer, and the error for its client |
//! | `seen`, `limit`, `report` | what follows besides: rate limits to ask, pages that may read the answer, lines for the log and the audit |
//! | `signed` | the cards that this instance has signed |

pub(crate) mod address;
pub(crate) mod admit;
pub(crate) mod callback;
mod command;
pub(crate) mod console;
pub(crate) mod decide;
pub(crate) mod deployment;
pub(crate) mod document;
mod exchange;
pub(crate) mod facts;
pub(crate) mod failure;
pub(crate) mod head;
pub(crate) mod identify;
pub(crate) mod limit;
pub(crate) mod listing;
mod overview;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod route;
pub(crate) mod seen;
pub(crate) mod signed;
pub(crate) mod stream;
mod terms;
#[cfg(test)]
mod tests;
