//! Cloudflare: the front Worker, the task objects, the jobs, and the typed bindings. All code that names the platform
//! is here; it carries out the decisions of the other modules.
//!
//! | folder | the program that it runs in |
//! |---|---|
//! | `front` | the front Worker: one request of a client |
//! | `object` | the object of one task |
//! | `jobs` | the consumers of the queues, and the cron trigger |
//! | `service` | services of several of these: the index, counters, requests to others, keys |
//! | `development` | routes that exist only with `DEVELOPMENT` |

mod agents;
mod bindings;
mod chunks;
mod development;
mod events;
mod front;
mod functions;
mod jobs;
mod object;
mod objects;
mod panics;
mod peers;
mod poll;
mod post;
mod response;
mod service;
mod socket;
mod target;

pub use events::{Answered, begin, fetch, queue, scheduled, serve};
pub use front::handle;
pub use object::TaskObject;
