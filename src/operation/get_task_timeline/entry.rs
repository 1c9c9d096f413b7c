//! The entries of a timeline as JSON: the lines of the log in a form for people, without secrets.

use serde_json::{Map, Value, json};

use super::excerpt::{self, Budget};
use super::merge::OneAttempt;
use crate::push::origin_of;
use crate::session::LoggedLine;
use crate::task::{CallbackName, LogEntry, RunStart, StepInput, StepRecord, Unanswered};
use crate::trail::AskedBy;
use a2a::model::{Generation, Task, TaskArtifactUpdateEvent, TaskStatus};

/// The reader of a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Audience {
    /// False if the agent's file says that its steps are not shown. The use of models is.
    pub(super) sees_steps: bool,
    /// True if the results of steps, what they were given, and the bodies of callbacks are shown. These belong to the agent, and its
    /// clients may not be allowed to see them.
    pub(super) sees_outcomes: bool,
    /// True if the reader is an operator. Callers are then shown.
    pub(super) is_operators: bool,
}

/// The entry for a line of the log.
pub(super) fn of_log(line: &LoggedLine, entry: &LogEntry, audience: Audience) -> Value {
    let (kind, told) = told(entry, audience);
    let generation = Some(line.generation).filter(|_| line.is_event);
    let mut whole = opening(line.at.0, generation, kind);
    whole.extend(told);
    Value::Object(whole)
}

/// The entry for an attempt to call a webhook. Only the origin of its URL is shown.
pub(super) fn of_attempt(of: &OneAttempt) -> Value {
    let OneAttempt { webhook, url, attempt } = of;
    let mut whole = opening(attempt.at, Some(attempt.generation), "webhookAttempt");
    let mut put = |name: &str, value: Value| whole.insert(name.to_owned(), value);
    put("webhook", excerpt::name(webhook).into());
    put("origin", excerpt::name(&origin_of(url)).into());
    put("attempt", attempt.attempt.into());
    put("durationMs", attempt.duration_ms.into());
    put("outcome", attempt.outcome.as_str().into());
    if let Some(status) = attempt.status {
        put("status", status.into());
    }
    if let Some(error) = &attempt.error {
        put("error", excerpt::name(error).into());
    }
    Value::Object(whole)
}

fn opening(at: i64, generation: Option<Generation>, kind: &str) -> Map<String, Value> {
    let mut opening = Map::new();
    opening.insert("at".to_owned(), at.into());
    opening.insert("generation".to_owned(), json!(generation));
    opening.insert("kind".to_owned(), kind.into());
    opening
}

/// The kind of an entry, and its members.
fn told(entry: &LogEntry, audience: Audience) -> (&'static str, Map<String, Value>) {
    let mut budget = Budget::default();
    match entry {
        LogEntry::Task(task) => ("task", of_task(task, &mut budget)),
        LogEntry::Message(message) => {
            let shown = excerpt::message(message, &mut budget);
            ("message", members([("message", shown)]))
        }
        LogEntry::StatusUpdate(event) => ("status", of_status(&event.status, &mut budget)),
        LogEntry::ArtifactUpdate(event) => ("artifact", of_artifact(event, &mut budget)),
        LogEntry::Held(held) => ("held", members([("chars", held.chars.into())])),
        LogEntry::Run(start) => ("run", of_run(start, audience)),
        LogEntry::Step(StepRecord { usage: Some(usage), name, .. })
            if name.is_empty() || !audience.sees_steps =>
        {
            ("usage", members([("usage", usage.told())]))
        }
        LogEntry::Step(step) => ("step", of_step(step, audience)),
        LogEntry::Taken => ("taken", Map::new()),
        LogEntry::Parked(park) => {
            let mut told = members([
                ("nth", park.nth.into()),
                ("until", park.until_ms.into()),
                ("orMessage", park.or_message.into()),
            ]);
            if let Some(callback) = &park.callback {
                told.insert("callback".to_owned(), Value::Object(named(callback)));
            }
            if let Some(Unanswered { times, since_ms, .. }) = park.unanswered {
                told.insert("unanswered".to_owned(), json!({"times": times, "since": since_ms}));
            }
            ("parked", told)
        }
        LogEntry::Woken(end) => {
            ("woken", members([("nth", end.nth.into()), ("by", json!(end.by))]))
        }
        LogEntry::Ended => ("ended", Map::new()),
        LogEntry::Callback(record) => {
            let mut told = named(&record.name);
            told.extend(members([
                ("uses", record.uses.into()),
                ("expiresAt", record.expires_ms.into()),
            ]));
            ("callback", told)
        }
        LogEntry::Called(call) => {
            let mut told = named(&call.name);
            told.insert("number".to_owned(), call.number.into());
            if audience.sees_outcomes {
                told.insert("body".to_owned(), excerpt::part_of(&call.body, &mut budget));
            }
            ("called", told)
        }
    }
}

fn of_task(task: &Task, budget: &mut Budget) -> Map<String, Value> {
    let mut told = of_status(&task.status, budget);
    if let Some(message) = task.history.first() {
        told.insert("message".to_owned(), excerpt::message(message, budget));
    }
    told
}

fn of_status(status: &TaskStatus, budget: &mut Budget) -> Map<String, Value> {
    let mut told = members([("state", json!(status.state))]);
    if let Some(message) = &status.message {
        told.insert("message".to_owned(), excerpt::message(message, budget));
    }
    told
}

fn of_artifact(event: &TaskArtifactUpdateEvent, budget: &mut Budget) -> Map<String, Value> {
    let artifact = &event.artifact;
    let mut told = members([("artifactId", excerpt::name(&artifact.artifact_id).into())]);
    if let Some(name) = &artifact.name {
        told.insert("name".to_owned(), excerpt::name(name).into());
    }
    told.extend(members([("append", event.append.into()), ("lastChunk", event.last_chunk.into())]));
    excerpt::parts(&artifact.parts, budget, &mut told);
    told
}

fn of_run(start: &RunStart, audience: Audience) -> Map<String, Value> {
    let mut told = members([
        ("attempt", start.attempt.into()),
        ("resumes", start.resumes.into()),
        ("message", start.message.into()),
        ("begunAt", start.begun_ms.into()),
        ("timeoutMs", start.request.timeout_ms.into()),
    ]);
    if let Some(AskedBy { agent, task }) = start.request.trail.asked_by.as_deref() {
        told.insert("askedBy".to_owned(), task_of(agent, task.as_str()));
    }
    if audience.is_operators {
        told.insert("caller".to_owned(), excerpt::name(&start.request.caller.id).into());
    }
    told
}

fn of_step(step: &StepRecord, audience: Audience) -> Map<String, Value> {
    let StepRecord { name, nth, outcome, usage, duration_ms, input, failed: _ } = step;
    let mut told = members([("name", excerpt::name(name).into()), ("nth", (*nth).into())]);
    told.extend(step_kind(name, usage.is_some()));
    let value = outcome.as_ref().ok().filter(|json| json.as_str().starts_with('{'));
    let value = value.map(a2a::model::Json::value);
    let is = |kind: &str| told.get("type").is_some_and(|known| known == kind);
    let (is_model, is_tool) = (is("model"), is("tool"));
    match &value {
        Some(value) if is_tool => {
            if let Some(tool) = value.get("tool").and_then(Value::as_str) {
                told.insert("tool".to_owned(), excerpt::name(tool).into());
            }
        }
        Some(value) if is_model => {
            let calls = value.get("calls").and_then(Value::as_array).into_iter().flatten();
            let names = calls.filter_map(|call| call.get("name")?.as_str());
            let names: Vec<&str> = names.take(MAX_CALLS).map(excerpt::name).collect();
            if !names.is_empty() {
                told.insert("calls".to_owned(), json!(names));
            }
        }
        _ => {}
    }
    if let Some((agent, id)) = value.as_ref().and_then(|value| given(name, value, audience)) {
        told.insert("task".to_owned(), task_of(agent, id));
    }
    told.insert("failed".to_owned(), step.has_failed().into());
    if let Some(duration_ms) = duration_ms {
        told.insert("durationMs".to_owned(), (*duration_ms).into());
    }
    if let Some(usage) = usage {
        told.insert("usage".to_owned(), usage.told());
    }
    let (member, text) = match outcome {
        Ok(json) => ("outcome", json.as_str()),
        Err(reason) => ("error", reason.as_str()),
    };
    told.insert("bytes".to_owned(), text.len().into());
    if audience.sees_outcomes {
        Budget::of_step().put(&mut told, member, text);
        if let Some(StepInput { json, is_cut }) = input {
            let (shown, is_whole) = Budget::of_step().cut(json);
            told.insert("input".to_owned(), shown.into());
            if *is_cut || !is_whole {
                told.insert("inputIsCut".to_owned(), true.into());
            }
        }
    }
    told
}

/// The task of another agent of this Worker that a step has begun or asked, by what the step came to: its agent and its id. The name
/// that a function has called an agent by may be that of an agent elsewhere, so it is told with the outcome alone.
fn given<'v>(name: &'v str, outcome: &'v Value, audience: Audience) -> Option<(&'v str, &'v str)> {
    let member = |of: &'v Value, name: &str| of.get(name).and_then(Value::as_str);
    // The names of the steps that store a link: of a model's call, and of a front of another agent.
    if name.starts_with("agent ") || name == "remote task" {
        return Some((member(outcome, "agent")?, member(outcome, "taskId")?));
    }
    let called = name.rsplit('/').next()?.strip_prefix("ask ")?;
    let asked = outcome.get("task").filter(|_| audience.sees_outcomes)?;
    Some((called, member(asked, "id")?))
}

fn task_of(agent: &str, id: &str) -> Value {
    Value::Object(members([
        ("agent", excerpt::name(agent).into()),
        ("id", excerpt::name(id).into()),
    ]))
}

/// The members that describe a step with this name: its `type`, and for calls the called agent, or the call that the step
/// belongs to. Built-in executors name their steps in this way; the steps of other executors may match by chance.
pub(super) fn step_kind(name: &str, has_usage: bool) -> Map<String, Value> {
    if let Some((_, agent)) = name.strip_prefix("agent ").and_then(|rest| rest.split_once(' ')) {
        return members([("type", "agent".into()), ("agent", excerpt::name(agent).into())]);
    }
    if has_usage || name == "model" {
        return members([("type", "model".into())]);
    }
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_call = |key: &str| match key.split_once('.') {
        Some((round, index)) => is_number(round) && is_number(index),
        None => is_number(key),
    };
    match name.split_once('/') {
        None if is_call(name) => members([("type", "tool".into())]),
        Some((call, _)) if is_call(call) => members([("type", "step".into()), ("of", call.into())]),
        _ => members([("type", "step".into())]),
    }
}

fn named(name: &CallbackName) -> Map<String, Value> {
    members([("name", excerpt::name(&name.name).into()), ("nth", name.nth.into())])
}

fn members<const N: usize>(members: [(&str, Value); N]) -> Map<String, Value> {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// How many calls of one answer of a model are listed.
const MAX_CALLS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::push::Attempt;
    use a2a::model::UnixMillis;

    const OPERATOR: Audience =
        Audience { sees_steps: true, sees_outcomes: true, is_operators: true };
    const OWNER: Audience =
        Audience { sees_steps: true, sees_outcomes: false, is_operators: false };

    fn told(line: &Value, audience: Audience) -> Value {
        let json = line.to_string();
        let line =
            LoggedLine { generation: Generation(3), is_event: false, at: UnixMillis(9), json };
        let entry = line.entry().expect("a line of the log");
        of_log(&line, &entry, audience)
    }

    #[test]
    fn what_steps_came_to_is_for_operators() {
        let line = json!({"step": {"name": "2.1", "nth": 1, "durationMs": 40,
            "outcome": {"Ok": {"tool": "lookup", "result": "salary: 5"}}}});
        let owner = told(&line, OWNER);
        assert_eq!(
            owner,
            json!({"at": 9, "generation": null, "kind": "step", "name": "2.1", "nth": 1,
                "type": "tool", "tool": "lookup", "failed": false, "durationMs": 40, "bytes": 38})
        );
        let operator = told(&line, OPERATOR);
        assert_eq!(operator["outcome"], r#"{"tool":"lookup","result":"salary: 5"}"#);
        let failed = json!({"step": {"name": "x", "nth": 1, "outcome": {"Err": "no salary"}}});
        assert_eq!(told(&failed, OPERATOR)["error"], "no salary");
        assert!(!told(&failed, OWNER).to_string().contains("salary"));
    }

    #[test]
    fn a_request_to_a_model_tells_its_usage_and_what_it_calls() {
        let used = json!({"requests": 1, "inputTokens": 2, "outputTokens": 3, "costMicros": 4});
        let line = json!({"step": {"name": "model", "nth": 1,
            "outcome": {"Ok": {"calls": [{"name": "lookup", "arguments": "{\"k\": \"private\"}"}]}},
            "usage": {"atMs": 5, "used": used}}});
        let shown = told(&line, OWNER);
        assert_eq!((&shown["type"], &shown["calls"]), (&json!("model"), &json!(["lookup"])));
        assert_eq!(shown["usage"], used);
        assert!(!shown.to_string().contains("private"));
        let beside = json!({"step": {"name": "", "nth": 0, "outcome": {"Ok": null},
            "usage": {"atMs": 5, "used": used}}});
        assert_eq!(told(&beside, OWNER)["kind"], "usage");
        let mut repeated = line;
        repeated["step"]["usage"]["repeated"] = used.clone();
        assert_eq!(told(&repeated, OWNER)["usage"]["repeated"], used);
    }

    #[test]
    fn what_steps_were_given_is_for_those_who_see_outcomes() {
        let long = format!(r#"{{"a":"{}"#, "x".repeat(20_000));
        for (json, is_cut, shown, says_cut) in
            [("{}", false, 2, None), ("[", true, 1, Some(true)), (&long, false, 16_384, Some(true))]
        {
            let line = json!({"step": {"name": "2.1", "nth": 1, "outcome": {"Ok": 1},
                "input": {"json": json, "isCut": is_cut}}});
            let operator = told(&line, OPERATOR);
            assert_eq!(operator["input"].as_str().map(str::len), Some(shown));
            assert_eq!(operator.get("inputIsCut").and_then(Value::as_bool), says_cut);
            assert_eq!(told(&line, OWNER).get("input"), None);
        }
    }

    #[test]
    fn without_steps_the_use_of_models_is_told() {
        let hidden = Audience { sees_steps: false, ..OPERATOR };
        let used = json!({"requests": 1, "inputTokens": 2, "outputTokens": 3, "costMicros": 4});
        let line = json!({"step": {"name": "model", "nth": 1, "outcome": {"Ok": "private"},
            "usage": {"atMs": 5, "used": used}}});
        let expected = json!({"at": 9, "generation": null, "kind": "usage", "usage": used});
        assert_eq!(told(&line, hidden), expected);
    }

    #[test]
    fn tasks_of_other_agents_are_told_by_the_steps_that_gave_them() {
        let step = |name: &str, outcome: Value| json!({"step": {"name": name, "nth": 1, "outcome": {"Ok": outcome}}});
        let link = json!({"taskId": "t-1", "url": "https://here.example/rail", "agent": "rail"});
        let elsewhere = json!({"taskId": "t-1", "url": "https://there.example"});
        let asked = json!({"outcome": "completed", "text": "", "task": {"id": "t-2"}});
        let rail = |id: &str| json!({"agent": "rail", "id": id});
        for (name, outcome, owner, operator) in [
            ("agent 1.1 rail", &link, Some(rail("t-1")), Some(rail("t-1"))),
            ("remote task", &link, Some(rail("t-1")), Some(rail("t-1"))),
            ("agent 1.1 rail", &elsewhere, None, None),
            ("mine", &link, None, None),
            ("ask rail", &asked, None, Some(rail("t-2"))),
            ("1.2/ask rail", &asked, None, Some(rail("t-2"))),
            ("ask rail", &json!({"task": 5}), None, None),
        ] {
            let line = step(name, outcome.clone());
            assert_eq!(told(&line, OWNER).get("task"), owner.as_ref(), "{name}");
            assert_eq!(told(&line, OPERATOR).get("task"), operator.as_ref(), "{name}");
        }
        let run = json!({"run": {"attempt": 1, "resumes": false, "message": 1, "begunMs": 5,
            "request": {"caller": {"id": "a"}, "timeoutMs": 9,
                "trail": {"asked_by": {"agent": "rail", "task": "t-3"}}}}});
        assert_eq!(told(&run, OWNER)["askedBy"], rail("t-3"));
    }

    #[test]
    fn steps_are_told_apart_by_their_names() {
        for (name, expected) in [
            ("model", json!({"type": "model"})),
            ("1.2", json!({"type": "tool"})),
            ("3", json!({"type": "tool"})),
            ("1.2/reserve", json!({"type": "step", "of": "1.2"})),
            ("agent 1.2 travel desk", json!({"type": "agent", "agent": "travel desk"})),
            ("agents", json!({"type": "step"})),
            ("1.2.3", json!({"type": "step"})),
            (".", json!({"type": "step"})),
            ("/x", json!({"type": "step"})),
        ] {
            assert_eq!(Value::Object(step_kind(name, false)), expected, "{name}");
        }
        assert_eq!(step_kind("ask", true)["type"], "model");
    }

    #[test]
    fn secrets_of_callbacks_and_callers_are_not_told() {
        let callback = json!({"callback": {"name": "pay", "nth": 1, "token": "s3cret",
            "origin": "https://a.example", "uses": 1, "expiresMs": 7}});
        let called = json!({"called": {"name": "pay", "nth": 1, "number": 1, "key": "k3y",
            "body": {"text": "paid by card 1234"}}});
        let run = json!({"run": {"attempt": 2, "resumes": true, "message": 1, "begunMs": 5,
            "request": {"caller": {"id": "key:alice", "permissions": ["p3rm"]}, "timeoutMs": 9,
                "metadata": {"authorization": "b3arer"}}}});
        for audience in [OWNER, OPERATOR] {
            for line in [&callback, &called, &run] {
                let shown = told(line, audience).to_string();
                for secret in ["s3cret", "k3y", "p3rm", "b3arer", "a.example"] {
                    assert!(!shown.contains(secret), "{shown}");
                }
            }
        }
        assert_eq!(
            told(&run, OWNER),
            json!({"at": 9, "generation": null, "kind": "run", "attempt": 2, "resumes": true,
                "message": 1, "begunAt": 5, "timeoutMs": 9})
        );
        assert_eq!(told(&run, OPERATOR)["caller"], "key:alice");
        assert_eq!(told(&called, OPERATOR)["body"]["text"], "paid by card 1234");
        assert_eq!(told(&called, OWNER).get("body"), None);
    }

    #[test]
    fn of_the_url_of_a_webhook_the_origin_is_told() {
        let attempt = Attempt {
            at: 5,
            generation: Generation(2),
            attempt: 1,
            status: Some(500),
            duration_ms: 7,
            outcome: "retry".to_owned(),
            error: Some("the receiver answered 500".to_owned()),
            answer: None,
        };
        let url = "https://user:pass@hooks.example/s3cret?token=t".to_owned();
        let shown = of_attempt(&OneAttempt { webhook: "w".to_owned(), url, attempt });
        assert_eq!(
            shown,
            json!({"at": 5, "generation": 2, "kind": "webhookAttempt", "webhook": "w",
                "origin": "https://hooks.example", "attempt": 1, "durationMs": 7,
                "outcome": "retry", "status": 500, "error": "the receiver answered 500"})
        );
    }
}
