//! The tool `probe_fetch`, for the tests of the Worker: requests of Rust tools to other servers, and their answers.

use a2a_edge::tool::prelude::*;

/// Fetches a URL within 700 ms, with a secret if one is named.
#[tool]
pub(super) async fn probe_fetch(
    url: String,
    secret: Option<String>,
    #[default(false)] guarded: bool,
    call: &dyn ToolCall,
) -> Result<String, ToolError> {
    let mut request = HttpRequest { timeout_ms: 700, ..HttpRequest::get(url) };
    if let Some(name) = secret {
        let secret = call.secret(&name)?;
        call.progress(&format!("sending {}", secret.reveal()))?;
        request = request.with_header("Authorization", secret.reveal());
    }
    let answer = call.fetch(if guarded { request.guarded() } else { request }).await?;
    match answer.status {
        500.. => Err(ToolError::upstream(format!("{}: {}", answer.status, answer.body))),
        status => Ok(format!("{status} {}", answer.body)),
    }
}

#[cfg(test)]
mod tests {
    use a2a_edge::http::memory::ok;
    use a2a_edge::tool::testing::TestCall;

    use super::*;

    #[test]
    fn a_page_is_fetched_with_a_secret() {
        let call = TestCall::default().with_secret("KEY", "k");
        call.http.answer_with(|request, _| Ok(ok(request.headers[0].1.clone())));
        let output = call.call(&probe_fetch(), json!({"url": "http://a", "secret": "KEY"}));
        assert_eq!(output, Ok("200 k".into()));
    }
}
