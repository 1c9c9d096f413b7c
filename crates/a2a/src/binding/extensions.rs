//! Extensions of the protocol: those that a client requests, and those that become active (spec
//! §3.2.6, §4.6).

use crate::Operation;
use crate::error::Error;
use crate::model::AgentExtension;

/// The URIs in the values of the headers that list extensions, separated by commas.
pub(super) fn requested<'a>(headers: impl Iterator<Item = &'a str>) -> Vec<String> {
    let uris = headers.flat_map(|header| header.split(',')).map(str::trim);
    uris.filter(|uri| !uri.is_empty()).map(str::to_owned).collect()
}

/// The extensions that a call uses: those that the agent declares and the client requests.
/// Extensions unknown to the agent are ignored.
///
/// # Errors
///
/// [`Error::ExtensionSupportRequired`] if the call sends a message and the client does not request
/// an extension that the agent requires.
pub fn activate(
    operation: Operation,
    declared: &[AgentExtension],
    requested: &[String],
) -> Result<Vec<String>, Error> {
    let (active, inactive): (Vec<_>, Vec<_>) =
        declared.iter().partition(|extension| requested.contains(&extension.uri));
    let missing: Vec<String> = inactive
        .into_iter()
        .filter(|extension| extension.required)
        .map(|extension| extension.uri.clone())
        .collect();
    if operation.brings_message() && !missing.is_empty() {
        return Err(Error::ExtensionSupportRequired(missing));
    }
    Ok(active.into_iter().map(|extension| extension.uri.clone()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared() -> [AgentExtension; 3] {
        [("urn:a", true), ("urn:b", false), ("urn:c", false)].map(|(uri, required)| {
            AgentExtension {
                uri: uri.to_owned(),
                description: String::new(),
                required,
                params: None,
            }
        })
    }

    fn uris(uris: &[&str]) -> Vec<String> {
        uris.iter().map(|uri| (*uri).to_owned()).collect()
    }

    #[test]
    fn headers_are_lists() {
        let headers = ["urn:a, urn:b,", " ", "https://x.example/e?f=1"];
        let read = requested(headers.into_iter());
        assert_eq!(read, ["urn:a", "urn:b", "https://x.example/e?f=1"]);
    }

    #[test]
    fn what_both_sides_name_is_in_use() {
        for (asked, active) in [
            (&["urn:a"] as &[_], &["urn:a"] as &[_]),
            (&["urn:c", "urn:x", "urn:a", "urn:a"], &["urn:a", "urn:c"]),
        ] {
            let found = activate(Operation::SendMessage, &declared(), &uris(asked));
            assert_eq!(found, Ok(uris(active)), "{asked:?}");
        }
    }

    #[test]
    fn a_send_must_name_what_the_agent_requires() {
        for operation in [Operation::SendMessage, Operation::SendStreamingMessage] {
            for asked in [&[] as &[_], &["urn:b"], &["URN:A"]] {
                let refused = activate(operation, &declared(), &uris(asked));
                let expected = Error::ExtensionSupportRequired(uris(&["urn:a"]));
                assert_eq!(refused, Err(expected), "{operation:?} {asked:?}");
            }
        }
        assert_eq!(activate(Operation::GetTask, &declared(), &[]), Ok(Vec::new()));
        assert_eq!(activate(Operation::SendMessage, &[], &uris(&["urn:x"])), Ok(Vec::new()));
    }
}
