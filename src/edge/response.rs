//! Converts our responses into responses of the platform.

use worker::{Headers, Response, ResponseBuilder, Result};

use a2a::binding::http::{COMMON, HttpResponse};

/// The platform's response, with the common headers of all answers.
pub(super) fn to_response(response: HttpResponse) -> Result<Response> {
    let headers = Headers::new();
    for (name, value) in COMMON {
        headers.set(name, value)?;
    }
    for (name, value) in &response.headers {
        headers.set(name, value)?;
    }
    let builder = ResponseBuilder::new().with_status(response.status).with_headers(headers);
    if response.body.is_empty() {
        return Ok(builder.empty());
    }
    Ok(builder.fixed(response.body.into_bytes()))
}
