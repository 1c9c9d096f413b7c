use super::*;
use crate::checker::file::parse;
use crate::checker::source::located;
use crate::template::testing::Known;
use crate::{KeyPlace, RemoteCredentials, RemoteKey, RemoteMisfit, RemoteSettings, Values};
use a2a::binding::Binding;
use a2a::client::{Settings, Streaming, Verify};
use a2a::dialect::Dialect;
use a2a::model::Secret;

const FILE: &str = "remotes.toml";

const FULL: &str = r#"
    [remote.weather]
    url = "https://${HOST}/agents/weather"
    timeout_ms = 60_000
    request_timeout_ms = 5_000
    poll_interval_ms = "${POLL_MS}"
    max_retries = 0
    retry_delay_ms = 200
    api_key = { in = "query", name = "key", value = "k-${KEY}" }
    oauth2 = { token_url = "https://id.example/token", client_id = "us", client_secret = "${KEY}", scopes = ["read"] }
    headers = { X-Team = "team ${TEAM}" }
    version = "0.3"
    binding = "HTTP+JSON"
    streaming = "never"
    allow_other_hosts = true
    verify = "required"
    jwks_hosts = ["keys.example"]
    extensions = ["urn:a"]

    [remote.local]
    agent = "demo"
    timeout_ms = 5_000
"#;

const VALUES: Known = Known(&[
    ("HOST", "weather.example"),
    ("POLL_MS", "2500"),
    ("KEY", "secret-key"),
    ("TEAM", "blue"),
]);

fn agent(slug: &str) -> AgentDefinition {
    let text = "name = 'A'\ndescription = 'B'\nversion = '1'\nexecutor = { kind = 'tools' }";
    AgentDefinition { slug: slug.to_owned(), ..toml::from_str(text).unwrap() }
}

fn problems(text: &str) -> Vec<String> {
    let files = [(FILE.to_owned(), text.to_owned())];
    match parse_named(FILE, text) {
        Ok(named) => {
            let found = check_named(FILE, &named, &[agent("demo"), agent("other")]);
            found.into_iter().map(|problem| located(problem, &files).to_string()).collect()
        }
        Err(problem) => vec![located(problem, &files).to_string()],
    }
}

fn filled(text: &str, values: &dyn Values) -> Result<RemoteSettings, RemoteMisfit> {
    let remotes = parse_named(FILE, text).unwrap().remotes;
    // The Worker reads the remote from the checked form.
    let text = serde_json::to_string(&remotes[0]).unwrap();
    a2a::model::decode::read_json::<Remote>(&text).unwrap().fill(values)
}

#[test]
fn a_table_with_every_key_is_read_and_filled_in() {
    assert_eq!(problems(FULL), Vec::<String>::new());
    let remotes = parse_named(FILE, FULL).unwrap().remotes;
    let names: Vec<&str> = remotes.iter().map(|remote| remote.name.as_str()).collect();
    assert_eq!(names, ["local", "weather"]);
    let needs: Vec<&str> = remotes[1].needs.iter().map(|need| need.name.as_str()).collect();
    assert_eq!(needs, ["HOST", "POLL_MS", "KEY", "TEAM"]);
    assert!(remotes[1].needs.iter().all(|need| need.by == ["remote weather"]));
    let weather = remotes[1].fill(&VALUES).unwrap();
    assert_eq!(
        weather.client,
        Settings {
            timeout_ms: 60_000,
            request_timeout_ms: 5_000,
            poll_interval_ms: 2_500,
            max_retries: 0,
            retry_delay_ms: 200,
            headers: vec![("X-Team".to_owned(), "team blue".to_owned())],
            version: Some(Dialect::V0_3),
            binding: Some(Binding::Rest),
            streaming: Streaming::Never,
            allow_other_hosts: true,
            verify: Verify::Required,
            jwks_hosts: vec!["keys.example".to_owned()],
            extensions: vec!["urn:a".to_owned()],
            ..Settings::new("https://weather.example/agents/weather")
        }
    );
    assert_eq!(weather.agent, None);
    let RemoteCredentials { bearer_token, api_key, oauth2 } = weather.credentials;
    assert_eq!(bearer_token, None);
    let (place, value) = (KeyPlace::Query, Secret::new("k-secret-key"));
    assert_eq!(api_key, Some(RemoteKey { place, name: "key".to_owned(), value }));
    let oauth2 = oauth2.unwrap();
    assert_eq!(
        (oauth2.client_secret.reveal(), oauth2.scopes),
        ("secret-key", vec!["read".to_owned()])
    );
    let local = remotes[0].fill(&Known(&[])).unwrap();
    assert_eq!((local.agent.as_deref(), local.client.timeout_ms), (Some("demo"), 5_000));
}

#[test]
fn a_table_that_says_nothing_else_has_the_defaults() {
    let bare =
        filled("[remote.a]\nurl = 'https://a.example'\nversion = 'auto'", &Known(&[])).unwrap();
    assert_eq!(bare.client, Settings::new("https://a.example"));
    assert_eq!(bare.credentials, RemoteCredentials::default());
    assert_eq!(bare.agent, None);
}

#[test]
fn every_problem_names_the_line_the_key_and_the_fix() {
    let with = |line: &str| format!("[remote.a]\nurl = 'https://a.example'\n{line}");
    for (text, problem) in [
        ("[remote.a", "remotes.toml:1: "),
        ("x = 1", "remotes.toml:1: `x` is no table [remote.<name>] or [mcp.<name>]"),
        ("[a]\nurl = 'x'", "remotes.toml:1: `a` is no table [remote.<name>] or [mcp.<name>]"),
        ("remote.a = 1", "remotes.toml:1: `remote.a` must be a table"),
        (
            "[remote.A]\nurl = 'https://a.example'",
            "remotes.toml:1: `remote.A` the name of a remote must be lower-case",
        ),
        (
            "[remote.tasks]\nurl = 'https://a.example'",
            "remotes.toml:1: `remote.tasks` the name of a remote must not be",
        ),
        ("[remote.a]", "remotes.toml:1: `remote.a.url` is missing; an agent of this Worker"),
        (
            "[remote.a]\nurl = 'a.example'",
            "remotes.toml:2: `remote.a.url` must be the URL of an agent",
        ),
        (
            "[remote.a]\nurl = 'https://u:p@a.example'",
            "remotes.toml:2: `remote.a.url` must hold no user name",
        ),
        (
            "[remote.a]\nurl = 'https://a.example/#x'",
            "remotes.toml:2: `remote.a.url` must hold no #",
        ),
        ("[remote.a]\nurl = '${host}'", "remotes.toml:2: `remote.a.url` holds ${host}"),
        (
            &with("agent = 'demo'"),
            "remotes.toml:3: `remote.a.agent` stands beside `url`; keep one of the two",
        ),
        (
            "[remote.a]\nagent = 'nobody'",
            "remotes.toml:2: `remote.a.agent` there is no agent \"nobody\"; there are: demo, other",
        ),
        (
            "[remote.a]\nagent = 'demo'\nbearer_token = 'x'",
            "remotes.toml:3: `remote.a.bearer_token` is for agents on other servers",
        ),
        (
            "[remote.demo]\nurl = 'https://a.example'",
            "remotes.toml:1: `remote.demo` is the name of an agent of this Worker, too",
        ),
        (
            &with("timeout = 5"),
            "remotes.toml:3: `remote.a.timeout` is no key of this table; there are: url, agent, timeout_ms",
        ),
        (
            &with("timeout_ms = 10"),
            "remotes.toml:3: `remote.a.timeout_ms` must be a whole number from 1000 to 86400000",
        ),
        (&with("timeout_ms = 1.5"), "remotes.toml:3: `remote.a.timeout_ms` must be a whole number"),
        (
            &with("max_retries = -1"),
            "remotes.toml:3: `remote.a.max_retries` must be a whole number from 0 to 10",
        ),
        (
            &with("version = '0.4'"),
            "remotes.toml:3: `remote.a.version` must be one of auto, 1.0, 0.3, legacy",
        ),
        (
            &with("binding = 'grpc'"),
            "remotes.toml:3: `remote.a.binding` must be one of auto, JSONRPC, HTTP+JSON",
        ),
        (&with("streaming = true"), "remotes.toml:3: `remote.a.streaming` must be a text"),
        (
            &with("allow_other_hosts = 'yes'"),
            "remotes.toml:3: `remote.a.allow_other_hosts` must be true or false",
        ),
        (
            &with("verify = 'always'"),
            "remotes.toml:3: `remote.a.verify` must be one of never, if-signed, required",
        ),
        (
            &with("extensions = 'urn:a'"),
            "remotes.toml:3: `remote.a.extensions` must be a list of texts",
        ),
        (&with("extensions = ['']"), "remotes.toml:3: `remote.a.extensions[0]` must not be empty"),
        (&with("bearer_token = ' '"), "remotes.toml:3: `remote.a.bearer_token` must not be empty"),
        (&with("api_key = 'x'"), "remotes.toml:3: `remote.a.api_key` must be a table"),
        (
            &with("api_key = { name = 'X-Key' }"),
            "remotes.toml:3: `remote.a.api_key.value` is missing",
        ),
        (
            &with("api_key = { in = 'body', name = 'k', value = 'v' }"),
            "remotes.toml:3: `remote.a.api_key.in` must be one of header",
        ),
        (
            &with("headers = { A2A-Version = '1.0' }"),
            "remotes.toml:3: `remote.a.headers.A2A-Version` is a header that the client sends",
        ),
        (
            &with("headers = { Host = 'b' }"),
            "remotes.toml:3: `remote.a.headers.Host` is a header that only the connection",
        ),
        (
            &with("headers = { X-A = \"a\\nb\" }"),
            "remotes.toml:3: `remote.a.headers.X-A` may hold only visible",
        ),
        (
            &with("oauth2 = { client_id = 'a', client_secret = 'b' }"),
            "remotes.toml:3: `remote.a.oauth2.token_url` is missing",
        ),
        (
            &with(
                "oauth2 = { token_url = 'http://a.example', client_id = 'a', client_secret = 'b' }",
            ),
            "remotes.toml:3: `remote.a.oauth2.token_url` must begin with https://",
        ),
        (
            &with(
                "bearer_token = 'a'\noauth2 = { token_url = 'https://a.example', client_id = 'a', client_secret = 'b' }",
            ),
            "remotes.toml:4: `remote.a.oauth2` stands beside `bearer_token`",
        ),
    ] {
        let found = problems(text);
        assert!(found.iter().any(|found| found.starts_with(problem)), "{problem}\n{found:?}");
    }
}

#[test]
fn a_remote_may_describe_how_an_agent_of_its_own_name_is_called() {
    assert_eq!(
        problems("[remote.demo]\nagent = 'demo'\nstreaming = 'never'"),
        Vec::<String>::new()
    );
}

#[test]
fn what_is_filled_in_is_checked_when_it_is_used_and_not_shown() {
    let table = |line: &str| format!("[remote.a]\nurl = '${{URL}}'\n{line}");
    let good = ("URL", "https://a.example");
    for (line, values, told) in [
        (
            "",
            vec![],
            "the remote a: `url`: the secret or variable URL is not set in this deployment, or is empty",
        ),
        ("", vec![("URL", "private-host")], "the remote a: `url` must be the URL of an agent"),
        (
            "timeout_ms = '${T}'",
            vec![good, ("T", "secret")],
            "the remote a: `timeout_ms` must be a whole number",
        ),
        (
            "bearer_token = '${T}'",
            vec![good, ("T", "se\ncret")],
            "the remote a: `bearer_token` may hold only visible",
        ),
        (
            "headers = { X-A = '${T}' }",
            vec![good],
            "the remote a: `headers.X-A`: the secret or variable T is not set",
        ),
        (
            "extensions = ['${T}']",
            vec![good],
            "the remote a: `extensions[0]`: the secret or variable T is not set",
        ),
    ] {
        let text = table(line);
        assert_eq!(problems(&text), Vec::<String>::new(), "the checker cannot know");
        let values: &'static [_] = Box::leak(values.into_boxed_slice());
        let misfit = filled(&text, &Known(values)).unwrap_err().to_string();
        assert!(misfit.starts_with(told), "{misfit}");
        assert!(!misfit.contains("secret-") && !misfit.contains("private"), "{misfit}");
    }
}

#[test]
fn nothing_secret_shows() {
    let text = FULL.replace(
        "[remote.local]\n    agent = \"demo\"",
        "[remote.zoo]\n    url = 'https://z.example'",
    );
    let settings = filled(&text, &VALUES).unwrap();
    let shown = format!("{settings:?} {:?}", settings.credentials);
    assert!(!shown.contains("secret-key") && !shown.contains("blue"), "{shown}");
}

#[test]
fn an_agent_names_remotes_that_there_are() {
    let named = |key: &str, name: &str| {
        unknown_remotes("remotes.toml", &["a", "demo"], "x.toml", vec![(key.to_owned(), name)])
    };
    assert_eq!(named("executor.remote.remote", "demo"), []);
    let problem = Problem::at(
        "executor.remote.remote",
        "there is no remote \"domo\", did you mean \"demo\"?; there are: a, demo; remotes stand in remotes.toml",
    );
    let problem = problem.in_file("x.toml");
    assert_eq!(named("executor.remote.remote", "domo"), [problem]);
}

#[test]
fn an_agent_that_would_ask_itself_is_refused() {
    let file =
        "name = 'A'\ndescription = 'B'\nversion = '1'\nskills = [{ id = 's' }]\n[executor]\n";
    let named = "[remote.team]\nagent = 'demo'\n[remote.other]\nurl = 'https://a.example'\n\
                 [remote.elsewhere]\nurl = 'https://b.example'";
    let named = parse_named(FILE, named).unwrap();
    for (executor, key, name) in [
        (
            "kind = 'model'\nmodel = { model = 'm', agents = ['far', 'demo'] }",
            "executor.model.agents[1]",
            "demo",
        ),
        (
            "kind = 'model'\nmodel = { model = 'm', agents = ['team'] }",
            "executor.model.agents[0]",
            "team",
        ),
        ("kind = 'remote'\nremote = { remote = 'demo' }", "executor.remote.remote", "demo"),
        ("kind = 'model'\nmodel = { model = 'm', agents = ['far', 'elsewhere'] }", "", ""),
    ] {
        let definition = parse("demo.toml", "demo", &format!("{file}{executor}")).unwrap();
        let found = check_named(FILE, &named, &[definition, agent("far")]);
        let fix = format!(
            "names {name:?}, which is this agent itself: it would ask itself again and again; name other agents"
        );
        let problem = Problem::at(key, fix).in_file("demo.toml");
        let expected = if key.is_empty() { vec![] } else { vec![problem] };
        assert_eq!(found, expected, "{executor}");
    }
}
