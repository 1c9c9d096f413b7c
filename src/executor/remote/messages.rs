//! Builds the messages of the client in the form in which they are sent to the remote agent.

use sha2::{Digest, Sha256};

use super::super::{ExecutorError, Turn};
use super::link::Link;
use a2a::model::{
    CREDENTIALS_MEDIA_TYPE, ContextId, Message, Part, SendMessageConfiguration, SendMessageRequest,
};

/// The message id with which the message of this number is sent to the remote agent. Each repetition has the same id, so
/// that a server which remembers message ids does not begin a second task.
pub(super) fn id_of(turn: &Turn, number: usize) -> String {
    format!("{}-{number}", turn.unique_id())
}

/// The id of the conversation at the remote agent that belongs to our conversation. The id includes the owner: callers
/// with different owners who choose the same context id get different conversations.
pub(super) fn context_of(turn: &Turn) -> ContextId {
    context_at(turn, &[])
}

/// Like [`context_of`], for a caller of several agents with one conversation each: `names` distinguishes the agents.
pub(in crate::executor) fn context_at(turn: &Turn, names: &[&str]) -> ContextId {
    let mut digest = Sha256::new();
    let of_turn = [turn.agent.as_str(), turn.caller.owner(), turn.context_id.as_str()];
    for text in of_turn.iter().chain(names) {
        digest.update(text.len().to_be_bytes());
        digest.update(text);
    }
    ContextId::of_digest(&digest.finalize().into())
}

/// The request that sends a message of the client to the task of the link, or begins a task if there is no link.
pub(super) fn request(
    turn: &Turn,
    message: Message,
    number: usize,
    link: Option<&Link>,
) -> SendMessageRequest {
    let context = link.and_then(|link| link.context.clone());
    let message = Message {
        message_id: id_of(turn, number),
        context_id: Some(context.unwrap_or_else(|| context_of(turn))),
        task_id: link.map(|link| link.task.clone()),
        reference_task_ids: Vec::new(),
        ..message
    };
    let configuration = SendMessageConfiguration {
        accepted_output_modes: turn.accepted_output_modes.clone(),
        return_immediately: true,
        ..SendMessageConfiguration::default()
    };
    SendMessageRequest { tenant: None, message, configuration, metadata: turn.metadata.clone() }
}

/// The message of the turn, with the credentials that the remote agent has requested.
///
/// # Errors
///
/// If the credentials cannot be decrypted.
pub(super) async fn with_credentials(turn: &Turn) -> Result<Message, ExecutorError> {
    let mut message = turn.message.clone();
    if let Some(given) = turn.credentials().await? {
        let filled = Part::data(given.data().clone()).with_media_type(CREDENTIALS_MEDIA_TYPE);
        let is_place = |part: &&mut Part| {
            let media_type = part.media_type.as_deref().unwrap_or_default();
            media_type.eq_ignore_ascii_case(CREDENTIALS_MEDIA_TYPE)
        };
        match message.parts.iter_mut().find(is_place) {
            Some(part) => part.content = filled.content,
            None => message.parts.push(filled),
        }
    }
    Ok(message)
}
