// Extensions of the protocol: declared, required, requested and in use (spec §3.2.6, §4.6).
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { message, type ErrorDetail, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";

const MANNERS = "https://a2a-edge.example/extensions/manners/v1";
const TRACE = "https://a2a-edge.example/extensions/trace/v1";

let worker: Worker;
let picky: string;
before(async () => {
  worker = await startWorker({ notes: true });
  picky = `${worker.url}/picky`;
});
after(() => worker.stop());

type Headers = Record<string, string> | [string, string][];

function post(url: string, body: unknown, headers: Headers): Promise<Response> {
  const own: [string, string][] = [["content-type", "application/json"], ["a2a-version", "1.0"]];
  const given = Array.isArray(headers) ? headers : Object.entries(headers);
  return fetch(url, { method: "POST", headers: [...own, ...given], body: JSON.stringify(body) });
}

/** The requests in the form of a binding; `task` reads a task from an answer. */
interface Binding {
  send(text: string, headers: Headers): Promise<Response>;
  stream(text: string, headers: Headers): Promise<Response>;
  task(response: Response): Promise<Task>;
  details(response: Response): Promise<ErrorDetail[]>;
}

const bindings: Record<string, Binding> = {
  "JSON-RPC": {
    send: (text, headers) => rpc("SendMessage", { message: message(text) }, headers),
    stream: (text, headers) => rpc("SendStreamingMessage", { message: message(text) }, headers),
    task: async (response) => ((await response.json()) as { result: { task: Task } }).result.task,
    details: async (response) => {
      assert.equal(response.status, 200);
      const { error } = (await response.json()) as { error: { code: number; data: ErrorDetail[] } };
      assert.equal(error.code, -32008);
      return error.data;
    },
  },
  "HTTP+JSON": {
    send: (text, headers) => post(`${picky}/message:send`, { message: message(text) }, headers),
    stream: (text, headers) => post(`${picky}/message:stream`, { message: message(text) }, headers),
    task: async (response) => ((await response.json()) as { task: Task }).task,
    details: async (response) => {
      assert.equal(response.status, 400);
      const { error } = (await response.json()) as { error: { code: number; status: string; details: ErrorDetail[] } };
      assert.deepEqual([error.code, error.status], [400, "FAILED_PRECONDITION"]);
      return error.details;
    },
  },
};

function rpc(method: string, params: unknown, headers: Headers): Promise<Response> {
  return post(picky, { jsonrpc: "2.0", id: 1, method, params }, headers);
}

test("the card declares the extensions of the agent (§4.4.4)", async () => {
  const response = await fetch(`${picky}/.well-known/agent-card.json`);
  const { capabilities } = (await response.json()) as { capabilities: { extensions: { uri: string }[] } };
  const own = capabilities.extensions.filter(({ uri }) => !uri.startsWith("urn:a2a-edge:"));
  assert.deepEqual(own, [
    { uri: MANNERS, description: "The client says please.", required: true, params: { word: "please" } },
    { uri: TRACE, description: "The client may trace what happens." },
  ]);
});

for (const [name, binding] of Object.entries(bindings)) {
  describe(`over ${name}`, () => {
    for (const [what, headers] of [
      ["no header", {}],
      ["an empty header", { "A2A-Extensions": "" }],
      ["another extension", { "A2A-Extensions": TRACE }],
      ["another version of it", { "A2A-Extensions": MANNERS.replace("v1", "v2") }],
      ["its URI in capitals", { "A2A-Extensions": MANNERS.toUpperCase() }],
    ] as const) {
      test(`a send with ${what} is refused where an extension is required, and the agent receives nothing (§3.3.2)`, async () => {
        const before = (await worker.given()).length;
        for (const send of [binding.send, binding.stream]) {
          const response = await send("hello", headers);
          assert.equal(response.headers.get("content-type"), "application/json");
          const [info] = await binding.details(response);
          assert.equal(info?.reason, "EXTENSION_SUPPORT_REQUIRED");
        }
        assert.equal((await worker.given()).length, before);
      });
    }

    for (const [what, headers, inUse] of [
      ["the required one", { "A2A-Extensions": MANNERS }, MANNERS],
      ["several in one header", { "a2a-extensions": `${TRACE},${MANNERS}` }, `${MANNERS}, ${TRACE}`],
      ["several headers", [["A2A-Extensions", TRACE], ["A2A-Extensions", MANNERS]], `${MANNERS}, ${TRACE}`],
      ["unknown ones too", { "A2A-Extensions": `urn:unknown, ${MANNERS} ,` }, MANNERS],
      ["the header of 0.3", { "X-A2A-Extensions": MANNERS }, MANNERS],
      ["both headers", { "X-A2A-Extensions": MANNERS, "A2A-Extensions": TRACE }, `${MANNERS}, ${TRACE}`],
    ] as [string, Headers, string][]) {
      test(`a send with ${what} is answered with those in use (§3.2.6)`, async () => {
        const answer = await binding.send("hello", headers);
        assert.equal(answer.headers.get("a2a-extensions"), inUse);
        assert.equal((await binding.task(answer)).status.state, "TASK_STATE_COMPLETED");
        const stream = await binding.stream("hello", headers);
        assert.equal(stream.headers.get("a2a-extensions"), inUse);
        assert.match(await stream.text(), /TASK_STATE_COMPLETED/);
      });
    }
  });
}

test("other operations do not need the required extension (§3.3.2)", async () => {
  const [jsonRpc, rest] = [bindings["JSON-RPC"], bindings["HTTP+JSON"]];
  assert.ok(jsonRpc && rest);
  const { id } = await jsonRpc.task(await jsonRpc.send("hello", { "A2A-Extensions": MANNERS }));
  const bare = await fetch(`${picky}/tasks/${id}`);
  assert.equal(bare.status, 200);
  assert.equal(bare.headers.get("a2a-extensions"), null);
  const asked = await fetch(`${picky}/tasks/${id}`, { headers: { "A2A-Extensions": TRACE } });
  assert.equal(asked.headers.get("a2a-extensions"), TRACE);
  const answer = (await (await rpc("GetTask", { id }, {})).json()) as { result: Task };
  assert.equal(answer.result.id, id);
});

test("an agent without extensions ignores what clients ask for (§3.2.6)", async () => {
  const response = await post(`${worker.url}/demo/message:send`, { message: message("hello") }, { "A2A-Extensions": MANNERS });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("a2a-extensions"), null);
});

test("pages of any origin may send and read the headers (§3.2.6)", async () => {
  const response = await fetch(`${picky}/message:send`, { method: "OPTIONS", headers: { origin: "https://page.example" } });
  const allowed = (response.headers.get("access-control-allow-headers") ?? "").toLowerCase().split(", ");
  for (const name of ["a2a-extensions", "x-a2a-extensions", "a2a-version"]) assert.ok(allowed.includes(name), name);
  assert.match(response.headers.get("access-control-expose-headers") ?? "", /\bA2A-Extensions\b/);
});
