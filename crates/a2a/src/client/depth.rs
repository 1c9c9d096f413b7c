//! The depth of a message: the number of agent-to-agent calls before the message. The limit of the depth ends circular
//! calls.

use std::borrow::Cow;

use serde_json::Value;

use super::{Client, ClientError};
use crate::call::Call;
use crate::model::{Message, SendMessageRequest};

/// The member of a message's metadata that contains its depth.
pub const DEPTH_KEY: &str = "urn:a2a-edge:depth";

/// The default limit for the depth.
pub const MAX_DEPTH: u32 = 8;

/// The depth in the metadata of a message. A value that is not a number, or is less than 0, counts as 0; a number that
/// is too large counts as the largest `u32`.
///
/// ```
/// use a2a::client::simulation::Simulation;
/// use a2a::client::{DEPTH_KEY, create_message, depth_of};
/// use serde_json::json;
///
/// let mut message = create_message("hello", &Simulation::default().ports());
/// assert_eq!(depth_of(&message), 0);
/// message.metadata = Some(json!({DEPTH_KEY: 3}).as_object().cloned().unwrap_or_default().into());
/// assert_eq!(depth_of(&message), 3);
/// ```
pub fn depth_of(message: &Message) -> u32 {
    let member = message.metadata.as_ref().and_then(|metadata| metadata.member(DEPTH_KEY));
    member.as_ref().map_or(0, read_depth)
}

/// The depth in a metadata member.
pub fn read_depth(member: &Value) -> u32 {
    match member {
        // JSON writers write the number 3 in different forms: `3`, `3.0`, `3e0`.
        Value::Number(number) => number.as_f64().unwrap_or_default().ceil() as u32,
        Value::String(text) => text.trim().parse().unwrap_or_default(),
        _ => 0,
    }
}

impl Client {
    /// The request with the depth of its message set.
    ///
    /// # Errors
    ///
    /// [`ClientError::TooDeep`].
    pub(super) fn deepened(
        &self,
        mut request: SendMessageRequest,
    ) -> Result<SendMessageRequest, ClientError> {
        if let Some(depth) = self.depth_to_say(&request.message)? {
            say(depth, &mut request.message);
        }
        Ok(request)
    }

    /// As [`deepened`](Self::deepened), for any call. The call is copied only if its message needs another depth.
    pub(super) fn deepened_call<'a>(&self, call: &'a Call) -> Result<Cow<'a, Call>, ClientError> {
        let Some(request) = call.message() else { return Ok(Cow::Borrowed(call)) };
        let Some(depth) = self.depth_to_say(&request.message)? else {
            return Ok(Cow::Borrowed(call));
        };
        let mut call = call.clone();
        if let Some(request) = call.message_mut() {
            say(depth, &mut request.message);
        }
        Ok(Cow::Owned(call))
    }

    /// The depth to set in a message; `None` if the message already has it.
    fn depth_to_say(&self, message: &Message) -> Result<Option<u32>, ClientError> {
        let (known, limit) = (depth_of(message), self.settings().max_depth);
        let depth = known.max(self.settings().depth);
        if depth > limit {
            return Err(ClientError::TooDeep { depth, limit });
        }
        Ok((depth > known).then_some(depth))
    }
}

fn say(depth: u32, message: &mut Message) {
    let mut members = message.metadata.take().unwrap_or_default().members();
    members.insert(DEPTH_KEY.to_owned(), depth.into());
    message.metadata = Some(members.into());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::call::TaskCall;
    use crate::client::simulation::Simulation;
    use crate::client::{Settings, create_message};
    use crate::model::{Metadata, SendMessageConfiguration};

    fn metadata(value: Value) -> Metadata {
        json!({DEPTH_KEY: value, "other": 1}).as_object().cloned().unwrap().into()
    }

    fn request(metadata: Option<Metadata>) -> SendMessageRequest {
        let message = create_message("hello", &Simulation::default().ports());
        let message = Message { metadata, ..message };
        let configuration = SendMessageConfiguration::default();
        SendMessageRequest { tenant: None, message, configuration, metadata: None }
    }

    #[test]
    fn a_depth_is_a_number_that_nothing_else_stands_for() {
        for (value, depth) in [
            (json!(0), 0),
            (json!(7), 7),
            (json!(7.0), 7),
            (json!(7.2), 8),
            (json!("7"), 7),
            (json!(-3), 0),
            (json!(-0.5), 0),
            (json!(1e300), u32::MAX),
            (json!(u64::MAX), u32::MAX),
            (json!("many"), 0),
            (json!(true), 0),
            (json!([7]), 0),
            (json!({"a": 7}), 0),
            (json!(null), 0),
        ] {
            let message = request(Some(metadata(value.clone()))).message;
            assert_eq!(depth_of(&message), depth, "{value}");
        }
        assert_eq!(depth_of(&request(None).message), 0);
    }

    #[test]
    fn a_client_raises_the_depth_of_what_it_sends_and_lowers_none() {
        let client = |depth| {
            let settings = Settings { depth, ..Settings::new("https://a.example") };
            Client::new(settings, Simulation::default().ports())
        };
        for (of_client, of_message, sent) in [
            (0, None, None),
            (1, None, Some(json!(1))),
            (3, Some(json!(2)), Some(json!(3))),
            (3, Some(json!("x")), Some(json!(3))),
            (3, Some(json!(5)), Some(json!(5))),
        ] {
            let sending =
                client(of_client).deepened(request(of_message.clone().map(metadata))).unwrap();
            let metadata = sending.message.metadata;
            let member = metadata.as_ref().and_then(|metadata| metadata.member(DEPTH_KEY));
            assert_eq!(member, sent);
            let other = metadata.and_then(|metadata| metadata.member("other"));
            assert_eq!(other.is_some(), of_message.is_some(), "other members are kept");
        }
        let asked = request(None);
        let call = Call::Task(TaskCall::SendMessage(Box::new(asked.clone())));
        let deeper = client(3).deepened_call(&call).unwrap().into_owned();
        assert_eq!(deeper.message(), Some(&client(3).deepened(asked).unwrap()));
        let same = client(3).deepened_call(&deeper).unwrap();
        assert!(matches!(same, Cow::Borrowed(_)), "it says so already");
        for (of_client, of_message) in [(9, json!(0)), (1, json!(9)), (0, json!(1e12))] {
            let refused = client(of_client).deepened(request(Some(metadata(of_message))));
            assert!(matches!(refused, Err(ClientError::TooDeep { limit: 8, .. })), "{refused:?}");
        }
    }
}
