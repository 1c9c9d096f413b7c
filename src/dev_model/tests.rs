use super::*;
use a2a::client::simulation::Simulation;
use serde_json::{Value, json};

/// The whole answer to these messages.
fn message(messages: &Value, tools: &Value) -> Value {
    let body = json!({"model": "m", "messages": messages, "tools": tools});
    let answer = asked(&body);
    assert_eq!(answer.status, 200, "{}", answer.body);
    let answer: Value = serde_json::from_str(&answer.body).unwrap();
    assert!(answer["usage"]["total_tokens"].as_u64().unwrap() > 0);
    answer["choices"][0]["message"].clone()
}

fn asked(body: &Value) -> HttpAnswer<String> {
    let simulation = Simulation::default();
    let model = DevModel::new(simulation.ports().clock);
    let request = HttpRequest::post("dev:model/chat/completions").with_json(body);
    simulation.run(async { model.send(request).await.unwrap().text().await.unwrap() })
}

/// The calls of a message, each by its tool and arguments.
fn calls(message: &Value) -> Vec<(String, Value)> {
    let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
    let call = |call: &Value| {
        let arguments = call["function"]["arguments"].as_str().unwrap();
        let name = call["function"]["name"].as_str().unwrap();
        (name.to_owned(), serde_json::from_str(arguments).unwrap())
    };
    calls.iter().map(call).collect()
}

fn tool(name: &str, description: &str, properties: &Value, required: &Value) -> Value {
    let parameters = json!({"type": "object", "properties": properties, "required": required});
    json!({"type": "function", "function": {"name": name, "description": description, "parameters": parameters}})
}

fn delegation(name: &str, description: &str) -> Value {
    let properties = json!({"prompt": {"type": "string"}, "task_id": {"type": "string"}});
    tool(name, description, &properties, &json!(["prompt"]))
}

fn team() -> Value {
    json!([
        delegation("weather", "Hands a task to the agent Weather. Forecasts rain."),
        delegation("travel", "Hands a task to the agent Travel. Books trains and hotels."),
        tool(
            "ask_user",
            "Asks the user.",
            &json!({"question": {"type": "string"}}),
            &json!(["question"])
        ),
    ])
}

/// A conversation that grows.
struct Talk(Vec<Value>);

impl Talk {
    fn say(&mut self, text: &str) -> Value {
        self.0.push(json!({"role": "user", "content": text}));
        self.go_on()
    }

    /// The results of the newest calls.
    fn give(&mut self, results: &[&str]) -> Value {
        let calls = self.0.last().unwrap()["tool_calls"].as_array().unwrap().clone();
        assert_eq!(calls.len(), results.len(), "{calls:?}");
        for (call, result) in calls.iter().zip(results) {
            self.0.push(json!({"role": "tool", "tool_call_id": call["id"], "content": result}));
        }
        self.go_on()
    }

    fn go_on(&mut self) -> Value {
        let message = message(&json!(self.0), &team());
        self.0.push(message.clone());
        message
    }
}

#[test]
fn a_team_is_asked_together_and_its_questions_go_to_the_user() {
    let mut talk = Talk(vec![json!({"role": "system", "content": "Be kind."})]);
    let both = talk.say("Will it rain in Rome, and book a train there");
    assert_eq!(
        calls(&both),
        [
            ("weather".to_owned(), json!({"prompt": "Will it rain in Rome"})),
            ("travel".to_owned(), json!({"prompt": "book a train there"})),
        ]
    );
    let asks =
        talk.give(&["[COMPLETED] It is sunny.", "[INPUT_REQUIRED:task_id=t-1] On which day?"]);
    assert_eq!(calls(&asks), [("ask_user".to_owned(), json!({"question": "On which day?"}))]);
    let hands_on = talk.give(&["On Monday"]);
    let answer = json!({"prompt": "On Monday", "task_id": "t-1"});
    assert_eq!(calls(&hands_on), [("travel".to_owned(), answer)]);
    let again = talk.give(&["[INPUT_REQUIRED:task_id=t-1] First or second class?"]);
    let question = json!({"question": "First or second class?"});
    assert_eq!(calls(&again), [("ask_user".to_owned(), question)]);
    talk.give(&["second"]);
    let end = talk.give(&["[COMPLETED] Booked."]);
    assert_eq!(end["content"], "Here are 2 results:\n- Weather: It is sunny.\n- Travel: Booked.");
    let ids: Vec<&Value> = talk
        .0
        .iter()
        .filter_map(|one| one["tool_calls"].as_array())
        .flatten()
        .map(|call| &call["id"])
        .collect();
    assert_eq!(ids, ["call_1", "call_2", "call_3", "call_4", "call_5", "call_6"]);
    // The next message begins anew.
    let next = talk.say("Is there a hotel?");
    assert_eq!(calls(&next), [("travel".to_owned(), json!({"prompt": "Is there a hotel?"}))]);
    let end = talk.give(&["[FAILED] the agent is down"]);
    assert_eq!(end["content"], "Travel gave no result: the agent is down");
}

#[test]
fn without_a_tool_that_asks_the_question_is_said_and_the_next_message_answers_it() {
    let tools = json!([delegation("travel", "Books trains and hotels.")]);
    let mut messages = vec![json!({"role": "user", "content": "book a hotel"})];
    messages.push(message(&json!(messages), &tools));
    messages.push(json!({"role": "tool", "tool_call_id": "call_1", "content": "[INPUT_REQUIRED:task_id=t-1] Where?"}));
    let told = message(&json!(messages), &tools);
    assert_eq!(told["content"], "Travel asks: Where?");
    messages.extend([told, json!({"role": "user", "content": "Rome"})]);
    let answer = message(&json!(messages), &tools);
    assert_eq!(
        calls(&answer),
        [("travel".to_owned(), json!({"prompt": "Rome", "task_id": "t-1"}))]
    );
}

#[test]
fn a_number_that_is_missing_is_asked_for() {
    let number = json!({"type": "number"});
    let add = tool("add_numbers", "Adds.", &json!({"a": number, "b": number}), &json!(["a", "b"]));
    let ask = &team()[2];
    let mut messages = vec![json!({"role": "user", "content": "add 2 and something"})];
    let asks = message(&json!(messages), &json!([add, ask]));
    assert_eq!(
        calls(&asks),
        [("ask_user".to_owned(), json!({"question": "Which number is `b` of Add numbers?"}))]
    );
    let tool = json!({"role": "tool", "tool_call_id": "call_1", "content": "It is 40"});
    messages.extend([asks, tool]);
    let adds = message(&json!(messages), &json!([add, ask]));
    assert_eq!(calls(&adds), [("add_numbers".to_owned(), json!({"a": 2, "b": 40}))]);
    let nobody_asks = message(&json!([{"role": "user", "content": "add 2"}]), &json!([add]));
    assert_eq!(calls(&nobody_asks), [("add_numbers".to_owned(), json!({"a": 2, "b": 0}))]);
}

#[test]
fn it_says_what_it_is_where_nothing_matches() {
    let image = json!([{"type": "text", "text": "hi"}, {"type": "image_url", "image_url": {"url": "https://a.example"}}]);
    let messages = json!([{"role": "user", "content": "first"}, {"role": "assistant", "content": "yes"}, {"role": "user", "content": image}]);
    let text = message(&messages, &team())["content"].as_str().unwrap().to_owned();
    for part in
        ["scripted model", "dev:model", "`weather`, `travel`", "\"hi\"", "1 files", "message 2"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("ask_user"), "{text}");
}

#[test]
fn a_schema_is_filled() {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}, "degrees": {"type": "number"}}, "required": ["city", "degrees"]});
    let body = json!({"messages": [{"role": "user", "content": "It has 21.5 degrees in Rome."}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}});
    let answer: Value = serde_json::from_str(&asked(&body).body).unwrap();
    let content = answer["choices"][0]["message"]["content"].as_str().unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(content).unwrap(),
        json!({"city": "Rome", "degrees": 21.5})
    );
}

/// The events of a streamed answer.
fn streamed(body: &Value) -> Vec<Value> {
    let answer = asked(body);
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    let events: Vec<&str> = answer.body.split("\n\n").filter(|event| !event.is_empty()).collect();
    let (last, events) = events.split_last().unwrap();
    assert_eq!(*last, "data: [DONE]");
    events
        .iter()
        .map(|event| serde_json::from_str(event.strip_prefix("data: ").unwrap()).unwrap())
        .collect()
}

#[test]
fn a_streamed_answer_is_the_whole_one_word_by_word() {
    let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "hello"}], "stream": true,
        "stream_options": {"include_usage": true}});
    let events = streamed(&body);
    let deltas = events.iter().filter_map(|event| event["choices"][0]["delta"]["content"].as_str());
    let text: String = deltas.collect();
    assert!(events.len() > 10);
    assert_eq!(text, message(&body["messages"], &json!([]))["content"].as_str().unwrap());
    let [.., end, usage] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!(end["choices"][0]["finish_reason"], "stop");
    assert!(usage["usage"]["completion_tokens"].as_u64().unwrap() > 10);
    assert_eq!(usage["choices"], json!([]));

    body["messages"][0]["content"] = "rain and hotels".into();
    body["tools"] = team();
    let events = streamed(&body);
    let arguments = |index: u64| -> String {
        let deltas = events
            .iter()
            .filter_map(|event| event["choices"][0]["delta"]["tool_calls"].as_array())
            .flatten();
        let of = deltas.filter(|call| call["index"] == index);
        of.filter_map(|call| call["function"]["arguments"].as_str()).collect()
    };
    assert_eq!(
        (arguments(0).as_str(), arguments(1).as_str()),
        (r#"{"prompt":"rain"}"#, r#"{"prompt":"hotels"}"#)
    );
    let ends = events.iter().filter_map(|event| event["choices"][0]["finish_reason"].as_str());
    assert_eq!(ends.collect::<Vec<_>>(), ["tool_calls"]);
}

#[test]
fn an_answer_that_may_not_be_long_is_cut() {
    let body = json!({"messages": [{"role": "user", "content": "hello"}], "max_tokens": 3});
    let answer: Value = serde_json::from_str(&asked(&body).body).unwrap();
    assert_eq!(answer["choices"][0]["finish_reason"], "length");
    assert_eq!(answer["choices"][0]["message"]["content"], "I am the scr");
}

#[test]
fn a_request_that_is_none_is_refused_in_words() {
    for (body, reason) in [
        (json!({}), "`messages` must be an array"),
        (json!({"messages": []}), "`messages` must be an array"),
        (json!({"messages": [{"role": "bard"}]}), "there is no role \"bard\""),
        (json!({"messages": [{"role": "tool"}]}), "no `tool_call_id`"),
        (json!({"messages": [{"role": "user"}], "tools": [{}]}), "no `function.name`"),
    ] {
        let answer = asked(&body);
        assert_eq!(answer.status, 400);
        let error: Value = serde_json::from_str(&answer.body).unwrap();
        assert!(error["error"]["message"].as_str().unwrap().contains(reason), "{error}");
    }
}
