//! The scripts of agents as test doubles: `GET`, `POST` and `DELETE /_dev/script/<agent>`, in development only.

use a2a::binding::http::HttpResponse;
use a2a::binding::json;
use a2a::error::Error;
use a2a::model::FieldViolation;
use a2a_agents::{Misfit, Table};

use crate::executor::Double;

/// The script that an agent plays, as JSON of the shape of its table in the agent file.
///
/// # Errors
///
/// None with a script that was read.
pub(in crate::edge) fn shown(double: &Double) -> Result<HttpResponse, Error> {
    let shown =
        Table::of(double.script().as_ref()).and_then(|table| Ok(serde_json::to_string(&table)?));
    shown.map(|json| HttpResponse::json(200, json)).map_err(|_| Error::Internal { task: None })
}

/// Sets the script of an agent.
///
/// # Errors
///
/// What is wrong with it.
pub(in crate::edge) fn set(
    double: &Double,
    body: &[u8],
    max_values: usize,
) -> Result<HttpResponse, Error> {
    let table = Table::of(&json::parse(body, max_values)?);
    let script = table.and_then(|table| table.read());
    let script = script.map_err(|Misfit(problem)| {
        Error::InvalidRequest(format!("the script cannot be read: {problem}"))
    })?;
    double.set(script).map_err(|problems| {
        let violation = |(field, fix): (String, String)| FieldViolation::new(field, fix);
        Error::InvalidParams(problems.into_iter().map(violation).collect())
    })?;
    shown(double)
}

/// The longest script, in bytes.
pub(in crate::edge) const MAX_BYTES: usize = 1024 * 1024;
