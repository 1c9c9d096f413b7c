//! A post to a callback in the form for the object of its task, and the answer to its sender.

use serde::Serialize;

use crate::format;
use crate::session::Posted;
use a2a::binding::http::HttpResponse;
use a2a::model::decode::{Decode, Fields};
use a2a::model::{Part, Secret};

/// A post to a callback.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct CallbackPost {
    /// The agent in the path of the callback.
    pub(crate) agent: String,
    /// The part of the path after the id of the object.
    pub(crate) token: Secret,
    /// The sender's key for the post.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    /// The body. Without it, the object only reports if the callback would accept a body, before a large one is
    /// received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) body: Option<Part>,
}

/// The answer to the sender of a post.
pub(crate) fn answer_to(posted: Posted) -> HttpResponse {
    match posted.check() {
        Ok(()) => HttpResponse::json(202, r#"{"accepted":true}"#.to_owned()),
        Err(error) => HttpResponse::error(&error),
    }
}

impl Decode for CallbackPost {
    fn decode(fields: &mut Fields) -> Option<Self> {
        format::COMMAND.check(fields)?;
        Some(Self {
            agent: fields.required_string("agent")?,
            token: Secret::new(fields.required_string("token")?),
            key: fields.string("key"),
            body: fields.object("body"),
        })
    }
}
