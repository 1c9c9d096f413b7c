// The usage that programs behind agents of kind "http" report (docs/http-agents.md, "Usage"): in the metadata of the task, in the sums of
// the caller, and for its limits by day.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { Agent, followUp, textOf, until, untilEnded, type RpcError, type Task } from "./client.ts";
import { startWorker, type Worker } from "./harness.ts";
import { AgentServer, events, lines, turnProblem, withHttpAgents } from "./http-agents.ts";
import { sendStreaming } from "./stream.ts";
import { beforeMidnight, usageAt, withQuotas } from "./usage.ts";

const USED = { requests: 2, inputTokens: 60, outputTokens: 30, costMicros: 45 };
const TOLD = { requests: 2, inputTokens: 60, outputTokens: 30, cost: 0.000045 };

let server: AgentServer, worker: Worker;
before(async () => {
  server = await AgentServer.open(async ({ turn, text }, response) => {
    const json = (body: unknown): unknown => response.setHeader("content-type", "application/json").end(JSON.stringify(body));
    if (text === "json") return json({ do: "complete", usage: USED });
    if (text === "list") return json([{ do: "usage", ...USED, model: "small" }, { do: "complete" }]);
    if (text === "lines") return lines(response, { do: "usage", inputTokens: 9, model: "small" }, { do: "usage", ...USED, model: "large" }, { do: "input_required", text: "Which?" });
    if (text === "reply") return json({ do: "reply", text: "hello", usage: USED });
    if (text === "fail") return lines(response, { do: "fail", text: "no", usage: USED });
    if (text === "wrong") return lines(response, { do: "usage", ...USED }, { do: "usage", inputTokens: -1 });
    if (text === "hang") return events(response, { do: "usage", ...USED }, { do: "working", text: "on it" });
    if (text === "dies" && turn.attempt === 1) {
      events(response, { do: "artifact", id: "a", text: "x" }, { do: "usage", ...USED });
      return void setTimeout(() => response.destroy(), 300);
    }
    events(response, { do: "usage", ...USED }, { do: "artifact", id: "a", text: "x" }, { do: "complete", usage: USED });
    return response.end();
  });
  const slugs = ["tokens", "cost", "free", "again", "killed"];
  const agents = withHttpAgents(Object.fromEntries(slugs.map((slug) => [slug, { url: server.url }])));
  worker = await startWorker({ vars: { KEEP_ALIVE_MS: "1000", AGENTS: withQuotas(agents, { tokens: { tokens_per_day: 100 }, cost: { cost_per_day: 0.00009 } }) } });
});
after(async () => {
  await worker?.stop();
  server?.close();
});
beforeEach(beforeMidnight);

const agent = (slug: string): Agent => new Agent(`${worker.url}/${slug}`);
const told = ({ metadata }: Task): unknown => metadata?.["urn:a2a-edge:usage"];
const daysOf = async (slug: string) => (await usageAt(worker, slug, "?days=1")).days;
const sumOf = async (slug: string) => (await daysOf(slug)).map(({ day: _, models: __, ...sum }) => sum);

describe("a program tells its usage", () => {
  test("in JSON, lines and events: its task shows it, and it is counted once a turn", async () => {
    for (const text of ["json", "list", "events"]) assert.deepEqual(told(await agent("free").sendForTask(text)), TOLD, text);
    const asked = await agent("free").sendForTask("lines");
    assert.deepEqual([asked.status.state, told(asked)], ["TASK_STATE_INPUT_REQUIRED", TOLD]);
    const done = await agent("free").sendForTask(followUp(asked, "json"));
    assert.deepEqual(told(done), { requests: 4, inputTokens: 120, outputTokens: 60, cost: 0.00009 }, "the turns of a task together");
    const replied = await agent("free").sendForTask("reply");
    assert.deepEqual([textOf(replied.status.message), told(replied)], ["hello", TOLD], "a message with usage closes a task");
    assert.deepEqual(told(await agent("free").sendForTask("fail")), TOLD);
    const [sum] = await sumOf("free");
    assert.deepEqual(sum, { turns: 7, requests: 14, inputTokens: 420, outputTokens: 210, costMicros: 315 });
    // What a report adds to the one before is of the model that it names.
    const large = { model: "large", turns: 1, requests: 1, inputTokens: 51, outputTokens: 30, costMicros: 45 };
    const small = { model: "small", turns: 2, requests: 3, inputTokens: 69, outputTokens: 30, costMicros: 45 };
    assert.deepEqual((await daysOf("free"))[0]?.models, [large, small]);
  });

  test("to those who follow the task, in the event that ends the turn (§3.1.2)", async () => {
    const metadata: unknown[] = [];
    for await (const { data } of await sendStreaming(`${worker.url}/free`, "events")) {
      const update = data.result?.statusUpdate as { metadata?: Record<string, unknown> } | undefined;
      if (update?.metadata !== undefined) metadata.push(update.metadata["urn:a2a-edge:usage"]);
    }
    assert.deepEqual(metadata, [TOLD]);
  });

  test("with a number that is refused: the task says where, and what was reported before counts", async () => {
    const before = await sumOf("again");
    const task = await agent("again").sendForTask("wrong");
    assert.equal(task.status.state, "TASK_STATE_FAILED");
    assert.match(textOf(task.status.message), /cannot be used: line 2: `inputTokens` of `usage` must be a whole number from 0 to 1000000000000, got -1/);
    assert.deepEqual([before, await sumOf("again")], [[], [{ turns: 1, ...USED }]]);
  });

  test("and a cancel keeps it (§3.1.5)", async () => {
    const { id } = await agent("again").sendForTask("hang", { returnImmediately: true });
    await until(() => agent("again").getTask(id), ({ status }) => textOf(status.message) === "on it");
    await agent("again").cancelTask(id);
    const task = await until(() => agent("again").getTask(id), (task) => told(task) !== undefined);
    assert.deepEqual([task.status.state, told(task)], ["TASK_STATE_CANCELED", TOLD]);
    await until(() => sumOf("again"), ([sum]) => sum?.turns === 2);
  });
});

describe("a turn that is asked for again", () => {
  test("after its connection broke counts the same usage once, and is told what is counted", async () => {
    const task = await agent("killed").sendForTask("dies");
    assert.deepEqual([task.status.state, told(task)], ["TASK_STATE_COMPLETED", TOLD]);
    assert.deepEqual(await sumOf("killed"), [{ turns: 1, ...USED }]);
    const [first, second] = server.of(task.id).map(({ turn }) => turn);
    assert.deepEqual([first?.usage, second?.resumes, second?.usage], [undefined, true, USED]);
    assert.equal(turnProblem(second), undefined);
  });

  test("after a kill counts it once", async () => {
    const { id } = await agent("killed").sendForTask("dies", { returnImmediately: true });
    await until(async () => server.of(id).length, (count) => count === 1);
    await worker.kill9();
    await worker.restart();
    const task = await untilEnded(agent("killed"), id);
    assert.deepEqual([task.status.state, told(task)], ["TASK_STATE_COMPLETED", TOLD]);
    await until(() => sumOf("killed"), ([sum]) => sum?.turns === 2);
    assert.deepEqual(await sumOf("killed"), [{ turns: 2, requests: 4, inputTokens: 120, outputTokens: 60, costMicros: 90 }]);
  });
});

test("a caller that has used up the tokens or the cost of its day is refused, before a task begins", async () => {
  for (const slug of ["tokens", "cost"]) {
    // The second turn passes: the first one has used less than the limit.
    for (const text of ["json", "lines"]) assert.deepEqual(told(await agent(slug).sendForTask(text)), TOLD);
    const asked = server.asked.length;
    await assert.rejects(agent(slug).send("json"), ({ code, reason }: RpcError) => code === -32603 && reason === "USED_UP");
    assert.equal(server.asked.length, asked, "the program is not asked");
    assert.equal((await agent(slug).listTasks()).totalSize, 2);
  }
  assert.equal((await agent("free").sendForTask("json")).status.state, "TASK_STATE_COMPLETED", "other agents have limits of their own");
});
