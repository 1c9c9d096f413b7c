//! Instants and their wire form (spec §5.6.1).

mod calendar;
mod http_date;
mod unread;

use std::fmt;

use serde::{Serialize, Serializer};

use calendar::{date_of, days_in, days_until};
use unread::Unread;

/// An instant in milliseconds since 1970-01-01T00:00:00Z.
///
/// On the wire: UTC with milliseconds and `Z`, for example `2026-01-05T09:00:01.250Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixMillis(pub i64);

impl UnixMillis {
    /// Parses an ISO 8601 instant of the years 0 to 9999 with any number of fraction digits. An offset other than `Z`
    /// is converted; without an offset, the instant is read as UTC (A2A 0.3 clients omit it). Digits after the
    /// millisecond are dropped; second 60 is the next minute. `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let mut rest = Unread(text.as_bytes());
        let year = rest.number(4)?;
        let month = rest.after(b"-")?.number(2)?;
        let day = rest.after(b"-")?.number(2)?;
        let hour = rest.after(b"Tt ")?.number(2)?;
        let minute = rest.after(b":")?.number(2)?;
        let second = rest.after(b":")?.number(2)?;
        let is_time = hour < 24 && minute < 60 && second <= 60;
        if !is_time || !(1..=12).contains(&month) || !(1..=days_in(year, month)).contains(&day) {
            return None;
        }
        let millis = rest.fraction()?;
        let offset_min = rest.offset_min()?;
        let minutes = (days_until(year, month, day) * 24 + hour) * 60 + minute - offset_min;
        Some(Self((minutes * 60 + second) * 1000 + millis))
    }

    /// Parses an instant in UTC of which the words are known: the English abbreviation of the month, and a time of day
    /// as `09:00:01`. `None` for any other words.
    pub fn parse_words(year: &str, month: &str, day: &str, time: &str) -> Option<Self> {
        let month = http_date::MONTHS.iter().position(|name| *name == month)? + 1;
        Self::parse(&format!("{year}-{month:02}-{day:0>2}T{time}Z"))
    }

    /// Parses an instant of an HTTP header, for example `Mon, 05 Jan 2026 09:00:01 GMT` (RFC 9110
    /// §5.6.7), including the obsolete forms. The day of the week is not compared with the date. `None` for any other
    /// text.
    pub fn parse_http_date(text: &str) -> Option<Self> {
        http_date::read(text)
    }

    /// The instant in the form of HTTP headers, in whole seconds; an instant before the epoch
    /// becomes the epoch, and one after the year 9999 the last of that year.
    pub fn http_date(self) -> String {
        http_date::write(Self(self.0.clamp(0, LAST_MS)))
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
    /// An instant outside of the years 0 to 9999, which the form cannot express, becomes the nearest one inside.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let instant = Self(self.0.clamp(FIRST_MS, LAST_MS));
        let (year, month, day) = date_of(instant.0.div_euclid(DAY_MS));
        let (hour, minute, second) = time_of(instant);
        let millis = instant.0.rem_euclid(1000);
        write!(out, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
    }
}

/// The hour, the minute and the second of an instant in its day.
fn time_of(instant: UnixMillis) -> (i64, i64, i64) {
    let seconds = instant.0.rem_euclid(DAY_MS) / 1000;
    (seconds / 3600, seconds / 60 % 60, seconds % 60)
}

const DAY_MS: i64 = 86_400_000;

/// The instants 0000-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z.
const FIRST_MS: i64 = -62_167_219_200_000;
const LAST_MS: i64 = 253_402_300_799_999;

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
    use std::time::{Duration, UNIX_EPOCH};

    use chrono::{DateTime, SecondsFormat};
    use proptest::prelude::*;

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
        for text in [
            "",
            "yesterday",
            "2026-01-05",
            "1767603601250",
            "2026-13-05T09:00:01Z",
            "2026-00-05T09:00:01Z",
            "2025-02-29T09:00:01Z",
            "1900-02-29T09:00:01Z",
            "2026-01-00T09:00:01Z",
            "2026-01-05T24:00:01Z",
            "2026-01-05T09:60:01Z",
            "2026-01-05T09:00:61Z",
            "2026-01-05T09:00:01.Z",
            "2026-01-05T09:00:01+0100",
            "2026-01-05T09:00:01+24:00",
            "2026-01-05T09:00:01+01:60",
            "2026-01-05T09:00:01ZZ",
            "2026-01-05T09:00:01 Z",
            "2026-1-5T9:0:1Z",
            "+2026-01-05T09:00:01Z",
            "2026-01-05T09:00:0\u{661}Z",
        ] {
            assert_eq!(UnixMillis::parse(text), None, "{text}");
        }
    }

    #[test]
    fn an_instant_that_the_form_cannot_express_is_written_as_the_nearest() {
        for millis in [LAST_MS, LAST_MS + 1, i64::MAX] {
            assert_eq!(UnixMillis(millis).to_string(), "9999-12-31T23:59:59.999Z");
        }
        for millis in [FIRST_MS, FIRST_MS - 1, i64::MIN] {
            assert_eq!(UnixMillis(millis).to_string(), "0000-01-01T00:00:00.000Z");
        }
    }

    proptest! {
        #[test]
        fn every_instant_is_read_and_written_as_by_chrono(millis in FIRST_MS..=LAST_MS) {
            let instant = DateTime::from_timestamp_millis(millis).unwrap();
            let text = instant.to_rfc3339_opts(SecondsFormat::Millis, true);
            prop_assert_eq!(UnixMillis(millis).to_string(), text.as_str());
            prop_assert_eq!(UnixMillis::parse(&text), Some(UnixMillis(millis)));
        }

        #[test]
        fn every_text_is_read_as_by_chrono(
            text in "[0-9]{3}[0-9]-[01][0-9]-[0-3][0-9][Tt ][0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{0,12})?(Z|z|[+-][0-2][0-9]:[0-6][0-9])?"
        ) {
            let expected = DateTime::parse_from_rfc3339(&text)
                .or_else(|_| DateTime::parse_from_rfc3339(&format!("{text}Z")));
            let expected = expected.ok().map(|instant| UnixMillis(instant.timestamp_millis()));
            prop_assert_eq!(UnixMillis::parse(&text), expected);
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
        assert_eq!(UnixMillis(-1).http_date(), "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(UnixMillis(i64::MAX).http_date(), "Fri, 31 Dec 9999 23:59:59 GMT");
        for obsolete in ["Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            let parsed = UnixMillis::parse_http_date(obsolete);
            assert_eq!(parsed, Some(UnixMillis(784_111_777_000)), "{obsolete}");
        }
        for other in [
            "",
            "now",
            "2026-01-05T09:00:01Z",
            "Mon, 32 Jan 2026 09:00:01 GMT",
            "Mon, 05 January 2026 09:00:01 GMT",
            "Mon, 05 Jan 2026 09:00:01 CET",
            "Mon, 05 Jan 2026 09:00:01",
            "M\u{f6}n, 05 Jan 2026 09:00:01 GMT",
            "Mon, 05 Jan 26 GMT",
            "Mon, 05 Jan 2026 09:00:01.5+01:00 GMT",
        ] {
            assert_eq!(UnixMillis::parse_http_date(other), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn every_http_date_is_read_and_written_as_by_httpdate(seconds in 0..=LAST_MS / 1000) {
            let instant = UnixMillis(seconds * 1000);
            let since = Duration::from_secs(seconds.unsigned_abs());
            prop_assert_eq!(instant.http_date(), httpdate::fmt_http_date(UNIX_EPOCH + since));
            prop_assert_eq!(UnixMillis::parse_http_date(&instant.http_date()), Some(instant));
        }

        #[test]
        fn every_obsolete_http_date_is_read_as_by_httpdate(seconds in 0..3_155_760_000_i64) {
            let instant = DateTime::from_timestamp(seconds, 0).unwrap();
            for format in ["%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"] {
                let text = instant.format(format).to_string();
                let expected = httpdate::parse_http_date(&text).unwrap();
                let expected = expected.duration_since(UNIX_EPOCH).unwrap().as_millis();
                prop_assert_eq!(
                    UnixMillis::parse_http_date(&text).map(|read| read.0),
                    i64::try_from(expected).ok()
                );
            }
        }
    }
}
