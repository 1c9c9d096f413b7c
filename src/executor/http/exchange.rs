//! One exchange with the agent: a request, and the verbs of the answer while they arrive.

use futures_util::future::{Either, select};

use super::super::Turn;
use super::call::Call;
use super::failure::{Failure, beginning};
use super::frames::{Frame, Frames, Framing};
use super::saying::Saying;
use super::verb::{Verb, short};
use crate::port::{HttpAnswer, HttpBody, HttpRequest};

/// The longest silences that an exchange allows, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// Until the answer begins.
    pub(super) head_ms: u64,
    /// Between two pieces of the answer.
    pub(super) idle_ms: u64,
}

/// Sends the turn to the agent and emits the verbs of its answer, up to the end of the answer.
///
/// # Errors
///
/// The reason why the answer did not arrive completely.
pub(super) async fn ask(
    call: &Call,
    turn: &Turn,
    document: String,
    patience: Patience,
    saying: &mut Saying<'_>,
) -> Result<(), Failure> {
    let name = call.name.as_str();
    let request = HttpRequest {
        // The platform's timeout is longer than `patience`, so that the run reports its own timeout.
        timeout_ms: patience.head_ms.max(patience.idle_ms) + 1_000,
        max_bytes: MAX_ANSWER_BYTES,
        ..call.ask(turn, document)
    };
    let sent = call.http().send(request);
    let answer = match select(sent, turn.run_outside.sleep(patience.head_ms)).await {
        Either::Left((answer, _)) => answer.map_err(|error| Failure::unanswered(call, error))?,
        Either::Right(_) => return Err(Failure::slow(name, patience.head_ms)),
    };
    if !answer.is_success() {
        return Err(refused(call, turn, answer).await);
    }
    let framing = framing_of(&answer).map_err(|problem| Failure::wrong(name, &problem))?;
    let reading = Reading { name, turn, patience, frames: Frames::new(framing), saying };
    reading.read(answer.body).await
}

/// An answer that is being read.
struct Reading<'a, 's> {
    name: &'a str,
    turn: &'a Turn,
    patience: Patience,
    frames: Frames,
    saying: &'a mut Saying<'s>,
}

impl Reading<'_, '_> {
    async fn read(mut self, mut body: HttpBody) -> Result<(), Failure> {
        let mut heard = self.turn.now();
        loop {
            // After the ending verb, the connection may stay open only for `END_GRACE_MS`.
            let has_ended = self.saying.has_ended();
            let limit_ms = if has_ended { END_GRACE_MS } else { self.patience.idle_ms };
            let left_ms = limit_ms.saturating_sub(self.turn.now().millis_since(heard));
            let wait_ms = self.saying.due_ms().map_or(left_ms, |due_ms| due_ms.min(left_ms));
            match select(Box::pin(body.next()), self.turn.run_outside.sleep(wait_ms)).await {
                Either::Left((Some(Ok(piece)), _)) => {
                    if !has_ended {
                        heard = self.turn.now();
                    }
                    self.hear(&piece)?;
                }
                Either::Left((None, _)) => {
                    self.finish()?;
                    break;
                }
                // The connection broke after the verb that ends the answer, so nothing is missing.
                Either::Left((Some(Err(_)), _)) if has_ended => break,
                Either::Left((Some(Err(error)), _)) => {
                    return Err(Failure::broken(self.name, error));
                }
                Either::Right(_) if wait_ms < left_ms => self.saying.say().map_err(Failure::own)?,
                Either::Right(_) if has_ended => break,
                Either::Right(_) => return Err(Failure::stalled(self.name, limit_ms)),
            }
        }
        self.saying.close().map_err(Failure::own)
    }

    /// Reads the verbs in a piece of the body.
    fn hear(&mut self, piece: &[u8]) -> Result<(), Failure> {
        self.frames.push(piece).map_err(|problem| self.wrong(&problem))?;
        while let Some(frame) = self.frames.pop().map_err(|problem| self.wrong(&problem))? {
            self.take(frame)?;
        }
        Ok(())
    }

    /// Reads the rest of the body when the body has ended.
    fn finish(&mut self) -> Result<(), Failure> {
        while let Some(frame) = self.frames.finish().map_err(|problem| self.wrong(&problem))? {
            self.take(frame)?;
        }
        if self.saying.has_ended() { Ok(()) } else { Err(self.wrong(NO_END)) }
    }

    fn take(&mut self, frame: Frame) -> Result<(), Failure> {
        let Frame { place, value } = frame;
        let name = self.name;
        let told = |problem: &str| Failure::wrong(name, &format!("{place}: {problem}"));
        let verb = Verb::read(value).map_err(|problem| told(&problem))?;
        self.saying.take(verb).map_err(|error| told(&error.0))
    }

    fn wrong(&self, problem: &str) -> Failure {
        Failure::wrong(self.name, problem)
    }
}

/// The framing of an answer, by its content type.
///
/// # Errors
///
/// The reason why the content type is not accepted.
fn framing_of(answer: &HttpAnswer) -> Result<Framing, String> {
    let wanted = "it must be application/json, text/event-stream or application/x-ndjson";
    let Some(content_type) = answer.header("content-type") else {
        return Err(format!("it has no content-type; {wanted}"));
    };
    Framing::of(content_type)
        .ok_or_else(|| format!("its content-type is {}; {wanted}", short(content_type)))
}

/// The failure for an answer with an error status.
async fn refused(call: &Call, turn: &Turn, mut answer: HttpAnswer) -> Failure {
    let patience = turn.run_outside.sleep(ERROR_MS);
    let begins = match select(Box::pin(beginning(&mut answer.body)), patience).await {
        Either::Left((begins, _)) => begins,
        Either::Right(_) => String::new(),
    };
    Failure::status(call, &answer, &begins, turn.now())
}

const NO_END: &str = "it has no end; one of complete, fail, reject, input_required, auth_required and reply must be its last verb";

/// The longest time for which the connection may stay open after the ending verb, in milliseconds.
const END_GRACE_MS: u64 = 1_000;

/// The timeout for reading the text of an error answer, in milliseconds.
const ERROR_MS: u64 = 2_000;

/// The largest answer, in bytes. The limits of the task bound the stored size.
const MAX_ANSWER_BYTES: usize = 64 * 1024 * 1024;
