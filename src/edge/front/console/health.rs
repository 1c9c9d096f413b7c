//! `GET /console/api/agents/<slug>/health`: checks that everything an agent needs outside of this Worker is available. A binding
//! is looked up; a program gets a HEAD request, and any answer means that the program runs. No task is begun, and no object is
//! woken.

use std::cell::RefCell;

use serde_json::{Value, json};

use crate::executor::{HostedAgent, Needs};
use crate::panic::Shared;
use crate::port::{HttpAnswer, HttpError, HttpRequest, Target};
use crate::push::origin_of;
use a2a::binding::http::HttpResponse;
use a2a::model::UnixMillis;
use a2a::sorted::SortedMap;

/// The health of an agent from this instance's memory, which keeps it for some seconds.
pub(super) fn known(slug: &str, now: UnixMillis) -> Option<Value> {
    let until = |at: i64| at.saturating_add(KEPT_MS);
    KNOWN.with_borrow(|known| {
        let found = known.get(slug).filter(|(at, _)| (*at..until(*at)).contains(&now.0));
        found.map(|(_, health)| health.clone())
    })
}

/// Checks the health of a configured agent, and remembers it; `is_bound` returns true if a binding exists. `None` if the agent
/// needs nothing.
pub(super) async fn ask(
    agent: &HostedAgent,
    now: UnixMillis,
    is_development: bool,
    is_bound: impl Fn(&Target) -> bool,
) -> Option<Value> {
    let runner = agent.runner.as_ref().ok()?;
    let health = match runner.executor.needs(&runner.outside) {
        Ok(Needs::Nothing) => return None,
        Ok(Needs::Bound(target)) if is_bound(&target) => ok(),
        Ok(Needs::Bound(target)) => {
            json!({"state": "unbound", "reason": target.missing().to_string()})
        }
        Err(unset) => json!({"state": "down", "reason": unset.0}),
        Ok(Needs::Program(url)) => {
            let request = HttpRequest { timeout_ms: TIMEOUT_MS, ..HttpRequest::new("HEAD", &url) };
            let request = request.with_header("user-agent", "a2a-edge");
            let answer = runner.outside.http.send(request).await;
            let at =
                if is_development { format!(" at {}", origin_of(&url)) } else { String::new() };
            of_answer(&answer, &at)
        }
    };
    KNOWN.change(|known| known.insert(agent.slug.to_string(), (now.0, health.clone())));
    Some(health)
}

/// The answer for a caller that the agent admits.
pub(super) fn answer(health: &Value) -> HttpResponse {
    HttpResponse::json(200, health.to_string()).with_header("cache-control", "no-store")
}

fn ok() -> Value {
    json!({"state": "ok"})
}

/// The health from the answer of a program; `at` describes its place. The result contains no other part of the URL.
fn of_answer(answer: &Result<HttpAnswer, HttpError>, at: &str) -> Value {
    let down = |what: &str| {
        let reason =
            format!("its program{at} {what}: start it, or correct `url` in the agent's file");
        json!({"state": "down", "reason": reason})
    };
    match answer {
        Ok(answer) if is_of_the_network(answer) => {
            down(&format!("is not reached (status {} of the network)", answer.status))
        }
        Ok(_) => ok(),
        Err(HttpError::Silent { timeout_ms, .. }) => {
            let reason = format!(
                "its program{at} said nothing for {timeout_ms} ms: it hangs, or takes one request at a time and has one"
            );
            json!({"state": "silent", "reason": reason})
        }
        Err(_) => down("refused the connection, or was not found"),
    }
}

/// True if Cloudflare made the answer, because the request did not reach the program.
fn is_of_the_network(answer: &HttpAnswer) -> bool {
    matches!(answer.status, 521..=523 | 530)
        && answer.header("server").is_some_and(|server| server.eq_ignore_ascii_case("cloudflare"))
}

thread_local! {
    /// For each agent, the time of this instance's last check, and its result.
    static KNOWN: RefCell<SortedMap<String, (i64, Value)>> = const { RefCell::new(SortedMap::new()) };
}

/// The time limit for an answer of the program, in milliseconds.
const TIMEOUT_MS: u64 = 2_500;

/// The time that an instance keeps a result, in milliseconds.
const KEPT_MS: i64 = 5_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::HttpBody;

    fn answered(status: u16, server: &str) -> Result<HttpAnswer, HttpError> {
        let headers = vec![("server".to_owned(), server.to_owned())];
        Ok(HttpAnswer { status, headers, body: HttpBody::Empty, url: URL.to_owned() })
    }

    const URL: &str = "http://user:s3cret@program.internal:8000/s3cret?key=s3cret";

    #[test]
    fn any_answer_of_the_program_means_that_it_runs() {
        for status in [200, 204, 302, 401, 404, 405, 500, 501, 503] {
            assert_eq!(
                of_answer(&answered(status, "python"), ""),
                json!({"state": "ok"}),
                "{status}"
            );
        }
        assert_eq!(of_answer(&answered(521, "nginx"), "")["state"], "ok", "its own word");
        assert_eq!(of_answer(&answered(404, "cloudflare"), "")["state"], "ok");
        let down = of_answer(&answered(521, "cloudflare"), "");
        assert_eq!(down["state"], "down", "{down}");
    }

    #[test]
    fn what_is_wrong_is_told_without_the_url() {
        let url = URL.to_owned();
        let failed = HttpError::Failed { url: url.clone(), reason: format!("connect to {URL}") };
        let silent = HttpError::Silent { url, timeout_ms: 2_500 };
        for (error, state) in [(failed, "down"), (silent, "silent")] {
            let told = of_answer(&Err(error), "");
            assert_eq!(told["state"], state);
            let reason = told["reason"].as_str().unwrap();
            assert!(!reason.contains("s3cret") && !reason.contains("internal"), "{reason}");
        }
        assert_eq!(origin_of(URL), "http://program.internal:8000");
    }
}
