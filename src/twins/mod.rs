//! In-memory doubles of the ports, for tests: a store that can fail, and a clock that advances when all futures wait.

mod index;
mod outside;
mod platform;
mod store;
mod usage;
mod vault;
mod webhook_list;

pub use a2a::http::memory::{self as http, MemoryHttp};
pub use index::MemoryIndex;
pub use platform::MemoryPlatform;
pub use store::MemoryStore;
pub use usage::MemoryUsage;
pub use vault::MemoryVault;
pub use webhook_list::MemoryWebhookList;
