// The runner of ACTS by the rules of docs/acts-specification.md: requests, steps, errors, client tests and reports, against a server of the test.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { parsedBy } from "../conformance/acts/client.ts";
import { CORRECTIONS, corrected, unquoted } from "../conformance/acts/corrections.ts";
import { runTest } from "../conformance/acts/runner.ts";
import { actsSection } from "../conformance/acts/section.ts";
import { Transport } from "../conformance/acts/transport.ts";
import { actsReport, entryOf, reportName, verdictOf } from "../conformance/acts/verdict.ts";
import { OPERATIONS, restError, rpcError } from "../conformance/acts/wire.ts";

let server;
let base;
/** What came, and what is answered: a value, or a function of what came. */
let came = [];
let answer = {};
before(async () => {
  server = createServer(async (request, response) => {
    const body = await text(request);
    const seen = { method: request.method, path: request.url, headers: request.headers, body: body === "" ? undefined : body };
    came.push(seen);
    const { status = 200, type = "application/json", send = {}, end = true } = typeof answer === "function" ? answer(seen) : answer;
    response.writeHead(status, { "content-type": type }).write(typeof send === "string" ? send : JSON.stringify(send));
    if (end) response.end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  base = `http://127.0.0.1:${server.address().port}/agent`;
});
after(() => server.close());

const transport = (binding = "jsonrpc", headers = {}) => new Transport(base, binding, "1.0", headers);
const step = (more = {}) => ({ id: "get", operation: "get_task", params: { id: "x" }, ...more });
const result = (result) => ({ send: { jsonrpc: "2.0", id: "1", result } });
const failed = (error) => ({ send: { jsonrpc: "2.0", id: "1", error } });

async function run(steps, given, { binding = "jsonrpc", ...more } = {}) {
  came = [];
  answer = given;
  const { assertions, ...context } = more;
  return runTest({ id: "A-1", name: "A", level: "must", steps, assertions }, { transport: transport(binding), given: {}, variables: {}, ...context });
}

test("operations are requests of either binding, with the version and without parameters in two places (§4.1, §12.4)", async () => {
  answer = {};
  for (const [operation, params, path, body] of [
    ["get_task", { id: "a/b", historyLength: 2 }, "GET /agent/tasks/a%2Fb?historyLength=2"],
    ["list_tasks", { contextId: "c", cursor: "p" }, "GET /agent/tasks?contextId=c&pageToken=p"],
    ["cancel_task", { id: "t" }, "POST /agent/tasks/t:cancel", {}],
    ["subscribe_to_task", { id: "t" }, "POST /agent/tasks/t:subscribe", {}],
    ["get_agent_card", {}, "GET /agent/.well-known/agent-card.json"],
    ["get_agent_card", { extended: true }, "GET /agent/extendedAgentCard"],
    ["create_push_config", { taskId: "t", pushNotificationConfig: { url: "u" } }, "POST /agent/tasks/t/pushNotificationConfigs", { url: "u" }],
    ["get_push_config", { taskId: "t", id: "c" }, "GET /agent/tasks/t/pushNotificationConfigs/c"],
    ["list_push_configs", { taskId: "t" }, "GET /agent/tasks/t/pushNotificationConfigs"],
    ["delete_push_config", { taskId: "t", id: "c" }, "DELETE /agent/tasks/t/pushNotificationConfigs/c"],
  ]) {
    came = [];
    await transport("rest", { authorization: "Bearer x" }).call(operation, params);
    const [{ method, path: asked, headers, body: sent }] = came;
    assert.equal(`${method} ${asked}`, path);
    assert.deepEqual(sent && JSON.parse(sent), body);
    assert.deepEqual([headers["a2a-version"], headers.authorization], ["1.0", "Bearer x"]);
  }
  for (const [name, { method }] of Object.entries(OPERATIONS)) {
    came = [];
    await transport().call(name, method === undefined ? {} : { id: "t" });
    const [{ path, body, headers }] = came;
    if (method === undefined) assert.equal(path, "/agent/.well-known/agent-card.json");
    else {
      const { id, ...envelope } = JSON.parse(body);
      assert.deepEqual(envelope, { jsonrpc: "2.0", method, params: { id: "t" } });
      assert.ok(typeof id === "string" && headers["a2a-version"] === "1.0");
    }
  }
});

test("a message gets an id, and the task and context that it belongs to (§4.3)", async () => {
  answer = {};
  came = [];
  await transport("rest").call("send_message", { taskId: "t", contextId: "c", message: { role: "ROLE_USER", parts: [] } });
  await transport("rest").call("send_message", { message: { messageId: "own", taskId: "inner", parts: [] }, taskId: "outer" });
  const [one, other] = came.map(({ body }) => JSON.parse(body));
  assert.match(one.message.messageId, /^[0-9a-f-]{36}$/);
  assert.deepEqual([one.message.taskId, one.message.contextId, "taskId" in one], ["t", "c", false]);
  assert.deepEqual(other.message, { messageId: "own", taskId: "inner", parts: [] });
});

test("raw steps are sent as they are written, and see the body as it came (§4.4)", async () => {
  const raw = (raw) => ({ id: "r", raw: { method: "POST", path: "/x", headers: { "Content-Type": "text/plain", X: "y" }, ...raw }, expect: { status: 201, body: { result: { a: 1 } } } });
  const given = { status: 201, ...result({ a: 1 }) };
  assert.equal((await run([raw({ body: { a: [1] } })], given)).result, "pass");
  assert.deepEqual([came[0].path, came[0].body, came[0].headers.x, came[0].headers["a2a-version"]], ["/agent/x", '{"a":[1]}', "y", undefined]);
  assert.equal((await run([raw({ body_raw: "{no json" })], given)).result, "pass");
  assert.equal(came[0].body, "{no json");
});

test("what a binding puts around an answer is taken off, a status that was not expected fails (§4.2, §6.1)", async () => {
  const expect = { body: { id: "t" } };
  assert.equal((await run([step({ expect })], result({ id: "t" }))).result, "pass");
  assert.equal((await run([step({ expect })], { send: { id: "t" } }, { binding: "rest" })).result, "pass");
  const { failure, ...outcome } = await run([step({ expect }), step({ id: "more" })], result({ id: "u" }));
  assert.deepEqual([outcome.result, outcome.steps.map(({ id, result }) => [id, result])], ["fail", [["get", "fail"]]], "the first step that fails ends the test");
  assert.deepEqual(failure, { step_id: "get", message: 'id is "u", expected "t"', expected: '"t"', actual: '"u"', assertion_path: "id" });
  assert.equal((await run([step()], { status: 503, send: {} }, { binding: "rest" })).result, "fail");
  assert.equal((await run([step({ expect: { status: { one_of: [200, 503] } } })], { status: 503, send: {} }, { binding: "rest" })).result, "fail", "an error is no answer");
  assert.equal((await run([step()], failed({ code: -32001 }))).result, "fail");
});

test("errors are told apart by their code and by the reason in their details, as A2A 1.0.1 has them (§6.2)", async () => {
  const info = (reason) => [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason }];
  for (const [type, code, status, reason] of [
    ["TaskNotFoundError", -32001, 404, "TASK_NOT_FOUND"], ["TaskNotCancelableError", -32002, 400, "TASK_NOT_CANCELABLE"], ["UnsupportedOperationError", -32004, 400, "UNSUPPORTED_OPERATION"],
    ["PushNotificationNotSupportedError", -32003, 400, "PUSH_NOTIFICATION_NOT_SUPPORTED"], ["VersionNotSupportedError", -32009, 400, "VERSION_NOT_SUPPORTED"], ["InvalidParamsError", -32602, 400],
    ["InternalError", -32603, 500], ["MethodNotFoundError", -32601, 404],
  ]) {
    assert.equal(rpcError({ code }).type, type);
    assert.equal(restError(status, { error: { details: reason ? info(reason) : [] } }).type, type);
  }
  const expect_error = { error_type: "TaskNotFoundError", message: { contains: "no" }, details: { count: 1 } };
  const error = { code: -32001, message: "not there", data: info("TASK_NOT_FOUND") };
  assert.equal((await run([step({ expect_error })], failed(error))).result, "pass");
  assert.equal((await run([step({ expect_error: {} })], failed(error))).result, "pass", "any error");
  assert.equal((await run([step({ expect_error })], { status: 404, send: { error: { message: "not there", details: error.data } } }, { binding: "rest" })).result, "pass");
  for (const wrong of [{ ...error, code: -32002 }, { ...error, message: "gone" }, { ...error, data: [] }]) assert.equal((await run([step({ expect_error })], failed(wrong))).result, "fail");
  assert.equal((await run([step({ expect_error })], result({}))).failure.message, "an error was expected");
  // Names of the draft for errors that 1.0.1 names otherwise.
  assert.equal((await run([step({ expect_error: { error_type: "StreamingNotSupportedError" } })], failed({ code: -32004 }))).result, "pass");
});

test("steps capture, assert and repeat; a test has no captures of another (§4, §5.5, §8.2, §9)", async () => {
  let asked = 0;
  const working = () => result({ id: "t", status: { state: (asked += 1) < 3 ? "WORKING" : "DONE" }, history: [{ n: 1 }, { n: 2 }] });
  const repeat = { until: "status.state == DONE", max_attempts: 4, delay_ms: 1 };
  const steps = [
    step({ repeat, capture: { taskId: "id" }, assertions: [{ source: "{{get.response}}", any: { path: "history[*]", match: { n: 2 } } }, { source: "{{get.taskId}}", match: "t" }] }),
    { id: "look", assertion: { source: "{{get.response}}", path: "status", match: { state: "DONE" }, none: { path: "x[*]", match: 1 } } },
    step({ id: "again", params: { id: "{{get.taskId}}" } }),
  ];
  assert.equal((await run(steps, working, { assertions: [{ source: "{{again.response}}", all: { path: "history[*]", match: { n: { gte: 1 } } } }] })).result, "pass");
  assert.deepEqual([asked, JSON.parse(came[3].body).params], [4, { id: "t" }]);
  asked = -9;
  assert.match((await run([step({ repeat: { ...repeat, max_attempts: 2 } })], working)).failure.message, /^after 2 attempts/);
  assert.equal((await run([step()], result({}), { assertions: [{ source: "{{get.response}}", match: { a: 1 } }] })).result, "fail");
  const { result: unresolved, failure } = await run([step({ params: { id: "{{get.taskId}}" } })], result({}));
  assert.deepEqual([unresolved, failure.message], ["fail", "nothing defines {{get.taskId}}"]);
  const { port } = server.address();
  const away = new Transport(`http://127.0.0.1:${port === 1 ? 2 : 1}`, "rest", "1.0");
  assert.equal((await run([step()], {}, { transport: away })).result, "error", "no answer is no failure of the agent");
});

test("streams are read to their end, to the most that is wanted, or until the time is over (§7)", async () => {
  const event = (state) => `: comment\ndata: ${JSON.stringify({ jsonrpc: "2.0", result: { statusUpdate: { status: { state } } } })}\n\n`;
  const stream = (end, ...states) => ({ type: "text/event-stream", send: states.map(event).join(""), end });
  const follow = (expect_stream) => [{ id: "s", operation: "subscribe_to_task", params: { id: "t" }, expect_stream }];
  assert.equal((await run(follow({ min_count: 2, final_event: { status: { state: "B" } } }), stream(true, "A", "B"))).result, "pass");
  assert.equal((await run(follow({ max_count: 1, final_event: { status: { state: "A" } } }), stream(false, "A", "B"))).result, "pass");
  assert.equal((await run(follow({ min_count: 1, timeout_ms: 200 }), stream(false, "A"))).result, "pass");
  assert.equal((await run(follow({}), result({}))).failure.message, "the answer is no stream");
  const raw = [{ id: "s", raw: { method: "POST", path: "/" }, expect: { status: 200 }, expect_stream: { each_event: { jsonrpc: "2.0" } } }];
  assert.equal((await run(raw, stream(true, "A"))).result, "pass");
});

test("client tests give the response to a program, with the id of its request, and look at what it reads (§10)", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "a2a-edge-acts-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const program = join(folder, "client");
  const script = `#!${process.execPath}\nconst [operation, url] = process.argv.slice(2);
const card = await (await fetch(url + "/.well-known/agent-card.json")).json();
const answer = await (await fetch(url, { method: "POST", body: JSON.stringify({ id: "mine" }) })).json();
if (operation === "get_task") { console.error("cannot be read"); process.exit(1); }
console.log(JSON.stringify({ card: card.name, binding: card.supportedInterfaces?.[0].protocolBinding, answer }));\n`;
  writeFileSync(`${program}.mjs`, script);
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${program}.mjs' "$@"\n`, { mode: 0o755 });
  const parse = (operation, payload) => parsedBy(program, operation, payload);
  assert.deepEqual(await parse("send_message", { jsonrpc: "2.0", id: "1", result: {} }), { card: "Canonical", binding: "JSONRPC", answer: { jsonrpc: "2.0", id: "mine", result: {} } });
  assert.equal((await parse("get_extended_agent_card", { name: "x" })).binding, "HTTP+JSON");
  assert.equal((await parse("get_agent_card", { name: "Golden" })).card, "Golden");
  const client = (operation, expect_parsed) => [{ id: "p", client_response: { operation, wire_payload: { jsonrpc: "2.0" } }, expect_parsed }];
  assert.equal((await run(client("send_message", { answer: { id: "mine" } }), {}, { parse })).result, "pass");
  assert.equal((await run(client("send_message", { answer: { id: "1" } }), {}, { parse })).result, "fail");
  assert.deepEqual((await run(client("get_task", {}), {}, { parse })).failure, { step_id: "p", message: "cannot be read" });
});

const outcome = (id, level, result, more = {}) => ({ suite: "s", test: { id, name: id, level }, result, duration_ms: 5, steps: [], ...more });
const correction = { test: "D-1", wants: "a thing", section: "1", sentence: "It [is](#x) so.", corrected: "another thing" };
const RUNS = [
  outcome("A-1", "must", "pass"), outcome("B-1", "should", "fail", { failure: { message: "no" } }), outcome("C-1", "may", "skip", { skip_reason: "it is for grpc" }),
  outcome("D-1", "must", "fail", { deviation: { correction, result: "pass" } }),
];

test("a deviation fails as written and passes as corrected; anything else of it is a failure", () => {
  assert.deepEqual(RUNS.map(verdictOf), ["passed", "failed", "skipped", "deviating"]);
  assert.equal(verdictOf(outcome("D-1", "must", "pass", { deviation: { correction, result: "pass" } })), "failed");
  assert.equal(verdictOf(outcome("D-1", "must", "fail", { deviation: { correction, result: "fail" } })), "failed");
  const { numbers, deviations } = entryOf("ACTS", "abc", "2026-01-02", RUNS);
  assert.deepEqual(numbers, { passed: 1, failed: 1, skipped: 1, deviating: 1 });
  assert.deepEqual(deviations, [{ test: "D-1", reason: 'it wants a thing; A2A 1.0.1 §1: "It [is](#x) so."' }]);
});

test("a report has the results as the tests are written, summed by level (§12.6, §12.7, §13)", () => {
  const report = actsReport("rest", RUNS, { version: "1", generatedAt: "2026-01-02T03:04:05.678Z", specVersion: "1.0", actsVersion: "1.0" });
  assert.deepEqual(report.summary, {
    total: 4, passed: 1, failed: 2, skipped: 1, errors: 0, duration_ms: 20,
    by_level: {
      must: { total: 2, passed: 1, failed: 1, skipped: 0, errors: 0 }, should: { total: 1, passed: 0, failed: 1, skipped: 0, errors: 0 },
      may: { total: 1, passed: 0, failed: 0, skipped: 1, errors: 0 },
    },
  });
  assert.deepEqual(report.suites[0].tests[1], { id: "B-1", name: "B-1", level: "should", result: "fail", duration_ms: 5, steps: [], failure: { message: "no" } });
  assert.equal(reportName("rest", report.generated_at), "acts-report-a2a-edge-rest-20260102T030405Z.json");
});

test("the section says what became of each test", () => {
  const text = actsSection({ revision: "abc", date: "2026-01-02", repairs: ["error-name-as-code"] }, [{ name: "JSON-RPC", runs: RUNS }]);
  for (const line of [
    "| JSON-RPC | 1 | 1 | 1 | 1 |", "| B-1 | should | JSON-RPC | the test: no |", "| D-1 | must | a thing | §1: “It is so.” | another thing |", "| A-1 | must | passed |", "| D-1 | must | deviates |",
  ]) assert.ok(text.split("\n").includes(line), `${line}\n\nin:\n${text}`);
});

test("a correction leaves the test that was given as it is; sentences are looked for across lines and comments", () => {
  const given = { id: "PUSH-CFG-004", name: "", level: "may", steps: [{ id: "set-config", operation: "create_push_config", expect_error: { error_type: "UnsupportedOperationError" } }] };
  const one = CORRECTIONS.find(({ test }) => test === given.id);
  assert.equal(corrected(given, one).steps[0].expect_error.error_type, "PushNotificationNotSupportedError");
  assert.equal(given.steps[0].expect_error.error_type, "UnsupportedOperationError");
  assert.deepEqual(unquoted([{ sentence: "It is so." }, { sentence: "It was." }], ["x\n  // It is\n  // so. And more"]), ["It was."]);
});
