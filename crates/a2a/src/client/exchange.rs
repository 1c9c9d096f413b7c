//! One call: the request, its retries, and the answer.

use super::wire::Wire;
use super::{Answer, Client, ClientError};
use crate::call::Call;
use crate::http::HttpAnswer;

/// What a call says besides its parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallOptions {
    /// The header `Idempotency-Key`.
    pub idempotency_key: Option<String>,
    /// The header `Last-Event-ID` of a stream that goes on.
    pub last_event_id: Option<String>,
}

impl Client {
    /// Makes a call, and reads its answer.
    pub(super) async fn exchange(
        &self,
        call: &Call,
        options: &CallOptions,
    ) -> Result<Answer, ClientError> {
        let (wire, answer) = self.open(call, options).await?;
        wire.answer(call, answer.text().await?)
    }

    /// Makes a call, and gives the answer when its head is there.
    pub(super) async fn open(
        &self,
        call: &Call,
        options: &CallOptions,
    ) -> Result<(Wire, HttpAnswer), ClientError> {
        let connection = self.connect().await?;
        let wire = Wire::new(&connection);
        let make = || wire.request(call, options);
        let answer = self.dispatch(Some(call.operation()), &make).await?;
        Ok((wire, answer))
    }
}
