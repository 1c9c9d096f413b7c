//! The tools of this build, one file each. To add one, write its file and add it to [`all`].

mod add_numbers;
mod current_time;
mod echo;
mod get_counter;
mod get_greeting;
mod is_admin;

use a2a_edge::tool::Tool;

/// The tools that agents may name.
pub(crate) fn all() -> Vec<Box<dyn Tool>> {
    vec![
        Box::new(echo::echo()),
        Box::new(add_numbers::add_numbers()),
        Box::new(current_time::current_time()),
        Box::new(get_greeting::get_greeting()),
        Box::new(get_counter::get_counter()),
        Box::new(is_admin::is_admin()),
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
