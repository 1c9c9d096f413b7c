//! Instants and their wire form (spec §5.6.1).

use std::fmt;

use serde::{Serialize, Serializer};

use super::date::{Date, number};

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
        #[rustfmt::skip]
        let [
            y1, y2, y3, y4, b'-', o1, o2, b'-', d1, d2, b'T' | b't' | b' ',
            h1, h2, b':', m1, m2, b':', s1, s2, ref rest @ ..
        ] = *text.as_bytes() else { return None };
        let (millis, offset) = match rest.strip_prefix(b".") {
            Some(rest) => fraction(rest)?,
            None => (0, rest),
        };
        let date = Date {
            year: number(&[y1, y2, y3, y4])?,
            month: number(&[o1, o2])?,
            day: number(&[d1, d2])?,
            hour: number(&[h1, h2])?,
            minute: number(&[m1, m2])?,
            second: number(&[s1, s2])?,
            millis,
        };
        let Self(local) = date.instant()?;
        Some(Self(local - offset_ms(offset)?))
    }

    /// Parses an instant of an HTTP header, for example `Mon, 05 Jan 2026 09:00:01 GMT` (RFC 9110
    /// §5.6.7), including the obsolete forms. `None` for any other text.
    pub fn parse_http_date(text: &str) -> Option<Self> {
        Date::parse_http(text)?.instant()
    }

    /// Parses an instant as OpenSSL prints that of a certificate, for example
    /// `Jan  5 09:00:01 2026 GMT`. `None` for any other text.
    pub fn parse_certificate_date(text: &str) -> Option<Self> {
        Date::parse_certificate(text)?.instant()
    }

    /// The instant in the form of HTTP headers, in whole seconds; an instant before the epoch
    /// becomes the epoch.
    pub fn http_date(self) -> String {
        Date::of(Self(self.0.max(0))).to_http()
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
        let Date { year, month, day, hour, minute, second, millis } = Date::of(*self);
        let mut text = String::with_capacity(24);
        if !(0..=9_999).contains(&year) {
            text.push(if year < 0 { '-' } else { '+' });
        }
        push(&mut text, year.abs(), year.abs().max(1_000).ilog10() + 1, '-');
        push(&mut text, month, 2, '-');
        push(&mut text, day, 2, 'T');
        push(&mut text, hour, 2, ':');
        push(&mut text, minute, 2, ':');
        push(&mut text, second, 2, '.');
        push(&mut text, millis, 3, 'Z');
        out.write_str(&text)
    }
}

impl Serialize for UnixMillis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The milliseconds of a fraction of a second, and the text after its digits.
fn fraction(text: &[u8]) -> Option<(i64, &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at_checked(digits)?;
    let millis = number(digits.get(..3).unwrap_or(digits))?;
    let missing = 3_usize.saturating_sub(digits.len());
    Some((millis * [1, 10, 100].get(missing)?, rest))
}

/// The offset of a local time from UTC, in milliseconds.
fn offset_ms(text: &[u8]) -> Option<i64> {
    let (is_west, time) = match text {
        [] | b"Z" | b"z" => return Some(0),
        [b'+', time @ ..] => (false, time),
        // The sign may also be a minus sign, U+2212.
        [b'-', time @ ..] | [0xe2, 0x88, 0x92, time @ ..] => (true, time),
        _ => return None,
    };
    let [h1, h2, b':', m1, m2] = *time else { return None };
    let (hours, minutes) = (number(&[h1, h2])?, number(&[m1, m2])?);
    let offset = (hours * 60 + minutes) * 60_000;
    (hours < 24 && minutes < 60).then_some(if is_west { -offset } else { offset })
}

/// Appends a number with this number of digits, and a letter.
fn push(text: &mut String, number: i64, digits: u32, behind: char) {
    for place in (0..digits).rev() {
        let digit = number / 10_i64.pow(place) % 10;
        text.push(char::from(b'0' + u8::try_from(digit).unwrap_or_default()));
    }
    text.push(behind);
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

    use chrono::{DateTime, NaiveDateTime, SecondsFormat};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn instants_are_written_as_chrono_writes_them(millis in -99_999_999_999_999_i64..=999_999_999_999_999) {
            let text = UnixMillis(millis).to_string();
            let expected = DateTime::from_timestamp_millis(millis).unwrap();
            prop_assert_eq!(&text, &expected.to_rfc3339_opts(SecondsFormat::Millis, true));
        }

        #[test]
        fn instants_are_read_as_chrono_reads_them(
            text in "[0-9]{3}[0-9]-[01][0-9]-[0-3][0-9][Tt ][0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{0,11})?(Z|z|[+−-][0-2][0-9]:?[0-6][0-9]|)x?"
        ) {
            let read = |text: &str| DateTime::parse_from_rfc3339(text).ok();
            let expected = read(&text).or_else(|| read(&format!("{text}Z")));
            let expected = expected.map(|instant| UnixMillis(instant.timestamp_millis()));
            prop_assert_eq!(UnixMillis::parse(&text), expected);
        }

        #[test]
        fn http_dates_are_written_and_read_as_httpdate_does(seconds in 0..250_000_000_000_u64) {
            let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            let text = httpdate::fmt_http_date(time);
            let instant = UnixMillis(i64::try_from(seconds * 1_000).unwrap());
            prop_assert_eq!(instant.http_date(), text.clone());
            prop_assert_eq!(UnixMillis::parse_http_date(&text), Some(instant));
            let since = DateTime::from_timestamp_millis(instant.0).unwrap();
            for form in ["%a %b %e %H:%M:%S %Y", "%A, %d-%b-%y %H:%M:%S GMT"] {
                let text = since.format(form).to_string();
                let expected = httpdate::parse_http_date(&text).ok();
                let expected = expected.map(|time| time.duration_since(std::time::UNIX_EPOCH));
                let read = UnixMillis::parse_http_date(&text).map(|instant| instant.0 / 1_000);
                let expected = expected.map(|since| i64::try_from(since.unwrap().as_secs()).unwrap());
                prop_assert_eq!(read, expected, "{}", text);
            }
            let text = since.format("%b %e %H:%M:%S %Y GMT").to_string();
            let expected = NaiveDateTime::parse_from_str(&text, "%b %e %H:%M:%S %Y GMT");
            let expected = expected.ok().map(|date| UnixMillis(date.and_utc().timestamp_millis()));
            prop_assert_eq!(UnixMillis::parse_certificate_date(&text), expected);
        }

        #[test]
        fn any_text_is_read_without_a_panic(text in ".{0,40}") {
            UnixMillis::parse(&text);
            UnixMillis::parse_http_date(&text);
            UnixMillis::parse_certificate_date(&text);
        }
    }

    #[test]
    fn the_first_and_the_last_instant_are_written() {
        for millis in [i64::MIN, i64::MAX] {
            assert!(UnixMillis(millis).to_string().ends_with('Z'));
        }
    }

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
        for other in [
            "",
            "now",
            "2026-01-05T09:00:01Z",
            "Mon, 32 Jan 2026 09:00:01 GMT",
            "Tue, 05 Jan 2026 09:00:01 GMT",
            "Mon, 05 Jan 2026 09:00:60 GMT",
        ] {
            assert_eq!(UnixMillis::parse_http_date(other), None, "{other}");
        }
    }
}
