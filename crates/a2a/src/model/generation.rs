//! The extension by which clients learn of generations and rely on them (`docs/generation.md`).

/// What identifies the extension. Every agent declares it.
pub const GENERATION_EXTENSION: &str = "urn:a2a-edge:generation:v1";

/// The member of a task's metadata with its generation, for clients that name the extension.
pub const GENERATION_MEMBER: &str = "urn:a2a-edge:generation:v1/generation";
