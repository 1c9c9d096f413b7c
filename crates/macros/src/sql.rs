//! `include_sql!`: a file of SQL as text.

use std::fs::read_to_string;
use std::path::Path;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, LitStr, Result};

/// The text of the file at this path, which is relative to the crate, without the lines that are comments and without indentation.
pub(crate) fn expand(path: &LitStr) -> Result<TokenStream> {
    let crate_folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let file = Path::new(&crate_folder).join(path.value());
    let text = read_to_string(&file).map_err(|error| {
        Error::new(path.span(), format!("{} cannot be read: {error}", file.display()))
    })?;
    let text = without_comments(&text);
    let file = file.to_string_lossy();
    // With `include_str!`, a change of the file is a change of the crate.
    Ok(quote! {{
        const _: &str = include_str!(#file);
        #text
    }})
}

fn without_comments(text: &str) -> String {
    let lines = text.lines().map(str::trim);
    let kept: Vec<&str> =
        lines.filter(|line| !line.is_empty() && !line.starts_with("--")).collect();
    kept.join("\n")
}

#[cfg(test)]
mod tests {
    use super::without_comments;

    #[test]
    fn statements_are_kept_line_by_line() {
        let text = "-- A table.\nCREATE TABLE t (\n  -- A column.\n  a TEXT DEFAULT '--'\n);\n\n";
        assert_eq!(without_comments(text), "CREATE TABLE t (\na TEXT DEFAULT '--'\n);");
    }
}
