//! Instants and their wire form (spec §5.6.1).

use std::fmt;
use std::time::{Duration, UNIX_EPOCH};

use chrono::{DateTime, SecondsFormat};
use serde::{Serialize, Serializer};

/// An instant in milliseconds since 1970-01-01T00:00:00Z.
///
/// On the wire: UTC with milliseconds and `Z`, for example `2026-01-05T09:00:01.250Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixMillis(pub i64);

impl UnixMillis {
    /// Parses an ISO 8601 instant with any number of fraction digits. An offset other than `Z` is
    /// converted; without an offset, the instant is read as UTC (A2A 0.3 clients omit it). Digits
    /// after the millisecond are dropped. `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let parsed = DateTime::parse_from_rfc3339(text)
            .or_else(|_| DateTime::parse_from_rfc3339(&format!("{text}Z")));
        parsed.ok().map(|instant| Self(instant.timestamp_millis()))
    }

    /// Parses an instant of an HTTP header, for example `Mon, 05 Jan 2026 09:00:01 GMT` (RFC 9110
    /// §5.6.7), including the obsolete forms. `None` for any other text.
    pub fn parse_http_date(text: &str) -> Option<Self> {
        let since = httpdate::parse_http_date(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
        i64::try_from(since.as_millis()).ok().map(Self)
    }

    /// The instant in the form of HTTP headers, in whole seconds; an instant before the epoch
    /// becomes the epoch.
    pub fn http_date(self) -> String {
        let since = Duration::from_millis(u64::try_from(self.0).unwrap_or_default());
        httpdate::fmt_http_date(UNIX_EPOCH + since)
    }

    /// The instant this number of milliseconds later; at most the largest `i64`.
    pub fn after(self, millis: u64) -> Self {
        Self(self.0.saturating_add(i64::try_from(millis).unwrap_or(i64::MAX)))
    }

    /// The milliseconds from `earlier` to this instant; 0 if `earlier` is not earlier.
    pub fn millis_since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }
}

impl fmt::Display for UnixMillis {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let instant = DateTime::from_timestamp_millis(self.0).unwrap_or_default();
        out.write_str(&instant.to_rfc3339_opts(SecondsFormat::Millis, true))
    }
}

impl Serialize for UnixMillis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The delay after `failures` failures, in milliseconds: `first_ms`, doubled for each further
/// failure, up to `most_ms`.
pub fn doubled(first_ms: u64, failures: u32, most_ms: u64) -> u64 {
    let doublings = failures.saturating_sub(1).min(30);
    first_ms.saturating_mul(1 << doublings).min(most_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_written_in_utc_with_milliseconds() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_767_603_601_250, "2026-01-05T09:00:01.250Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(UnixMillis(millis).to_string(), text);
            assert_eq!(UnixMillis::parse(text), Some(UnixMillis(millis)));
        }
    }

    #[test]
    fn other_spellings_of_an_instant_are_understood() {
        let expected = Some(UnixMillis(1_767_603_601_250));
        for text in [
            "2026-01-05T09:00:01.25Z",
            "2026-01-05T09:00:01.250999999Z",
            "2026-01-05T10:00:01.250+01:00",
            "2026-01-05T09:00:01.250",
        ] {
            assert_eq!(UnixMillis::parse(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_instant_is_refused() {
        for text in ["", "yesterday", "2026-01-05", "2026-13-05T09:00:01Z", "1767603601250"] {
            assert_eq!(UnixMillis::parse(text), None, "{text}");
        }
    }

    #[test]
    fn instants_are_counted_from_each_other_without_overflow() {
        assert_eq!(UnixMillis(5).after(7), UnixMillis(12));
        assert_eq!(UnixMillis(5).after(u64::MAX), UnixMillis(i64::MAX));
        assert_eq!(UnixMillis(12).millis_since(UnixMillis(5)), 7);
        assert_eq!(UnixMillis(5).millis_since(UnixMillis(12)), 0, "it is not earlier");
        assert_eq!(UnixMillis(i64::MIN).millis_since(UnixMillis(1)), 0);
    }

    #[test]
    fn http_dates_are_read_and_written() {
        let text = "Mon, 05 Jan 2026 09:00:01 GMT";
        assert_eq!(UnixMillis(1_767_603_601_250).http_date(), text);
        assert_eq!(UnixMillis::parse_http_date(text), Some(UnixMillis(1_767_603_601_000)));
        for other in ["", "now", "2026-01-05T09:00:01Z", "Mon, 32 Jan 2026 09:00:01 GMT"] {
            assert_eq!(UnixMillis::parse_http_date(other), None, "{other}");
        }
    }
}
