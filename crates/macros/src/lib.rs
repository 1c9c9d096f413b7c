//! The attributes `#[tool]`, `#[arguments]` and `#[settings]`. They run on the machine that compiles; what they leave in a Worker is a
//! schema as constants, and the reader that serde derives.
//!
//! What they write begins with `::a2a_edge`. That is the library in a Worker, and `a2a_agents` in its build script,
//! which says `extern crate a2a_agents as a2a_edge;`.

mod arguments;
mod attributes;
mod docs;
mod kind;
mod limit;
mod tool;

use proc_macro::TokenStream;
use quote::quote;
use syn::parse_macro_input;

/// Makes a tool of a function: `#[tool] async fn weather(…)` becomes `fn weather() -> impl Tool`.
///
/// The name of the tool is that of the function, its description the doc comment. Arguments are the parameters,
/// each described by its doc comment, which may have `#[limit(…)]` and `#[default(…)]`; or one parameter whose type
/// has `#[arguments]`. A last parameter `call: &dyn ToolCall` gets the call. The function may be async or not, and
/// returns whatever converts into a `ToolOutput`, or a `Result` of it.
///
/// Secrets and variables that the body asks for by a literal, as `call.secret("WEATHER_KEY")`, are what the tool
/// [`needs`]; `#[tool(needs("NAME"))]` adds others.
///
/// [`needs`]: https://docs.rs/a2a-edge-agents
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let settings = parse_macro_input!(attribute as tool::Settings);
    let function = parse_macro_input!(item as syn::ItemFn);
    tool::expand(settings, function).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct or an enum a type that arguments of tools are made of: serde reads it, and its JSON schema follows
/// from its fields and their doc comments.
///
/// | on a field | meaning |
/// |---|---|
/// | a type `Option<…>` | it may be missing, or null |
/// | `#[default(…)]` | it may be missing, and is this then; a literal stands in the schema |
/// | `#[limit(1..=200)]` | the least and the most: of a number, of the characters of a text, of the elements of a list |
/// | `#[serde(rename = "…")]`, `#[serde(default)]` | as serde says |
///
/// Fields that the struct does not have are refused. The variants of an enum are named in `snake_case` unless
/// `#[serde(rename_all = "…")]` says otherwise.
#[proc_macro_attribute]
pub fn arguments(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let nothing = parse_macro_input!(attribute as syn::parse::Nothing);
    let syn::parse::Nothing = nothing;
    let input = parse_macro_input!(item as syn::DeriveInput);
    arguments::expand(input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct the settings of an executor: what may stand in `[executor.<kind>]`. serde reads it, and keys that the
/// struct does not have are refused; what serde offers for fields (`default`, `rename`) works as usual.
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
