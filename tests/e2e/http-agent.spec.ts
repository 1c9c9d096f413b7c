// An agent of kind "http" (docs/http-agents.md): the turn that its program receives, and the effects of its verbs. Failing
// answers are in http-agent-misbehaving, and more of them in tests/all/http_agent.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { make } from "../../scripts/operate/secrets/values.mjs";
import { Agent, followUp, textOf, until, untilEnded } from "./client.ts";
import { secret, startWorker, type Worker } from "./harness.ts";
import { AgentServer, events, lines, turnProblem, withHttpAgents, type Asked } from "./http-agents.ts";
import { sendStreaming, subscribe } from "./stream.ts";

/** The recipe for receivers of notifications. */
const { isSigned } = (await import(new URL("../../docs/receivers/verify.mjs", import.meta.url).href)) as {
  isSigned(secret: string, headers: Record<string, string>, body: string): boolean;
};

const SIGNING_SECRET = secret("signing secret of the agent", make("request"));
const STATE_KEY = secret("state key", make("state"));
const TOKEN = secret("token of the agent", "agent-token-77d1c0");

let server: AgentServer, worker: Worker, agent: Agent;
/** The functions that let waiting answers continue. */
const gates = new Map<string, () => void>();
const gate = (name: string): Promise<void> => new Promise((resolve) => gates.set(name, resolve));

before(async () => {
  server = await AgentServer.open(async ({ turn, text, path }, response) => {
    if (path === "/stop") return response.writeHead(204).end();
    if (text === "stream") {
      events(response, { do: "working", text: "thinking" }, { do: "artifact", id: "story", text: "Once ", more: true });
      await gate(turn.taskId);
      events(response, { do: "append", id: "story", text: "upon a time", last: true }, { do: "complete", text: "the end" });
      return response.end();
    }
    if (text === "wait for ever") return events(response, { do: "working", text: "waiting" });
    if (text === "reply") return response.setHeader("content-type", "application/json").end(JSON.stringify({ do: "reply", text: "hello" }));
    if (text === "log in") return lines(response, { do: "auth_required", text: "a token please" });
    if (turn.credentials !== undefined) return lines(response, { do: "complete", text: `thanks for ${String(turn.credentials["token"])}` });
    if (text === "ask") return lines(response, { do: "artifact", id: "choices", data: ["red", "blue"] }, { do: "input_required", text: "Which?" });
    if (text === "repeat the token") return lines(response, { do: "artifact", text: `it is ${TOKEN}` }, { do: "complete" });
    return lines(response, { do: "complete", text: `${turn.history.map(textOf).join(", ")} by ${turn.caller.id}` });
  });
  const table = {
    url: `${server.url}/turn?x=1`, cancel_url: "/stop", headers: { Authorization: "Bearer ${AGENT_TOKEN}" }, signing_secret: "${AGENT_SIGNING_SECRET}",
    event_interval_ms: 0,
  };
  const vars = { AGENTS: withHttpAgents({ poet: table }), AGENT_TOKEN: TOKEN, AGENT_SIGNING_SECRET: SIGNING_SECRET, STATE_KEY };
  worker = await startWorker({ vars });
  agent = new Agent(`${worker.url}/poet`);
});
after(async () => {
  await worker?.stop();
  server?.close();
});

const only = (asked: Asked[]): Asked => {
  assert.equal(asked.length, 1);
  return asked[0] as Asked;
};

describe("a turn", () => {
  test("is told by its schema, signed as notifications are, with the headers of the agent file and the trace", async () => {
    const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    const traced = new Agent(agent.endpoint, { traceparent: `00-${trace}-00f067aa0ba902b7-01` });
    const task = await traced.sendForTask("hello");
    const { turn, headers, body, path } = only(server.of(task.id));
    assert.equal(turnProblem(turn), undefined);
    assert.equal(path, "/turn?x=1");
    assert.deepEqual([turn.version, turn.agent, turn.contextId, turn.turn, turn.attempt, turn.resumes], ["1", "poet", task.contextId, 1, 1, false]);
    assert.equal(headers["authorization"], `Bearer ${TOKEN}`);
    assert.match(String(headers["traceparent"]), new RegExp(`^00-${trace}-`));
    assert.ok(isSigned(SIGNING_SECRET, headers as Record<string, string>, body), "the recipe for receivers takes it");
    assert.ok(!isSigned(SIGNING_SECRET, headers as Record<string, string>, `${body} `), "and nothing else");
    assert.equal(textOf(task.status.message), "hello by anonymous");
  });

  test("goes on with a conversation over several turns", async () => {
    const asking = await agent.sendForTask("ask");
    assert.deepEqual([asking.status.state, textOf(asking.status.message)], ["TASK_STATE_INPUT_REQUIRED", "Which?"]);
    const task = await agent.sendForTask(followUp(asking, "the red one"));
    assert.equal(textOf(task.status.message), "ask, Which?, the red one by anonymous");
    const [first, second] = server.of(task.id);
    assert.equal(turnProblem(second?.turn), undefined);
    assert.deepEqual([second?.turn.turn, second?.turn.task?.artifacts?.[0]?.parts], [2, [{ data: ["red", "blue"] }]]);
    assert.notEqual(first?.headers["idempotency-key"], second?.headers["idempotency-key"]);
  });

  test("of a further task has what was said in the conversation before (§3.4.1)", async () => {
    const first = await agent.sendForTask("ask");
    await agent.sendForTask(followUp(first, "the blue one"));
    const second = await agent.sendForTask({ contextId: first.contextId, parts: [{ text: "and now?" }] });
    const { turn } = only(server.of(second.id));
    assert.equal(turnProblem(turn), undefined);
    assert.deepEqual(turn.history.map(({ role, taskId }) => [role, taskId]), [
      ["ROLE_USER", first.id], ["ROLE_USER", first.id], ["ROLE_AGENT", first.id], ["ROLE_USER", second.id],
    ]);
    const [, , answer] = turn.history;
    assert.match(JSON.stringify(answer?.parts), /red.*blue.*ask, Which\?, the blue one by anonymous/);
    const elsewhere = await agent.sendForTask("alone");
    assert.equal(only(server.of(elsewhere.id)).turn.history.length, 1);
  });

  test("that is answered at once with a reply is a message", async () => {
    const { task, message } = await agent.send("reply");
    assert.deepEqual([task, textOf(message)], [undefined, "hello"]);
  });

  test("has the credentials that the agent asked for, which are seen nowhere else", async () => {
    const asking = await agent.sendForTask("log in");
    assert.equal(asking.status.state, "TASK_STATE_AUTH_REQUIRED");
    const token = secret("credentials of the task", "credentials-4f1d0c");
    const part = { data: { token }, mediaType: "application/vnd.a2a-edge.credentials+json" };
    const task = await agent.sendForTask({ taskId: asking.id, parts: [{ text: "here" }, part] });
    assert.equal(textOf(task.status.message), "thanks for [credentials.token]");
    assert.deepEqual(server.of(task.id).map(({ turn }) => turn.credentials), [undefined, { token }]);
    assert.ok(!JSON.stringify(await agent.getTask(task.id)).includes(token));
  });

  test("keeps the secrets of the agent file out of the task", async () => {
    const task = await agent.sendForTask("repeat the token");
    assert.equal(textOf(task.artifacts?.[0]), "it is [AGENT_TOKEN]");
  });
});

test("what the program says is seen while it speaks, by all who follow", async () => {
  const first = await sendStreaming(agent.endpoint, "stream");
  const { task } = (await first.next()).data.result ?? {};
  const id = task?.id ?? "";
  await until(() => agent.getTask(id), ({ artifacts }) => textOf(artifacts?.[0]) === "Once ");
  const second = await subscribe(agent.endpoint, id);
  assert.equal((await second.next()).data.result?.task?.artifacts?.length, 1);
  gates.get(id)?.();
  for (const stream of [first, second]) {
    const said = [];
    for await (const { data } of stream) said.push(data.result?.statusUpdate?.status.state ?? data.result?.artifactUpdate);
    assert.equal(said.at(-1), "TASK_STATE_COMPLETED");
    const chunk = said.at(-2) as { append?: boolean; lastChunk?: boolean };
    assert.deepEqual([chunk.append, chunk.lastChunk], [true, true]);
  }
  const ended = await agent.getTask(id);
  assert.deepEqual([textOf(ended.artifacts?.[0]), ended.artifacts?.length], ["Once upon a time", 1]);
});

test("a cancel closes the connection of the program, and is told where it wants it (§3.1.5)", async () => {
  const { id } = await agent.sendForTask("wait for ever", { returnImmediately: true });
  await until(() => agent.getTask(id), ({ status }) => textOf(status.message) === "waiting");
  await agent.cancelTask(id);
  const [asked] = server.of(id);
  await asked?.closed;
  const told = await until(async () => server.of(id)[1], (found) => found !== undefined);
  assert.deepEqual([told?.path, told?.turn.canceled, told?.turn.turn], ["/stop", true, 1]);
  assert.equal(told?.headers["idempotency-key"], asked?.headers["idempotency-key"]);
  assert.ok(isSigned(SIGNING_SECRET, told?.headers as Record<string, string>, told?.body ?? ""));
  assert.equal((await untilEnded(agent, id)).status.state, "TASK_STATE_CANCELED");
});
