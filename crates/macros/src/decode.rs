//! `#[derive(Decode)]`: the reader of a stored or embedded form, from the attributes that serde's `Serialize` has on the type.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    Attribute, Data, DataEnum, DeriveInput, Error, Expr, ExprPath, Field, Fields, Ident, Result,
    Type, Variant,
};

use crate::attributes::{renamed, text, words_of};
use crate::kind::{inner, is_one_argument};

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
                // Apart from the readers of types that contain this one: what is absent is not compiled at the start of a Worker.
                #[inline(never)]
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
                let mut fields = fields.collect::<Result<Vec<_>>>()?;
                // The default of the type has a value for every field.
                let has_default = attributes.has_default;
                fields.iter_mut().for_each(|field| field.serde.has_default |= has_default);
                if has_default && fields.iter().any(|field| field.serde.is_flat) {
                    let fix = "`flatten` needs a type without `#[serde(default)]`";
                    return Err(Error::new_spanned(name, fix));
                }
                let decoded = decoded(&fields, has_default);
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

/// The reader of a struct with these fields. The struct is made first, and each member is read into its place: this needs the
/// least code, and all violations are found. A type that may have no value of its own is read before, and a flattened type last,
/// because it gets the members that the others leave.
fn decoded(fields: &[Member<'_>], has_default: bool) -> TokenStream {
    let start = if has_default {
        quote!(<Self as ::core::default::Default>::default())
    } else {
        let starts = fields.iter().map(Member::start);
        quote!(Self { #(#starts),* })
    };
    let (before, placed): (Vec<_>, Vec<_>) = fields.iter().partition(|field| field.is_before());
    if placed.iter().any(|field| field.serde.is_flat) {
        let (flat, own): (Vec<_>, Vec<_>) = fields.iter().partition(|field| field.serde.is_flat);
        let reads = own.into_iter().chain(flat).map(Member::decoded);
        return quote! { Some(Self { #(#reads),* }) };
    }
    let before = before.into_iter().map(|field| {
        let Member { ident, name, .. } = field;
        quote! { let #ident = fields.required(#name)?; }
    });
    let placed = placed.into_iter().filter(|field| !field.serde.is_skipped).map(Member::placed);
    quote! {
        #(#before)*
        let mut decoded = #start;
        let mut is_whole = true;
        #(is_whole &= #placed;)*
        is_whole.then_some(decoded)
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
                    let fields = &mut fields.nested(name, content)?;
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
    /// Whether the type is known to have a default.
    has_plain_type: bool,
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
        let has_plain_type = is_one_argument(&field.ty) && inner(&field.ty, "Box").is_none();
        Ok(Self { ident, name, serde, has_plain_type })
    }

    /// The field in the expression that makes the struct.
    fn decoded(&self) -> TokenStream {
        let Self { ident, name, serde, .. } = self;
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

    /// Whether the value is read before the struct is made, because its type may have no default.
    fn is_before(&self) -> bool {
        self.is_required() && !self.has_plain_type
    }

    /// Whether an absent member is wrong, unless its type has a value for it.
    fn is_required(&self) -> bool {
        let Serde { default, has_default, is_skipped, is_flat, .. } = &self.serde;
        !(*has_default || *is_skipped || *is_flat || default.is_some())
    }

    /// The field in the expression that makes the struct before its members are read.
    fn start(&self) -> TokenStream {
        let ident = self.ident;
        match &self.serde.default {
            Some(default) => quote!(#ident: #default()),
            None if self.is_before() => quote!(#ident),
            None => quote!(#ident: ::core::default::Default::default()),
        }
    }

    /// The call that reads the member into the field; true if it is not wrong.
    fn placed(&self) -> TokenStream {
        let Self { ident, name, .. } = self;
        if self.is_required() {
            quote!(fields.fill(#name, &mut decoded.#ident))
        } else {
            quote!(fields.replace(#name, &mut decoded.#ident))
        }
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
