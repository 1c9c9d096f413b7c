// Tools in a killed process: finished steps are not repeated.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Agent, message, textOf, toolCall, untilEnded } from "../e2e/client.ts";
import { freshPath, killAndRestart, sink, withWorker, worker } from "../e2e/runs.ts";

const probes = () => new Agent(`${worker.url}/probes`);
const counts = (path: string, ...steps: number[]) => steps.map((step) => sink.count(`${path}/${step}`));

describe("a killed process", () => {
  withWorker({});

  for (const held of [1, 2, 3]) {
    test(`in step ${held} of a tool repeats no step that was done`, async () => {
      const path = freshPath();
      sink.plan(`${path}/${held}`, "hold");
      const said = toolCall("probe_steps", { url: `${sink.url}${path}`, count: 3 });
      const { id } = await probes().sendForTask(said, { returnImmediately: true });
      await sink.arrival(`${path}/${held}`);
      await killAndRestart();
      const task = await untilEnded(probes(), id);
      assert.equal(task.status.state, "TASK_STATE_COMPLETED", textOf(task.status.message));
      assert.equal(textOf(task.artifacts?.[0]).trim().split("\n").length, 3);
      assert.deepEqual(counts(path, 1, 2, 3), [1, 2, 3].map((step) => (step === held ? 2 : 1)));
    });
  }

  for (const held of [0, 1, 2]) {
    test(`in call ${held + 1} of three in a message repeats no call that was done`, async () => {
      const paths = [freshPath(), freshPath(), freshPath()];
      sink.plan(`${paths[held]}/1`, "hold");
      const parts = paths.map((path) => ({ data: { tool: "probe_steps", arguments: { url: `${sink.url}${path}`, count: 1 } } }));
      const { id } = await probes().sendForTask(message({ parts }), { returnImmediately: true });
      await sink.arrival(`${paths[held]}/1`);
      await killAndRestart();
      const task = await untilEnded(probes(), id);
      assert.equal(task.status.state, "TASK_STATE_COMPLETED", textOf(task.status.message));
      assert.deepEqual(task.artifacts?.map(({ artifactId }) => artifactId), ["probe_steps-result", "probe_steps-result-2", "probe_steps-result-3"]);
      assert.ok(task.artifacts?.every((artifact) => textOf(artifact).startsWith("1 ")));
      assert.deepEqual(paths.map((path) => sink.count(`${path}/1`)), paths.map((_, index) => (index === held ? 2 : 1)));
    });
  }
});
