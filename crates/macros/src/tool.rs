//! `#[tool]`: makes a tool from a function.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Error, FnArg, ItemFn, LitStr, Pat, PatType, Result, Token, Type, parenthesized,
};

use crate::docs;
use crate::kind::is_one_argument;

/// The content of the parentheses of `#[tool(…)]`.
#[derive(Default)]
pub(crate) struct Settings {
    name: Option<LitStr>,
    needs: Vec<String>,
}

impl Parse for Settings {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut settings = Self::default();
        while !input.is_empty() {
            let key: syn::Ident = input.parse()?;
            match key.to_string().as_str() {
                "name" => {
                    input.parse::<Token![=]>()?;
                    settings.name = Some(input.parse()?);
                }
                "needs" => {
                    let names;
                    parenthesized!(names in input);
                    let names = Punctuated::<LitStr, Token![,]>::parse_terminated(&names)?;
                    settings.needs.extend(names.iter().map(LitStr::value));
                }
                other => {
                    let fix = format!(
                        "there is no `{other}`; there are `name = \"…\"` and `needs(\"…\")`"
                    );
                    return Err(Error::new_spanned(&key, fix));
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(settings)
    }
}

pub(crate) fn expand(settings: Settings, function: ItemFn) -> Result<TokenStream> {
    let ItemFn { attrs, vis, mut sig, block } = function;
    if !sig.generics.params.is_empty() {
        let fix = "a tool takes no type parameters and no lifetimes";
        return Err(Error::new_spanned(&sig.generics, fix));
    }
    let description = docs::text_of(&attrs);
    if description.is_empty() {
        let fix = "a tool needs a doc comment: it is the description that models and people read";
        return Err(Error::new_spanned(&sig.ident, fix));
    }
    let (docs, others): (Vec<Attribute>, Vec<Attribute>) =
        attrs.into_iter().partition(docs::is_doc);
    let name = match &settings.name {
        Some(name) => name.value(),
        None => sig.ident.to_string().trim_start_matches("r#").to_owned(),
    };
    let mut needs = settings.needs;
    needs_of(block.to_token_stream(), &mut needs);

    let Parameters { values, whole, has_call } = Parameters::take(&mut sig.inputs)?;
    let ident = &sig.ident;
    let function = format_ident!("__{ident}");
    let taken = if values.is_empty() { quote!(_) } else { quote!(arguments) };
    let Inputs { item, ty, passed } = Inputs::of(values, whole);
    let (call, taken_call) =
        if has_call { (quote!(call), quote!(call)) } else { (quote!(), quote!(_)) };
    let awaited = sig.asyncness.map(|_| quote!(.await));
    let mut inner = sig.clone();
    inner.ident = function.clone();
    Ok(quote! {
        #(#docs)*
        #vis fn #ident() -> impl ::a2a_edge::tool::Tool {
            #item

            #(#others)*
            #inner #block

            ::a2a_edge::tool::FunctionTool::of(
                #name,
                #description,
                &[#(#needs),*],
                async |#taken: #ty, #taken_call: &dyn ::a2a_edge::tool::ToolCall| {
                    ::a2a_edge::tool::IntoAnswer::into_answer(#function(#passed #call) #awaited)
                },
            )
        }
    })
}

/// The parsed parameters of the function.
struct Parameters {
    values: Vec<PatType>,
    /// Whether the only parameter is the object of all arguments.
    whole: bool,
    has_call: bool,
}

impl Parameters {
    /// Copies the parameters, and removes their doc comments and our attributes from the function.
    fn take(inputs: &mut Punctuated<FnArg, Token![,]>) -> Result<Self> {
        let mut values = Vec::new();
        let mut has_call = false;
        for input in inputs.iter_mut() {
            let FnArg::Typed(parameter) = input else {
                return Err(Error::new_spanned(input, "a tool is a function, not a method"));
            };
            if has_call {
                let fix = "the call is the last parameter, behind the arguments";
                return Err(Error::new_spanned(parameter, fix));
            }
            if matches!(*parameter.ty, Type::Reference(_)) {
                let is_call = parameter.ty.to_token_stream().to_string().ends_with("dyn ToolCall")
                    || parameter.ty.to_token_stream().to_string().ends_with(":: ToolCall");
                if !is_call {
                    let fix = "arguments are owned, as `String`; only the call is borrowed: `&dyn ToolCall`";
                    return Err(Error::new_spanned(&parameter.ty, fix));
                }
                has_call = true;
                continue;
            }
            values.push(parameter.clone());
            parameter.attrs.clear();
        }
        let whole = match values.as_slice() {
            [only] => only.attrs.is_empty() && !is_one_argument(&only.ty),
            _ => false,
        };
        Ok(Self { values, whole, has_call })
    }
}

/// The code that passes the arguments to the function.
struct Inputs {
    /// The generated type of the arguments, if one is needed.
    item: TokenStream,
    ty: TokenStream,
    /// The expressions with which the function is called.
    passed: TokenStream,
}

impl Inputs {
    fn of(values: Vec<PatType>, whole: bool) -> Self {
        if let ([only], true) = (values.as_slice(), whole) {
            let ty = &only.ty;
            return Self {
                item: TokenStream::new(),
                ty: ty.to_token_stream(),
                passed: quote!(arguments,),
            };
        }
        let (mut fields, mut passed) = (TokenStream::new(), TokenStream::new());
        for (index, PatType { attrs, pat, ty, .. }) in values.iter().enumerate() {
            let name = match pat.as_ref() {
                Pat::Ident(pattern) => pattern.ident.clone(),
                _ => format_ident!("argument_{}", index + 1),
            };
            fields.extend(quote! { #(#attrs)* #name: #ty, });
            passed.extend(quote! { arguments.#name, });
        }
        let item = quote! {
            #[::a2a_edge::tool::arguments]
            struct __Arguments { #fields }
        };
        Self { item, ty: quote!(__Arguments), passed }
    }
}

/// The names of secrets and variables that a body reads with a literal: `.secret("NAME")`, `.var("NAME")` and
/// `.value("NAME")`.
fn needs_of(body: TokenStream, needs: &mut Vec<String>) {
    let tokens: Vec<TokenTree> = body.into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        if let TokenTree::Group(group) = token {
            needs_of(group.stream(), needs);
        }
        let (
            Some(TokenTree::Punct(dot)),
            Some(TokenTree::Ident(method)),
            Some(TokenTree::Group(given)),
        ) = (tokens.get(index), tokens.get(index + 1), tokens.get(index + 2))
        else {
            continue;
        };
        let asks = ["secret", "var", "value"].iter().any(|known| method == known);
        if dot.as_char() != '.' || !asks {
            continue;
        }
        if let Ok(name) = syn::parse2::<LitStr>(given.stream()).map(|name| name.value())
            && is_name(&name)
            && !needs.contains(&name)
        {
            needs.push(name);
        }
    }
}

fn is_name(name: &str) -> bool {
    let goes_on = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    name.starts_with(|first: char| first.is_ascii_uppercase()) && name.bytes().all(goes_on)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_body_asks_for_by_name_is_found_wherever_it_stands() {
        let body = quote! {{
            let key = call.secret("KEY")?;
            if let Ok(host) = call.var("HOST") {
                inner(|| call.value("OTHER"), map.value("lower"), call.secret(name), call.secret("KEY"));
            }
        }};
        let mut needs = vec!["GIVEN".to_owned()];
        needs_of(body, &mut needs);
        assert_eq!(needs, ["GIVEN", "KEY", "HOST", "OTHER"]);
    }
}
