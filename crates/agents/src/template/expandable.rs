//! Texts in the settings of executors.

use serde::Deserialize;

use super::{Piece, Pieces, Template, no_value_name, unclosed};
use crate::{NotSet, Values, is_value_name};
use a2a::model::Secret;

/// A text of an executor's settings with placeholders for secrets and variables: `${NAME}`. `$${…}` is the literal text
/// `${…}`; all other braces are literal.
///
/// ```
/// use a2a_agents::{Expandable, NotSet, Values};
/// use a2a::model::Secret;
///
/// struct Deployment;
///
/// impl Values for Deployment {
///     fn value(&self, name: &str) -> Result<Secret, NotSet> {
///         match name {
///             "SEATS_KEY" => Ok(Secret::new("k-1")),
///             _ => Err(NotSet::value(name)),
///         }
///     }
/// }
///
/// let header: Expandable = serde_json::from_str(r#""Bearer ${SEATS_KEY}""#)?;
/// assert_eq!(header.expand(&Deployment)?.reveal(), "Bearer k-1");
/// let header: Expandable = serde_json::from_str(r#""Bearer ${OTHER_KEY}""#)?;
/// assert!(header.expand(&Deployment).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Expandable(Template);

impl Expandable {
    /// Parses a text.
    ///
    /// # Errors
    ///
    /// If `${` is not followed by a name in capital letters and a closing brace.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut pieces = Pieces::default();
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            let (before, from) = rest.split_at(at);
            let (name, after) = from
                .get(2..)
                .and_then(|inside| inside.split_once('}'))
                .ok_or_else(|| unclosed(from))?;
            if let Some(before) = before.strip_suffix('$') {
                pieces.text(&format!("{before}${{{name}}}"));
            } else if is_value_name(name) {
                pieces.text(before);
                pieces.0.push(Piece::Value(name.to_owned()));
            } else {
                return Err(no_value_name(name));
            }
            rest = after;
        }
        pieces.text(rest);
        Ok(Self(Template(pieces.0)))
    }

    /// The text with its secrets and variables, which are read in each call. The result may contain a secret.
    ///
    /// # Errors
    ///
    /// If a secret or a variable is not set.
    pub fn expand(&self, values: &(impl Values + ?Sized)) -> Result<Secret, NotSet> {
        let mut text = String::new();
        for piece in &self.0.0 {
            match piece {
                Piece::Value(name) => text.push_str(values.value(name)?.reveal()),
                Piece::Text(piece) | Piece::Argument(piece) => text.push_str(piece),
            }
        }
        Ok(Secret::new(text))
    }

    /// The names of the secrets and variables in the text.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        self.0.values()
    }
}

impl TryFrom<String> for Expandable {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Known;
    use super::*;

    #[test]
    fn settings_of_executors_have_secrets_but_no_arguments() {
        let expand = |text: &str| Expandable::parse(text).unwrap().expand(&Known(&[("KEY", "k")]));
        for (text, expanded) in [
            ("{a} {{ ${KEY}}", "{a} {{ k}"),
            ("$${KEY} $$${KEY}", "${KEY} $${KEY}"),
            ("no $ at all {", "no $ at all {"),
        ] {
            assert_eq!(expand(text), Ok(Secret::new(expanded)), "{text}");
        }
        assert_eq!(expand("${NONE}"), Err(NotSet::value("NONE")));
        assert!(Expandable::parse("${key}").unwrap_err().contains("capital letters"));
        assert!(Expandable::parse("${KEY").unwrap_err().contains("closing brace"));
    }
}
