// Messages that call tools: the agent `assistant` of tests/agents, with the tools of src/tools.ts.
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
    ["add_numbers", { a: 2, b: 3 }, { data: 5 }],
    ["add_numbers", { a: 0.5, b: -2 }, { data: -1.5 }],
    ["echo", { text: "Grüße" }, { text: "Grüße" }],
    ["get_greeting", { name: "Ada" }, { text: "Hello, Ada!" }],
    ["get_greeting", {}, { text: "Hello, world!" }],
    ["is_admin", {}, { data: false }],
  ] as const) {
    test(`of ${tool} with ${JSON.stringify(args)} gives an artifact with the result (§4.1.7)`, async () => {
      const task = await agent.sendForTask(toolCall(tool, args));
      assert.equal(task.status.state, "TASK_STATE_COMPLETED");
      assert.deepEqual(task.artifacts?.map(({ artifactId, parts }) => [artifactId, parts]), [[`${tool}-result`, [part]]]);
    });
  }

  for (const [args, zone] of [[undefined, "Z"], [{}, "Z"], [{ offset_minutes: 90 }, "+01:30"], [{ offset_minutes: -485 }, "-08:05"]] as const) {
    test(`with the arguments ${JSON.stringify(args)} knows when it is made (§4.1.7)`, async () => {
      const before = Date.now();
      const task = await agent.sendForTask(toolCall("current_time", args));
      const told = textOf(task.artifacts?.[0]);
      assert.equal(told.slice("2026-01-05T09:00:01.250".length), zone);
      // The clock of a Worker stands still while it computes, so it may lag a little.
      assert.ok(Math.abs(Date.parse(told) - before) < 60_000, told);
    });
  }

  test("without a data part gives the text to the first tool (§4.1.6)", async () => {
    const task = await agent.sendForTask("hello");
    assert.deepEqual(task.artifacts?.map(({ artifactId, parts }) => [artifactId, parts]), [["echo-result", [{ text: "hello" }]]]);
  });

  test("beside another gives an artifact each, in order (§4.1.7)", async () => {
    const parts = [
      { text: "please" },
      { data: { tool: "add_numbers", arguments: { a: 1, b: 1 } } },
      { data: { tool: "add_numbers", arguments: { a: 2, b: 2 } } },
      { data: { tool: "echo", arguments: { text: "Bob" } } },
    ];
    const task = await agent.sendForTask({ parts });
    assert.deepEqual(task.artifacts?.map(({ parts }) => parts), [[{ data: 2 }], [{ data: 4 }], [{ text: "Bob" }]]);
    assert.equal(new Set(task.artifacts?.map(({ artifactId }) => artifactId)).size, 3, "ids are unique in a task");
  });
});

test("a whole number may be written with a fraction of zero, as clients do whose numbers are all floats (§4.1.6)", async () => {
  const said = toolCall("current_time");
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message: said } });
  const floats = body.replace('"current_time"', '"current_time","arguments":{"offset_minutes":90.0}');
  const response = await fetch(worker.url, { method: "POST", body: floats, headers: { "content-type": "application/json", "a2a-version": "1.0" } });
  const { result } = (await response.json()) as { result: { task: Task } };
  assert.match(textOf(result.task.artifacts?.[0]), /\+01:30$/);
});

describe("a call that cannot be understood", () => {
  for (const [what, said, reason] of [
    ["of an unknown tool", toolCall("no_such_tool"), /no_such_tool.*add_numbers/s],
    ["of a tool whose name is no text", toolCall(5 as unknown as string), /no tool 5/],
    ["with arguments that are no object", toolCall("echo", ["text"]), /arguments/],
    ["without text and tool", message({ parts: [{ data: {} }] }), /add_numbers/],
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
  assert.match(textOf(task.status.message), /- add_numbers: Adds two numbers\. Example: \{"tool":"add_numbers","arguments":\{"a":1,"b":1\}\}/);
  const { tools } = task.status.message?.parts[1]?.data as { tools: { name: string; example: unknown }[] };
  assert.deepEqual(tools.map(({ name }) => name), ["add_numbers", "is_admin"]);
  const again = await new Agent(`${worker.url}/numbers`).sendForTask({ parts: [{ data: tools[0]?.example }] });
  assert.deepEqual(again.artifacts?.[0]?.parts, [{ data: 2 }]);
});

describe("a call that fails", () => {
  for (const [tool, args, reason] of [
    ["add_numbers", { a: "x" }, /arguments\.a.*arguments\.b|arguments\.b.*arguments\.a/],
    ["add_numbers", { a: 1, b: 2, c: 3 }, /arguments\.c/],
    ["add_numbers", { a: 1e308, b: 1e308 }, /too large/],
    ["current_time", { offset_minutes: 841 }, /arguments\.offset_minutes.*840/],
    ["echo", undefined, /arguments\.text/],
  ] as const) {
    test(`of ${tool} with ${JSON.stringify(args)} is a failed task with the reason (§4.1.3)`, async () => {
      const task = await agent.sendForTask(toolCall(tool, args));
      assert.equal(task.status.state, "TASK_STATE_FAILED");
      assert.match(textOf(task.status.message), reason);
      assert.equal(task.status.message?.role, "ROLE_AGENT");
    });
  }

  test("keeps the results that came before it (§4.1.7)", async () => {
    const parts = [{ data: { tool: "echo", arguments: { text: "done" } } }, { data: { tool: "add_numbers", arguments: {} } }];
    const task = await agent.sendForTask({ parts });
    assert.equal(task.status.state, "TASK_STATE_FAILED");
    assert.deepEqual(task.artifacts?.map(({ artifactId }) => artifactId), ["echo-result", "add_numbers-result-2"]);
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
      const said = toolCall("add_numbers", { a: 2, b: 3 });
      const task = await agent.sendForTask(said, { acceptedOutputModes: [...acceptedOutputModes] });
      assert.deepEqual(task.artifacts?.[0]?.parts, [part]);
    });
  }
});
