//! Canonical texts of JSON: that of RFC 8785, and those of older signers.

use std::fmt::Write;

use serde_json::{Number, Value};

use crate::model::number::{Digits, length, number_text, positional, with_first_point};
use crate::sorted::sort_by;

/// The canonical text of JSON (RFC 8785): members in the order of the UTF-16 code units of their names, numbers as in
/// ECMAScript, no space between the tokens.
///
/// Numbers are doubles; a whole number beyond 2^53 is the nearest double.
pub fn to_jcs(value: &Value) -> String {
    let mut text = String::new();
    let number = |number: &Number| number_text(number.as_f64().unwrap_or_default());
    write(value, &Style { sorted: by_code_units, quoted: quote, number }, &mut text);
    text
}

/// The JSON text in Python's form, with sorted names: ASCII, with all other characters escaped, members in the order of
/// the code points of their names, no space between the tokens, and every number as a Python float.
pub fn to_ascii_json(value: &Value) -> String {
    let mut text = String::new();
    write(
        value,
        &Style { sorted: by_code_points, quoted: quote_ascii, number: python_number_text },
        &mut text,
    );
    text
}

/// As [`to_ascii_json`], but whole numbers are written as integers, as Python does with JSON that it has parsed.
pub fn to_ascii_json_with_integers(value: &Value) -> String {
    let number = |number: &Number| {
        if number.is_f64() { python_number_text(number) } else { number.to_string() }
    };
    let mut text = String::new();
    write(value, &Style { sorted: by_code_points, quoted: quote_ascii, number }, &mut text);
    text
}

/// The rules by which a text is written.
struct Style {
    sorted: fn(&mut Vec<(&String, &Value)>),
    quoted: fn(&str, &mut String),
    number: fn(&Number) -> String,
}

fn by_code_units(members: &mut Vec<(&String, &Value)>) {
    sort_by(members, |(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
}

fn by_code_points(members: &mut Vec<(&String, &Value)>) {
    sort_by(members, |(one, _), (other, _)| one.cmp(other));
}

fn write(value: &Value, style: &Style, text: &mut String) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(true) => text.push_str("true"),
        Value::Bool(false) => text.push_str("false"),
        Value::Number(number) => text.push_str(&(style.number)(number)),
        Value::String(string) => (style.quoted)(string, text),
        Value::Array(elements) => {
            text.push('[');
            for (index, element) in elements.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write(element, style, text);
            }
            text.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            (style.sorted)(&mut members);
            text.push('{');
            for (index, (name, member)) in members.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                (style.quoted)(name, text);
                text.push(':');
                write(member, style, text);
            }
            text.push('}');
        }
    }
}

fn quote(string: &str, text: &mut String) {
    text.push('"');
    for letter in string.chars() {
        if !escape(letter, text) {
            text.push(letter);
        }
    }
    text.push('"');
}

fn quote_ascii(string: &str, text: &mut String) {
    text.push('"');
    for letter in string.chars() {
        if escape(letter, text) {
            continue;
        }
        if matches!(letter, ' '..='~') {
            text.push(letter);
            continue;
        }
        for unit in letter.encode_utf16(&mut [0; 2]) {
            push_unit(u32::from(*unit), text);
        }
    }
    text.push('"');
}

/// Writes a character that must be escaped in any JSON; `false` if this character needs no escape.
fn escape(letter: char, text: &mut String) -> bool {
    match letter {
        '"' => text.push_str("\\\""),
        '\\' => text.push_str("\\\\"),
        '\u{8}' => text.push_str("\\b"),
        '\t' => text.push_str("\\t"),
        '\n' => text.push_str("\\n"),
        '\u{c}' => text.push_str("\\f"),
        '\r' => text.push_str("\\r"),
        '\0'..='\u{1f}' => push_unit(u32::from(letter), text),
        _ => return false,
    }
    true
}

fn push_unit(unit: u32, text: &mut String) {
    // Writing to a String cannot fail.
    let _ = write!(text, "\\u{unit:04x}");
}

/// A number in the form of a Python float.
fn python_number_text(number: &Number) -> String {
    let value = number.as_f64().unwrap_or_default();
    let Some(Digits { sign, digits, point }) = Digits::of(value) else {
        return if value.is_sign_negative() { "-0.0" } else { "0.0" }.to_owned();
    };
    let exponent = point - 1;
    match exponent {
        _ if (-4..=15).contains(&exponent) && length(&digits) <= point => {
            format!("{sign}{}.0", positional(&digits, point))
        }
        -4..=15 => format!("{sign}{}", positional(&digits, point)),
        _ => format!("{sign}{}e{exponent:+03}", with_first_point(&digits)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// The example of RFC 8785 §3.2.2 and §3.2.3.
    #[test]
    fn the_example_of_the_rfc_has_the_text_of_the_rfc() {
        let example = r#"{
            "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
            "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
            "literals": [null, true, false]
        }"#;
        let expected = r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#;
        assert_eq!(to_jcs(&serde_json::from_str(example).expect("JSON")), expected);
    }

    /// The example of RFC 8785 §3.2.3.
    #[test]
    fn members_are_in_the_order_of_their_code_units() {
        let example = json!({
            "\u{20ac}": "Euro Sign", "\r": "Carriage Return",
            "\u{fb33}": "Hebrew Letter Dalet With Dagesh", "1": "One",
            "\u{1f600}": "Emoji: Grinning Face", "\u{80}": "Control",
            "\u{f6}": "Latin Small Letter O With Diaeresis",
        });
        let texts = |text: &str| {
            let values =
                text.split(['{', ',', '}']).filter_map(|member| member.split_once("\":\""));
            values.map(|(_, value)| value.trim_end_matches('"').to_owned()).collect::<Vec<_>>()
        };
        let first = [
            "Carriage Return",
            "One",
            "Control",
            "Latin Small Letter O With Diaeresis",
            "Euro Sign",
        ];
        let (emoji, hebrew) = ("Emoji: Grinning Face", "Hebrew Letter Dalet With Dagesh");
        assert_eq!(texts(&to_jcs(&example)), [&first[..], &[emoji, hebrew]].concat());
        assert_eq!(texts(&to_ascii_json(&example)), [&first[..], &[hebrew, emoji]].concat());
    }

    #[test]
    fn whole_numbers_are_written_as_doubles() {
        for (number, expected) in [
            (json!(7), "7"),
            (json!(-7), "-7"),
            (json!(u64::MAX), "18446744073709552000"),
            (json!(100), "100"),
            (json!(0.1), "0.1"),
            (json!(12.5e20), "1.25e+21"),
            (json!(1e-7), "1e-7"),
        ] {
            assert_eq!(to_jcs(&number), expected);
        }
    }

    /// The results of `json.dumps` of Python 3.11 for these floats.
    #[test]
    fn numbers_are_written_as_python_writes_them() {
        for (number, expected) in [
            (json!(0), "0.0"),
            (json!(-0.0), "-0.0"),
            (json!(3), "3.0"),
            (json!(-120.0), "-120.0"),
            (json!(1e15), "1000000000000000.0"),
            (json!(1e16), "1e+16"),
            (json!(-12.5), "-12.5"),
            (json!(0.0001), "0.0001"),
            (json!(0.000012), "1.2e-05"),
            (json!(1e-7), "1e-07"),
            (json!(1.5e-100), "1.5e-100"),
            (json!(123456789.25), "123456789.25"),
            (json!(1.25e22), "1.25e+22"),
        ] {
            assert_eq!(to_ascii_json(&number), expected);
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<f64>().prop_map(|number| json!(number)),
            (-9_007_199_254_740_992_i64..=9_007_199_254_740_992).prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner), 0..5)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    /// The value with all numbers as floats and without negative zeros, since these differences are not part of JSON.
    fn normal(value: &Value) -> Value {
        match value {
            Value::Number(number) => json!(number.as_f64().unwrap_or_default() + 0.0),
            Value::Array(elements) => elements.iter().map(normal).collect(),
            Value::Object(members) => {
                let members = members.iter();
                Value::Object(members.map(|(name, value)| (name.clone(), normal(value))).collect())
            }
            Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_as_the_same_and_written_the_same_again(value in any_json()) {
            for written in [to_jcs(&value), to_ascii_json(&value)] {
                let read: Value = serde_json::from_str(&written).expect("JSON");
                prop_assert_eq!(normal(&read), normal(&value));
                prop_assert_eq!(to_jcs(&read), to_jcs(&value));
            }
            prop_assert!(to_ascii_json(&value).is_ascii());
        }

        /// Texts equal those of another writer that also escapes only what JSON requires.
        #[test]
        fn texts_are_written_as_serde_writes_them(text in any::<String>()) {
            prop_assert_eq!(to_jcs(&json!(text)), serde_json::to_string(&text).expect("JSON"));
        }
    }
}
