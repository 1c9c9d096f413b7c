//! The media types of the parts of messages, and those that an agent accepts (spec §3.1.1, §4.4.1, §4.4.5).

use serde_json::Value;

use crate::error::Error;
use crate::model::{CREDENTIALS_MEDIA_TYPE, FieldViolation, Message, Part, PartContent};
use crate::wire::media_type::essence;

/// The media types that an agent accepts: without parameters, in lower case, each once. `*/*` and `*` match all types,
/// `text/*` matches all types that begin with `text/`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputModes(Vec<String>);

impl InputModes {
    /// The media types in a card of A2A 1.0: the default ones, and those of each skill.
    pub fn of_card(card: &Value) -> Self {
        let mut modes = Self::default();
        modes.add(card.get("defaultInputModes"));
        let skills = card.get("skills").and_then(Value::as_array);
        skills.into_iter().flatten().for_each(|skill| modes.add_skill(skill));
        modes
    }

    /// Adds the media types of a skill, which has the form of A2A 1.0.
    pub fn add_skill(&mut self, skill: &Value) {
        self.add(skill.get("inputModes"));
    }

    /// Checks that the type of each part of a message is accepted. A part with credentials for the task is for the server,
    /// and is accepted in any case.
    ///
    /// # Errors
    ///
    /// [`Error::PartNotAccepted`] for the first part that is not accepted.
    pub fn check(&self, message: &Message) -> Result<(), Error> {
        for (index, part) in message.parts.iter().enumerate() {
            let media_type = media_type(part);
            if media_type != CREDENTIALS_MEDIA_TYPE && !self.take(&media_type) {
                let field = format!("message.parts[{index}]");
                let description = format!(
                    "is of the media type {}, which this agent does not take; it takes {}",
                    shortened(&media_type),
                    self.told()
                );
                let violation = FieldViolation::new(field, description);
                return Err(Error::PartNotAccepted(Box::new(violation)));
            }
        }
        Ok(())
    }

    fn take(&self, media_type: &str) -> bool {
        self.0.iter().any(|mode| match mode.strip_suffix('*') {
            Some("" | "*/") => true,
            Some(begin) if begin.ends_with('/') => media_type.starts_with(begin),
            Some(_) | None => mode == media_type,
        })
    }

    fn add(&mut self, modes: Option<&Value>) {
        let modes = modes.and_then(Value::as_array).into_iter().flatten();
        for mode in modes.filter_map(Value::as_str).map(normal) {
            if !mode.is_empty() && !self.0.contains(&mode) {
                self.0.push(mode);
            }
        }
    }

    /// The list of the types, for a refusal.
    fn told(&self) -> String {
        let shown = self.0.iter().take(MAX_TOLD).map(|mode| shortened(mode));
        let shown = shown.collect::<Vec<_>>().join(", ");
        match self.0.len().checked_sub(MAX_TOLD) {
            None | Some(0) if shown.is_empty() => "none".to_owned(),
            None | Some(0) => shown,
            Some(more) => format!("{shown} and {more} more"),
        }
    }
}

/// The media type of a part: the one that it names, otherwise the usual type of its content. Clients omit it if it follows
/// from the content; for a file without a type, nothing is known.
fn media_type(part: &Part) -> String {
    let named = part.media_type.as_deref().map(normal).unwrap_or_default();
    match &part.content {
        _ if !named.is_empty() => named,
        PartContent::Text(_) => "text/plain".to_owned(),
        PartContent::Data(_) => "application/json".to_owned(),
        PartContent::Raw(_) | PartContent::Url(_) => "application/octet-stream".to_owned(),
    }
}

fn normal(media_type: &str) -> String {
    essence(media_type).trim().to_ascii_lowercase()
}

fn shortened(media_type: &str) -> String {
    media_type.chars().take(MAX_TOLD_CHARS).collect()
}

/// The largest number of media types in a refusal, and the largest length of each in characters.
const MAX_TOLD: usize = 20;
const MAX_TOLD_CHARS: usize = 100;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Call, Operation};

    fn checked(modes: &[&str], parts: Value) -> Result<(), String> {
        let params = json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": parts}});
        let call: Call = Operation::SendMessage.decode(params).unwrap();
        let card = json!({"defaultInputModes": modes, "skills": []});
        let checked = InputModes::of_card(&card).check(&call.message().unwrap().message);
        checked.map_err(|error| error.to_string())
    }

    #[test]
    fn a_part_is_of_the_type_that_it_names_or_else_of_that_of_its_content() {
        for (part, media_type) in [
            (json!({"text": "a"}), "text/plain"),
            (json!({"data": {"a": 1}}), "application/json"),
            (json!({"data": null}), "application/json"),
            (json!({"raw": "aGk="}), "application/octet-stream"),
            (json!({"raw": "aGk=", "filename": "a.png"}), "application/octet-stream"),
            (json!({"url": "https://a.example/b.png"}), "application/octet-stream"),
            (json!({"text": "a", "mediaType": ""}), "text/plain"),
            (json!({"text": "a", "mediaType": " ; charset=utf-8"}), "text/plain"),
            (json!({"text": "a", "mediaType": "text/markdown"}), "text/markdown"),
            (json!({"text": "a", "mediaType": "application/json"}), "application/json"),
            (json!({"data": {}, "mediaType": "application/geo+json"}), "application/geo+json"),
            (json!({"raw": "aGk=", "mediaType": "Image/PNG"}), "image/png"),
            (json!({"url": "https://a.example", "mediaType": "a/b ; c=d;e"}), "a/b"),
        ] {
            assert_eq!(checked(&[media_type], json!([part])), Ok(()), "{part}");
            let told = format!(
                "message.parts[0] is of the media type {media_type}, which this agent does not take; it takes x/y"
            );
            assert_eq!(checked(&["x/y"], json!([part])), Err(told), "{part}");
        }
    }

    #[test]
    fn what_is_taken_may_be_a_range_and_is_compared_without_parameters_and_case() {
        for (mode, media_type, is_taken) in [
            ("image/png", "image/png", true),
            ("Image/PNG; q=1", "image/png", true),
            ("image/png", "IMAGE/PNG;a=b", true),
            ("image/*", "image/png", true),
            ("image/*", "imagery/png", false),
            ("image/*", "image/*", true),
            ("image/png", "image/*", false),
            ("image/p*", "image/png", false),
            ("*/*", "image/png", true),
            ("*", "image/png", true),
            ("*/png", "image/png", false),
            ("application/json", "application/geo+json", false),
            ("image", "image/png", false),
            ("", "image/png", false),
        ] {
            let part = json!({"raw": "aGk=", "mediaType": media_type});
            let checked = checked(&[mode], json!([part]));
            assert_eq!(checked.is_ok(), is_taken, "{mode} {media_type}: {checked:?}");
        }
    }

    #[test]
    fn the_first_part_that_does_not_fit_is_told_and_what_would() {
        let parts = json!([{"text": "a"}, {"raw": "", "mediaType": "a/b"}, {"url": "https://c"}]);
        let told = "message.parts[1] is of the media type a/b, which this agent does not take; it takes text/plain";
        assert_eq!(checked(&["text/plain", "Text/Plain"], parts.clone()), Err(told.to_owned()));
        assert!(checked(&[], parts.clone()).unwrap_err().ends_with("it takes none"));
        let many: Vec<String> = (0..23).map(|number| format!("x/{number}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let told = checked(&many, parts).unwrap_err();
        assert!(told.ends_with("x/18, x/19 and 3 more"), "{told}");
        let long = json!([{"raw": "", "mediaType": format!("a/{}", "b".repeat(5_000))}]);
        let told = checked(&["text/plain"], long).unwrap_err();
        assert!(told.len() < 250, "{told}");
    }

    #[test]
    fn credentials_for_the_task_are_no_content() {
        let part = json!({"data": {}, "mediaType": CREDENTIALS_MEDIA_TYPE});
        assert_eq!(checked(&["text/plain"], json!([{"text": "a"}, part])), Ok(()));
    }

    #[test]
    fn skills_count_besides_the_defaults() {
        let card = json!({
            "defaultInputModes": ["text/plain"],
            "skills": [{"inputModes": ["image/png", "text/plain"]}, {}, {"inputModes": ["a/b"]}],
        });
        let mut modes = InputModes::of_card(&card);
        modes.add_skill(&json!({"inputModes": ["c/d"]}));
        assert_eq!(modes.0, ["text/plain", "image/png", "a/b", "c/d"]);
    }
}
