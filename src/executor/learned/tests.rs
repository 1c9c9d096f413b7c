use serde_json::json;

use super::*;
use crate::executor::{Agents, HostedAgent, Parts};
use crate::twins::MemoryPlatform;

const BUILT: UnixMillis = UnixMillis(1_767_603_601_000);
const T0: UnixMillis = UnixMillis(1_767_700_000_000);

fn agents() -> Agents {
    let agent = json!({"slug": "front", "default": true, "development": false, "access": {"open": true},
        "capabilities": {"streaming": true, "push_notifications": false, "extended_agent_card": false},
        "executor": {"kind": "remote", "table": {"remote": "far"}, "run": {}},
        "learned": {"parts": [{"source": {"remote": "far"}, "position": 0}]},
        "card": r#"{"name":"Front","skills":[]}"#});
    let text = json!({"built_ms": BUILT.0, "agents": [agent]}).to_string();
    let outside = MemoryPlatform::default().outside();
    Agents::read(&text, Parts::of(outside)).unwrap()
}

fn taken(ids: &[&str], fetched: UnixMillis) -> Taken {
    let skill = |id: &&str| json!({"id": id, "name": id, "description": "", "tags": []});
    Taken { skills: ids.iter().map(skill).collect(), fetched, is_partial: false }
}

fn ids(agent: &HostedAgent) -> Vec<String> {
    let card: Value = serde_json::from_str(&agent.cards().card).unwrap();
    let skills = card["skills"].as_array().unwrap().iter();
    skills.map(|skill| skill["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn sources_are_looked_at_first_and_then_when_it_is_time() {
    let agents = agents();
    let learned = agents.find(None).unwrap().learned.as_ref().unwrap();
    assert!(learned.is_due(T0));
    learned.look_again(T0.after(60_000));
    assert!(!learned.is_due(T0.after(59_999)));
    assert!(learned.is_due(T0.after(60_000)));
}

#[test]
fn only_the_first_requests_have_patience() {
    let agents = agents();
    let learned = agents.find(None).unwrap().learned.as_ref().unwrap();
    let until = T0.after(PATIENCE_MS);
    for after_ms in [0, 1_999, 2_000, 90_000] {
        assert_eq!(learned.patient_until(T0.after(after_ms)), until);
    }
}

#[test]
fn a_card_without_what_is_not_known_yet_is_newer_than_all_before() {
    let agents = agents();
    let agent = agents.find(None).unwrap();
    agent.show_learned(&[None], T0);
    let cards = agent.cards();
    assert!(cards.is_partial);
    assert_eq!(cards.date, T0.http_date());
    assert_eq!(ids(agent), Vec::<String>::new());
    agent.show_learned(&[None], T0.after(5_000));
    assert_eq!(agent.cards().date, T0.http_date(), "nothing has changed");
}

#[test]
fn a_card_keeps_its_date_while_its_skills_stay() {
    let agents = agents();
    let agent = agents.find(None).unwrap();
    agent.show_learned(&[Some(taken(&["a"], T0))], T0.after(1));
    let first = agent.cards();
    assert_eq!((first.date.clone(), first.is_partial), (T0.http_date(), false));
    let later = T0.after(600_000);
    agent.show_learned(&[Some(taken(&["a"], later))], later);
    assert!(Rc::ptr_eq(&first, &agent.cards()), "also its older forms are kept");
    agent.show_learned(&[Some(taken(&["a", "b"], later))], later);
    assert_eq!(agent.cards().date, later.http_date());
    assert_eq!(ids(agent), ["a", "b"]);
    agent.show_learned(&[Some(taken(&[], BUILT.after(0)))], later);
    assert_eq!(agent.cards().date, BUILT.http_date());
}

#[test]
fn what_is_known_of_a_source_is_kept() {
    let agents = agents();
    let learned = agents.find(None).unwrap().learned.as_ref().unwrap();
    assert_eq!(learned.known(0), None);
    learned.keep(0, &taken(&["a"], T0));
    assert_eq!(learned.known(0), Some(taken(&["a"], T0)));
    assert_eq!(learned.known(1), None);
}

#[test]
fn what_is_not_set_up_is_said_by_name() {
    let agents = agents();
    let learned = agents.find(None).unwrap().learned.as_ref().unwrap();
    let random = Rc::new(MemoryPlatform::default());
    let Err(reason) = learned.remote("far", random.clone()) else { panic!("there is none") };
    assert!(reason.contains("no remote \"far\""), "{reason}");
    let here = learned.remote("front", random).unwrap();
    assert!(matches!(here, Found::Here { slug, .. } if slug == "front"));
}
