//! Failed answers, and requests without an answer.

use a2a::http::HttpError;
use a2a::model::Secret;
use chat::{ChatError, ChatErrorKind, Endpoint};

use crate::support::{answer, asked, endpoint, request};

fn refused(status: u16, headers: &'static [(&'static str, &'static str)], body: &str) -> ChatError {
    let body = body.to_owned();
    let outcome = asked(&endpoint(), &request(), move |_| {
        Ok(answer(status, headers, vec![Ok(body.clone().into_bytes())]))
    });
    outcome.error()
}

#[test]
fn refusals_of_providers_have_a_kind_and_a_text() {
    use ChatErrorKind::{
        BadRequest, ContentFilter, ContextTooLong, NotFound, Overloaded, QuotaExhausted,
        RateLimited, ServerError, Unauthorized,
    };
    for (status, body, kind, text) in [
        (
            401,
            r#"{"error":{"message":"Incorrect API key provided: sk-ab***yz.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}"#,
            Unauthorized,
            "the model's endpoint answered 401 (invalid_api_key): Incorrect API key provided: sk-ab***yz.",
        ),
        (
            403,
            r#"{"error":{"message":"Country not supported","type":"request_forbidden","code":"unsupported_country_region_territory"}}"#,
            Unauthorized,
            "403 (unsupported_country_region_territory)",
        ),
        (
            404,
            r#"{"error":{"message":"The model `x` does not exist","type":"invalid_request_error","param":null,"code":"model_not_found"}}"#,
            NotFound,
            "404 (model_not_found): The model `x` does not exist",
        ),
        (404, "404 page not found", NotFound, "404: 404 page not found"),
        (
            429,
            r#"{"error":{"message":"Rate limit reached","type":"requests","param":null,"code":"rate_limit_exceeded"}}"#,
            RateLimited,
            "429 (rate_limit_exceeded): Rate limit reached",
        ),
        (
            429,
            r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#,
            QuotaExhausted,
            "insufficient_quota",
        ),
        (
            429,
            r#"[{"error":{"code":429,"message":"Resource has been exhausted","status":"RESOURCE_EXHAUSTED"}}]"#,
            RateLimited,
            "answered 429: Resource has been exhausted",
        ),
        (
            402,
            r#"{"error":{"code":402,"message":"Insufficient credits"}}"#,
            QuotaExhausted,
            "answered 402: Insufficient credits",
        ),
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 128000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
            ContextTooLong,
            "context_length_exceeded",
        ),
        (
            400,
            r#"{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","param":null,"code":400}"#,
            ContextTooLong,
            "answered 400 (BadRequestError): This model's",
        ),
        (413, "Payload Too Large", ContextTooLong, "413: Payload Too Large"),
        (
            400,
            r#"{"error":{"message":"The response was filtered","type":null,"param":"prompt","code":"content_filter","innererror":{}}}"#,
            ContentFilter,
            "content_filter",
        ),
        (
            400,
            r#"{"error":{"message":"Unknown parameter: 'foo'.","type":"invalid_request_error","param":"foo","code":"unknown_parameter"}}"#,
            BadRequest,
            "Unknown parameter: 'foo'.",
        ),
        (
            422,
            r#"{"detail":[{"type":"missing","loc":["body","messages"],"msg":"Field required"}]}"#,
            BadRequest,
            "answered 422: Field required",
        ),
        (422, r#"{"detail":"no such thing"}"#, BadRequest, "no such thing"),
        (400, r#"{"message":"No.","request_id":"1"}"#, BadRequest, "answered 400: No."),
        (
            400,
            r#"{"errors":[{"code":7003,"message":"No route for that URI"}],"success":false,"result":null}"#,
            BadRequest,
            "No route for that URI",
        ),
        (
            400,
            r#"{"error":"model 'x' not found, try pulling it first"}"#,
            BadRequest,
            "try pulling it first",
        ),
        (
            500,
            r#"{"error":{"message":"The server had an error","type":"server_error","param":null,"code":null}}"#,
            ServerError,
            "500 (server_error)",
        ),
        (
            502,
            "<html><head><title>502 Bad Gateway</title></head></html>",
            ServerError,
            r#"answered 502: a page with the title "502 Bad Gateway""#,
        ),
        (520, "<!doctype html><p>Hi", ServerError, "answered 520: a page"),
        (
            503,
            r#"{"error":{"message":"Engine overloaded","type":"engine_overloaded"}}"#,
            Overloaded,
            "engine_overloaded",
        ),
        (
            529,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            Overloaded,
            "529 (overloaded_error): Overloaded",
        ),
        (408, "", ServerError, "the model's endpoint answered 408"),
        (418, "", BadRequest, "the model's endpoint answered 418"),
        (500, "it\r\n\u{7}broke", ServerError, "answered 500: it broke"),
    ] {
        let error = refused(status, &[], body);
        assert_eq!(error.kind, kind, "{body}: {error}");
        assert!(error.text.contains(text), "{body}: {error}");
        assert_eq!(error.to_string(), error.text);
        let is_passing = matches!(kind, RateLimited | Overloaded | ServerError);
        assert_eq!(error.is_retryable(), is_passing, "{body}");
    }
    let long = refused(400, &[], &"é".repeat(100_000));
    assert!(long.text.chars().count() < 400, "{long}");
}

#[test]
fn how_long_a_provider_wants_to_be_left_alone_is_told() {
    const DATE: (&str, &str) = ("date", "Sun, 22 Nov 2026 18:00:00 GMT");
    for (headers, millis) in [
        (&[][..], None),
        (&[("retry-after", "7")][..], Some(7_000)),
        (&[("retry-after", "1.5")], Some(1_500)),
        (&[("retry-after-ms", "250"), ("retry-after", "7")], Some(250)),
        (&[("retry-after-ms", "250.9")], Some(250)),
        (&[("retry-after-ms", "soon"), ("retry-after", "7")], Some(7_000)),
        (&[("retry-after", "Sun, 22 Nov 2026 18:00:30 GMT"), DATE], Some(30_000)),
        (&[("retry-after", "Sun, 22 Nov 2026 17:00:30 GMT"), DATE], Some(0)),
        (&[("retry-after", "Sun, 22 Nov 2026 18:00:30 GMT")], None),
        (&[("retry-after", "-1")], None),
        (&[("retry-after", "NaN")], None),
        (&[("retry-after", "soon"), DATE], None),
    ] {
        assert_eq!(refused(429, headers, "").retry_after_ms, millis, "{headers:?}");
    }
}

#[test]
fn redirects_are_told_and_not_followed() {
    let error = refused(301, &[("location", "https://b.example/v2?key=secret")], "");
    assert_eq!(error.kind, ChatErrorKind::NotFound);
    let text = "the model's endpoint answered 301, a redirect to https://b.example/v2, which is not followed";
    assert_eq!(error.text, text);
    let error = refused(307, &[("location", "//me:secret@b.example/v2?key=secret#secret")], "");
    assert!(error.text.contains("a redirect to //b.example/v2, which"), "{error}");
    assert!(refused(302, &[], "").text.contains("a redirect to nowhere"));
}

#[test]
fn a_request_without_an_answer_says_why() {
    let url = || "https://models.example/v1/chat/completions?key=secret".to_owned();
    for (failure, kind, text) in [
        (
            HttpError::Failed { url: url(), reason: "no route".to_owned() },
            ChatErrorKind::Unreachable,
            "https://models.example/v1/chat/completions did not answer: no route",
        ),
        (
            HttpError::Silent { url: url(), timeout_ms: 7 },
            ChatErrorKind::Silent,
            "did not answer: not within 7 ms",
        ),
        (
            HttpError::Refused { url: url(), reason: "must be https".to_owned() },
            ChatErrorKind::NotSent,
            "must be https",
        ),
        (HttpError::Unbound { reason: "add [ai]".to_owned() }, ChatErrorKind::NotSent, "add [ai]"),
    ] {
        let error = asked(&endpoint(), &request(), move |_| Err(failure.clone())).error();
        assert_eq!(error.kind, kind);
        assert!(error.text.contains(text) && !error.text.contains("secret"), "{error}");
    }
}

#[test]
fn secrets_that_a_provider_repeats_are_not_told_on() {
    let endpoint = || Endpoint {
        api_key: Some(Secret::new("sk-1234567890")),
        headers: vec![
            ("x-key".to_owned(), Secret::new("Token header-secret")),
            ("x-short".to_owned(), Secret::new("the")),
        ],
        ..endpoint()
    };
    let says = "the keys sk-1234567890, Token header-secret and header-secret are wrong";
    let shown = "the keys [secret], [secret] and [secret] are wrong";
    let json = serde_json::json!({"error": {"message": says, "code": "sk-1234567890"}});
    for (status, body) in [
        (401, json.to_string()),
        (401, says.to_owned()),
        (200, json.to_string()),
        (200, format!("data: {json}\n\n")),
        (200, format!("data: {says}\n\n")),
        (200, format!("event: error\ndata: {says}\n\n")),
        (200, says.to_owned()),
    ] {
        let text = body.clone();
        let outcome = asked(&endpoint(), &request(), move |_| {
            Ok(answer(status, &[], vec![Ok(text.clone().into_bytes())]))
        });
        let error = outcome.error().text;
        assert!(!error.contains("sk-12") && !error.contains("header-secret"), "{body}: {error}");
        assert!(error.contains(shown), "{body}: {error}");
    }
}

#[test]
fn a_secret_is_not_told_on_either_where_the_text_is_cut_in_the_middle_of_it() {
    let key = format!("sk-{}", "1234567890".repeat(5));
    let endpoint = Endpoint { api_key: Some(Secret::new(&key)), ..endpoint() };
    for before in 200..310 {
        let long = format!("{}{key}", "x".repeat(before));
        for (status, headers, body) in [
            (500, vec![], long.clone()),
            (500, vec![], format!("<title>{long}</title>")),
            (302, vec![("location", format!("https://a.example/{long}"))], String::new()),
        ] {
            let outcome = asked(&endpoint, &request(), move |_| {
                let headers: Vec<(&str, &str)> =
                    headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
                Ok(answer(status, &headers, vec![Ok(body.clone().into_bytes())]))
            });
            let error = outcome.error().text;
            assert!(!error.contains("sk-"), "{error}");
        }
    }
}
