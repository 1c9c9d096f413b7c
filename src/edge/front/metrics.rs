//! A guest: `GET /metrics`, the metrics of those agents of which the caller is an operator, in the text format of Prometheus.
//! `js/metrics.js` reads them and writes the text.

use wasm_bindgen::prelude::*;
use worker::js_sys::Promise;

use super::callers::Callers;
use super::deployment::Front;
use crate::auth::Policy;
use crate::executor::HostedAgent;
use crate::front::head::Head;
use crate::front::operator::may_read_metrics;
use crate::port::{Observation, Observer};
use a2a::binding::http::HttpResponse;
use a2a::error::Error;
use a2a::model::encode;
use wasm_bindgen_futures::JsFuture;

impl Front {
    /// Answers a request for metrics.
    pub(super) async fn metrics(&self, head: &Head<'_>) -> HttpResponse {
        let agents: Vec<&HostedAgent> = self.deployment.hosted().collect();
        let Callers { told, counted } = match self.callers_of(head, &agents).await {
            Ok(callers) => callers,
            Err(held) => return HttpResponse::error(&held),
        };
        let is_development = self.deployment.settings.development;
        let (mut seen, mut denied, mut refusing) = (Vec::new(), None, None);
        for told in told {
            match told {
                Ok((agent, caller)) => {
                    let access = agent.policy.as_ref().ok().map(Policy::access);
                    match may_read_metrics(access, &caller, is_development) {
                        Ok(()) => seen.push(agent.slug.as_str()),
                        Err(error) => denied = denied.or(Some(error)),
                    }
                }
                Err(refused) => refusing = refusing.or(Some(refused)),
            }
        }
        if !seen.is_empty() {
            return self.metrics_of(&seen).await;
        }
        if let Some(refusing) = refusing {
            let held = self.count_refusal(head, &counted, &refusing).await;
            return HttpResponse::error(&held.err().unwrap_or(refusing.error));
        }
        HttpResponse::error(&denied.unwrap_or(Error::NoAgents))
    }

    async fn metrics_of(&self, agents: &[&str]) -> HttpResponse {
        let kind = self.deployment.settings.index.kind.name();
        let agents = encode(&agents).unwrap_or_default();
        match JsFuture::from(metrics_text(self.env.as_ref(), kind, &agents)).await {
            Ok(text) => {
                let mut answer = HttpResponse::json(200, text.as_string().unwrap_or_default());
                answer.headers.retain(|(name, _)| *name != "content-type");
                answer.with_header("content-type", FORMAT).with_header("cache-control", "no-store")
            }
            Err(error) => {
                let reason = format!("metrics: {error:?}");
                self.observer.observe(&Observation::ListingFailed { reason: &reason });
                HttpResponse::error(&Error::Unavailable(UNAVAILABLE))
            }
        }
    }
}

#[wasm_bindgen(module = "/js/metrics.js")]
extern "C" {
    #[wasm_bindgen(js_name = metricsText)]
    fn metrics_text(env: &JsValue, kind: &str, agents: &str) -> Promise;
}

const FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

const UNAVAILABLE: &str = "the index is not available at the moment; tasks go on";
