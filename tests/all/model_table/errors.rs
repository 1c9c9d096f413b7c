//! Providers that refuse, fail, or cannot be reached.

use a2a::model::TaskState::Failed;
use serde_json::json;

use super::case::{Case, case, case_with};
use crate::support::model::{Answer, BASE_URL};
use crate::support::modeled::KEY;

/// The largest number of attempts for a request that may succeed later.
pub(crate) const ATTEMPTS: usize = 4;

fn hello() -> Answer {
    Answer::say("hello")
}

fn limited() -> Answer {
    Answer::error(429, "rate_limit_exceeded", "Rate limit reached for requests per minute.")
}

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = again();
    cases.extend(never_again());
    cases.extend(nobody());
    cases.extend(secrets());
    cases
}

/// Failures that may pass.
fn again() -> Vec<Case> {
    let down = |status: u16| Answer::error(status, "server_error", "The server had an error.");
    vec![
        case("too many requests, for 7 seconds", [limited().header("Retry-After", "7"), hello()])
            .ends(7_000, 9_000),
        case(
            "too many requests, for some milliseconds",
            [limited().header("retry-after-ms", "1500"), hello()],
        )
        .ends(1_500, 4_000),
        case(
            "too many requests, until a date",
            [
                limited()
                    .header("Date", "Sun, 06 Nov 1994 08:49:37 GMT")
                    .header("Retry-After", "Sun, 06 Nov 1994 08:49:57 GMT"),
                hello(),
            ],
        )
        .ends(20_000, 22_000),
        case("too many requests, without a word for how long", [limited(), hello()])
            .ends(100, 30_000),
        case(
            "too many requests, twice",
            [limited(), limited().header("Retry-After", "3"), hello()],
        )
        .ends(3_000, 60_000),
        case("the wait is wrong", [limited().header("Retry-After", "soon"), hello()])
            .ends(100, 30_000),
        case("the wait is over", [limited().header("Retry-After", "0"), hello()]).ends(0, 30_000),
        case("too many requests, for ever", [limited(), limited(), limited(), limited()])
            .requests(ATTEMPTS)
            .holds(Failed, ["the model", "Rate limit reached"]),
        case("too many requests, for a day", [limited().header("Retry-After", "86400"), hello()])
            .requests(1)
            .holds(Failed, ["the model", "Rate limit reached"])
            .ends(0, 60_000),
        case("500, then well", [down(500), hello()]),
        case(
            "502 with a page, then well",
            [Answer::raw(502, "text/html", "<h1>Bad gateway</h1>"), hello()],
        ),
        case("503, then well", [down(503).header("Retry-After", "2"), hello()]).ends(2_000, 30_000),
        case("529, then well", [Answer::error(529, "overloaded_error", "Overloaded"), hello()]),
        case("408, then well", [down(408), hello()]),
        case("three failures, then well", [down(500), down(502), down(503), hello()]),
        case("503, for ever", [down(503), down(503), down(503), down(503)])
            .requests(ATTEMPTS)
            .holds(Failed, ["the model", "503"]),
        case("a failure between two rounds", [Answer::call("c1", "pay", "{}"), down(500), hello()])
            .orders(["pay"])
            .told([&["pay 1"]]),
        case_with("each round fails once", |asked| match (asked.number, asked.results().len()) {
            (number, _) if number % 2 == 1 => Answer::error(500, "x", "The server had an error."),
            (6, _) => hello(),
            (number, _) => Answer::call(&format!("c{number}"), "pay", "{}"),
        })
        .requests(6)
        .orders(["pay", "pay"]),
    ]
}

/// Final failures.
fn never_again() -> Vec<Case> {
    let bad = |code: &str, text: &str| Answer::error(400, code, text);
    vec![
        case(
            "the key is wrong",
            [Answer::error(401, "invalid_api_key", "Incorrect API key provided.")],
        )
        .holds(Failed, ["401", "api_key"]),
        case(
            "the model is not for this account",
            [Answer::error(
                403,
                "model_not_available",
                "Your project does not have access to model m.",
            )],
        )
        .holds(Failed, ["403", "does not have access"]),
        case(
            "there is no such model",
            [Answer::error(404, "model_not_found", "The model `m` does not exist.")],
        )
        .holds(Failed, ["404", "does not exist"]),
        case("there is no such page", [Answer::raw(404, "text/html", "<h1>Not found</h1>")])
            .holds(Failed, ["404", "base_url"]),
        case(
            "the account is out of credit",
            [Answer::error(429, "insufficient_quota", "You exceeded your current quota.")],
        )
        .holds(Failed, ["quota"]),
        case("402", [Answer::error(402, "payment_required", "Add credits to go on.")])
            .holds(Failed, ["Add credits to go on."]),
        case(
            "a parameter is wrong",
            [bad(
                "unsupported_value",
                "Unsupported value: 'temperature' does not support 0.2 with this model.",
            )],
        )
        .holds(Failed, ["400", "temperature"]),
        case(
            "a filter refuses the request",
            [bad("content_filter", "The response was filtered due to the prompt.")],
        )
        .holds(Failed, ["filter"]),
        case("an error without JSON", [Answer::raw(400, "text/plain", "no no no")])
            .holds(Failed, ["400", "no no no"]),
        case("an error without a body", [Answer::raw(400, "", "")]).holds(Failed, ["400"]),
        case("an error of megabytes", [Answer::raw(400, "text/plain", "no ".repeat(2_000_000))])
            .holds(Failed, ["400"])
            .check(|modeled| {
                let size = modeled.status().len();
                (size < 2_000).then_some(()).ok_or_else(|| format!("{size} bytes are told"))
            }),
        case(
            "the conversation is too long, and has nothing older",
            [bad("context_length_exceeded", "This model's maximum context length is 8 tokens.")],
        )
        .holds(Failed, ["context"]),
        case(
            "it leads elsewhere",
            [Answer::raw(302, "", "").header("location", "https://evil.example/v1")],
        )
        .holds(Failed, ["302"]),
        case(
            "it leads elsewhere for good",
            [Answer::raw(308, "", "")
                .header("location", "https://evil.example/v1/chat/completions")],
        )
        .holds(Failed, ["308"]),
    ]
}

/// Providers that do not answer.
fn nobody() -> Vec<Case> {
    vec![
        case("the connection is refused, then well", [Answer::down("connection refused"), hello()]),
        case(
            "nobody is there",
            [
                Answer::down("connection refused"),
                Answer::down("connection refused"),
                Answer::down("connection refused"),
                Answer::down("connection refused"),
            ],
        )
        .requests(ATTEMPTS)
        .holds(Failed, ["models.example", "connection refused"]),
        case("the head is slow, and comes", [hello().after(100_000)]).ends(100_000, 100_000),
        case("the head does not come in time, then well", [hello().after(10_000_000), hello()]),
        case("base_url ends with a slash", [hello()])
            .setup(|setup| setup.with(json!({"base_url": format!("{BASE_URL}/")})))
            .check(|modeled| {
                let url = modeled.model.last().url;
                let wanted = format!("{BASE_URL}/chat/completions");
                (url == wanted).then_some(()).ok_or(url)
            }),
    ]
}

/// Providers whose answers contain secrets.
fn secrets() -> Vec<Case> {
    let telling = |status: u16| Answer::error(status, "x", &format!("The key {KEY} is no good."));
    vec![
        case("a refusal repeats the key", [telling(401)]).holds(Failed, ["401"]),
        case("a bad request repeats the key", [telling(400)]).holds(Failed, ["400", "is no good"]),
        case("failures repeat the key", [telling(500), telling(500), telling(500), telling(500)])
            .requests(ATTEMPTS)
            .holds(Failed, ["500"]),
        case(
            "a page repeats the key",
            [Answer::raw(500, "text/html", format!("<p>{KEY}</p>")), hello()],
        ),
        case("the answer repeats the key", [Answer::say(&format!("my key is {KEY}"))])
            .holds(a2a::model::TaskState::Completed, ["my key is "]),
        case(
            "an error in the stream repeats the key",
            [
                Answer::stream([
                    json!({"error": {"message": format!("bad key {KEY}"), "code": 401}}),
                ]),
                hello(),
            ],
        )
        .requests(1)
        .holds(Failed, ["bad key"]),
        case(
            "the model calls a tool with the key",
            [Answer::call("c1", "pay", &json!({"what": KEY}).to_string()), hello()],
        )
        .orders(["pay"]),
    ]
}
