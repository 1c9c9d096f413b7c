//! In which form an answer goes to the client.

use serde::{Deserialize, Serialize};

use super::http::HttpResponse;
use super::jsonrpc::{self, RequestId};
use super::media_type::MediaType;
use super::rest;
use crate::error::Error;

/// The form of an answer: that of the binding through which the request came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// A JSON-RPC response with this id (spec §9).
    JsonRpc(RequestId),
    /// The bare result, or an error as `google.rpc.Status` (spec §11).
    Rest {
        /// The type of a result; errors are `application/json` in any case.
        media_type: MediaType,
    },
}

impl Reply {
    /// The answer with a result that is JSON text already.
    pub fn result(&self, json: &str) -> HttpResponse {
        match self {
            Self::JsonRpc(id) => jsonrpc::result(id, json),
            Self::Rest { media_type } => rest::result(*media_type, json),
        }
    }

    /// An event of a stream: server-sent-event text, with the generation as its id if it has one.
    pub fn event(&self, generation: Option<u64>, json: &str) -> String {
        let id = generation.map(|generation| format!("id: {generation}\n")).unwrap_or_default();
        format!("{id}data: {}\n\n", self.result(json).body)
    }

    /// The answer with an error.
    pub fn error(&self, error: &Error) -> HttpResponse {
        match self {
            Self::JsonRpc(id) => jsonrpc::error(id, error),
            Self::Rest { .. } => HttpResponse::error(error),
        }
    }
}
