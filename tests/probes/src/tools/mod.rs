//! The tools of the project, one file each: `get_counter`, which counts in D1, and the probes. The tools of src/tools.ts stand beside
//! them: the specs start the Worker with the entry module of the repository.

mod ask;
mod call;
mod fetch;
mod get_counter;
mod parts;
mod steps;

use a2a_edge::tool::Tool;

/// All tools.
pub(crate) fn all() -> Vec<Box<dyn Tool>> {
    vec![
        Box::new(call::probe_call()),
        Box::new(parts::probe_parts()),
        Box::new(steps::probe_steps()),
        Box::new(ask::probe_ask()),
        Box::new(fetch::probe_fetch()),
        Box::new(get_counter::get_counter()),
    ]
}

#[cfg(test)]
mod tests {
    use a2a_edge::tool::check_schema;

    use super::*;

    #[test]
    fn every_tool_has_a_name_of_its_own_and_a_schema_that_is_heeded() {
        let tools = all();
        for (index, tool) in tools.iter().enumerate() {
            assert_eq!(check_schema(tool.input_schema()), Vec::<String>::new(), "{}", tool.name());
            assert_eq!(tool.input_schema()["type"], "object", "{}", tool.name());
            let mut earlier = tools.iter().take(index);
            assert!(!earlier.any(|other| other.name() == tool.name()), "{} twice", tool.name());
        }
    }
}
