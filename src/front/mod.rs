//! The front decides requests: [`decide`](decide::decide) is a pure function of the deployment, the facts, the head and
//! the body, and returns a plan. This folder names no platform and waits for nothing. `src/edge/front/` finds the
//! facts, and `js/hop.js` carries out the plan.
//!
//! | file | contents |
//! |---|---|
//! | `decide` | decides a request: calls the file for its route, and collects the limits, the origin and the reports |
//! | `deployment` | the settings, agents and keys by which every request is decided |
//! | `facts` | the facts that have to be awaited, and the facts that were found |
//! | `head`, `address` | the head of a request, as JavaScript passes it, and the address of its client |
//! | `route` | the agent and the resource that a path names |
//! | `identify` | identifies the caller of a request by the policy of the agent |
//! | `exchange` | reads a request to an agent in the form of its binding, and has it admitted |
//! | `admit/` | admits or refuses a request, with all checks that do not need its task |
//! | `command` | the plan for an admitted command: the call of its object, or a list |
//! | `terms` | the limits of a message: quota, usage; and its credentials |
//! | `listing` | ListTasks and ListWebhooks |
//! | `stream` | the data from which `js/stream.js` makes a stream |
//! | `document/` | documents: cards, keys, pages, lists |
//! | `callback`, `operator`, `console` | the routes outside of the protocol |
//! | `plan` | the plan for a request |
//! | `failure` | the reason why an object returned no answer, and the error for its client |
//! | `seen`, `limit`, `report` | further results of a decision: rate limits to ask, pages that may read the answer, lines for the log and the audit |
//! | `subject` | what the observation of a request says about it |
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
pub(crate) mod operator;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod route;
pub(crate) mod seen;
pub(crate) mod signed;
pub(crate) mod stream;
pub(crate) mod subject;
pub(crate) mod terms;
#[cfg(test)]
mod tests;
