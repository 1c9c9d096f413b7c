//! Operators: callers who act on the tasks of all callers of an agent, if the request has the header `Act-As`.

use super::{Caller, OwnerId, Owners};
use a2a::Operation;
use a2a::binding::http::OWS;
use a2a::binding::percent::decode;
use a2a::error::{Error, Refusal};
use a2a_agents::access::Access;

/// The content of the header `Act-As`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActAs {
    /// The owners whose tasks ListTasks and ListWebhooks list, or whose task is named by an id that the client has chosen. All
    /// owners, if the header names no owner.
    pub owners: Owners,
}

impl ActAs {
    /// The header, in lower case.
    pub const HEADER: &'static str = a2a_agents::access::ACT_AS;

    /// Reads the header: `operator`, or `operator; owner=key%3Abilling`.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParams`] for anything else.
    pub fn read(header: &str) -> Result<Self, Error> {
        let unknown = || {
            Error::invalid("Act-As", "must be operator, or operator; owner=<owner>, as key:billing")
        };
        let (role, parameters) = match header.split_once(';') {
            Some((role, parameters)) => (role, Some(parameters)),
            None => (header, None),
        };
        if role.trim_matches(OWS) != "operator" {
            return Err(unknown());
        }
        let owner = parameters.map(|parameters| {
            let owner = parameters.trim_matches(OWS).strip_prefix("owner=").map(decode);
            owner.filter(|owner| !owner.is_empty()).map(OwnerId::new).ok_or_else(unknown)
        });
        Ok(Self { owners: owner.transpose()?.map_or(Owners::All, Owners::One) })
    }

    /// Checks that a caller may carry out this operation as an operator.
    ///
    /// # Errors
    ///
    /// [`Error::PermissionDenied`] without the permission, and for an operation that only the owner may carry out.
    pub fn check(
        &self,
        access: Option<&Access>,
        caller: &Caller,
        operation: Operation,
    ) -> Result<(), Error> {
        self.check_permission(access, caller)?;
        if !operation.is_for_operators() {
            return Err(not_for_operators());
        }
        Ok(())
    }

    /// Checks that a caller may act as an operator.
    ///
    /// # Errors
    ///
    /// [`Error::PermissionDenied`] without the permission.
    pub fn check_permission(&self, access: Option<&Access>, caller: &Caller) -> Result<(), Error> {
        let permission = access.map(|access| access.operator.as_str()).unwrap_or_default();
        if caller.is_anonymous() || permission.is_empty() || !caller.may(permission) {
            return Err(denied(format!("acting as an operator needs the permission {permission}")));
        }
        Ok(())
    }

    /// Checks that an operation accepts this header, with or without a named owner. `is_chosen` is true if the operation concerns
    /// a task whose id its client has chosen; clients of several callers may choose the same id.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParams`] otherwise.
    pub fn check_owner(&self, operation: Operation, is_chosen: bool) -> Result<(), Error> {
        let description = match (operation, is_chosen, &self.owners) {
            (Operation::ListTasks | Operation::ListWebhooks, _, _)
            | (_, true, Owners::One(_))
            | (_, false, Owners::All) => return Ok(()),
            (_, true, Owners::All) => {
                "must name the owner of a task whose id its client has chosen, as operator; owner=key:billing"
            }
            (_, false, Owners::One(_)) => {
                "takes an owner for ListTasks, ListWebhooks and for tasks whose ids their clients have chosen alone"
            }
        };
        Err(Error::invalid("Act-As", description))
    }
}

/// The refusal of an operation that only the owner of a task may carry out.
pub fn not_for_operators() -> Error {
    denied(NOT_FOR_OPERATORS.to_owned())
}

fn denied(message: String) -> Error {
    Error::PermissionDenied(Box::new(Refusal { message, challenges: Vec::new() }))
}

const NOT_FOR_OPERATORS: &str = "an operator may get, list, follow, cancel and delete tasks, see their timelines, list webhooks and deliveries, \
    redeliver notifications and test webhooks; for anything else, leave the header Act-As out";

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: ActAs = ActAs { owners: Owners::All };

    fn of_owner(name: &str) -> ActAs {
        ActAs { owners: Owners::One(OwnerId::new(name)) }
    }

    fn operator() -> Caller {
        let permissions = vec!["read".to_owned(), "operator".to_owned()];
        Caller { permissions, ..Caller::new("key:ops") }
    }

    #[test]
    fn the_header_names_the_role_and_an_owner() {
        for (header, read) in [
            ("operator", ALL),
            (" operator ", ALL),
            ("operator; owner=key:billing", of_owner("key:billing")),
            ("operator;owner=%40jwt%3Ateam a", of_owner("@jwt:team a")),
        ] {
            assert_eq!(ActAs::read(header), Ok(read), "{header}");
        }
        for header in [
            "",
            "Operator",
            "owner",
            "operator, operator",
            "operator;",
            "operator; owner=",
            "operator; user=x",
            "key:billing",
        ] {
            let refused = ActAs::read(header).unwrap_err().to_string();
            assert!(refused.contains("Act-As must be operator"), "{header}: {refused}");
        }
    }

    #[test]
    fn only_a_known_caller_with_the_permission_of_the_file_is_an_operator() {
        let access = |operator: &str| Access { operator: operator.to_owned(), ..Access::default() };
        let check = |access: Option<&Access>, caller: &Caller| {
            ALL.check(access, caller, Operation::GetTask)
        };
        assert_eq!(check(Some(&access("operator")), &operator()), Ok(()));
        let nobody = Caller { id: Caller::anonymous().id, ..operator() };
        let lacking = Caller::new("key:billing");
        let empty = Caller { permissions: vec![String::new()], ..Caller::new("key:odd") };
        for (access, caller) in [
            (Some(access("admin")), operator()),
            (Some(access("operator")), nobody),
            (Some(access("operator")), lacking),
            (Some(access("")), empty),
            (None, operator()),
        ] {
            let refused = check(access.as_ref(), &caller);
            assert!(matches!(refused, Err(Error::PermissionDenied(_))), "{access:?} {refused:?}");
        }
    }

    #[test]
    fn operators_neither_speak_for_owners_nor_see_or_change_their_secrets() {
        let access = Access::default();
        for (operation, is_allowed) in [
            (Operation::GetTask, true),
            (Operation::ListTasks, true),
            (Operation::CancelTask, true),
            (Operation::SubscribeToTask, true),
            (Operation::ListTaskPushNotificationConfigs, true),
            (Operation::ListTaskPushNotificationDeliveries, true),
            (Operation::RedeliverTaskPushNotifications, true),
            (Operation::TestTaskPushNotificationConfig, true),
            (Operation::VerifyTaskPushNotificationSignature, true),
            (Operation::GetTaskTimeline, true),
            (Operation::DeleteTask, true),
            (Operation::ListWebhooks, true),
            (Operation::DeleteContext, false),
            (Operation::SendMessage, false),
            (Operation::SendStreamingMessage, false),
            (Operation::CreateTaskPushNotificationConfig, false),
            (Operation::GetTaskPushNotificationConfig, false),
            (Operation::DeleteTaskPushNotificationConfig, false),
            (Operation::GetExtendedAgentCard, false),
        ] {
            let checked = ALL.check(Some(&access), &operator(), operation);
            assert_eq!(checked.is_ok(), is_allowed, "{operation:?}");
        }
    }

    #[test]
    fn an_owner_is_named_for_listings_and_for_ids_that_several_callers_may_have_chosen() {
        for (operation, is_chosen, without, with) in [
            (Operation::ListTasks, false, true, true),
            (Operation::ListWebhooks, false, true, true),
            (Operation::GetTask, false, true, false),
            (Operation::GetTask, true, false, true),
            (Operation::CancelTask, true, false, true),
        ] {
            let taken =
                [ALL, of_owner("x")].map(|act_as| act_as.check_owner(operation, is_chosen).is_ok());
            assert_eq!(taken, [without, with], "{operation:?} {is_chosen}");
        }
    }
}
