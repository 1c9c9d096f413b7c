//! Instants of HTTP headers (RFC 9110 §5.6.7).

use super::calendar::date_of;
use super::{DAY_MS, UnixMillis};

/// Writes an instant from 1970 to 9999.
pub(super) fn write(instant: UnixMillis) -> String {
    let day = instant.0.div_euclid(DAY_MS);
    let (year, month, day_of_month) = date_of(day);
    let (hour, minute, second) = super::time_of(instant);
    // 1970-01-01 was a Thursday.
    let weekday = named(&WEEKDAYS, (day + 4).rem_euclid(7));
    let month = named(&MONTHS, month - 1);
    format!("{weekday}, {day_of_month:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} GMT")
}

/// Reads an instant in the form that [`write()`] gives it, or in one of the two obsolete forms.
pub(super) fn read(text: &str) -> Option<UnixMillis> {
    let words: Vec<&str> =
        text.split([' ', ',', '-']).filter(|word| !word.is_empty()).take(7).collect();
    let (weekday, year, month, day, time) = match words.as_slice() {
        [weekday, day, month, year, time, "GMT"] | [weekday, month, day, time, year] => {
            (weekday, year, month, day, time)
        }
        _ => return None,
    };
    if !weekday.get(..3).is_some_and(|name| WEEKDAYS.contains(&name)) {
        return None;
    }
    // A year of two digits is from 1970 to 2069.
    let century = match year.as_bytes() {
        [b'0'..=b'6', _] => "20",
        [_, _] => "19",
        _ => "",
    };
    UnixMillis::parse_words(&format!("{century}{year}"), month, day, time)
}

fn named(names: &[&'static str], index: i64) -> &'static str {
    usize::try_from(index).ok().and_then(|index| names.get(index)).copied().unwrap_or_default()
}

const WEEKDAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

pub(super) const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
