//! What time it is.

use a2a::model::UnixMillis;
use worker::Date;

/// The present instant. It advances only while waiting.
pub(in crate::edge) fn now() -> UnixMillis {
    let millis = Date::now().as_millis();
    UnixMillis(i64::try_from(millis).unwrap_or(i64::MAX))
}
