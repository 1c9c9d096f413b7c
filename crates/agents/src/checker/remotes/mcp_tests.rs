use super::*;
use crate::checker::source::located;
use crate::template::testing::Known;
use crate::{Checked, McpSettings, RemoteCredentials};
use a2a::model::{Secret, UnixMillis};

const FILE: &str = "remotes.toml";

const FULL: &str = r#"
    [remote.files]
    url = "https://agent.example"

    [mcp.files]
    url = "https://${HOST}/mcp"
    timeout_ms = 5_000
    call_timeout_ms = "${CALL_MS}"
    bearer_token = "t-${KEY}"
    headers = { X-Team = "team ${TEAM}" }
    tools = ["read_*", "list"]
    trust_hints = true

    [mcp.bare]
    url = "http://localhost:3001/mcp"
"#;

const VALUES: Known = Known(&[
    ("HOST", "files.example"),
    ("CALL_MS", "90000"),
    ("KEY", "secret-key"),
    ("TEAM", "blue"),
]);

fn agent(executor: &str) -> AgentDefinition {
    let text = format!("name = 'A'\ndescription = 'B'\nversion = '1'\nexecutor = {executor}");
    let file = "agents/a.toml".to_owned();
    AgentDefinition { slug: "bare".to_owned(), file, ..toml::from_str(&text).unwrap() }
}

fn problems(text: &str, agents: &[AgentDefinition]) -> Vec<String> {
    let files = [(FILE.to_owned(), text.to_owned())];
    let found = match parse_named(FILE, text) {
        Ok(named) => check_named(FILE, &named, agents),
        Err(problem) => vec![problem],
    };
    found.into_iter().map(|problem| located(problem, &files).to_string()).collect()
}

#[test]
fn a_table_with_every_key_is_read_and_filled_in() {
    // One server has the same name as a remote, the other the same name as an agent.
    assert_eq!(problems(FULL, &[agent("{ kind = 'tools' }")]), Vec::<String>::new());
    let servers = parse_named(FILE, FULL).unwrap().mcp;
    let names: Vec<&str> = servers.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(names, ["bare", "files"]);
    let need =
        |name: &str| Need { name: name.to_owned(), by: vec!["mcp files".to_owned()], or: vec![] };
    assert_eq!(servers[1].needs, ["HOST", "CALL_MS", "KEY", "TEAM"].map(need));
    assert_eq!(servers[1].allowed(), ["read_*", "list"]);
    // The Worker reads the servers from the checked form.
    let embedded = Checked::new(UnixMillis(0), Vec::new()).with_mcp(servers);
    let read = Checked::read(&embedded.to_json().unwrap()).unwrap();
    assert_eq!(read, embedded);
    let McpSettings {
        url,
        service,
        headers,
        timeout_ms,
        call_timeout_ms,
        tools,
        trusts_hints,
        credentials,
    } = read.mcp[1].fill(&VALUES).unwrap();
    assert_eq!((url.as_str(), service), ("https://files.example/mcp", None));
    assert_eq!(headers, [("X-Team".to_owned(), "team blue".to_owned())]);
    assert_eq!((timeout_ms, call_timeout_ms, trusts_hints), (5_000, 90_000, true));
    assert_eq!(tools, ["read_*", "list"]);
    assert_eq!(credentials.bearer_token, Some(Secret::new("t-secret-key")));
    let bare = read.mcp[0].fill(&Known(&[])).unwrap();
    assert_eq!(
        (bare.timeout_ms, bare.call_timeout_ms, bare.trusts_hints),
        (60_000, 300_000, false)
    );
    assert_eq!((bare.tools, bare.credentials), (vec![], RemoteCredentials::default()));
}

#[test]
fn a_server_may_be_another_worker() {
    for (table, url) in [
        ("service = 'FILES'", "https://service.internal/"),
        ("service = 'FILES'\npath = '/mcp?team=${TEAM}'", "https://service.internal/mcp?team=blue"),
    ] {
        let text = format!("[mcp.files]\n{table}\nbearer_token = '${{KEY}}'");
        assert_eq!(problems(&text, &[]), Vec::<String>::new());
        let settings = parse_named(FILE, &text).unwrap().mcp[0].fill(&VALUES).unwrap();
        let told = (settings.service.as_deref(), settings.url.as_str());
        assert_eq!(told, (Some("FILES"), url));
        assert_eq!(settings.credentials.bearer_token, Some(Secret::new("secret-key")));
    }
    let spaced = Known(&[("TEAM", "blue green")]);
    let text = "[mcp.files]\nservice = 'FILES'\npath = '/mcp?team=${TEAM}'";
    let misfit = parse_named(FILE, text).unwrap().mcp[0].fill(&spaced).unwrap_err();
    assert_eq!(misfit.to_string(), "the MCP server files: `path` must be a path, as /turn");
}

#[test]
fn without_servers_nothing_is_embedded() {
    let embedded = Checked::new(UnixMillis(0), Vec::new()).to_json().unwrap();
    assert_eq!(embedded, r#"{"built_ms":0,"agents":[]}"#);
}

#[test]
fn every_problem_names_the_line_the_key_and_the_fix() {
    let with = |line: &str| format!("[mcp.a]\nurl = 'https://a.example'\n{line}");
    for (text, problem) in [
        ("mcp = 1", "remotes.toml:1: `mcp` is no table [remote.<name>] or [mcp.<name>]"),
        ("mcp.a = 1", "remotes.toml:1: `mcp.a` must be a table"),
        (
            "[mcp.A]\nurl = 'https://a.example'",
            "remotes.toml:1: `mcp.A` the name of an MCP server must be",
        ),
        (
            "[mcp.a]",
            "remotes.toml:1: `mcp.a.url` is missing; a Worker that is bound to this one is named by `service`",
        ),
        (&with("service = 'B'"), "remotes.toml:3: `mcp.a.service` stands beside `url`"),
        (&with("path = '/mcp'"), "remotes.toml:3: `mcp.a.path` belongs to `service`"),
        (
            "[mcp.a]\nservice = 'a-b'",
            "remotes.toml:2: `mcp.a.service` must be the name of a service binding",
        ),
        (
            "[mcp.a]\nservice = '${B}'",
            "remotes.toml:2: `mcp.a.service` must be the name of a service binding",
        ),
        (
            "[mcp.a]\nservice = 'B'\npath = '//c.example'",
            "remotes.toml:3: `mcp.a.path` must be a path",
        ),
        (
            "[mcp.a]\nurl = 'npx server'",
            "remotes.toml:2: `mcp.a.url` must be the URL of an MCP server, as",
        ),
        (
            &with("timeout = 5"),
            "remotes.toml:3: `mcp.a.timeout` is no key of this table; there are: url, service, path, timeout_ms",
        ),
        (
            &with("timeout_ms = 10"),
            "remotes.toml:3: `mcp.a.timeout_ms` must be a whole number from 100 to 600000",
        ),
        (&with("trust_hints = 'yes'"), "remotes.toml:3: `mcp.a.trust_hints` must be true or false"),
        (&with("tools = 'read'"), "remotes.toml:3: `mcp.a.tools` must be a list of texts"),
        (&with("tools = ['']"), "remotes.toml:3: `mcp.a.tools[0]` must not be empty"),
        (
            &with("headers = { Mcp-Session-Id = 'x' }"),
            "remotes.toml:3: `mcp.a.headers.Mcp-Session-Id` is a header that the client sends",
        ),
        (
            &with(
                "bearer_token = 'a'\noauth2 = { token_url = 'https://a.example', client_id = 'a', client_secret = 'b' }",
            ),
            "remotes.toml:4: `mcp.a.oauth2` stands beside `bearer_token`",
        ),
    ] {
        let found = problems(text, &[]);
        assert!(found.iter().any(|found| found.starts_with(problem)), "{problem}\n{found:?}");
    }
}

#[test]
fn an_agent_names_servers_that_there_are() {
    let tools = |mcp: &str| agent(&format!("{{ kind = 'tools', tools = {{ mcp = {mcp} }} }}"));
    assert_eq!(problems(FULL, &[tools("['files', 'bare:read_*']")]), Vec::<String>::new());
    let told = "agents/a.toml: `executor.tools.mcp[1]` there is no MCP server \"github\"; there are: bare, files; \
                they stand in remotes.toml as [mcp.<name>]";
    assert_eq!(problems(FULL, &[tools("['files', 'github:*']")]), [told]);
    let told = "agents/a.toml: `executor.tools.mcp[0]` there is no MCP server \"files\"; there are: none; \
                they stand in remotes.toml as [mcp.<name>]";
    assert_eq!(problems("", &[tools("['files']")]), [told]);
}

#[test]
fn an_agent_needs_no_other_tools_than_those_of_servers() {
    let told = |executor: &str| {
        let agent = agent(executor);
        let found = agent.executor.problems(&agent.context(&[])).into_iter();
        found.map(|Problem { key, text, .. }| format!("{key} {text}")).collect::<Vec<_>>()
    };
    assert_eq!(told("{ kind = 'tools', tools = { mcp = ['files'] } }"), Vec::<String>::new());
    for (mcp, problem) in [
        ("[]", "executor.tools.names needs at least one tool"),
        ("['files', 'files']", "executor.tools.mcp[1] \"files\" stands twice"),
        ("[':read']", "executor.tools.mcp[0] \":read\" must be the name of an MCP server"),
        ("['files:']", "executor.tools.mcp[0] \"files:\" must be the name of an MCP server"),
    ] {
        let found = told(&format!("{{ kind = 'tools', tools = {{ mcp = {mcp} }} }}"));
        assert!(found.len() == 1 && found[0].starts_with(problem), "{found:?}");
    }
    let found =
        told("{ kind = 'tools', tools = { mcp = ['files'] }, run = { recovery = 'restart' } }");
    assert!(found[0].starts_with("executor.run.recovery must be \"resume\""), "{found:?}");
}

#[test]
fn what_is_filled_in_is_checked_when_it_is_used_and_not_shown() {
    let fill = |line: &str, values: &'static [(&'static str, &'static str)]| {
        let text = format!("[mcp.a]\nurl = '${{URL}}'\n{line}");
        assert_eq!(problems(&text, &[]), Vec::<String>::new(), "the checker cannot know");
        parse_named(FILE, &text).unwrap().mcp[0].fill(&Known(values))
    };
    for (line, values, told) in [
        (
            "",
            &[][..],
            "the MCP server a: `url`: the secret or variable URL is not set in this deployment",
        ),
        (
            "",
            &[("URL", "private-host")],
            "the MCP server a: `url` must be the URL of an MCP server",
        ),
        (
            "bearer_token = '${T}'",
            &[("URL", "https://a.example"), ("T", "se\ncret")],
            "the MCP server a: `bearer_token` may hold only visible",
        ),
    ] {
        let misfit = fill(line, values).unwrap_err().to_string();
        assert!(misfit.starts_with(told), "{misfit}");
        assert!(!misfit.contains("secret-") && !misfit.contains("private"), "{misfit}");
    }
    let servers = parse_named(FILE, FULL).unwrap().mcp;
    let shown = format!("{:?}", servers[1].fill(&VALUES).unwrap());
    assert!(!shown.contains("secret-key") && !shown.contains("blue"), "{shown}");
}
