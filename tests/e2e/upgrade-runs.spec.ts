// Runs of every kind go on over a deploy whose stored forms have the next number, and a downgrade leaves alone what has it (docs/upgrades.md).
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { Deployment, READS } from "../upgrade/deploy.ts";
import { rowsOf } from "../upgrade/fixture.ts";
import type { Run } from "../upgrade/run.ts";
import { KINDS, beginRuns, untilAllEnded } from "../upgrade/runs.ts";
import { waitsOf } from "../upgrade/waits.ts";
import { Agent, type RpcError } from "./client.ts";
import { editObject } from "./sabotage.ts";

/** The numbers in the tables of the objects of these runs. The Worker must not be running. */
function numbersOf({ storage }: Deployment, runs: Run[]): number[] {
  const numbers = new Set<number>();
  for (const { id } of runs) {
    editObject(storage, id, (database) => numbers.add(Number(database.prepare("SELECT schema FROM log WHERE seq = 1").get()?.["schema"])));
  }
  return [...numbers];
}

/** Waits for the end of all runs. Then no agent may have more tasks than it was given, and nothing may be wrong with any run. */
async function assertWhole(deployment: Deployment, runs: Run[]): Promise<void> {
  await untilAllEnded(deployment, runs);
  // The job that each coordinator gives is a task of `helper`.
  for (const slug of [...KINDS, "helper"]) {
    assert.equal((await new Agent(`${deployment.url}/${slug}`).listTasks()).totalSize, runs.length / KINDS.length, slug);
  }
  const wrong = [];
  for (const run of runs) wrong.push(...(await run.wrong()));
  assert.deepEqual(wrong, []);
}

let deployment: Deployment;
beforeEach(async () => void (deployment = await Deployment.open({ KEEP_ALIVE_MS: "1000" })));
afterEach(() => deployment.close());

test("a deploy whose stored forms have the next number interrupts none of 200 runs for good: nothing is lost or doubled, and streams go on", async (context) => {
  await deployment.start("present");
  const runs = await beginRuns(deployment, 40);
  await deployment.kill();
  assert.deepEqual(numbersOf(deployment, runs), [READS]);

  const accompanied = Promise.all(runs.map((run) => run.accompany()));
  await deployment.start("next");
  await accompanied;
  await assertWhole(deployment, runs);
  context.diagnostic(waitsOf(deployment, runs));
  await deployment.kill();
  assert.deepEqual(numbersOf(deployment, runs), [READS + 1]);
});

test("a downgrade leaves alone what has the next number, and it goes on when the newer build is back", async () => {
  await deployment.start("next");
  const runs = await beginRuns(deployment, 4);
  await deployment.kill();
  assert.deepEqual(numbersOf(deployment, runs), [READS + 1]);
  const stored = (): string[] => runs.map(({ id }) => rowsOf(deployment.storage, id));
  const untouched = stored();
  const accompanied = Promise.all(runs.map((run) => run.accompany()));

  await deployment.start("present");
  for (const { agent, id } of runs) {
    await assert.rejects(agent.getTask(id), ({ reason }: RpcError) => reason === "UNAVAILABLE");
    await assert.rejects(agent.cancelTask(id), ({ reason }: RpcError) => reason === "UNAVAILABLE");
  }
  for (const run of runs) assert.equal(run.progressedAt, undefined, run.name);
  await deployment.kill();
  assert.deepEqual(stored(), untouched);

  await deployment.start("next");
  await accompanied;
  // The older build has set their alarms a minute later; nobody has to wait for these who asks.
  for (const { agent, id } of runs) await agent.getTask(id);
  await assertWhole(deployment, runs);
});
