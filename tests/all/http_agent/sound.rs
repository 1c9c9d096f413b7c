//! Agents that behave correctly: the content of their requests, and the effects of their verbs.

use a2a::model::{Message, Part, TaskState};
use a2a_edge::push::signature::SigningSecret;
use a2a_edge::task::LogEntry;
use a2a_edge::twins::MemoryPlatform;
use serde_json::{Value, json};

use crate::support::front::Front;
use crate::support::http_agent::{Answer, Fate, HttpAgent, SIGNING_SECRET, TOKEN};

fn front(more: Value) -> (MemoryPlatform, Front, HttpAgent) {
    let platform = MemoryPlatform::default();
    let (front, agent) = HttpAgent::front(&platform, &more);
    (platform, front, agent)
}

/// Sends a text and waits for the end of the turn.
fn ask(front: &Front, text: &str) {
    front.send(text);
    front.settle();
    front.finish();
}

fn said(front: &Front) -> String {
    let task = front.task().expect("a task");
    task.status.message.as_ref().map(Message::text).unwrap_or_default()
}

#[test]
fn the_agent_is_told_the_turn_and_who_asks() {
    let (_, front, agent) = front(json!({}));
    agent.answer_with(|asked| match asked.number {
        1 => Answer::json(&json!([
            {"do": "artifact", "id": "seats", "name": "Seats", "data": {"left": 2}},
            {"do": "input_required", "text": "Which seat?"},
        ])),
        _ => Answer::json(&json!({"do": "complete", "text": "booked"})),
    });
    let front = front.with_caller("key:ada");
    ask(&front, "a seat please");
    assert_eq!(front.state(), Some(TaskState::InputRequired));
    ask(&front, "the left one");
    assert_eq!((front.state(), said(&front).as_str()), (Some(TaskState::Completed), "booked"));

    let asked = agent.asked();
    let [first, second] = asked.as_slice() else { panic!("{} requests", asked.len()) };
    for (name, value) in [
        ("accept", "text/event-stream, application/x-ndjson, application/json"),
        ("content-type", "application/json"),
        ("authorization", &format!("Bearer {TOKEN}")),
    ] {
        assert_eq!(first.header(name), Some(value));
    }
    assert_ne!(
        first.header("idempotency-key"),
        second.header("idempotency-key"),
        "one for each turn"
    );
    let body = first.body();
    for (name, value) in [
        ("version", json!("1")),
        ("agent", json!("agent")),
        ("taskId", json!("t")),
        ("turn", json!(1)),
        ("attempt", json!(1)),
        ("resumes", json!(false)),
        ("caller", json!({"id": "key:ada", "permissions": []})),
        ("acceptedOutputModes", json!(["text/plain"])),
    ] {
        assert_eq!(body[name], value, "{name}");
    }
    assert_eq!(body["message"]["parts"], json!([{"text": "a seat please"}]));
    assert_eq!(body["message"]["metadata"], json!({"from": "client"}));
    assert_eq!(body["history"], json!([body["message"]]));
    assert!(body["timeLeftMs"].as_u64().is_some_and(|left| left > 200_000), "{body}");

    let body = second.body();
    assert_eq!(
        (&body["turn"], &body["attempt"], &body["resumes"]),
        (&json!(2), &json!(1), &json!(false))
    );
    let texts: Vec<&str> = body["history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|said| said["parts"][0]["text"].as_str().unwrap())
        .collect();
    assert_eq!(texts, ["a seat please", "Which seat?", "the left one"]);
    assert_eq!(body["task"]["artifacts"][0]["parts"], json!([{"data": {"left": 2}}]));
    assert_eq!(body["task"].get("history"), None, "it stands beside the task");
    assert_eq!(body["contextId"], first.body()["contextId"]);
}

#[test]
fn every_verb_becomes_what_its_name_says() {
    for (verb, state, text) in [
        (json!({"do": "complete"}), TaskState::Completed, ""),
        (
            json!({"do": "complete", "parts": [{"text": "a"}, {"text": "b"}]}),
            TaskState::Completed,
            "a\nb",
        ),
        (json!({"do": "fail", "text": "no"}), TaskState::Failed, "no"),
        (json!({"do": "reject", "text": "never"}), TaskState::Rejected, "never"),
        (json!({"do": "input_required", "text": "which?"}), TaskState::InputRequired, "which?"),
        (json!({"do": "auth_required", "text": "who?"}), TaskState::AuthRequired, "who?"),
    ] {
        for answer in [
            Answer::json(&verb),
            Answer::json(&json!([{"do": "working", "text": "on it"}, verb])),
            Answer::lines(&[json!({"do": "working", "text": "on it"}), verb.clone()]),
            Answer::events(&[json!({"do": "working"}), verb.clone()]),
        ] {
            let (_, front, agent) = front(json!({}));
            agent.answers(vec![answer]);
            ask(&front, "go");
            assert_eq!((front.state(), said(&front).as_str()), (Some(state), text), "{verb}");
        }
    }
}

#[test]
fn a_reply_that_comes_at_once_is_a_message_and_makes_no_task() {
    let (_, front, agent) = front(json!({}));
    agent.answers(vec![Answer::json(&json!({"do": "reply", "text": "hello"}))]);
    ask(&front, "hi");
    assert!(front.task().is_none());
    let (_, front, agent) = self::front(json!({}));
    agent.answers(vec![Answer::json(
        &json!([{"do": "working"}, {"do": "reply", "data": {"a": 1}}]),
    )]);
    ask(&front, "hi");
    assert_eq!(front.state(), Some(TaskState::Completed));
}

#[test]
fn requests_are_signed_as_notifications_are() {
    let (_, front, agent) = front(json!({"cancel_url": "/stop"}));
    agent.answers(vec![Answer::status(503, ""), Answer::events(&[]).then_hangs()]);
    front.send("go");
    front.run(None, || agent.asked().len() == 2);
    front.cancel();
    front.finish();
    let asked = agent.asked();
    assert_eq!(asked.len(), 3, "the third one tells of the cancel");
    let secret = SigningSecret::parse(SIGNING_SECRET).unwrap();
    let mut ids = Vec::new();
    for asked in &asked {
        let id = asked.header("webhook-id").expect("an id");
        let timestamp = asked.header("webhook-timestamp").expect("a time").parse().unwrap();
        assert_eq!(
            asked.header("webhook-signature"),
            Some(secret.sign(id, timestamp, &asked.text).as_str())
        );
        ids.push(id);
    }
    ids.dedup();
    assert_eq!(ids.len(), 3, "a receiver may refuse an id that it has seen");
}

#[test]
fn a_cancel_drops_the_connection_and_is_told_where_the_agent_wants_it() {
    for cancel_url in [None, Some("/stop?now"), Some("https://other.example/stop")] {
        let more = cancel_url.map_or(json!({}), |url| json!({"cancel_url": url}));
        let (_, front, agent) = front(more);
        agent.answer_with(|asked| match asked.number {
            1 => Answer::events(&[json!({"do": "working", "text": "thinking"})]).then_hangs(),
            _ => Answer::status(500, "whatever"),
        });
        front.send("go");
        front.run(None, || front.state() == Some(TaskState::Working));
        front.cancel();
        front.finish();
        assert_eq!(front.state(), Some(TaskState::Canceled));
        let asked = agent.asked();
        assert_eq!(asked[0].fate(), Fate::Left);
        let told: Vec<&str> = asked[1..].iter().map(|asked| asked.url.as_str()).collect();
        match cancel_url {
            None => assert!(told.is_empty(), "{told:?}"),
            Some(url) => {
                let url = if url.starts_with('/') { "https://agent.example/stop?now" } else { url };
                assert_eq!(told, [url], "once");
                let body = asked[1].body();
                assert_eq!(
                    (&body["canceled"], &body["taskId"], &body["turn"]),
                    (&json!(true), &json!("t"), &json!(1))
                );
                assert_eq!(asked[1].header("idempotency-key"), asked[0].header("idempotency-key"));
            }
        }
    }
}

#[test]
fn an_agent_that_nobody_waits_for_any_more_is_told_so() {
    let (_, front, agent) = front(json!({"cancel_url": "/stop", "timeout_ms": 5_000}));
    agent.answer_with(|asked| match asked.number {
        1 => Answer::json(&json!({"do": "complete"})).after(60_000),
        _ => Answer::status(204, ""),
    });
    ask(&front, "go");
    assert_eq!(front.state(), Some(TaskState::Failed));
    let urls: Vec<String> = agent.asked().into_iter().map(|asked| asked.url).collect();
    assert_eq!(urls, ["https://agent.example/turn", "https://agent.example/stop"]);
}

#[test]
fn pieces_of_text_that_come_fast_share_events_and_nothing_is_lost() {
    let (_, front, agent) = front(json!({"event_interval_ms": 100}));
    let mut verbs = vec![json!({"do": "artifact", "text": "", "more": true})];
    verbs.extend((0..500).map(|number| json!({"do": "append", "text": format!("{number} ")})));
    verbs.push(json!({"do": "complete"}));
    agent.answers(vec![Answer::lines(&verbs).paced(5)]);
    ask(&front, "count");
    let task = front.task().unwrap();
    let text: String = (0..500).map(|number| format!("{number} ")).collect();
    assert_eq!(task.artifacts[0].text(), Some(text));
    assert_eq!(task.artifacts[0].artifact_id, "artifact-1-1");
    let chunks = front
        .entries()
        .into_iter()
        .filter(|entry| matches!(entry, LogEntry::ArtifactUpdate(_)))
        .count();
    assert!((20..=40).contains(&chunks), "{chunks} chunks in 2,500 ms");
}

#[test]
fn artifacts_without_an_id_are_others_in_each_turn_and_the_same_in_each_attempt() {
    let (_, front, agent) = front(json!({}));
    agent.answer_with(|asked| {
        let text = format!("text {}", asked.number);
        let artifact = json!({"do": "artifact", "text": text});
        match asked.number {
            1 => Answer::lines(&[artifact]).then_breaks(),
            2 => Answer::lines(&[
                artifact,
                json!({"do": "artifact", "text": "other"}),
                json!({"do": "input_required", "text": "?"}),
            ]),
            _ => Answer::lines(&[artifact, json!({"do": "complete"})]),
        }
    });
    ask(&front, "one");
    ask(&front, "two");
    let artifacts: Vec<String> = front
        .task()
        .unwrap()
        .artifacts
        .iter()
        .map(|it| format!("{} {}", it.artifact_id, it.text().unwrap()))
        .collect();
    assert_eq!(artifacts, ["artifact-1-1 text 2", "artifact-1-2 other", "artifact-2-1 text 3"]);
    let told: Vec<(u64, bool)> = agent
        .asked()
        .iter()
        .map(|asked| {
            (asked.body()["attempt"].as_u64().unwrap(), asked.body()["resumes"] == json!(true))
        })
        .collect();
    assert_eq!(told, [(1, false), (2, true), (1, false)]);
}

#[test]
fn an_answer_is_the_same_in_any_pieces() {
    let verbs = [
        json!({"do": "working", "text": "é"}),
        json!({"do": "artifact", "id": "a", "text": "one\ntwo 😀", "more": true}),
        json!({"do": "append", "id": "a", "text": " three", "last": true}),
        json!({"do": "artifact", "id": "b", "raw": "aGk=", "filename": "f", "mediaType": "a/b"}),
        json!({"do": "complete", "text": "done"}),
    ];
    let transcript = |answer: Answer| {
        let (_, front, agent) = front(json!({"event_interval_ms": 0}));
        agent.answers(vec![answer]);
        ask(&front, "go");
        assert_eq!(front.state(), Some(TaskState::Completed), "{}", said(&front));
        front.transcript()
    };
    let events = verbs
        .iter()
        .map(|verb| format!(": note\r\nevent: x\r\ndata: {verb}\r\n\r\n"))
        .collect::<String>();
    let lines = verbs.iter().map(|verb| format!("{verb}\r\n\r\n")).collect::<String>();
    let list = Value::from(verbs.to_vec()).to_string();
    let expected = transcript(Answer::lines(&verbs));
    assert_eq!(expected, ["go", "é", "done", "a: one\ntwo 😀 three", "b: "]);
    for (content_type, body) in [
        ("text/event-stream", events),
        ("Application/NDJSON; charset=utf-8", lines),
        ("application/json;charset=utf-8", list),
    ] {
        for bytes in [1, 2, 3, 5, 7, 64, 10_000] {
            let answer = Answer::raw(content_type, &body).split_every(bytes);
            assert_eq!(transcript(answer), expected, "{content_type} by {bytes}");
        }
    }
}

#[test]
fn what_was_said_in_the_conversation_before_comes_first() {
    for (context_tasks, expected) in
        [(5, &["paint it", "in red\nit is red", "and now?"][..]), (0, &["and now?"][..])]
    {
        let (platform, front, agent) = front(json!({"context_tasks": context_tasks}));
        // The earlier tasks are requested from our own server.
        platform.memory_http().answer_with(|_, body| {
            let call: Value = serde_json::from_str(body).unwrap();
            let said = |id: &str, role: &str, text: &str| json!({"messageId": id, "role": role, "parts": [{"text": text}]});
            let task = json!({
                "id": "t-0", "contextId": "c-1", "status": {"state": "TASK_STATE_COMPLETED", "message": said("m-2", "ROLE_AGENT", "it is red")},
                "history": [said("m-0", "ROLE_USER", "paint it")],
                "artifacts": [{"artifactId": "a", "parts": [{"text": "in "}, {"text": "red"}]}],
            });
            let result = match call["method"].as_str() {
                Some("ListTasks") => json!({"tasks": [task], "nextPageToken": "", "pageSize": 6, "totalSize": 1}),
                _ => task,
            };
            let answer = json!({"jsonrpc": "2.0", "id": call["id"], "result": result}).to_string();
            let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
            Ok(a2a::http::HttpAnswer { headers, ..a2a::http::memory::ok(answer) })
        });
        agent.answers(vec![Answer::status(503, ""), Answer::json(&json!({"do": "complete"}))]);
        front.send_parts(vec![Part::text("and now?")], Some("c-1"));
        front.settle();
        front.finish();
        assert_eq!(front.state(), Some(TaskState::Completed), "{}", said(&front));
        for asked in agent.asked() {
            let body = asked.body();
            let history = body["history"].as_array().unwrap().iter();
            let texts: Vec<String> = history
                .map(|message| {
                    let parts = message["parts"].as_array().unwrap().iter();
                    parts.map(|part| part["text"].as_str().unwrap()).collect::<Vec<_>>().join("\n")
                })
                .collect();
            assert_eq!(texts, expected, "in each attempt");
        }
        let asked = platform.memory_http().called().len();
        assert_eq!(asked, if context_tasks == 0 { 0 } else { 2 }, "once for all attempts");
    }
}
