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

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use async_trait::async_trait;
    use futures_executor::block_on;
    use serde_json::{Value, json};

    use super::super::{Counters, ToolContext, ToolError, call_checked, check_schema};
    use crate::model::UnixMillis;

    #[derive(Default)]
    struct OneCounter(Cell<u64>);

    #[async_trait(?Send)]
    impl Counters for OneCounter {
        async fn increment(&self, _owner: &str, _name: &str) -> Result<u64, String> {
            self.0.set(self.0.get() + 1);
            Ok(self.0.get())
        }
    }

    struct NoCounter;

    #[async_trait(?Send)]
    impl Counters for NoCounter {
        async fn increment(&self, _owner: &str, _name: &str) -> Result<u64, String> {
            Err("D1_ERROR: secret host".to_owned())
        }
    }

    fn call_with(
        counters: &dyn Counters,
        permissions: &[String],
        name: &str,
        arguments: Value,
    ) -> Result<Value, ToolError> {
        let tools = super::all();
        let tool = tools.iter().find(|tool| tool.name() == name).unwrap();
        let now = UnixMillis(1_767_603_601_250);
        let context = ToolContext { now, caller_id: "c", permissions, counters };
        block_on(call_checked(tool.as_ref(), arguments, &context))
    }

    fn call(name: &str, arguments: Value) -> Result<Value, ToolError> {
        call_with(&OneCounter::default(), &[], name, arguments)
    }

    #[test]
    fn tools_answer() {
        for (name, arguments, answer) in [
            ("echo", json!({"text": "hi"}), json!("hi")),
            ("add_numbers", json!({"a": 2, "b": 3}), json!(5)),
            ("add_numbers", json!({"a": 0.5, "b": 0.25}), json!(0.75)),
            ("current_time", json!({}), json!("2026-01-05T09:00:01.250Z")),
            ("current_time", json!({"offset_minutes": 90}), json!("2026-01-05T10:30:01.250+01:30")),
            ("get_greeting", json!({}), json!("Hello, world!")),
            ("get_greeting", json!({"name": "Ada"}), json!("Hello, Ada!")),
            ("get_counter", json!({}), json!(1)),
            ("is_admin", json!({}), json!(false)),
        ] {
            assert_eq!(call(name, arguments), Ok(answer), "{name}");
        }
    }

    #[test]
    fn wrong_arguments_are_refused_with_a_reason() {
        let reason = call("add_numbers", json!({"a": "x"})).unwrap_err().0;
        assert_eq!(
            reason,
            "add_numbers: arguments.b: is required; arguments.a: must be of type number, got string"
        );
    }

    #[test]
    fn sums_that_leave_the_range_are_errors() {
        assert!(call("add_numbers", json!({"a": 1e308, "b": 1e308})).is_err());
    }

    #[test]
    fn an_admin_is_known_by_permission() {
        let permissions = ["admin".to_owned()];
        let counters = OneCounter::default();
        assert_eq!(call_with(&counters, &permissions, "is_admin", json!({})), Ok(json!(true)));
    }

    #[test]
    fn storage_trouble_is_told_without_its_cause() {
        let error = call_with(&NoCounter, &[], "get_counter", json!({})).unwrap_err();
        assert_eq!(error.0, "the counter is not available at the moment; try again later");
    }

    #[test]
    fn the_validator_heeds_every_schema() {
        for tool in super::all() {
            assert_eq!(check_schema(tool.input_schema()), Vec::<String>::new(), "{}", tool.name());
            assert_eq!(tool.input_schema()["type"], "object", "{}", tool.name());
        }
    }
}
