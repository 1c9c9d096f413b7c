// Missing arguments are requested from the user: the agent `asking`, with the unmodified official client.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { Role, TaskState, type Part, type Task } from "@a2a-js/sdk";
import { ClientFactory, type Client } from "@a2a-js/sdk/client";
import { startWorker, type Worker } from "./harness.ts";
import { Sink } from "./sink.ts";

let sink: Sink;
let worker: Worker;
let asking: Client;
before(async () => {
  sink = await Sink.open();
  worker = await startWorker({ vars: { SINK: sink.url } });
  asking = await new ClientFactory().createFromUrl(`${worker.url}/asking/`, ".well-known/agent-card.json");
});
after(async () => {
  await worker.stop();
  sink.close();
});

type Said = string | Record<string, unknown>;

/** Sends a text or data; with `task`, as a further message of that task. */
async function say(said: Said, task?: Task): Promise<Task> {
  const content: Part["content"] = typeof said === "string" ? { $case: "text", value: said } : { $case: "data", value: said };
  const message = {
    messageId: randomUUID(), contextId: task?.contextId ?? "", taskId: task?.id ?? "", role: Role.ROLE_USER, metadata: undefined,
    extensions: [], referenceTaskIds: [], parts: [{ content, metadata: undefined, filename: "", mediaType: "" }],
  };
  const answer = await asking.sendMessage({ tenant: "", message, configuration: undefined, metadata: undefined });
  if (!("status" in answer)) throw new Error("the answer is no task");
  return answer;
}

const stateOf = (task: Task) => task.status?.state;
const contentsOf = (holder: { parts: Part[] } | undefined) => holder?.parts.map(({ content }) => content?.value as unknown);

/** The question of a waiting task, and the schema of the answer. */
function question(task: Task): [string, { required: string[]; properties: Record<string, { type: string }> }] {
  assert.equal(stateOf(task), TaskState.TASK_STATE_INPUT_REQUIRED);
  const [text, schema] = contentsOf(task.status?.message) ?? [];
  return [text as string, schema as { required: string[]; properties: Record<string, { type: string }> }];
}

test("what is missing is asked for, round by round, and the rounds are put together (§3.4.3)", async () => {
  const first = await say({ tool: "order" });
  const [text, schema] = question(first);
  assert.match(text, /^order needs item \(What to order\), count\. Answer with /);
  assert.deepEqual(schema.required, ["item", "count"]);
  assert.equal(schema.properties["count"]?.type, "integer");

  const second = await say({ count: 2 }, first);
  assert.deepEqual(question(second)[1].required, ["item"]);
  const third = await say("rounds", second);
  assert.equal(stateOf(third), TaskState.TASK_STATE_COMPLETED);
  assert.deepEqual(sink.arrivals("/orders/rounds").map(({ body }) => body), ['{"count":2}']);
});

test("a text is the one required string, and the rest is asked for (§3.4.3)", async () => {
  const task = await say("text");
  assert.deepEqual(question(task)[1].required, ["count"]);
  assert.equal(stateOf(await say({ count: 1 }, task)), TaskState.TASK_STATE_COMPLETED);
  assert.equal(sink.count("/orders/text"), 1);
});

test("what was given before survives a crash (§3.4.3)", async () => {
  const task = await say("crash");
  question(task);
  await worker.kill9();
  await worker.restart();
  assert.equal(stateOf(await say({ count: 1 }, task)), TaskState.TASK_STATE_COMPLETED);
  assert.equal(sink.count("/orders/crash"), 1);
});

test("an answer that does not help or does not fit is asked for again (§4.1.3)", async () => {
  const first = await say({ tool: "add_numbers", arguments: { a: "one" } });
  assert.match(question(first)[0], /^a: must be of type number, got string\. add_numbers needs a, b\./);
  assert.deepEqual(question(first)[1].required, ["a", "b"]);
  const second = await say("three", first);
  assert.deepEqual(question(second)[1].required, ["a", "b"]);
  const third = await say({ a: 1, b: "three" }, second);
  assert.match(question(third)[0], /^b: must be of type number, got string\. add_numbers needs b\./);
  assert.equal(stateOf(await say({ b: 3 }, third)), TaskState.TASK_STATE_COMPLETED);
});

test("what no answer puts right fails at once although something is missing (§4.1.3)", async () => {
  const task = await say({ tool: "add_numbers", arguments: { a: 1, c: 2 } });
  assert.equal(stateOf(task), TaskState.TASK_STATE_FAILED);
});
