//! Reads the parts of an ISO 8601 instant.

/// The part of a text that was not read yet.
pub(super) struct Unread<'a>(pub(super) &'a [u8]);

impl Unread<'_> {
    /// A number of this many decimal digits.
    pub(super) fn number(&mut self, digits: usize) -> Option<i64> {
        let (number, rest) = self.0.split_at_checked(digits)?;
        self.0 = rest;
        let add = |sum: i64, digit: &u8| {
            digit.is_ascii_digit().then(|| sum * 10 + i64::from(digit - b'0'))
        };
        number.iter().try_fold(0, add)
    }

    /// What follows one of these bytes.
    pub(super) fn after(&mut self, bytes: &[u8]) -> Option<&mut Self> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        bytes.contains(first).then_some(self)
    }

    /// The milliseconds of a fraction of a second; 0 if there is none.
    pub(super) fn fraction(&mut self) -> Option<i64> {
        let Some(rest) = self.0.strip_prefix(b".") else { return Some(0) };
        let digits = rest.iter().take_while(|digit| digit.is_ascii_digit()).count();
        let (fraction, rest) = rest.split_at_checked(digits).filter(|_| digits > 0)?;
        self.0 = rest;
        let places = fraction.iter().zip([100, 10, 1]);
        Some(places.map(|(digit, place)| i64::from(digit - b'0') * place).sum())
    }

    /// The minutes of an offset from UTC, which ends the text; 0 if there is none.
    pub(super) fn offset_min(&mut self) -> Option<i64> {
        let sign = match self.0 {
            [] | [b'Z' | b'z'] => return Some(0),
            [b'+', ..] => 1,
            _ => -1,
        };
        let hours = self.after(b"+-")?.number(2)?;
        let minutes = self.after(b":")?.number(2)?;
        let is_whole = self.0.is_empty() && hours < 24 && minutes < 60;
        is_whole.then_some(sign * (hours * 60 + minutes))
    }
}
