//! A guest, in development only: `POST /_dev/resume`, with the token of the start. `a2a-edge dev` asks for it after a reload of the
//! Worker, which ends all runs: their tasks would resume at the next request for them, or at their alarm, up to half a minute later.

use serde_json::json;
use worker::{Env, Request};

use super::agents::check_token;
use super::deployment::Front;
use crate::edge::bindings::ANSWERS_AT_ONCE;
use crate::edge::objects::{AskError, Object};
use crate::edge::service::index::Index;
use crate::forms::address::TaskAddress;
use crate::front::head::Head;
use crate::port::join_some;
use a2a::binding::http::HttpResponse;
use a2a::error::Error;
use a2a::model::TaskId;

impl Front {
    /// Answers a request to `/_dev/resume`: the objects of the newest unfinished tasks open their tasks, whose interrupted runs
    /// resume. The answer has the number of `tasks` that were opened.
    pub(super) async fn resume(&self, request: &Request, head: &Head<'_>) -> HttpResponse {
        let token = self.deployment.settings.dev_token.as_deref();
        let allowed = check_token(request, token).and_then(|()| match head.method() {
            "POST" => Ok(()),
            _ => Err(Error::MethodNotAllowed("POST")),
        });
        if let Err(error) = allowed {
            return HttpResponse::error(&error);
        }
        let index = Index::of(&self.env);
        let Ok(tasks) = index.under_way(MAX_TASKS).await else {
            return HttpResponse::error(&Error::Unavailable("the tasks cannot be listed"));
        };
        let opened = tasks.into_iter().map(|task| open(&self.env, task));
        let opened = join_some(ANSWERS_AT_ONCE, opened).await;
        let count = opened.iter().filter(|one| one.is_ok()).count();
        HttpResponse::json(200, json!({"tasks": count}).to_string())
    }
}

async fn open(env: &Env, task: TaskId) -> Result<(), AskError> {
    Object::at(env, &TaskAddress::of_task(&task))?.open().await
}

/// The largest number of tasks that are opened for one request.
const MAX_TASKS: u32 = 100;
