//! Types of arguments, and the JSON schemas that are derived from them.

use std::collections::{BTreeMap, HashMap};

use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};

/// A type of arguments. `#[arguments]` implements it for structs and enums. A recursive type does not compile, because
/// it has no finite shape.
pub trait Argument: DeserializeOwned {
    /// The JSON from which the type is decoded.
    const SHAPE: &'static Shape;
}

/// The JSON from which a type is decoded, as constants. `more` contains further keywords of JSON Schema as text, each
/// followed by a comma.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// Any JSON.
    Any,
    /// JSON of this type.
    Type {
        /// The type, as `string`.
        name: &'static str,
        /// Further keywords.
        more: &'static str,
    },
    /// This shape or null.
    Optional(&'static Shape),
    /// A list of values of this shape.
    List(&'static Shape),
    /// An object whose members have this shape and any names.
    Map(&'static Shape),
    /// One of these texts.
    Choice {
        /// Further keywords.
        more: &'static str,
        /// The texts.
        names: &'static [&'static str],
    },
    /// An object with only these fields.
    Object {
        /// Further keywords.
        more: &'static str,
        /// The fields.
        fields: &'static [Field],
    },
    /// One of these shapes.
    OneOf {
        /// Further keywords.
        more: &'static str,
        /// The alternatives.
        shapes: &'static [&'static Shape],
    },
}

/// A field of an object.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The name in JSON.
    pub name: &'static str,
    /// The shape of the value.
    pub shape: &'static Shape,
    /// Further keywords.
    pub more: &'static str,
    /// True if the field is required.
    pub is_required: bool,
}

impl Shape {
    /// The JSON schema.
    pub fn schema(&self) -> Value {
        let mut text = String::new();
        self.write("", &mut text);
        a2a::model::read_own(&text).unwrap_or_default()
    }

    /// Writes the schema with further keywords. If a keyword is written twice, the later one has priority.
    fn write(&self, more: &str, text: &mut String) {
        text.push('{');
        match self {
            Self::Any => {
                text.push_str(more.trim_end_matches(','));
            }
            Self::Type { name, more: own } => {
                push(text, &[own, more, "\"type\":\"", name, "\""]);
            }
            Self::Optional(Self::Type { name, more: own }) => {
                push(text, &[own, more, "\"type\":[\"", name, "\",\"null\"]"]);
            }
            Self::Optional(Self::List(item)) => {
                push(text, &[more, "\"type\":[\"array\",\"null\"],\"items\":"]);
                item.write("", text);
            }
            Self::Optional(shape) => {
                push(text, &[more, "\"anyOf\":["]);
                shape.write("", text);
                text.push_str(",{\"type\":\"null\"}]");
            }
            Self::List(item) => {
                push(text, &[more, "\"type\":\"array\",\"items\":"]);
                item.write("", text);
            }
            Self::Map(item) => {
                push(text, &[more, "\"type\":\"object\",\"additionalProperties\":"]);
                item.write("", text);
            }
            Self::Choice { more: own, names } => {
                push(text, &[own, more, "\"type\":\"string\",\"enum\":["]);
                text.push_str(&quoted(names.iter()));
                text.push(']');
            }
            Self::Object { more: own, fields } => {
                push(text, &[own, more, "\"type\":\"object\",\"properties\":{"]);
                for (index, field) in fields.iter().enumerate() {
                    let comma = if index > 0 { "," } else { "" };
                    push(text, &[comma, "\"", field.name, "\":"]);
                    field.shape.write(field.more, text);
                }
                let required = fields.iter().filter(|field| field.is_required);
                let required = quoted(required.map(|field| &field.name));
                if !required.is_empty() {
                    push(text, &["},\"required\":[", &required, "],"]);
                } else {
                    text.push_str("},");
                }
                text.push_str("\"additionalProperties\":false");
            }
            Self::OneOf { more: own, shapes } => {
                push(text, &[own, more, "\"oneOf\":["]);
                for (index, shape) in shapes.iter().enumerate() {
                    if index > 0 {
                        text.push(',');
                    }
                    shape.write("", text);
                }
                text.push(']');
            }
        }
        text.push('}');
    }
}

fn push(text: &mut String, pieces: &[&str]) {
    for piece in pieces {
        text.push_str(piece);
    }
}

/// Names as JSON strings, separated by commas.
fn quoted<'a>(names: impl Iterator<Item = &'a &'static str>) -> String {
    names.map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(",")
}

macro_rules! shapes {
    ($($type:ty: $name:literal $more:literal),* $(,)?) => {
        $(impl Argument for $type {
            const SHAPE: &'static Shape = &Shape::Type { name: $name, more: $more };
        })*
    };
}

shapes! {
    String: "string" "",
    char: "string" r#""minLength":1,"maxLength":1,"#,
    bool: "boolean" "",
    f32: "number" "",
    f64: "number" "",
    Number: "number" "",
    i8: "integer" r#""minimum":-128,"maximum":127,"#,
    i16: "integer" r#""minimum":-32768,"maximum":32767,"#,
    i32: "integer" r#""minimum":-2147483648,"maximum":2147483647,"#,
    i64: "integer" "",
    u8: "integer" r#""minimum":0,"maximum":255,"#,
    u16: "integer" r#""minimum":0,"maximum":65535,"#,
    u32: "integer" r#""minimum":0,"maximum":4294967295,"#,
    u64: "integer" r#""minimum":0,"#,
    // These types have 32 bits in a Worker.
    usize: "integer" r#""minimum":0,"maximum":4294967295,"#,
    isize: "integer" r#""minimum":-2147483648,"maximum":2147483647,"#,
    Map<String, Value>: "object" "",
}

impl Argument for Value {
    const SHAPE: &'static Shape = &Shape::Any;
}

impl<T: Argument> Argument for Option<T> {
    const SHAPE: &'static Shape = &Shape::Optional(T::SHAPE);
}

impl<T: Argument> Argument for Vec<T> {
    const SHAPE: &'static Shape = &Shape::List(T::SHAPE);
}

impl<T: Argument> Argument for BTreeMap<String, T> {
    const SHAPE: &'static Shape = &Shape::Map(T::SHAPE);
}

impl<T: Argument> Argument for HashMap<String, T> {
    const SHAPE: &'static Shape = &Shape::Map(T::SHAPE);
}

impl<T: Argument> Argument for Box<T> {
    const SHAPE: &'static Shape = T::SHAPE;
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing::{TestCall, call};
    use super::super::{Tool, ToolCall, ToolError, arguments, check_schema, tool};
    use super::*;

    /// A trip.
    #[arguments]
    #[derive(Debug, PartialEq)]
    struct Trip {
        /// Where to,
        /// as `Lisbon`.
        #[limit(1..=80)]
        to: String,
        #[limit(1..=30)]
        #[default(7)]
        days: u8,
        by: Option<Vehicle>,
        #[limit(..=3)]
        #[default(Vec::new())]
        stops: Vec<Stop>,
        #[serde(rename = "maxPrice")]
        max_price: Option<f64>,
        #[default("EUR")]
        currency: String,
    }

    #[arguments]
    #[derive(Debug, PartialEq)]
    enum Vehicle {
        /// Fast.
        NightTrain,
        #[serde(rename = "bike")]
        Bicycle,
    }

    #[arguments]
    #[derive(Debug, PartialEq)]
    struct Stop {
        place: String,
        wishes: BTreeMap<String, bool>,
    }

    #[arguments]
    #[derive(Debug, PartialEq)]
    enum Payment {
        Cash,
        /// By card.
        Card(Stop),
    }

    #[test]
    fn the_schema_follows_from_the_type_and_its_doc_comments() {
        let stop = json!({
            "type": "object",
            "properties": {
                "place": {"type": "string"},
                "wishes": {"type": "object", "additionalProperties": {"type": "boolean"}},
            },
            "required": ["place", "wishes"],
            "additionalProperties": false,
        });
        let expected = json!({
            "description": "A trip.",
            "type": "object",
            "properties": {
                "to": {
                    "description": "Where to, as `Lisbon`.",
                    "minLength": 1, "maxLength": 80,
                    "type": "string",
                },
                "days": {"minimum": 1, "maximum": 30, "default": 7, "type": "integer"},
                "by": {"anyOf": [
                    {
                        "description": "`night_train`: Fast.",
                        "type": "string",
                        "enum": ["night_train", "bike"],
                    },
                    {"type": "null"},
                ]},
                "stops": {"maxItems": 3, "type": "array", "items": stop},
                "maxPrice": {"type": ["number", "null"]},
                "currency": {"default": "EUR", "type": "string"},
            },
            "required": ["to"],
            "additionalProperties": false,
        });
        assert_eq!(Trip::SHAPE.schema(), expected);
        let card = json!({
            "description": "By card.",
            "type": "object",
            "properties": {"card": stop},
            "required": ["card"],
            "additionalProperties": false,
        });
        let cash = json!({"type": "string", "enum": ["cash"]});
        assert_eq!(Payment::SHAPE.schema(), json!({"oneOf": [cash, card]}));
        for shape in [Trip::SHAPE, Payment::SHAPE] {
            assert_eq!(check_schema(&shape.schema()), Vec::<String>::new());
        }
    }

    #[test]
    fn what_is_missing_is_the_default() {
        let read = |json| serde_json::from_value::<Trip>(json);
        let trip = Trip {
            to: "Lisbon".to_owned(),
            days: 7,
            by: None,
            stops: Vec::new(),
            max_price: None,
            currency: "EUR".to_owned(),
        };
        assert_eq!(read(json!({"to": "Lisbon"})).unwrap(), trip);
        let by = Some(Vehicle::NightTrain);
        let stop =
            Stop { place: "Faro".to_owned(), wishes: BTreeMap::from([("sea".to_owned(), true)]) };
        let whole = json!({"to": "Lisbon", "days": 2, "by": "night_train", "currency": "USD",
            "maxPrice": 9.5, "stops": [{"place": "Faro", "wishes": {"sea": true}}]});
        let expected = Trip {
            days: 2,
            by,
            max_price: Some(9.5),
            stops: vec![stop],
            currency: "USD".to_owned(),
            ..trip
        };
        assert_eq!(read(whole).unwrap(), expected);
        assert!(read(json!({"to": "Lisbon", "more": 1})).is_err());
        assert_eq!(serde_json::from_value::<Payment>(json!("cash")).unwrap(), Payment::Cash);
    }

    /// Plans a trip.
    #[tool]
    async fn plan(trip: Trip, call: &dyn ToolCall) -> Result<String, ToolError> {
        let key = call.secret("PLANNER_KEY")?;
        call.progress("planning")?;
        Ok(format!("{} {} {}", trip.to, trip.days, key.reveal()))
    }

    /// Adds.
    #[tool(name = "sum", needs("NOTHING"))]
    fn add(a: i64, #[default(1)] b: i64) -> i64 {
        a + b
    }

    /// Tells what is.
    #[tool]
    fn nothing() {}

    #[test]
    fn a_function_becomes_a_tool() {
        assert_eq!((plan().name(), plan().description()), ("plan", "Plans a trip."));
        assert_eq!(plan().needs(), ["PLANNER_KEY"]);
        assert_eq!(plan().input_schema(), &Trip::SHAPE.schema());
        let with_key = TestCall::default().with_secret("PLANNER_KEY", "k");
        let planned = with_key.call(&plan(), json!({"to": "Faro", "days": 3.0}));
        assert_eq!(planned, Ok("Faro 3 k".into()), "3.0 is the integer 3");
        assert_eq!(*with_key.progress.borrow(), ["planning"]);
        let missing = call(&plan(), json!({"to": "Faro"}));
        assert_eq!(missing, Err(ToolError::no_secret("PLANNER_KEY")));

        assert_eq!((add().name(), add().needs()), ("sum", vec!["NOTHING".to_owned()]));
        assert_eq!(call(&add(), json!({"a": 2, "b": 3})), Ok(5.into()));
        assert_eq!(call(&add(), json!({"a": 2})), Ok(3.into()));
        assert_eq!(call(&nothing(), json!({})), Ok(().into()));
        let none = json!({"type": "object", "properties": {}, "additionalProperties": false});
        assert_eq!(nothing().input_schema(), &none);
    }
}
