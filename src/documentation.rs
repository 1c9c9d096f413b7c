//! The Rust of README and of `docs/`, which `cargo test --doc` compiles and runs. The end-to-end step `docs-blocks` checks
//! that every page with Rust is named here.

macro_rules! pages {
    ($($name:ident $path:literal)*) => {
        $(#[doc = include_str!($path)] struct $name;)*
    };
}

pages! {
    Readme "../README.md"
    CallingAgents "../docs/calling-agents.md"
    Executors "../docs/executors.md"
    FirstAgent "../docs/first-agent.md"
    ForAssistants "../docs/for-assistants.md"
    Secrets "../docs/secrets.md"
    Tools "../docs/tools.md"
    Webhooks "../docs/webhooks.md"
}
