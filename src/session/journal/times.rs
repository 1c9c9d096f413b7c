//! The times of the entries of a batch, as they are stored: the first since 1970, the others since the one before.

use std::fmt::Write;

use a2a::model::UnixMillis;

/// Adds the time of one more entry. `last` is that of the entry before it in the same batch.
pub(in crate::session) fn push(times: &mut String, last: Option<UnixMillis>, now: UnixMillis) {
    if !times.is_empty() {
        times.push(' ');
    }
    let since = now.0.saturating_sub(last.map_or(0, |last| last.0));
    // Writing to a text cannot fail.
    let _ = write!(times, "{since}");
}

/// The times of this many entries; none for those whose time is not known.
pub(in crate::session) fn read(times: &str, count: usize) -> Vec<Option<UnixMillis>> {
    let mut known = Vec::with_capacity(count);
    let mut last = 0_i64;
    for number in times.split_ascii_whitespace().take(count) {
        let Ok(since) = number.parse::<i64>() else { break };
        last = last.saturating_add(since);
        known.push(Some(UnixMillis(last)));
    }
    known.resize(count, None);
    known
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
        assert_eq!(read(&text, 4), at.map(|at| Some(UnixMillis(at))));
    }

    #[test]
    fn what_is_not_there_is_not_known() {
        assert_eq!(read("", 2), [None, None]);
        assert_eq!(read("5", 2), [Some(UnixMillis(5)), None]);
        assert_eq!(read("5 x 1", 3), [Some(UnixMillis(5)), None, None]);
        assert_eq!(read("5 1", 1), [Some(UnixMillis(5))]);
    }
}
