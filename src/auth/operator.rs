//! Operators: callers who act on the tasks of all callers of an agent, if they ask for it.

use super::Caller;
use a2a::Operation;
use a2a::binding::percent::decode;
use a2a::error::{Error, Refusal};
use a2a_agents::access::Access;

/// What the header `Act-As` asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActAs {
    /// Whose tasks ListTasks is to show; those of all callers without it.
    pub owner: Option<String>,
}

impl ActAs {
    /// The header, in lower case.
    pub const HEADER: &'static str = "act-as";

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
        if role.trim() != "operator" {
            return Err(unknown());
        }
        let owner = parameters.map(|parameters| {
            let owner = parameters.trim().strip_prefix("owner=").map(decode);
            owner.filter(|owner| !owner.is_empty()).ok_or_else(unknown)
        });
        Ok(Self { owner: owner.transpose()? })
    }

    /// Whether a caller may act as an operator by this operation.
    ///
    /// # Errors
    ///
    /// [`Error::PermissionDenied`] without the permission, and for an operation that is its owner's alone;
    /// [`Error::InvalidParams`] for an owner where no tasks are listed.
    pub fn check(
        &self,
        access: &Access,
        caller: &Caller,
        operation: Operation,
    ) -> Result<(), Error> {
        let denied = |message: String| {
            Err(Error::PermissionDenied(Box::new(Refusal { message, challenges: Vec::new() })))
        };
        let permission = &access.operator;
        if caller.is_anonymous() || permission.is_empty() || !caller.may(permission) {
            return denied(format!("acting as an operator needs the permission {permission}"));
        }
        if !operation.is_for_operators() {
            return denied("an operator reads, lists, follows and cancels tasks, lists webhooks and deliveries, and \
                           redelivers notifications; for anything else leave the header Act-As out".to_owned());
        }
        if self.owner.is_some() && operation != Operation::ListTasks {
            return Err(Error::invalid("Act-As", "takes an owner for ListTasks alone"));
        }
        Ok(())
    }
}
