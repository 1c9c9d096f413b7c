//! Checks agent files. Every problem contains the file, the key and the fix.

use super::definition::AgentDefinition;
use super::skills;
use crate::access::{self, is_same_scheme};
use crate::http_tool::problems_of;
use crate::tool::Tool;
use crate::{HttpToolDefinition, Problem, Slug};
use a2a::model::{
    AgentExtension, DELETION_EXTENSION, GENERATION_EXTENSION, TIMELINE_EXTENSION,
    WEBHOOKS_EXTENSION,
};

/// All problems of the agents of a folder; empty if the agents can be served.
pub(crate) fn check_all(
    folder: &str,
    agents: &[AgentDefinition],
    tools: &[&dyn Tool],
) -> Vec<Problem> {
    let mut problems: Vec<Problem> =
        agents.iter().flat_map(|agent| check_one(agent, tools)).collect();
    problems.extend(check_schemes(agents));
    let defaults: Vec<&AgentDefinition> = agents.iter().filter(|agent| agent.default).collect();
    match defaults.as_slice() {
        [_] => {}
        [] => {
            let text = "no agent answers at `/`; write `default = true` in one of the files";
            problems.push(Problem::at("", text).in_file(&format!("{folder}/")));
        }
        [first, others @ ..] => {
            for other in others {
                let fix = format!("is true in {} too; keep it in one of the two files", first.file);
                problems.push(Problem::at("default", fix).in_file(&other.file));
            }
        }
    }
    problems
}

fn check_one(agent: &AgentDefinition, tools: &[&dyn Tool]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut report = |key: &str, fix: String| problems.push(Problem::at(key, fix));
    if let Err(rule) = Slug::parse(&agent.slug) {
        report("", format!("the file name {rule}"));
    }
    for (key, value) in
        [("name", &agent.name), ("description", &agent.description), ("version", &agent.version)]
    {
        if value.trim().is_empty() {
            report(key, "must not be empty".to_owned());
        }
    }
    for (key, modes) in [("input_modes", &agent.input_modes), ("output_modes", &agent.output_modes)]
    {
        if modes.is_empty() {
            report(key, "needs at least one media type, as `text/plain`".to_owned());
        }
        for mode in modes.iter().filter(|mode| !mode.contains('/')) {
            report(key, format!("holds {mode:?}, which is no media type such as `text/plain`"));
        }
    }
    if agent.capabilities.extended_agent_card && agent.access.is_anonymous() {
        let fix = "is true, but callers need credentials for that card, and there are none; add a scheme to \
                   [access.schemes] or remove the line";
        report("capabilities.extended_agent_card", fix.to_owned());
    }
    problems.extend(agent.access.declaration_problems());
    problems.extend(check_extensions(&agent.capabilities.extensions));
    for (key, url) in
        [("documentation_url", &agent.documentation_url), ("icon_url", &agent.icon_url)]
    {
        if url
            .as_ref()
            .is_some_and(|url| !url.starts_with("https://") && !url.starts_with("http://"))
        {
            problems.push(Problem::at(key, "must be an absolute http or https URL"));
        }
    }
    problems.extend(agent.dialects.problems(&agent.access));
    problems.extend(agent.access.gate_problems());
    problems.extend(agent.retention.problems());
    problems.extend(agent.quota.problems());
    if agent.quota.cost_per_day.is_some() && agent.executor.has_unknown_cost() {
        let fix = "needs to know what tokens cost: add `price = { input = …, output = … }` to [executor.model], for a million tokens";
        problems.push(Problem::at("quota.cost_per_day", fix));
    }
    if agent.default && agent.development {
        let fix = "cannot be true for the default agent; it must always answer";
        problems.push(Problem::at("development", fix));
    }
    problems.extend(agent.executor.problems(&agent.context(tools)));
    problems.extend(check_own_tools(agent, tools));
    problems.extend(skills::problems_of(agent, tools));
    problems.extend(access::problems_of(&agent.access));
    problems.into_iter().map(|problem| problem.in_file(&agent.file)).collect()
}

/// Reports schemes that have the same name in several files and different settings.
fn check_schemes(agents: &[AgentDefinition]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, agent) in agents.iter().enumerate() {
        for (name, scheme) in &agent.access.schemes {
            let mut earlier = agents.iter().take(index).filter_map(|other| {
                let known = other.access.schemes.get(name)?;
                (!is_same_scheme(known, scheme)).then_some(other)
            });
            if let Some(other) = earlier.next() {
                let fix = format!(
                    "is another scheme than that of this name in {}: its kind, issuer or team, keys, or the secrets of a \
                     caller differ. Ids of callers begin with the name, so give one of the two another name",
                    other.file
                );
                let key = format!("access.schemes.{name}");
                problems.push(Problem::at(key, fix).in_file(&agent.file));
            }
        }
    }
    problems
}

/// The problems of the HTTP tools in an agent file.
fn check_own_tools(agent: &AgentDefinition, tools: &[&dyn Tool]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let takes_tools = agent.executor.offer().is_some();
    if !agent.tools.is_empty() && !takes_tools {
        let fix = "belong to an agent with kind = \"tools\" or \"model\"; an executor in Rust calls others itself";
        problems.push(Problem::at("tools", fix));
    }
    for (index, tool) in agent.tools.iter().enumerate() {
        let found = problems_of(tool).into_iter();
        problems.extend(found.map(|problem| problem.under(&format!("tools[{index}]."))));
        let key = format!("tools[{index}].name");
        if agent.tools.iter().take(index).any(|earlier| earlier.name == tool.name) {
            problems.push(Problem::at(key, format!("{:?} stands twice", tool.name)));
        } else if tools.iter().any(|known| known.name() == tool.name) {
            let fix = format!(
                "{:?} is the name of a tool that every agent may name; choose another",
                tool.name
            );
            problems.push(Problem::at(key, fix));
        }
    }
    problems
}

/// The problems of the HTTP tools that agents share, each with a file of its own.
pub(super) fn check_shared_tools(shared: &[HttpToolDefinition]) -> Vec<Problem> {
    let problems = |tool: &HttpToolDefinition| {
        let found = problems_of(tool).into_iter();
        found.map(|problem| problem.in_file(&tool.file)).collect::<Vec<_>>()
    };
    shared.iter().flat_map(problems).collect()
}

/// The problems of the extensions. Their URIs are sent in a header as a list separated by commas, so they must not
/// contain commas.
fn check_extensions(extensions: &[AgentExtension]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, AgentExtension { uri, .. }) in extensions.iter().enumerate() {
        let key = format!("capabilities.extensions[{index}].uri");
        let is_plain = uri.chars().all(|letter| letter.is_ascii_graphic() && letter != ',');
        if uri.is_empty() || !is_plain {
            let fix = format!("is {uri:?}, but must be a URI in ASCII without spaces and commas");
            problems.push(Problem::at(key.clone(), fix));
        }
        if extensions.iter().take(index).any(|earlier| earlier.uri == *uri) {
            problems.push(Problem::at(key, format!("{uri:?} stands twice")));
        } else if OWN_EXTENSIONS.contains(&uri.as_str()) {
            let fix =
                format!("{uri:?} is declared for every agent that has it; remove this extension");
            problems.push(Problem::at(key, fix));
        }
    }
    problems
}

/// The extensions that a2a-edge declares by itself.
const OWN_EXTENSIONS: [&str; 4] =
    [GENERATION_EXTENSION, TIMELINE_EXTENSION, DELETION_EXTENSION, WEBHOOKS_EXTENSION];

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::tool::{FunctionTool, ToolCall};

    const GOOD: &str = r#"
        name = "A"
        description = "B"
        version = "1"
        default = true
        [executor]
        kind = "tools"
        tools = { names = ["say", "sum"] }
    "#;

    fn agent(slug: &str, text: &str) -> AgentDefinition {
        let (slug, file) = (slug.to_owned(), format!("agents/{slug}.toml"));
        AgentDefinition { slug, file, ..toml::from_str(text).unwrap() }
    }

    fn tools() -> Vec<Box<dyn Tool>> {
        let tool = |name| -> Box<dyn Tool> {
            let schema = json!({"type": "object"});
            let nothing = async |_: Value, _: &dyn ToolCall| Ok(().into());
            Box::new(FunctionTool::new(name, "A tool.", schema, nothing))
        };
        vec![tool("say"), tool("sum")]
    }

    fn known(tools: &[Box<dyn Tool>]) -> Vec<&dyn Tool> {
        tools.iter().map(AsRef::as_ref).collect()
    }

    fn problems(text: &str) -> Vec<String> {
        let problems = check_all("agents", &[agent("x", text)], &known(&tools()));
        problems.iter().map(Problem::to_string).collect()
    }

    #[test]
    fn a_cost_in_a_day_needs_the_prices_of_a_model() {
        let quota = "[quota]\ncost_per_day = 5.0\n";
        let model = |more: &str| {
            let executor =
                format!("[executor]\nkind = \"model\"\n[executor.model]\nmodel = \"m\"\n{more}");
            let (head, _) = GOOD.split_once("[executor]").unwrap();
            let found = problems(&format!("{head}{quota}{executor}"));
            found.into_iter().filter(|problem| problem.contains("quota")).collect::<Vec<_>>()
        };
        let [told] = model("").try_into().unwrap();
        assert!(told.contains("quota.cost_per_day") && told.contains("add `price = {"), "{told}");
        assert_eq!(model("price = { input = 0.25, output = 2 }"), [""; 0]);
        // Other agents report their cost.
        assert_eq!(problems(&format!("{GOOD}{quota}")), [""; 0]);
    }

    #[test]
    fn a_good_file_has_no_problems() {
        assert_eq!(problems(GOOD), Vec::<String>::new());
    }

    #[test]
    fn a_script_that_parks_needs_runs_that_are_resumed() {
        let file = |run: &str, step: &str| {
            format!(
                "name = 'A'\ndescription = 'B'\nversion = '1'\ndefault = true\n[[skills]]\nid = 's'\n\
                 [executor]\nkind = 'script'\n{run}\n[[executor.script.rules]]\n\
                 then = [{step}, {{ do = 'complete' }}]"
            )
        };
        let (park, wait) = ("{ do = 'park', days = 3 }", "{ do = 'wait', ms = 5 }");
        let run = |recovery: &str| format!("[executor.run]\nrecovery = '{recovery}'");
        for recovery in ["restart", "fail"] {
            let problems = problems(&file(&run(recovery), park));
            assert_eq!(problems.len(), 1, "{problems:?}");
            assert!(
                problems[0]
                    .starts_with("agents/x.toml: `executor.run.recovery` must be \"resume\"")
            );
        }
        for good in [file("", park), file(&run("resume"), park), file(&run("restart"), wait)] {
            assert_eq!(problems(&good), Vec::<String>::new());
        }
    }

    #[test]
    fn every_problem_names_the_file_the_key_and_the_fix() {
        let script = r#"
            name = "A"
            description = "B"
            version = "1"
            default = true
            executor = { kind = "script", script = { rules = [] } }
        "#;
        for (text, problem) in [
            (GOOD.replace("\"A\"", "\" \""), "agents/x.toml: `name` must not be empty"),
            (
                GOOD.replace("\"say\"", "\"sya\""),
                "agents/x.toml: `executor.tools.names[0]` there is no tool \"sya\", did you mean \"say\"?; there are: say, sum",
            ),
            (
                GOOD.replace("\"sum\"", "\"say\""),
                "agents/x.toml: `executor.tools.names[1]` \"say\" stands twice",
            ),
            (
                format!("{GOOD}\n[[skills]]\nid = \"dance\""),
                "agents/x.toml: `skills[0].id` no tool of this agent is called \"dance\"; add it to \
                 `executor.tools.names` or remove the skill",
            ),
            (
                format!("{GOOD}\n[capabilities]\nextended_agent_card = true"),
                "agents/x.toml: `capabilities.extended_agent_card` is true, but callers need credentials for \
                 that card, and there are none; add a scheme to [access.schemes] or remove the line",
            ),
            (
                format!("{GOOD}\n[[capabilities.extensions]]\nuri = \"urn:a,b\""),
                "agents/x.toml: `capabilities.extensions[0].uri` is \"urn:a,b\", but must be a URI in \
                 ASCII without spaces and commas",
            ),
            (
                format!("{GOOD}\n[[capabilities.extensions]]\nuri = {GENERATION_EXTENSION:?}"),
                "agents/x.toml: `capabilities.extensions[0].uri` \"urn:a2a-edge:generation:v1\" is \
                 declared for every agent that has it; remove this extension",
            ),
            (
                format!("{GOOD}\n[[capabilities.extensions]]\nuri = {WEBHOOKS_EXTENSION:?}"),
                "agents/x.toml: `capabilities.extensions[0].uri` \"urn:a2a-edge:webhooks:v1\" is \
                 declared for every agent that has it; remove this extension",
            ),
            (
                GOOD.replace("default = true", ""),
                "agents/: no agent answers at `/`; write `default = true` in one of the files",
            ),
            (
                GOOD.replace("[executor]", "input_modes = [\"text\"]\n[executor]"),
                "agents/x.toml: `input_modes` holds \"text\", which is no media type such as `text/plain`",
            ),
            (
                script.to_owned(),
                "agents/x.toml: `skills` an agent of kind \"script\" needs at least one `[[skills]]`",
            ),
            (script.to_owned(), "agents/x.toml: `executor.script.rules` needs at least one rule"),
            (
                script.replace("rules = []", "rules = [{ permissions = ['a'], then = [] }]"),
                "agents/x.toml: `executor.script.rules` has a rule with `permissions`, which nobody can have: \
                 callers get them by the schemes in [access.schemes]; add one",
            ),
            (
                script.replace("script = { rules = [] }", "").replace("\"script\",", "\"seats\""),
                "agents/x.toml: `skills` an agent of kind \"seats\" needs at least one `[[skills]]`",
            ),
        ] {
            assert!(problems(&text).contains(&problem.to_owned()), "{:?}", problems(&text));
        }
    }

    #[test]
    fn schemes_of_one_name_are_the_same_in_all_files() {
        let file = |slug: &str, scheme: &str| {
            let good =
                if slug == "a" { GOOD.to_owned() } else { GOOD.replace("default = true", "") };
            agent(slug, &format!("{good}\n[access.schemes.who]\n{scheme}"))
        };
        let key = "kind = 'api_key'\nname = 'X-Key'\ncallers = [{ id = 'a', secrets = ['A'] }]";
        let other = key.replace("'A'", "'B'");
        let others = key.replace("id = 'a'", "id = 'b'");
        let jwt = "kind = 'jwt'\naudience = ['x']\nissuer = 'https://a.example'\ndiscover = true";
        let issuer = jwt.replace("a.example", "b.example");
        let audience = jwt.replace("'x'", "'y'");
        for (one, two, is_good) in [
            (key, key, true),
            (key, others.as_str(), true),
            (key, other.as_str(), false),
            (key, jwt, false),
            (jwt, issuer.as_str(), false),
            (jwt, audience.as_str(), true),
        ] {
            let agents = [file("a", one), file("b", two)];
            let problems = check_all("agents", &agents, &known(&tools()));
            let told: Vec<String> = problems.iter().map(Problem::to_string).collect();
            assert_eq!(told.is_empty(), is_good, "{told:?}");
            let place = "agents/b.toml: `access.schemes.who` is another scheme than that of this name in agents/a.toml";
            assert!(told.iter().all(|told| told.starts_with(place)), "{told:?}");
        }
    }

    #[test]
    fn two_default_agents_are_refused() {
        let problems = check_all("agents", &[agent("a", GOOD), agent("b", GOOD)], &known(&tools()));
        assert_eq!(
            problems[0].to_string(),
            "agents/b.toml: `default` is true in agents/a.toml too; keep it in one of the two files"
        );
    }

    #[test]
    fn an_agent_may_have_tools_of_its_own() {
        const OWN: &str = r#"
            name = "A"
            description = "B"
            version = "1"
            default = true
            executor = { kind = "tools" }
            [[tools]]
            name = "look"
            description = "Looks."
            url = "${BASE}/{what}"
            arguments = { what = "What." }
            [[skills]]
            id = "look"
            examples = ["a"]
        "#;
        assert_eq!(problems(OWN), Vec::<String>::new());
        let again =
            "[[tools]]\nname = 'look'\ndescription = 'b'\nurl = 'https://c.example'\n[[skills]]";
        let seats = "executor = { kind = \"seats\", seats = { key = \"${key}\" } }";
        for (from, to, told) in [
            (
                "{what}",
                "{wath}",
                "agents/x.toml: `tools[0].url` there is no argument \"wath\"; there are: what",
            ),
            (
                "\"look\"",
                "\"say\"",
                "agents/x.toml: `tools[0].name` \"say\" is the name of a tool that every agent",
            ),
            ("[[skills]]", again, "agents/x.toml: `tools[1].name` \"look\" stands twice"),
            (
                "executor = { kind = \"tools\" }",
                seats,
                "agents/x.toml: `tools` belong to an agent with kind",
            ),
            (
                "executor = { kind = \"tools\" }",
                seats,
                "agents/x.toml: `executor.seats.key` holds ${key}, but",
            ),
        ] {
            let found = problems(&OWN.replacen(from, to, 1));
            assert!(found.iter().any(|problem| problem.starts_with(told)), "{told}: {found:?}");
        }
    }

    #[test]
    fn the_problems_of_a_shared_tool_name_its_file() {
        let shared = HttpToolDefinition {
            file: "tools/say.toml".to_owned(),
            name: "say".to_owned(),
            ..toml::from_str("description = 'b'\nurl = 'x'").unwrap()
        };
        let found = check_shared_tools(&[shared]);
        let [found] = found.as_slice() else { panic!("{found:?}") };
        let told = found.to_string();
        assert!(told.starts_with("tools/say.toml: `url` must begin with https://"), "{told}");
    }

    #[test]
    fn names_that_files_do_not_explain_are_left_to_a_worker_that_registers_tools() {
        let text = GOOD.replace("\"say\"", "\"whisper\"");
        let known = |may_register| {
            let agent = AgentDefinition { may_register, ..agent("x", &text) };
            check_all("agents", &[agent], &known(&tools()))
        };
        assert_eq!(known(true), []);
        let [unknown] = &known(false)[..] else { panic!("one problem") };
        assert!(unknown.to_string().contains("there is no tool \"whisper\""), "{unknown}");
    }
}
