//! The two media types of the protocol, for requests and answers (spec §11.1).

use serde::Serialize;

use super::header::OWS;
use crate::error::Error;

/// A media type of A2A messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum MediaType {
    /// `application/json`, which every client accepts.
    #[default]
    Json,
    /// `application/a2a+json`.
    A2aJson,
}

impl MediaType {
    /// The type in the form of headers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::A2aJson => "application/a2a+json",
        }
    }

    /// The type of a request body; `None` without a `Content-Type` header, which is accepted.
    ///
    /// # Errors
    ///
    /// [`Error::ContentTypeNotSupported`] for any other type.
    pub fn of_body(content_type: Option<&str>) -> Result<Option<Self>, Error> {
        let essence = essence(content_type.unwrap_or_default());
        if essence.is_empty() {
            return Ok(None);
        }
        if let Some(known) = Self::parse(essence) {
            return Ok(Some(known));
        }
        let shown: String = essence.chars().take(60).collect();
        Err(Error::ContentTypeNotSupported(format!(
            "content type {shown:?} is not supported; send Content-Type: application/json"
        )))
    }

    /// The type of the answer: the one that `Accept` prefers; if both are equal, the first one. If
    /// `Accept` contains neither, the type of the request body, else `application/json`.
    pub fn of_answer(accept: Option<&str>, content_type: Option<&str>) -> Self {
        let mut best: Option<(Self, u16)> = None;
        for range in accept.unwrap_or_default().split(',') {
            let Some(named) = Self::parse(essence(range)) else { continue };
            let weight = weight(range);
            if weight > best.map_or(0, |(_, weight)| weight) {
                best = Some((named, weight));
            }
        }
        let of_body = || Self::of_body(content_type).ok().flatten();
        best.map(|(named, _)| named).or_else(of_body).unwrap_or_default()
    }

    fn parse(essence: &str) -> Option<Self> {
        let all = [Self::Json, Self::A2aJson];
        all.into_iter().find(|known| known.as_str().eq_ignore_ascii_case(essence))
    }
}

/// Whether an `Accept` header contains the type of event streams.
pub(crate) fn accepts_event_stream(accept: Option<&str>) -> bool {
    let mut ranges = accept.unwrap_or_default().split(',');
    ranges
        .any(|range| essence(range).eq_ignore_ascii_case("text/event-stream") && weight(range) > 0)
}

/// A media type without its parameters.
pub fn essence(text: &str) -> &str {
    text.split(';').next().unwrap_or_default().trim_matches(OWS)
}

/// Whether the bytes of a media type are text; the type is in lower case, without parameters.
pub fn is_text(essence: &str) -> bool {
    let suffixes = ["+json", "+xml", "/json", "/xml", "/yaml", "/toml", "/csv", "/javascript"];
    essence.starts_with("text/") || suffixes.iter().any(|suffix| essence.ends_with(suffix))
}

/// The weight of a media range in `Accept` in thousandths (RFC 9110 §12.4.2); 1000 if it is missing
/// or invalid.
pub fn weight(range: &str) -> u16 {
    let parameters = range.split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
    let mut weights =
        parameters.filter(|(name, _)| name.trim_matches(OWS).eq_ignore_ascii_case("q"));
    let Some((_, value)) = weights.next() else { return 1000 };
    let Some(("0", decimals)) = value.trim_matches(OWS).split_once('.') else {
        return if value.trim_matches(OWS) == "0" { 0 } else { 1000 };
    };
    format!("{decimals:0<3}").get(..3).and_then(|digits| digits.parse().ok()).unwrap_or(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_json() {
        for (header, expected) in [
            (None, None),
            (Some(""), None),
            (Some("application/json"), Some(MediaType::Json)),
            (Some("Application/JSON; charset=utf-8"), Some(MediaType::Json)),
            (Some("application/a2a+json"), Some(MediaType::A2aJson)),
        ] {
            assert_eq!(MediaType::of_body(header), Ok(expected), "{header:?}");
        }
        for header in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp"] {
            let refused = MediaType::of_body(Some(header));
            assert!(matches!(refused, Err(Error::ContentTypeNotSupported(_))), "{header}");
        }
    }

    #[test]
    fn event_streams_are_accepted_by_name() {
        for (accept, is_named) in [
            (None, false),
            (Some("*/*"), false),
            (Some("application/json"), false),
            (Some("text/event-stream"), true),
            (Some("application/json, Text/Event-Stream;q=0.5"), true),
            (Some("text/event-stream;q=0"), false),
        ] {
            assert_eq!(accepts_event_stream(accept), is_named, "{accept:?}");
        }
    }

    #[test]
    fn answers_are_json_unless_the_client_prefers_the_other_type() {
        let (json, a2a) = ("application/json", "application/a2a+json");
        for (accept, body, expected) in [
            (None, None, MediaType::Json),
            (None, Some(json), MediaType::Json),
            (None, Some(a2a), MediaType::A2aJson),
            (None, Some("text/plain"), MediaType::Json),
            (Some("*/*"), None, MediaType::Json),
            (Some("*/*"), Some(a2a), MediaType::A2aJson),
            (Some("text/event-stream"), Some(a2a), MediaType::A2aJson),
            (Some(json), Some(a2a), MediaType::Json),
            (Some(a2a), Some(json), MediaType::A2aJson),
            (Some("application/a2a+json, application/json"), None, MediaType::A2aJson),
            (Some("application/json, application/a2a+json"), None, MediaType::Json),
            (Some("application/json;q=0.5, application/a2a+json"), None, MediaType::A2aJson),
            (Some("application/a2a+json;q=0.1,application/json;q=0.2"), None, MediaType::Json),
            (Some("application/a2a+json; Q=0"), None, MediaType::Json),
            (Some("application/a2a+json;q=0.000"), None, MediaType::Json),
            (Some("application/a2a+json;q=0.29,application/json;q=0.3"), None, MediaType::Json),
            (Some("application/json;q=.,application/a2a+json;q=1.0"), None, MediaType::Json),
            (Some("application/json;q=0.9,application/a2a+json;q=1.0"), None, MediaType::A2aJson),
            (Some("APPLICATION/A2A+JSON;charset=utf-8"), None, MediaType::A2aJson),
        ] {
            assert_eq!(MediaType::of_answer(accept, body), expected, "{accept:?} {body:?}");
        }
    }
}
