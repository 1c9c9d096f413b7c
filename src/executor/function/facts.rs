//! What a run reads without changing its task, and the usage that it records.

use serde_json::{Map, json};

use super::run::{OpenRun, Refused};
use crate::usage::Usage;
use a2a::model::decode::{Decode, read_json};
use a2a::model::to_json;

/// The usage of models, as `js/api` describes it.
#[derive(Decode)]
#[serde(rename_all = "camelCase", default)]
struct Used {
    model: String,
    requests: u64,
    input_tokens: u64,
    output_tokens: u64,
    cost_micros: u64,
}

impl Default for Used {
    fn default() -> Self {
        Self {
            model: String::new(),
            requests: 1,
            input_tokens: 0,
            output_tokens: 0,
            cost_micros: 0,
        }
    }
}

impl OpenRun {
    /// The messages of the task, oldest first.
    ///
    /// # Errors
    ///
    /// If the run is over.
    pub fn history(&self) -> Result<String, Refused> {
        self.check()?;
        Ok(to_json(&self.turn.history())?)
    }

    /// The task; empty text if there is none yet.
    ///
    /// # Errors
    ///
    /// If the run is over.
    pub fn task(&self) -> Result<String, Refused> {
        self.check()?;
        Ok(self.turn.task().map(|task| to_json(&task)).transpose()?.unwrap_or_default())
    }

    /// The value of a secret, which is replaced by its name in all that the run says from now on.
    ///
    /// # Errors
    ///
    /// If the secret is not set.
    pub fn secret(&self, name: &str) -> Result<String, Refused> {
        self.check()?;
        Ok(self.turn.secret(name)?.reveal().to_owned())
    }

    /// True if the client accepts the media type.
    pub fn accepts(&self, media_type: &str) -> bool {
        self.turn.accepts(media_type)
    }

    /// Records the usage of a request to a model.
    ///
    /// # Errors
    ///
    /// If the usage has another form, or the run is over.
    pub fn record_usage(&self, used: &str) -> Result<(), Refused> {
        self.check()?;
        let Used { model, requests, input_tokens, output_tokens, cost_micros } = read_json(used)?;
        let usage = Usage { requests, input_tokens, output_tokens, cost_micros };
        self.turn.record_usage_of(&model, usage);
        self.wake();
        Ok(())
    }

    /// The headers that put a request into the trace of the run, as a JSON object.
    ///
    /// # Errors
    ///
    /// If the run is over.
    pub fn trace_headers(&self) -> Result<String, Refused> {
        self.check()?;
        let mut headers = Map::new();
        if let Some(trace) = self.trace() {
            for (name, value) in trace.headers() {
                headers.insert(name.to_owned(), json!(value));
            }
        }
        Ok(serde_json::Value::Object(headers).to_string())
    }
}
