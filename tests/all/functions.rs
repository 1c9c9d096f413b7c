//! Executors and tools that are functions of the entry module, with functions in Rust in place of those in JavaScript: what a run may
//! do, its end, and its resumption.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use a2a::model::{Part, Task, TaskState};
use a2a_agents::CheckedAgent;
use a2a_edge::executor::function::{OpenRun, Refused, Runs, register};
use a2a_edge::executor::{AgentExecutor, Registry};
use a2a_edge::port::{FunctionEnd, Functions, RunEnd, Severity, yield_once};
use a2a_edge::testing::TestAgent;
use a2a_edge::twins::MemoryPlatform;
use futures_util::future::{LocalBoxFuture, pending};
use serde_json::{Value, json};

use crate::support::Made;

/// A function of the entry module.
type Function = Rc<dyn Fn(Rc<OpenRun>, Value) -> LocalBoxFuture<'static, String>>;

/// The entry module.
#[derive(Clone, Default)]
struct Entry(Rc<Module>);

#[derive(Default)]
struct Module {
    executor: RefCell<Option<Function>>,
    hook: RefCell<Option<Function>>,
    tool: RefCell<Option<Function>>,
    described: RefCell<Value>,
    problems: RefCell<Option<String>>,
    runs: RefCell<Option<Rc<Runs>>>,
    numbers: Cell<u32>,
    ends: RefCell<Vec<(u32, &'static str)>>,
}

impl Entry {
    fn describing(described: Value) -> Self {
        let entry = Self::default();
        entry.0.described.replace(described);
        entry
    }

    /// A module with one executor of this function.
    fn with<F>(function: impl Fn(Rc<OpenRun>, Value) -> F + 'static) -> Self
    where
        F: Future<Output = Result<(), Refused>> + 'static,
    {
        let entry = Self::describing(json!({"tools": [], "executors": [
            {"kind": "orders", "recovery": "resume", "cancels": "once"}]}));
        entry.0.executor.replace(Some(function_of(function)));
        entry
    }

    fn call(&self, function: &RefCell<Option<Function>>, run: u32, facts: &str) -> FunctionEnd {
        let Some(function) = function.borrow().clone() else {
            return FunctionEnd::Now(String::new());
        };
        let runs = self.0.runs.borrow().clone().expect("the functions are registered");
        let open = runs.find(run).expect("the run is open");
        FunctionEnd::Later(function(open, serde_json::from_str(facts).expect("facts")))
    }

    fn registry(&self) -> Registry {
        let mut registry = Registry::default();
        let runs = register(&mut registry, Rc::new(self.clone()), false).expect("registered");
        self.0.runs.replace(Some(runs));
        registry
    }

    /// The executor of an agent with this `[executor]`.
    fn executor(&self, executor: &Value) -> Result<Made, String> {
        let outside = MemoryPlatform::default().outside();
        let made = self.registry().make(&agent(executor), &outside);
        made.map(Made).map_err(|misfit| misfit.to_string())
    }

    fn agent(&self) -> TestAgent {
        let executor = json!({"kind": "orders", "table": {"hall": "north"}, "run": {}});
        TestAgent::new(self.executor(&executor).expect("an executor"))
    }

    fn ends(&self) -> Vec<(u32, &'static str)> {
        self.0.ends.take()
    }
}

/// A function that ends without an error unless its run is over, as js/api does it.
fn function_of<F>(function: impl Fn(Rc<OpenRun>, Value) -> F + 'static) -> Function
where
    F: Future<Output = Result<(), Refused>> + 'static,
{
    Rc::new(move |run, facts| {
        let running = function(run, facts);
        Box::pin(async move {
            match running.await {
                Ok(()) | Err(Refused::Over(_)) => String::new(),
                Err(Refused::Because(reason)) => {
                    json!({"failed": reason, "isFailure": false, "stack": "Error at orders.ts:3"})
                        .to_string()
                }
            }
        })
    })
}

fn agent(executor: &Value) -> CheckedAgent {
    let agent = json!({"slug": "a", "default": true, "development": false, "card": "{}",
        "capabilities": {"streaming": true}, "executor": executor});
    a2a::model::decode::decode(agent).expect("an agent")
}

impl Functions for Entry {
    fn describe(&self) -> Result<String, String> {
        Ok(self.0.described.borrow().to_string())
    }

    fn check_settings(&self, _: &str, _: &str) -> Option<String> {
        self.0.problems.borrow().clone()
    }

    fn execute(&self, _: &str, run: u32, turn: &str, _: &str) -> FunctionEnd {
        self.call(&self.0.executor, run, turn)
    }

    fn cancel(&self, _: &str, run: u32, turn: &str, _: &str) -> FunctionEnd {
        self.call(&self.0.hook, run, turn)
    }

    fn call_tool(&self, _: &str, run: u32, arguments: &str, _: &str) -> FunctionEnd {
        self.call(&self.0.tool, run, arguments)
    }

    fn over(&self, run: u32, end: RunEnd) {
        self.0.ends.borrow_mut().push((run, end.name()));
    }

    fn next_run(&self) -> u32 {
        self.0.numbers.set(self.0.numbers.get() + 1);
        self.0.numbers.get()
    }
}

/// Does a step, as js/api does it: the outcome is `made()` or the stored one.
fn step(run: &OpenRun, name: &str, made: impl FnOnce() -> Value) -> Result<Value, Refused> {
    let begun: Value = serde_json::from_str(&run.begin_step(name)?).expect("JSON");
    match begun.get("new").and_then(Value::as_u64) {
        Some(nth) => {
            let outcome = made();
            run.end_step(name, nth as u32, true, &outcome.to_string())?;
            Ok(outcome)
        }
        None => Ok(begun["done"].clone()),
    }
}

fn say(run: &OpenRun, verb: Value) -> Result<(), Refused> {
    run.say(&verb.to_string())
}

fn notes(task: &Task) -> Vec<String> {
    let said = task.history.iter().filter(|message| message.role == a2a::model::Role::Agent);
    let last = task.status.message.as_ref();
    said.chain(last).map(|message| message.text()).collect()
}

#[test]
fn a_turn_has_its_facts_and_ends_by_what_the_function_says() {
    let seen = Rc::new(RefCell::new(Value::Null));
    let note = seen.clone();
    let entry = Entry::with(move |run, turn| {
        note.replace(turn);
        async move {
            yield_once().await;
            say(&run, json!({"do": "artifact", "id": "result", "text": "a chair"}))?;
            say(&run, json!({"do": "complete"}))
        }
    });
    let agent = entry.agent();
    agent.send("a chair").unwrap();
    let task = agent.task().unwrap();
    assert_eq!(task.status.state, TaskState::Completed);
    assert_eq!(task.artifacts[0].parts, [Part::text("a chair")]);
    let turn = seen.take();
    assert_eq!(turn["message"]["parts"], json!([{"text": "a chair"}]));
    assert_eq!((&turn["number"], &turn["resumes"]), (&json!(1), &json!(false)));
    assert_eq!(turn["caller"]["permissions"], json!([]));
    assert_eq!(turn["idempotencyKey"].as_str().unwrap().len(), 64);
    assert_eq!(entry.ends(), [(1, "over")]);
}

#[test]
fn after_a_crash_steps_answer_from_the_log_and_nothing_that_was_said_is_said_again() {
    let (done, attempts) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    let (doing, attempt) = (done.clone(), attempts.clone());
    let entry = Entry::with(move |run, _| {
        let (doing, attempt) = (doing.clone(), attempt.clone());
        async move {
            attempt.set(attempt.get() + 1);
            run.progress(Some("reserving"))?;
            let seat = step(&run, "reserve", || {
                doing.set(doing.get() + 1);
                json!({"row": doing.get()})
            })?;
            // Each attempt writes another text, as a model does.
            say(
                &run,
                json!({"do": "artifact", "id": format!("note-{}", attempt.get()), "text": "x"}),
            )?;
            run.progress(Some("mailing"))?;
            if attempt.get() == 1 {
                yield_once().await;
                pending::<()>().await;
            }
            say(&run, json!({"do": "complete", "parts": [{"data": seat}]}))
        }
    });
    let agent = entry.agent();
    agent.begin("a seat").unwrap();
    agent.crash().unwrap();
    agent.run();
    let task = agent.task().unwrap();
    assert_eq!(task.status.state, TaskState::Completed);
    assert_eq!(task.status.message.as_ref().unwrap().parts[0].as_data(), Some(json!({"row": 1})));
    assert_eq!((done.get(), attempts.get()), (1, 2));
    let ids: Vec<&str> = task.artifacts.iter().map(|known| known.artifact_id.as_str()).collect();
    assert_eq!(ids, ["note-1", "note-2"]);
    let said = notes(&task);
    assert_eq!(said.iter().filter(|text| *text == "reserving").count(), 1, "{said:?}");
    assert_eq!(said.iter().filter(|text| *text == "mailing").count(), 1, "{said:?}");
}

#[test]
fn a_text_whose_writing_was_interrupted_begins_anew() {
    let attempts = Rc::new(Cell::new(0));
    let attempt = attempts.clone();
    let entry = Entry::with(move |run, _| {
        let attempt = attempt.clone();
        async move {
            attempt.set(attempt.get() + 1);
            let nth: Value = serde_json::from_str(&run.begin_write("poem")?).unwrap();
            assert_eq!(nth, json!({"new": 1}));
            say(
                &run,
                json!({"do": "artifact", "id": "poem", "text": format!("{}a", attempt.get()), "more": true}),
            )?;
            run.append("poem", "b", false)?;
            if attempt.get() == 1 {
                yield_once().await;
                pending::<()>().await;
            }
            run.append("poem", "c", true)?;
            run.end_step("write poem", 1, true, "null")?;
            assert_eq!(run.begin_write("poem")?, r#"{"new":2}"#);
            say(&run, json!({"do": "complete"}))
        }
    });
    let agent = entry.agent();
    agent.begin("a poem").unwrap();
    agent.crash().unwrap();
    agent.run();
    let task = agent.task().unwrap();
    assert_eq!(task.status.state, TaskState::Completed);
    let text: String = task.artifacts[0].parts.iter().filter_map(Part::as_text).collect();
    assert_eq!(text, "2abc", "no piece of the first attempt remains");
}

#[test]
fn a_run_that_waits_is_dropped_and_takes_what_was_posted() {
    let url = Rc::new(RefCell::new(String::new()));
    let noted = url.clone();
    let entry = Entry::with(move |run, _| {
        let noted = noted.clone();
        async move {
            let paid: Value = serde_json::from_str(&run.callback("paid", 1, 0)?).unwrap();
            noted.replace(paid["url"].as_str().unwrap().to_owned());
            run.progress(Some("waiting for the payment"))?;
            let wait = json!({"forMs": 604_800_000, "callback": {"name": "paid", "nth": 1}});
            if run.wait(&wait.to_string())? == "parks" {
                assert_eq!(run.progress(None), Err(Refused::Over(RunEnd::Parked)), "a late call");
                pending::<()>().await;
            }
            let body = run.take_call("paid", 1)?;
            say(
                &run,
                json!({"do": "complete", "parts": [serde_json::from_str::<Value>(&body).unwrap()]}),
            )
        }
    });
    let agent = entry.agent();
    agent.begin("a chair").unwrap();
    assert_eq!(entry.ends(), [(1, "parked")]);
    agent.pass(86_400_000);
    agent.crash().unwrap();
    let posted = url.borrow().clone();
    assert!(agent.call_back(&posted, Part::text("49 EUR")));
    agent.run();
    let task = agent.task().unwrap();
    assert_eq!(
        (task.status.state, notes(&task)),
        (TaskState::Completed, vec!["waiting for the payment".to_owned(), "49 EUR".to_owned()])
    );
    assert_eq!(entry.ends(), [(2, "over")]);
}

#[test]
fn a_run_that_waits_without_a_word_is_at_work() {
    let entry = Entry::with(|run, _| async move {
        if run.wait(r#"{"forMs": 86400000}"#)? == "parks" {
            pending::<()>().await;
        }
        say(&run, json!({"do": "complete"}))
    });
    let agent = entry.agent();
    agent.begin("wake me tomorrow").unwrap();
    assert_eq!(agent.task().unwrap().status.state, TaskState::Working);
    agent.pass(86_400_000);
    agent.run();
    assert_eq!(agent.task().unwrap().status.state, TaskState::Completed);
}

#[test]
fn a_cancel_is_reported_and_the_function_goes_on_without_effect() {
    let after = Rc::new(RefCell::new(None));
    let noted = after.clone();
    let entry = Entry::with(move |run, _| {
        let noted = noted.clone();
        async move {
            run.progress(Some("at work"))?;
            let _ = step(&run, "reserve", || json!("12B"))?;
            // The message never comes; the cancel is noticed by the request after it.
            for _ in 0..10 {
                yield_once().await;
            }
            noted.replace(Some(run.progress(Some("still"))));
            Ok(())
        }
    });
    let released = Rc::new(RefCell::new(String::new()));
    let seen = released.clone();
    entry.0.hook.replace(Some(function_of(move |run: Rc<OpenRun>, _| {
        let seen = seen.clone();
        async move {
            seen.replace(run.begin_step("reserve")?);
            assert!(matches!(run.begin_step("other"), Err(Refused::Because(_))));
            assert!(matches!(say(&run, json!({"do": "complete"})), Err(Refused::Because(_))));
            Ok(())
        }
    })));
    let entry_of_agent = entry.clone();
    let agent = entry_of_agent.agent();
    agent.begin("a seat").unwrap();
    agent.cancel().unwrap();
    agent.run();
    assert_eq!(agent.task().unwrap().status.state, TaskState::Canceled);
    assert_eq!(*released.borrow(), r#"{"done":"12B"}"#);
    let ends = entry.ends();
    assert!(ends.iter().filter(|(number, _)| *number == 1).count() >= 1, "{ends:?}");
    if let Some(after) = after.take() {
        assert_eq!(after, Err(Refused::Over(RunEnd::Canceled)));
    }
}

#[test]
fn a_run_that_takes_too_long_is_told_so() {
    let entry = Entry::with(|run, _| async move {
        run.progress(None)?;
        pending().await
    });
    let agent = entry.agent();
    agent.begin("wait").unwrap();
    agent.run();
    assert_eq!(agent.task().unwrap().status.state, TaskState::Failed);
    assert_eq!(entry.ends(), [(1, "timeout")]);
}

#[test]
fn an_error_that_is_no_failure_stays_in_the_log() {
    let entry = Entry::with(|_, _| async {
        Err(Refused::Because("https://k3y@db.example refused".to_owned()))
    });
    let agent = entry.agent();
    agent.send("go").unwrap();
    let task = agent.task().unwrap();
    assert_eq!(task.status.state, TaskState::Failed);
    let said = task.status.message.unwrap().text();
    assert!(said.starts_with("the agent failed;") && !said.contains("k3y"), "{said}");

    let entry = Entry::default();
    entry.0.described.replace(json!({"tools": [], "executors": [{"kind": "orders", "recovery": "fail", "cancels": "never"}]}));
    entry.0.executor.replace(Some(Rc::new(|_, _| {
        Box::pin(async { json!({"failed": "the hall is full", "isFailure": true}).to_string() })
    })));
    let agent = entry.agent();
    agent.send("go").unwrap();
    assert_eq!(agent.task().unwrap().status.message.unwrap().text(), "the hall is full");
}

#[test]
fn a_tool_reads_its_arguments_and_its_steps_are_those_of_the_call() {
    let entry = Entry::describing(json!({"executors": [], "tools": [
        {"name": "book", "description": "Books.", "inputSchema": {"type": "object"}, "needs": ["KEY"]}]}));
    let names = Rc::new(RefCell::new(Vec::new()));
    let noted = names.clone();
    let called: Function = Rc::new(move |run, arguments| {
        let noted = noted.clone();
        Box::pin(async move {
            noted.borrow_mut().push(arguments.clone());
            step(&run, "reserve", || json!(1)).unwrap();
            assert!(
                matches!(run.wait(r#"{"forMs": 1}"#), Err(Refused::Because(_))),
                "a tool does not park"
            );
            json!({"parts": [{"data": {"city": arguments["city"], "key": run.secret("KEY").unwrap()}}]}).to_string()
        })
    });
    entry.0.tool.replace(Some(called));
    let executor = json!({"kind": "tools", "table": {"names": ["book"]}, "run": {}});
    let agent = TestAgent::new(entry.executor(&executor).unwrap()).with_secret("KEY", "s3cr3t-k3y");
    agent
        .send_parts(vec![Part::data(json!({"tool": "book", "arguments": {"city": "Oslo"}}))])
        .unwrap();
    let task = agent.task().unwrap();
    assert_eq!(task.status.state, TaskState::Completed);
    let result = task.artifacts[0].parts[0].as_data().unwrap();
    assert_eq!(result, json!({"city": "Oslo", "key": "[KEY]"}));
    assert_eq!(*names.borrow(), [json!({"city": "Oslo"})]);
}

#[test]
fn settings_that_do_not_fit_name_their_line() {
    let entry = Entry::with(|_, _| async { Ok(()) });
    entry
        .0
        .problems
        .replace(Some(r#"[{"path": "rows", "problem": "must be a number"}]"#.to_owned()));
    let place = json!({"file": "agents/a.toml", "lines": {"kind": 12, "orders.rows": 15}});
    let executor = json!({"kind": "orders", "table": {"rows": "x"}, "run": {}, "place": place});
    let misfit = entry.executor(&executor).err().unwrap();
    assert_eq!(misfit, "agents/a.toml:15: `executor.orders.rows` must be a number");
}

#[test]
fn a_name_is_registered_once() {
    let entry = Entry::with(|_, _| async { Ok(()) });
    let mut registry = entry.registry();
    let twice = register(&mut registry, Rc::new(entry), false).err().unwrap();
    assert!(twice.to_string().contains("the kind orders is registered"), "{twice}");
}

#[test]
fn a_run_that_is_not_resumed_cannot_wait_outside_of_memory() {
    let entry = Entry::with(|run, _| async move { run.wait(r#"{"forMs": 60000}"#).map(|_| ()) });
    let executor = json!({"kind": "orders", "table": {}, "run": {"recovery": "fail"}});
    let made = entry.executor(&executor).unwrap();
    assert!(!made.parks());
}

#[test]
fn other_steps_than_before_are_reported() {
    let attempts = Rc::new(Cell::new(0));
    let attempt = attempts.clone();
    let entry = Entry::with(move |run, _| {
        let attempt = attempt.clone();
        async move {
            attempt.set(attempt.get() + 1);
            let name = if attempt.get() == 1 { "a" } else { "b" };
            step(&run, name, || json!(null))?;
            if attempt.get() == 1 {
                yield_once().await;
                pending::<()>().await;
            }
            say(&run, json!({"do": "complete"}))
        }
    });
    let agent = entry.agent();
    agent.begin("go").unwrap();
    agent.crash().unwrap();
    agent.run();
    let told = agent.observed(Severity::Info);
    let expected = "a resumed run did not begin the steps that an earlier attempt has ended (a), and began others (b)";
    assert!(told.iter().any(|line| line.contains(expected)), "{told:?}");
}

#[test]
fn a_number_that_is_not_open_finds_no_run() {
    let entry = Entry::with(|_, _| async { Ok(()) });
    let _ = entry.registry();
    let runs = entry.0.runs.borrow().clone().unwrap();
    assert_eq!(runs.find(7).err(), Some(Refused::Over(RunEnd::Over)));
    assert_eq!(Refused::Over(RunEnd::Over).to_string(), "~over");
}
