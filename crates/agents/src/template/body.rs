//! Templates of request bodies: JSON, a form, or text.

use serde_json::{Map, Value};

use super::{FillError, Filling, Template};
use crate::Problem;
use a2a::binding::percent::encode;

/// A body.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum BodyTemplate {
    /// JSON.
    Json(JsonTemplate),
    /// The fields of a form, urlencoded.
    Form(Vec<(String, Template)>),
    /// Text, in which values are not escaped.
    Text(Template),
}

/// JSON whose strings are templates.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum JsonTemplate {
    /// A number, a boolean or null.
    Fixed(Value),
    /// A string. If it consists of one argument, it becomes the value of that argument, of any type.
    Text(Template),
    /// A list. An element that consists of one argument is left out if the call does not set the argument.
    List(Vec<JsonTemplate>),
    /// Members. A member that consists of one argument is left out if the call does not set the argument.
    Members(Vec<(String, JsonTemplate)>),
}

impl BodyTemplate {
    /// Parses a body: a string is text, a table or an array is JSON.
    ///
    /// # Errors
    ///
    /// The problem, with its position in the body as the key (as `.items[0]`).
    pub(crate) fn parse(body: &Value) -> Result<Self, Problem> {
        match body {
            Value::String(text) => {
                Template::parse(text).map(Self::Text).map_err(|text| Problem::at("", text))
            }
            other => JsonTemplate::parse(other).map(Self::Json),
        }
    }

    /// Parses the fields of a form.
    ///
    /// # Errors
    ///
    /// The same as [`parse`](Self::parse).
    pub(crate) fn form(fields: &Map<String, Value>) -> Result<Self, Problem> {
        let read = |(name, value): (&String, &Value)| {
            let parsed = match value {
                Value::String(text) => Template::parse(text),
                Value::Number(_) | Value::Bool(_) => Template::parse(&value.to_string()),
                Value::Null | Value::Array(_) | Value::Object(_) => {
                    Err("must be a string, a number, true or false".to_owned())
                }
            };
            let parsed = parsed.map_err(|text| Problem::at(format!(".{name}"), text))?;
            Ok((name.clone(), parsed))
        };
        fields.iter().map(read).collect::<Result<_, _>>().map(Self::Form)
    }

    /// The media type of the body, if no header of the tool contains another one.
    pub(crate) fn media_type(&self) -> &'static str {
        match self {
            Self::Json(_) => "application/json",
            Self::Form(_) => "application/x-www-form-urlencoded",
            Self::Text(_) => "text/plain; charset=utf-8",
        }
    }

    /// All templates of the body.
    pub(crate) fn templates(&self) -> Vec<&Template> {
        match self {
            Self::Json(json) => json.templates(),
            Self::Form(fields) => fields.iter().map(|(_, value)| value).collect(),
            Self::Text(text) => vec![text],
        }
    }

    /// The body with all values filled in.
    ///
    /// # Errors
    ///
    /// If a secret or a variable is not set.
    pub(crate) fn fill(&self, filling: &Filling<'_>) -> Result<String, FillError> {
        match self {
            Self::Json(json) => Ok(json.fill(filling)?.unwrap_or_default().to_string()),
            Self::Text(text) => text.fill(filling, as_it_is),
            Self::Form(fields) => {
                let mut pairs = Vec::new();
                for (name, value) in fields.iter().filter(|(_, value)| !value.is_left_out(filling))
                {
                    let value = value.fill(filling, as_it_is)?;
                    pairs.push(format!("{}={}", field(name), field(&value)));
                }
                Ok(pairs.join("&"))
            }
        }
    }
}

impl JsonTemplate {
    fn parse(json: &Value) -> Result<Self, Problem> {
        let within = |place: String| move |problem: Problem| problem.under(&place);
        match json {
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(Self::Fixed(json.clone())),
            Value::String(text) => {
                Template::parse(text).map(Self::Text).map_err(|text| Problem::at("", text))
            }
            Value::Array(elements) => {
                let read = |(index, element): (usize, &Value)| {
                    Self::parse(element).map_err(within(format!("[{index}]")))
                };
                elements.iter().enumerate().map(read).collect::<Result<_, _>>().map(Self::List)
            }
            Value::Object(members) => {
                let read = |(name, member): (&String, &Value)| {
                    if name.contains(['{', '}']) {
                        let problem = "cannot have a brace in its name; arguments stand in values";
                        return Err(Problem::at(format!(".{name}"), problem));
                    }
                    let member = Self::parse(member).map_err(within(format!(".{name}")))?;
                    Ok((name.clone(), member))
                };
                members.iter().map(read).collect::<Result<_, _>>().map(Self::Members)
            }
        }
    }

    fn templates(&self) -> Vec<&Template> {
        match self {
            Self::Fixed(_) => Vec::new(),
            Self::Text(text) => vec![text],
            Self::List(elements) => elements.iter().flat_map(Self::templates).collect(),
            Self::Members(members) => {
                members.iter().flat_map(|(_, member)| member.templates()).collect()
            }
        }
    }

    /// The value; `None` if it consists of one argument that the call does not set.
    fn fill(&self, filling: &Filling<'_>) -> Result<Option<Value>, FillError> {
        Ok(Some(match self {
            Self::Fixed(value) => value.clone(),
            Self::Text(text) => match text.only_argument() {
                Some(name) => return Ok(filling.argument(name).cloned()),
                None => Value::String(text.fill(filling, as_it_is)?),
            },
            Self::List(elements) => {
                let filled =
                    elements.iter().filter_map(|element| element.fill(filling).transpose());
                Value::Array(filled.collect::<Result<_, _>>()?)
            }
            Self::Members(members) => {
                let mut filled = Map::new();
                for (name, member) in members {
                    if let Some(value) = member.fill(filling)? {
                        filled.insert(name.clone(), value);
                    }
                }
                Value::Object(filled)
            }
        }))
    }
}

fn as_it_is(text: &str) -> Result<String, &'static str> {
    Ok(text.to_owned())
}

/// Encodes a name or a value of a form: a space becomes `+`.
fn field(text: &str) -> String {
    encode(text).replace("%20", "+")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing::Known;
    use super::*;

    fn fill(body: &BodyTemplate, arguments: Value) -> String {
        let arguments = arguments.as_object().cloned().unwrap();
        let filling = Filling { arguments: &arguments, values: &Known(&[("KEY", "k\"")]) };
        body.fill(&filling).unwrap()
    }

    #[test]
    fn an_argument_keeps_its_type_in_json() {
        let body = json!({
            "count": "{count}", "tags": ["{tag}", "fixed", "{none}"], "note": "for {tag}, {none}",
            "key": "${KEY}", "none": "{none}", "deep": {"none": "{none}"}, "one": 1, "off": false,
        });
        let body = BodyTemplate::parse(&body).unwrap();
        let sent = fill(&body, json!({"count": 5, "tag": {"a": [true]}}));
        let sent: Value = serde_json::from_str(&sent).unwrap();
        let expected = json!({
            "count": 5, "tags": [{"a": [true]}, "fixed"], "note": "for {\"a\":[true]}, ",
            "key": "k\"", "deep": {}, "one": 1, "off": false,
        });
        assert_eq!(sent, expected);
        let text = BodyTemplate::parse(&json!("{a} & ${KEY}")).unwrap();
        assert_eq!(fill(&text, json!({"a": "<&>"})), "<&> & k\"");
    }

    #[test]
    fn the_fields_of_a_form_are_encoded_and_those_without_their_argument_left_out() {
        let fields = json!({"a b": "{a}", "none": "{none}", "n": 5, "key": "x ${KEY}"});
        let form = BodyTemplate::form(fields.as_object().unwrap()).unwrap();
        assert_eq!(fill(&form, json!({"a": "1&b=2 +ü"})), "a+b=1%26b%3D2+%2B%C3%BC&n=5&key=x+k%22");
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        for (body, place) in [
            (json!({"a": [{"b": "{"}]}), ".a[0].b"),
            (json!({"{a}": 1}), ".{a}"),
            (json!(["x", "${a}"]), "[1]"),
            (json!("{"), ""),
        ] {
            assert_eq!(BodyTemplate::parse(&body).unwrap_err().key, place);
        }
        let fields = json!({"a": ["x"]});
        let problem = BodyTemplate::form(fields.as_object().unwrap()).unwrap_err();
        assert_eq!(problem, Problem::at(".a", "must be a string, a number, true or false"));
    }
}
