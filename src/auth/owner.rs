//! The owners of tasks, and the owners that a query covers.

/// The owner of a task: the id of the caller who began it, for example `key:billing`, or the group of that caller, for
/// example `@jwt:team-a`. No task belongs to the owner with the empty name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerId(String);

impl OwnerId {
    /// An owner by its name.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The name, as stored in the tables of D1.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The owners whose tasks a query covers: all of them only if an operator requests it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owners {
    /// Only this owner.
    One(OwnerId),
    /// Every owner, for an operator.
    All,
}

impl Owners {
    /// The owner, if the query covers the tasks of one.
    pub fn one(&self) -> Option<&OwnerId> {
        match self {
            Self::One(owner) => Some(owner),
            Self::All => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_an_owner_stands_for_all() {
        for name in ["key:billing", ""] {
            let owners = Owners::One(OwnerId::new(name));
            assert_eq!(owners.one().map(OwnerId::as_str), Some(name));
            assert_ne!(owners, Owners::All);
        }
        assert_eq!(Owners::All.one(), None);
    }
}
