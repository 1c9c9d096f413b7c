//! Reads doc comments as descriptions.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The text of the doc comments among these attributes: lines are joined, paragraphs are separated.
pub(crate) fn text_of(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    });
    let mut text = String::new();
    let mut begins_paragraph = false;
    for line in lines {
        // `split` is used because `lines` returns nothing for an empty line.
        for line in line.split('\n').map(str::trim) {
            if line.is_empty() {
                begins_paragraph = true;
                continue;
            }
            if !text.is_empty() {
                text.push_str(if begins_paragraph { "\n\n" } else { " " });
            }
            begins_paragraph = false;
            text.push_str(line);
        }
    }
    text
}

/// Whether an attribute is a doc comment.
pub(crate) fn is_doc(attribute: &Attribute) -> bool {
    attribute.path().is_ident("doc")
}

/// The member `"key":"text",` of a schema; empty if there is no text.
pub(crate) fn keyword(key: &str, text: &str) -> String {
    match text {
        "" => String::new(),
        text => format!("{}:{},", quoted(key), quoted(text)),
    }
}

/// A text as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use syn::{ItemStruct, parse_quote};

    use super::*;

    #[test]
    fn lines_are_joined_and_paragraphs_are_not() {
        let item: ItemStruct = parse_quote! {
            /// One
            /// line.
            ///
            /// Another "one".
            #[other]
            struct A;
        };
        let text = text_of(&item.attrs);
        assert_eq!(text, "One line.\n\nAnother \"one\".");
        assert_eq!(
            keyword("description", &text),
            r#""description":"One line.\n\nAnother \"one\".","#
        );
        assert_eq!(keyword("description", ""), "");
    }
}
