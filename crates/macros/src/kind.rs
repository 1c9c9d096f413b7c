//! The kinds of field types, as limits and parameters distinguish them.

use syn::{GenericArgument, PathArguments, Type};

/// The kind of a type: it decides which limits apply, and if a parameter of the type is a single argument of the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Integer,
    Float,
    Text,
    List,
    Other,
}

impl Kind {
    pub(crate) fn of(ty: &Type) -> Self {
        let ty = inner(ty, "Option").unwrap_or(ty);
        match last_name(ty).as_deref() {
            Some(
                "u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64" | "isize",
            ) => Self::Integer,
            Some("f32" | "f64" | "Number") => Self::Float,
            Some("String") => Self::Text,
            Some("Vec") => Self::List,
            _ => Self::Other,
        }
    }
}

/// Whether a parameter of this type is one argument, and not the object of all arguments.
pub(crate) fn is_one_argument(ty: &Type) -> bool {
    let known = ["bool", "char", "Option", "HashMap", "BTreeMap", "Value", "Map", "Box"];
    Kind::of(ty) != Kind::Other || last_name(ty).is_some_and(|name| known.contains(&name.as_str()))
}

/// The `T` of an `Option<T>`, if `wrapper` is `Option`.
pub(crate) fn inner<'a>(ty: &'a Type, wrapper: &str) -> Option<&'a Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|segment| segment.ident == wrapper)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

fn last_name(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        _ => None,
    }
}
