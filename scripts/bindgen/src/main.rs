//! `a2a-edge-bindgen MODULE.wasm FOLDER` writes `index.js`, `index_bg.wasm` and the snippets of crates into the folder.
//!
//! This program does the same as the command line tool of wasm-bindgen with the options that Workers need. That tool
//! also contains an HTTP server, a client and TLS for its test runner, which take minutes to compile.

use std::env;
use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [module, folder] = arguments.as_slice() else {
        eprintln!("usage: a2a-edge-bindgen MODULE.wasm FOLDER");
        return ExitCode::FAILURE;
    };
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).out_name("index").typescript(false);
    // The glue can put a new instance in the place of one that is unusable.
    bindgen.reset_state_function(true);
    let result = bindgen.module(true).and_then(|bindgen| bindgen.generate(folder));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:?}");
            ExitCode::FAILURE
        }
    }
}
