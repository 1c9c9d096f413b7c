//! The tools that are part of this build, one file each. To add one: write its file, add it to [`all`].

mod add_numbers;
mod current_time;
mod echo;
mod get_counter;
mod get_greeting;
mod is_admin;

use super::Tool;

/// Every local tool.
pub fn all() -> Vec<Box<dyn Tool>> {
    vec![
        Box::new(echo::tool()),
        Box::new(add_numbers::tool()),
        Box::new(current_time::tool()),
        Box::new(get_greeting::tool()),
        Box::new(get_counter::tool()),
        Box::new(is_admin::tool()),
    ]
}
