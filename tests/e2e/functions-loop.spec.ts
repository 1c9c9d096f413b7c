// A function in TypeScript that never gives its thread back: the platform ends the isolate, here by SIGKILL, and with it all tasks in it. The others resume
// and complete; the one that loops fails after as many attempts as its agent has.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { message, textOf, until, untilEnded, type Agent, type Task } from "./client.ts";
import { checked } from "./product.ts";
import { FUNCTIONS, agentAt, startFunctions } from "./functions.ts";
import type { Worker } from "./harness.ts";
import { Sink } from "./sink.ts";
import { textId, type Plan } from "../functions/jobs.ts";

let worker: Worker;
let sink: Sink;
const agent = (slug: string): Agent => agentAt(worker, slug);
before(async () => {
  sink = await Sink.open();
  const { agents, ...more } = checked(FUNCTIONS);
  const chain = agents["chain"]?.replace("http://127.0.0.1:9", sink.url) ?? "";
  worker = await startFunctions({ agents: { ...more, agents: { ...agents, chain } }, vars: { KEEP_ALIVE_MS: "1000" } });
});
after(async () => {
  await worker.stop();
  sink.close();
});

/** Waits until nothing is answered any more, since a function has the thread. */
async function untilSilent(): Promise<void> {
  const isSilent = () => fetch(`${worker.url}/own`, { signal: AbortSignal.timeout(1_000) }).then(() => false, () => true);
  await until(isSilent, (silent) => silent);
}

describe("a function that never gives its thread back", () => {
  test("fails after its attempts, and the other tasks of the isolate resume and complete", async () => {
    const plan: Plan = { name: "others", first: 1, asks: false, jobs: [{ do: "step" }, { do: "write", pieces: 5, pauseMs: 5 }, { do: "step" }, { do: "callback" }] };
    // The second step is under way as long as there is a loop.
    sink.plan("/others/3/step", "hold", "hold");
    const other = await agent("chain").sendForTask(message({ parts: [{ data: plan }] }), { returnImmediately: true });
    await sink.arrival("/others/3/step");
    const parked = await agent("faults").sendForTask("park", { returnImmediately: true });
    await until(() => agent("faults").getTask(parked.id), ({ status }) => textOf(status.message) === "parked");

    const looping = await agent("loop").sendForTask(`${sink.url}/ring`, { returnImmediately: true });
    await untilSilent();
    await worker.kill9();
    await worker.restart();
    // The alarm begins the second attempt.
    await untilSilent();
    await worker.kill9();
    await worker.restart();

    const failed = await untilEnded(agent("loop"), looping.id);
    assert.equal(failed.status.state, "TASK_STATE_FAILED");
    assert.match(textOf(failed.status.message), /^interrupted: .* in each of 2 attempts$/);
    assert.equal(sink.count("/ring"), 1, "its step was done once");
    console.log(worker.logs.map((l) => l.message));

    const held = sink.arrivals("/others/3/step");
    await Promise.all(held.map((arrival) => arrival.answer()));
    const { notify } = (await sink.arrival("/others/4/tell")).json<{ notify: string }>();
    const posted = await fetch(notify, { method: "POST", headers: { "content-type": "text/plain" }, body: "news" });
    assert.equal(posted.status, 202);
    const completed = await untilEnded(agent("chain"), other.id);
    assertWhole(completed);
    assert.equal(sink.count("/others/1/step"), 1);
    assert.equal((await agent("faults").getTask(parked.id)).status.state, "TASK_STATE_WORKING");
  });
});

function assertWhole({ status, artifacts = [] }: Task): void {
  assert.equal(status.state, "TASK_STATE_COMPLETED", textOf(status.message));
  const [, nonce = ""] = /^<([^:]+):/.exec(textOf(artifacts.find(({ artifactId }) => artifactId === textId(2)))) ?? [];
  assert.notEqual(nonce, "");
  const [, text, , body] = artifacts.find(({ artifactId }) => artifactId === "result")?.parts[0]?.data as string[];
  assert.equal(text, [1, 2, 3, 4, 5].map((piece) => `<${nonce}: ${piece} of 5>`).join(""));
  assert.equal(body, "news");
}
