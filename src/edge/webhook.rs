//! Whether a webhook is taken, as far as its task has no say.

use crate::config::Settings;
use crate::error::Error;
use crate::operation::Call;

/// Checks the webhook that a call brings, if it brings one. Its members were checked when they were read;
/// this is about where it leads.
///
/// # Errors
///
/// [`Error::InvalidParams`] with the path of its `url`.
pub(super) fn check_config(call: &Call, settings: &Settings) -> Result<(), Error> {
    let Some((path, config)) = call.webhook() else { return Ok(()) };
    let checked = check_webhook_url(&config.url, settings);
    checked.map_err(|reason| Error::invalid(format!("{path}url"), reason))
}

fn check_webhook_url(url: &str, _settings: &Settings) -> Result<(), String> {
    let is_absolute = ["http://", "https://"].iter().any(|begin| url.starts_with(begin));
    is_absolute.then_some(()).ok_or_else(|| "must be an absolute http or https URL".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::operation::Operation;

    fn refused(operation: Operation, params: serde_json::Value) -> Option<Error> {
        let settings = Settings::read(|_| None).expect("the defaults are good");
        let call = operation.decode(params).expect("a call that can be read");
        check_config(&call, &settings).err()
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
            let Some(Error::InvalidParams(violations)) = error else {
                panic!("{field}: {error:?}")
            };
            assert_eq!(violations[0].field, field);
        }
        assert_eq!(refused(Operation::GetTask, json!({"id": "t"})), None);
    }
}
