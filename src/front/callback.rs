//! Posts to callbacks: `POST /<agent>/callbacks/<id of the object><token>`. A path that cannot belong to a callback is
//! refused without a call of an object. The URL is the only credential: senders are not identified. A large body is
//! received only after the object has confirmed that the callback accepts a post. A post that no callback accepts
//! counts for the address of its sender like a wrong credential.

use super::address::address;
use super::admit::unknown_path;
use super::facts::{Called, Need, Received};
use super::failure::Failure;
use super::identify::Request;
use super::plan::Plan;
use super::seen::Seen;
use crate::forms::address::ObjectId;
use crate::forms::callback::CallbackPost;
use crate::session::{callback_is_busy, no_callback};
use a2a::binding::ServiceParameters;
use a2a::binding::http::{HttpResponse, OWS, split_url};
use a2a::binding::media_type::essence;
use a2a::error::Error;
use a2a::model::{Part, Secret, read_foreign};

/// Decides about a request to a callback of an agent; `path` is the part of the path after `callbacks/`.
#[inline(never)]
pub(super) fn plan(
    request: Request<'_>,
    slug: &str,
    path: &str,
    body: &Received<'_>,
    seen: &mut Seen,
) -> Plan {
    let head = request.head;
    if let Some(agent) = request.deployment.agents.find(Some(slug)) {
        seen.note_agent(agent);
    }
    if head.method() == "OPTIONS" {
        return Plan::Answer(head.preflight(ALLOWED));
    }
    match read(request, slug, path, body, seen) {
        Ok(plan) => plan,
        Err(error) => {
            let mut answer = HttpResponse::error(&error);
            if head.method() == "HEAD" {
                answer.body.clear();
            }
            Plan::Answer(answer)
        }
    }
}

/// Reads a post. If its body was not received yet, the plan is to receive the body.
fn read(
    request: Request<'_>,
    slug: &str,
    path: &str,
    body: &Received<'_>,
    seen: &mut Seen,
) -> Result<Plan, Error> {
    let Request { deployment, facts, head, now } = request;
    let (_, whole_path, query) = split_url(head.url());
    let Some(agent) = deployment.agents.find(Some(slug)) else {
        return Err(unknown_path(whole_path, &deployment.agents));
    };
    if head.method() != "POST" {
        return Err(Error::MethodNotAllowed(ALLOWED));
    }
    facts.check_limits()?;
    let held = agent.policy.as_ref().ok();
    if let Some(seconds) = held.and_then(|policy| policy.held_s(|| address(head), now())) {
        return Err(Error::RateLimited(seconds));
    }
    let Some((object, token)) = address_of(path) else {
        seen.note_no_callback(slug);
        return Err(no_callback());
    };
    match &facts.failure {
        Some(Failure::Unknown) => {
            seen.note_no_callback(slug);
            return Err(no_callback());
        }
        Some(failure) => {
            let _ = failure.unreachable(Some(object.task_id()), seen);
            return Err(callback_is_busy());
        }
        None => {}
    }
    let body = match body {
        Received::Whole(bytes) if bytes.len() > MAX_BODY_BYTES => {
            return Err(Error::TooLarge(MAX_BODY_BYTES));
        }
        Received::Whole(bytes) => Some(bytes),
        Received::Nothing => None,
        Received::Refused(error) => return Err(error.clone()),
    };
    let header = |name: &str| head.header(name).map(str::to_owned);
    let parameters = ServiceParameters::read(header, query);
    let key = parameters.idempotency_key()?.map(str::to_owned);
    let max_values = deployment.settings.limits.max_json_values;
    let body = body.map(|body| part_of(body, head.header("content-type"), max_values));
    let post = CallbackPost { agent: slug.to_owned(), token: Secret::new(token), key, body };
    let called = Box::new(Called { object, post });
    if called.post.body.is_none() {
        return Ok(Plan::Need(Need::CallbackBody(called)));
    }
    Ok(Plan::CallBack(called))
}

/// The object and the token in a path; `None` if the path does not have the form of a callback's path.
fn address_of(path: &str) -> Option<(ObjectId, &str)> {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if path.len() != ID_CHARS + TOKEN_CHARS || !path.bytes().all(is_hex) {
        return None;
    }
    let (id, token) = path.split_at_checked(ID_CHARS)?;
    Some((ObjectId::new(id)?, token))
}

/// A body in the form for a run: JSON as data, other text as text, anything else as bytes. Invalid JSON, and JSON with
/// more than `max_values` values, becomes text, because the sender can rarely change its format.
fn part_of(body: &[u8], content_type: Option<&str>, max_values: usize) -> Part {
    let named = content_type.map(|named| named.trim_matches(OWS)).filter(|named| !named.is_empty());
    let media_type = named.map(|named| named.chars().take(MAX_TYPE_CHARS).collect::<String>());
    let essence = essence(named.unwrap_or_default()).to_ascii_lowercase();
    let is_json = essence == "application/json" || essence.ends_with("+json");
    let Ok(text) = std::str::from_utf8(body) else {
        let media_type = media_type.unwrap_or_else(|| "application/octet-stream".to_owned());
        return Part::raw(body, media_type);
    };
    let data = is_json.then(|| read_foreign(body, max_values).ok()).flatten();
    let part = data.map_or_else(|| Part::text(text), Part::data);
    Part { media_type, ..part }
}

const ALLOWED: &str = "POST, OPTIONS";

/// The largest body: 1 MiB.
pub(crate) const MAX_BODY_BYTES: usize = 1024 * 1024;

/// The largest number of characters of a media type that are kept.
const MAX_TYPE_CHARS: usize = 200;

/// The length of the id of an object.
const ID_CHARS: usize = 64;

/// The length of a token: 32 bytes as hexadecimal digits.
const TOKEN_CHARS: usize = 64;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_may_be_a_callback_has_an_address() {
        let (id, token) = ("0a".repeat(32), "f9".repeat(32));
        let path = format!("{id}{token}");
        assert_eq!(address_of(&path), Some((ObjectId::new(id.as_str()).unwrap(), token.as_str())));
        let wrong = [
            String::new(),
            id.clone(),
            format!("{path}0"),
            path.to_ascii_uppercase(),
            format!("{id}/{}", token.get(1..).unwrap()),
            "é".repeat(64),
            "g".repeat(128),
        ];
        for path in wrong {
            assert_eq!(address_of(&path), None, "{path}");
        }
    }

    #[test]
    fn a_body_is_data_text_or_bytes() {
        let typed = |part: Part, media_type: &str| part.with_media_type(media_type);
        let deep = format!("{}{}", "[".repeat(101), "]".repeat(101));
        for (body, content_type, expected) in [
            (
                &b"{\"a\": [1]}"[..],
                Some("application/json"),
                typed(Part::data(json!({"a": [1]})), "application/json"),
            ),
            (
                b"null",
                Some("Application/CloudEvents+JSON; charset=utf-8"),
                typed(Part::data(json!(null)), "Application/CloudEvents+JSON; charset=utf-8"),
            ),
            (b"", Some("application/json"), typed(Part::text(""), "application/json")),
            (b"{", Some("application/json"), typed(Part::text("{"), "application/json")),
            (
                b"[1,2,3,4]",
                Some("application/json"),
                typed(Part::text("[1,2,3,4]"), "application/json"),
            ),
            (
                deep.as_bytes(),
                Some("application/json"),
                typed(Part::text(deep.as_str()), "application/json"),
            ),
            (b"{}", None, Part::text("{}")),
            (b"{}", Some("text/plain"), typed(Part::text("{}"), "text/plain")),
            (b"a=1", Some(" "), Part::text("a=1")),
            (b"\xff", Some("image/png"), Part::raw(b"\xff", "image/png")),
            (b"\xff", None, Part::raw(b"\xff", "application/octet-stream")),
        ] {
            assert_eq!(part_of(body, content_type, 4), expected, "{content_type:?}");
        }
    }
}
