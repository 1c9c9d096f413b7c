//! Dates of the Gregorian calendar as numbers of days.

/// The days from 1970-01-01 to a date of the Gregorian calendar.
///
/// The years of the count begin in March, so that a leap day is the last day of its year. In such a year, the first day
/// of month `m`, counted from 0, is day `(153 m + 2) / 5`.
pub(super) fn days_until(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + (153 * month + 2) / 5 + day - 1 - DAYS_TO_1970
}

/// The days from March 1 of year 0 to 1970-01-01.
const DAYS_TO_1970: i64 = 719_468;

/// The year, the month and the day of the date that is this many days after 1970-01-01: the inverse of [`days_until`].
pub(super) fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + DAYS_TO_1970;
    let (century_of_4, in_4_centuries) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    // Of four centuries, each fourth year has a leap day, except for the last one of the first three centuries.
    let leaps = in_4_centuries / 1460 - in_4_centuries / 36_524 + in_4_centuries / 146_096;
    let year = (in_4_centuries - leaps) / 365;
    let in_year = in_4_centuries - (365 * year + year / 4 - year / 100);
    let month = (5 * in_year + 2) / 153;
    let day = in_year - (153 * month + 2) / 5 + 1;
    let year = year + century_of_4 * 400;
    if month < 10 { (year, month + 3, day) } else { (year + 1, month - 9, day) }
}

/// The days of a month.
pub(super) fn days_in(year: i64, month: i64) -> i64 {
    let (next_year, next) = if month < 12 { (year, month + 1) } else { (year + 1, 1) };
    days_until(next_year, next, 1) - days_until(year, month, 1)
}
