//! Makes JSON Schemas of tables.

use serde_json::{Map, Value, json};

use super::Texts;

/// The schema of a table in one of several forms. The text of `key` is the name of the form.
///
/// The properties are those of all forms, because editors complete only these. The conditions refuse the keys of other forms.
pub(crate) fn with_forms(key: &str, forms: &[(&str, Value)]) -> Value {
    let names: Vec<&str> = forms.iter().map(|(name, _)| *name).collect();
    let about: Vec<&Value> = forms.iter().filter_map(|(_, form)| form.get("description")).collect();
    let mut properties = Map::from_iter([(key.to_owned(), words(&names, &about))]);
    for (name, schemas) in properties_of_all(key, forms) {
        let schema = match schemas.as_slice() {
            [same] => (*same).clone(),
            _ => json!({"anyOf": schemas}),
        };
        properties.insert(name.to_owned(), schema);
    }
    let then = |form: &Value| {
        // A schema that all forms have stands in the properties of the table already.
        let own = properties_of(form).map(|(name, schema)| {
            let is_known = properties.get(name) == Some(schema) || name == key;
            (name.clone(), if is_known { json!({}) } else { schema.clone() })
        });
        let own = [(key.to_owned(), json!({}))].into_iter().chain(own);
        let then = json!({"properties": Map::from_iter(own), "additionalProperties": false});
        let kept = ["required", "oneOf"].into_iter();
        let kept =
            kept.filter_map(|keyword| Some((keyword.to_owned(), form.get(keyword)?.clone())));
        with(then, kept)
    };
    let conditions = forms.iter().rev().fold(json!({}), |others, (name, form)| {
        json!({"if": {"properties": {key: {"const": name}}}, "then": then(form), "else": others})
    });
    let table = json!({"type": "object", "properties": properties, "required": [key]});
    with(table, members_of(conditions))
}

/// The schema of a text that is one of these words, each with its description.
pub(crate) fn words(words: &[impl serde::Serialize], about: &[impl serde::Serialize]) -> Value {
    json!({"type": "string", "enum": words, "x-taplo": {"docs": {"enumValues": about}}})
}

/// The properties of all forms except `key`, each with its different schemas.
fn properties_of_all<'a>(key: &str, forms: &'a [(&str, Value)]) -> Vec<(&'a str, Vec<&'a Value>)> {
    let mut all: Vec<(&str, Vec<&Value>)> = Vec::new();
    let each = forms.iter().flat_map(|(_, form)| properties_of(form));
    for (name, schema) in each.filter(|(name, _)| *name != key) {
        match all.iter_mut().find(|(known, _)| known == name) {
            Some((_, schemas)) if schemas.contains(&schema) => {}
            Some((_, schemas)) => schemas.push(schema),
            None => all.push((name, vec![schema])),
        }
    }
    all
}

/// The properties of a schema.
pub(crate) fn properties_of(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

/// Adds keywords to a schema. They replace those that it has.
pub(crate) fn with(schema: Value, keywords: impl IntoIterator<Item = (String, Value)>) -> Value {
    let mut members = members_of(schema);
    members.extend(keywords);
    members.into()
}

/// Puts the description in front of a schema.
pub(crate) fn described(about: &str, schema: Value) -> Value {
    with(json!({"description": about}), members_of(schema))
}

/// The keywords of a schema.
pub(crate) fn members_of(schema: Value) -> Map<String, Value> {
    match schema {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// The schema of a whole number within these bounds. TOML has no number beyond the largest bound.
pub(super) fn whole_number(least: u64, most: u64) -> Value {
    let number = json!({"type": "integer", "minimum": least});
    with(number, (most < u64::MAX).then(|| ("maximum".to_owned(), most.into())))
}

/// The schema of a value that may also be a text with `${NAME}`, if placeholders are filled in. `written` is the pattern of other
/// texts for the value.
pub(super) fn or_filled(texts: Texts<'_>, written: &str, schema: Value) -> Value {
    if matches!(texts, Texts::Literal) {
        return schema;
    }
    json!({"anyOf": [schema, {"type": "string", "pattern": format!(r"{written}\$\{{")}]})
}
