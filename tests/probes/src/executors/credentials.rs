//! An executor for the tests of the Worker: it requests credentials and uses them.

use a2a_edge::prelude::*;

/// Calls a URL, the text of the first message, with the credentials that it has requested. A second text selects the next
/// step: `again` requests credentials again, `wait` parks the turn for one second before the call, any other text calls at
/// once.
#[settings]
pub(crate) struct CredentialsProbe {
    /// The description of the requested credentials.
    asks_for: String,
}

#[async_trait(?Send)]
impl AgentExecutor for CredentialsProbe {
    async fn execute(&self, turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
        let url = turn.history().first().map(Message::text).unwrap_or_default();
        let text = turn.message.text();
        if text == "wait" {
            turn.wait_until(Wait::for_millis(1_000)).await?;
        }
        let given = turn.credentials().await?;
        let Some(given) = given.filter(|_| text != "again") else {
            return events.require_auth(&self.asks_for);
        };
        let token = given.get("authorization").or_else(|| given.get("token"));
        let token = token.ok_or_else(|| ExecutorError("there is no token".to_owned()))?;
        let answer: u16 = turn
            .step("call", async || {
                let request = HttpRequest::post(&url).with_header("Authorization", token.reveal());
                Ok(turn.fetch(request).await?.status)
            })
            .await?;
        events.complete(Some(&format!("{answer} for {}", token.reveal())))
    }

    fn recovery(&self) -> Recovery {
        Recovery::Resume
    }

    fn parks(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use a2a_edge::model::CREDENTIALS_MEDIA_TYPE;

    use super::*;
    use a2a_edge::testing::TestAgent;

    const TOKEN: &str = "very-secret-token";

    fn agent() -> TestAgent {
        let agent = TestAgent::new(CredentialsProbe { asks_for: "a token".to_owned() });
        agent.http().answer_with(|request, _| {
            let is_known = request.headers.iter().any(|(_, value)| value == TOKEN);
            Ok(http::memory::status(if is_known { 200 } else { 401 }))
        });
        agent
    }

    fn credentials() -> Value {
        json!({"token": TOKEN})
    }

    fn status(agent: &TestAgent) -> (TaskState, String) {
        let status = agent.task().unwrap().status;
        (status.state, status.message.map(|message| message.text()).unwrap_or_default())
    }

    #[test]
    fn credentials_are_used_and_neither_shown_nor_kept() {
        let agent = agent();
        agent.send("https://api.example/").unwrap();
        assert_eq!(status(&agent), (TaskState::AuthRequired, "a token".to_owned()));
        agent.send_credentials("go", credentials()).unwrap();
        let completed = "200 for [credentials.token]".to_owned();
        assert_eq!(status(&agent), (TaskState::Completed, completed));
        let task = serde_json::to_value(agent.task().unwrap()).unwrap().to_string();
        assert!(!task.contains(TOKEN) && task.contains("credentials+json"), "{task}");
        assert!(!agent.keeps_credentials());
    }

    #[test]
    fn credentials_last_for_one_turn() {
        let agent = agent();
        agent.send("https://api.example/").unwrap();
        agent.send_credentials("again", credentials()).unwrap();
        assert_eq!(status(&agent).0, TaskState::AuthRequired);
        assert!(!agent.keeps_credentials());
        agent.send("go").unwrap();
        assert_eq!(status(&agent).0, TaskState::AuthRequired, "those of the turn before are gone");
    }

    #[test]
    fn credentials_survive_a_crash_in_their_turn() {
        let agent = agent();
        agent.send("https://api.example/").unwrap();
        let part = Part::data(credentials()).with_media_type(CREDENTIALS_MEDIA_TYPE);
        agent.begin_parts(vec![Part::text("wait"), part]).unwrap();
        assert!(agent.keeps_credentials(), "the turn is under way");
        agent.crash().unwrap();
        agent.run();
        assert_eq!(status(&agent).0, TaskState::Completed);
        assert!(!agent.keeps_credentials());
    }

    #[test]
    fn a_canceled_turn_keeps_none() {
        let agent = agent();
        agent.send("https://api.example/").unwrap();
        let part = Part::data(credentials()).with_media_type(CREDENTIALS_MEDIA_TYPE);
        agent.begin_parts(vec![Part::text("wait"), part]).unwrap();
        agent.cancel().unwrap();
        agent.run();
        assert_eq!(status(&agent).0, TaskState::Canceled);
        assert!(!agent.keeps_credentials());
    }

    #[test]
    fn a_task_that_waits_for_none_takes_none() {
        let agent = agent();
        assert!(agent.send_credentials("https://api.example/", credentials()).is_err());
        assert!(agent.task().is_none());
        agent.send("https://api.example/").unwrap();
        let part = Part::data(credentials()).with_media_type(CREDENTIALS_MEDIA_TYPE);
        agent.begin_parts(vec![Part::text("wait"), part]).unwrap();
        let refused = agent.send_credentials("go", credentials()).unwrap_err().to_string();
        assert!(refused.contains("the task does not wait for any"), "{refused}");
    }
}
