//! The deployment and the bindings with which an instance of the front Worker finds facts and answers. They are made
//! once per instance, and contain nothing of any request.

use std::cell::RefCell;
use std::rc::Rc;

use worker::Env;

use crate::edge::agents;
use crate::edge::bindings;
use crate::edge::service::keys::signing_keys;
use crate::edge::service::observer::ConsoleObserver;
use crate::edge::service::random::WorkerRandom;
use crate::edge::service::telemetry;
use crate::edge::target::check_webhook_url;
use crate::front::deployment::Deployment;
use crate::front::report::Report;
use crate::front::signed::SignedCards;
use crate::port::{Observation, Observer, Random};
use a2a::binding::http::HttpResponse;
use a2a::error::Error;

/// The front of this Worker.
#[derive(Clone)]
pub(super) struct Front {
    pub(super) env: Env,
    pub(super) deployment: Rc<Deployment>,
    pub(super) observer: ConsoleObserver,
}

impl Front {
    /// The front of this Worker.
    ///
    /// # Errors
    ///
    /// The answer to all requests, if the settings or the agents cannot be read.
    pub(super) fn of(env: Env) -> Result<Self, HttpResponse> {
        match known(&env) {
            Ok(Known { deployment, observer }) => Ok(Self { env, deployment, observer }),
            Err(Unreadable { reason, error }) => {
                let observer = ConsoleObserver::of(&env);
                observer.observe(&Observation::Misconfigured { reason: &reason });
                Err(HttpResponse::error(&error))
            }
        }
    }

    /// Writes the reports of a decision to the observer.
    pub(super) fn report(&self, reports: &[Report]) {
        for report in reports {
            report.observe(&self.observer);
        }
    }
}

/// The deployment of an instance, and the observer of its reports.
#[derive(Clone)]
struct Known {
    deployment: Rc<Deployment>,
    observer: ConsoleObserver,
}

/// The reason why the deployment cannot be made, and the error for every client.
#[derive(Clone)]
struct Unreadable {
    reason: String,
    error: Error,
}

/// The deployment, made once per instance.
fn known(env: &Env) -> Result<Known, Unreadable> {
    let known = DEPLOYMENT.with(|cell| cell.borrow().clone());
    known.unwrap_or_else(|| {
        let made = make(env);
        DEPLOYMENT.with(|cell| cell.replace(Some(made.clone())));
        made
    })
}

/// Makes the deployment anew at the next request: its agents were replaced.
pub(super) fn forget() {
    DEPLOYMENT.take();
}

fn make(env: &Env) -> Result<Known, Unreadable> {
    let settings = bindings::settings(env).map_err(|error| Unreadable {
        reason: error.to_string(),
        error: Error::Internal { task: None },
    })?;
    telemetry::check(env, &settings)
        .map_err(|reason| Unreadable { reason, error: Error::Internal { task: None } })?;
    let agents = agents::agents(env, &settings)
        .map_err(|error| Unreadable { reason: error.to_string(), error: Error::NoAgents })?;
    let deployment = Rc::new(Deployment {
        settings,
        agents,
        signing: signing_keys(env),
        signed: SignedCards::default(),
        has_console: bindings::has_console(env),
        check_url: check_webhook_url,
        new_id: || WorkerRandom.new_id(),
    });
    Ok(Known { deployment, observer: ConsoleObserver::of(env) })
}

thread_local! {
    static DEPLOYMENT: RefCell<Option<Result<Known, Unreadable>>> = const { RefCell::new(None) };
}
