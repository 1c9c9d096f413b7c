//! Documents that the front makes itself.
//!
//! | file | document |
//! |---|---|
//! | `card` | the card of an agent: the public one, and the one for a caller |
//! | `page` | the page of an agent for browsers |
//! | `keys` | the public keys of this server |
//! | `metadata` | the issuers of tokens for an MCP server |
//! | `catalogue` | the list of agents for the console |

pub(super) mod card;
pub(crate) mod catalogue;
pub(super) mod keys;
pub(crate) mod metadata;
pub(super) mod page;

/// The lifetime in caches of a document from which some learned skills are missing, in seconds.
const PARTIAL_SECONDS: u32 = 5;
