// The console's client of agents elsewhere (console/src/api/elsewhere/) without a browser around it: each version and binding, against this
// Worker and against servers with the official SDKs; what is shown of the wire; answers that are none of A2A.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { callOnce, findCard, follow } from "../../console/src/api/elsewhere/agent.ts";
import type { Line } from "../../console/src/api/elsewhere/exchange.ts";
import type { CalledInterface, Version } from "../../console/src/api/elsewhere/request.ts";
import { direct } from "../../console/src/api/elsewhere/transport.ts";
import type { CallOptions, Seen, TaskEvent } from "../../console/src/api/endpoint.ts";
import type { Problem, UnfitCard } from "../../console/src/api/problem.ts";
import type { ListTasksResponse, Part, SendMessageResponse, Task } from "../../console/src/api/types.ts";
import { bearer, caller, secretsOf } from "../e2e/access.ts";
import { speakingEarly } from "../e2e/early-client.ts";
import { startWorker, type Worker } from "../e2e/harness.ts";
import { only } from "../e2e/mcp.ts";
import { freePort } from "../../scripts/lib/port.mjs";
import { startServer, startServerOf03, type SampleServer } from "../e2e/servers/js.ts";

const { ALICE } = secretsOf("ALICE");

let there: Worker;
let sdk: SampleServer;
let sdk03: SampleServer;
const server = createServer((request, response) => hostile(request.url ?? "", request.headers, response));
let origin: string;
/** The headers of the requests that the hostile server has got. */
const got: IncomingHttpHeaders[] = [];
before(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const embedded = JSON.parse(speakingEarly()["AGENTS"] ?? "") as { agents: object[] };
  const token = { kind: "bearer", callers: [caller("alice", ["ALICE"])] };
  const { agents: [guarded] } = JSON.parse(only({ guarded: { of: "demo", access: { schemes: { token } } } })) as { agents: [object] };
  embedded.agents.push(guarded);
  [there, sdk, sdk03] = await Promise.all([startWorker({ vars: { AGENTS: JSON.stringify(embedded), ALICE } }), startServer(), startServerOf03()]);
});
after(async () => {
  await Promise.all([there?.stop(), sdk?.stop(), sdk03?.stop()]);
  server.closeAllConnections();
  server.close();
});

const lineTo = (agent: string, headers: Record<string, string> = {}): Line => ({ agent, transport: direct, given: Object.entries(headers) });
const message = (text: string, more: object = {}): object => ({ message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }], ...more } });
const calledAt = (url: string, protocolBinding: CalledInterface["protocolBinding"], protocolVersion: Version): CalledInterface => ({ url, protocolBinding, protocolVersion, tenant: null, streams: true });

/** The agent of one interface. */
const agentAt = (called: CalledInterface, headers: Record<string, string> = {}) => ({
  call: async <Result>(operation: string, params: object, options: CallOptions = {}) => (await callOnce(lineTo(called.url, headers), called, operation, params, options)) as Result,
  stream: async (operation: string, params: object, options: CallOptions = {}): Promise<TaskEvent[]> => {
    const events = [];
    for await (const event of follow(lineTo(called.url, headers), called, operation, params, options)) events.push(event);
    return events;
  },
});

const partsIn = (events: TaskEvent[]): Part[] => events.flatMap(({ response: { artifactUpdate, task } }) => artifactUpdate?.artifact.parts ?? task?.artifacts?.flatMap(({ parts }) => parts) ?? []);
const textIn = (events: TaskEvent[]): string => partsIn(events).map(({ text }) => text).join("");
const stateOf = ({ response }: TaskEvent): string | undefined => response.statusUpdate?.status.state ?? response.task?.status.state;
/** The problem with which something fails. */
const problemOf = async (work: Promise<unknown>): Promise<Problem> => work.then(() => assert.fail("it did not fail"), (error: Problem) => error);

describe("each version and binding, of this Worker", () => {
  const ways: [CalledInterface["protocolBinding"], Version][] = [["JSONRPC", "1.0"], ["HTTP+JSON", "1.0"], ["JSONRPC", "0.3"], ["HTTP+JSON", "0.3"], ["JSONRPC", "0.1"]];
  for (const [binding, version] of ways) {
    test(`${version} over ${binding}: sends, streams, asks, gets, subscribes and cancels`, async () => {
      const agent = agentAt(calledAt(`${there.url}/demo`, binding, version));
      const sent = await agent.call<SendMessageResponse>("SendMessage", message("hello"));
      assert.equal(sent.task?.status.state, "TASK_STATE_COMPLETED", JSON.stringify(sent));
      const read = await agent.call<Task>("GetTask", { id: sent.task.id });
      assert.equal(read.id, sent.task.id);
      assert.match(JSON.stringify(read.artifacts), /"text":".*hello/);

      const events = await agent.stream("SendStreamingMessage", message("hello"));
      assert.match(textIn(events), /hello/);
      assert.ok(events[0]?.response.task !== undefined, "a stream begins with the task");
      assert.equal(stateOf(events.at(-1)!), "TASK_STATE_COMPLETED", JSON.stringify(events));

      const asked = await agent.call<SendMessageResponse>("SendMessage", message("ask"));
      assert.equal(asked.task?.status.state, "TASK_STATE_INPUT_REQUIRED");
      assert.notEqual(asked.task.status.message?.parts[0]?.text, undefined, "the question is there");
      const following = agent.stream("SubscribeToTask", { id: asked.task.id });
      const canceled = await agent.call<Task>("CancelTask", { id: asked.task.id });
      assert.equal(canceled.status.state, "TASK_STATE_CANCELED");
      // 1.0 refuses to subscribe to a task that has been canceled before; streams of older versions also end where a task waits for input.
      const last = await following.then((events) => stateOf(events.at(-1)!), (problem: Problem) => problem.code);
      const ends = version === "1.0" ? ["TASK_STATE_CANCELED", -32004] : ["TASK_STATE_CANCELED", "TASK_STATE_INPUT_REQUIRED"];
      assert.ok(last !== undefined && ends.includes(last), String(last));
      const unknown = await problemOf(agent.call("GetTask", { id: "nobody" }));
      assert.equal(unknown.code, -32001, unknown.message);
    });
  }

  test("what a version lacks is said before anything is sent", async () => {
    const problem = await problemOf(agentAt(calledAt(`${there.url}/demo`, "JSONRPC", "0.3")).call("ListTasks", {}));
    assert.match(problem.message, /A2A 0\.3 over JSONRPC has no ListTasks/);
  });
});

describe("servers with the official SDKs", () => {
  const servers: [title: string, url: () => string, CalledInterface["protocolBinding"], Version][] = [
    ["1.0 over JSON-RPC", () => `${sdk.url}/rpc`, "JSONRPC", "1.0"],
    ["1.0 over HTTP+JSON", () => `${sdk.url}/rest`, "HTTP+JSON", "1.0"],
    ["1.0, asked in 0.3 over JSON-RPC", () => `${sdk.url}/rpc`, "JSONRPC", "0.3"],
    ["1.0, asked in 0.3 over HTTP+JSON", () => `${sdk.url}/rest`, "HTTP+JSON", "0.3"],
  ];
  for (const [title, url, binding, version] of servers) {
    test(`of ${title}`, async () => {
      const agent = agentAt(calledAt(url(), binding, version));
      const events = await agent.stream("SendStreamingMessage", message("chunks"));
      assert.equal(textIn(events), "one two three", JSON.stringify(events));
      assert.equal(stateOf(events.at(-1)!), "TASK_STATE_COMPLETED");
      const { task } = await agent.call<SendMessageResponse>("SendMessage", message("chunks"));
      assert.equal(task?.status.state, "TASK_STATE_COMPLETED", JSON.stringify(task));
      assert.equal((await agent.call<Task>("GetTask", { id: task.id })).id, task.id);
      const unknown = await problemOf(agent.call("GetTask", { id: "nobody" }));
      assert.equal(unknown.code, -32001, `${unknown.status} ${unknown.message}`);
    });
  }

  test("of 0.3, as its card says", async () => {
    const found = await findCard(lineTo(sdk03.url), sdk03.url);
    assert.ok(found.interface !== null);
    assert.equal(found.interface.protocolVersion, "0.3");
    assert.ok(JSON.parse(found.text).url.startsWith(sdk03.url) && found.card.supportedInterfaces.length > 0, found.text);
    const events = await agentAt(found.interface).stream("SendStreamingMessage", message("chunks"));
    assert.equal(textIn(events), "one two three", JSON.stringify(events));
    assert.equal(stateOf(events.at(-1)!), "TASK_STATE_COMPLETED");
  });
});

test("a card is found below the URL, with the interface that is called", async () => {
  const url = `${there.url}/demo`;
  const found = await findCard(lineTo(url), url);
  assert.deepEqual([found.card.name, found.foundAt], ["Demo", `${url}/.well-known/agent-card.json`]);
  assert.deepEqual(found.interface, { url, protocolBinding: "JSONRPC", protocolVersion: "1.0", tenant: null, streams: true });
  assert.equal(JSON.parse(found.text).name, "Demo");
  const absent = await problemOf(findCard(lineTo(url), `${there.url}/nobody/card.json`));
  assert.equal(absent.status, 404, absent.message);
  const down = await problemOf(findCard(lineTo(url), `http://127.0.0.1:${await freePort()}`));
  assert.deepEqual([down.status, /did not answer/.test(down.message)], [0, true], down.message);
});

test("a stream goes on behind the event that the console has", async () => {
  const agent = agentAt(calledAt(`${there.url}/demo`, "JSONRPC", "1.0"));
  const asked = await agent.stream("SendStreamingMessage", message("ask"));
  const id = asked[0]?.response.task?.id ?? "";
  const last = asked.at(-1)?.id ?? "";
  assert.notEqual(last, "", "the agent numbers its events");
  const following = agent.stream("SubscribeToTask", { id }, { lastEventId: last });
  const answered = await agent.call<SendMessageResponse>("SendMessage", message("green", { taskId: id }));
  assert.equal(answered.task?.status.state, "TASK_STATE_COMPLETED");
  const more = await following;
  assert.ok(more.length > 0 && more.every(({ response }) => response.task === undefined), `only what is new: ${JSON.stringify(more)}`);
  assert.ok(more.every((event) => Number(event.id) > Number(last)));
});

test("headers that the person gives reach the agent, and are shown nowhere", async () => {
  const url = `${there.url}/guarded`;
  const called = calledAt(url, "JSONRPC", "1.0");
  const refused = await problemOf(agentAt(called).call("SendMessage", message("hello")));
  assert.equal(refused.status, 401, refused.message);
  const seen: Seen[] = [];
  const agent = agentAt(called, { Authorization: bearer(ALICE)["authorization"] ?? "" });
  const { task } = await agent.call<SendMessageResponse>("SendMessage", message("hello"), { watch: (one) => seen.push(one) });
  const { tasks } = await agent.call<ListTasksResponse>("ListTasks", {});
  assert.ok(tasks.some(({ id }) => id === task?.id));
  assert.deepEqual(seen.map(({ kind }) => kind), ["request", "answer"]);
  const [request] = seen;
  assert.ok(request?.kind === "request" && JSON.parse(request.body).method === "SendMessage");
  assert.deepEqual(request.headers.find(([name]) => name === "authorization"), ["authorization", "Bearer …"]);
  assert.ok(!JSON.stringify(seen).includes(ALICE));
});

test("the wire shows the words of the version", async () => {
  const seen: Seen[] = [];
  await agentAt(calledAt(`${there.url}/demo`, "JSONRPC", "0.3")).stream("SendStreamingMessage", message("hello"), { watch: (one) => seen.push(one) });
  const [request, answer, event] = seen;
  assert.ok(request?.kind === "request" && answer?.kind === "answer" && event?.kind === "event" && seen.at(-1)?.kind === "end", JSON.stringify(seen));
  assert.equal(JSON.parse(request.body).method, "message/stream");
  assert.equal(JSON.parse(event.data).result.kind, "task");
});

describe("an answer that is none of A2A", () => {
  for (const [path, wanted] of [["page", /did not answer as an agent of A2A: its answer begins with "<script>/], ["huge", /sent more than 10485760 bytes/], ["number", /neither a result nor an error/], ["error", /answered 503/]] as const) {
    test(`is a problem that says so: ${path}`, async () => {
      const problem = await problemOf(agentAt(calledAt(`${origin}/${path}`, "JSONRPC", "1.0")).call("SendMessage", message("x")));
      assert.match(problem.message, wanted);
    });
  }

  test("of any shape is read as what 1.0 has, and nothing throws", async () => {
    const agent = agentAt(calledAt(`${origin}/odd`, "JSONRPC", "1.0"));
    const task = await agent.call<Task>("GetTask", { id: "t" });
    assert.deepEqual(task, { id: "", status: { state: "TASK_STATE_UNSPECIFIED" }, artifacts: [{ artifactId: "artifact-0", parts: [{ data: 7 }, { data: null }] }], history: [{ messageId: "/history/0", role: "ROLE_USER", parts: [] }] });
  });

  test("in place of a card is shown as it was served", async () => {
    const problem = (await problemOf(findCard(lineTo(origin), `${origin}/page/card.json`))) as UnfitCard;
    assert.deepEqual([problem.text, problem.foundAt], ["<script>alert(1)</script>", `${origin}/page/card.json`]);
  });

  test("that redirects is not followed with a secret, nor by a call", async () => {
    const before = got.length;
    const withSecret = lineTo(origin, { "X-Key": "s3cret-of-letters" });
    await problemOf(findCard(withSecret, `${origin}/moved/card.json`));
    await problemOf(callOnce(withSecret, calledAt(`${origin}/moved`, "JSONRPC", "1.0"), "SendMessage", message("x"), {}));
    assert.deepEqual(got.slice(before).map((headers) => headers["x-key"]), ["s3cret-of-letters", "s3cret-of-letters"]);
    const other = calledAt("https://elsewhere.example/rpc", "JSONRPC", "1.0");
    assert.notEqual((await findCard(lineTo(origin), `${origin}/other/card.json`)).interface?.url, other.url, "a card that names another host is called where it is");
  });
});

function hostile(url: string, headers: IncomingHttpHeaders, response: ServerResponse): void {
  const json = (body: unknown) => void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  const result = (value: unknown) => json({ jsonrpc: "2.0", id: 1, result: value });
  switch (url.split("/")[1]) {
    case "page":
      return void response.writeHead(200, { "content-type": "text/html" }).end("<script>alert(1)</script>");
    case "huge":
      return void response.writeHead(200).end(Buffer.alloc(11_000_000, 32));
    case "number":
      return json(7);
    case "error":
      return void response.writeHead(503, { "content-type": "text/html" }).end("<h1>Busy</h1>");
    case "odd":
      return result({ id: 5, status: "done", artifacts: [{ parts: [7, { data: null }] }], history: [[]], metadata: "x" });
    case "moved":
      got.push(headers);
      return void response.writeHead(302, { location: `${origin}/landed` }).end();
    case "other":
      return json({ name: "N", description: "d", version: "1", capabilities: {}, defaultInputModes: [], defaultOutputModes: [], skills: [], supportedInterfaces: [{ url: "https://elsewhere.example/rpc", protocolBinding: "JSONRPC", protocolVersion: "1.0" }] });
    default:
      got.push(headers);
      return json({});
  }
}
