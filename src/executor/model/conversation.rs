//! The conversation with a model: its input and its answers, over all turns of the task.

use serde::Serialize;

use super::parts;
use a2a::model::decode::{Decode, Fields};
use a2a::model::{Message, Role, measure};
use chat::{ChatMessage, Content, ToolCall};

/// The messages to and from a model, oldest first, without the instructions.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Conversation {
    pub(super) entries: Vec<Entry>,
}

/// A message of a conversation, as a step stores it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum StoredEntry {
    /// A message of the client, which the task has.
    Client {
        /// The id of the message.
        client: String,
    },
    /// Any other message.
    Message(ChatMessage),
}

impl Decode for StoredEntry {
    fn decode(fields: &mut Fields) -> Option<Self> {
        if fields.has("client") {
            return fields.required("client").map(|client| Self::Client { client });
        }
        ChatMessage::decode(fields).map(Self::Message)
    }
}

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) message: ChatMessage,
    /// The id of the client's message in this task, if the entry is such a message. Steps store only this id.
    pub(super) client: Option<String>,
}

impl Conversation {
    /// Adds a message.
    pub(super) fn push(&mut self, message: ChatMessage) {
        self.entries.push(Entry { message, client: None });
    }

    /// Adds a message of the client in this task.
    pub(super) fn push_client(&mut self, message: &Message, takes: &[String]) {
        let client = Some(message.message_id.clone());
        let message = ChatMessage::User(parts::contents(&message.parts, takes));
        self.entries.push(Entry { message, client });
    }

    /// Adds messages of earlier tasks: those of the client, and the answers of the agent. Files are only named.
    pub(super) fn push_earlier(&mut self, messages: &[Message]) {
        for message in messages {
            let text = parts::as_text(&message.parts);
            self.push(match message.role {
                Role::Agent => ChatMessage::Assistant { text, calls: Vec::new(), reasoning: None },
                _ => ChatMessage::user(text),
            });
        }
    }

    /// The calls without a result in the newest answer of the model that contains calls.
    pub(super) fn calls(&self) -> Vec<ToolCall> {
        let mut done = Vec::new();
        for entry in self.entries.iter().rev() {
            match &entry.message {
                ChatMessage::Tool { call_id, .. } => done.push(call_id),
                ChatMessage::Assistant { calls, .. } if !calls.is_empty() => {
                    let open = calls.iter().filter(|call| !done.contains(&&call.id));
                    return open.cloned().collect();
                }
                _ => {}
            }
        }
        Vec::new()
    }

    /// The entries that are stored for the next turn, cut between messages to this size in bytes of JSON.
    pub(super) fn kept(&self, max_bytes: usize) -> Vec<StoredEntry> {
        let mut size = 0;
        let mut kept = Vec::new();
        for unit in self.units().into_iter().rev() {
            let entries = self.entries.get(unit).unwrap_or_default();
            let entries: Vec<StoredEntry> = entries.iter().map(Entry::stored).collect();
            size += entries.iter().map(|entry| measure(entry).0).sum::<usize>();
            if size > max_bytes && !kept.is_empty() {
                break;
            }
            kept.push(entries);
        }
        kept.into_iter().rev().flatten().collect()
    }

    /// The conversation that was kept. `history` has the messages of the client.
    pub(super) fn read(
        kept: Vec<StoredEntry>,
        history: &[Message],
        takes: &[String],
    ) -> Option<Self> {
        let mut conversation = Self::default();
        for entry in kept {
            match entry {
                StoredEntry::Message(message) => conversation.push(message),
                StoredEntry::Client { client } => {
                    let message = history.iter().find(|message| message.message_id == client)?;
                    conversation.push_client(message, takes);
                }
            }
        }
        Some(conversation)
    }

    /// The groups of messages that must stay together: a single message, or an answer with its calls and their results.
    /// In order.
    pub(super) fn units(&self) -> Vec<std::ops::Range<usize>> {
        let mut units: Vec<std::ops::Range<usize>> = Vec::new();
        for (at, entry) in self.entries.iter().enumerate() {
            match (&entry.message, units.last_mut()) {
                (ChatMessage::Tool { .. }, Some(unit)) => unit.end = at + 1,
                _ => units.push(at..at + 1),
            }
        }
        units
    }
}

impl Entry {
    fn stored(&self) -> StoredEntry {
        match &self.client {
            Some(id) => StoredEntry::Client { client: id.clone() },
            None => StoredEntry::Message(self.message.clone()),
        }
    }
}

/// The approximate size of a message in a request, in bytes of text.
pub(super) fn size_of(message: &ChatMessage) -> usize {
    let content = |content: &Content| match content {
        Content::Text(text) => text.len(),
        // Models do not count images and files by bytes.
        Content::Image { .. } => IMAGE_BYTES,
        Content::File { base64, .. } => IMAGE_BYTES.max(base64.len() / 8),
    };
    let size = match message {
        ChatMessage::System(text) | ChatMessage::Tool { text, .. } => text.len(),
        ChatMessage::User(contents) => contents.iter().map(content).sum(),
        ChatMessage::Assistant { text, calls, reasoning } => {
            let calls = calls.iter().map(|call| call.name.len() + call.arguments.len());
            text.len() + calls.sum::<usize>() + reasoning.as_ref().map_or(0, String::len)
        }
    };
    size + MESSAGE_BYTES
}

/// The assumed size of an image, in bytes of text.
const IMAGE_BYTES: usize = 3_000;

/// The size of the JSON around a message, in bytes.
const MESSAGE_BYTES: usize = 12;
