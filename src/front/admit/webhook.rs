//! The checks of a webhook that need no task.

use a2a::Call;
use a2a::error::Error;
use a2a::model::FieldViolation;

/// Checks the target of the webhook in a call, if the call contains one: `check_url` checks the URL. The members of the
/// webhook were checked when the call was read.
///
/// # Errors
///
/// [`Error::WebhookRefused`] with the path of its `url`.
pub(super) fn check_webhook(
    call: &Call,
    check_url: impl Fn(&str) -> Result<(), String>,
) -> Result<(), Error> {
    let Some((path, url)) = call.webhook_url() else { return Ok(()) };
    let checked = check_url(url);
    checked
        .map_err(|reason| Error::WebhookRefused(FieldViolation::new(format!("{path}url"), reason)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use a2a::Operation;

    fn refused(operation: Operation, params: serde_json::Value) -> Option<Error> {
        let call = operation.decode(params).expect("a call that can be read");
        let is_good = |url: &str| url.starts_with("https://");
        check_webhook(&call, |url| is_good(url).then_some(()).ok_or("must be good".to_owned()))
            .err()
    }

    fn creating(url: &str) -> Option<Error> {
        refused(Operation::CreateTaskPushNotificationConfig, json!({"taskId": "t", "url": url}))
    }

    #[test]
    fn where_a_webhook_leads_is_checked_wherever_it_stands() {
        assert_eq!(creating("https://example.com/hook"), None);
        for (error, field) in [
            (creating("ftp://example.com"), "url"),
            (
                refused(
                    Operation::SendMessage,
                    json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]},
                        "configuration": {"taskPushNotificationConfig": {"url": "example.com"}}}),
                ),
                "configuration.taskPushNotificationConfig.url",
            ),
        ] {
            let Some(Error::WebhookRefused(violation)) = error else {
                panic!("{field}: {error:?}")
            };
            assert_eq!(violation.field, field);
        }
        assert_eq!(refused(Operation::GetTask, json!({"id": "t"})), None);
    }
}
