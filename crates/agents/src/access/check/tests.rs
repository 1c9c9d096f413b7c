//! Valid tables, and the problems of invalid tables.

use super::*;

fn told(access: &str) -> Vec<String> {
    let access: Access = toml::from_str(access).unwrap();
    problems_of(&access).into_iter().map(|problem| problem.to_string()).collect()
}

const KEY: &str = "[schemes.key]\nkind = 'api_key'\nname = 'X-Api-Key'\n\
    callers = [{ id = 'billing', secrets = ['BILLING_KEY', 'BILLING_KEY_NEW'], permissions = ['read'], claims = { team = 'a' } }]\n";
const TOKEN: &str =
    "[schemes.token]\nkind = 'bearer'\ncallers = [{ id = 'robot', secrets = ['TOKEN'] }]\n";
const BASIC: &str =
    "[schemes.basic]\nkind = 'basic'\ncallers = [{ id = 'alice', secrets = ['PASSWORD'] }]\n";
const SHARED: &str =
    "[schemes.jwt]\nkind = 'jwt'\naudience = ['agents']\nsecrets = ['JWT_SECRET']\n";
const PUBLIC: &str = "[schemes.oidc]\nkind = 'jwt'\nissuer = 'https://id.example'\naudience = ['agents']\ndiscover = true\n";
const TEAM: &str = "[schemes.team]\nkind = 'cloudflare_access'\nteam = 'https://a.cloudflareaccess.com'\naudience = ['tag']\n";
const TLS: &str = "[schemes.tls]\nkind = 'mutual_tls'\npermissions = ['write']\n";

fn key(from: &str, to: &str) -> String {
    let text = KEY.replacen(from, to, 1);
    assert_ne!(text, KEY, "{from}");
    text
}

fn caller(text: &str) -> String {
    format!("[schemes.key]\nkind = 'api_key'\nname = 'X-Api-Key'\ncallers = [{text}]\n")
}

#[test]
fn tables_that_hold_together_have_no_problems() {
    let all = [KEY, TOKEN, BASIC, SHARED, PUBLIC, TEAM, TLS].concat();
    let two = "[schemes.a]\nkind = 'jwt'\nissuer = '${A}'\naudience = ['${B}']\njwks_url = '${C}/keys'\n\
               [schemes.b]\nkind = 'jwt'\nissuer = 'https://b.example'\naudience = ['x']\njwks_url = 'http://localhost:1/k'\n\
               algorithms = ['ES256', 'RS256']\nleeway_s = 0\nclaims = { id = 'https://b.example/id', permissions = ['a.b'] }\n";
    let oauth = "declared_as = 'oauth2'\noauth2_metadata_url = 'https://id.example/.well-known/oauth'\n\
                 [schemes.oidc.flows.authorizationCode]\nauthorization_url = 'https://id.example/a'\n\
                 token_url = 'https://id.example/t'\npkce_required = true\nscopes = { read = 'Reads.' }\n";
    for access in [
        String::new(),
        "open = true\nopen_listing = true\nopen_webhooks = true\nallowed_origins = ['https://app.example']".to_owned(),
        "open_webhooks = true".to_owned(),
        format!("share_by = 'team'\noperator = 'tasks:admin'\nallowed_origins = ['http://localhost:5173']\n{all}"),
        format!("requires = [{{ key = ['read'], tls = [] }}, {{ jwt = ['write'] }}]\n{KEY}{TLS}{SHARED}"),
        two.to_owned(),
        format!("{PUBLIC}{oauth}"),
        format!("{PUBLIC}declared_as = 'openIdConnect'\n"),
        format!("{SHARED}cookie = '__Host-session'\n{KEY}"),
        format!("authorization_is_for_task = true\n{SHARED}cookie = 's'\n{KEY}{TEAM}{TLS}"),
    ] {
        assert_eq!(told(&access), Vec::<String>::new(), "{access}");
    }
}

#[test]
fn every_fault_is_told_with_its_key_and_its_fix() {
    let long = format!("[schemes.{}]\nkind = 'mutual_tls'\n", "x".repeat(65));
    for (access, problem) in [
        // Keys of the whole table.
        (format!("open = true\n{KEY}"), "`access.open` is for agents that everybody may call"),
        (
            format!("open_listing = true\n{KEY}"),
            "`access.open_listing` is for agents that everybody",
        ),
        (
            format!("open_webhooks = true\n{KEY}"),
            "`access.open_webhooks` is for agents that everybody",
        ),
        ("share_by = 'team'".to_owned(), "`access.share_by` needs schemes"),
        (format!("share_by = ''\n{KEY}"), "`access.share_by` must be the name of a claim"),
        (format!("operator = ''\n{KEY}"), "`access.operator` must not be empty"),
        (format!("operator = 'a b'\n{KEY}"), "`access.operator` must hold letters"),
        (
            format!("authorization_is_for_task = true\n{SHARED}"),
            "`access.authorization_is_for_task` takes the header Authorization for tasks, but a scheme reads it",
        ),
        // Requirements.
        (
            format!("requires = [{{ kye = [] }}, {{ key = [] }}]\n{KEY}"),
            "`access.requires[0].kye` there is no scheme \"kye\"; there are: key",
        ),
        (
            "requires = [{ key = [] }]".to_owned(),
            "`access.requires[0].key` there is no scheme \"key\"; there are: none",
        ),
        (
            format!("requires = [{{}}, {{ key = [] }}]\n{KEY}"),
            "`access.requires[0]` names no scheme",
        ),
        (
            format!("requires = [{{ key = ['a b'] }}]\n{KEY}"),
            "`access.requires[0].key` holds \"a b\", which must",
        ),
        (
            format!("requires = [{{ key = ['write'] }}]\n{KEY}"),
            "`access.requires[0].key` asks for scopes that nobody has",
        ),
        (
            format!("requires = [{{ tls = ['read'] }}]\n{TLS}"),
            "`access.requires[0].tls` asks for scopes that nobody has",
        ),
        (
            format!("requires = [{{ key = [] }}]\n{KEY}{TLS}"),
            "`access.schemes.tls` stands in no entry of `access.requires`",
        ),
        (
            format!("requires = [{{ basic = [], token = [] }}]\n{BASIC}{TOKEN}"),
            "`access.requires[0]` asks for basic and token, which are both in the header Authorization",
        ),
        // Pairs of schemes.
        (
            format!(
                "{KEY}{}",
                KEY.replace("schemes.key", "schemes.other").replace("X-Api-Key", "x-api-KEY")
            ),
            "`access.schemes.other` reads the header x-api-key in the same way as the scheme key",
        ),
        (
            format!("{TOKEN}{}", TOKEN.replace("schemes.token", "schemes.other")),
            "`access.schemes.token` reads the header Authorization in the same way as the scheme other",
        ),
        (
            format!("{PUBLIC}{}", PUBLIC.replace("schemes.oidc", "schemes.x")),
            "`access.schemes.x` reads the header Authorization in the same way as the scheme oidc",
        ),
        (
            format!("{TLS}{}", TLS.replace("schemes.tls", "schemes.x")),
            "`access.schemes.x` reads the client certificate",
        ),
        (
            format!(
                "{SHARED}cookie = 's'\n{}",
                key("name = 'X-Api-Key'", "in = 'cookie'\nname = 's'")
            ),
            "`access.schemes.key` reads the cookie s in the same way as the scheme jwt",
        ),
        // Names of schemes.
        (long, "`access.schemes.xxx"),
        (
            TLS.replace("schemes.tls", "schemes.'a:b'"),
            "`access.schemes.a:b` must be named by letters",
        ),
        (TLS.replace("schemes.tls", "schemes.1"), "`access.schemes.1` must be named by letters"),
        // API keys.
        (key("X-Api-Key", ""), "`access.schemes.key.name` is \"\", but the name of a header"),
        (key("X-Api-Key", "X Api"), "`access.schemes.key.name` is \"x api\""),
        (
            key("X-Api-Key", "Authorization"),
            "`access.schemes.key.name` is \"authorization\"; a token there is",
        ),
        (
            key("X-Api-Key", "Cookie"),
            "`access.schemes.key.name` is \"cookie\"; a key in a cookie has in",
        ),
        (
            key("X-Api-Key", "Content-Type"),
            "`access.schemes.key.name` is \"content-type\", which means something else",
        ),
        (key("X-Api-Key", "A2A-Version"), "`access.schemes.key.name` is \"a2a-version\""),
        (key("X-Api-Key", "CF-Connecting-IP"), "`access.schemes.key.name` is \"cf-connecting-ip\""),
        (key("X-Api-Key", "Sec-Fetch-Site"), "`access.schemes.key.name` is \"sec-fetch-site\""),
        (
            key("name = 'X-Api-Key'", "in = 'query'\nname = 'page_Token'"),
            "`access.schemes.key.name` is \"page_Token\", which is a parameter",
        ),
        (
            key("name = 'X-Api-Key'", "in = 'query'\nname = 'a b'"),
            "`access.schemes.key.name` is \"a b\"",
        ),
        (
            key("name = 'X-Api-Key'", "in = 'cookie'\nname = 'a;b'"),
            "`access.schemes.key.name` is \"a;b\", but the name of a cookie",
        ),
        (format!("{SHARED}cookie = 'a b'\n"), "`access.schemes.jwt.cookie` is \"a b\""),
        // Callers.
        (caller(""), "`access.schemes.key.callers` must be 1 to 1000"),
        (
            caller("{ id = '', secrets = ['A'] }"),
            "`access.schemes.key.callers[0].id` is \"\", but must not be empty",
        ),
        (caller("{ id = ' a', secrets = ['A'] }"), "`access.schemes.key.callers[0].id` is \" a\""),
        (
            caller("{ id = 'a', secrets = ['A'] }, { id = 'a', secrets = ['B'] }"),
            "`access.schemes.key.callers[1].id` \"a\" stands twice",
        ),
        (
            caller("{ id = 'a', secrets = [] }"),
            "`access.schemes.key.callers[0].secrets` must be the names of 1 to 5",
        ),
        (
            caller("{ id = 'a', secrets = ['s3cr3t'] }"),
            "`access.schemes.key.callers[0].secrets[0]` is no name of a Worker secret",
        ),
        (
            caller("{ id = 'a', secrets = ['${A}'] }"),
            "`access.schemes.key.callers[0].secrets[0]` is no name",
        ),
        (
            caller("{ id = 'a', secrets = ['A', 'A'] }"),
            "`access.schemes.key.callers[0].secrets[1]` \"A\" stands twice",
        ),
        (
            caller("{ id = 'a', secrets = ['A'] }, { id = 'b', secrets = ['A'] }"),
            "`access.schemes.key.callers[1].secrets` holds \"A\", which is another caller's",
        ),
        (key("'read'", "'a b'"), "`access.schemes.key.callers[0].permissions[0]` is \"a b\""),
        (key("team = 'a'", "team = ''"), "`access.schemes.key.callers[0].claims.team` is \"\""),
        (
            BASIC.replace("alice", "a:b"),
            "`access.schemes.basic.callers[0].id` is \"a:b\", but the name before",
        ),
        // Schemes of tokens.
        (SHARED.replace("['agents']", "[]"), "`access.schemes.jwt.audience` must not be empty"),
        (SHARED.replace("'agents'", "''"), "`access.schemes.jwt.audience[0]` must not be empty"),
        (SHARED.replace("'agents'", "'${a}'"), "`access.schemes.jwt.audience[0]` holds ${a}"),
        (
            SHARED.replace("'JWT_SECRET'", "'jwt secret'"),
            "`access.schemes.jwt.secrets[0]` is no name",
        ),
        (
            format!("{SHARED}jwks_url = 'https://id.example'\n"),
            "`access.schemes.jwt.secrets` stands beside another place of keys",
        ),
        (
            format!("{PUBLIC}jwks_url = 'https://id.example'\n"),
            "`access.schemes.oidc.jwks_url` stands beside another",
        ),
        (
            PUBLIC.replace("discover = true\n", ""),
            "`access.schemes.oidc.jwks_url` is needed, or `discover = true`",
        ),
        (
            PUBLIC.replace("issuer = 'https://id.example'\n", ""),
            "`access.schemes.oidc.issuer` is needed with public keys",
        ),
        (
            PUBLIC.replace("https://id", "http://id"),
            "`access.schemes.oidc.issuer` must begin with https://",
        ),
        (
            PUBLIC.replace("discover = true", "jwks_url = 'http://id.example'"),
            "`access.schemes.oidc.jwks_url` must begin with https://",
        ),
        (
            PUBLIC.replace("discover = true", "jwks_url = '/keys'"),
            "`access.schemes.oidc.jwks_url` must be an https:// URL",
        ),
        (
            format!("{PUBLIC}algorithms = ['ES256', 'HS256']\n"),
            "`access.schemes.oidc.algorithms[1]` is HS256, which is for `secrets`",
        ),
        (
            format!("{SHARED}algorithms = ['ES256']\n"),
            "`access.schemes.jwt.algorithms[0]` needs public keys",
        ),
        (
            format!("{PUBLIC}algorithms = ['ES256', 'ES256']\n"),
            "`access.schemes.oidc.algorithms[1]` stands twice",
        ),
        (
            format!("{SHARED}leeway_s = 301\n"),
            "`access.schemes.jwt.leeway_s` must be from 0 to 300, got 301",
        ),
        (
            format!("{SHARED}claims = {{ id = '' }}\n"),
            "`access.schemes.jwt.claims.id` must be the name of a claim",
        ),
        (
            format!("{SHARED}claims = {{ permissions = ['a..b'] }}\n"),
            "`access.schemes.jwt.claims.permissions` must be",
        ),
        // Other kinds of schemes.
        (TEAM.replace("https://a", "a"), "`access.schemes.team.team` must be an https:// URL"),
        (TEAM.replace(".com'", ".com/path'"), "`access.schemes.team.team` must be an origin"),
        (TEAM.replace("'tag'", ""), "`access.schemes.team.audience` must not be empty"),
        (
            format!("{TLS}fingerprints = ['abc']\n"),
            "`access.schemes.tls.fingerprints[0]` is \"abc\", but a SHA-256",
        ),
        (TLS.replace("'write'", "''"), "`access.schemes.tls.permissions[0]` is \"\""),
    ] {
        let told = told(&access);
        assert!(told.iter().any(|told| told.starts_with(problem)), "{problem}\n{told:?}");
        assert!(told.iter().all(|told| !told.contains("s3cr3t")), "{told:?}");
    }
}
