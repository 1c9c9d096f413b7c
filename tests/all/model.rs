//! Agents of kind `model`, with a model in memory: their requests, their answers, and the ends of their
//! tasks.

use std::cell::RefCell;
use std::rc::Rc;

use crate::support::model::{Answer, Fate};
use crate::support::modeled::{KEY, Modeled, Setup};
use a2a::http::HttpAnswer;
use a2a::http::memory::ok;
use a2a::model::{Metadata, Part, StreamResponse, TaskId, TaskState};
use a2a_edge::task::TaskMachine;
use a2a_edge::tool::FunctionTool;
use a2a_edge::tool::prelude::{ToolCall, Value, json, tool};

/// Says what it is given.
#[tool]
fn say(text: String) -> String {
    format!("they say {text}")
}

/// The messages in the newest request to the model, without the instructions.
fn told(agent: &Modeled) -> Vec<Value> {
    let messages = agent.model.last().body["messages"].as_array().unwrap().clone();
    messages.into_iter().filter(|message| message["role"] != "system").collect()
}

#[test]
fn a_text_is_streamed_into_the_artifact() {
    let agent = Setup::default().build();
    let pieces = ["The ", "sky ", "is ", "blue", "."];
    agent.model.answers([Answer::said(&pieces).pace(60).usage(20, 5)]);
    assert_eq!(agent.ask("What color is the sky?"), TaskState::Completed);
    assert_eq!(agent.answer(), "The sky is blue.");
    let asked = agent.model.last();
    assert_eq!(asked.header("authorization"), Some("Bearer sk-marker-0123456789abcdef"));
    assert_eq!(
        asked.body["messages"],
        json!([
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "What color is the sky?"},
        ])
    );
    let task = agent.task();
    assert_eq!(task.artifacts.len(), 1);
    assert_eq!(task.artifacts[0].artifact_id, "answer");
    // The first piece is sent at once, later pieces are collected for a tenth of a second.
    let chunks: Vec<_> = task.artifacts[0].parts.iter().filter_map(Part::as_text).collect();
    assert_eq!(chunks, ["The ", "sky ", "is blue", ".", ""]);
    assert_eq!(task.status.message, None);
}

#[test]
fn a_key_that_comes_in_pieces_is_replaced_and_in_no_row() {
    for (size, pace_ms) in [(1, 10), (1, 250), (2, 60), (3, 250), (5, 120), (7, 250), (100, 60)] {
        let agent = Setup::default().build();
        let text = format!("My key is {KEY}, as is {KEY}s.");
        let pieces: Vec<&str> =
            text.as_bytes().chunks(size).map(|piece| str::from_utf8(piece).unwrap()).collect();
        agent.model.answers([Answer::said(&pieces).pace(pace_ms)]);
        assert_eq!(agent.ask("What is your key?"), TaskState::Completed);
        let answer = agent.answer();
        if pace_ms < 200 {
            let whole = "My key is [MODEL_KEY], as is [MODEL_KEY]s.";
            assert_eq!(answer, whole, "{size} {pace_ms}");
        } else {
            // At most five characters are released if nothing follows for a fifth of a second.
            let mut pieces = answer.split("[MODEL_KEY]");
            for text in ["My key is ", ", as is "] {
                let shown = pieces.next().and_then(|piece| piece.strip_prefix(text)).unwrap();
                assert!(shown.len() < 6 && KEY.starts_with(shown), "{size} {pace_ms} {answer}");
            }
            assert_eq!(pieces.next(), Some("s."), "{size} {pace_ms} {answer}");
        }
        let rows = serde_json::to_string(&agent.front.entries()).unwrap();
        assert!(!rows.contains(r#"[{"text":""}]},"append":true}"#), "{rows}");
        for piece in ["sk-mar", "marker", "0123", "cdef"] {
            assert!(!rows.contains(piece), "{piece} {size} {pace_ms}: {rows}");
        }
    }
}

#[test]
fn a_key_beside_calls_is_in_no_row() {
    let agent = Setup::default().tool(say()).build();
    let first = Answer::said(&["I have sk-marker-", "0123456789abcdef."]).and_call(
        "c1",
        "say",
        r#"{"text": "hi"}"#,
    );
    agent.model.answers([first, Answer::said(&["Done."])]);
    assert_eq!(agent.ask("go"), TaskState::Completed);
    assert_eq!(agent.answer(), "Done.");
    let notes: Vec<String> = agent.task().history.iter().skip(1).map(|said| said.text()).collect();
    assert_eq!(notes, ["I have [MODEL_KEY]."]);
    let rows = serde_json::to_string(&agent.front.entries()).unwrap();
    assert!(!rows.contains("marker"), "{rows}");
}

#[test]
fn tools_are_called_side_by_side_and_their_results_go_back() {
    let agent = Setup::default().tool(say()).sells("pay").sells("ship").build();
    agent.shop.delay("pay", 5_000);
    agent.shop.delay("ship", 5_000);
    agent.model.answers([
        Answer::call("c1", "say", r#"{"text": "hi"}"#)
            .and_call("c2", "pay", r#"{"what": "tea"}"#)
            .and_call("c3", "ship", r#"{"what": "tea"}"#),
        Answer::said(&["Done."]),
    ]);
    assert_eq!(agent.ask("go"), TaskState::Completed, "{}", agent.status());
    assert_eq!(agent.answer(), "Done.");
    let results = agent.model.last().results();
    assert_eq!(results[0], ("c1".to_owned(), "they say hi".to_owned()));
    let ids: Vec<&str> = results.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["c1", "c2", "c3"]);
    let orders = agent.shop.orders();
    assert_eq!(orders.len(), 2);
    assert!(orders[1].at_ms - orders[0].at_ms < 5_000, "the second one did not wait for the first");
    assert_ne!(orders[0].key, orders[1].key);
    assert_eq!(agent.model.asked()[0].tools().len(), 3);
}

#[test]
fn what_is_said_beside_calls_is_a_note_and_the_artifact_begins_anew() {
    let agent = Setup::default().tool(say()).build();
    let first = Answer::say("Let me see.").and_call("c1", "say", r#"{"text": "hi"}"#);
    agent.model.answers([first, Answer::said(&["Done."])]);
    assert_eq!(agent.ask("go"), TaskState::Completed);
    assert_eq!(agent.answer(), "Done.");
    let notes: Vec<String> = agent.task().history.iter().skip(1).map(|said| said.text()).collect();
    assert_eq!(notes, ["Let me see."]);
}

#[test]
fn what_a_model_does_wrong_it_is_told() {
    let agent = Setup::default().tool(say()).build();
    agent.model.answers([
        Answer::call("c1", "say", "{\"text\": ")
            .and_call("c2", "shout", "{}")
            .and_call("c3", "say", r#"{"txt": 5}"#)
            .and_call("c4", "say", "[]"),
        Answer::said(&["Sorry."]),
    ]);
    assert_eq!(agent.ask("go"), TaskState::Completed);
    let results: Vec<String> =
        agent.model.last().results().into_iter().map(|(_, result)| result).collect();
    assert!(results[0].starts_with("error: the arguments are not JSON: "), "{results:?}");
    assert_eq!(results[1], "error: there is no tool \"shout\"; there are: say");
    assert!(results[2].starts_with("error: wrong arguments: "), "{results:?}");
    assert_eq!(results[3], "error: the arguments must be a JSON object");
}

#[test]
fn the_user_is_asked_and_the_answer_goes_on_in_the_same_conversation() {
    let agent = Setup::default().tool(say()).with(json!({"ask_user": true})).build();
    agent.model.answers([
        Answer::call("c1", "ask_user", r#"{"question": "Which city?"}"#).and_call(
            "c2",
            "say",
            r#"{"text": "hi"}"#,
        ),
        Answer::said(&["Rain in Porto."]),
    ]);
    assert_eq!(agent.ask("Will it rain?"), TaskState::InputRequired);
    assert_eq!(agent.status(), "Which city?");
    assert_eq!(agent.ask("Porto"), TaskState::Completed, "{}", agent.status());
    assert_eq!(agent.answer(), "Rain in Porto.");
    let told = told(&agent);
    let roles: Vec<&str> = told.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "tool"]);
    let mut results = agent.model.last().results();
    results.sort();
    assert_eq!(
        results,
        [("c1".to_owned(), "Porto".to_owned()), ("c2".to_owned(), "they say hi".to_owned())]
    );
}

#[test]
fn an_answer_that_has_a_schema_is_data_and_is_repaired_once() {
    let schema =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let agent = Setup::default().with(json!({"output_schema": schema})).build();
    agent.model.answers([Answer::said(&["five"]), Answer::said(&["{\"n\"", ": 5}"])]);
    assert_eq!(agent.ask("a number"), TaskState::Completed, "{}", agent.status());
    assert_eq!(agent.data(), [json!({"n": 5})]);
    assert_eq!(agent.answer(), "", "text is not shown before it is checked");
    assert_eq!(agent.model.last().body["response_format"]["type"], "json_schema");
    let told = told(&agent);
    assert_eq!(told[1]["content"], "five");
    assert!(
        told[2]["content"].as_str().unwrap().starts_with("Your answer does not fit"),
        "{told:?}"
    );

    let agent = Setup::default().with(json!({"output_schema": schema})).build();
    agent.model.answers([Answer::said(&["five"]), Answer::said(&["{\"n\": \"5\"}"])]);
    assert_eq!(agent.ask("a number"), TaskState::Failed);
    assert_eq!(
        agent.status(),
        "the answer of the model does not fit `output_schema`: answer.n: must be of type integer, got string"
    );
}

#[test]
fn a_refusal_rejects_the_task_unless_something_was_done() {
    let agent = Setup::default().tool(say()).build();
    agent.model.answers([Answer::refuse("I will not do that.")]);
    assert_eq!(agent.ask("go"), TaskState::Rejected);
    assert_eq!(agent.status(), "I will not do that.");
    let agent = Setup::default().tool(say()).build();
    let call = Answer::call("c1", "say", r#"{"text": "hi"}"#);
    agent.model.answers([call, Answer::refuse("No more.")]);
    assert_eq!(agent.ask("go"), TaskState::Failed);
    assert_eq!(agent.status(), "the model declines to go on: No more.");
}

#[test]
fn limits_end_a_turn_and_say_which_it_was() {
    let endless = |number: usize| Answer::call(&format!("c{number}"), "say", r#"{"text": "hi"}"#);
    for (limits, expected, requests) in [
        (json!({"rounds": 3}), "it was asked 3 times, which is the limit (limits.rounds)", 3),
        (json!({"tokens": 250}), "it has taken 300 tokens; the limit is 250 (limits.tokens)", 2),
        (json!({"cost": 0.0004}), "it has cost 0.0006; the limit is 0.0004 (limits.cost)", 2),
    ] {
        let price = json!({"input": 1, "output": 4});
        let agent =
            Setup::default().tool(say()).with(json!({"limits": limits, "price": price})).build();
        agent.model.answer_with(move |asked| endless(asked.number).usage(100, 50));
        assert_eq!(agent.ask("go"), TaskState::Failed);
        assert!(
            agent.status().starts_with("the model has come to no answer: "),
            "{}",
            agent.status()
        );
        assert!(agent.status().contains(expected), "{}", agent.status());
        assert_eq!(agent.model.asked().len(), requests);
    }
}

#[test]
fn a_request_that_fails_for_now_is_made_again_and_the_artifact_holds_one_answer() {
    let agent = Setup::default().build();
    agent.model.answers([
        Answer::error(429, "rate_limit_exceeded", "slow down").header("retry-after", "20"),
        Answer::said(&["Half of ", "an answer"]).pace(200).cut_after(1),
        Answer::said(&["A whole one."]),
    ]);
    assert_eq!(agent.ask("go"), TaskState::Completed, "{}", agent.status());
    assert_eq!(agent.answer(), "A whole one.");
    let asked = agent.model.asked();
    assert!(asked[1].at_ms - asked[0].at_ms >= 20_000, "{asked:?}");
    let agent = Setup::default().build();
    agent.model.answer_with(|_| Answer::error(503, "overloaded", "no room"));
    assert_eq!(agent.ask("go"), TaskState::Failed);
    assert!(agent.status().starts_with("the model gave no answer: "), "{}", agent.status());
    assert!(agent.status().ends_with("; it was asked 4 times"), "{}", agent.status());
}

#[test]
fn a_cancel_drops_the_request_that_is_under_way() {
    let agent = Setup::default().build();
    agent.model.answers([Answer::said(&["a", "b", "c"]).pace(1_000)]);
    agent.front.send("go");
    agent.front.run(None, || !agent.task().artifacts.is_empty());
    agent.front.cancel();
    agent.front.finish();
    assert_eq!(agent.state(), TaskState::Canceled);
    assert_eq!(agent.model.last().fate(), Fate::Left);
    assert_eq!(agent.answer(), "a");
}

#[test]
fn the_newest_tasks_of_the_conversation_are_told_where_the_client_names_one() {
    let agent = Setup::default().build();
    let asked = Rc::new(RefCell::new(Vec::new()));
    let noted = asked.clone();
    agent.front.platform.memory_http().answer_with(move |request, body| {
        assert_eq!(request.url, "https://agents.example/agent");
        let body: Value = serde_json::from_str(body).unwrap();
        let (method, params) = (body["method"].as_str().unwrap(), &body["params"]);
        noted.borrow_mut().push(format!("{method} {}", params["id"].as_str().unwrap_or("c")));
        let task = |id: &str, said: &str, answered: &str| {
            json!({
                "id": id, "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"},
                "history": [{"messageId": "m0", "role": "ROLE_USER", "parts": [{"text": said}]}],
                "artifacts": [{"artifactId": "answer", "parts": [{"text": answered}, {"text": "!"}]}],
            })
        };
        let result = match (method, params["id"].as_str()) {
            ("ListTasks", _) => {
                assert_eq!(params["contextId"], "c");
                let head = |id: &str| json!({"id": id, "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}});
                json!({"tasks": [head("t"), head("t2"), head("t1")], "nextPageToken": "", "pageSize": 6, "totalSize": 3})
            }
            ("GetTask", Some("t1")) => task("t1", "I am Ada", "Hello Ada"),
            ("GetTask", Some("t2")) => task("t2", "How are you?", "Well"),
            other => panic!("{other:?}"),
        };
        let answer = json!({"jsonrpc": "2.0", "id": body["id"], "result": result});
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Ok(HttpAnswer { headers, ..ok(answer.to_string()) })
    });
    agent.model.answers([Answer::say("You are Ada.")]);
    agent.front.send_parts(vec![Part::text("Who am I?")], Some("c"));
    agent.front.settle();
    assert_eq!(agent.state(), TaskState::Completed, "{}", agent.status());
    assert_eq!(
        agent.model.last().lines(),
        [
            "system: Be brief.",
            "user: I am Ada",
            "assistant: Hello Ada!",
            "user: How are you?",
            "assistant: Well!",
            "user: Who am I?"
        ]
    );
    assert_eq!(asked.take(), ["ListTasks c", "GetTask t2", "GetTask t1"]);

    // Without a `contextId` from the client, no earlier tasks are requested.
    let agent = Setup::default().build();
    agent.front.platform.memory_http().answer_with(|_, _| panic!("it is asked"));
    agent.model.answers([Answer::say("I do not know.")]);
    assert_eq!(agent.ask("Who am I?"), TaskState::Completed);

    // A failure to read the earlier tasks does not fail the task.
    let agent = Setup::default().build();
    agent.front.platform.memory_http().answer_with(|_, _| Err("it is down".to_owned()));
    agent.model.answers([Answer::say("I do not know.")]);
    agent.front.send_parts(vec![Part::text("Who am I?")], Some("c"));
    agent.front.settle();
    assert_eq!(agent.state(), TaskState::Completed, "{}", agent.status());
    assert!(agent.model.last().said_by("system").contains("cannot be read at the moment"));
}

#[test]
fn files_of_tools_are_given_to_the_user_and_the_model_is_told() {
    let draw = FunctionTool::new(
        "draw",
        "Draws.",
        json!({"type": "object"}),
        async |_: Value, _: &dyn ToolCall| {
            Ok([Part::text("drawn"), Part::raw(b"\x89PNG", "image/png").with_filename("a.png")]
                .into())
        },
    );
    let agent = Setup::default().tool(draw).build();
    agent.model.answers([Answer::call("c1", "draw", "{}"), Answer::say("There it is.")]);
    assert_eq!(agent.ask("draw"), TaskState::Completed, "{}", agent.status());
    let results = agent.model.last().results();
    assert_eq!(results[0].1, "drawn\n[file a.png (image/png); given to the user]");
    let task = agent.task();
    let ids: Vec<&str> =
        task.artifacts.iter().map(|artifact| artifact.artifact_id.as_str()).collect();
    assert_eq!(ids, ["draw-1.1", "answer"]);
    assert_eq!(task.artifacts[0].parts[0].media_type.as_deref(), Some("image/png"));
}

#[test]
fn files_of_tools_in_several_turns_replace_none_of_each_other() {
    let draw = FunctionTool::new(
        "draw",
        "Draws.",
        json!({"type": "object"}),
        async |_: Value, call: &dyn ToolCall| {
            let name = format!("{}.png", call.history().len());
            Ok([Part::raw(b"\x89PNG", "image/png").with_filename(name)].into())
        },
    );
    let agent = Setup::default().tool(draw).with(json!({"ask_user": true})).build();
    agent.model.answers([
        Answer::call("c1", "draw", "{}").and_call("q", "ask_user", r#"{"question": "Another?"}"#),
        Answer::call("c2", "draw", "{}"),
        Answer::say("There they are."),
    ]);
    assert_eq!(agent.ask("draw"), TaskState::InputRequired, "{}", agent.status());
    assert_eq!(agent.ask("yes"), TaskState::Completed, "{}", agent.status());
    let task = agent.task();
    let ids: Vec<&str> =
        task.artifacts.iter().map(|artifact| artifact.artifact_id.as_str()).collect();
    assert_eq!(ids, ["draw-1.1", "draw-2.1.1", "answer"]);
    let name = |nth: usize| task.artifacts[nth].parts[0].filename.clone();
    assert_ne!(name(0), name(1));
}

#[test]
fn a_message_that_comes_meanwhile_is_answered_behind_the_first_one() {
    let agent = Setup::default().build();
    agent.model.answers([Answer::said(&["One", "."]).pace(1_000), Answer::say("Two.")]);
    agent.front.send("first");
    agent.front.run(None, || !agent.task().artifacts.is_empty());
    agent.front.send("second");
    agent.front.settle();
    assert_eq!(agent.state(), TaskState::Completed);
    let texts: Vec<(String, String)> = agent
        .task()
        .artifacts
        .iter()
        .map(|artifact| (artifact.artifact_id.clone(), artifact.text().unwrap()))
        .collect();
    assert_eq!(
        texts,
        [("answer".to_owned(), "One.".to_owned()), ("answer-2".to_owned(), "Two.".to_owned())]
    );
    assert_eq!(agent.model.last().lines()[1..], ["user: first", "assistant: One.", "user: second"]);
}

#[test]
fn what_was_used_is_told() {
    let agent =
        Setup::default().tool(say()).with(json!({"price": {"input": 1, "output": 2}})).build();
    let call = Answer::call("c1", "say", r#"{"text": "hi"}"#).usage(100, 50);
    agent.model.answers([call, Answer::say("Done.").usage(200, 10)]);
    assert_eq!(agent.ask("go"), TaskState::Completed);
    let metadata = agent.task().metadata.unwrap().members();
    assert_eq!(
        metadata["urn:a2a-edge:usage"],
        json!({"requests": 2, "inputTokens": 300, "outputTokens": 60, "cost": 0.00042})
    );
    let counted = agent.front.platform.memory_usage().turns();
    let models: Vec<Value> = counted.iter().map(|turn| json!(turn.turn.models)).collect();
    assert_eq!(models, [json!({"m": [2, 300, 60, 420]})]);
}

#[test]
fn the_name_of_a_model_that_is_a_secret_is_told_as_the_name_of_the_secret() {
    let agent = Setup::default().with(json!({"model": "${MODEL_KEY}"})).build();
    agent.model.answers([Answer::say("Done.").usage(200, 10)]);
    assert_eq!(agent.ask("go"), TaskState::Completed);
    let [turn] = &agent.front.platform.memory_usage().turns()[..] else { panic!("a turn") };
    let models = turn.turn.models.clone().into_json();
    assert!(!models.contains(KEY) && models.contains("MODEL_KEY"), "{models}");
}

#[test]
fn calls_that_failed_are_counted_though_the_task_is_completed() {
    let agent = Setup::default().tool(say()).sells("pay").build();
    agent.shop.fail("pay", 500);
    agent.model.answers([
        Answer::call("c1", "pay", r#"{"what": "tea"}"#)
            .and_call("c2", "say", r#"{"text": "hi"}"#)
            .and_call("c3", "shout", "{}"),
        Answer::say("It could not be paid."),
    ]);
    assert_eq!(agent.ask("go"), TaskState::Completed);
    let results = agent.model.last().results();
    assert!(results[0].1.starts_with("error: POST"), "{results:?}");
    // The request of the first call also failed, which counts as one failure.
    let told = |metadata: Option<Metadata>| metadata?.member("urn:a2a-edge:failed-steps");
    assert_eq!(told(agent.task().metadata), Some(json!(2)));
    let Some(StreamResponse::StatusUpdate(end)) = agent.events().into_values().last() else {
        panic!("the task has ended");
    };
    assert_eq!(told(end.metadata), Some(json!(2)));
    let index = agent.front.platform.memory_index();
    let row = index.row(&TaskId::new("t").unwrap()).expect("a row");
    let head: Value = serde_json::from_str(&row.head).unwrap();
    assert_eq!(head["metadata"]["urn:a2a-edge:failed-steps"], 2);
    let replayed = TaskMachine::replay(agent.front.entries()).unwrap();
    assert_eq!((replayed.failed_steps(), replayed.task()), (2, &agent.task()));
}

#[test]
fn a_message_that_comes_meanwhile_is_answered_wherever_the_process_dies() {
    let text = |number: usize| [format!("{number}: "), "one ".to_owned(), "answer.".to_owned()];
    for at in (0..120).step_by(2) {
        let agent = Setup::default().build();
        agent.model.answer_with(move |asked| {
            let pieces = text(asked.number);
            Answer::said(&pieces.each_ref().map(String::as_str)).pace(300)
        });
        agent.front.send_as("m1", "first");
        agent.front.run(None, || agent.front.task().is_some_and(|task| !task.artifacts.is_empty()));
        let mut crash = Some((at, at % 4 == 0));
        let mut is_sent = false;
        for _ in 0..20 {
            if agent.front.state().is_none_or(TaskState::is_terminal) && is_sent {
                break;
            }
            // A client without an answer repeats its message.
            agent.front.send_as("m2", "second");
            is_sent = agent.run(crash.take());
        }
        let task = agent.task();
        assert_eq!(task.status.state, TaskState::Completed, "{at}: {:?}", agent.status());
        let texts: Vec<String> =
            task.artifacts.iter().filter_map(|artifact| artifact.text()).collect();
        let is_whole = |told: &String| (1..=5).any(|number| *told == text(number).concat());
        assert!(texts.len() == 2 && texts.iter().all(is_whole), "{at}: {texts:?}");
        let last = agent.model.last();
        assert_eq!(last.said_by("user"), "second", "{at}");
        assert_eq!(last.mistakes(), Vec::<String>::new(), "{at}");
    }
}
