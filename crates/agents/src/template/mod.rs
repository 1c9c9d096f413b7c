//! Texts in agent files with placeholders for arguments, secrets and variables: `{argument}` and `${NAME}`.
//!
//! A template is parsed once and filled in for each use. The escaping of a value depends on its place in the request,
//! so each place has its own type: [`UrlTemplate`], [`HeaderTemplate`], [`BodyTemplate`].

mod body;
mod expandable;
mod header;
mod literal;
mod origin;
mod url;

use serde_json::{Map, Value};

pub(crate) use body::BodyTemplate;
pub use expandable::Expandable;
pub(crate) use header::{HeaderTemplate, check_header_name, visible};
pub(crate) use url::UrlTemplate;

use crate::{NotSet, Values, is_value_name};
/// A text with placeholders for arguments (`{city}`), and for secrets and variables (`${API_KEY}`).
///
/// `{{` and `}}` are literal braces, `$${…}` is the literal text `${…}`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Template(Vec<Piece>);

/// A piece of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Literal text.
    Text(String),
    /// The name of an argument of the call.
    Argument(String),
    /// The name of a secret or a variable of the deployment.
    Value(String),
}

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    ///
    /// The invalid brace and its correction, as a text that continues the key.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut pieces = Pieces::default();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}', '$']) {
            let (before, from) = rest.split_at(at);
            pieces.text(before);
            if let Some(inside) = from.strip_prefix("$${") {
                let (name, after) = inside.split_once('}').ok_or_else(|| unclosed(from))?;
                pieces.text(&format!("${{{name}}}"));
                rest = after;
            } else if let Some(inside) = from.strip_prefix("${") {
                let (name, after) = inside.split_once('}').ok_or_else(|| unclosed(from))?;
                if !is_value_name(name) {
                    return Err(no_value_name(name));
                }
                pieces.0.push(Piece::Value(name.to_owned()));
                rest = after;
            } else if let Some(after) = from.strip_prefix('$') {
                pieces.text("$");
                rest = after;
            } else if let Some(after) = from.strip_prefix("{{") {
                pieces.text("{");
                rest = after;
            } else if let Some(after) = from.strip_prefix("}}") {
                pieces.text("}");
                rest = after;
            } else if let Some(inside) = from.strip_prefix('{') {
                let (name, after) = inside.split_once('}').ok_or_else(|| unclosed(from))?;
                if !is_argument_name(name) {
                    return Err(format!(
                        "holds {{{name}}}, which names no argument; write {{{{ and }}}} for braces"
                    ));
                }
                pieces.0.push(Piece::Argument(name.to_owned()));
                rest = after;
            } else {
                return Err("holds a } that closes nothing; write }} for a brace".to_owned());
            }
        }
        pieces.text(rest);
        Ok(Self(pieces.0))
    }

    /// The names of the arguments in the template.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Argument(name) => Some(name.as_str()),
            Piece::Text(_) | Piece::Value(_) => None,
        })
    }

    /// The names of the secrets and variables in the template.
    pub(crate) fn values(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Value(name) => Some(name.as_str()),
            Piece::Text(_) | Piece::Argument(_) => None,
        })
    }

    /// The name of the argument, if the template consists of one argument.
    fn only_argument(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Piece::Argument(name)] => Some(name),
            _ => None,
        }
    }

    /// True if the template has no placeholders.
    fn is_fixed(&self) -> bool {
        self.0.iter().all(|piece| matches!(piece, Piece::Text(_)))
    }

    /// The literal texts.
    fn texts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(text.as_str()),
            Piece::Argument(_) | Piece::Value(_) => None,
        })
    }

    /// True if the template consists of one argument that the call does not set. The header, field or member with this
    /// template is then left out.
    fn is_left_out(&self, filling: &Filling<'_>) -> bool {
        self.only_argument().is_some_and(|name| filling.argument(name).is_none())
    }

    /// Fills in the template; `escape` encodes each value for its place.
    fn fill(
        &self,
        filling: &Filling<'_>,
        escape: impl Fn(&str) -> Result<String, &'static str>,
    ) -> Result<String, FillError> {
        let mut filled = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Argument(name) => {
                    let text = filling.argument(name).map(text_of).unwrap_or_default();
                    let escaped = escape(&text).map_err(|rule| FillError::argument(name, rule))?;
                    filled.push_str(&escaped);
                }
                Piece::Value(name) => {
                    let value = filling.values.value(name)?;
                    let escaped =
                        escape(value.reveal()).map_err(|rule| FillError::value(name, rule))?;
                    filled.push_str(&escaped);
                }
            }
        }
        Ok(filled)
    }

    /// Splits the template at the separators in its literal texts; returns one part if there are none.
    fn split(self, separator: char) -> Vec<Self> {
        let mut parts = vec![Pieces::default()];
        for piece in self.0 {
            let Piece::Text(text) = piece else {
                if let Some(part) = parts.last_mut() {
                    part.0.push(piece);
                }
                continue;
            };
            for (index, text) in text.split(separator).enumerate() {
                if index > 0 {
                    parts.push(Pieces::default());
                }
                if let Some(part) = parts.last_mut() {
                    part.text(text);
                }
            }
        }
        parts.into_iter().map(|part| Self(part.0)).collect()
    }

    /// Splits the template before the first of these characters in its literal texts.
    fn split_at_first(self, letters: &[char]) -> (Self, Self) {
        let (mut before, mut from) = (Pieces::default(), Pieces::default());
        let mut is_found = false;
        for piece in self.0 {
            match piece {
                piece if is_found => from.0.push(piece),
                Piece::Text(text) => {
                    let at = text.find(letters);
                    let (first, second) = text.split_at(at.unwrap_or(text.len()));
                    before.text(first);
                    from.text(second);
                    is_found = at.is_some();
                }
                piece => before.0.push(piece),
            }
        }
        (Self(before.0), Self(from.0))
    }

    /// The rest of the template after the text `prefix`; `None` if the template does not begin with that text.
    fn strip_prefix(&self, prefix: &str) -> Option<Self> {
        let (first, rest) = self.0.split_first()?;
        let Piece::Text(text) = first else { return None };
        let mut pieces = Pieces::default();
        pieces.text(text.strip_prefix(prefix)?);
        pieces.0.extend_from_slice(rest);
        Some(Self(pieces.0))
    }
}

/// Collects pieces, without empty texts.
#[derive(Default)]
struct Pieces(Vec<Piece>);

impl Pieces {
    fn text(&mut self, text: &str) {
        match self.0.last_mut() {
            _ if text.is_empty() => {}
            Some(Piece::Text(before)) => before.push_str(text),
            _ => self.0.push(Piece::Text(text.to_owned())),
        }
    }
}

/// The values for a template: the arguments of a call, and the secrets and variables of the deployment.
pub(crate) struct Filling<'a> {
    /// The arguments by name. `null` counts as not set.
    pub(crate) arguments: &'a Map<String, Value>,
    /// The secrets and variables.
    pub(crate) values: &'a dyn Values,
}

impl Filling<'_> {
    fn argument(&self, name: &str) -> Option<&Value> {
        self.arguments.get(name).filter(|value| !value.is_null())
    }
}

/// The reason why a template cannot be filled in. The texts contain no secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FillError {
    /// The value of an argument does not fit its place: an error of the caller.
    Argument(String),
    /// A secret or a variable does not fit its place: an error of the deployment.
    Value(String),
    /// A secret or a variable is not set.
    NotSet(NotSet),
}

impl FillError {
    fn argument(name: &str, rule: &str) -> Self {
        Self::Argument(format!("arguments.{name}: {rule}"))
    }

    fn value(name: &str, rule: &str) -> Self {
        Self::Value(format!("the secret or variable {name} {rule}"))
    }
}

impl From<NotSet> for FillError {
    fn from(missing: NotSet) -> Self {
        Self::NotSet(missing)
    }
}

/// An argument as text: a string unchanged, a list of simple values separated by commas, anything else as JSON.
fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(elements)
            if elements.iter().all(|value| !value.is_array() && !value.is_object()) =>
        {
            elements.iter().map(text_of).collect::<Vec<_>>().join(",")
        }
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// True for a name that an argument in a template may have.
pub(crate) fn is_argument_name(name: &str) -> bool {
    let goes_on = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(goes_on)
}

fn unclosed(from: &str) -> String {
    let shown: String = from.chars().take(20).collect();
    format!("holds {shown:?}, where a closing brace is missing; write {{{{ for a brace")
}

fn no_value_name(name: &str) -> String {
    format!(
        "holds ${{{name}}}, but secrets and variables have names such as API_KEY: capital letters, digits and _; \
         write $${{{name}}} for the text"
    )
}

#[cfg(test)]
pub(crate) mod testing {
    use a2a::model::Secret;

    use super::*;

    /// Secrets and variables, each with its name.
    pub(crate) struct Known(pub(crate) &'static [(&'static str, &'static str)]);

    impl Values for Known {
        fn value(&self, name: &str) -> Result<Secret, NotSet> {
            let found = self.0.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| Secret::new(*value)).ok_or_else(|| NotSet::value(name))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::testing::Known;
    use super::*;

    fn filled(template: &str, arguments: Value) -> Result<String, FillError> {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let values = Known(&[("KEY", "k{a}")]);
        let filling = Filling { arguments: &arguments, values: &values };
        Template::parse(template).unwrap().fill(&filling, |text| Ok(text.to_owned()))
    }

    #[test]
    fn templates_are_filled_in_once() {
        for (template, arguments, text) in [
            ("{a}", json!({"a": "x"}), "x"),
            ("a {a}-{b_2}", json!({"a": "{b_2}", "b_2": "${KEY}"}), "a {b_2}-${KEY}"),
            ("{{a}} $5 $$ ${KEY}", json!({}), "{a} $5 $$ k{a}"),
            ("$${KEY} $${any thing}", json!({}), "${KEY} ${any thing}"),
            ("${KEY}{a}", json!({"a": null}), "k{a}"),
            ("{a}", json!({"a": [1, true, "x"]}), "1,true,x"),
            ("{a}", json!({"a": {"b": ["\""]}}), r#"{"b":["\""]}"#),
            ("{a}", json!({"a": 1.5}), "1.5"),
            ("", json!({}), ""),
        ] {
            assert_eq!(filled(template, arguments).as_deref(), Ok(text), "{template}");
        }
        assert_eq!(filled("${NONE}", json!({})), Err(FillError::NotSet(NotSet::value("NONE"))));
    }

    #[test]
    fn what_means_nothing_is_refused_with_what_to_write() {
        for (template, told) in [
            ("{", "a closing brace is missing"),
            ("${KEY", "a closing brace is missing"),
            ("$${KEY", "a closing brace is missing"),
            ("}", "write }} for a brace"),
            ("{\"q\": 1}", "names no argument; write {{ and }} for braces"),
            ("{}", "names no argument"),
            ("{a b}", "names no argument"),
            ("{1}", "names no argument"),
            ("${key}", "capital letters, digits and _; write $${key} for the text"),
            ("${}", "capital letters"),
            ("${KEY-2}", "capital letters"),
            ("${_KEY}", "capital letters"),
        ] {
            let refused = Template::parse(template).expect_err(template);
            assert!(
                refused.starts_with("holds ") && refused.contains(told),
                "{template}: {refused}"
            );
        }
    }
}
