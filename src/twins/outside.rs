//! Secrets and variables in a map.

use std::collections::BTreeMap;

use crate::port::{Secrets, Variables};
use a2a::model::Secret;

impl Secrets for BTreeMap<String, Secret> {
    fn secret(&self, name: &str) -> Option<Secret> {
        self.get(name).cloned()
    }
}

impl Variables for BTreeMap<String, String> {
    fn variable(&self, name: &str) -> Option<String> {
        self.get(name).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::{Outside, Severity};
    use crate::twins::MemoryPlatform;
    use a2a_agents::{NotSet, Values};
    use std::rc::Rc;

    #[test]
    fn what_is_not_set_or_empty_is_missing_and_operators_are_told() {
        let platform = MemoryPlatform::default();
        let secrets = [("KEY", "k"), ("EMPTY", ""), ("BLANK", " \n"), ("BOTH", "secret")];
        let variables = [("PLACE", "p"), ("EMPTY", "filled"), ("BOTH", "variable")];
        let secret = |(name, value): (&str, &str)| (name.to_owned(), Secret::new(value));
        let variable = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let outside = Outside {
            secrets: Rc::new(BTreeMap::from(secrets.map(secret))),
            variables: Rc::new(BTreeMap::from(variables.map(variable))),
            ..platform.outside()
        };
        let outside = outside.for_agent("demo");
        assert_eq!(outside.secret("KEY"), Ok(Secret::new("k")));
        assert_eq!(outside.variable("PLACE"), Ok("p".to_owned()));
        for (name, value) in [("KEY", "k"), ("PLACE", "p"), ("EMPTY", "filled"), ("BOTH", "secret")]
        {
            assert_eq!(outside.value(name), Ok(Secret::new(value)), "{name}");
        }
        assert!(platform.errors().is_empty());
        for name in ["EMPTY", "BLANK", "NONE", "PLACE"] {
            assert_eq!(outside.secret(name), Err(NotSet::secret(name)));
        }
        assert_eq!(outside.variable("KEY"), Err(NotSet::variable("KEY")));
        assert_eq!(outside.value("BLANK"), Err(NotSet::value("BLANK")));
        let told = platform.observed(Severity::Error);
        assert_eq!(told.len(), 6);
        assert_eq!(
            told[5],
            "the agent demo: the secret or variable BLANK is not set in this deployment, or is empty"
        );
    }
}
