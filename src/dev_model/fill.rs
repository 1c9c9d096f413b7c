//! Values that fit a JSON schema, made of a text.

use serde_json::{Map, Value, json};

use super::request::at;
use super::words::{numbers, words};

/// Fills schemas from a text; each number of it is used once.
pub(super) struct Filling<'a> {
    text: &'a str,
    numbers: std::vec::IntoIter<f64>,
    quoted: std::vec::IntoIter<&'a str>,
    /// The number that was asked for and was not there, by the name of its argument.
    pub(super) missing: Option<String>,
}

impl<'a> Filling<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let (numbers, quoted) = (numbers(text).into_iter(), quoted(text).into_iter());
        Self { text, numbers, quoted, missing: None }
    }

    /// The arguments of a tool, or another object. Members that need not be there are only filled where the text holds something
    /// for them.
    pub(super) fn object(&mut self, schema: &Value) -> Map<String, Value> {
        let required = at(schema, "/required").as_array().map(Vec::as_slice).unwrap_or_default();
        let mut filled = Map::new();
        for (name, member) in at(schema, "/properties").as_object().into_iter().flatten() {
            let is_required = required.iter().any(|required| required == name);
            if let Some(value) = self.value(name, member, is_required) {
                filled.insert(name.clone(), value);
            }
        }
        filled
    }

    fn value(&mut self, name: &str, schema: &Value, is_required: bool) -> Option<Value> {
        if let Some(only) = schema.get("const") {
            return Some(only.clone());
        }
        if let Some(values) = at(schema, "/enum").as_array() {
            let is_said = |value: &&Value| {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                !value.is_empty() && self.text.to_lowercase().contains(&value.to_lowercase())
            };
            let said = values.iter().find(is_said);
            return said.or_else(|| values.first().filter(|_| is_required)).cloned();
        }
        if let Some(first) = ["/anyOf", "/oneOf", "/allOf"]
            .iter()
            .find_map(|choices| at(schema, choices).as_array()?.first())
        {
            return self.value(name, first, is_required);
        }
        match kind(schema) {
            "number" | "integer" => self.number(name, schema, is_required),
            "boolean" => {
                let is_named = words(name).all(|part| words(self.text).any(|word| word == part));
                (is_required || is_named).then_some(Value::Bool(is_named))
            }
            "array" => self.array(name, at(schema, "/items"), is_required),
            "object" => {
                let inner = self.object(schema);
                (is_required || !inner.is_empty()).then_some(Value::Object(inner))
            }
            "null" => is_required.then_some(Value::Null),
            _ => self.string(name, is_required).map(|text| cut(text, schema)),
        }
    }

    fn number(&mut self, name: &str, schema: &Value, is_required: bool) -> Option<Value> {
        let Some(number) = self.numbers.next() else {
            let otherwise = ["default", "minimum"].iter().find_map(|key| schema.get(*key)).cloned();
            if is_required && otherwise.is_none() {
                self.missing.get_or_insert_with(|| name.to_owned());
            }
            return is_required.then(|| otherwise.unwrap_or(json!(0)));
        };
        let is_whole = number.fract() == 0.0 && number.abs() < 9e15;
        Some(if is_whole || kind(schema) == "integer" {
            json!(number as i64)
        } else {
            json!(number)
        })
    }

    fn array(&mut self, name: &str, items: &Value, is_required: bool) -> Option<Value> {
        let mut values = Vec::new();
        if matches!(kind(items), "number" | "integer") {
            while self.numbers.len() > 0 && values.len() < MOST_ITEMS {
                values.extend(self.number(name, items, true));
            }
        } else {
            values.extend(self.value(name, items, is_required));
        }
        (is_required || !values.is_empty()).then_some(Value::Array(values))
    }

    fn string(&mut self, name: &str, is_required: bool) -> Option<String> {
        let name = name.to_lowercase();
        let is = |part: &str| name.contains(part);
        let word = |fits: fn(&str) -> bool| {
            let is_edge =
                |letter: char| matches!(letter, '.' | ',' | '?' | '!' | ';' | '"' | '(' | ')');
            let mut words = self.text.split_whitespace().map(|word| word.trim_matches(is_edge));
            words.find(|word| fits(word)).map(str::to_owned)
        };
        let special = match () {
            () if is("url") || is("uri") || is("link") => word(|word| word.contains("://")),
            () if is("mail") => word(|word| word.contains('@')),
            () if is("zone") => word(|word| word.contains('/') && !word.contains("://")),
            () if is("date") => word(|word| word.split('-').count() == 3),
            () if PLACES.iter().any(|place| is(place)) => place(self.text),
            () => None,
        };
        special
            .or_else(|| self.quoted.next().map(str::to_owned))
            .or_else(|| is_required.then(|| self.text.trim().to_owned()))
    }
}

/// The type that a schema names first; what has members is an object.
fn kind(schema: &Value) -> &str {
    let named = match at(schema, "/type") {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        kind => kind.as_str(),
    };
    named.unwrap_or(if at(schema, "/properties").is_object() { "object" } else { "string" })
}

/// A text within the bounds of its schema.
fn cut(text: String, schema: &Value) -> Value {
    match at(schema, "/maxLength").as_u64().and_then(|most| usize::try_from(most).ok()) {
        Some(most) => text.chars().take(most).collect::<String>().into(),
        None => text.into(),
    }
}

/// What stands in quotation marks.
fn quoted(text: &str) -> Vec<&str> {
    text.split('"').skip(1).step_by(2).filter(|quoted| !quoted.trim().is_empty()).collect()
}

/// The words with a capital behind `in`, `at`, `for`, `near`, `from` or `to`.
fn place(text: &str) -> Option<String> {
    let mut words =
        text.split_whitespace().skip_while(|word| !BEFORE_PLACES.contains(word)).peekable();
    loop {
        words.next()?;
        let is_capital = |word: &&str| word.chars().next().is_some_and(char::is_uppercase);
        let mut place: Vec<&str> = Vec::new();
        while let Some(word) = words.next_if(is_capital) {
            let bare = word.trim_end_matches(|letter: char| !letter.is_alphanumeric());
            place.push(bare);
            if bare != word {
                break;
            }
        }
        if !place.is_empty() {
            return Some(place.join(" "));
        }
        while words.next_if(|word| !BEFORE_PLACES.contains(word)).is_some() {}
    }
}

const PLACES: [&str; 7] = ["city", "place", "location", "town", "country", "region", "where"];
const BEFORE_PLACES: [&str; 6] = ["in", "at", "for", "near", "from", "to"];
const MOST_ITEMS: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str, schema: Value) -> Value {
        Filling::of(text).object(&schema).into()
    }

    #[test]
    fn arguments_are_filled_from_the_text() {
        let sum = json!({"properties": {"a": {"type": "number"}, "b": {"type": "integer"}}, "required": ["a", "b"]});
        assert_eq!(filled("add 2.5 and 3", sum), json!({"a": 2.5, "b": 3}));
        let echo = json!({"properties": {"text": {"type": "string"}, "times": {"type": "integer"}}, "required": ["text"]});
        assert_eq!(filled("echo hello", echo.clone()), json!({"text": "echo hello"}));
        assert_eq!(filled("echo \"hello\" 3", echo), json!({"text": "hello", "times": 3}));
        let weather = json!({"properties": {"city": {"type": "string"}, "unit": {"enum": ["celsius", "kelvin"]},
            "days": {"type": "array", "items": {"type": "integer"}}, "exact": {"type": "boolean"}}, "required": ["city"]});
        assert_eq!(
            filled("Weather for me in New York, in Kelvin, exact please: 1 2", weather.clone()),
            json!({"city": "New York", "unit": "kelvin", "days": [1, 2], "exact": true})
        );
        assert_eq!(filled("weather in rome", weather), json!({"city": "weather in rome"}));
        let nested = json!({"properties": {"from": {"type": "object", "properties": {"x": {"type": ["null", "number"]}}, "required": ["x"]},
            "when": {"anyOf": [{"const": "now"}, {"type": "string"}]}, "link": {"type": "string"}}, "required": ["from", "when"]});
        assert_eq!(
            filled("go from 4 (see https://a.example/x).", nested),
            json!({"from": {"x": 4}, "when": "now", "link": "https://a.example/x"})
        );
    }

    #[test]
    fn a_number_that_is_missing_is_named() {
        let schema = json!({"properties": {"a": {"type": "number"}, "b": {"type": "number", "default": 7}}, "required": ["a", "b"]});
        let mut filling = Filling::of("add something");
        assert_eq!(Value::from(filling.object(&schema)), json!({"a": 0, "b": 7}));
        assert_eq!(filling.missing.as_deref(), Some("a"));
        let mut filling = Filling::of("add 1");
        assert_eq!(Value::from(filling.object(&schema)), json!({"a": 1, "b": 7}));
        assert_eq!(filling.missing, None);
    }
}
