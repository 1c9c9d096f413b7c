//! The tests of admission.

use serde_json::json;

use super::message::{MAX_ID_BYTES, MAX_LISTED};
use super::*;
use crate::auth::Caller;
use crate::config::Settings;
use crate::executor::Parts;
use crate::front::tests::deployment;
use crate::twins::MemoryPlatform;
use a2a::binding::MediaType;
use a2a::client::DEPTH_KEY;
use a2a::dialect::Dialects;
use a2a::model::TaskId;

fn agents() -> Agents {
    let agent = |slug: &str, streaming: bool, push_notifications: bool, extensions: Value| {
        json!({
            "slug": slug, "default": slug == "full", "development": false, "card": "",
            "access": {"open": true}, "capabilities": {"streaming": streaming, "push_notifications": push_notifications,
                "extended_agent_card": false, "extensions": extensions},
            "executor": {"kind": "script", "table": {"rules": []}, "run": {}},
        })
    };
    let agents = [
        agent("full", true, true, json!([])),
        agent("bare", false, false, json!([{"uri": "urn:needed", "required": true}])),
        agent("plain", true, false, json!([])),
    ];
    let mut choosy = agent("choosy", true, false, json!([]));
    choosy["accepts"] = json!("declared");
    choosy["card"] = json!({"defaultInputModes": ["text/plain"]}).to_string().into();
    let mut unusable = agent("unusable", true, false, json!([]));
    unusable["executor"]["kind"] = json!("none-such");
    let agents = agents.into_iter().chain([choosy, unusable]).collect::<Vec<_>>();
    let text = json!({"built_ms": 0, "agents": agents}).to_string();
    let outside = MemoryPlatform::default().outside();
    Agents::read(&text, Parts::of(outside)).unwrap()
}

fn settings() -> Settings {
    Settings::read(|name| (name == "MAX_PARTS").then(|| "1".to_owned())).unwrap()
}

fn parameters(headers: &[(&str, &str)]) -> ServiceParameters {
    let header = |name: &str| {
        let found = headers.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    ServiceParameters::read(header, "")
}

/// Sends a method to the agent at a path.
fn admit(
    slug: Option<&str>,
    method: &str,
    params: Value,
    headers: &[(&str, &str)],
    identity: Result<Caller, Error>,
) -> Result<Command<Call>, Error> {
    let (deployment, parameters) = (deployment(settings(), agents()), parameters(headers));
    let door = Door::find(&deployment, slug, "/x")?;
    let mut reply = Reply::rest(MediaType::Json);
    let wanted = Wanted::Method(method);
    let params = Params::Json(params);
    let mut identify = |_: &HostedAgent| match identity.clone() {
        Ok(caller) => Identity::Caller(caller),
        Err(error) => Identity::Refused(error),
    };
    let act_as = headers.iter().find(|(name, _)| *name == "act-as").map(|(_, value)| *value);
    let asked = Asked {
        act_as,
        wanted,
        params,
        parameters: &parameters,
        authorization: None,
        identify: &mut identify,
    };
    door.admit(asked, &mut reply).map_err(|unadmitted| match unadmitted {
        Unadmitted::Refused(error) | Unadmitted::Unlisted(_, error) => error,
        Unadmitted::Pending(tokens) => panic!("{tokens:?} are to be checked"),
    })
}

fn message(parts: usize) -> Value {
    json!({"messageId": "m", "role": "ROLE_USER", "parts": vec![json!({"text": "x"}); parts]})
}

#[test]
fn a_message_from_deeper_than_agents_may_call_each_other_is_refused() {
    let send = |depth: Value| {
        let mut message = message(1);
        message["metadata"] = json!({DEPTH_KEY: depth});
        admit(
            Some("full"),
            "SendMessage",
            json!({"message": message}),
            &[("a2a-version", "1.0")],
            Ok(Caller::new("a")),
        )
    };
    for depth in [json!(8), json!(0), json!(-1), json!("x")] {
        assert!(send(depth.clone()).is_ok(), "{depth}");
    }
    for depth in [json!(9), json!(1e99)] {
        let Err(Error::InvalidParams(violations)) = send(depth.clone()) else { panic!("{depth}") };
        let [violation] = violations.as_slice() else { panic!("{violations:?}") };
        assert_eq!(violation.field, "message.metadata.urn:a2a-edge:depth");
        assert!(violation.description.starts_with("must be at most 8, got "), "{violation:?}");
    }
}

fn settled(call: &mut Call, chosen: Option<&str>, legacy: bool) -> Result<Option<TaskId>, Error> {
    let dialects = Dialects { legacy, ..Dialects::NONE };
    settle_chosen_id(&dialects, call, chosen.and_then(TaskId::new))
}

#[test]
fn an_id_of_ours_is_never_a_chosen_one() {
    let ours = "0aF3".repeat(16);
    let send = || Operation::SendMessage.decode(json!({"message": message(1)})).unwrap();
    let mut call = send();
    assert_eq!(settled(&mut call, Some(&ours), true), Ok(None));
    assert_eq!(call.task_id(), Some(&TaskId::new(ours.as_str()).unwrap()), "the task goes on");
    let mut call = send();
    assert_eq!(settled(&mut call, Some("mine"), true), Ok(TaskId::new("mine")));
    assert_eq!(call.task_id(), None, "it may begin");
    for (id, legacy, is_chosen) in [
        ("mine", true, true),
        ("mine", false, false),
        (ours.as_str(), true, false),
        ("0af3", true, true),
        (&"i".repeat(MAX_ID_BYTES), true, true),
        (&"i".repeat(MAX_ID_BYTES + 1), true, false),
    ] {
        let mut call = Operation::GetTask.decode(json!({"id": id})).unwrap();
        let chosen = is_chosen.then(|| TaskId::new(id).unwrap());
        assert_eq!(settled(&mut call, None, legacy), Ok(chosen), "{id} {legacy}");
    }
}

#[test]
fn a_message_chooses_an_id_of_a_bounded_length() {
    for (length, is_taken) in [(1, true), (MAX_ID_BYTES, true), (MAX_ID_BYTES + 1, false)] {
        let mut call = Operation::SendMessage.decode(json!({"message": message(1)})).unwrap();
        let settled = settled(&mut call, Some(&"i".repeat(length)), true);
        let refused = settled.err().map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(refused.is_empty(), is_taken, "{length}");
        assert!(is_taken || refused.contains("id must have 1 to 256 bytes"), "{refused}");
    }
}

/// A send with every possible fault, but without the faults before `step`.
fn faulty(step: usize) -> Result<Command<Call>, Error> {
    let mended = |fault: usize| fault < step;
    let slug = match step {
        0 => "nobody",
        1..=5 => "bare",
        6..=7 => "plain",
        _ => "full",
    };
    let version = if mended(1) { "1.0" } else { "9.0" };
    let identity = if mended(3) { Ok(Caller::anonymous()) } else { Err(Error::Unavailable("who")) };
    let mut headers = vec![("a2a-version", version)];
    if !mended(10) {
        headers.push(("if-generation-match", "7"));
    }
    if !mended(11) {
        headers.push(("idempotency-key", ""));
    }
    if mended(4) {
        headers.push(("a2a-extensions", "urn:needed"));
    }
    let url = if mended(8) { "https://a.example" } else { "http://a.example" };
    let parts = if mended(9) { 1 } else { 2 };
    let mut params = json!({
        "message": message(parts),
        "configuration": {"taskPushNotificationConfig": {"url": url}},
    });
    if !mended(2) {
        params["tenant"] = json!("somebody");
    }
    if !mended(6) {
        params["message"]["role"] = json!("ROLE_NOBODY");
    }
    admit(Some(slug), "SendStreamingMessage", params, &headers, identity)
}

#[test]
fn the_first_fault_in_the_order_of_the_steps_is_told() {
    for (step, code, text) in [
        (0, -32601, "nothing is served at /x"),
        (1, -32009, "asks for A2A 9.0"),
        (2, -32602, "tenant names no agent"),
        (3, -32603, "who"),
        (4, -32008, "urn:needed"),
        (5, -32004, "SendStreamingMessage is not offered"),
        (6, -32602, "message.role"),
        (7, -32003, "push notifications are not supported"),
        (8, -32602, "configuration.taskPushNotificationConfig.url must be https"),
        (9, -32602, "message.parts must have at most 1 parts"),
        (10, -32602, "If-Generation-Match"),
        (11, -32602, "Idempotency-Key"),
    ] {
        let refused = faulty(step).expect_err(text);
        assert_eq!(refused.wire().code, code, "{step}: {refused}");
        assert!(refused.to_string().contains(text), "{step}: {refused}");
    }
    assert!(faulty(12).is_ok());
}

#[test]
fn an_agent_that_takes_what_its_card_lists_refuses_other_parts_behind_the_other_limits() {
    let send = |parts: Value| {
        let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": parts});
        let caller = Ok(Caller::anonymous());
        admit(Some("choosy"), "SendMessage", json!({"message": message}), &[], caller)
    };
    assert!(send(json!([{"text": "a"}])).is_ok());
    let refused = send(json!([{"data": {}}])).unwrap_err();
    assert!(matches!(refused, Error::PartNotAccepted(_)), "{refused}");
    let refused = send(json!([{"data": {}}, {"text": "a"}])).unwrap_err();
    assert!(matches!(refused, Error::InvalidParams(_)), "{refused}");
}

#[test]
fn an_agent_that_cannot_run_takes_no_messages_and_its_tasks_can_be_read() {
    let admit =
        |method, params| admit(Some("unusable"), method, params, &[], Ok(Caller::anonymous()));
    for method in ["SendMessage", "SendStreamingMessage"] {
        let refused = admit(method, json!({"message": message(1)})).unwrap_err();
        assert_eq!(refused, Error::AgentUnusable("unusable".to_owned()));
    }
    for (method, params) in [("GetTask", json!({"id": "t"})), ("ListTasks", json!({}))] {
        assert!(admit(method, params).is_ok(), "{method}");
    }
}

#[test]
fn a_command_is_for_the_agent_of_the_path_or_at_the_root_for_that_of_the_tenant() {
    let caller = || Ok(Caller::anonymous());
    for (slug, tenant, agent) in [
        (None, None, Some("full")),
        (None, Some("plain"), Some("plain")),
        (None, Some(""), Some("full")),
        (Some("plain"), None, Some("plain")),
        (Some("plain"), Some("plain"), Some("plain")),
        (Some("plain"), Some("full"), None),
        (None, Some("nobody"), None),
    ] {
        let params = json!({"id": "t", "tenant": tenant});
        let admitted = admit(slug, "GetTask", params, &[], caller());
        let found = admitted.ok().map(|command| command.agent);
        assert_eq!(found.as_deref(), agent, "{slug:?} {tenant:?}");
    }
}

#[test]
fn a_send_under_a_key_has_a_fingerprint_and_other_calls_have_none() {
    for (method, params, key, has_fingerprint) in [
        ("SendMessage", json!({"message": message(1)}), Some("k"), true),
        ("SendMessage", json!({"message": message(1)}), None, false),
        ("GetTask", json!({"id": "t"}), Some("k"), false),
    ] {
        let headers: Vec<_> = key.map(|key| ("idempotency-key", key)).into_iter().collect();
        let command = admit(None, method, params, &headers, Ok(Caller::anonymous())).unwrap();
        assert_eq!(command.fingerprint.is_some(), has_fingerprint, "{method} {key:?}");
    }
}

#[test]
fn extensions_that_both_sides_name_are_in_use() {
    let headers = [("a2a-extensions", "urn:needed, urn:other")];
    let caller = Ok(Caller::anonymous());
    let command = admit(Some("bare"), "GetTask", json!({"id": "t"}), &headers, caller);
    let header = command.unwrap().reply.extensions_header();
    assert_eq!(header, Some(("a2a-extensions", "urn:needed".to_owned())));
}

#[test]
fn lists_of_names_in_a_message_are_bounded() {
    for field in ["extensions", "referenceTaskIds"] {
        for (count, is_taken) in [(MAX_LISTED, true), (MAX_LISTED + 1, false)] {
            let mut message = message(1);
            message[field] = json!(vec!["x"; count]);
            let params = json!({"message": message});
            let admitted = admit(None, "SendMessage", params, &[], Ok(Caller::anonymous()));
            assert_eq!(admitted.is_ok(), is_taken, "{field} {count}");
        }
    }
}
