// The runner of ACTS by the rules of docs/acts-specification.md: assertions, variables, streams, repetition, the schema of A2A.
import assert from "node:assert/strict";
import { test } from "node:test";
import { check, checkCollection, valueAt, valuesAt } from "../conformance/acts/assertions.ts";
import { misfit, readProto } from "../conformance/acts/proto.ts";
import { holds, pauseMs } from "../conformance/acts/repeat.ts";
import { checkOrder, checkStream } from "../conformance/acts/streams.ts";
import { resolve } from "../conformance/acts/variables.ts";

test("assertions: each operator, and what it refuses (§5.1 to §5.4)", () => {
  const value = { n: 5, s: "abcd", b: true, z: null, a: [1, 2], o: { type: "t" } };
  for (const [good, bad] of [
    [{ n: 5 }, { n: 6 }], [{ s: "abcd" }, { s: "abc" }], [{ z: null }, { n: null }], [{ a: [1, 2] }, { a: [2] }], [{ a: [1] }, { a: [1, 2, 3] }],
    [{ n: { type: "number" } }, { n: { type: "string" } }], [{ z: { type: "null" } }, { a: { type: "object" } }], [{ a: { type: "array" } }, { o: { type: "array" } }],
    [{ z: { exists: true } }, { x: { exists: true } }], [{ x: { absent: true } }, { z: { absent: true } }],
    [{ s: { contains: "bc" } }, { s: { contains: "x" } }], [{ s: { matches: "^a.*d$" } }, { n: { matches: "5" } }],
    [{ s: { starts_with: "ab" } }, { s: { starts_with: "b" } }], [{ s: { ends_with: "cd" } }, { s: { ends_with: "c" } }],
    [{ n: { gte: 5, lte: 5 } }, { n: { gte: 6 } }], [{ n: { gt: 4, lt: 6 } }, { n: { gt: 5 } }], [{ n: { lte: 5 } }, { n: { lt: 5 } }],
    [{ a: { count: 2 } }, { s: { count: 4 } }], [{ a: { count_gte: 2, count_lte: 2 } }, { a: { count_gte: 3 } }], [{ a: { count_lte: 3 } }, { a: { count_lte: 1 } }],
    [{ n: { one_of: [4, 5] } }, { n: { one_of: [4] } }], [{ o: { one_of: [{ type: { type: "string" } }] } }, { o: { one_of: [{ x: 1 }] } }],
    [{ n: { all_of: [{ gt: 1 }, { lt: 9 }] } }, { n: { all_of: [{ gt: 1 }, { lt: 2 }] } }], [{ n: { any_of: [1, 5] } }, { n: { any_of: [1, 2] } }],
    [{ n: { not: 6 } }, { n: { not: { gt: 1 } } }], [{ a: { items: { gt: 0 } } }, { a: { items: { gt: 1 } } }], [{ a: { items: [1] } }, { a: { items: [2] } }],
    // Several operators all have to hold.
    [{ a: { type: "array", count: 2 } }, { a: { type: "array", count: 3 } }],
    // A key that is no operator here is a member, also one that is called as an operator.
    [{ o: { type: { type: "string" } } }, { o: { type: { type: "number" } } }], [{ o: { type: { contains: "t" } } }, { o: { other: { exists: true } } }],
    [{ any_of: [{ n: 1 }, { n: 5 }] }, { any_of: [{ n: 1 }] }],
  ]) {
    assert.equal(check(value, good), undefined, JSON.stringify(good));
    assert.notEqual(check(value, bad), undefined, JSON.stringify(bad));
  }
  assert.deepEqual(check(value, { o: { type: { starts_with: "x" } } }), { path: "o.type", expected: '{"starts_with":"x"}', actual: '"t"' });
});

test("paths lead through members, indexes and all elements; collections have any, all and none (§5.2, §5.5)", () => {
  const source = { task: { artifacts: [{ parts: [{ text: "a" }, { text: "b" }] }, { parts: [{ data: 1 }] }] } };
  assert.equal(valueAt(source, "task.artifacts[0].parts[1].text"), "b");
  assert.equal(valueAt(source, "task.none.more"), undefined);
  assert.deepEqual(valuesAt(source, "task.artifacts[*].parts[*].text"), ["a", "b"]);
  const path = "task.artifacts[*].parts[*]";
  const holdsFor = (kind, match) => checkCollection(source, kind, { path, match }) === undefined;
  assert.deepEqual(["any", "all", "none"].map((kind) => holdsFor(kind, { text: { type: "string" } })), [true, false, false]);
  assert.deepEqual(["any", "all", "none"].map((kind) => holdsFor(kind, { url: { exists: true } })), [false, false, true]);
  assert.ok(holdsFor("all", { any_of: [{ text: { exists: true } }, { data: 1 }] }));
});

test("variables: what steps captured goes before what the runner and the document say, and these before the environment (§8, §12.2)", (t) => {
  process.env.ACTS_TEST = "env";
  t.after(() => delete process.env.ACTS_TEST);
  const scope = {
    steps: new Map([["send", { taskId: "t-1", response: { n: [1] } }]]),
    given: { hook: "given" },
    variables: { hook: "document", base: "{{env.ACTS_TEST}}/x", "send.taskId": "document", "env.ACTS_TEST": "document" },
  };
  assert.deepEqual(resolve({ a: ["{{send.taskId}}", "{{ hook }}"], b: "<{{base}}>", c: 1 }, scope), { a: ["t-1", "given"], b: "<document/x>", c: 1 });
  assert.equal(resolve("{{env.ACTS_TEST}}", { ...scope, variables: {} }), "env");
  assert.deepEqual(resolve("{{send.response}}", scope), { n: [1] }, "a text that is one variable is its value");
  const [one, other] = resolve(["{{$uuid}}", "{{$uuid}}"], scope);
  assert.match(one, /^[0-9a-f-]{36}$/);
  assert.notEqual(one, other);
  assert.throws(() => resolve("{{send.other}}", scope), /nothing defines \{\{send\.other\}\}/);
});

test("conditions and pauses of repetition (§9)", () => {
  const response = { status: { state: "DONE" }, n: 3, b: true };
  for (const [condition, expected] of [
    ["status.state == DONE", true], ['status.state == "DONE"', true], ["status.state != DONE", false], ["n == 3", true], ["b == true", true],
    ["n != 4", true], ["status.state in [WORKING, DONE]", true], ["status.state in [WORKING]", false], ["none == DONE", false],
  ]) assert.equal(holds(condition, response), expected, condition);
  assert.throws(() => holds("status.state", response), /is no condition/);
  assert.deepEqual([1, 2, 3].map((attempt) => pauseMs({ until: "" }, attempt)), [1_000, 1_000, 1_000]);
  assert.deepEqual([1, 2, 3].map((attempt) => pauseMs({ until: "", delay_ms: 10, backoff: "linear" }, attempt)), [10, 20, 30]);
  assert.deepEqual([1, 2, 3].map((attempt) => pauseMs({ until: "", delay_ms: 10, backoff: "exponential" }, attempt)), [10, 20, 40]);
});

test("streams: counts, positions, every and the last event, and states that never go back (§7)", () => {
  const status = (state) => ({ statusUpdate: { taskId: "t", status: { state: `TASK_STATE_${state}` } } });
  const events = [{ task: { id: "t", status: { state: "TASK_STATE_SUBMITTED" } } }, status("WORKING"), { artifactUpdate: { artifact: { parts: [{ text: "a" }] } } }, status("COMPLETED")]
    .map((root) => ({ root, raw: { jsonrpc: "2.0", result: root } }));
  for (const [good, bad] of [
    [{ min_count: 4, max_count: 4 }, { min_count: 5 }], [{ ordering: "monotonic_state" }, { max_count: 3 }],
    [{ events: [{ index: 0, task: { id: "t" } }] }, { events: [{ index: 1, task: { exists: true } }] }],
    // Without a position, the events of a list are the first ones.
    [{ events: [{ task: { id: "t" } }, { status_update: { status: { exists: true } } }] }, { events: [{ status_update: { exists: true } }] }],
    [{ events: [{ match: "any_position", artifact_update: { artifact: { parts: { count_gte: 1 } } } }] }, { events: [{ match: "any_position", message: { exists: true } }] }],
    [{ events: [{ match: "any_position", artifact: { exists: true } }] }, { events: [{ match: "any_position", status: { state: "TASK_STATE_FAILED" } }] }],
    [{ final_event: { status: { state: "TASK_STATE_COMPLETED" } } }, { final_event: { task: { exists: true } } }],
    [{ each_event: { not: { message: { exists: true } } } }, { each_event: { status: { exists: true } } }],
  ]) {
    assert.equal(checkStream(events, good), undefined, JSON.stringify(good));
    assert.notEqual(checkStream(events, bad), undefined, JSON.stringify(bad));
  }
  assert.equal(checkStream(events, { each_event: { jsonrpc: "2.0" } }, true), undefined, "raw steps see events as they came");
  const order = (...states) => checkOrder(states.map((state) => state && `TASK_STATE_${state}`)) === undefined;
  assert.ok(order("SUBMITTED", "WORKING", undefined, "WORKING", "INPUT_REQUIRED", "WORKING", "AUTH_REQUIRED", "WORKING", "COMPLETED"));
  for (const terminal of ["COMPLETED", "FAILED", "CANCELED", "REJECTED"]) assert.ok(!order("WORKING", terminal, "WORKING"), terminal);
  assert.ok(!order("WORKING", "SUBMITTED"));
});

test("a value is a message of a2a.proto with its own members, types and what is required (A2A §5.5, §5.7)", () => {
  const schema = readProto(`
enum State {
  STATE_A = 0;
}
// A message.
message Box {
  string box_id = 1 [(google.api.field_behavior) = REQUIRED];
  State state = 2; // its state
  repeated Thing things = 3 [(google.api.field_behavior) = REQUIRED];
  map<string, Thing> by_name = 4;
  google.protobuf.Timestamp at = 5;
  optional int32 number = 6;
}
message Thing {
  oneof content {
    string text = 1;
    bytes raw = 2;
  }
  google.protobuf.Struct metadata = 3;
}
`);
  const box = { boxId: "b", state: "STATE_A", things: [{ text: "x" }, { raw: "aGk=", metadata: {} }], byName: { a: {} }, at: "2026-01-02T03:04:05.6Z", number: 1 };
  assert.equal(misfit(schema, "Box", box), undefined);
  for (const [wrong, said] of [
    [{ boxId: undefined }, "Box.boxId is missing"], [{ box_id: "b" }, "Box has an unknown member box_id"], [{ state: 0 }, "Box.state is no State: 0"],
    [{ things: [] }, "Box.things is required, and empty"], [{ things: {} }, "Box.things is no list"], [{ things: [{ raw: "%" }] }, 'Box.things[0].raw is no bytes: "%"'],
    [{ byName: { a: { metadata: 1 } } }, "Box.byName[a].metadata is no google.protobuf.Struct: 1"], [{ at: "2026-01-02" }, 'Box.at is no google.protobuf.Timestamp: "2026-01-02"'],
    [{ number: 1.5 }, "Box.number is no int32: 1.5"],
  ]) assert.equal(misfit(schema, "Box", { ...box, ...wrong }), said);
});
