//! Cloudflare: the front Worker, the task objects, the jobs, and the typed bindings. All code that names
//! the platform lives here; it carries out what the other modules decide.
//!
//! | folder | the program that it runs in |
//! |---|---|
//! | `front` | the front Worker: one request of a client |
//! | `object` | the object of one task |
//! | `jobs` | the consumers of the queues, and the cron trigger |
//! | `service` | what several of them use: the index, counters, requests to others, keys |
//! | `development` | what `DEVELOPMENT` shows of all that |

mod agents;
mod bindings;
mod chunks;
mod development;
mod events;
mod front;
mod jobs;
mod object;
mod objects;
mod peers;
mod poll;
mod response;
mod service;
mod socket;
mod target;

pub use events::{Answered, begin, fetch, queue, scheduled, serve};
pub use front::handle;
pub use object::TaskObject;
