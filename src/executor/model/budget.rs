//! Limits the part of a conversation that one request contains.

use super::conversation::{Conversation, size_of};
use super::result::cut;
use chat::{ChatMessage, Usage};

/// The largest size of one request. A token counts as three bytes until the provider has reported a token count.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Budget {
    tokens: u64,
    bytes_per_token: f64,
}

impl Budget {
    /// A budget of this number of tokens.
    pub(super) fn new(tokens: u64) -> Self {
        Self { tokens, bytes_per_token: BYTES_PER_TOKEN }
    }

    /// Updates the bytes per token from the token count that the provider reported for a request of this size.
    pub(super) fn learn(&mut self, usage: Option<&Usage>, request_bytes: usize) {
        if let Some(usage) = usage.filter(|usage| usage.input > 0) {
            let ratio = request_bytes as f64 / usage.input as f64;
            self.bytes_per_token = ratio.clamp(LEAST_BYTES_PER_TOKEN, MOST_BYTES_PER_TOKEN);
        }
    }

    /// Sets the budget to half of this request's size, because the request was too long for the model.
    pub(super) fn halve(&mut self, request_bytes: usize) {
        self.tokens = self.tokens.min(tokens(request_bytes, self.bytes_per_token) / 2).max(1);
    }

    /// The messages of a request: the instructions, and the part of the conversation that fits. `others` is the size of the rest of the
    /// request, such as the tools, in bytes. Whole messages are left out, oldest first; the newest message of the client and the newest
    /// message of all always stay. If these two are still too long, the results of tools are cut.
    pub(super) fn fit(
        &self,
        instructions: &str,
        conversation: &Conversation,
        others: usize,
    ) -> Vec<ChatMessage> {
        let limit = self.bytes();
        let units = conversation.units();
        let sizes: Vec<usize> = units
            .iter()
            .map(|unit| {
                let entries = conversation.entries.get(unit.clone()).unwrap_or_default();
                entries.iter().map(|entry| size_of(&entry.message)).sum()
            })
            .collect();
        let is_of_client = |unit: &std::ops::Range<usize>| {
            conversation.entries.get(unit.start).is_some_and(|entry| entry.client.is_some())
        };
        let newest_of_client = units.iter().rposition(is_of_client);
        let newest = units.len().checked_sub(1);
        let stays = |at: usize| Some(at) == newest_of_client || Some(at) == newest;
        let mut size = others + instructions.len() + sizes.iter().sum::<usize>();
        let mut is_left_out = vec![false; units.len()];
        for (at, (left_out, bytes)) in is_left_out.iter_mut().zip(&sizes).enumerate() {
            if size <= limit {
                break;
            }
            if !stays(at) {
                *left_out = true;
                size -= bytes;
            }
        }
        let has_gaps = is_left_out.contains(&true);
        // Many models require that a conversation begins with a message of the user.
        for (at, (left_out, unit)) in is_left_out.iter_mut().zip(&units).enumerate() {
            let entry = conversation.entries.get(unit.start);
            let asks = entry.is_some_and(|entry| matches!(entry.message, ChatMessage::User(_)));
            if !*left_out && (!has_gaps || asks || stays(at)) {
                break;
            }
            *left_out = true;
        }
        let instructions = match (instructions.is_empty(), has_gaps) {
            (true, false) => None,
            (false, false) => Some(instructions.to_owned()),
            (true, true) => Some(GAP.to_owned()),
            (false, true) => Some(format!("{instructions}\n\n{GAP}")),
        };
        let mut messages: Vec<ChatMessage> =
            instructions.map(ChatMessage::System).into_iter().collect();
        for (unit, _) in units.iter().zip(is_left_out).filter(|(_, left_out)| !left_out) {
            let entries = conversation.entries.get(unit.clone()).unwrap_or_default();
            messages.extend(entries.iter().map(|entry| entry.message.clone()));
        }
        if size > limit {
            cut_results(&mut messages, size - limit);
        }
        messages
    }

    /// The budget in bytes.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive, and what does not fit is cut to what does"
    )]
    pub(super) fn bytes(&self) -> usize {
        (self.tokens as f64 * self.bytes_per_token) as usize
    }
}

/// Removes this number of bytes from the results of tools, from each in proportion to its size.
fn cut_results(messages: &mut [ChatMessage], excess: usize) {
    let results = messages.iter().filter_map(|message| match message {
        ChatMessage::Tool { text, .. } => Some(text.len()),
        _ => None,
    });
    let all: usize = results.sum();
    let kept = all.saturating_sub(excess).max(all / 10);
    for message in messages {
        if let ChatMessage::Tool { text, .. } = message {
            let max_bytes = text.len().saturating_mul(kept) / all.max(1);
            *text = cut(text, max_bytes);
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positive, and what does not fit is cut to what does"
)]
fn tokens(bytes: usize, bytes_per_token: f64) -> u64 {
    (bytes as f64 / bytes_per_token) as u64
}

/// The note that replaces messages that do not fit.
const GAP: &str = "Older messages of this conversation were left out because it is long.";

const BYTES_PER_TOKEN: f64 = 3.0;
const LEAST_BYTES_PER_TOKEN: f64 = 1.0;
const MOST_BYTES_PER_TOKEN: f64 = 8.0;

#[cfg(test)]
mod tests {
    use a2a::model::{Message, Part, Role};
    use chat::ToolCall;

    use super::super::conversation::StoredEntry;
    use super::*;
    use a2a::model::decode::read_json;

    fn client(id: &str, text: &str) -> Message {
        Message {
            message_id: id.to_owned(),
            context_id: None,
            task_id: None,
            role: Role::User,
            parts: vec![Part::text(text)],
            metadata: None,
            extensions: Vec::new(),
            reference_task_ids: Vec::new(),
        }
    }

    fn assistant(text: &str, calls: &[&str]) -> ChatMessage {
        let call = |id: &&str| ToolCall {
            id: (*id).to_owned(),
            name: "t".to_owned(),
            arguments: String::new(),
            extra: None,
        };
        let calls = calls.iter().map(call).collect();
        ChatMessage::Assistant { text: text.to_owned(), calls, reasoning: None }
    }

    fn result(id: &str, text: &str) -> ChatMessage {
        ChatMessage::Tool { call_id: id.to_owned(), text: text.to_owned() }
    }

    /// Earlier messages, the client's message, and a round with two calls; each message has about 100 bytes.
    fn conversation() -> Conversation {
        let text = "x".repeat(88);
        let mut conversation = Conversation::default();
        conversation.push(ChatMessage::user(&text));
        conversation.push(assistant(&text, &[]));
        conversation.push_client(&client("m1", &"u".repeat(88)), &[]);
        conversation.push(assistant("", &["a", "b"]));
        conversation.push(result("a", &text));
        conversation.push(result("b", &text));
        conversation.push(assistant("", &["c"]));
        conversation.push(result("c", &text));
        conversation
    }

    fn roles(messages: &[ChatMessage]) -> String {
        messages
            .iter()
            .map(|message| match message {
                ChatMessage::System(_) => 's',
                ChatMessage::User(_) => 'u',
                ChatMessage::Assistant { .. } => 'a',
                ChatMessage::Tool { .. } => 't',
            })
            .collect()
    }

    #[test]
    fn the_oldest_messages_go_first_and_calls_keep_their_results() {
        for (tokens, expected) in
            [(1_000, "suauattat"), (200, "suattat"), (170, "suattat"), (140, "suat"), (80, "suat")]
        {
            let messages = Budget::new(tokens).fit("Be brief.", &conversation(), 0);
            assert_eq!(roles(&messages), expected, "{tokens}");
            let ChatMessage::System(told) = &messages[0] else { panic!("no instructions") };
            assert_eq!(told.contains(GAP), expected.len() < 9, "{told}");
        }
        assert_eq!(roles(&Budget::new(1_000).fit("", &conversation(), 0)), "uauattat");
        assert_eq!(roles(&Budget::new(1_000).fit("", &conversation(), 2_900)), "suat");
    }

    #[test]
    fn results_are_cut_when_nothing_else_helps() {
        let messages = Budget::new(50).fit("", &conversation(), 0);
        let Some(ChatMessage::Tool { text, .. }) = messages.last() else { panic!("no result") };
        assert!(text.contains("[cut: these are the first") && text.len() < 88, "{text}");
    }

    #[test]
    fn the_provider_counts_better_than_three_bytes() {
        let mut budget = Budget::new(100);
        assert_eq!(budget.bytes(), 300);
        budget.learn(Some(&Usage { input: 100, ..Usage::default() }), 400);
        assert_eq!(budget.bytes(), 400);
        budget.learn(None, 1);
        budget.learn(Some(&Usage::default()), 1);
        assert_eq!(budget.bytes(), 400);
        budget.halve(400);
        assert_eq!(budget.bytes(), 200);
    }

    #[test]
    fn a_conversation_is_kept_and_read() {
        let conversation = conversation();
        let history = [client("m1", &"u".repeat(88))];
        let kept = conversation.kept(100_000);
        let json = serde_json::to_string(&kept).unwrap();
        assert!(!json.contains("uuu"), "the task has it");
        assert_eq!(read_json::<Vec<StoredEntry>>(&json).unwrap(), kept);
        assert_eq!(Conversation::read(kept.clone(), &history, &[]), Some(conversation.clone()));
        assert_eq!(Conversation::read(kept, &[], &[]), None);
        let cut = conversation.kept(300);
        let cut = Conversation::read(cut, &history, &[]).unwrap();
        assert_eq!(cut.entries, conversation.entries[6..]);
    }
}
