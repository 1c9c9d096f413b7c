//! The times of the entries of a batch, as they are stored: the first as the time since 1970, each other time as the
//! difference from the entry before it.

use std::fmt::Write;

use a2a::model::UnixMillis;

/// Adds the time of one more entry. `last` is the time of the previous entry in the same batch.
pub(in crate::session) fn push(times: &mut String, last: Option<UnixMillis>, now: UnixMillis) {
    if !times.is_empty() {
        times.push(' ');
    }
    let since = now.0.saturating_sub(last.map_or(0, |last| last.0));
    // Writing to a text cannot fail.
    let _ = write!(times, "{since}");
}

/// The times of `count` entries; `None` if the text has another number of times, or a time that is no number.
pub(in crate::session) fn read(times: &str, count: usize) -> Option<Vec<UnixMillis>> {
    let mut last = 0_i64;
    let times = times.split_ascii_whitespace().map(|since| {
        last = last.saturating_add(since.parse::<i64>().ok()?);
        Some(UnixMillis(last))
    });
    times.collect::<Option<Vec<_>>>().filter(|times| times.len() == count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_were_written() {
        let at = [1_767_603_601_247, 1_767_603_601_247, 1_767_603_601_262, 1_767_603_601_260];
        let mut text = String::new();
        let mut last = None;
        for now in at.map(UnixMillis) {
            push(&mut text, last, now);
            last = Some(now);
        }
        assert_eq!(text, "1767603601247 0 15 -2");
        assert_eq!(read(&text, 4), Some(at.map(UnixMillis).to_vec()));
    }

    #[test]
    fn another_number_of_times_and_other_texts_are_refused() {
        for (times, count) in [("", 2), ("5", 2), ("5 x 1", 3), ("5 1", 1)] {
            assert_eq!(read(times, count), None, "{times:?}");
        }
        assert_eq!(read("", 0), Some(Vec::new()));
    }
}
