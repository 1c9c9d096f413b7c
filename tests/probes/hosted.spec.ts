// Agents of one Worker call each other by name: not over HTTP, and as the caller of the task (design, section 12).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { bearer, caller, secretsOf, type Headers } from "../e2e/access.ts";
import { Agent, textOf, toolCall, until, type RpcError } from "../e2e/client.ts";
import { startWorker, testAgents, type Worker } from "../e2e/harness.ts";

const { ALICE, BOB, CAROL } = secretsOf("ALICE", "BOB", "CAROL");

/** The scheme of two agents with the same callers. */
const token = { kind: "bearer", callers: [caller("alice", ["ALICE"], { permissions: ["read"] }), caller("bob", ["BOB"])] };
const other = { kind: "bearer", callers: [caller("carol", ["CAROL"])] };

/** Agents in addition to those of tests/agents: copies of two of them with other access rules. */
function agents(): string {
  const { agents, ...built } = JSON.parse(testAgents) as { agents: { slug: string; card: string }[] };
  const copy = (of: string, slug: string, access: object, declared: object = {}): object => {
    const original = agents.find((agent) => agent.slug === of);
    assert.ok(original !== undefined, of);
    const card = JSON.parse(original.card.replaceAll(`/${of}`, `/${slug}`)) as object;
    return { ...original, slug, default: false, access, card: JSON.stringify({ ...card, ...declared }) };
  };
  const copies = [
    copy("calling", "desk", { schemes: { token } }),
    copy("calling", "both", { schemes: { token, other }, requires: [{ token: [] }, { other: [] }] }),
    copy("calling", "back", { schemes: { token } }),
    copy("calling", "open", { open: true }),
    copy("calling", "readers", { schemes: { token }, requires: [{ token: ["read"] }] }),
    copy("demo", "script", { schemes: { token } }),
    copy("choosy", "texts", { open: true }, { defaultInputModes: ["text/plain"], skills: [] }),
    // The scheme has the same name, but the secret of alice differs.
    copy("calling", "namesake", { schemes: { token: { ...token, callers: [caller("alice", ["CAROL"], { permissions: ["read"] })] } } }),
  ];
  return JSON.stringify({ ...built, agents: [...agents, ...copies] });
}

let worker: Worker;
before(async () => {
  worker = await startWorker({ vars: { AGENTS: agents(), ALICE, BOB, CAROL } });
});
after(() => worker.stop());

interface Told {
  outcome: string;
  text: string;
  task: string | null;
}

const agentOf = (slug: string, headers?: Headers): Agent => new Agent(`${worker.url}/${slug}`, headers);

/** The result of the tool `probe_ask` of the agent `slug`, as JSON. */
async function ask<Answer = Told>(slug: string, headers: Headers | undefined, asked: object, more: object = {}): Promise<Answer> {
  const task = await agentOf(slug, headers).sendForTask({ ...toolCall("probe_ask", asked), ...more });
  const [artifact] = task.artifacts ?? [];
  const data = artifact?.parts.find((part) => part.data !== undefined)?.data;
  return (data ?? { failed: textOf(artifact ?? task.status.message), state: task.status.state }) as Answer;
}

const who = { tool: "probe_call", arguments: {} };

test("an agent calls another one for the caller of its task", async () => {
  assert.match((await ask("desk", bearer(ALICE), { agent: "back", ...who })).text, /token:alice \[read\]$/);
  assert.match((await ask("desk", bearer(BOB), { agent: "back", ...who })).text, /token:bob \[\]$/);
  assert.match((await ask("calling", undefined, { agent: "open", ...who })).text, /anonymous \[\]$/);
  assert.equal((await ask("calling", undefined, { agent: "assistant", text: "to the default agent" })).outcome, "Completed");
});

test("its task is the caller's, and nobody else's", async () => {
  const { task } = await ask("desk", bearer(ALICE), { agent: "back", ...who });
  assert.ok(task);
  assert.equal((await agentOf("back", bearer(ALICE)).getTask(task)).id, task);
  await assert.rejects(agentOf("back", bearer(BOB)).getTask(task), (error: RpcError) => error.code === -32001);
  await until(() => agentOf("back", bearer(ALICE)).listTasks({}), ({ tasks }) => tasks.some(({ id }) => id === task));
});

test("an agent brings nobody who could not call the other one itself", async () => {
  for (const [slug, headers, asked, told] of [
    ["calling", undefined, "back", /credentials|\(-32\d+\)/],
    ["both", bearer(CAROL), "back", /the caller of the task cannot call this agent itself/],
    ["desk", bearer(ALICE), "namesake", /the caller of the task cannot call this agent itself/],
    ["desk", bearer(BOB), "readers", /read/],
  ] as const) {
    const { outcome, text, failed } = await ask<Told & { failed?: string }>(slug, headers, { agent: asked, ...who });
    assert.equal(outcome, "Failed", `${asked}: ${failed}`);
    assert.match(text, told);
  }
  assert.match((await ask("desk", bearer(ALICE), { agent: "readers", ...who })).text, /alice/);
});

test("a part of a media type that the other agent does not list is refused (§3.1.1)", async () => {
  const { outcome, text } = await ask("calling", undefined, { agent: "texts", tool: "x", arguments: {} });
  assert.equal(outcome, "Failed");
  assert.match(text, /message\.parts\[0\] is of the media type application\/json, which this agent does not take; it takes text\/plain/);
  assert.equal((await ask("calling", undefined, { agent: "texts", text: "hello" })).outcome, "Completed");
});

test("no request from outside is taken for one from inside", async () => {
  const headers = { caller: "token:alice", "x-caller": "token:alice", "x-a2a-caller": "token:alice", "x-follow": "{}" };
  await assert.rejects(agentOf("back", headers).send(toolCall("probe_call")), /401|credentials|Unauth/i);
});

test("the events of a streaming agent come as they are", async () => {
  const { events } = await ask<{ events: string[] }>("desk", bearer(ALICE), { agent: "script", text: "chunks", stream: true });
  const kinds = events.map((event) => Object.keys(JSON.parse(event) as object)[0]);
  assert.equal(kinds[0], "task");
  assert.ok(kinds.includes("artifactUpdate"), kinds.join());
  assert.match(events.at(-1) ?? "", /TASK_STATE_COMPLETED/);
});

test("a question is asked and answered in the same task of the other agent", async () => {
  const asked = await ask("desk", bearer(ALICE), { agent: "script", text: "ask" });
  assert.equal(asked.outcome, "InputRequired");
  const answered = await ask("desk", bearer(ALICE), { agent: "script", text: "blue", task: asked.task });
  assert.deepEqual([answered.outcome, answered.task], ["Completed", asked.task]);
  const foreign = await ask("desk", bearer(BOB), { agent: "script", text: "blue", task: asked.task });
  assert.equal(foreign.outcome, "Failed");
});

test("a chain that is too deep is refused, before it is sent and when it comes in", async () => {
  const deep = (depth: number): object => ({ metadata: { "urn:a2a-edge:depth": depth } });
  assert.match((await ask("calling", undefined, { agent: "open", ...who }, deep(7))).text, /anonymous/);
  const refused = await ask("calling", undefined, { agent: "open", ...who }, deep(8));
  assert.equal(refused.outcome, "Failed");
  assert.match(refused.text, /agents may call each other 8 deep, and this would be 9/);
  const tooDeep = agentOf("calling").send({ ...toolCall("probe_call"), ...deep(9) });
  await assert.rejects(tooDeep, (error: RpcError) => error.code === -32602 && error.fields.includes("message.metadata.urn:a2a-edge:depth"));
});

test("an agent that calls itself in a circle ends with a clear refusal", async () => {
  let asked: object = { agent: "calling", ...who };
  for (let round = 0; round < 12; round++) asked = { agent: "calling", tool: "probe_ask", arguments: asked };
  const told = await ask("calling", undefined, asked);
  assert.match(JSON.stringify(told), /agents may call each other 8 deep/);
});

test("an agent that there is not, and a secret that is not set, are named", async () => {
  const { failed } = await ask<{ failed: string }>("calling", undefined, { agent: "nobody", text: "x" });
  assert.match(failed, /there is no remote "nobody"; there are: keyed, next, again, /);
  const unset = await ask<{ failed: string }>("calling", undefined, { agent: "keyed", text: "x" });
  assert.match(unset.failed, /the remote keyed: `url`: the secret or variable REMOTE_URL is not set/);
});

test("tasks of agents that others have called stand in the audit lines of their request", async () => {
  const before = worker.logs.length;
  const { task } = await ask("desk", bearer(ALICE), { agent: "back", ...who });
  const lines = async () => worker.logs.slice(before).map(({ message }) => message).filter((line) => line.includes("token:alice"));
  await until(lines, (found) => found.some((line) => line.includes(task ?? "?")));
});
