//! The executor `publisher`: checks the links of a text, waits for an approval, and publishes the text.

use a2a_edge::prelude::*;

/// `[executor.publisher]` in an agent file.
#[settings]
pub struct Publisher {
    /// The URL to which texts are posted, and the header `Authorization` of the posts.
    url: Expandable,
    authorization: Expandable,
    /// The number of days for which the executor waits for an approval. Each day without one is reported to the client.
    patience_days: u32,
}

#[async_trait(?Send)]
impl AgentExecutor for Publisher {
    async fn execute(&self, turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
        let text = turn.message.text();
        let links: Vec<&str> =
            text.split_whitespace().filter(|word| word.starts_with("http")).collect();
        if links.is_empty() {
            return events.require_input("Which text? It needs a link.");
        }
        for (index, link) in links.iter().enumerate() {
            // A finished step is not repeated after a crash or a deployment.
            let call = async || {
                let request = HttpRequest::new("HEAD", *link).guarded();
                Ok(turn.fetch_stream(request).await?.status)
            };
            let line = match turn.step_with("link", Retry::times(2), call).await {
                Ok(status) => format!("{status} {link}\n"),
                Err(error) => format!("{error}\n"),
            };
            let piece = Artifact::new("links", Part::text(line));
            match index {
                0 => events.begin(piece)?,
                _ => events.append(piece, index + 1 == links.len())?,
            }
        }
        let approval = turn.callback("approval")?;
        events.working(Some(&format!("to approve it, post to {}", approval.url())))?;
        for day in 1..=self.patience_days {
            // During the wait, no code runs and no object is in memory.
            let called = turn.wait_callback(&approval, Wait::for_millis(DAY_MS)).await?;
            if called.body().is_some() {
                turn.step_with("publish", Retry::times(5), async || self.publish(turn).await)
                    .await?;
                return events.complete(Some("published"));
            }
            events.working(Some(&format!("no approval after {day} days")))?;
        }
        events.fail("nobody has approved it")
    }

    fn parks(&self) -> bool {
        true
    }
}

impl Publisher {
    async fn publish(&self, turn: &Turn) -> Result<(), ExecutorError> {
        let request = HttpRequest::post(self.url.expand(turn)?.reveal())
            .with_header("Authorization", self.authorization.expand(turn)?.reveal())
            .with_header("Idempotency-Key", turn.unique_id())
            .with_json(&json!({"text": turn.message.text()}));
        turn.fetch(request).await?.success()?;
        Ok(())
    }
}

const DAY_MS: u64 = 86_400_000;

#[cfg(test)]
mod tests {
    use a2a_edge::http::memory::{ok, status};
    use a2a_edge::testing::TestAgent;

    use super::*;

    fn agent() -> TestAgent {
        let settings = Table::of(&json!({
            "url": "http://cms/posts", "authorization": "Bearer ${KEY}", "patience_days": 3,
        }));
        let publisher: Publisher = settings.unwrap().read().unwrap();
        let agent = TestAgent::new(publisher).with_secret("KEY", "not-a-real-key");
        agent.http().answer_with(|request, _| match request.url.as_str() {
            "http://gone" => Ok(status(404)),
            "http://down" => Err("nobody listens".to_owned()),
            _ => Ok(ok("")),
        });
        agent
    }

    fn said(agent: &TestAgent) -> String {
        let message = agent.task().unwrap().status.message;
        message.as_ref().map(Message::text).unwrap_or_default()
    }

    /// The callback URL in the last progress note.
    fn approval(agent: &TestAgent) -> String {
        let task = agent.task().unwrap();
        let said = task.history.iter().chain(&task.status.message).map(Message::text);
        said.filter_map(|text| Some(text.split_once("post to ")?.1.to_owned())).next_back().unwrap()
    }

    #[test]
    fn a_text_without_links_is_asked_for() {
        let agent = agent();
        agent.send("hello").unwrap();
        assert_eq!(agent.task().unwrap().status.state, TaskState::InputRequired);
        assert!(agent.http().called().is_empty());
    }

    #[test]
    fn a_text_is_published_on_the_second_day_although_the_process_has_died_twice() {
        let agent = agent();
        agent.send("http://good http://gone http://down").unwrap();
        agent.crash().unwrap();
        agent.pass(DAY_MS + 60_000);
        assert_eq!(said(&agent), "no approval after 1 days");
        agent.crash().unwrap();
        assert!(agent.call_back(&approval(&agent), Part::text("yes")));
        agent.run();
        assert_eq!(said(&agent), "published");
        let report = &agent.task().unwrap().artifacts[0];
        let lines: String = report.parts.iter().filter_map(Part::as_text).collect();
        assert_eq!(
            lines,
            "200 http://good\n404 http://gone\nhttp://down did not answer: nobody listens\n"
        );
        // The unreachable link is called twice; all other URLs are called once.
        let urls = ["http://good", "http://gone", "http://down", "http://down", "http://cms/posts"];
        assert_eq!(agent.http().called(), urls);
    }

    #[test]
    fn a_text_that_nobody_approves_fails_after_three_days() {
        let agent = agent();
        agent.send("http://good").unwrap();
        agent.run();
        assert_eq!(said(&agent), "nobody has approved it");
        assert_eq!(agent.now().0, 3 * DAY_MS as i64);
        assert_eq!(agent.http().called(), ["http://good"]);
    }
}
