// The runner of ACTS by the rules of docs/acts-specification.md: documents, the form of tests, and which agent a test goes to.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { load } from "../conformance/acts/load.ts";
import { unmetPrecondition } from "../conformance/acts/preconditions.ts";
import { readProto } from "../conformance/acts/proto.ts";
import { REPAIRS, repair } from "../conformance/acts/repair.ts";
import { runSuite } from "../conformance/acts/run.ts";
import { problemsOf } from "../conformance/acts/validate.ts";

const step = (more = {}) => ({ id: "get", operation: "get_task", params: { id: "x" }, ...more });
const acts = (more = {}) => ({ id: "CORE-X-001", name: "X", level: "must", steps: [step()], ...more });

function folderOf(t, files) {
  const folder = mkdtempSync(join(tmpdir(), "a2a-edge-acts-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return (name) => join(folder, name);
}

test("a manifest includes files of YAML and JSON, which inherit its variables and the tags of their suites (§1.4, §2, §3.1)", (t) => {
  const at = folderOf(t, {
    "suite.yaml": 'acts_version: "1.0"\nspec_version: "1.0"\nvariables: {a: "1", b: "1"}\ninclude: [one.yaml, two.json]\n',
    "one.yaml": 'acts_version: "1.0"\nspec_version: "1.0"\nvariables: {b: "2"}\nsuites:\n  - {id: s, name: S, tags: [t], tests: [{id: A-1, name: A, level: must, tags: [u], steps: [{id: x, operation: get_task, params: {id: y}}]}]}\n',
    "two.json": JSON.stringify({ acts_version: "1.3", spec_version: "1.0", suites: [{ id: "s2", name: "S2", tests: [acts()] }] }),
  });
  const { documents, invalid } = load(at("suite.yaml"));
  assert.deepEqual(documents.map(({ variables }) => variables), [{ a: "1", b: "2" }, { a: "1", b: "1" }]);
  assert.deepEqual(documents.map(({ suites: [suite] }) => [suite.id, suite.tests[0].id, suite.tests[0].tags]), [["s", "A-1", ["t", "u"]], ["s2", "CORE-X-001", []]]);
  assert.equal(invalid.size, 0);
});

test("documents of another major version, without tests, and ids that come twice are refused (§2, §14, §17)", (t) => {
  const document = (more) => JSON.stringify({ acts_version: "1.0", spec_version: "1.0", ...more });
  const suite = (id) => ({ id, name: id, tests: [acts()] });
  const at = folderOf(t, {
    "2.json": document({ acts_version: "2.0", suites: [] }), "empty.json": document({}), "no.json": "[]",
    "old.json": document({ spec_version: undefined, suites: [] }), "twice.json": document({ suites: [suite("a"), suite("b")] }),
  });
  for (const [name, reason] of [["2", /has acts_version 2\.0/], ["empty", /neither suites nor include/], ["no", /no document/], ["old", /no spec_version/], ["twice", /the id CORE-X-001/]]) {
    assert.throws(() => load(at(`${name}.json`)), reason);
  }
});

test("what has not the form of a test is told with where it stands (§3, §4, §5.5, §6, §9, §12.1)", () => {
  assert.deepEqual(problemsOf(acts()), []);
  const raw = { id: "r", raw: { method: "GET", path: "/" } };
  assert.deepEqual(problemsOf(acts({ steps: [raw], transport: ["rest"] })), []);
  for (const [wrong, problem] of [
    [acts({ level: "shall" }), "level must be must, should or may"],
    [acts({ steps: [] }), "steps must be a list with one step at least"],
    [acts({ colour: 1 }), 'the test has an unknown member "colour"'],
    [acts({ steps: [step(), step()] }), "steps[1] must have an id of its own"],
    [acts({ steps: [{ id: "a" }] }), "steps[0] must have exactly one of operation, raw, client_response and assertion"],
    [acts({ steps: [step({ operation: "dance" })] }), 'steps[0] has an unknown operation "dance"'],
    [acts({ steps: [step({ expect: {}, expect_error: {} })] }), "steps[0] cannot have both expect and expect_error"],
    [acts({ steps: [step({ expect: { task: {} } })] }), 'steps[0].expect has an unknown member "task"'],
    [acts({ steps: [step({ expect_error: { error_type: "NoError" } })] }), 'steps[0].expect_error has an unknown error_type "NoError"'],
    [acts({ steps: [step({ expect_stream: { least: 1 } })] }), 'steps[0].expect_stream has an unknown member "least"'],
    [acts({ steps: [step({ repeat: { times: 1 } })] }), 'steps[0].repeat has an unknown member "times"'],
    [acts({ steps: [step({ assertions: [{ source: "x", some: 1 }] })] }), 'steps[0].assertions[0] has an unknown member "some"'],
    [acts({ steps: [raw] }), "transport is needed by a test of raw steps only (ACTS §4.4)"],
  ]) assert.deepEqual(problemsOf(wrong), [problem]);
});

test("each repair makes what tests write into the form of the specification, and touches nothing else (§4.1, §6)", () => {
  const cases = {
    "error-name-as-code": [{ expect_error: { code: "TaskNotFoundError" } }, { expect_error: { error_type: "TaskNotFoundError" } }],
    "error-details-as-data": [{ expect_error: { data: { type: "array" } } }, { expect_error: { details: { type: "array" } } }],
    "operations-of-push-configs": [{ operation: "set_push_notification_config" }, { operation: "create_push_config" }],
    "error-as-expected-member": [{ expect: { status: "error", error: { exists: true } } }, { expect_error: {} }],
    "members-beside-the-body": [{ expect: { status: 200, task: { id: "x" } } }, { expect: { status: 200, body: { task: { id: "x" } } } }],
  };
  assert.deepEqual(Object.keys(cases), REPAIRS.map(({ name }) => name));
  for (const [name, [before, after]] of Object.entries(cases)) {
    const one = acts({ steps: [step(before)] });
    assert.deepEqual(repair(one), [name]);
    const { expect: _, ...others } = step(before);
    assert.deepEqual(one.steps, [{ ...(after.expect ? step() : others), ...after }]);
    assert.deepEqual(repair(one), []);
  }
  assert.deepEqual(repair(acts()), []);
});

test("preconditions are judged by the card (§3.3, §12.3, §12.5)", () => {
  const card = { capabilities: { streaming: true, extensions: [{ uri: "urn:x" }] }, skills: [{ id: "a" }], securityRequirements: [{}] };
  const unmet = (preconditions, transport) => unmetPrecondition(acts({ preconditions, transport }), card, "rest");
  for (const good of [{}, { capabilities: { streaming: true, pushNotifications: false, authentication: true } }, { skills: [{ id: "a" }] }, { extensions: ["urn:x"] }, { transport: ["rest"] }]) {
    assert.equal(unmet(good), undefined, JSON.stringify(good));
  }
  assert.equal(unmet({ capabilities: { streaming: false } }), "the card does not have streaming = false");
  assert.equal(unmet({ capabilities: { pushNotifications: true } }), "the card does not have pushNotifications = true");
  assert.equal(unmet({ skills: [{ id: "b" }] }), "the card has no skill b");
  assert.equal(unmet({ extensions: ["urn:y"] }), "the card has no extension urn:y");
  assert.equal(unmet({ transport: ["grpc"] }), "it is for grpc");
  assert.equal(unmet({}, ["jsonrpc", "grpc"]), "it is for jsonrpc, grpc");
});

test("a test goes to the first agent that meets its preconditions; behaviors that nobody has fail, what the runner cannot is left out (§3.2, §11, §12.1, §12.5)", async (t) => {
  const asked = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    const [, slug] = request.url.split("/");
    const card = { capabilities: { streaming: slug !== "acts-plain" }, securityRequirements: slug === "acts-guarded" ? [{}] : [] };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(request.url.endsWith(".json") ? card : { task: { id: "t" } }));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => server.close());
  const named = (id, more = {}) => acts({ id, ...more });
  const tests = [
    named("any"), named("plain", { preconditions: { capabilities: { streaming: false } } }), named("guarded", { preconditions: { capabilities: { authentication: true } } }),
    named("none", { preconditions: { skills: [{ id: "x" }] } }), named("able", { runner_requirements: ["header_inspection"] }), named("unable", { runner_requirements: ["telepathy"] }),
    named("behaves", { requires_behaviors: ["tck-complete-task"] }), named("dances", { requires_behaviors: ["tck-dance"] }), named("wrong"), named("left"),
  ];
  const loaded = { documents: [{ file: "x", specVersion: "1.0", variables: {}, suites: [{ id: "s", name: "S", tests }] }], invalid: new Map([["wrong", ["it is wrong"]]]), repairs: [] };
  const bench = { origin: `http://127.0.0.1:${server.address().port}`, binding: "rest", sink: { url: "http://x" }, schema: readProto(""), parse: async () => ({}) };
  const runs = await runSuite(loaded, bench, ({ id }) => id !== "left");
  assert.deepEqual(runs.map(({ test: { id }, result, configuration, skip_reason, failure }) => [id, result, configuration ?? skip_reason ?? failure.message]), [
    ["any", "pass", "acts"], ["plain", "pass", "acts-plain"], ["guarded", "pass", "acts-guarded"], ["none", "skip", "the card has no skill x"], ["able", "pass", "acts"],
    ["unable", "skip", "the runner has no telepathy"], ["behaves", "pass", "acts"], ["dances", "fail", "the agent has no behavior tck-dance"], ["wrong", "error", "it is wrong"],
  ]);
  assert.ok(asked.includes("/acts-plain/tasks/x"));
});
