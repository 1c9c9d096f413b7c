// A client cannot imitate the front Worker towards the object of a task: its headers are ignored, and no path leads to the
// object.
import assert from "node:assert/strict";
import { request } from "node:http";
import { after, before, test } from "node:test";
import { KEYS, KEY_SCHEME, withAccess } from "./tables.ts";
import { Agent, message, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";

let worker: Worker;
let alice: Agent;
let task: Task;
before(async () => {
  worker = await startWorker({ vars: { ...KEYS, AGENTS: withAccess({ locked: { schemes: { key: KEY_SCHEME } } }) } });
  alice = new Agent(`${worker.url}/locked`, { "x-api-key": KEYS.ALICE_KEY });
  task = await alice.sendForTask("ask");
});
after(() => worker.stop());

/** A command of the front Worker to the object of Alice's task. */
const command = (call: unknown): string => JSON.stringify({ agent: "locked", caller: { id: "key:alice", permissions: ["operator"] }, reply: { form: { Rest: "Json" } }, terms: {}, call });

/** Headers that only the parts of the Worker use among each other, or that look like these. */
const forged = (id: string): Record<string, string> => ({
  "x-follow": JSON.stringify({ command: JSON.parse(command({ SubscribeToTask: { id } })) as unknown, after: null }),
  "x-caller": "key:alice",
  "x-limit": "1",
  "cf-access-authenticated-user-email": "alice@example.com",
  certificate: '{"certPresented":"1","certVerified":"SUCCESS"}',
});

test("headers that the parts of the Worker use among each other have no effect when a client sends them", async () => {
  const bob = new Agent(`${worker.url}/locked`, { "x-api-key": KEYS.BOB_KEY, ...forged(task.id) });
  const nobody = new Agent(`${worker.url}/locked`, forged(task.id));
  await assert.rejects(bob.getTask(task.id), { code: -32001 });
  await assert.rejects(nobody.getTask(task.id), { code: -32000 });
  await assert.rejects(bob.call("SubscribeToTask", { id: task.id }), { code: -32001 });
  const mine = await new Agent(`${worker.url}/locked`, { "x-api-key": KEYS.ALICE_KEY, ...forged("other") }).getTask(task.id);
  assert.equal(mine.id, task.id, "nor do they harm");
});

test("no upgrade of a client's leads to an object", async () => {
  for (const path of ["/", "/begin", "/locked", `/locked/tasks/${task.id}:subscribe`, `/${task.id}`]) {
    const status = await new Promise<number>((resolve, reject) => {
      const headers = { connection: "upgrade", upgrade: "websocket", "sec-websocket-version": "13", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==", ...forged(task.id) };
      const asked = request(worker.url + path, { headers }, ({ statusCode = 0 }) => resolve(statusCode));
      asked.on("upgrade", (_, socket) => {
        socket.destroy();
        resolve(101);
      });
      asked.on("error", reject).end();
    });
    assert.ok(status >= 400 && status < 500, `${path}: ${status}`);
  }
});

test("the paths and bodies of objects are none of the Worker's", async () => {
  for (const [method, path, body] of [
    ["POST", "/call", command({ GetTask: { id: task.id } })],
    ["POST", "/begin", command({ SendMessage: { message: message("hello") } })],
    ["POST", "/webhook", "{}"],
    ["DELETE", "/", ""],
    ["DELETE", "/storage", ""],
    ["POST", "/callback", "{}"],
    ["POST", "/locked", command({ GetTask: { id: task.id } })],
    ["POST", "/locked/ask", command({ CancelTask: { id: task.id } })],
  ] as const) {
    const headers = { "content-type": "application/json", ...forged(task.id) };
    const response = await fetch(worker.url + path, { method, headers, ...(body === "" ? {} : { body }) });
    const text = await response.text();
    assert.ok(!text.includes(task.id) && !text.includes("TASK_STATE"), `${method} ${path}: ${text}`);
    assert.ok(response.status >= 400 || text.includes('"error"'), `${method} ${path}: ${response.status}`);
  }
  assert.equal((await alice.getTask(task.id)).status.state, "TASK_STATE_INPUT_REQUIRED", "nothing has happened to it");
});
