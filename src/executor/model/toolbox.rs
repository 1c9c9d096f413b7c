//! Everything that a model may call in a turn, under names that models accept.

use std::rc::Rc;

use super::callable::Callable;
use chat::ToolSpec;

/// Everything that a model may call in a turn.
#[derive(Default)]
pub(super) struct Toolbox {
    specs: Vec<ToolSpec>,
    callables: Vec<Rc<dyn Callable>>,
}

impl Toolbox {
    /// Adds a callable. Its name is changed so that models accept it and no other callable has it.
    pub(super) fn add(&mut self, callable: Rc<dyn Callable>) {
        let spec = callable.spec();
        let name = self.free(&model_name(&spec.name));
        self.specs.push(ToolSpec { name, ..spec });
        self.callables.push(callable);
    }

    /// The name, description and parameters of each callable, for the model.
    pub(super) fn specs(&self) -> Vec<ToolSpec> {
        self.specs.clone()
    }

    /// The callable that has this name in requests.
    pub(super) fn find(&self, name: &str) -> Option<&dyn Callable> {
        let at = self.specs.iter().position(|spec| spec.name == name)?;
        self.callables.get(at).map(AsRef::as_ref)
    }

    /// The list of names, for an error after a call with an unknown name.
    pub(super) fn names(&self) -> String {
        let names: Vec<&str> = self.specs.iter().map(|spec| spec.name.as_str()).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }

    fn free(&self, name: &str) -> String {
        let is_free = |name: &str| self.specs.iter().all(|spec| spec.name != name);
        let mut found = name.to_owned();
        let mut number = 2_usize;
        while !is_free(&found) {
            let suffix = format!("_{number}");
            let kept: String = name.chars().take(MAX_NAME - suffix.len()).collect();
            found = kept + &suffix;
            number += 1;
        }
        found
    }
}

/// A name in the characters that models accept: letters, digits, `_` and `-`, at most 64.
fn model_name(name: &str) -> String {
    let plain = |letter: char| match letter {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => letter,
        _ => '_',
    };
    let name: String = name.chars().take(MAX_NAME).map(plain).collect();
    if name.is_empty() { "tool".to_owned() } else { name }
}

/// The longest name of a tool that models accept.
const MAX_NAME: usize = 64;

#[cfg(test)]
mod tests {
    use futures_util::future::ready;
    use serde_json::{Value, json};

    use super::super::callable::{ModelCall, Said, Saying};
    use super::*;

    struct Named(String);

    impl Callable for Named {
        fn spec(&self) -> ToolSpec {
            let parameters = json!({"type": "object"});
            ToolSpec { name: self.0.clone(), description: String::new(), parameters }
        }

        fn call<'a>(&'a self, _: &'a ModelCall<'a>) -> Saying<'a> {
            Box::pin(ready(Ok(Said::Result(self.0.clone()))))
        }

        fn answered<'a>(&'a self, call: &'a ModelCall<'a>, _: &'a Value) -> Saying<'a> {
            self.call(call)
        }
    }

    #[test]
    fn every_name_is_one_that_models_take_and_unique() {
        let mut toolbox = Toolbox::default();
        let long = "é".repeat(100);
        for name in
            ["search", "files.search", "files/search", "search", "", long.as_str(), long.as_str()]
        {
            toolbox.add(Rc::new(Named(name.to_owned())));
        }
        let long = "_".repeat(64);
        let second = format!("{}_2", "_".repeat(62));
        let names: Vec<String> = toolbox.specs().into_iter().map(|spec| spec.name).collect();
        assert_eq!(
            names,
            ["search", "files_search", "files_search_2", "search_2", "tool", &long, &second]
        );
        assert_eq!(toolbox.find("files_search_2").unwrap().spec().name, "files/search");
        assert!(toolbox.find("files/search").is_none());
    }
}
