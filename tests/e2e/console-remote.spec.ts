// Agents elsewhere by way of the console (`POST /console/api/remote`): cards, calls and streams in A2A 1.0, whatever version they speak.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { bearer, caller, secretsOf } from "./access.ts";
import { until } from "./client.ts";
import { speakingEarly } from "./early-client.ts";
import { framesOf, reasonOf, say, told, type Asking, type Frame } from "./elsewhere-call.ts";
import { startWorker, type Worker } from "./harness.ts";
import { only } from "./mcp.ts";
import { freePort } from "./port.ts";
import { startServer, startServerOf03, type SampleServer } from "./servers/js.ts";

const { ALICE } = secretsOf("ALICE");

let there: Worker;
let here: Worker;
let sdk: SampleServer;
let sdk03: SampleServer;
before(async () => {
  const embedded = JSON.parse(speakingEarly()["AGENTS"] ?? "") as { agents: object[] };
  const token = { kind: "bearer", callers: [caller("alice", ["ALICE"])] };
  const { agents: [guarded] } = JSON.parse(only({ guarded: { of: "demo", access: { schemes: { token } } } })) as { agents: [object] };
  embedded.agents.push(guarded);
  [there, here, sdk, sdk03] = await Promise.all([startWorker({ vars: { AGENTS: JSON.stringify(embedded), ALICE } }), startWorker(), startServer(), startServerOf03()]);
});
after(() => Promise.all([there?.stop(), here?.stop(), sdk?.stop(), sdk03?.stop()]));

const isEnd = ({ data }: Frame): boolean => data.result?.statusUpdate !== undefined && data.result.statusUpdate.status.state !== "TASK_STATE_WORKING";
const textIn = (frames: Frame[]): string => frames.flatMap(({ data }) => data.result?.artifactUpdate?.artifact.parts ?? data.result?.task?.artifacts?.flatMap((one: any) => one.parts) ?? []).map(({ text }: any) => text).join("");

describe("a card elsewhere", () => {
  test("is told in 1.0 and as it was served, with the interface that is called", async () => {
    const { result } = await told(here, { url: `${there.url}/demo`, method: "GetAgentCard" });
    assert.equal(result.card.name, "Demo");
    assert.equal(result.foundAt, `${there.url}/demo/.well-known/agent-card.json`);
    assert.deepEqual(result.interface, { url: `${there.url}/demo`, protocolBinding: "JSONRPC", protocolVersion: "1.0", tenant: null, streams: true });
    assert.equal(JSON.parse(result.text).name, "Demo");
    assert.deepEqual([result.dialect, result.isLocal], ["1.0", true]);
    const old = (await told(here, { url: sdk03.url, method: "GetAgentCard" })).result;
    assert.equal(old.dialect, "0.3");
    assert.ok(JSON.parse(old.text).url.startsWith(sdk03.url) && Array.isArray(old.card.supportedInterfaces));
  });

  test("that is nowhere is an error that says so", async () => {
    const answer = await told(here, { url: `${there.url}/nobody/card.json`, method: "GetAgentCard" });
    assert.deepEqual([reasonOf(answer), answer.error?.httpStatus], ["REMOTE_STATUS", 404]);
    const down = await told(here, { url: `http://127.0.0.1:${await freePort()}`, method: "GetAgentCard" });
    assert.equal(reasonOf(down), "REMOTE_UNREACHABLE", JSON.stringify(down));
  });
});

describe("an agent elsewhere is called in 1.0", () => {
  const ways: [string, () => Omit<Asking, "method">][] = [
    ["of 1.0", () => ({ url: `${there.url}/demo` })],
    ["of 1.0 over HTTP+JSON", () => ({ url: `${there.url}/demo`, interface: { url: `${there.url}/demo`, protocolBinding: "HTTP+JSON", protocolVersion: "1.0", streams: true } })],
    ["of 0.3", () => ({ url: `${there.url}/demo`, interface: { url: `${there.url}/demo`, protocolBinding: "JSONRPC", protocolVersion: "0.3", streams: true } })],
    ["of 0.1", () => ({ url: `${there.url}/demo`, interface: { url: `${there.url}/demo`, protocolBinding: "JSONRPC", protocolVersion: "0.1", streams: true } })],
  ];
  for (const [title, way] of ways) {
    test(`${title}: sends, streams, answers, gets and cancels`, async () => {
      const sent = await told(here, { ...way(), method: "SendMessage", params: say("hello") });
      assert.equal(sent.result.task.status.state, "TASK_STATE_COMPLETED", JSON.stringify(sent));
      const got = await told(here, { ...way(), method: "GetTask", params: { id: sent.result.task.id } });
      assert.equal(got.result.id, sent.result.task.id);

      const frames = await framesOf(here, { ...way(), method: "SendStreamingMessage", params: say("hello") });
      assert.match(textIn(frames), /hello/);
      assert.ok(isEnd(frames.at(-1) as Frame) || frames.at(-1)?.data.result.task !== undefined, JSON.stringify(frames));

      const asked = await told(here, { ...way(), method: "SendMessage", params: say("ask") });
      assert.equal(asked.result.task.status.state, "TASK_STATE_INPUT_REQUIRED");
      const canceled = await told(here, { ...way(), method: "CancelTask", params: { id: asked.result.task.id } });
      assert.equal(canceled.result.status.state, "TASK_STATE_CANCELED");
      const unknown = await told(here, { ...way(), method: "GetTask", params: { id: "nobody" } });
      assert.equal(unknown.error?.code, -32001, JSON.stringify(unknown));
    });
  }

  for (const [title, server] of [["1.0", () => sdk], ["0.3", () => sdk03]] as const) {
    test(`and served with the official SDK of ${title}`, async () => {
      const frames = await framesOf(here, { url: server().url, method: "SendStreamingMessage", params: say("chunks") });
      assert.equal(textIn(frames), "one two three", JSON.stringify(frames));
      assert.equal(frames.at(-1)?.data.result.statusUpdate.status.state, "TASK_STATE_COMPLETED");
    });
  }

  test("with the headers that the person gives", async () => {
    const without = await told(here, { url: `${there.url}/guarded`, method: "SendMessage", params: say("hello") });
    assert.equal(without.error?.httpStatus, 401, JSON.stringify(without));
    const shown = await told(here, { url: `${there.url}/guarded`, method: "SendMessage", params: say("hello"), headers: bearer(ALICE) });
    assert.equal(shown.result.task.status.state, "TASK_STATE_COMPLETED");
    const listed = await told(here, { url: `${there.url}/guarded`, method: "ListTasks", headers: bearer(ALICE) });
    assert.ok(listed.result.tasks.some(({ id }: { id: string }) => id === shown.result.task.id));
  });
});

test("a stream goes on behind the event that the console has", async () => {
  const url = `${there.url}/demo`;
  const asked = await framesOf(here, { url, method: "SendStreamingMessage", params: say("ask") });
  const id = asked[0]?.data.result.task.id as string;
  const last = asked.at(-1)?.id ?? "";
  assert.notEqual(last, "", "the remote agent numbers its events");
  // The next message goes past this stream, as from another tab.
  const following = framesOf(here, { url, method: "SubscribeToTask", params: { id } }, { "last-event-id": last }, isEnd);
  const answered = await told(here, { url, method: "SendMessage", params: say("green", { taskId: id }) });
  assert.equal(answered.result.task.status.state, "TASK_STATE_COMPLETED");
  const more = await following;
  assert.ok(more.every(({ data }) => data.result.task === undefined), `only what is new: ${JSON.stringify(more)}`);
  assert.ok(more.every((frame) => Number(frame.id) > Number(last)));
});

test("what goes over the wire is told to those who ask for it", async () => {
  const url = `${there.url}/guarded`;
  const asking = { url, method: "SendMessage", params: say("hello"), headers: bearer(ALICE), wire: true };
  const { wire = [] } = await told(here, asking);
  assert.deepEqual(wire.map(({ kind, n }) => [kind, n]), [["request", 1], ["answer", 1], ["request", 2], ["answer", 2]], JSON.stringify(wire));
  assert.equal(wire[0]?.method, "GET");
  assert.deepEqual(wire[2]?.headers?.find(([name]) => name === "authorization"), ["authorization", "…"]);
  assert.equal(JSON.parse(wire[2]?.body ?? "").method, "SendMessage");
  assert.equal(JSON.parse(wire[3]?.body ?? "").result.task.status.state, "TASK_STATE_COMPLETED");
  assert.ok(!JSON.stringify(wire).includes(ALICE));
  assert.equal((await told(here, { ...asking, wire: false })).wire, undefined);

  const old = { url: `${there.url}/demo`, protocolBinding: "JSONRPC", protocolVersion: "0.3", streams: true };
  const frames = await framesOf(here, { url: `${there.url}/demo`, method: "SendStreamingMessage", params: say("hello"), interface: old, wire: true });
  const wired = frames.filter(({ event }) => event === "wire").map(({ data }) => data);
  assert.equal(JSON.parse(wired[0].body).method, "message/stream", "as the agent was asked, in its words");
  assert.equal(JSON.parse(wired.find(({ kind }: { kind: string }) => kind === "event").data).result.kind, "task");
  assert.equal(frames[0]?.event, "wire", "the request comes first");
});

test("a client that leaves does not end the task of the agent", async () => {
  const url = `${there.url}/demo`;
  const frames = await framesOf(here, { url, method: "SendStreamingMessage", params: say("ask") }, {}, ({ data }) => data.result?.task !== undefined);
  const id = frames[0]?.data.result.task.id as string;
  const task = await until(() => told(here, { url, method: "GetTask", params: { id } }), ({ result }) => result.status.state === "TASK_STATE_INPUT_REQUIRED");
  assert.equal(task.result.id, id, "the task is left alone");
});
