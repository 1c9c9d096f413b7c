//! The traces of a deployment: where they are sent, and which.

use super::ConfigError;
use super::variables::Variables;

/// Where traces are sent, and which. Nothing is traced unless `OTLP_URL` is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traces {
    /// `OTLP_URL`: where spans are sent by OTLP/HTTP, `/v1/traces` below it, for example `https://otlp.example.com`.
    pub url: String,
    /// `TRACE_RATIO`: the part of the traces that begin here which is recorded, from 0 to 1 (1), in millionths. A trace of a
    /// client is recorded if the client records it.
    pub per_million: u32,
    /// `OTEL_SERVICE_NAME`: the name of the service in spans (`a2a-edge`).
    pub service: String,
}

impl Traces {
    /// Reads the settings.
    ///
    /// # Errors
    ///
    /// Returned for the first variable whose value cannot be used.
    pub(super) fn read(variables: Variables<'_>) -> Result<Option<Self>, ConfigError> {
        let (per_million, service) = (read_ratio(variables)?, variables.text("OTEL_SERVICE_NAME"));
        let Some(url) = variables.text("OTLP_URL") else { return Ok(None) };
        let url = url.trim().trim_end_matches('/');
        let url = url.strip_suffix(TRACES).unwrap_or(url);
        if url.contains(['?', '#']) {
            let wanted = format!("a URL without ? and #; {TRACES} is put behind it");
            return Err(ConfigError { name: "OTLP_URL", wanted });
        }
        Ok(Some(Self {
            url: format!("{url}{TRACES}"),
            per_million,
            service: service.unwrap_or_else(|| "a2a-edge".to_owned()),
        }))
    }

    /// True if a trace is recorded for which this number was drawn, from 0 to 1.
    pub fn records(&self, chance: f64) -> bool {
        chance * 1_000_000.0 < f64::from(self.per_million)
    }
}

fn read_ratio(variables: Variables<'_>) -> Result<u32, ConfigError> {
    let Some(text) = variables.text("TRACE_RATIO") else { return Ok(1_000_000) };
    let per_million = parse_ratio(text.trim()).filter(|ratio| *ratio <= 1_000_000);
    per_million.ok_or_else(|| {
        let wanted = "a number from 0 to 1, with at most 6 decimals".to_owned();
        ConfigError { name: "TRACE_RATIO", wanted }
    })
}

/// A decimal number in millionths.
fn parse_ratio(text: &str) -> Option<u32> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !is_number(whole) || !is_number(decimals) || decimals.len() > 6 {
        return None;
    }
    let decimals: u32 = format!("{decimals:0<6}").parse().ok()?;
    whole.parse::<u32>().ok()?.checked_mul(1_000_000)?.checked_add(decimals)
}

/// The path for spans, below the URL of a receiver of OTLP/HTTP.
const TRACES: &str = "/v1/traces";

#[cfg(test)]
mod tests {
    use super::*;

    fn read(set: &[(&str, &str)]) -> Result<Option<Traces>, ConfigError> {
        let variable = |name: &str| {
            let found = set.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Traces::read(Variables(&variable))
    }

    #[test]
    fn nothing_is_traced_without_a_receiver() {
        assert_eq!(read(&[("TRACE_RATIO", "0.5")]), Ok(None));
    }

    #[test]
    fn spans_go_to_their_path_below_the_url() {
        for url in [
            "https://a.example/otlp",
            "https://a.example/otlp/",
            "https://a.example/otlp/v1/traces",
        ] {
            let traces = read(&[("OTLP_URL", url)]).unwrap().unwrap();
            assert_eq!(traces.url, "https://a.example/otlp/v1/traces");
            assert!(traces.records(0.999_999), "all are recorded unless said otherwise");
        }
        assert_eq!(read(&[("OTLP_URL", "https://a.example/?key=x")]).unwrap_err().name, "OTLP_URL");
    }

    #[test]
    fn a_part_of_the_traces_is_recorded() {
        let traces =
            |ratio: &str| read(&[("OTLP_URL", "https://a.example"), ("TRACE_RATIO", ratio)]);
        let quarter = traces(" 0.25 ").unwrap().unwrap();
        assert!(quarter.records(0.0) && quarter.records(0.249) && !quarter.records(0.25));
        assert!(!traces("0").unwrap().unwrap().records(0.0));
        for ratio in ["1", "1.0", "1.000000"] {
            assert!(traces(ratio).unwrap().unwrap().records(0.999_999));
        }
        for ratio in ["-0.1", "1.1", "half", "NaN", "0,5", ".5", "1.", "0.0000001", "99999999999"] {
            assert_eq!(traces(ratio).unwrap_err().name, "TRACE_RATIO", "{ratio}");
        }
    }
}
