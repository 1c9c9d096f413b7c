//! `probe_steps`: a tool that works in steps.

use a2a_edge::tool::prelude::*;

/// Posts to `<url>/1`, `<url>/2` and so on, each a step.
#[tool]
pub(super) async fn probe_steps(
    /// Where to.
    url: String,
    #[limit(1..=9)] count: u8,
    call: &dyn ToolCall,
) -> Result<String, ToolError> {
    let mut answers = String::new();
    for number in 1..=count {
        call.progress(&format!("step {number}"))?;
        let request = || HttpRequest::post(format!("{url}/{number}"));
        let body: String =
            call.step("post", async || Ok(call.fetch(request()).await?.success()?.body)).await?;
        answers.push_str(&format!("{number} {body}\n"));
    }
    Ok(answers)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use a2a_edge::tool::Fault;
    use a2a_edge::tool::testing::call;

    #[test]
    fn a_step_that_reaches_nobody_fails_the_call() {
        let nobody = json!({"url": "http://nobody", "count": 2});
        assert_eq!(call(&super::probe_steps(), nobody).unwrap_err().fault(), Fault::Upstream);
    }
}
