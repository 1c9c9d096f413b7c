//! The tool `page_title`.

use a2a_edge::tool::prelude::*;

/// Every tool of this Worker.
pub(crate) fn all() -> Vec<Box<dyn Tool>> {
    vec![Box::new(page_title())]
}

/// Tells the title of a page.
#[tool]
async fn page_title(
    /// The URL of a page.
    #[limit(..=2000)]
    url: String,
    call: &dyn ToolCall,
) -> Result<Value, ToolError> {
    call.progress(&format!("reading {url}"))?;
    let page = call.fetch(HttpRequest::new("GET", &url)).await?;
    if !page.is_success() {
        return Err(ToolError::upstream(format!("{url} answered {}", page.status)));
    }
    let title = page.body.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
    match title {
        Some((title, _)) => Ok(json!({"url": url, "title": title.trim()})),
        None => Err(ToolError::upstream(format!("{url} has no title"))),
    }
}

#[cfg(test)]
mod tests {
    use a2a_edge::http::memory::{ok, status};
    use a2a_edge::tool::testing::TestCall;

    use super::*;

    fn call(url: &str) -> Result<ToolOutput, ToolError> {
        let call = TestCall::default();
        call.http.answer_with(|request, _| match request.url.as_str() {
            "http://page" => Ok(ok("<html><title> Hello </title></html>")),
            "http://text" => Ok(ok("hello")),
            _ => Ok(status(404)),
        });
        call.call(&page_title(), json!({"url": url}))
    }

    #[test]
    fn the_title_of_a_page_is_told() {
        assert_eq!(call("http://page"), Ok(json!({"url": "http://page", "title": "Hello"}).into()));
    }

    #[test]
    fn what_is_no_page_is_told_with_the_reason() {
        for (url, reason) in
            [("http://text", "http://text has no title"), ("http://x", "http://x answered 404")]
        {
            assert_eq!(call(url), Err(ToolError::upstream(reason)));
        }
    }
}
