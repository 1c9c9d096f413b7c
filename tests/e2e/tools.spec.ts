// Messages that call tools: the agent `assistant` of tests/agents with the probes of src/tools/probe.rs. The tools in
// src/tools have their own unit tests.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Agent, message, textOf, toolCall, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";

let worker: Worker;
let agent: Agent;
before(async () => {
  worker = await startWorker();
  agent = new Agent(worker.url);
});
after(() => worker.stop());

describe("a call", () => {
  for (const [tool, args, part] of [
    ["probe_sum", { a: 2, b: 3 }, { data: 5 }],
    ["probe_sum", { a: 0.5, b: -2 }, { data: -1.5 }],
    ["probe_text", { text: "Grüße" }, { text: "Grüße" }],
    ["probe_text", { text: "ab", times: 2 }, { text: "abab" }],
  ] as const) {
    test(`of ${tool} with ${JSON.stringify(args)} gives an artifact with the result (§4.1.7)`, async () => {
      const task = await agent.sendForTask(toolCall(tool, args));
      assert.equal(task.status.state, "TASK_STATE_COMPLETED");
      assert.deepEqual(task.artifacts?.map(({ artifactId, parts }) => [artifactId, parts]), [[`${tool}-result`, [part]]]);
    });
  }

  for (const args of [undefined, {}] as const) {
    test(`with the arguments ${JSON.stringify(args)} knows when it is made and by whom (§4.1.7)`, async () => {
      const before = Date.now();
      const task = await agent.sendForTask(toolCall("probe_call", args));
      const [now, ...caller] = textOf(task.artifacts?.[0]).split(" ");
      assert.deepEqual(caller, ["anonymous", "[]"]);
      // The clock of a Worker does not advance during computations, so it may lag a little.
      assert.ok(Math.abs(Date.parse(now ?? "") - before) < 60_000, now);
    });
  }

  test("without a data part gives the text to the first tool (§4.1.6)", async () => {
    const task = await agent.sendForTask("hello");
    assert.deepEqual(task.artifacts?.map(({ artifactId, parts }) => [artifactId, parts]), [["probe_text-result", [{ text: "hello" }]]]);
  });

  test("beside another gives an artifact each, in order (§4.1.7)", async () => {
    const parts = [
      { text: "please" },
      { data: { tool: "probe_sum", arguments: { a: 1, b: 1 } } },
      { data: { tool: "probe_sum", arguments: { a: 2, b: 2 } } },
      { data: { tool: "probe_text", arguments: { text: "Bob" } } },
    ];
    const task = await agent.sendForTask({ parts });
    assert.deepEqual(task.artifacts?.map(({ parts }) => parts), [[{ data: 2 }], [{ data: 4 }], [{ text: "Bob" }]]);
    assert.equal(new Set(task.artifacts?.map(({ artifactId }) => artifactId)).size, 3, "ids are unique in a task");
  });
});

test("a call gives parts of every kind, with their names and media types (§4.1.6)", async () => {
  const task = await agent.sendForTask(toolCall("probe_parts"));
  assert.deepEqual(task.artifacts?.[0]?.parts, [
    { text: "text" },
    { data: { a: [1] } },
    { raw: "AP8=", filename: "two.bytes", mediaType: "application/octet-stream" },
    { url: "https://example.com/a", mediaType: "text/html" },
  ]);
});

test("a whole number may be written with a fraction of zero, as clients do whose numbers are all floats (§4.1.6)", async () => {
  const { parts } = toolCall("probe_text");
  const said = message({ parts });
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message: said } });
  const floats = body.replace('"probe_text"', '"probe_text","arguments":{"text":"ab","times":2.0}');
  const response = await fetch(worker.url, { method: "POST", body: floats, headers: { "content-type": "application/json", "a2a-version": "1.0" } });
  const { result } = (await response.json()) as { result: { task: Task } };
  assert.deepEqual(result.task.artifacts?.[0]?.parts, [{ text: "abab" }]);
});

describe("a call that cannot be understood", () => {
  for (const [what, said, reason] of [
    ["of an unknown tool", toolCall("no_such_tool"), /no_such_tool.*probe_sum/s],
    ["of a tool whose name is no text", toolCall(5 as unknown as string), /no tool 5/],
    ["with arguments that are no object", toolCall("probe_text", ["text"]), /arguments/],
    ["without text and tool", message({ parts: [{ data: {} }] }), /probe_sum/],
  ] as const) {
    test(`${what} is rejected with the reason (§4.1.3)`, async () => {
      const task = await agent.sendForTask(said);
      assert.equal(task.status.state, "TASK_STATE_REJECTED");
      assert.match(textOf(task.status.message), reason);
      assert.equal(task.artifacts, undefined);
    });
  }
});

test("a text that no tool takes is a failed task with what can be asked (§4.1.3)", async () => {
  const task = await new Agent(`${worker.url}/numbers`).sendForTask("2 and 3");
  assert.equal(task.status.state, "TASK_STATE_FAILED");
  assert.match(textOf(task.status.message), /- probe_sum: Adds two numbers\. Example: \{"tool":"probe_sum","arguments":\{"a":1,"b":1\}\}/);
  const { tools } = task.status.message?.parts[1]?.data as { tools: { name: string; example: unknown }[] };
  assert.deepEqual(tools.map(({ name }) => name), ["probe_sum", "probe_count"]);
  const again = await new Agent(`${worker.url}/numbers`).sendForTask({ parts: [{ data: tools[0]?.example }] });
  assert.deepEqual(again.artifacts?.[0]?.parts, [{ data: 2 }]);
});

describe("a call that fails", () => {
  for (const [tool, args, reason] of [
    ["probe_sum", { a: "x" }, /arguments\.a.*arguments\.b|arguments\.b.*arguments\.a/],
    ["probe_sum", { a: 1, b: 2, c: 3 }, /arguments\.c/],
    ["probe_sum", { a: 1e308, b: 1e308 }, /too large/],
    ["probe_text", { text: "x", times: 4 }, /arguments\.times.*3/],
    ["probe_text", undefined, /arguments\.text/],
  ] as const) {
    test(`of ${tool} with ${JSON.stringify(args)} is a failed task with the reason (§4.1.3)`, async () => {
      const task = await agent.sendForTask(toolCall(tool, args));
      assert.equal(task.status.state, "TASK_STATE_FAILED");
      assert.match(textOf(task.status.message), reason);
      assert.equal(task.status.message?.role, "ROLE_AGENT");
    });
  }

  for (const [fault, reason] of [
    ["arguments", "probe_parts was called with wrong arguments: as told"],
    ["tool", "probe_parts failed: as told"],
    ["upstream", "probe_parts failed because of something that it called: as told"],
  ] as const) {
    test(`by the fault ${fault} leaves an artifact that says so (§4.1.7)`, async () => {
      const task = await agent.sendForTask(toolCall("probe_parts", { fault }));
      assert.equal(task.status.state, "TASK_STATE_FAILED");
      assert.equal(textOf(task.status.message), reason);
      assert.deepEqual(task.artifacts, [
        { artifactId: "probe_parts-result", name: "probe_parts-result", parts: [{ text: "as told" }], metadata: { isError: true, fault } },
      ]);
    });
  }

  test("keeps the results that came before it (§4.1.7)", async () => {
    const parts = [{ data: { tool: "probe_text", arguments: { text: "done" } } }, { data: { tool: "probe_sum", arguments: {} } }];
    const task = await agent.sendForTask({ parts });
    assert.equal(task.status.state, "TASK_STATE_FAILED");
    assert.deepEqual(task.artifacts?.map(({ artifactId }) => artifactId), ["probe_text-result", "probe_sum-result-2"]);
    assert.deepEqual(task.artifacts?.map(({ metadata }) => metadata?.["isError"]), [undefined, true]);
    assert.equal(textOf(task.artifacts?.[0]), "done");
  });
});

describe("acceptedOutputModes", () => {
  for (const [acceptedOutputModes, part] of [
    [["text/plain"], { text: "5" }],
    [["text/*"], { text: "5" }],
    [["application/json"], { data: 5 }],
    [["text/plain", "application/json"], { data: 5 }],
    [["*/*"], { data: 5 }],
    [[], { data: 5 }],
  ] as const) {
    test(`of ${JSON.stringify(acceptedOutputModes)} gives ${JSON.stringify(part)} for a number (§3.2.2)`, async () => {
      const said = toolCall("probe_sum", { a: 2, b: 3 });
      const task = await agent.sendForTask(said, { acceptedOutputModes: [...acceptedOutputModes] });
      assert.deepEqual(task.artifacts?.[0]?.parts, [part]);
    });
  }
});

test("probe_count counts its calls, also over a restart and a crash (§4.1.7)", async (t) => {
  const own = await startWorker();
  t.after(() => own.stop());
  const count = async () => (await new Agent(own.url).sendForTask(toolCall("probe_count"))).artifacts?.[0]?.parts[0]?.data;
  assert.equal(await count(), 1);
  assert.equal(await count(), 2);
  await own.restart();
  assert.equal(await count(), 3);
  await own.kill9();
  await own.restart();
  assert.equal(await count(), 4);
  assert.deepEqual((await Promise.all([count(), count(), count()])).sort(), [5, 6, 7]);
});
