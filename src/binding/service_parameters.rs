//! What a request says besides its content (spec §3.2.6), the same in every binding.

use super::extensions;
use super::version::requested_version;
use crate::error::Error;

/// The service parameters of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceParameters {
    /// The version that it asks for; `None` means 0.3.
    pub version: Option<String>,
    /// The URIs of the extensions that the client asks for.
    pub extensions: Vec<String>,
    /// The newest event that the client of a stream has, as it says.
    pub last_event_id: Option<String>,
    /// What the client calls a send, so that repeating it does not begin a second task.
    pub idempotency_key: Option<String>,
    /// How long the run that a send begins may take, as the client says.
    pub run_timeout: Option<String>,
}

impl ServiceParameters {
    /// Reads them. `header` gives the value of a header, several of one name joined by commas.
    pub fn read(header: impl Fn(&str) -> Option<String>, query: &str) -> Self {
        // The second name is that of A2A 0.3.
        let extensions = ["a2a-extensions", "x-a2a-extensions"].map(&header);
        Self {
            version: requested_version(header("a2a-version").as_deref(), query),
            extensions: extensions::requested(extensions.iter().flatten().map(String::as_str)),
            last_event_id: header("last-event-id"),
            idempotency_key: header("idempotency-key"),
            run_timeout: header("run-timeout-ms"),
        }
    }

    /// The generation of the newest event that the client of a stream has; none for an absent or empty
    /// `Last-Event-ID`.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParams`] if it is no number.
    pub fn after(&self) -> Result<Option<u64>, Error> {
        let text = self.last_event_id.as_deref().map(str::trim).unwrap_or_default();
        if text.is_empty() {
            return Ok(None);
        }
        let refused = || Error::invalid("Last-Event-ID", "must be the id of an event of this task");
        text.parse().map(Some).map_err(|_| refused())
    }

    /// The `Idempotency-Key`, if there is one.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParams`] if it is empty or longer than [`MAX_KEY_BYTES`].
    pub fn idempotency_key(&self) -> Result<Option<&str>, Error> {
        match self.idempotency_key.as_deref() {
            Some(key) if key.is_empty() || key.len() > MAX_KEY_BYTES => {
                let description = format!("must have 1 to {MAX_KEY_BYTES} characters");
                Err(Error::invalid("Idempotency-Key", description))
            }
            key => Ok(key),
        }
    }

    /// `Run-Timeout-Ms`: how long the run that a send begins may take, in milliseconds.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParams`] if it is no number, or 0.
    pub fn run_timeout_ms(&self) -> Result<Option<u64>, Error> {
        let Some(text) = &self.run_timeout else { return Ok(None) };
        match text.trim().parse() {
            Ok(millis) if millis > 0 => Ok(Some(millis)),
            Ok(_) | Err(_) => {
                Err(Error::invalid("Run-Timeout-Ms", "must be a number of milliseconds, from 1"))
            }
        }
    }
}

/// The longest `Idempotency-Key`.
pub const MAX_KEY_BYTES: usize = 255;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_both_names_are_read() {
        let header = |name: &str| match name {
            "a2a-version" => Some("1.0".to_owned()),
            "a2a-extensions" => Some("urn:a, urn:b".to_owned()),
            "x-a2a-extensions" => Some("urn:c".to_owned()),
            "last-event-id" => Some("7".to_owned()),
            "idempotency-key" => Some("k".to_owned()),
            _ => None,
        };
        let read = ServiceParameters::read(header, "");
        assert_eq!(read.version.as_deref(), Some("1.0"));
        assert_eq!(read.extensions, ["urn:a", "urn:b", "urn:c"]);
        assert_eq!(read.after(), Ok(Some(7)));
        assert_eq!(read.idempotency_key(), Ok(Some("k")));
        assert_eq!(ServiceParameters::read(|_| None, ""), ServiceParameters::default());
    }

    #[test]
    fn parameters_that_cannot_be_used_are_named() {
        let read = |name: &'static str, value: String| {
            ServiceParameters::read(|known| (known == name).then(|| value.clone()), "")
        };
        for value in ["x", "-1", "1.5"] {
            let refused = read("last-event-id", value.to_owned()).after().unwrap_err();
            assert!(refused.to_string().contains("Last-Event-ID"), "{refused}");
        }
        assert_eq!(read("last-event-id", " ".to_owned()).after(), Ok(None));
        for value in [String::new(), "k".repeat(256)] {
            let refused = read("idempotency-key", value);
            assert!(refused.idempotency_key().is_err());
        }
        assert!(read("idempotency-key", "k".repeat(255)).idempotency_key().is_ok());
    }
}
