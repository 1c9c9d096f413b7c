//! `#[arguments]`: makes a struct or an enum a type for arguments.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DataEnum, DeriveInput, Error, Fields, FieldsNamed, Ident, Result, Variant};

use crate::attributes::{FieldAttributes, as_value, rename_all, renamed, words_of};
use crate::docs;

pub(crate) fn expand(mut input: DeriveInput) -> Result<TokenStream> {
    if !input.generics.params.is_empty() {
        let fix = "arguments are of one type; write the types out in place of the parameters";
        return Err(Error::new_spanned(&input.generics, fix));
    }
    let rule = rename_all(&input.attrs)?;
    let description = docs::keyword("description", &docs::text_of(&input.attrs));
    let Expanded { shape, defaults, container } = match &mut input.data {
        Data::Struct(data) => match &mut data.fields {
            Fields::Named(fields) => {
                let fields = named(&input.ident, fields, rule.as_deref())?;
                let shape = fields.shape(&description);
                let container = quote!(deny_unknown_fields);
                Expanded { shape, defaults: fields.defaults, container }
            }
            Fields::Unit => {
                let fix = "write `{}` for no arguments";
                return Err(Error::new_spanned(&input.ident, fix));
            }
            Fields::Unnamed(fields) => {
                let fix = "arguments have names; write `{ name: Type }`";
                return Err(Error::new_spanned(fields, fix));
            }
        },
        Data::Enum(data) => {
            let shape = variants(data, rule.as_deref().unwrap_or("snake_case"), &description)?;
            let container = match rule {
                Some(_) => quote!(),
                None => quote!(rename_all = "snake_case"),
            };
            Expanded { shape, defaults: TokenStream::new(), container }
        }
        Data::Union(data) => {
            let fix = "arguments are a struct or an enum";
            return Err(Error::new_spanned(data.union_token, fix));
        }
    };
    let name = &input.ident;
    Ok(quote! {
        #[derive(::a2a_edge::serde::Deserialize)]
        #[serde(crate = "::a2a_edge::serde")]
        #[serde(#container)]
        #input

        #defaults

        impl ::a2a_edge::tool::Argument for #name {
            const SHAPE: &'static ::a2a_edge::tool::Shape = &#shape;
        }
    })
}

/// The generated code for a type.
struct Expanded {
    shape: TokenStream,
    defaults: TokenStream,
    /// The content of serde's attribute on the type.
    container: TokenStream,
}

/// The generated code for the fields of a struct, or of a variant.
struct NamedFields {
    fields: TokenStream,
    /// The functions that return the defaults for serde.
    defaults: TokenStream,
}

impl NamedFields {
    fn shape(&self, description: &str) -> TokenStream {
        let fields = &self.fields;
        quote! {
            ::a2a_edge::tool::Shape::Object { more: #description, fields: &[#fields] }
        }
    }
}

fn named(owner: &Ident, fields: &mut FieldsNamed, rule: Option<&str>) -> Result<NamedFields> {
    let mut shapes = TokenStream::new();
    let mut functions = TokenStream::new();
    for field in &mut fields.named {
        let Some(ident) = field.ident.clone() else { continue };
        let attributes = FieldAttributes::read(std::mem::take(&mut field.attrs), &field.ty)?;
        let is_required = attributes.is_required(&field.ty);
        let FieldAttributes { kept, default, rename, is_skipped, keywords, .. } = attributes;
        field.attrs = kept;
        let ty = &field.ty;
        let plain = ident.to_string().trim_start_matches("r#").to_owned();
        if let Some(default) = default {
            let value = as_value(&default);
            let function = format_ident!("__default_{plain}");
            let path = format!("{owner}::{function}");
            functions.extend(quote! { fn #function() -> #ty { #value } });
            field.attrs.push(syn::parse_quote!(#[serde(default = #path)]));
        }
        if is_skipped {
            continue;
        }
        let words: Vec<String> = plain.split('_').map(str::to_owned).collect();
        let name = match (rename, rule) {
            (Some(name), _) => name,
            (None, Some(rule)) => renamed(&words, rule, &ident)?,
            (None, None) => plain,
        };
        shapes.extend(quote! {
            ::a2a_edge::tool::Field {
                name: #name,
                shape: <#ty as ::a2a_edge::tool::Argument>::SHAPE,
                more: #keywords,
                is_required: #is_required,
            },
        });
    }
    let defaults = if functions.is_empty() {
        functions
    } else {
        quote! { impl #owner { #functions } }
    };
    Ok(NamedFields { fields: shapes, defaults })
}

/// An enum: a choice of names or, if a variant has content, objects with the name of the variant.
fn variants(data: &mut DataEnum, rule: &str, description: &str) -> Result<TokenStream> {
    let mut names = Vec::new();
    let mut shapes = TokenStream::new();
    let mut meanings = Vec::new();
    for variant in &mut data.variants {
        let (name, meaning) = named_variant(variant, rule)?;
        let more = docs::keyword("description", &meaning);
        match &mut variant.fields {
            Fields::Unit => {
                let description = docs::keyword("description", &meaning);
                shapes.extend(quote! {
                    &::a2a_edge::tool::Shape::Choice { more: #description, names: &[#name] },
                });
                names.push(name.clone());
            }
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                let types = fields.unnamed.iter().map(|field| &field.ty);
                shapes.extend(quote! { &::a2a_edge::tool::Shape::Object { more: #more, fields: &[
                    #(::a2a_edge::tool::Field {
                        name: #name,
                        shape: <#types as ::a2a_edge::tool::Argument>::SHAPE,
                        more: "",
                        is_required: true,
                    })*
                ] }, });
            }
            Fields::Unnamed(_) | Fields::Named(_) => {
                let fix = "a variant has no content, or one type with `#[arguments]`, as `Circle(Circle)`";
                return Err(Error::new_spanned(variant, fix));
            }
        }
        if !meaning.is_empty() {
            meanings.push(format!("`{name}`: {meaning}"));
        }
    }
    if names.len() < data.variants.len() {
        return Ok(quote! {
            ::a2a_edge::tool::Shape::OneOf { more: #description, shapes: &[#shapes] }
        });
    }
    // The meanings of the names are added to the description.
    let description = match (description, meanings.join(" ")) {
        ("", meanings) => docs::keyword("description", &meanings),
        (description, meanings) if meanings.is_empty() => description.to_owned(),
        (description, meanings) => {
            let quoted = docs::quoted(&format!(" {meanings}"));
            let (head, tail) =
                (description.trim_end_matches("\","), quoted.trim_start_matches('"'));
            format!("{head}{tail},")
        }
    };
    Ok(quote! {
        ::a2a_edge::tool::Shape::Choice { more: #description, names: &[#(#names),*] }
    })
}

/// The name of a variant in serde's form, and the variant's description.
fn named_variant(variant: &mut Variant, rule: &str) -> Result<(String, String)> {
    let meaning = docs::text_of(&variant.attrs);
    let mut given = None;
    for attribute in variant.attrs.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("rename") {
                return Err(meta.error("of serde, only `rename` may stand on a variant"));
            }
            given = crate::attributes::text(&meta.value()?.parse()?);
            Ok(())
        })?;
    }
    let name = match given {
        Some(name) => name,
        None => renamed(&words_of(&variant.ident.to_string()), rule, &variant.ident)?,
    };
    Ok((name, meaning))
}
