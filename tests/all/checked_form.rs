//! The checked form: what the checker writes is what the Worker reads. The checker reads the files of people by serde, the
//! Worker reads the checked form by `Decode`; both readers follow the same types.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::path::Path;

use a2a::model::UnixMillis;
use a2a::model::decode::{Member, decode, read_json};
use a2a_agents::access::Access;
use a2a_agents::files::{Disk, Entry, Files, Unreadable};
use a2a_agents::project::{Terms, check};
use a2a_agents::{
    Accepts, AgentSource, AgentTexts, Checked, Dialects, HttpToolDefinition, LearnedPart,
    LearnedSkills, LearnedSource, McpTable, OwnSkill, Recovery, RunSettings, Trace,
};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// The folders of the repository with agent files.
const PROJECTS: [&str; 8] = [
    ".",
    "create/templates/basic",
    "examples/typescript",
    "examples/typescript/expenses",
    "tests",
    "tests/functions",
    "tests/probes",
    "tests/upgrade/project-0.3.0",
];

/// The template for Rust: its files are added to those of the basic template.
const RUST: [&str; 2] = ["create/templates/rust", "create/templates/basic"];

/// The files of several folders together.
struct Layers(Vec<Disk>);

impl Files for Layers {
    fn read(&self, path: &str) -> Result<String, Unreadable> {
        let mut found = self.0.iter().map(|disk| disk.read(path));
        found.find(Result::is_ok).unwrap_or(Err(Unreadable::Missing))
    }

    fn list(&self, folder: &str) -> Result<Vec<Entry>, Unreadable> {
        let lists: Vec<_> = self.0.iter().filter_map(|disk| disk.list(folder).ok()).collect();
        if lists.is_empty() {
            return Err(Unreadable::Missing);
        }
        let entries: BTreeSet<Entry> = lists.into_iter().flatten().collect();
        Ok(entries.into_iter().collect())
    }
}

#[test]
fn the_checked_form_of_every_project_is_read_as_it_was_written() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut slugs = BTreeSet::new();
    let projects = PROJECTS.map(|project| vec![project]).into_iter().chain([RUST.to_vec()]);
    for folders in projects {
        let project = folders.join(" and ");
        let terms = Terms { may_register: true, now: UnixMillis(1_767_603_601_000) };
        let layers = folders.iter().map(|folder| Disk::new(root.join(folder))).collect();
        let checked = check(&Layers(layers), terms).expect(&project);
        assert_eq!(Checked::read(&checked.to_json().unwrap()).unwrap(), checked, "{project}");
        let texts = AgentTexts::of(&checked).unwrap();
        let sent = serde_json::to_string(&texts).unwrap();
        let texts = read_json::<AgentTexts>(&sent).unwrap();
        assert_eq!(texts.index().unwrap(), checked.index().unwrap(), "{project}");
        for agent in &checked.agents {
            assert_eq!(texts.agent(&agent.slug).unwrap().as_ref(), Some(agent), "{project}");
            slugs.insert(agent.slug.clone());
        }
    }
    assert!(slugs.len() > 40, "the test no longer sees the agents: {slugs:?}");
}

/// The member of an object, which may be missing.
type Given = (&'static str, BoxedStrategy<Option<Value>>);

fn object(members: Vec<Given>) -> BoxedStrategy<Value> {
    let (names, values): (Vec<_>, Vec<_>) = members.into_iter().unzip();
    let named = move |values: Vec<Option<Value>>| {
        let given = names.iter().zip(values);
        let given = given.filter_map(|(name, value)| Some(((*name).to_owned(), value?)));
        Value::Object(given.collect())
    };
    values.prop_map(named).boxed()
}

/// A member that is missing in one of four objects, although its type may require it.
fn given(name: &'static str, value: impl Strategy<Value = Value> + 'static) -> Given {
    (name, proptest::option::weighted(0.75, value).boxed())
}

/// A member that is rarely missing.
fn needed(name: &'static str, value: impl Strategy<Value = Value> + 'static) -> Given {
    (name, proptest::option::weighted(0.98, value).boxed())
}

fn text() -> impl Strategy<Value = Value> {
    "[a-z]{0,3}".prop_map(Value::from)
}

fn flag() -> impl Strategy<Value = Value> {
    any::<bool>().prop_map(Value::from)
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        8 => (0_u64..100_000).prop_map(Value::from),
        1 => any::<u64>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
    ]
}

fn list(of: impl Strategy<Value = Value> + 'static) -> impl Strategy<Value = Value> {
    vec(of, 0..3).prop_map(Value::from)
}

fn map(of: impl Strategy<Value = Value> + 'static) -> impl Strategy<Value = Value> {
    let members = btree_map("[a-z]{1,3}", of, 0..3);
    members.prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>()))
}

fn one_of(names: &'static [&'static str]) -> impl Strategy<Value = Value> {
    proptest::sample::select(names).prop_map(Value::from)
}

fn scheme() -> BoxedStrategy<Value> {
    let callers = || {
        needed(
            "callers",
            list(object(vec![
                needed("id", text()),
                needed("secrets", list(text())),
                given("permissions", list(text())),
                given("claims", map(text())),
            ])),
        )
    };
    let kind = |kind: &'static str| needed("kind", Just(Value::from(kind)));
    let description = || given("description", text());
    let claims = || {
        let claims =
            vec![given("id", text()), given("session", text()), given("permissions", list(text()))];
        given("claims", object(claims))
    };
    let flow = vec![
        given("authorization_url", text()),
        given("device_authorization_url", text()),
        given("token_url", text()),
        given("refresh_url", text()),
        given("pkce_required", flag()),
        given("scopes", map(text())),
    ];
    let jwt = vec![
        kind("jwt"),
        description(),
        given("issuer", text()),
        needed("audience", list(text())),
        given("secrets", list(text())),
        given("jwks_url", text()),
        given("discover", flag()),
        given("algorithms", list(one_of(&["HS256", "RS256", "ES256", "EdDSA"]))),
        given("cookie", text()),
        claims(),
        given("leeway_s", number()),
        given("declared_as", one_of(&["http", "oauth2", "openIdConnect"])),
        given("flows", map(object(flow))),
        given("oauth2_metadata_url", text()),
    ];
    let place = one_of(&["header", "query", "cookie"]);
    prop_oneof![
        object(vec![
            kind("api_key"),
            given("in", place),
            needed("name", text()),
            description(),
            callers()
        ]),
        object(vec![kind("bearer"), description(), callers()]),
        object(vec![kind("basic"), description(), callers()]),
        object(jwt),
        object(vec![
            kind("cloudflare_access"),
            description(),
            needed("team", text()),
            needed("audience", list(text())),
            claims(),
        ]),
        object(vec![
            kind("mutual_tls"),
            description(),
            given("fingerprints", list(text())),
            given("permissions", list(text())),
        ]),
        object(vec![kind("magic")]),
    ]
    .boxed()
}

fn access() -> BoxedStrategy<Value> {
    let limit = vec![
        needed("binding", text()),
        needed("by", one_of(&["caller", "address", "failures"])),
        given("period_s", number()),
    ];
    object(vec![
        given("open", flag()),
        given("open_listing", flag()),
        given("open_webhooks", flag()),
        given("schemes", map(scheme())),
        given("requires", list(map(list(text())))),
        given("share_by", text()),
        given("operator", text()),
        given("allowed_origins", list(text())),
        given("rate_limits", list(object(limit))),
        given("authorization_is_for_task", flag()),
    ])
}

fn dialects() -> BoxedStrategy<Value> {
    let v0_3 = vec![given("enabled", flag()), given("file_bytes", one_of(&["double", "single"]))];
    let legacy = vec![
        given("enabled", prop_oneof![flag(), Just(Value::Null)]),
        given("history", one_of(&["messages", "statuses"])),
    ];
    object(vec![given("v0_3", object(v0_3)), given("legacy", object(legacy))])
}

fn http_tool() -> BoxedStrategy<Value> {
    object(vec![
        given("name", text()),
        needed("description", text()),
        given("arguments", map(text())),
        given("schema", map(text())),
        given("method", one_of(&["GET", "POST", "PUT", "PATCH", "DELETE", "get"])),
        given("url", text()),
        given("service", text()),
        given("path", text()),
        given("headers", map(text())),
        given("body", prop_oneof![text(), map(number()), Just(Value::Null)]),
        given("form", map(text())),
        given("result", text()),
        given("timeout_ms", number()),
        given("max_bytes", number()),
        given("retry", number()),
        given("idempotency", text()),
        given("repeatable", flag()),
    ])
}

/// Replaces the value at a position, counted through the whole tree, by a value of another type.
fn spoiled(mut json: Value, position: usize, by: &Value) -> Value {
    fn spoil(json: &mut Value, left: &mut usize, by: &Value) {
        if *left == 0 {
            *json = by.clone();
        }
        let Some(rest) = left.checked_sub(1) else { return };
        *left = rest;
        match json {
            Value::Object(members) => {
                members.values_mut().for_each(|value| spoil(value, left, by));
            }
            Value::Array(elements) => elements.iter_mut().for_each(|value| spoil(value, left, by)),
            _ => {}
        }
    }
    let mut left = position;
    spoil(&mut json, &mut left, by);
    json
}

/// Both readers agree about a value; and what is written is read again.
fn both_agree<T>(json: &Value)
where
    T: DeserializeOwned + Member + Serialize + PartialEq + Debug,
{
    let by_serde = serde_json::from_value::<T>(json.clone());
    match (by_serde, decode::<T>(json.clone())) {
        (Ok(by_serde), Ok(decoded)) => {
            assert_eq!(by_serde, decoded, "{json}");
            let written = serde_json::to_string(&decoded).unwrap();
            assert_eq!(read_json::<T>(&written).unwrap(), decoded, "{written}");
        }
        (Err(_), Err(_)) => {}
        (by_serde, decoded) => panic!("{json} is {by_serde:?} for serde, but {decoded:?}"),
    }
}

/// Other values: of a wrong type for most members. No list: serde also reads a struct from a list, which nothing writes.
fn other() -> impl Strategy<Value = Value> {
    let others = vec![json!(null), json!(-1), json!(1.5), json!("x"), json!(true)];
    proptest::sample::select(others)
}

proptest! {
    #[test]
    fn access_is_read_alike(json in access(), position in 0_usize..60, by in other()) {
        both_agree::<Access>(&json);
        both_agree::<Access>(&spoiled(json, position, &by));
    }

    #[test]
    fn http_tools_are_read_alike(json in http_tool(), position in 0_usize..30, by in other()) {
        both_agree::<HttpToolDefinition>(&json);
        both_agree::<HttpToolDefinition>(&spoiled(json, position, &by));
    }

    #[test]
    fn dialects_are_read_alike(json in dialects(), position in 0_usize..8, by in other()) {
        both_agree::<Dialects>(&json);
        both_agree::<Dialects>(&spoiled(json, position, &by));
    }

    #[test]
    fn names_are_read_alike(name in "(any|declared|Any|agent|skills|none|)", by in other()) {
        for json in [json!(name), by] {
            both_agree::<Accepts>(&json);
            both_agree::<McpTable>(&json!({"tools": json}));
        }
    }

    #[test]
    fn settings_of_runs_are_read_as_they_were_written(
        recovery in proptest::option::of(proptest::sample::select(vec![
            Recovery::Resume, Recovery::Restart, Recovery::Fail,
        ])),
        max_attempts in any::<Option<u32>>(),
        timeout_ms in any::<Option<u64>>(),
        idle_timeout_ms in any::<Option<u64>>(),
        trace in proptest::option::of(proptest::sample::select(vec![
            Trace::Off, Trace::Names, Trace::Full,
        ])),
        trace_for_owners in any::<bool>(),
    ) {
        let run = RunSettings {
            recovery, max_attempts, timeout_ms, idle_timeout_ms, trace, trace_for_owners,
        };
        let written = serde_json::to_string(&run).unwrap();
        prop_assert_eq!(read_json::<RunSettings>(&written).unwrap(), run);
    }

    #[test]
    fn learned_skills_are_read_as_they_were_written(
        parts in vec((0_usize..9, any::<bool>(), vec("[a-z]{0,3}", 0..3)), 0..3),
        own in vec((map(text()), vec("[a-z]{0,3}", 0..3)), 0..3),
    ) {
        let part = |(position, is_remote, names): (usize, bool, Vec<String>)| LearnedPart {
            position,
            source: if is_remote {
                LearnedSource::Remote(names.concat())
            } else {
                LearnedSource::Mcp { choices: names.clone(), own: names }
            },
        };
        let own = own.into_iter().map(|(skill, permissions)| {
            OwnSkill { skill: skill.as_object().unwrap().clone(), permissions }
        });
        let parts = parts.into_iter().map(part).collect();
        let learned = LearnedSkills { parts, own: own.collect() };
        let written = serde_json::to_string(&learned).unwrap();
        prop_assert_eq!(read_json::<LearnedSkills>(&written).unwrap(), learned);
    }
}
