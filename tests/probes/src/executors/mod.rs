//! Executors that use functions of the trait and of `Turn` that no built-in kind uses.

mod credentials;
mod panics;
mod usage;

pub(crate) use credentials::CredentialsProbe;
pub(crate) use panics::PanicProbe;
pub(crate) use usage::UsageProbe;
