// What is kept of steps for people: `trace` and `trace_for_owners` in [executor.run] of an agent's file (docs/timeline.md).
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, test } from "node:test";
import { rest } from "./answers.ts";
import { Agent, textOf, until, untilEnded, type Task } from "./client.ts";
import { startWorker, testAgents, type Worker } from "./harness.ts";
import { agentsOf, CALLERS, SECRETS } from "./isolation.ts";
import { calls, held, ModelServer, say, type Answer } from "./model-server.ts";
import { withVariants } from "./models.ts";
import { Sink } from "./sink.ts";
import type { Entry, Timeline } from "./timelines.ts";

const KEY = "a-key-of-the-model";
const MAX_TASK_BYTES = 100_000;

let storage: string;
let worker: Worker;
let model: ModelServer;
let sink: Sink;
before(async () => {
  [model, sink] = await Promise.all([ModelServer.start(), Sink.open()]);
  const { agents } = JSON.parse(agentsOf(testAgents)) as { agents: { slug: string; access: object }[] };
  const { access } = agents.find(({ slug }) => slug === "guarded")!;
  const run = (of: object) => ({ access, run: of });
  const variants = { names: run({}), full: run({ trace: "full" }), shown: run({ trace: "full", trace_for_owners: true }), off: run({ trace: "off" }) };
  const vars = { ...SECRETS, MODEL_URL: model.url, MODEL_KEY: KEY, SINK: sink.url, MAX_TASK_BYTES: String(MAX_TASK_BYTES), DEVELOPMENT: "false" };
  storage = mkdtempSync(join(tmpdir(), "a2a-edge-trace-"));
  worker = await startWorker({ persist: storage, vars: { ...vars, AGENTS: withVariants(variants) } });
});
after(async () => {
  await worker?.stop();
  model?.stop();
  sink?.close();
  rmSync(storage, { recursive: true, force: true });
});

/** The rows of a task's log. */
function stored(id: string): string[] {
  const file = readdirSync(storage, { recursive: true, encoding: "utf8" }).find((name) => name.endsWith(`${id}.sqlite`));
  const database = new DatabaseSync(join(storage, file!), { readOnly: true });
  const rows = database.prepare("SELECT lines FROM log ORDER BY seq").all();
  database.close();
  return rows.map(({ lines }) => String(lines));
}

type Who = keyof typeof CALLERS;
const owner = (agent: string): Agent => new Agent(`${worker.url}/${agent}`, CALLERS["the owner"]!.headers);
const ask = (agent: string, id: string, who: Who) => rest(`${worker.url}/${agent}/tasks/${id}/timeline?pageSize=100`, "GET", undefined, CALLERS[who]!.headers);
const read = async (agent: string, id: string, who: Who): Promise<Timeline> => (await ask(agent, id, who)).result as unknown as Timeline;
const steps = ({ entries }: Timeline): Entry[] => entries.filter(({ kind }) => kind === "step");
const order = (item: string, id = item): [string, object, string] => ["order", { item }, id];

/** A task whose model makes these calls and then says that it is done. */
async function taskOf(agent: string, made: [string, object, string][], rounds: Answer[] = [calls(made)]): Promise<Task> {
  model.answers(...rounds, say("done"));
  const task = await owner(agent).sendForTask("order something");
  assert.equal(task.status.state, "TASK_STATE_COMPLETED", textOf(task.status.message));
  return task;
}

describe("of a Worker that is deployed", () => {
  test("names and durations are kept unless the file says more, and of inputs nothing", async () => {
    const { id } = await taskOf("names", [order("tea")]);
    for (const who of ["the owner", "an operator"] as const) {
      const timeline = await read("names", id, who);
      assert.equal(timeline.trace, "names");
      assert.deepEqual(steps(timeline).map(({ name }) => name), ["model", "1.1/request", "1.1", "model"]);
      assert.ok(steps(timeline).every(({ input, durationMs }) => input === undefined && durationMs !== undefined));
    }
    const more = await taskOf("full", [order("tea")]);
    const [rows, others] = [stored(id), stored(more.id)];
    assert.equal(rows.length, others.length, "inputs are in rows that are written anyway");
    assert.doesNotMatch(rows.join(""), /"input":\{"json"/);
    assert.match(others.join(""), /"input":\{"json"/);
  });

  test("full keeps the arguments of calls and what is new in requests, for operators alone", async () => {
    const { id } = await taskOf("full", [order("tea"), order(KEY, "secret")]);
    const [first, second] = steps(await read("full", id, "an operator")).filter(({ type }) => type === "model").map(({ input }) => JSON.parse(input!) as object);
    const { messageId } = (await owner("full").getTask(id)).history![0]!;
    assert.deepEqual(first, { new: [{ client: messageId }], model: "said-model", instructions: "Be brief.", tools: ["add_numbers", "order", "ask_user"] });
    assert.deepEqual(second, { new: [{ result: "tea" }, { result: "secret" }] }, "never the whole conversation");
    const given = steps(await read("full", id, "an operator")).filter(({ type }) => type === "tool").map(({ input }) => JSON.parse(input!) as object);
    assert.deepEqual(given, [{ item: "tea" }, { item: "[MODEL_KEY]" }], "without secrets");
    const told = steps(await read("full", id, "the owner"));
    assert.equal(told.length, 6);
    assert.ok(told.every(({ input, outcome }) => input === undefined && outcome === undefined));
  });

  test("an owner is shown inputs and outcomes where the file says so, and other callers nothing", async () => {
    const { id } = await taskOf("shown", [order("tea")]);
    assert.deepEqual(steps(await read("shown", id, "the owner")), steps(await read("shown", id, "an operator")));
    assert.match(steps(await read("shown", id, "the owner"))[2]!.input!, /tea/);
    for (const who of ["another caller", "an operator who does not say so"] as const) {
      const answer = await ask("shown", id, who);
      assert.equal(answer.status, 404, who);
      assert.doesNotMatch(JSON.stringify(answer), /tea|order/);
    }
  });

  test("inputs have at most a tenth of what a task may hold, are then cut, and the task says so and goes on", async () => {
    const long = (letter: string) => order(letter.repeat(3_000), letter);
    const { id } = await taskOf("full", [], [calls([long("a"), long("b")]), calls([long("c"), long("d")]), calls([long("e")])]);
    const timeline = await read("full", id, "an operator");
    const made = steps(timeline).filter(({ type }) => type === "tool");
    const sizes = made.map(({ input }) => input?.length ?? 0);
    assert.ok(sizes.reduce((sum, size) => sum + size) < MAX_TASK_BYTES / 10, String(sizes));
    assert.deepEqual(made.map(({ inputIsCut }) => inputIsCut === true), [false, false, false, true, false], String(sizes));
    assert.deepEqual([made[4]?.input, timeline.traceIsFull], [undefined, true]);
  });

  test("off shows nobody a step, and recovery has all that it needs", async () => {
    let isFirst = true;
    model.answerWith(({ body }) => {
      if (!body.messages.some(({ role }) => role === "tool")) return calls([order("cake")]);
      const answer = say(["all ", "done"]);
      if (!isFirst) return answer;
      isFirst = false;
      return held(answer, 1);
    });
    const { id } = await owner("off").sendForTask("order cake", { returnImmediately: true });
    await until(() => Promise.resolve(model.waiting), (waiting) => waiting === 1);
    await worker.kill9();
    await worker.restart();
    const task = await untilEnded(owner("off"), id);
    model.release();
    assert.equal(textOf(task.artifacts?.[0]), "all done");
    assert.equal(sink.arrivals("/orders/cake").length, 1, "the call was not made again");
    for (const who of ["the owner", "an operator"] as const) {
      const timeline = await read("off", id, who);
      assert.deepEqual([timeline.trace, steps(timeline), timeline.underWay], ["off", [], []]);
      assert.ok(timeline.entries.some(({ kind }) => kind === "usage"));
    }
    assert.doesNotMatch(stored(id).join(""), /"durationMs"/);
  });
});
