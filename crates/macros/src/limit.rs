//! `#[limit(…)]`: translates a range of literals to keywords of a schema.

use syn::{Error, Expr, ExprLit, ExprRange, ExprUnary, Lit, RangeLimits, Result, Type, UnOp};

use crate::kind::Kind;

/// The keywords for a limit of a field of this type, each with its comma.
pub(crate) fn keywords(range: &ExprRange, ty: &Type) -> Result<String> {
    let kind = Kind::of(ty);
    let (least_key, most_key) = match kind {
        Kind::Integer | Kind::Float => ("minimum", "maximum"),
        Kind::Text => ("minLength", "maxLength"),
        Kind::List => ("minItems", "maxItems"),
        Kind::Other => {
            let fix = "a limit is for numbers, String and Vec; put it on a field of that type";
            return Err(Error::new_spanned(ty, fix));
        }
    };
    let mut text = String::new();
    if let Some(start) = &range.start {
        text.push_str(&format!("\"{least_key}\":{},", number(start)?));
    }
    if let Some(end) = &range.end {
        let most = number(end)?;
        match (&range.limits, kind) {
            (RangeLimits::Closed(_), _) => text.push_str(&format!("\"{most_key}\":{most},")),
            (RangeLimits::HalfOpen(_), Kind::Float) => {
                text.push_str(&format!("\"exclusiveMaximum\":{most},"));
            }
            (RangeLimits::HalfOpen(_), _) => {
                let whole = most.as_i64().and_then(|most| most.checked_sub(1));
                let whole =
                    whole.ok_or_else(|| Error::new_spanned(end, "must be a whole number"))?;
                text.push_str(&format!("\"{most_key}\":{whole},"));
            }
        }
    }
    match text.as_str() {
        "" => Err(Error::new_spanned(range, "a limit needs a least or a most, as `1..=200`")),
        _ => Ok(text),
    }
}

/// A literal number.
fn number(expression: &Expr) -> Result<serde_json::Number> {
    let refusal = || Error::new_spanned(expression, "a limit must be a literal number, as 200");
    let (sign, literal) = match expression {
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => ("-", expr.as_ref()),
        other => ("", other),
    };
    let digits = match literal {
        Expr::Lit(ExprLit { lit: Lit::Int(literal), .. }) => literal.base10_digits().to_owned(),
        Expr::Lit(ExprLit { lit: Lit::Float(literal), .. }) => literal.base10_digits().to_owned(),
        _ => return Err(refusal()),
    };
    #[expect(clippy::disallowed_methods, reason = "an attribute is no text of others")]
    let read = serde_json::from_str(&format!("{sign}{digits}"));
    read.map_err(|_| refusal())
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn a_limit_is_of_the_value_the_length_or_the_number_of_elements() {
        for (range, ty, text) in [
            (parse_quote!(1..=2_000), parse_quote!(u32), r#""minimum":1,"maximum":2000,"#),
            (
                parse_quote!(-840..=840),
                parse_quote!(Option<i32>),
                r#""minimum":-840,"maximum":840,"#,
            ),
            (parse_quote!(..200), parse_quote!(String), r#""maxLength":199,"#),
            (parse_quote!(2..), parse_quote!(Vec<String>), r#""minItems":2,"#),
            (parse_quote!(0.5..1.5), parse_quote!(f64), r#""minimum":0.5,"exclusiveMaximum":1.5,"#),
        ] {
            assert_eq!(keywords(&range, &ty).unwrap(), text);
        }
    }

    #[test]
    fn a_limit_that_cannot_be_one_is_refused() {
        for (range, ty, reason) in [
            (parse_quote!(1..=2), parse_quote!(bool), "a limit is for numbers"),
            (parse_quote!(..), parse_quote!(u8), "needs a least or a most"),
            (parse_quote!(..=MAX), parse_quote!(u8), "must be a literal number"),
        ] {
            let error = keywords(&range, &ty).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
