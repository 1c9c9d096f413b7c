//! Executors that use functions of the trait and of `Turn` that no built-in kind uses.

mod credentials;
mod usage;

pub(crate) use credentials::CredentialsProbe;
pub(crate) use usage::UsageProbe;
