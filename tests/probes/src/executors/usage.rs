//! An executor for the tests of the Worker: it reports the use of models that it does not call.

use a2a_edge::prelude::*;

/// Executes the words of a message: a number is a step that has used as many tokens, half of them output; `ask` requests input,
/// `fail` fails, `slow` waits for one second, and `limit` reports the limit that the turn has reached.
#[settings]
pub(crate) struct UsageProbe {
    /// The maximum number of tokens of a caller in a day.
    tokens_per_day: Option<u64>,
    /// The maximum cost of a caller in a day, in millionths. A token costs two millionths.
    cost_micros_per_day: Option<u64>,
}

#[async_trait(?Send)]
impl AgentExecutor for UsageProbe {
    async fn execute(&self, turn: &Turn, events: &Events) -> Result<(), ExecutorError> {
        events.working(None)?;
        for word in turn.message.text().split_whitespace() {
            match word {
                "ask" => return events.require_input("more?"),
                "fail" => return Err(ExecutorError("as told".to_owned())),
                "slow" => turn.sleep(1_000).await,
                "limit" => events.working(Some(&format!("{:?}", turn.used_up())))?,
                tokens => {
                    let unknown = |_| ExecutorError(format!("what is {tokens:?}?"));
                    let tokens: u64 = tokens.parse().map_err(unknown)?;
                    let output_tokens = tokens / 2;
                    let input_tokens = tokens - output_tokens;
                    let usage =
                        Usage { requests: 1, input_tokens, output_tokens, cost_micros: 2 * tokens };
                    turn.step("model", async || {
                        turn.record_usage(usage);
                        Ok(())
                    })
                    .await?;
                }
            }
        }
        events.complete(None)
    }

    fn recovery(&self) -> Recovery {
        Recovery::Resume
    }

    fn caller_limits(&self) -> CallerLimits {
        let Self { tokens_per_day, cost_micros_per_day } = *self;
        CallerLimits { tokens_per_day, cost_micros_per_day }
    }
}
