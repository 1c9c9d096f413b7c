//! The text form of answers between WebAssembly and JavaScript, and from an object to the front Worker. It resembles
//! the form of HTTP.

use std::fmt::Write;

use a2a::binding::http::HttpResponse;

/// The text of an answer: a line with the status, a line for each header, an empty line, the body. The common headers
/// of all answers are left out; they are added when the response is made.
pub(crate) fn to_text(answer: &HttpResponse) -> String {
    let mut text = String::with_capacity(answer.body.len() + HEAD_BYTES);
    // Writing to a String never fails.
    let _ = writeln!(text, "{}", answer.status);
    for (name, value) in &answer.headers {
        let _ = writeln!(text, "{name}: {value}");
    }
    text.push('\n');
    text.push_str(&answer.body);
    text
}

/// The size in bytes that is enough for the head of most answers.
const HEAD_BYTES: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_written_as_http_writes_it() {
        let answer = HttpResponse::json(200, "{\"a\":\"\\n\"}\n\nx".to_owned())
            .with_header("generation", "4");
        let text = "200\ncontent-type: application/json\ngeneration: 4\n\n{\"a\":\"\\n\"}\n\nx";
        assert_eq!(to_text(&answer), text);
        assert_eq!(to_text(&HttpResponse::empty(204)), "204\n\n");
    }
}
