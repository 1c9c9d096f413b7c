//! The attributes of a field, and the limits that follow from its type.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Attribute, Error, Expr, ExprLit, ExprRange, Lit, Result, Type, UnOp};

use crate::kind::inner;
use crate::{docs, limit};

/// The parsed attributes of a field.
pub(crate) struct FieldAttributes {
    /// The attributes that remain on the field: doc comments, those of serde, others.
    pub(crate) kept: Vec<Attribute>,
    /// The expression of `#[default(…)]`.
    pub(crate) default: Option<Expr>,
    /// The field's name in serde's `rename`.
    pub(crate) rename: Option<String>,
    /// Whether serde has a default for the field.
    pub(crate) has_serde_default: bool,
    /// Whether serde skips the field.
    pub(crate) is_skipped: bool,
    /// The keywords for the field's schema, each with its comma.
    pub(crate) keywords: String,
}

impl FieldAttributes {
    pub(crate) fn read(attributes: Vec<Attribute>, ty: &Type) -> Result<Self> {
        let mut read = Self {
            keywords: docs::keyword("description", &docs::text_of(&attributes)),
            kept: Vec::new(),
            default: None,
            rename: None,
            has_serde_default: false,
            is_skipped: false,
        };
        for attribute in attributes {
            if attribute.path().is_ident("limit") {
                read.keywords += &limit::keywords(&attribute.parse_args::<ExprRange>()?, ty)?;
            } else if attribute.path().is_ident("default") {
                let value: Expr = attribute.parse_args()?;
                if let Some(json) = literal(&value) {
                    read.keywords += &format!("\"default\":{json},");
                }
                read.default = Some(value);
            } else {
                if attribute.path().is_ident("serde") {
                    read.read_serde(&attribute)?;
                }
                read.kept.push(attribute);
            }
        }
        Ok(read)
    }

    fn read_serde(&mut self, attribute: &Attribute) -> Result<()> {
        attribute.parse_nested_meta(|meta| {
            let name = meta.path.to_token_stream().to_string();
            let value = meta.value().ok().map(|value| value.parse::<Expr>()).transpose()?;
            match name.as_str() {
                "rename" => self.rename = value.as_ref().and_then(text),
                "default" => self.has_serde_default = true,
                "skip" | "skip_deserializing" => self.is_skipped = true,
                "deserialize_with" | "with" | "bound" => {}
                other => {
                    let fix = format!(
                        "`{other}` of serde is not for arguments: the schema cannot say it"
                    );
                    return Err(meta.error(fix));
                }
            }
            Ok(())
        })
    }

    /// Whether a field of this type is required.
    pub(crate) fn is_required(&self, ty: &Type) -> bool {
        self.default.is_none() && !self.has_serde_default && inner(ty, "Option").is_none()
    }
}

/// serde's rule for the names of the variants or the fields of a type: `#[serde(rename_all =
/// "…")]`.
pub(crate) fn rename_all(attributes: &[Attribute]) -> Result<Option<String>> {
    let mut rule = None;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("rename_all") {
                return Err(
                    meta.error("of serde, only `rename_all` may stand on a type of arguments")
                );
            }
            rule = text(&meta.value()?.parse()?);
            Ok(())
        })?;
    }
    Ok(rule)
}

/// A name in serde's form by this rule; `words` are the parts of the name in lower case.
pub(crate) fn renamed(words: &[String], rule: &str, at: &impl ToTokens) -> Result<String> {
    let capitalized = |word: &String| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str())
    };
    let pascal = || words.iter().filter_map(capitalized).collect::<String>();
    Ok(match rule {
        "lowercase" => words.concat(),
        "UPPERCASE" => words.concat().to_ascii_uppercase(),
        "PascalCase" => pascal(),
        "camelCase" => {
            let rest = words.iter().skip(1).filter_map(capitalized);
            words.first().cloned().into_iter().chain(rest).collect()
        }
        "snake_case" => words.join("_"),
        "SCREAMING_SNAKE_CASE" => words.join("_").to_ascii_uppercase(),
        "kebab-case" => words.join("-"),
        "SCREAMING-KEBAB-CASE" => words.join("-").to_ascii_uppercase(),
        other => {
            return Err(Error::new_spanned(
                at,
                format!("serde has no rule `{other}` to rename by"),
            ));
        }
    })
}

/// The words of a name in CamelCase, in lower case, split at every capital letter, as serde does.
pub(crate) fn words_of(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for letter in name.chars() {
        match words.last_mut() {
            Some(word) if !letter.is_uppercase() => word.push(letter),
            _ => words.push(letter.to_ascii_lowercase().to_string()),
        }
    }
    words
}

/// The text of a literal.
pub(crate) fn text(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

/// A literal as JSON.
fn literal(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Lit(ExprLit { lit, .. }) => match lit {
            Lit::Str(text) => Some(docs::quoted(&text.value())),
            Lit::Int(number) => Some(number.base10_digits().to_owned()),
            Lit::Float(number) => Some(number.base10_digits().to_owned()),
            Lit::Bool(flag) => Some(flag.value.to_string()),
            _ => None,
        },
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => {
            literal(&unary.expr).map(|number| format!("-{number}"))
        }
        _ => None,
    }
}

/// The expression of a default as a value of the field's type: a text is converted.
pub(crate) fn as_value(expression: &Expr) -> TokenStream {
    match expression {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
            quote::quote!(::core::convert::Into::into(#text))
        }
        other => other.to_token_stream(),
    }
}
