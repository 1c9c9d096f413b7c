// Counters of tools in Rust, kept in D1 for each owner: the tool `get_counter`.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Agent, toolCall, type Task } from "../e2e/client.ts";
import { startWorker, type Worker } from "../e2e/harness.ts";
import { SINK, readFixture, releases, restoreDatabase } from "../upgrade/fixture.ts";
import type { Answers } from "../upgrade/scenes.ts";

const countOf = (artifacts: Task["artifacts"]): unknown => artifacts?.[0]?.parts[0]?.data;
const countAt = async ({ url }: Worker): Promise<unknown> => countOf((await new Agent(`${url}/probes`).sendForTask(toolCall("get_counter"))).artifacts);

test("calls are counted, also over a restart and a crash (§4.1.7)", async (t) => {
  const worker = await startWorker();
  t.after(() => worker.stop());
  const count = (): Promise<unknown> => countAt(worker);
  assert.equal(await count(), 1);
  assert.equal(await count(), 2);
  await worker.restart();
  assert.equal(await count(), 3);
  await worker.kill9();
  await worker.restart();
  assert.equal(await count(), 4);
  assert.deepEqual((await Promise.all([count(), count(), count()])).sort(), [5, 6, 7]);
});

for (const release of releases) {
  test(`the counter of release ${release} is counted on`, async (t) => {
    const storage = mkdtempSync(join(tmpdir(), "a2a-edge-counters-"));
    // Creates the folders, whose database is then replaced by that of the release.
    await (await startWorker({ persist: storage })).stop();
    restoreDatabase(release, storage, SINK);
    const worker = await startWorker({ persist: storage });
    t.after(async () => {
      await worker.stop();
      rmSync(storage, { recursive: true, force: true });
    });
    const { counted } = readFixture<Answers>(release, SINK).answers;
    const before = Number(countOf(JSON.parse(counted) as Task["artifacts"]));
    assert.ok(before > 0, counted);
    assert.equal(await countAt(worker), before + 1);
  });
}
