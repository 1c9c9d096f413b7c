// The interfaces in cards: one for each binding and version, with URLs that clients can use unchanged (spec §4.4.6).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Agent, message, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";

interface Interface {
  url: string;
  protocolBinding: string;
  protocolVersion: string;
}

const CARD = "/.well-known/agent-card.json";

let worker: Worker;
before(async () => {
  worker = await startWorker();
});
after(() => worker.stop());

async function interfacesAt(url: string): Promise<Interface[]> {
  const response = await fetch(url);
  return ((await response.json()) as { supportedInterfaces: Interface[] }).supportedInterfaces;
}

for (const [path, endpoint, base] of [
  [CARD, "/", ""],
  [`/assistant${CARD}`, "/", ""],
  [`/demo${CARD}`, "/demo", "/demo"],
] as const) {
  test(`${path} names both bindings, the preferred one first, those of 1.0 before those of 0.3 (§8.3)`, async () => {
    assert.deepEqual(await interfacesAt(worker.url + path), [
      { url: worker.url + endpoint, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      { url: worker.url + base, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
      { url: worker.url + endpoint, protocolBinding: "JSONRPC", protocolVersion: "0.3" },
      { url: worker.url + base, protocolBinding: "HTTP+JSON", protocolVersion: "0.3" },
    ]);
  });

  test(`both interfaces in ${path} lead to the same agent (§5.1)`, async () => {
    const [jsonRpc, rest] = await interfacesAt(worker.url + path);
    assert.ok(jsonRpc && rest);
    const task = await new Agent(jsonRpc.url).sendForTask("hello");
    const headers = { "content-type": "application/json", "a2a-version": "1.0" };
    assert.deepEqual(await (await fetch(`${rest.url}/tasks/${task.id}`, { headers })).json(), task);
    const sent = await fetch(`${rest.url}/message:send`, { method: "POST", headers, body: JSON.stringify({ message: message("hello") }) });
    const { task: other } = (await sent.json()) as { task: Task };
    assert.deepEqual(await new Agent(jsonRpc.url).getTask(other.id), other);
  });
}

test("both begin with PUBLIC_URL where it is set (§8.3)", async (t) => {
  const published = await startWorker({ vars: { PUBLIC_URL: "https://agents.example" } });
  t.after(() => published.stop());
  for (const [path, expected] of [
    [CARD, ["https://agents.example/", "https://agents.example"]],
    [`/demo${CARD}`, ["https://agents.example/demo", "https://agents.example/demo"]],
  ] as const) {
    assert.deepEqual((await interfacesAt(published.url + path)).map(({ url }) => url), [...expected, ...expected]);
  }
});
