//! The functions of the project on the platform: how Rust calls them, and what they call by the number of their run. `js/functions.js`
//! has what the entry module has passed; `executor::function` has everything else.

use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;

use futures_util::future::LocalBoxFuture;
use js_sys::{Function, Promise};
use wasm_bindgen_futures::JsFuture;
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{self, JsCast, JsValue};

use super::bindings::known_settings;
use super::target::check_webhook_url;
use crate::executor::Registry;
use crate::executor::function::{OpenRun, Refused, Runs, register};
use crate::port::{FunctionEnd, Functions, RunEnd};
use a2a_agents::Misfit;

#[wasm_bindgen(module = "/js/functions.js")]
extern "C" {
    #[wasm_bindgen(js_name = hasFunctions)]
    fn has_functions() -> bool;

    #[wasm_bindgen(catch)]
    fn describe() -> Result<String, JsValue>;

    #[wasm_bindgen(js_name = checkSettings)]
    fn check_settings(kind: &str, settings: &str) -> Option<String>;

    fn execute(kind: &str, run: u32, turn: &str, settings: &str) -> JsValue;

    fn cancel(kind: &str, run: u32, turn: &str, settings: &str) -> JsValue;

    #[wasm_bindgen(js_name = callTool)]
    fn call_tool(name: &str, run: u32, arguments: &str, call: &str) -> JsValue;

    fn over(run: u32, why: &str);

    #[wasm_bindgen(js_name = nextRun)]
    fn next_run() -> u32;
}

thread_local! {
    static RUNS: RefCell<Option<Rc<Runs>>> = const { RefCell::new(None) };
}

/// Registers the functions that the entry module has passed to the engine, if there are any.
///
/// # Errors
///
/// What the author has to change.
pub(super) fn register_functions(
    registry: &mut Registry,
    is_development: bool,
) -> Result<(), Misfit> {
    if !has_functions() {
        return Ok(());
    }
    let runs = register(registry, Rc::new(EntryModule), is_development)?;
    RUNS.with(|cell| cell.replace(Some(runs)));
    Ok(())
}

/// The functions of the entry module.
struct EntryModule;

impl Functions for EntryModule {
    fn describe(&self) -> Result<String, String> {
        describe().map_err(|error| {
            let message =
                error.dyn_ref::<js_sys::Error>().map(|error| String::from(error.message()));
            message.or_else(|| error.as_string()).unwrap_or_else(|| format!("{error:?}"))
        })
    }

    fn check_settings(&self, kind: &str, settings: &str) -> Option<String> {
        check_settings(kind, settings)
    }

    fn execute(&self, kind: &str, run: u32, turn: &str, settings: &str) -> FunctionEnd {
        end(execute(kind, run, turn, settings))
    }

    fn cancel(&self, kind: &str, run: u32, turn: &str, settings: &str) -> FunctionEnd {
        end(cancel(kind, run, turn, settings))
    }

    fn call_tool(&self, name: &str, run: u32, arguments: &str, call: &str) -> FunctionEnd {
        end(call_tool(name, run, arguments, call))
    }

    fn over(&self, run: u32, end: RunEnd) {
        over(run, end.name());
    }

    fn next_run(&self) -> u32 {
        next_run()
    }
}

/// The end of a function: its text, or the promise of the text. `js/api` never rejects the promise.
fn end(value: JsValue) -> FunctionEnd {
    match value.dyn_into::<Promise>() {
        Ok(promise) => FunctionEnd::Later(Box::pin(async {
            JsFuture::from(promise).await.ok().and_then(|text| text.as_string()).unwrap_or_default()
        })),
        Err(text) => FunctionEnd::Now(text.as_string().unwrap_or_default()),
    }
}

/// The open run of this number.
fn find(run: u32) -> Result<Rc<OpenRun>, JsValue> {
    let runs = RUNS.with(|cell| cell.borrow().clone());
    runs.ok_or(Refused::Over(RunEnd::Over)).and_then(|runs| runs.find(run)).map_err(thrown)
}

/// What JavaScript catches: a text, which `js/api` makes an error.
fn thrown(refused: Refused) -> JsValue {
    JsValue::from_str(&refused.to_string())
}

/// Calls a function of a run.
fn with<T>(run: u32, call: impl FnOnce(&OpenRun) -> Result<T, Refused>) -> Result<T, JsValue> {
    call(find(run)?.as_ref()).map_err(thrown)
}

/// The functions that settle a promise: to fulfil it, and to reject it.
struct Settling(RefCell<Option<(Function, Function)>>);

impl Settling {
    fn keep(&self, resolve: Function, reject: Function) {
        self.0.replace(Some((resolve, reject)));
    }
}

/// A promise of what a job of the run gives. If the run ends before, the promise stays pending.
fn promise<F: Future<Output = Result<String, Refused>> + 'static>(
    run: u32,
    job: impl FnOnce(Rc<OpenRun>) -> F,
) -> Promise {
    match find(run) {
        Ok(open) => promise_of(&open, Box::pin(job(open.clone()))),
        Err(error) => Promise::reject(&error),
    }
}

fn promise_of(open: &OpenRun, job: LocalBoxFuture<'static, Result<String, Refused>>) -> Promise {
    let settling = Settling(RefCell::new(None));
    let promise = Promise::new(&mut |resolve, reject| settling.keep(resolve, reject));
    if let Some((resolve, reject)) = settling.0.take() {
        open.add_job(Box::pin(async move {
            // Functions that settle a promise do not throw.
            let _ = match job.await {
                Ok(text) => resolve.call1(&JsValue::UNDEFINED, &JsValue::from_str(&text)),
                Err(refused) => reject.call1(&JsValue::UNDEFINED, &thrown(refused)),
            };
        }));
    }
    promise
}

/// Declares functions that JavaScript calls with the number of a run: `exports! { jsName rust_name(run, argument: type) -> type { call } }`.
macro_rules! exports {
    ($(
        $(#[$doc:meta])*
        $js:ident $name:ident($($argument:ident: $type:ty),*) -> $output:ty = |$open:ident| $call:expr;
    )*) => {
        $(
            $(#[$doc])*
            #[doc = ""]
            #[doc = "# Errors"]
            #[doc = ""]
            #[doc = "A text: `~` and the name of the end if the run is over, else the reason of the refusal."]
            #[wasm_bindgen(js_name = $js)]
            #[allow(unreachable_pub, reason = "what JavaScript calls must be public")]
            pub fn $name(run: u32, $($argument: $type),*) -> Result<$output, JsValue> {
                with(run, |$open| $call)
            }
        )*
    };
}

exports! {
    /// Emits a verb of `docs/http-agents.md`.
    runSay run_say(verb: &str) -> () = |run| run.say(verb);
    /// Reports progress.
    runProgress run_progress(text: Option<String>) -> () = |run| run.progress(text.as_deref());
    /// Appends text to an artifact.
    runAppend run_append(id: &str, text: &str, is_last: bool) -> () = |run| run.append(id, text, is_last);
    /// Begins a step.
    runBeginStep run_begin_step(name: &str) -> String = |run| run.begin_step(name);
    /// Begins the step that writes an artifact.
    runBeginWrite run_begin_write(id: &str) -> String = |run| run.begin_write(id);
    /// Stores the outcome of a step.
    runEndStep run_end_step(name: &str, nth: u32, is_done: bool, outcome: &str) -> () = |run| run.end_step(name, nth, is_done, outcome);
    /// Begins a wait.
    runWait run_wait(wait: &str) -> String = |run| run.wait(wait).map(str::to_owned);
    /// Makes a callback.
    runCallback run_callback(name: &str, uses: u32, lifetime_ms: f64) -> String = |run| run.callback(name, uses, millis(lifetime_ms));
    /// Takes the next body that was posted to a callback.
    runTakeCall run_take_call(name: &str, nth: u32) -> String = |run| run.take_call(name, nth);
    /// The messages of the task.
    runHistory run_history() -> String = |run| run.history();
    /// The task.
    runTask run_task() -> String = |run| run.task();
    /// The value of a secret.
    runSecret run_secret(name: &str) -> String = |run| run.secret(name);
    /// Whether the client accepts a media type.
    runAccepts run_accepts(media_type: &str) -> bool = |run| Ok(run.accepts(media_type));
    /// Records the usage of a model.
    runRecordUsage run_record_usage(used: &str) -> () = |run| run.record_usage(used);
    /// Opens a stream of another agent.
    runRemoteStream run_remote_stream(name: &str, request: &str) -> u32 = |run| run.remote_stream(name, request);
    /// Closes a stream of another agent.
    runRemoteClose run_remote_close(stream: u32) -> () = |run| { run.remote_close(stream); Ok(()) };
    /// The headers of a request to this URL. A guarded request goes only where webhooks may go.
    runFetchHeaders run_fetch_headers(url: &str, is_guarded: bool) -> String = |run| {
        if is_guarded {
            judge(url).map_err(|reason| Refused::Because(format!("the URL {reason}")))?;
        }
        run.trace_headers()
    };
}

/// Declares functions that give a promise of text.
macro_rules! promises {
    ($(
        $(#[$doc:meta])*
        $js:ident $name:ident($($argument:ident),*) = |$open:ident| $call:expr;
    )*) => {
        $(
            $(#[$doc])*
            #[wasm_bindgen(js_name = $js)]
            #[allow(unreachable_pub, reason = "what JavaScript calls must be public")]
            pub fn $name(run: u32, $($argument: String),*) -> Promise {
                promise(run, move |$open| async move { $call.await })
            }
        )*
    };
}

promises! {
    /// Waits for the next message of the client.
    runNextMessage run_next_message() = |run| run.next_message();
    /// The credentials that the client has sent.
    runCredentials run_credentials() = |run| run.credentials();
    /// Sends a message to another agent, and follows its task.
    runRemoteSend run_remote_send(name, request) = |run| run.remote_send(&name, &request);
    /// Cancels a task of another agent.
    runRemoteCancel run_remote_cancel(name, task) = |run| run.remote_cancel(&name, &task);
    /// The card of another agent.
    runRemoteCard run_remote_card(name) = |run| run.remote_card(&name);
    /// The tools of an MCP server.
    runMcpTools run_mcp_tools(server) = |run| run.mcp_tools(&server);
    /// Calls a tool of an MCP server.
    runMcpCall run_mcp_call(server, tool, arguments, key) = |run| run.mcp_call(&server, &tool, &arguments, &key);
}

/// The next event of a stream of another agent.
#[wasm_bindgen(js_name = runRemoteNext)]
#[allow(unreachable_pub, reason = "what JavaScript calls must be public")]
pub fn run_remote_next(run: u32, stream: u32) -> Promise {
    promise(run, move |open| async move { open.remote_next(stream).await })
}

/// Checks that a guarded request may be sent to this URL. Its redirects are not followed.
fn judge(url: &str) -> Result<(), String> {
    match known_settings() {
        Some(settings) => check_webhook_url(url, &settings),
        None => Err("must wait until the settings are known".to_owned()),
    }
}

/// A number of milliseconds; a negative or invalid number is 0.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
fn millis(value: f64) -> u64 {
    value as u64
}
