//! Encodes calls to other agents in the agent's version. Each dialect has a module `ask` for its form.

use super::answer::Reader;
use super::{Dialect, legacy, older, v0_3, v1};
use crate::wire::Binding;
use crate::{Call, Operation};

impl Dialect {
    /// The JSON-RPC method of an operation; `None` if this version does not have the operation.
    pub(crate) fn method(self, operation: Operation) -> Option<&'static str> {
        match self {
            Self::V1 => Some(operation.name()),
            Self::V0_3 | Self::Legacy => older::method_of(self, operation),
        }
    }

    /// The verb of a call over HTTP+JSON, and the call's path and query below the URL of the interface; `None` if this
    /// version does not have the call.
    pub(crate) fn target(self, call: &Call) -> Option<(&'static str, String)> {
        match self {
            Self::V1 => v1::paths::target(call),
            Self::V0_3 => v0_3::paths::target(call),
            Self::Legacy => legacy::target(call),
        }
    }

    /// The parameters of a call over JSON-RPC, or the body of a call over HTTP+JSON, as JSON.
    ///
    /// # Errors
    ///
    /// If the call cannot be encoded, which does not happen to values of the model.
    pub(crate) fn asked(self, binding: Binding, call: &Call) -> serde_json::Result<String> {
        match self {
            Self::V1 => v1::ask::asked(binding, call),
            Self::V0_3 => v0_3::asked(binding, call),
            Self::Legacy => legacy::asked(binding, call),
        }
    }

    /// The value of the header `A2A-Version` of a request. Servers of 0.1 do not know the header.
    pub(crate) fn version_header(self) -> Option<&'static str> {
        match self {
            Self::V1 | Self::V0_3 => Some(self.version()),
            Self::Legacy => None,
        }
    }

    /// The reader for the answers of a server.
    pub(crate) fn reader(self, binding: Binding) -> Reader {
        Reader::new(self, binding)
    }
}
