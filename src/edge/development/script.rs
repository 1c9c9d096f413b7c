//! The scripts of agents as test doubles: `GET`, `POST` and `DELETE /_dev/script/<agent>`, in development only.

use a2a::binding::http::HttpResponse;
use a2a::binding::json;
use a2a::error::Error;
use a2a::model::FieldViolation;
use a2a_agents::Problem;

use crate::executor::{Double, Script};

/// The current script of an agent, as JSON in the shape of its table in the agent file.
pub(in crate::edge) fn shown(double: &Double) -> HttpResponse {
    HttpResponse::json(200, double.playing().table.json().to_string())
}

/// Sets the script of an agent.
///
/// # Errors
///
/// The problems of the script.
pub(in crate::edge) fn set(double: &Double, body: &[u8], max_values: usize) -> Result<(), Error> {
    let script = Script::read(json::parse(body, max_values)?.into());
    script.and_then(|script| double.set(script)).map_err(|problems| {
        let violation = |Problem { key, text, .. }| FieldViolation::new(key, text);
        Error::InvalidParams(problems.into_iter().map(violation).collect())
    })
}

/// The longest script, in bytes.
pub(in crate::edge) const MAX_BYTES: usize = 1024 * 1024;
