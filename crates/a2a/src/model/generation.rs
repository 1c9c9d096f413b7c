//! The extension that adds generations to the protocol (`docs/generation.md`).

/// The URI of the extension. Every agent declares it.
pub const GENERATION_EXTENSION: &str = "urn:a2a-edge:generation:v1";

/// The member of a task's metadata that contains the generation, for clients that request the
/// extension.
pub const GENERATION_MEMBER: &str = "urn:a2a-edge:generation:v1/generation";
