//! The attributes `#[tool]`, `#[arguments]` and `#[settings]`. They run at compile time; a Worker contains only the schema
//! as constants, and the decoder that serde derives. The generated code uses paths that begin with `::a2a_edge`, the library.
//!
//! `#[derive(Decode)]` is for the crates of a2a-edge themselves. Its paths begin with `::a2a`, the protocol.

mod arguments;
mod attributes;
mod decode;
mod docs;
mod kind;
mod limit;
mod sql;
mod tool;

use proc_macro::TokenStream;
use quote::quote;
use syn::parse_macro_input;

/// Makes a tool from a function: `#[tool] async fn weather(…)` becomes `fn weather() -> impl Tool`.
///
/// The tool has the name of the function, and its description is the doc comment. The arguments are the parameters, each
/// described by its doc comment, and optionally with `#[limit(…)]` and `#[default(…)]`; or a single parameter whose type has
/// `#[arguments]`. A last parameter `call: &dyn ToolCall` receives the call. The function may be async or not, and returns a
/// type that converts into a `ToolOutput`, or a `Result` of such a type.
///
/// Secrets and variables that the body reads with a literal name, for example `call.secret("WEATHER_KEY")`, become the
/// tool's [`needs`]; `#[tool(needs("NAME"))]` adds others.
///
/// [`needs`]: https://docs.rs/a2a-edge-agents
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let settings = parse_macro_input!(attribute as tool::Settings);
    let function = parse_macro_input!(item as syn::ItemFn);
    tool::expand(settings, function).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct or an enum a type for the arguments of tools: serde decodes it, and its JSON schema follows from its
/// fields and their doc comments.
///
/// | on a field | meaning |
/// |---|---|
/// | a type `Option<…>` | the field may be missing or null |
/// | `#[default(…)]` | the value of a missing field; a literal is part of the schema |
/// | `#[limit(1..=200)]` | the minimum and maximum: of a number, of the characters of a text, of the elements of a list |
/// | `#[serde(rename = "…")]`, `#[serde(default)]` | as in serde |
///
/// Unknown fields are refused. The variants of an enum are named in `snake_case`, unless `#[serde(rename_all = "…")]` sets
/// another rule.
#[proc_macro_attribute]
pub fn arguments(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let nothing = parse_macro_input!(attribute as syn::parse::Nothing);
    let syn::parse::Nothing = nothing;
    let input = parse_macro_input!(item as syn::DeriveInput);
    arguments::expand(input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// The text of a file of SQL, without the lines that are comments and without indentation: `include_sql!("migrations/0001_schema.sql")`.
/// The path is relative to the crate. For the crates of a2a-edge themselves.
#[proc_macro]
pub fn include_sql(path: TokenStream) -> TokenStream {
    let path = parse_macro_input!(path as syn::LitStr);
    sql::expand(&path).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a type readable from stored and embedded JSON, in the form in which serde's `Serialize` writes it.
///
/// The reader follows the attributes of serde on the type: `default` on a type or a field, `flatten`, `from`, `rename`,
/// `rename_all`, `skip`, `tag` and `transparent`. Unknown members are ignored, also with `deny_unknown_fields`: only the files of
/// people are checked for them, and serde reads these.
///
/// A struct with named fields and an enum with a tag implement `a2a::model::decode::Decode`; other types implement `Member`.
#[proc_macro_derive(Decode, attributes(serde))]
pub fn decode(item: TokenStream) -> TokenStream {
    let input = parse_macro_input!(item as syn::DeriveInput);
    decode::expand(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct the settings of an executor: the table `[executor.<kind>]`. serde decodes it, and unknown keys are
/// refused; serde's attributes for fields (`default`, `rename`) work as usual.
#[proc_macro_attribute]
pub fn settings(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let nothing = parse_macro_input!(attribute as syn::parse::Nothing);
    let syn::parse::Nothing = nothing;
    let input = parse_macro_input!(item as syn::ItemStruct);
    let read = quote! {
        #[derive(::a2a_edge::serde::Deserialize)]
        #[serde(crate = "::a2a_edge::serde", deny_unknown_fields)]
        #input
    };
    read.into()
}
