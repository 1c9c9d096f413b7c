//! `probe_parts`: parts of every kind, and every fault.

use a2a_edge::tool::Fault;
use a2a_edge::tool::prelude::*;

/// Gives parts of every kind, or fails by this fault.
#[tool]
pub(super) fn probe_parts(fault: Option<String>) -> Result<Vec<Part>, ToolError> {
    match fault.as_deref().and_then(Fault::named) {
        Some(fault) => Err(fault.error("as told".to_owned())),
        None => Ok(vec![
            Part::text("text"),
            Part::data(json!({"a": [1]})),
            Part::raw(b"\x00\xff", "application/octet-stream").with_filename("two.bytes"),
            Part::url("https://example.com/a").with_media_type("text/html"),
        ]),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use a2a_edge::tool::ToolError;
    use a2a_edge::tool::testing::call;

    #[test]
    fn there_are_four_kinds_of_parts() {
        assert_eq!(call(&super::probe_parts(), json!({})).unwrap().parts().len(), 4);
    }

    #[test]
    fn it_fails_by_the_fault_that_it_is_told() {
        let failed = call(&super::probe_parts(), json!({"fault": "upstream"}));
        assert_eq!(failed, Err(ToolError::upstream("as told")));
    }
}
