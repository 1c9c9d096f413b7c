//! Counters for tools, in D1.

use async_trait::async_trait;
use wasm_bindgen_futures::JsFuture;
use worker::{Env, Result};

use super::observer::ConsoleObserver;
use crate::edge::bindings;
use crate::port::{Observation, Observer};
use a2a_agents::tool::Counters;

/// Counters in the table `counters`.
pub(in crate::edge) struct D1Counters {
    pub(in crate::edge) env: Env,
}

impl D1Counters {
    async fn add_one(&self, owner: &str, name: &str) -> Result<Option<f64>> {
        let statement = bindings::database(&self.env)?.prepare(
            "INSERT INTO counters (owner, name, value) VALUES (?1, ?2, 1) \
             ON CONFLICT (owner, name) DO UPDATE SET value = value + 1 RETURNING value",
        );
        let statement = statement.bind(&[owner.into(), name.into()])?;
        let value = JsFuture::from(statement.inner().first(Some("value"))?).await?;
        Ok(value.as_f64())
    }
}

#[async_trait(?Send)]
impl Counters for D1Counters {
    async fn increment(&self, owner: &str, name: &str) -> std::result::Result<u64, String> {
        let reason = match self.add_one(owner, name).await {
            Ok(Some(value)) => return Ok(value as u64),
            Ok(None) => "no row came back".to_owned(),
            Err(error) => error.to_string(),
        };
        let observer = ConsoleObserver::of(&self.env);
        observer.observe(&Observation::CounterFailed { name, reason: &reason });
        Err(reason)
    }
}
