//! The executor `links`: calls every URL of a message, and says which of them do not answer.

use a2a_edge::prelude::*;
use a2a_edge::serde::Deserialize;

pub struct LinkChecker {
    pub settings: Settings,
}

/// `[executor.links]` in `agents/links.toml`.
#[derive(Deserialize)]
#[serde(crate = "a2a_edge::serde", deny_unknown_fields)]
pub struct Settings {
    /// How many URLs one message may have.
    max_links: usize,
    /// The pause between two calls, in milliseconds.
    pause_ms: u64,
}

impl LinkChecker {
    /// Calls a URL. This is a step: if the process dies, a URL that has answered is not called again.
    async fn check(&self, turn: &Turn, url: &str) -> Result<u16, ExecutorError> {
        let call = async || {
            let request = HttpRequest { timeout_ms: 10_000, ..HttpRequest::new("HEAD", url) };
            Ok(turn.fetch_stream(request).await?.status)
        };
        turn.step_with("call", Retry::times(2), call).await
    }
}

#[async_trait(?Send)]
impl AgentExecutor for LinkChecker {
    async fn execute(&self, turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
        let text = turn.message.text();
        let links: Vec<&str> =
            text.split_whitespace().filter(|word| word.starts_with("http")).collect();
        let (count, limit) = (links.len(), self.settings.max_links);
        if count == 0 {
            return events.require_input("Which links?");
        }
        if count > limit {
            return events.reject(&format!("a message may have {limit} links, this has {count}"));
        }
        let mut broken = 0;
        for (index, link) in links.into_iter().enumerate() {
            // A task that the client has canceled takes no more events.
            if turn.is_canceled() {
                return Ok(());
            }
            events.working(Some(&format!("link {} of {count}", index + 1)))?;
            let line = match self.check(turn, link).await {
                Ok(status @ 200..400) => format!("{status} {link}\n"),
                Ok(status) => {
                    broken += 1;
                    format!("{status} {link} is broken\n")
                }
                Err(error) => {
                    broken += 1;
                    format!("{error}\n")
                }
            };
            let piece = Artifact::new("report", Part::text(line));
            match index {
                0 => events.begin(piece)?,
                _ => events.append(piece, index + 1 == count)?,
            }
            turn.sleep(self.settings.pause_ms).await;
        }
        events.complete(Some(&format!("checked {count}, broken {broken}")))
    }

    fn recovery(&self) -> Recovery {
        Recovery::Resume
    }
}

#[cfg(test)]
mod tests {
    use a2a_edge::http::memory::status;
    use a2a_edge::testing::TestAgent;

    use super::*;

    fn agent() -> TestAgent {
        let settings = Settings { max_links: 3, pause_ms: 1_000 };
        let agent = TestAgent::new(LinkChecker { settings });
        agent.http().answer_with(|request, _| match request.url.as_str() {
            "http://gone" => Ok(status(404)),
            "http://down" => Err("nobody listens".to_owned()),
            _ => Ok(status(200)),
        });
        agent
    }

    fn report(task: &Task) -> String {
        task.artifacts[0].parts.iter().filter_map(Part::as_text).collect()
    }

    fn said(task: &Task) -> String {
        task.status.message.as_ref().map(Message::text).unwrap_or_default()
    }

    #[test]
    fn each_link_is_a_line_of_the_report() {
        let agent = agent();
        agent.send("http://good and http://gone and http://down").unwrap();
        let task = agent.task().unwrap();
        assert_eq!(task.status.state, TaskState::Completed);
        assert_eq!(said(&task), "checked 3, broken 2");
        assert_eq!(
            report(&task),
            "200 http://good\n404 http://gone is broken\nhttp://down did not answer: nobody listens\n"
        );
        // What cannot be reached is tried twice.
        assert_eq!(agent.http().called().len(), 4);
    }

    #[test]
    fn a_message_without_links_is_asked_for_them() {
        let agent = agent();
        agent.send("hello").unwrap();
        assert_eq!(agent.task().unwrap().status.state, TaskState::InputRequired);
        agent.send("http://good").unwrap();
        assert_eq!(said(&agent.task().unwrap()), "checked 1, broken 0");
    }

    #[test]
    fn a_message_with_too_many_links_is_declined() {
        let agent = agent();
        agent.send("http://a http://b http://c http://d").unwrap();
        assert_eq!(agent.task().unwrap().status.state, TaskState::Rejected);
        assert!(agent.http().called().is_empty());
    }

    #[test]
    fn a_link_that_was_called_before_a_crash_is_not_called_again() {
        let agent = agent();
        agent.begin("http://a http://b").unwrap();
        agent.crash().unwrap();
        agent.run();
        assert_eq!(said(&agent.task().unwrap()), "checked 2, broken 0");
        assert_eq!(agent.http().called(), ["http://a", "http://b"]);
    }

    #[test]
    fn a_canceled_task_calls_nobody_any_more() {
        let agent = agent();
        agent.begin("http://a http://b").unwrap();
        agent.cancel().unwrap();
        agent.run();
        assert_eq!(agent.task().unwrap().status.state, TaskState::Canceled);
        assert_eq!(agent.http().called(), ["http://a"]);
    }
}
