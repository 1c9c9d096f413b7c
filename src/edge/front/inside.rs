//! Requests that an agent of this Worker sends to another one, for the caller of its task. They arrive only through
//! this function, never over HTTP. They are decided like all other requests, except that their caller is known: headers
//! that identify a caller are not read.

use worker::{Env, Error, Response, Result};

use super::deployment::Front;
use super::facts::FoundBody;
use super::facts::body::Body;
use super::waiting::Waiting;
use crate::edge::response::to_response;
use crate::front::facts::{Facts, Inside};
use crate::front::head::{REQUEST, TRACE, head_of, is_passed};
use crate::front::route::{Route, route};
use a2a::binding::http::{HttpResponse, split_url};

/// Answers a request to an agent of this Worker.
///
/// # Errors
///
/// If the URL belongs to no agent, or the platform fails.
pub(in crate::edge) async fn answer_inside(
    env: Env,
    inside: Inside,
    method: &'static str,
    url: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
) -> Result<Response> {
    let text = head(method, &url, &headers, inside.request.as_deref());
    match front_for(env, &url)? {
        Ok(front) => {
            let facts = Facts { inside: Some(inside), ..Facts::default() };
            Waiting::of(front, text, FoundBody::Whole(Body::of(body)), facts).answer().await
        }
        Err(answer) => to_response(answer),
    }
}

/// The front for a request inside of the Worker to this URL, or the error answer that all requests get.
///
/// # Errors
///
/// If the path of the URL is no path of an agent.
pub(super) fn front_for(env: Env, url: &str) -> Result<std::result::Result<Front, HttpResponse>> {
    let (_, path, _) = split_url(url);
    if !matches!(
        route(path),
        Route::JsonRpc(_) | Route::Subscribe(_) | Route::Rest(..) | Route::Card(..)
    ) {
        return Err(Error::RustError(format!("{path} is no path of an agent")));
    }
    Ok(Front::of(env))
}

/// The head of a request. It contains only the headers that determine how to answer the request. No line break remains
/// in it.
fn head(method: &str, url: &str, headers: &[(String, String)], request: Option<&str>) -> String {
    let is_kept = |name: &str| is_passed(name) || TRACE.contains(&name);
    let named = request.map(|request| (REQUEST, request));
    head_of(method, url, headers, is_kept, named)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front::head::Head;

    #[test]
    fn no_header_of_a_request_inside_says_who_makes_it() {
        let headers = [
            ("Authorization", "Bearer x"),
            ("Cookie", "a=b"),
            ("Act-As", "operator"),
            ("X-Key", "k"),
            (":request", "mine"),
            ("CF-Connecting-IP", "1.2.3.4"),
            ("Content-Type", "application/json"),
            ("Accept", "text/event-stream\nauthorization\nBearer x"),
            ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
        ];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let text =
            head("POST", "https://a.example/b\nact-as\noperator", &headers, Some("8f2d-FRA"));
        let head = Head::parse(&text);
        let names: Vec<&str> = head.headers().iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["content-type", "accept", "traceparent", ":request"]);
        assert_eq!(head.url(), "https://a.example/b act-as operator");
        assert_eq!(head.header("accept"), Some("text/event-stream authorization Bearer x"));
        assert_eq!(head.trail().request.as_deref(), Some("8f2d-FRA"));
        assert!(head.trail().trace.is_some());
    }
}
