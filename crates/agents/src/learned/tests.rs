use serde_json::json;

use super::*;
use crate::Problem;
use crate::checker::AgentDefinition;
use crate::checker::FileSkill;
use crate::checker::skills::{learned_of, problems_of, public_skills, restricted_skills};
use crate::tool::tool;
use a2a::binding::discovery::at_origin;
use a2a::model::decode::{decode, read_json};

/// Says.
#[tool]
fn say() {}

fn skill(id: &str) -> AgentSkill {
    AgentSkill {
        id: id.to_owned(),
        name: format!("The {id}"),
        description: format!("Does {id}."),
        tags: vec!["far".to_owned()],
        examples: Vec::new(),
        input_modes: Vec::new(),
        output_modes: Vec::new(),
    }
}

fn agent(text: &str) -> AgentDefinition {
    let about = "name = 'A'\ndescription = 'B'\nversion = '1'\n";
    let file = |folder: &str, id: &str| FileSkill {
        folder: folder.to_owned(),
        file: format!("{folder}{id}/SKILL.md"),
        skill: skill(id),
    };
    AgentDefinition {
        file_skills: vec![file("one/", "a"), file("one/", "b"), file("two/", "c")],
        ..toml::from_str(&format!("{about}{text}")).unwrap()
    }
}

const FRONT: &str = "executor = { kind = 'remote', remote = { remote = 'far' } }";

/// The ids of the skills in the card, and of the skills that need permissions with their positions, after these skills
/// were learned.
fn shown(text: &str, learned: &[&str]) -> (Vec<String>, Vec<(usize, String)>) {
    let shown = show(&agent(text), &learned.iter().map(|id| skill(id)).collect::<Vec<_>>());
    let card: Value = serde_json::from_str(&shown.card).unwrap();
    let id = |skill: &Value| skill["id"].as_str().unwrap().to_owned();
    let public = card["skills"].as_array().unwrap().iter().map(id).collect();
    let restricted = shown.restricted.iter().map(|one| (one.position, one.id().to_owned()));
    (public, restricted.collect())
}

fn show(agent: &AgentDefinition, skills: &[AgentSkill]) -> ShownSkills {
    assert_eq!(problems_of(agent, &[]), []);
    let card = json!({"name": "A", "skills": public_skills(agent, &[]), "z": 1}).to_string();
    let restricted = restricted_skills(agent, &[]).unwrap();
    let learned = learned_of(agent, &[]).unwrap();
    learned.show(&card, &restricted, &[&take_over(skills)]).unwrap()
}

#[test]
fn learned_skills_stand_where_their_source_stands() {
    for (from, learned, expected) in [
        ("['remote']", &["x", "y"][..], "x y"),
        ("['remote']", &[], ""),
        ("['one/', 'remote']", &["x"], "a b x"),
        ("['remote', 'one/']", &["x"], "x a b"),
        ("['one/', 'remote', 'two/']", &["x"], "a b x c"),
        // A skill that the checker knows has priority.
        ("['remote', 'one/']", &["b", "x", "x"], "x a b"),
    ] {
        let (public, _) = shown(&format!("skills_from = {from}\n{FRONT}"), learned);
        assert_eq!(public.join(" "), expected, "{from}");
    }
}

#[test]
fn the_file_has_the_last_word_about_a_learned_skill() {
    let text = format!(
        "skills_from = ['one/', 'remote', 'two/']\n{FRONT}\n[access.schemes.tls]\nkind = 'mutual_tls'\n\
         [[skills]]\nid = 'x'\nname = 'Mine'\npermissions = ['p']\n\
         [[skills]]\nid = 'y'\ndescription = 'Mine.'\n[[skills]]\nid = 'b'\npermissions = ['q']\n\
         [[skills]]\nid = 'own'\n"
    );
    let places = |all: &[(usize, &str)]| -> Vec<(usize, String)> {
        all.iter().map(|(place, id)| (*place, (*id).to_owned())).collect()
    };
    // Before any skill is learned, the skills of the agent file are shown by themselves.
    let (public, restricted) = shown(&text, &[]);
    assert_eq!(public.join(" "), "a c y own");
    assert_eq!(restricted, places(&[(1, "b"), (3, "x")]));
    let (public, restricted) = shown(&text, &["y", "z", "x"]);
    assert_eq!(public.join(" "), "a y z c own");
    assert_eq!(restricted, places(&[(1, "b"), (4, "x")]));

    let all = show(&agent(&text), &[skill("x"), skill("y")]);
    let x = &all.restricted[1];
    assert_eq!((x.permissions.join(" "), x.id()), ("p".to_owned(), "x"));
    assert_eq!((&x.skill["name"], &x.skill["description"]), (&json!("Mine"), &json!("Does x.")));
    let card: Value = serde_json::from_str(&all.card).unwrap();
    let y = &card["skills"][1];
    assert_eq!(
        (&y["name"], &y["description"], &y["tags"]),
        (&json!("The y"), &json!("Mine."), &json!(["far"]))
    );
    assert_eq!(card["z"], 1);
    assert!(!all.card.contains("Does x."), "{}", all.card);
}

#[test]
fn what_is_too_much_is_left_out_and_the_rest_stays() {
    let many: Vec<AgentSkill> = (0..150).map(|number| skill(&format!("s{number}"))).collect();
    assert_eq!(take_over(&many).len(), MAX_LEARNED);
    let long =
        |id: &str, letters: usize| AgentSkill { description: "x".repeat(letters), ..skill(id) };
    let taken = take_over(&[long("a", MAX_TEXT_BYTES + 1), long("b", MAX_TEXT_BYTES), skill("c")]);
    assert_eq!(taken.iter().map(id_of).collect::<Vec<_>>(), ["b", "c"]);
    let tag = AgentSkill { tags: vec!["x".repeat(MAX_TEXT_BYTES + 1)], ..skill("d") };
    let blank = skill(" ");
    assert_eq!(take_over(&[tag, blank]), Vec::<Value>::new());
    // If a skill does not fit, smaller ones after it may still fit.
    let large: Vec<_> =
        (0..20).map(|number| long(&format!("l{number}"), MAX_TEXT_BYTES - 100)).collect();
    let taken = take_over(&[large, vec![skill("small")]].concat());
    let size: usize = taken.iter().map(|skill| skill.to_string().len()).sum();
    assert!(size <= MAX_LEARNED_BYTES && size > MAX_LEARNED_BYTES - 2 * MAX_TEXT_BYTES, "{size}");
    assert_eq!(id_of(taken.last().unwrap()), "small");
    let empty = AgentSkill { tags: vec![String::new(); 100_000], ..skill("e") };
    assert_eq!(take_over(&[empty]), Vec::<Value>::new());
    // The limit applies to all sources together.
    let agent = agent(&format!("skills_from = ['remote']\n{FRONT}"));
    let LearnedSkills { parts, .. } = learned_of(&agent, &[]).unwrap();
    let learned = LearnedSkills { parts: [parts.clone(), parts].concat(), own: Vec::new() };
    let others: Vec<_> = (0..99).map(|number| skill(&format!("o{number}"))).collect();
    let shown =
        learned.show(r#"{"skills":[]}"#, &[], &[&take_over(&others), &take_over(&many)]).unwrap();
    let card: Value = serde_json::from_str(&shown.card).unwrap();
    assert_eq!(card["skills"].as_array().unwrap().len(), MAX_LEARNED);
    assert_eq!(card["skills"][99]["id"], "s0");
}

#[test]
fn a_learned_skill_keeps_the_media_types_that_hold_for_it() {
    let modes = |own: &[&str]| own.iter().map(|mode| (*mode).to_owned()).collect::<Vec<_>>();
    let far = RemoteCard::parse(
        &json!({
            "name": "Far", "description": "", "version": "1", "capabilities": {},
            "supportedInterfaces": [{"url": "https://a.example", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
            "defaultInputModes": ["image/png"], "defaultOutputModes": ["text/plain"],
            "skills": [skill("a"), AgentSkill { input_modes: modes(&["text/plain"]), ..skill("b") }],
        })
        .to_string(),
    );
    let learned = LearnedSkills {
        parts: vec![LearnedPart { source: LearnedSource::Remote("far".to_owned()), position: 0 }],
        own: Vec::new(),
    };
    let card = json!({"defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"], "skills": []});
    let show = |taken: &[Value]| learned.show(&card.to_string(), &[], &[taken]).unwrap().card;
    let shown = show(&take_over_card(&far.unwrap()));
    let expected = [AgentSkill { input_modes: modes(&["image/png"]), ..skill("a") }, skill("b")];
    let read: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(read["skills"], json!(expected));
    // The skills of an agent of the same Worker produce the same card.
    assert_eq!(show(&skills_of_card(&shown)), shown);
}

#[test]
fn nothing_that_others_say_is_a_placeholder() {
    let evil = "{origin}/${SECRET} \"},\"x\": </script>\u{0}{{origin}origin}";
    let skill = AgentSkill {
        id: "e{origin}".to_owned(),
        name: evil.to_owned(),
        description: evil.to_owned(),
        tags: vec![evil.to_owned()],
        examples: vec![evil.to_owned()],
        input_modes: vec![evil.to_owned()],
        output_modes: vec![evil.to_owned()],
    };
    let agent = agent(&format!("skills_from = ['remote']\n{FRONT}"));
    let shown = show(&agent, std::slice::from_ref(&skill));
    let card = at_origin(&shown.card, "https://a.example");
    let card: Value = serde_json::from_str(&card).unwrap();
    assert_eq!(card["skills"], json!([skill]));
    assert_eq!(card.as_object().unwrap().len(), 3);
}

#[test]
fn a_source_of_learned_skills_is_refused_where_there_is_none() {
    let told = |text: &str| problems_of(&agent(text), &[&say()]);
    let tools =
        "skills_from = ['remote']\nexecutor = { kind = 'tools', tools = { names = ['say'] } }";
    let [Problem { key, text: fix, .. }] = &told(tools)[..] else { panic!("one") };
    assert_eq!(key, "skills_from[0]");
    assert!(fix.starts_with("is \"remote\", but an agent of kind \"tools\" is no front"), "{fix}");
    let twice = format!("skills_from = ['remote', 'remote']\n{FRONT}");
    assert_eq!(told(&twice), [Problem::at("skills_from[1]", "stands twice")]);
    assert_eq!(
        learned_of(&agent("skills_from = ['one/']\nexecutor = { kind = 'seats' }"), &[]),
        None
    );
}

#[test]
fn a_front_needs_no_skills_of_its_own_if_it_learns_some() {
    let told = |text: &str| problems_of(&agent(text), &[]);
    let [Problem { key, text: fix, .. }] = &told(FRONT)[..] else { panic!("one") };
    assert_eq!(key, "skills");
    assert!(fix.contains("`[[skills]]`, or `skills_from = [\"remote\"]`"), "{fix}");
    assert_eq!(told(&format!("skills_from = ['remote']\n{FRONT}")), []);
}

#[test]
fn what_is_learned_is_embedded_by_its_source_alone() {
    let text = format!(
        "skills_from = ['one/', 'remote']\n{FRONT}\n[[skills]]\nid = 'x'\ninput_modes = ['a/b']\n\
         [[skills]]\nid = 'a'"
    );
    let learned = learned_of(&agent(&text), &[]).unwrap();
    let json = serde_json::to_value(&learned).unwrap();
    let expected = json!({"parts": [{"source": {"remote": "far"}, "position": 2}], "own": [{"skill": {"id": "x", "inputModes": ["a/b"]}}]});
    assert_eq!(json, expected);
    assert_eq!(decode::<LearnedSkills>(json).unwrap(), learned);
}

/// An agent with tools of the Worker and of servers.
const SERVERS: &str = "executor = { kind = 'tools', tools = { names = ['say'], mcp = ['files', 'github:a*'] } }\n\
    [access.schemes.tls]\nkind = 'mutual_tls'\n";

fn of_server(id: &str, server: &str) -> AgentSkill {
    AgentSkill { tags: vec![server.to_owned()], ..skill(id) }
}

#[test]
fn tools_of_servers_stand_behind_those_of_the_worker() {
    let agent = agent(&format!("skills_from = ['one/', 'tools', 'two/']\n{SERVERS}"));
    let learned = learned_of(&agent, &[&say()]).unwrap();
    let source = LearnedSource::Mcp {
        choices: vec!["files".to_owned(), "github:a*".to_owned()],
        own: vec!["say".to_owned()],
    };
    assert_eq!(learned.parts, [LearnedPart { source, position: 3 }]);
    let text = serde_json::to_string(&learned).unwrap();
    assert_eq!(read_json::<LearnedSkills>(&text).unwrap(), learned);
    let card = json!({"skills": public_skills(&agent, &[&say()])}).to_string();
    let taken = take_over(&[of_server("read", "files")]);
    let shown = learned.show(&card, &[], &[&taken]).unwrap();
    let card: Value = serde_json::from_str(&shown.card).unwrap();
    let ids: Vec<_> = card["skills"].as_array().unwrap().iter().map(id_of).collect();
    assert_eq!(ids, ["a", "b", "say", "read", "c"]);
    assert_eq!(
        learned_of(
            &super::tests::agent(&SERVERS.replace(", mcp = ['files', 'github:a*']", "")),
            &[&say()]
        ),
        None
    );
}

#[test]
fn permissions_hold_for_a_tool_whichever_of_its_names_is_its_id() {
    for rule in ["read", "files.read"] {
        let text = format!(
            "{SERVERS}[[skills]]\nid = '{rule}'\ndescription = 'Mine.'\npermissions = ['see']"
        );
        let agent = agent(&text);
        assert_eq!(problems_of(&agent, &[&say()]), []);
        let learned = learned_of(&agent, &[&say()]).unwrap();
        let card = json!({"skills": public_skills(&agent, &[&say()])}).to_string();
        let restricted = restricted_skills(&agent, &[&say()]).unwrap();
        for id in ["read", "files.read"] {
            let others = [
                of_server(id, "files"),
                of_server("write", "files"),
                of_server("a.read", "github"),
            ];
            let shown = learned.show(&card, &restricted, &[&take_over(&others)]).unwrap();
            let card: Value = serde_json::from_str(&shown.card).unwrap();
            let ids: Vec<_> = card["skills"].as_array().unwrap().iter().map(id_of).collect();
            assert_eq!(ids, ["say", "write", "a.read"], "{rule} {id}");
            let hidden = shown.restricted.iter().find(|one| one.id() == id).unwrap();
            assert_eq!(hidden.permissions, ["see"]);
            let description = if rule == id { "Mine." } else { &format!("Does {id}.") };
            assert_eq!(hidden.skill["description"], description);
        }
    }
}
