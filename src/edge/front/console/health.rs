//! `GET /console/api/agents/<slug>/health`: whether what an agent needs outside of this Worker is there. A binding is looked up; a program is asked by
//! HEAD, and any answer means that it runs. No task is begun, and no object is woken.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::executor::{HostedAgent, Needs};
use crate::port::{HttpAnswer, HttpError, HttpRequest, Target};
use crate::push::origin_of;
use a2a::binding::http::HttpResponse;
use a2a::model::UnixMillis;

/// What is known of an agent by this instance, for some seconds.
pub(super) fn known(slug: &str, now: UnixMillis) -> Option<Value> {
    let until = |at: i64| at.saturating_add(KEPT_MS);
    KNOWN.with_borrow(|known| {
        let found = known.get(slug).filter(|(at, _)| (*at..until(*at)).contains(&now.0));
        found.map(|(_, health)| health.clone())
    })
}

/// Finds out how an agent is that can be called, as far as is known here; `is_bound` says whether a binding is there. Keeps it.
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
    KNOWN.with_borrow_mut(|known| known.insert(agent.slug.clone(), (now.0, health.clone())));
    Some(health)
}

/// The answer for a caller that the agent lets in.
pub(super) fn answer(health: &Value) -> HttpResponse {
    HttpResponse::json(200, health.to_string()).with_header("cache-control", "no-store")
}

fn ok() -> Value {
    json!({"state": "ok"})
}

/// What an answer says of the program `at` a place. It tells nothing of the URL besides.
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

/// Whether a status is not the program's but of Cloudflare, which did not reach it.
fn is_of_the_network(answer: &HttpAnswer) -> bool {
    matches!(answer.status, 521..=523 | 530)
        && answer.header("server").is_some_and(|server| server.eq_ignore_ascii_case("cloudflare"))
}

thread_local! {
    /// When this instance has asked for each agent, and what came of it.
    static KNOWN: RefCell<BTreeMap<String, (i64, Value)>> = const { RefCell::new(BTreeMap::new()) };
}

/// How long a program may take to answer, in milliseconds.
const TIMEOUT_MS: u64 = 2_500;

/// For how long an instance does not ask again, in milliseconds.
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
