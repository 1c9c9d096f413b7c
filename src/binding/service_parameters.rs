//! What a request says besides its content (spec §3.2.6), the same in every binding.

use super::extensions;
use super::version::requested_version;

/// The service parameters of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceParameters {
    /// The version that it asks for; `None` means 0.3.
    pub version: Option<String>,
    /// The URIs of the extensions that the client asks for.
    pub extensions: Vec<String>,
    /// The newest event that the client of a stream has, as it says.
    pub last_event_id: Option<String>,
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
        }
    }
}

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
            _ => None,
        };
        let read = ServiceParameters::read(header, "");
        assert_eq!(read.version.as_deref(), Some("1.0"));
        assert_eq!(read.extensions, ["urn:a", "urn:b", "urn:c"]);
        assert_eq!(read.last_event_id.as_deref(), Some("7"));
        assert_eq!(ServiceParameters::read(|_| None, ""), ServiceParameters::default());
    }
}
