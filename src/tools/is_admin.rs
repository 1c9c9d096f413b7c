//! `is_admin`: true if the caller has the permission `admin`.

use a2a_edge::tool::prelude::*;

/// Tells whether you have the permission "admin".
#[tool]
pub(super) fn is_admin(call: &dyn ToolCall) -> bool {
    call.permissions().iter().any(|permission| permission == "admin")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use a2a_edge::tool::testing::{TestCall, call};

    #[test]
    fn an_admin_is_known_by_permission() {
        assert_eq!(call(&super::is_admin(), json!({})), Ok(json!(false).into()));
        let admin = TestCall { permissions: vec!["admin".to_owned()], ..TestCall::default() };
        assert_eq!(admin.call(&super::is_admin(), json!({})), Ok(json!(true).into()));
    }
}
