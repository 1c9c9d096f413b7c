//! Dates of the Gregorian calendar, in UTC, and their texts in HTTP and in certificates.
//!
//! The crates `chrono` and `httpdate` do the same with 20 KB; they are compared with it in tests.

use super::UnixMillis;

/// A date with a time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Date {
    pub(super) year: i64,
    /// From 1 to 12.
    pub(super) month: i64,
    pub(super) day: i64,
    pub(super) hour: i64,
    pub(super) minute: i64,
    pub(super) second: i64,
    pub(super) millis: i64,
}

impl Date {
    /// The date at an instant.
    pub(super) fn of(instant: UnixMillis) -> Self {
        let UnixMillis(all) = instant;
        let (year, month, day) = date_of(all.div_euclid(DAY_MS));
        let of_day = all.rem_euclid(DAY_MS);
        let [hour, minute, second] =
            [(3_600_000, 24), (60_000, 60), (1_000, 60)].map(|(unit, most)| of_day / unit % most);
        Self { year, month, day, hour, minute, second, millis: of_day % 1_000 }
    }

    /// The instant of the date; `None` if the month has no such day, or the day no such time. Second 60 is a leap second, which counts as
    /// the first one of the next minute.
    pub(super) fn instant(&self) -> Option<UnixMillis> {
        let Self { year, month, day, hour, minute, second, millis } = *self;
        let days = days_before(year, month, day);
        let is_time = hour < 24 && minute < 60 && second <= 60;
        if !is_time || date_of(days) != (year, month, day) {
            return None;
        }
        let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second;
        Some(UnixMillis(seconds * 1_000 + millis))
    }

    /// The date in the form of HTTP headers (RFC 9110 §5.6.7).
    pub(super) fn to_http(self) -> String {
        let Self { year, month, day, hour, minute, second, .. } = self;
        let weekday = name(&WEEKDAYS, self.weekday());
        let month = name(&MONTHS, month - 1);
        format!("{weekday}, {day:02} {month} {year} {hour:02}:{minute:02}:{second:02} GMT")
    }

    /// Parses a date of an HTTP header, in one of three forms; the weekday must be right.
    pub(super) fn parse_http(text: &str) -> Option<Self> {
        let words: Vec<&str> =
            text.split([' ', ',', '-']).filter(|word| !word.is_empty()).collect();
        let (weekday, date) = match words.as_slice() {
            [weekday, day, month, year, time, "GMT"] => {
                (weekday, Self::of_words(year, month, day, time)?)
            }
            [weekday, month, day, time, year] => (weekday, Self::of_words(year, month, day, time)?),
            _ => return None,
        };
        let is_right = date.instant().is_some() && date.second < 60 && date.year >= 1970;
        let is_right = is_right && weekday.starts_with(name(&WEEKDAYS, date.weekday()));
        is_right.then_some(date)
    }

    /// Parses a date as OpenSSL prints that of a certificate, such as `Jan  5 09:00:01 2026 GMT`.
    pub(super) fn parse_certificate(text: &str) -> Option<Self> {
        let mut words = text.split_ascii_whitespace();
        let mut next = || words.next();
        let (month, day, time, year) = (next()?, next()?, next()?, next()?);
        let date = Self::of_words(year, month, day, time)?;
        (next() == Some("GMT") && next().is_none()).then_some(date)
    }

    fn of_words(year: &str, month: &str, day: &str, time: &str) -> Option<Self> {
        let month = MONTHS.iter().position(|name| name.eq_ignore_ascii_case(month))?;
        let month = i64::try_from(month).ok()? + 1;
        let [h1, h2, b':', m1, m2, b':', s1, s2] = *time.as_bytes() else { return None };
        let year = match (year.len(), number(year.as_bytes())?) {
            (2, year) if year < 70 => year + 2_000,
            (2, year) => year + 1_900,
            (4, year) => year,
            _ => return None,
        };
        Some(Self {
            year,
            month,
            day: number(day.as_bytes()).filter(|_| day.len() <= 2)?,
            hour: number(&[h1, h2])?,
            minute: number(&[m1, m2])?,
            second: number(&[s1, s2])?,
            millis: 0,
        })
    }

    /// The number of days since Sunday.
    fn weekday(&self) -> i64 {
        // The first day of 1970 was a Thursday.
        (days_before(self.year, self.month, self.day) + 4).rem_euclid(7)
    }
}

/// The number that consists of these digits; `None` if there is none, if one is not a digit, or if there are more than 18.
pub(super) fn number(digits: &[u8]) -> Option<i64> {
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    digits.iter().try_fold(0, |number, digit| {
        digit.is_ascii_digit().then(|| number * 10 + i64::from(digit - b'0'))
    })
}

/// The number of days from 1970-01-01 to a date. Years are counted from March, so that the leap day is the last one of a year.
fn days_before(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (cycle, of_cycle) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let leap_days = of_cycle / 4 - of_cycle / 100;
    cycle * CYCLE_DAYS + of_cycle * 365 + leap_days + day_of_year - DAYS_TO_1970
}

/// The year, month and day that begin this number of days after 1970-01-01.
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + DAYS_TO_1970;
    let (cycle, of_cycle) = (days.div_euclid(CYCLE_DAYS), days.rem_euclid(CYCLE_DAYS));
    let leap_days = of_cycle / 1_460 - of_cycle / 36_524 + of_cycle / 146_096;
    let year = (of_cycle - leap_days) / 365;
    let day_of_year = of_cycle - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let year = cycle * 400 + year;
    if month < 10 { (year, month + 3, day) } else { (year + 1, month - 9, day) }
}

fn name(names: &[&'static str], number: i64) -> &'static str {
    usize::try_from(number).ok().and_then(|number| names.get(number)).copied().unwrap_or_default()
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const WEEKDAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

const DAY_MS: i64 = 86_400_000;

/// The days of 400 years, after which the calendar repeats itself.
const CYCLE_DAYS: i64 = 146_097;

/// The days from the first of March of the year 0 to 1970-01-01.
const DAYS_TO_1970: i64 = 719_468;
