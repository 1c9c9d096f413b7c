//! The executors: what the trait and `Turn` offer to executors of one's own, and no built-in kind shows.

mod credentials;
mod usage;

pub(crate) use credentials::CredentialsProbe;
pub(crate) use usage::UsageProbe;
