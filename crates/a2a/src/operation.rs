//! The table of operations: each row contains everything that depends only on the operation.

use crate::error::Error;
use crate::model::AgentCapabilities;

/// The capability that an agent's card must declare for an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    Nothing,
    Streaming,
    Webhooks,
    ExtendedCard,
}

/// The older versions in which a method name exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Since {
    /// Only 0.3.
    V0_3,
    /// Only the legacy family.
    Legacy,
    /// Both; the id of the task distinguishes them, see [`Spoken`](crate::dialect::Spoken).
    Both,
}

/// The row of an operation.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) needs: Needs,
    pub(crate) is_for_operators: bool,
    pub(crate) brings_message: bool,
    /// The JSON-RPC methods of the operation before 1.0.
    pub(crate) older: &'static [(&'static str, Since)],
}

macro_rules! operations {
    ($(
        $(#[$doc:meta])*
        $name:ident {
            needs: $needs:ident,
            operators: $operators:literal,
            message: $message:literal,
            older: [$($method:literal $since:ident),*] $(,)?
        }
    )*) => {
        /// The operations of A2A 1.0 (spec §3.1), six of the extension
        /// [`WEBHOOKS_EXTENSION`](crate::model::WEBHOOKS_EXTENSION), one of
        /// [`TIMELINE_EXTENSION`](crate::model::TIMELINE_EXTENSION), and two of
        /// [`DELETION_EXTENSION`](crate::model::DELETION_EXTENSION).
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Operation {
            $($(#[$doc])* $name,)*
        }

        impl Operation {
            /// All operations.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$name),*];

            pub(crate) const fn row(self) -> &'static Row {
                match self {
                    $(Self::$name => &Row {
                        name: stringify!($name),
                        needs: Needs::$needs,
                        is_for_operators: $operators,
                        brings_message: $message,
                        older: &[$(($method, Since::$since)),*],
                    },)*
                }
            }
        }
    };
}

operations! {
    /// SendMessage (§3.1.1).
    SendMessage {
        needs: Nothing,
        operators: false,
        message: true,
        older: ["message/send" V0_3, "tasks/send" Legacy],
    }
    /// SendStreamingMessage (§3.1.2).
    SendStreamingMessage {
        needs: Streaming,
        operators: false,
        message: true,
        older: ["message/stream" V0_3, "tasks/sendSubscribe" Legacy],
    }
    /// GetTask (§3.1.3).
    GetTask {
        needs: Nothing,
        operators: true,
        message: false,
        older: ["tasks/get" Both],
    }
    /// ListTasks (§3.1.4).
    ListTasks {
        needs: Nothing,
        operators: true,
        message: false,
        older: [],
    }
    /// CancelTask (§3.1.5).
    CancelTask {
        needs: Nothing,
        operators: true,
        message: false,
        older: ["tasks/cancel" Both],
    }
    /// SubscribeToTask (§3.1.6).
    SubscribeToTask {
        needs: Streaming,
        operators: true,
        message: false,
        older: ["tasks/resubscribe" Both],
    }
    /// CreateTaskPushNotificationConfig (§3.1.7).
    CreateTaskPushNotificationConfig {
        needs: Webhooks,
        operators: false,
        message: false,
        older: ["tasks/pushNotificationConfig/set" V0_3, "tasks/pushNotification/set" Legacy],
    }
    /// GetTaskPushNotificationConfig (§3.1.8).
    GetTaskPushNotificationConfig {
        needs: Webhooks,
        operators: false,
        message: false,
        older: ["tasks/pushNotificationConfig/get" V0_3, "tasks/pushNotification/get" Legacy],
    }
    /// ListTaskPushNotificationConfigs (§3.1.9).
    ListTaskPushNotificationConfigs {
        needs: Webhooks,
        operators: true,
        message: false,
        older: ["tasks/pushNotificationConfig/list" V0_3],
    }
    /// DeleteTaskPushNotificationConfig (§3.1.10).
    DeleteTaskPushNotificationConfig {
        needs: Webhooks,
        operators: false,
        message: false,
        older: ["tasks/pushNotificationConfig/delete" V0_3],
    }
    /// ListTaskPushNotificationDeliveries (extension).
    ListTaskPushNotificationDeliveries {
        needs: Webhooks,
        operators: true,
        message: false,
        older: [],
    }
    /// RedeliverTaskPushNotifications (extension).
    RedeliverTaskPushNotifications {
        needs: Webhooks,
        operators: true,
        message: false,
        older: [],
    }
    /// TestTaskPushNotificationConfig (extension).
    TestTaskPushNotificationConfig {
        needs: Webhooks,
        operators: true,
        message: false,
        older: [],
    }
    /// VerifyTaskPushNotificationSignature (extension).
    VerifyTaskPushNotificationSignature {
        needs: Webhooks,
        operators: true,
        message: false,
        older: [],
    }
    /// GetTaskTimeline (extension).
    GetTaskTimeline {
        needs: Nothing,
        operators: true,
        message: false,
        older: [],
    }
    /// DeleteTask (extension).
    DeleteTask {
        needs: Nothing,
        operators: true,
        message: false,
        older: [],
    }
    /// DeleteContext (extension; deletes the tasks of a context).
    DeleteContext {
        needs: Nothing,
        operators: false,
        message: false,
        older: [],
    }
    /// ListWebhooks (extension; lists the failing webhooks of all tasks).
    ListWebhooks {
        needs: Webhooks,
        operators: true,
        message: false,
        older: [],
    }
    /// GetExtendedAgentCard (§3.1.11).
    GetExtendedAgentCard {
        needs: ExtendedCard,
        operators: false,
        message: false,
        older: ["agent/getAuthenticatedExtendedCard" V0_3],
    }
}

impl Operation {
    /// The operation with this name, which is spelled as in the specification (spec §5.3).
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|operation| operation.name() == name)
    }

    /// The name of the operation, spelled as in the specification (spec §5.3).
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Whether an operator may carry out the operation on another caller's task. True for operations that read a task, end
    /// or delete it, or continue or test deliveries that its owner has registered; false for operations in the owner's name, and for those
    /// that return or change the owner's secrets.
    pub fn is_for_operators(self) -> bool {
        self.row().is_for_operators
    }

    /// Whether the operation sends a message to the agent.
    pub(crate) fn brings_message(self) -> bool {
        self.row().brings_message
    }

    /// Checks that an agent offers the operation, before the parameters are decoded.
    ///
    /// # Errors
    ///
    /// [`Error::UnsupportedOperation`] or [`Error::PushNotificationNotSupported`].
    pub fn check_offered(self, capabilities: &AgentCapabilities) -> Result<(), Error> {
        let is_offered = match self.row().needs {
            Needs::Nothing => true,
            Needs::Streaming => capabilities.streaming,
            Needs::ExtendedCard => capabilities.extended_agent_card,
            Needs::Webhooks => return check_webhooks_offered(capabilities),
        };
        if is_offered {
            return Ok(());
        }
        let name = self.name();
        let text = format!("{name} is not offered by this agent; see its card");
        Err(Error::UnsupportedOperation(text))
    }
}

/// Checks that an agent supports webhooks.
///
/// # Errors
///
/// [`Error::PushNotificationNotSupported`].
pub(crate) fn check_webhooks_offered(capabilities: &AgentCapabilities) -> Result<(), Error> {
    if capabilities.push_notifications {
        return Ok(());
    }
    Err(Error::PushNotificationNotSupported)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeline_and_a_deletion_need_nothing_to_be_declared() {
        let capabilities = AgentCapabilities::default();
        for (name, operation) in [
            ("GetTaskTimeline", Operation::GetTaskTimeline),
            ("DeleteTask", Operation::DeleteTask),
            ("DeleteContext", Operation::DeleteContext),
        ] {
            assert_eq!(operation.check_offered(&capabilities), Ok(()));
            assert_eq!(Operation::named(name), Some(operation));
        }
    }

    #[test]
    fn what_the_card_does_not_declare_is_refused() {
        let capabilities = AgentCapabilities { streaming: false, ..AgentCapabilities::default() };
        for (operation, code) in [
            (Operation::SendStreamingMessage, -32004),
            (Operation::SubscribeToTask, -32004),
            (Operation::GetExtendedAgentCard, -32004),
            (Operation::CreateTaskPushNotificationConfig, -32003),
            (Operation::GetTaskPushNotificationConfig, -32003),
            (Operation::ListTaskPushNotificationConfigs, -32003),
            (Operation::DeleteTaskPushNotificationConfig, -32003),
            (Operation::ListTaskPushNotificationDeliveries, -32003),
            (Operation::RedeliverTaskPushNotifications, -32003),
            (Operation::TestTaskPushNotificationConfig, -32003),
            (Operation::VerifyTaskPushNotificationSignature, -32003),
            (Operation::ListWebhooks, -32003),
        ] {
            let error = operation.check_offered(&capabilities).expect_err("not declared");
            assert_eq!(error.wire().code, code, "{operation:?}");
        }
    }
}
