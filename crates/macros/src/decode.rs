//! `#[derive(Decode)]`: the reader of a stored or embedded form, from the attributes that serde's `Serialize` has on the type.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    Attribute, Data, DataEnum, DeriveInput, Error, Expr, ExprPath, Field, Fields, Ident, Result,
    Type, Variant,
};

use crate::attributes::{renamed, text, words_of};

pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    if !input.generics.params.is_empty() {
        let fix = "write `Decode` by hand for a type with parameters";
        return Err(Error::new_spanned(&input.generics, fix));
    }
    let attributes = Serde::read(&input.attrs)?;
    let name = &input.ident;
    let object = |decode: TokenStream| {
        quote! {
            impl ::a2a::model::decode::Decode for #name {
                fn decode(fields: &mut ::a2a::model::decode::Fields) -> Option<Self> {
                    #decode
                }
            }
        }
    };
    if let Some(stored) = &attributes.from {
        return Ok(object(quote! {
            let stored = <#stored as ::a2a::model::decode::Decode>::decode(fields)?;
            Some(stored.into())
        }));
    }
    match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => {
                let fields = fields.named.iter();
                let fields = fields.map(|field| Member::read(field, &attributes.rename_all));
                let fields = fields.collect::<Result<Vec<_>>>()?;
                let decoded = if attributes.has_default {
                    let replaced = fields.iter().map(Member::replaced);
                    quote! {
                        let mut decoded = <Self as ::core::default::Default>::default();
                        #(#replaced)*
                        Some(decoded)
                    }
                } else {
                    // A flattened type gets the members that the others leave.
                    let (flat, own): (Vec<_>, Vec<_>) =
                        fields.iter().partition(|field| field.serde.is_flat);
                    let decoded = own.into_iter().chain(flat).map(Member::decoded);
                    quote! { Some(Self { #(#decoded),* }) }
                };
                Ok(object(decoded))
            }
            Fields::Unnamed(fields) if attributes.is_transparent && fields.unnamed.len() == 1 => {
                Ok(member(
                    name,
                    &quote! {
                        ::a2a::model::decode::Member::read(fields, name, value).map(Self)
                    },
                ))
            }
            Fields::Unnamed(_) | Fields::Unit => Err(Error::new_spanned(
                name,
                "`Decode` needs named fields, or `#[serde(transparent)]`",
            )),
        },
        Data::Enum(data) => {
            let names =
                data.variants.iter().map(|variant| variant_name(variant, &attributes.rename_all));
            let names = names.collect::<Result<Vec<_>>>()?;
            match &attributes.tag {
                Some(tag) => Ok(object(tagged(data, tag, &names)?)),
                None => Ok(member(name, &variants(data, &names)?)),
            }
        }
        Data::Union(data) => Err(Error::new_spanned(data.union_token, "a union has no members")),
    }
}

/// The implementation for a type that is not an object with members.
fn member(name: &Ident, read: &TokenStream) -> TokenStream {
    quote! {
        impl ::a2a::model::decode::Member for #name {
            fn read(
                fields: &mut ::a2a::model::decode::Fields,
                name: &str,
                value: ::a2a::model::decode::Value,
            ) -> Option<Self> {
                #read
            }
        }
    }
}

/// The reader of an enum whose variants are types, named by the member `tag`.
fn tagged(data: &DataEnum, tag: &str, names: &[String]) -> Result<TokenStream> {
    let arms = data.variants.iter().enumerate().map(|(index, variant)| {
        let ident = &variant.ident;
        let pattern = pattern(index, names);
        match &variant.fields {
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => Ok(quote! {
                #pattern => ::a2a::model::decode::Decode::decode(fields).map(Self::#ident)
            }),
            _ => Err(Error::new_spanned(variant, "a tagged variant has one type, as `Key(Key)`")),
        }
    });
    let arms = arms.collect::<Result<Vec<_>>>()?;
    Ok(quote! { match fields.tag(#tag, &[#(#names),*])? { #(#arms),* } })
}

/// The reader of an enum whose variants are texts, or members with a content.
fn variants(data: &DataEnum, names: &[String]) -> Result<TokenStream> {
    if data.variants.iter().all(|variant| matches!(variant.fields, Fields::Unit)) {
        let idents = data.variants.iter().map(|variant| &variant.ident);
        let patterns = (0..names.len()).map(|index| pattern(index, names));
        return Ok(quote! {
            Some(match fields.choice(name, &value, &[#(#names),*])? { #(#patterns => Self::#idents),* })
        });
    }
    let arms = data.variants.iter().enumerate().map(|(index, variant)| {
        let (ident, pattern) = (&variant.ident, pattern(index, names));
        let content = match &variant.fields {
            Fields::Unit => quote! { Some(Self::#ident) },
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => quote! {
                ::a2a::model::decode::Member::read(fields, name, content).map(Self::#ident)
            },
            Fields::Unnamed(fields) if fields.unnamed.len() == 2 => quote! {
                ::a2a::model::decode::Member::read(fields, name, content).map(|(a, b)| Self::#ident(a, b))
            },
            Fields::Unnamed(fields) => {
                return Err(Error::new_spanned(fields, "a variant has at most two types"));
            }
            Fields::Named(members) => {
                let members = members.named.iter().map(|field| Member::read(field, &None));
                let members = members.collect::<Result<Vec<_>>>()?;
                let members = members.iter().map(Member::decoded);
                quote! {{
                    let fields = &mut fields.of_member(name, content)?;
                    Some(Self::#ident { #(#members),* })
                }}
            }
        };
        Ok(quote! { #pattern => #content })
    });
    let arms = arms.collect::<Result<Vec<_>>>()?;
    Ok(quote! {
        let (variant, content) = fields.content(name, value, &[#(#names),*])?;
        match variant { #(#arms),* }
    })
}

/// The pattern of an index in the list of names; that of the last one matches any.
fn pattern(index: usize, names: &[String]) -> TokenStream {
    if index + 1 == names.len() { quote!(_) } else { quote!(#index) }
}

/// A field of a struct.
struct Member<'a> {
    ident: &'a Ident,
    name: String,
    serde: Serde,
}

impl<'a> Member<'a> {
    fn read(field: &'a Field, rule: &Option<String>) -> Result<Self> {
        let serde = Serde::read(&field.attrs)?;
        let ident =
            field.ident.as_ref().ok_or_else(|| Error::new_spanned(field, "a field has a name"))?;
        let plain = ident.to_string().trim_start_matches("r#").to_owned();
        let words: Vec<String> = plain.split('_').map(str::to_owned).collect();
        let name = match (&serde.rename, rule) {
            (Some(name), _) => name.clone(),
            (None, Some(rule)) => renamed(&words, rule, ident)?,
            (None, None) => plain,
        };
        Ok(Self { ident, name, serde })
    }

    /// The field in the expression that makes the struct.
    fn decoded(&self) -> TokenStream {
        let Self { ident, name, serde } = self;
        let value = match serde {
            Serde { is_skipped: true, .. } => quote!(::core::default::Default::default()),
            Serde { is_flat: true, .. } => quote!(::a2a::model::decode::Decode::decode(fields)?),
            Serde { default: Some(default), .. } => quote!(fields.or(#name, #default)?),
            Serde { has_default: true, .. } => {
                quote!(fields.or(#name, ::core::default::Default::default)?)
            }
            _ => quote!(fields.required(#name)?),
        };
        quote! { #ident: #value }
    }

    /// The statement that replaces the default of the field.
    fn replaced(&self) -> TokenStream {
        let Self { ident, name, serde } = self;
        if serde.is_skipped {
            return TokenStream::new();
        }
        quote! { fields.replace(#name, &mut decoded.#ident)?; }
    }
}

/// The attributes of serde on a type, a field or a variant.
#[derive(Default)]
struct Serde {
    rename: Option<String>,
    rename_all: Option<String>,
    tag: Option<String>,
    /// The type from which the type is converted.
    from: Option<Type>,
    /// The function that returns the default.
    default: Option<ExprPath>,
    has_default: bool,
    is_flat: bool,
    is_skipped: bool,
    is_transparent: bool,
}

impl Serde {
    fn read(attributes: &[Attribute]) -> Result<Self> {
        let mut read = Self::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
            attribute.parse_nested_meta(|meta| {
                let name = meta.path.get_ident().map(Ident::to_string).unwrap_or_default();
                let value = meta.value().ok().map(|value| value.parse::<Expr>()).transpose()?;
                let value = value.as_ref().and_then(text);
                match (name.as_str(), value) {
                    ("rename", value) => read.rename = value,
                    ("rename_all", value) => read.rename_all = value,
                    ("tag", value) => read.tag = value,
                    ("from", Some(value)) => read.from = Some(syn::parse_str(&value)?),
                    ("default", Some(value)) => read.default = Some(syn::parse_str(&value)?),
                    ("default", None) => read.has_default = true,
                    ("flatten", _) => read.is_flat = true,
                    ("skip", _) => read.is_skipped = true,
                    ("transparent", _) => read.is_transparent = true,
                    // What is only for writing, and for files of people, which another reader checks.
                    ("skip_serializing_if" | "into" | "deny_unknown_fields", _) => {}
                    (other, _) => {
                        let fix =
                            format!("`{other}` of serde is not for `Decode`; write it by hand");
                        return Err(meta.error(fix));
                    }
                }
                Ok(())
            })?;
        }
        Ok(read)
    }
}

fn variant_name(variant: &Variant, rule: &Option<String>) -> Result<String> {
    let ident = &variant.ident;
    match (Serde::read(&variant.attrs)?.rename, rule) {
        (Some(name), _) => Ok(name),
        (None, Some(rule)) => renamed(&words_of(&ident.to_string()), rule, ident),
        (None, None) => Ok(ident.to_string()),
    }
}
