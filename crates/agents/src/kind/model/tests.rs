use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;
use crate::checker::{AgentDefinition, check_all};
use crate::files::tests::Given;
use crate::{CheckedAgent, Misfit, Table};

const GOOD: &str = r#"
    name = "A"
    description = "B"
    version = "1"
    default = true
    [[skills]]
    id = "help"
    [executor]
    kind = "model"
    [executor.model]
    model = "gpt-5-mini"
    api_key = "${OPENAI_API_KEY}"
"#;

/// Says.
#[crate::tool::tool]
fn say(text: String) -> String {
    text
}

fn agent(text: &str) -> AgentDefinition {
    let (slug, file) = ("x".to_owned(), "agents/x.toml".to_owned());
    AgentDefinition { slug, file, ..toml::from_str(text).unwrap() }
}

fn problems(text: &str) -> Vec<String> {
    let say = say();
    let problems = check_all("agents", &[agent(text)], &[&say]);
    problems.iter().map(ToString::to_string).collect()
}

fn settings(table: Value) -> Result<ModelSettings, Misfit> {
    ModelSettings::of(&Table::of(&table).unwrap())
}

#[test]
fn a_good_file_has_no_problems() {
    for more in [
        "",
        "base_url = 'https://models.example/v1'\nheaders = { x-title = 'A' }",
        "base_url = '${MODELS}'",
        "tools = ['say']\nmcp = ['files', 'github:search_*']\nagents = ['weather']\ntemperature = 0.2",
        "parameters = { top_p = 0.9 }\noutput_schema = { type = 'object' }",
        "price = { input = 0.25, output = 2 }\nlimits = { rounds = 3, cost = 0.5, caller_cost_per_day = 2 }",
        "instructions = 'Be brief.'\nask_user = true\nevent_interval_ms = 0\ncontext_tokens = 8000\ntakes = []",
        "[[tools]]\nname = 'look'\ndescription = 'Looks.'\nurl = 'https://a.example'",
    ] {
        assert_eq!(problems(&format!("{GOOD}{more}")), Vec::<String>::new(), "{more}");
    }
    let ai = GOOD
        .replace("api_key = \"${OPENAI_API_KEY}\"", "provider = 'workers-ai'\nbinding = 'MODELS'");
    assert_eq!(problems(&ai), Vec::<String>::new());
}

#[test]
fn a_server_of_the_same_machine_and_the_scripted_model_are_for_development() {
    let other = GOOD.replace("name = \"A\"", "name = \"D\"");
    for url in ["dev:model", "http://localhost:11434/v1", "http://127.0.0.1/v1"] {
        let file = format!("{GOOD}base_url = '{url}'");
        assert_eq!(problems(&file).len(), 1, "{url}");
        let file = file.replace("default = true", "development = true");
        let agents = [agent(&file), agent(&other)];
        let found = check_all("agents", &agents, &[]);
        assert_eq!(found, [], "{url}");
    }
}

#[test]
fn every_problem_names_the_key_and_the_fix() {
    let at = |key: &str| format!("agents/x.toml: `executor.model.{key}`");
    for (from, to, expected) in [
        ("gpt-5-mini", " ", at("model") + " must be the name of the model"),
        ("model = \"gpt-5-mini\"", "", at("model") + " is missing"),
        ("${OPENAI_API_KEY}", "sk-123", at("api_key") + " must name a secret"),
        ("${OPENAI_API_KEY}", "${key}", at("api_key") + " holds ${key}"),
        ("api_key = \"${OPENAI_API_KEY}\"", "", at("base_url") + " is the API of OpenAI"),
    ] {
        let found = problems(&GOOD.replace(from, to));
        assert!(
            found.iter().any(|problem| problem.starts_with(&expected)),
            "{expected}: {found:?}"
        );
    }
    for (more, expected) in [
        (
            "base_url = 'http://models.example'",
            at("base_url") + " is \"http://models.example\", but must begin with",
        ),
        (
            "base_url = 'http://localhost.example'",
            at("base_url") + " is \"http://localhost.example\", but",
        ),
        ("base_url = 'http://localhost'", at("base_url") + " begins with http://"),
        ("base_url = 'dev:model'", at("base_url") + " is the scripted model of development"),
        ("provider = 'gemini'", at("provider") + " must be one of openai, workers-ai"),
        ("provider = 'workers-ai'", at("api_key") + " stands beside `provider = \"workers-ai\"`"),
        ("binding = 'AI'", at("binding") + " belongs to"),
        ("headers = { 'a b' = 'c' }", at("headers.a b") + " \"a b\" is no name of a header"),
        ("headers = { a = 1 }", at("headers.a") + " must be a text"),
        (
            "temprature = 1",
            at("temprature")
                + " is no key of this table, did you mean `temperature`?; there are: model, provider",
        ),
        (
            "parameters = { stream = true }",
            at("parameters.stream") + " is written by a2a-edge itself",
        ),
        ("parameters = { tools = [] }", at("parameters.tools") + " would overwrite the tools"),
        (
            "temperature = 1\nparameters = { temperature = 0 }",
            at("parameters.temperature") + " stands beside",
        ),
        ("temperature = 'hot'", at("temperature") + " must be a number"),
        ("output_schema = 'x'", at("output_schema") + " must be a table"),
        ("output_schema = { typ = 'object' }", at("output_schema") + " unknown keyword `typ`"),
        (
            "output_schema = {}\noutput_schema_file = 'a.json'",
            at("output_schema_file") + " stands beside",
        ),
        (
            "instructions = 'a'\ninstructions_file = 'a.md'",
            at("instructions_file") + " stands beside",
        ),
        (
            "instructions_file = 'a.md'",
            at("instructions_file") + " names a file, which the checker reads",
        ),
        ("price = { input = 1 }", at("price.output") + " is missing"),
        ("limits = { cost = 1 }", at("limits.cost") + " needs to know what tokens cost"),
        (
            "limits = { caller_cost_per_day = 1 }",
            at("limits.caller_cost_per_day") + " needs to know",
        ),
        (
            "limits = { round = 1 }",
            at("limits.round") + " is no key of this table, did you mean `rounds`?; there are: ",
        ),
        ("limits = { rounds = 0 }", at("limits.rounds") + " must be a whole number from 1 to 1000"),
        (
            "tools = ['sya']",
            at("tools[0]") + " there is no tool \"sya\", did you mean \"say\"?; there are: say",
        ),
        ("tools = ['say', 'say']", at("tools[1]") + " \"say\" stands twice"),
        ("mcp = ['files', 'files']", at("mcp[1]") + " \"files\" stands twice"),
        ("mcp = [':a']", at("mcp[0]") + " \":a\" must be the name of an MCP server"),
        ("agents = ['a', 'a']", at("agents[1]") + " \"a\" stands twice"),
        ("agents = [5]", at("agents[0]") + " must be a text"),
        ("takes = ['png']", at("takes[0]") + " \"png\" is no media type"),
        (
            "[executor.run]\nrecovery = 'fail'",
            "agents/x.toml: `executor.run.recovery` must be \"resume\"".to_owned(),
        ),
    ] {
        let found = problems(&format!("{GOOD}{more}"));
        assert!(
            found.iter().any(|problem| problem.starts_with(&expected)),
            "{expected}: {found:?}"
        );
    }
    let found = problems(&GOOD.replace("[[skills]]\n    id = \"help\"", ""));
    assert!(
        found[0].starts_with("agents/x.toml: `skills` an agent of kind \"model\" needs"),
        "{found:?}"
    );
    let other = agent(&GOOD.replace("[executor.model]", "[executor.script]"));
    assert_eq!(other.executor.unreadable[0].key, "executor.script");
}

#[test]
fn what_the_worker_reads_is_what_the_file_says() {
    let file = format!(
        "{GOOD}tools = ['say']\ntemperature = 0.5\nparameters = {{ top_p = 1 }}\nagents = ['b']\n\
         price = {{ input = 1, output = 2.5 }}\nlimits = {{ tokens = 5 }}"
    );
    let say = say();
    let embedded = CheckedAgent::new(agent(&file), &[&say], &[]).unwrap();
    assert_eq!(embedded.executor.kind, "model");
    let needs: Vec<_> =
        embedded.needs.iter().map(|need| (need.name.as_str(), need.by.clone())).collect();
    assert_eq!(needs, [("OPENAI_API_KEY", vec!["executor model".to_owned()])]);
    let read = ModelSettings::of(&embedded.executor.table).unwrap();
    assert_eq!(
        (read.model.as_str(), read.base_url.as_str()),
        ("gpt-5-mini", "https://api.openai.com/v1")
    );
    assert_eq!(read.parameters, *json!({"top_p": 1, "temperature": 0.5}).as_object().unwrap());
    assert!(read.ask_user, "a coordinator hands questions on");
    assert_eq!(read.price, Some(Price { input: 1.0, cached_input: 1.0, output: 2.5 }));
    assert_eq!((read.limits.rounds, read.limits.tokens), (10, Some(5)));
    assert_eq!(read.takes, ["image/*", "application/pdf"]);
    let bare = settings(json!({"model": "m"})).unwrap();
    assert_eq!((bare.ask_user, bare.context_tokens, bare.event_interval_ms), (false, 32_000, 100));
    let misfit = settings(json!({"model": "m", "limits": {"rounds": "x"}})).unwrap_err();
    assert_eq!(
        misfit.0,
        "`executor.model.limits.rounds` must be a whole number from 1 to 1000, got \"x\""
    );
}

#[test]
fn files_stand_beside_the_agent_file_and_are_read_once() {
    let text = |path, text: &str| (path, text.to_owned());
    let files = Given(BTreeMap::from([
        text("agents/support.md", "Be kind."),
        text("agents/out.json", r#"{"type": "object"}"#),
        text("agents/bad.json", "{"),
    ]));
    let read = |more: &str| {
        let mut executor = agent(&format!("{GOOD}{more}")).executor;
        let read = executor.read_files(&files, "agents/x.toml");
        (read, ModelSettings::of(&executor.written_table().unwrap()).unwrap())
    };
    let (result, settings) =
        read("instructions_file = 'support.md'\noutput_schema_file = 'out.json'");
    let (missing, _) = read("instructions_file = 'none.md'\noutput_schema_file = 'bad.json'");
    assert_eq!(result, []);
    assert_eq!(settings.instructions, "Be kind.");
    assert_eq!(settings.output_schema, Some(json!({"type": "object"})));
    assert_eq!(missing[0].key, "executor.model.instructions_file");
    assert!(missing[0].text.contains("agents/none.md does not exist"), "{missing:?}");
    assert!(missing[1].text.contains("agents/bad.json is not JSON"), "{missing:?}");
}
