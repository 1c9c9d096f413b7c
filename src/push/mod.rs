//! Webhooks, as far as they are decisions: where notifications may go, and how they are signed
//! (spec §3.5.3, §13.2). Sending them is the business of `edge`.

pub mod guard;
pub mod jwk;
pub mod signature;
