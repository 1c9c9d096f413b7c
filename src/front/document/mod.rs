//! Documents that the front answers with by itself.
//!
//! | file | document |
//! |---|---|
//! | `card` | the card of an agent, for everybody and for a caller |
//! | `page` | the page of an agent for browsers |
//! | `keys` | the public keys of this server |
//! | `metadata` | who gives out tokens for an MCP server |
//! | `catalogue` | the list of agents for the console |

pub(super) mod card;
pub(crate) mod catalogue;
pub(super) mod keys;
pub(crate) mod metadata;
pub(super) mod page;

/// For how long clients keep a document that lacks some of the skills that agents learn, in seconds.
const PARTIAL_SECONDS: u32 = 5;
