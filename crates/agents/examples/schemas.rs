//! Prints the JSON Schemas of agent files, tool files and `remotes.toml`, and the values of the TOML files that are named, as one
//! JSON object.

use std::error::Error;
use std::{env, fs};

use a2a_agents::schema::schemas;
use serde_json::{Map, Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let mut files = Map::new();
    for path in env::args().skip(1) {
        let value: Value = toml::from_str(&fs::read_to_string(&path)?)?;
        files.insert(path, value);
    }
    let schemas: Map<String, Value> =
        schemas().into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    println!("{}", json!({"schemas": schemas, "files": files}));
    Ok(())
}
