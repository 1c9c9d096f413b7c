//! Credentials in a message for a task that waits for some (spec §7.6).

use serde_json::json;

use a2a::error::Error;
use a2a::model::{CREDENTIALS_MEDIA_TYPE, Message, Part, PartContent, Secret};

/// Credentials as they arrived.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenCredentials {
    /// A JSON object.
    pub text: Secret,
    /// True if the credentials were in a part of the message.
    pub is_part: bool,
}

impl GivenCredentials {
    /// Removes the credentials from a message: the part that contains them keeps its place and its media type, but its
    /// data becomes an empty object. `authorization` is the header of that name, if it is meant for the task.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParams`] if the message begins a task, has several such parts, or has such a part whose data is
    /// not an object.
    pub fn take(message: &mut Message, authorization: Option<&str>) -> Result<Option<Self>, Error> {
        let goes_on = message.task_id.is_some();
        let mut found = None;
        for (index, part) in message.parts.iter_mut().enumerate() {
            if !holds_credentials(part) {
                continue;
            }
            let invalid =
                |fix: &str| Error::invalid(format!("message.parts[{index}]"), fix.to_owned());
            if !goes_on {
                let fix = "holds credentials, which a task takes only when it waits for them; leave the part out";
                return Err(invalid(fix));
            }
            if found.is_some() {
                return Err(invalid("is the second one with credentials; put them all into one"));
            }
            let text = match &part.content {
                PartContent::Data(data) if data.value().is_object() => data.as_str().to_owned(),
                PartContent::Data(_)
                | PartContent::Text(_)
                | PartContent::Raw(_)
                | PartContent::Url(_) => {
                    return Err(invalid("must have credentials as its data, a JSON object"));
                }
            };
            if text.len() > MAX_BYTES {
                return Err(invalid(&format!(
                    "must have at most {MAX_BYTES} bytes of credentials"
                )));
            }
            found = Some(Self { text: Secret::new(text), is_part: true });
            *part = Part::data(json!({})).with_media_type(CREDENTIALS_MEDIA_TYPE);
        }
        let header = authorization.filter(|value| goes_on && value.len() <= MAX_BYTES);
        Ok(found.or_else(|| {
            let text = json!({"authorization": header?}).to_string();
            Some(Self { text: Secret::new(text), is_part: false })
        }))
    }
}

fn holds_credentials(part: &Part) -> bool {
    let essence = part.media_type.as_deref().unwrap_or_default().split(';').next();
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case(CREDENTIALS_MEDIA_TYPE))
}

/// The largest credentials, in bytes.
const MAX_BYTES: usize = 16 * 1024;

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use a2a::{Call, Operation};

    fn send(parts: Value, task: Option<&str>) -> Call {
        let message =
            json!({"messageId": "m", "role": "ROLE_USER", "parts": parts, "taskId": task});
        Operation::SendMessage.decode(json!({"message": message})).unwrap()
    }

    fn take(
        call: &mut Call,
        authorization: Option<&str>,
    ) -> Result<Option<GivenCredentials>, Error> {
        GivenCredentials::take(&mut call.message_mut().unwrap().message, authorization)
    }

    fn part(data: &Value) -> Value {
        json!({"data": data, "mediaType": CREDENTIALS_MEDIA_TYPE, "metadata": {"hint": "k-1"}})
    }

    #[test]
    fn credentials_leave_the_message() {
        let mut call = send(json!([{"text": "here"}, part(&json!({"key": "k-1"}))]), Some("t"));
        let taken = take(&mut call, Some("Bearer b")).unwrap().unwrap();
        assert_eq!(taken.text.reveal(), r#"{"key":"k-1"}"#);
        assert!(taken.is_part);
        let left = &call.message().unwrap().message;
        let left = serde_json::to_string(left).unwrap();
        assert!(!left.contains("k-1") && left.contains(CREDENTIALS_MEDIA_TYPE), "{left}");
        let mut call = send(json!([{"text": "here"}]), Some("t"));
        assert_eq!(take(&mut call, None).unwrap(), None);
        let taken = take(&mut call, Some("Bearer b")).unwrap().unwrap();
        assert_eq!(taken.text.reveal(), r#"{"authorization":"Bearer b"}"#);
        assert!(!taken.is_part);
        let mut call = send(json!([{"text": "here"}]), None);
        assert_eq!(take(&mut call, Some("Bearer b")).unwrap(), None);
    }

    #[test]
    fn other_forms_of_credentials_are_refused_and_not_repeated() {
        let given = part(&json!({"key": "k-1"}));
        let large = part(&json!({"key": "x".repeat(MAX_BYTES)}));
        let text =
            json!({"text": "k-1", "mediaType": "Application/vnd.a2a-edge.credentials+JSON; v=1"});
        for (parts, task, reason) in [
            (json!([given]), None, "parts[0] holds credentials, which a task takes only"),
            (json!([given, given]), Some("t"), "parts[1] is the second one"),
            (json!([part(&json!("k-1"))]), Some("t"), "parts[0] must have credentials as its data"),
            (json!([text]), Some("t"), "parts[0] must have credentials as its data"),
            (json!([large]), Some("t"), "parts[0] must have at most 16384 bytes"),
        ] {
            let refused = take(&mut send(parts, task), None).unwrap_err().to_string();
            assert!(refused.contains(reason) && !refused.contains("k-1"), "{refused}");
        }
    }
}
