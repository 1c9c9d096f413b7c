//! Counters for tools, in D1.

use async_trait::async_trait;
use wasm_bindgen_futures::JsFuture;
use worker::{Env, Result, console_error};

use crate::edge::bindings;
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
        let value = self.add_one(owner, name).await.map_err(|error| error.to_string());
        let value = value.and_then(|value| value.ok_or_else(|| "no row came back".to_owned()));
        match value {
            Ok(value) => Ok(value as u64),
            Err(error) => {
                console_error!("counter {name}: {error}");
                Err(error)
            }
        }
    }
}
