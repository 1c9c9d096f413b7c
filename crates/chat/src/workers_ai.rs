//! The exceptions of the Workers AI binding.

use serde_json::json;

/// Translates an exception of the Workers AI binding to an answer of a server: the status that Cloudflare documents for the
/// number in the text, and a body with the message. `None` for a text without such a number.
///
/// ```
/// let (status, body) = chat::workers_ai_failure("InferenceUpstreamError: 3040: Capacity temporarily exceeded").unwrap();
/// assert_eq!(status, 503);
/// assert_eq!(body, r#"{"error":{"message":"Capacity temporarily exceeded","code":"3040"}}"#);
/// ```
pub fn workers_ai_failure(thrown: &str) -> Option<(u16, String)> {
    let (at, code) = thrown.char_indices().find_map(|(at, _)| {
        let rest = thrown.get(at..)?;
        let (code, _) = rest.split_once(':')?;
        let is_code = code.len() == 4
            && code.starts_with(['3', '5'])
            && code.bytes().all(|byte| byte.is_ascii_digit())
            && !thrown.get(..at)?.ends_with(|before: char| before.is_alphanumeric());
        is_code.then_some((at, code))
    })?;
    let status = match code {
        "3023" | "3041" | "5016" | "5018" => 403,
        "3042" | "5007" => 404,
        "3006" => 413,
        "3007" | "3008" => 408,
        "3036" => 429,
        // Documented as 429, but the platform is busy; the account has not sent too many requests.
        "3040" => 503,
        "3003" | "3039" => 400,
        code if code.starts_with('5') => 400,
        _ => 500,
    };
    let message = thrown.get(at + code.len() + 1..)?.trim();
    Some((status, json!({"error": {"message": message, "code": code}}).to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_thrown_has_the_status_of_its_number() {
        for (thrown, status) in [
            ("5007: No such model @cf/a/b or task", Some(404)),
            ("AiError: 5006: Error: required properties at '/' are 'prompt'", Some(400)),
            ("AiError: AiError: 3036: you have used up your daily free allocation", Some(429)),
            ("InferenceUpstreamError: 3099: something new", Some(500)),
            ("3007: timed out", Some(408)),
            ("3006: too large", Some(413)),
            ("5018: not allowed", Some(403)),
            ("TypeError: env.AI.run is no function", None),
            ("a13040: no number of its own", None),
            ("1101: Worker threw exception", None),
            ("", None),
            ("é: 3040", None),
        ] {
            assert_eq!(workers_ai_failure(thrown).map(|(status, _)| status), status, "{thrown}");
        }
    }
}
