//! Identifiers as types, so that a context id is never passed where a task id is meant.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! identifier {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Wraps an identifier as it stands on the wire.
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The identifier as it stands on the wire.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.0)
            }
        }
    };
}

identifier! {
    /// The id of a task: opaque to clients, made by the server (spec §4.1.1).
    TaskId
}

identifier! {
    /// The id that groups tasks and messages of one conversation (spec §3.4.1): made by the
    /// server, or chosen by the client.
    ContextId
}
