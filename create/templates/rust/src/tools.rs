//! The tools of this Worker.

use a2a_edge::tool::prelude::*;

/// All tools.
pub(crate) fn all() -> Vec<Box<dyn Tool>> {
    vec![Box::new(page_title())]
}

/// Tells the title of a page.
#[tool]
async fn page_title(
    /// The URL of the page.
    #[limit(1..=2000)]
    url: String,
    call: &dyn ToolCall,
) -> Result<Value, ToolError> {
    call.progress(&format!("reading {url}"))?;
    // Guarded, because the caller chooses the URL: addresses in private networks are refused.
    let page = call.fetch(HttpRequest::get(&url).guarded()).await?.success()?;
    let title = page.body.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
    let (title, _) = title.ok_or_else(|| ToolError::upstream(format!("{url} has no title")))?;
    Ok(json!({"url": url, "title": title.trim()}))
}

#[cfg(test)]
mod tests {
    use a2a_edge::http::memory::{ok, status};
    use a2a_edge::tool::testing::TestCall;

    use super::*;

    fn call(url: &str) -> Result<Value, String> {
        let call = TestCall::default();
        call.http.answer_with(|request, _| match request.url.as_str() {
            "http://page" => Ok(ok("<html><title> Hello </title></html>")),
            "http://text" => Ok(ok("hello")),
            _ => Ok(status(404)),
        });
        let output = call.call(&page_title(), json!({"url": url}));
        output.map(|output| output.value()).map_err(|error| error.to_string())
    }

    #[test]
    fn the_title_of_a_page_is_told() {
        assert_eq!(call("http://page"), Ok(json!({"url": "http://page", "title": "Hello"})));
    }

    #[test]
    fn what_is_no_page_is_told_with_the_reason() {
        for (url, reason) in
            [("http://text", "http://text has no title"), ("http://x", "http://x answered 404")]
        {
            assert_eq!(call(url), Err(reason.to_owned()));
        }
    }
}
