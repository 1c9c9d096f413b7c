//! Services that several of the programs use: the index, counters, requests to other servers, keys, time and random
//! numbers.

pub(super) mod background;
pub(super) mod bound;
pub(super) mod cards;
pub(super) mod clock;
pub(super) mod counters;
mod database;
pub(super) mod index;
pub(super) mod keys;
pub(super) mod mcp_tools;
pub(super) mod observer;
pub(super) mod outbound;
pub(super) mod overview;
pub(super) mod random;
pub(super) mod remembered;
pub(super) mod rows;
pub(super) mod secrets;
pub(super) mod signatures;
pub(super) mod tables;
pub(super) mod telemetry;
pub(super) mod usage;
pub(super) mod vault;
mod web_crypto;
pub(super) mod webhook_list;
