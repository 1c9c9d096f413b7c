// Requests as code: for a shell, and for the official SDKs.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { callIn, curlOf, javascriptOf, masked, pythonOf, type Sent } from "../../console/src/pages/chat/snippets.ts";

const text = `It's "quoted", $HOME \`date\` \\ and\nlines, ä€😀 — $TOKEN…`;
const message = { messageId: "m-1", role: "ROLE_USER", parts: [{ text }] };

const sent = (changes: Partial<Sent> = {}): Sent => ({
  method: "POST",
  url: "http://127.0.0.1:1/demo",
  headers: [["content-type", "application/json"], ["idempotency-key", "m-1"]],
  body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } }),
  ...changes,
});

/** The arguments that a shell gives to curl. */
const shellArguments = (command: string): string[] =>
  execFileSync("sh", ["-c", command.replace(/^curl/, "printf '%s\\0'")], { env: { TOKEN: "s3cret" }, encoding: "utf8" }).split("\0").slice(0, -1);

test("a shell gives curl just what was sent, whatever is in it", () => {
  const given = shellArguments(curlOf(sent()));
  assert.deepEqual(given, ["-sN", "http://127.0.0.1:1/demo", "-H", "content-type: application/json", "--data-raw", sent().body]);
});

test("a secret is a variable of the shell, with its scheme before it", () => {
  const given = shellArguments(curlOf(sent({ headers: [["authorization", "Bearer …"], ["x-api-key", "…"]], url: "http://127.0.0.1:1/demo?key=%E2%80%A6" })));
  assert.deepEqual(given.slice(1, 6), ["http://127.0.0.1:1/demo?key=s3cret", "-H", "authorization: Bearer s3cret", "-H", "x-api-key: s3cret"]);
});

test("a request of another method, or without a body, is copied as such", () => {
  assert.ok(!shellArguments(curlOf(sent())).includes("-X"));
  const read = shellArguments(curlOf(sent({ method: "GET", url: "https://agent.example/tasks/t", headers: [["a2a-version", "1.0"]], body: "" })));
  assert.deepEqual(read, ["-sN", "https://agent.example/tasks/t", "-H", "a2a-version: 1.0"]);
  const subscribed = shellArguments(curlOf(sent({ url: "https://agent.example/tasks/t:subscribe", headers: [], body: "" })));
  assert.deepEqual(subscribed, ["-sN", "https://agent.example/tasks/t:subscribe", "-X", "POST"]);
});

test("credentials for a task are in no copy", () => {
  const part = { mediaType: "application/vnd.a2a-edge.credentials+json", data: { token: "hidden" } };
  const request = sent({ body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message: { ...message, parts: [part] } } }) });
  const call = callIn(request);
  assert.ok(call);
  for (const copy of [curlOf(request), javascriptOf(call), pythonOf(call), masked(request.body)]) assert.ok(copy !== undefined && !copy.includes("hidden"), copy);
});

test("what is no call of A2A is copied as a request, and has no code of an SDK", () => {
  assert.equal(callIn(sent({ body: "" })), undefined);
  assert.equal(callIn(sent({ body: "[1]" })), undefined);
  const call = callIn(sent({ body: JSON.stringify({ jsonrpc: "2.0", method: "GetTaskTimeline", params: {} }) }));
  assert.ok(call);
  assert.equal(javascriptOf(call), undefined);
  assert.equal(pythonOf(call), undefined);
});

test("code for an SDK gives each message an id of its own", () => {
  const call = callIn(sent());
  assert.ok(call);
  assert.match(javascriptOf(call) ?? "", /"messageId": crypto\.randomUUID\(\)/);
  assert.match(pythonOf(call) ?? "", /"messageId": str\(uuid\.uuid4\(\)\)/);
});
