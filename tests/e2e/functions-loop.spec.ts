// A function in TypeScript that never gives its thread back. The platform ends the isolate, here by SIGKILL, and with it all tasks in it: those that loop
// fail after as many attempts as their agent has, and the others resume and complete.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { logged, message, textOf, until, untilEnded, type Agent } from "./client.ts";
import { agentAt, startFunctions } from "./functions.ts";
import type { Worker } from "./harness.ts";
import { checked } from "./product.ts";
import { Sink } from "./sink.ts";
import { textId, type Plan, type Post } from "../functions/jobs.ts";

let worker: Worker;
let sink: Sink;
const agent = (slug: string): Agent => agentAt(worker, slug);
before(async () => {
  sink = await Sink.open();
  const { agents, ...more } = checked(fileURLToPath(new URL("../functions", import.meta.url)));
  const chain = (agents["chain"] ?? "").replace("http://127.0.0.1:9", sink.url);
  worker = await startFunctions({ agents: { ...more, agents: { ...agents, chain } }, vars: { KEEP_ALIVE_MS: "1000" } });
});
after(async () => {
  await worker.stop();
  sink.close();
});

/** Begins a run, and lets it loop as soon as its task is known. Returns the id of the task. */
async function beginLoop(path: string, how = ""): Promise<string> {
  sink.plan(path, "hold");
  const { id } = await agent("loop").sendForTask(`${sink.url}${path} ${how}`.trim(), { returnImmediately: true });
  await (await sink.arrival(path)).answer();
  return id;
}

/** Ends the isolate in which a function has the thread: nothing is answered any more. */
async function killWhenSilent(): Promise<void> {
  const isSilent = () => fetch(`${worker.url}/own`, { signal: AbortSignal.timeout(1_000) }).then(() => false, () => true);
  await until(isSilent, (silent) => silent);
  await worker.kill9();
  await worker.restart();
}

/** The agent `loop` has two attempts; the alarm begins the second one. */
async function assertFailed(id: string): Promise<void> {
  const { status } = await untilEnded(agent("loop"), id);
  assert.equal(status.state, "TASK_STATE_FAILED");
  assert.equal(textOf(status.message), "interrupted: the agent stopped while it was at work, in each of 2 attempts");
  await logged(worker, new RegExp(`^task ${id}: the run of the agent loop is given up: interrupted: .* in each of 2 attempts`), "error");
}

describe("a function that never gives its thread back", () => {
  test("fails after its attempts, and the other tasks of the isolate resume and complete", async () => {
    const plan: Plan = { name: "others", first: 1, asks: false, jobs: [{ do: "step" }, { do: "write", pieces: 5, pauseMs: 5 }, { do: "step" }, { do: "callback" }] };
    sink.plan("/others/3/step", "hold", "hold", "hold");
    const other = await agent("chain").sendForTask(message({ parts: [{ data: plan }] }), { returnImmediately: true });
    await sink.arrival("/others/3/step");
    const parked = await agent("faults").sendForTask("park", { returnImmediately: true });
    await until(() => agent("faults").getTask(parked.id), ({ status }) => textOf(status.message) === "parked");

    const looping = await beginLoop("/ring");
    await killWhenSilent();
    await killWhenSilent();
    await assertFailed(looping);

    const answering = setInterval(() => { for (const held of sink.arrivals("/others/3/step")) void held.answer(); }, 20);
    const { notify = "" } = (await sink.arrival("/others/4/tell")).json<Post>();
    clearInterval(answering);
    const posted = await fetch(notify, { method: "POST", headers: { "content-type": "text/plain" }, body: "news" });
    assert.equal(posted.status, 202);
    const { status, artifacts = [] } = await untilEnded(agent("chain"), other.id);
    assert.equal(status.state, "TASK_STATE_COMPLETED", textOf(status.message));
    const values = artifacts.find(({ artifactId }) => artifactId === "result")?.parts[0]?.data as string[];
    assert.equal(values[1], textOf(artifacts.find(({ artifactId }) => artifactId === textId(2))));
    assert.equal(values[3], "news");
    assert.equal(sink.count("/others/1/step"), 1, "a step that was done is not repeated");
    assert.equal((await agent("faults").getTask(parked.id)).status.state, "TASK_STATE_WORKING");
  });

  test("fails also if it loops right behind a wait", async () => {
    const looping = await beginLoop("/behind", "waits");
    await killWhenSilent();
    await killWhenSilent();
    await assertFailed(looping);
    assert.equal(sink.count("/behind"), 1, "the step before the wait is not repeated");
  });
});
