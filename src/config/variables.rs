//! Parses variables of the Worker.

use std::fmt;
use std::ops::RangeInclusive;

/// A variable whose value cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The variable.
    pub name: &'static str,
    /// The required form, for example `a whole number from 1 to 900000`.
    pub wanted: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the variable {} must be {}", self.name, self.wanted)
    }
}

impl std::error::Error for ConfigError {}

/// The variables of a deployment. An empty or blank variable counts as not set.
#[derive(Clone, Copy)]
pub(super) struct Variables<'a>(pub(super) &'a dyn Fn(&str) -> Option<String>);

impl Variables<'_> {
    /// The value as text.
    pub(super) fn text(self, name: &str) -> Option<String> {
        (self.0)(name).filter(|value| !value.trim().is_empty())
    }

    /// A whole number.
    ///
    /// # Errors
    ///
    /// If the value is not a whole number in the range; the error contains the range.
    pub(super) fn number<N: Number>(
        self,
        name: &'static str,
        default: N,
        range: RangeInclusive<N>,
    ) -> Result<N, ConfigError> {
        let Some(text) = self.text(name) else { return Ok(default) };
        let number = text.trim().parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| {
            let wanted = format!("a whole number from {} to {}", range.start(), range.end());
            ConfigError { name, wanted }
        })
    }

    /// A switch; off unless it is set.
    ///
    /// # Errors
    ///
    /// If the value is not one of `true`, `1`, `on`, `false`, `0`, `off`.
    pub(super) fn switch(self, name: &'static str) -> Result<bool, ConfigError> {
        self.switch_or(name, false)
    }

    /// A switch; `default` unless it is set.
    ///
    /// # Errors
    ///
    /// The errors of [`switch`](Self::switch).
    pub(super) fn switch_or(self, name: &'static str, default: bool) -> Result<bool, ConfigError> {
        match self.text(name).as_deref().map(str::trim) {
            None => Ok(default),
            Some("false" | "0" | "off") => Ok(false),
            Some("true" | "1" | "on") => Ok(true),
            Some(_) => Err(ConfigError { name, wanted: "true or false".to_owned() }),
        }
    }
}

/// A whole number of any width.
pub(super) trait Number: Copy + PartialOrd + fmt::Display + std::str::FromStr {}

impl Number for u32 {}
impl Number for u64 {}
impl Number for usize {}

pub(super) const KIBIBYTE: usize = 1024;
pub(super) const MEBIBYTE: usize = 1024 * KIBIBYTE;
pub(super) const GIBIBYTE: u64 = 1024 * 1024 * 1024;
pub(super) const MINUTE_MS: u64 = 60_000;
pub(super) const DAY_MS: u64 = 24 * 60 * MINUTE_MS;
