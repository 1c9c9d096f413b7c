// Metrics over the objects of the index: hours of tasks that are deleted, and shards that the directory leaves.
import assert from "node:assert/strict";
import { registerHooks } from "node:module";
import { test } from "node:test";
import { DIRECTORY, Namespace } from "./index-objects.mjs";

const workers = "data:text/javascript,export const waitUntil = () => {};";
registerHooks({ resolve: (specifier, context, next) => (specifier === "cloudflare:workers" ? { url: workers, shortCircuit: true } : next(specifier, context)) });
const { keepHours, metricsText } = await import("../../js/metrics.js");
const { shardName } = await import("../../js/index-shard.js");

const HOUR = 3_600_000;
const OLD = 500_000 * HOUR;
const insert = (id, at) => [
  "INSERT INTO tasks (owner, agent, status_ms, id, context_id, state, generation, head, history, duration_ms) VALUES ('ann', 'demo', ?1, ?2, 'c', 3, 1, '{}', '', 70)",
  [at, id], ["demo", "ann", 0, 1_000, 1e9],
];
const completed = async (env) => {
  const text = await metricsText(env, "objects", '["demo"]');
  return Number(/^a2a_task_duration_seconds_count\{agent="demo",state="completed"\} (\d+)$/m.exec(text)?.[1] ?? 0);
};

test("the tasks of a shard that the directory leaves are counted on", async (context) => {
  context.mock.timers.enable({ apis: ["Date"], now: OLD + 1 });
  const namespace = new Namespace();
  const env = { TASKS: namespace };
  const shard = namespace.get(namespace.idFromName(shardName("ann", 0)));
  for (const id of ["a", "b", "c"]) await shard.index(insert(id, OLD));
  assert.equal(await completed(env), 3);
  await shard.index(["DELETE FROM task_hours WHERE hour > 0 AND hour < 1e15", [], []]);
  const kept = async (name) => (await namespace.get(name).index(["SELECT hour, number, under_100 FROM task_hours", []])).rows.map((row) => ({ ...row }));
  assert.deepEqual(await kept(shardName("ann", 0)), [{ hour: 0, number: 3, under_100: 3 }], "an hour that is deleted is kept in a sum");
  context.mock.timers.tick(HOUR);
  assert.equal(await completed(env), 3);

  await keepHours(env, "demo", "ann", 0);
  await shard.index(["UPDATE index_state SET value = 0 WHERE name = 'agent demo'", [], []]);
  await namespace.get(DIRECTORY).index(["DELETE FROM index_shards", [], []]);
  assert.deepEqual(await kept(shardName("ann", 0)), []);
  assert.deepEqual(await kept(DIRECTORY), [{ hour: 0, number: 3, under_100: 3 }]);
  context.mock.timers.tick(HOUR);
  assert.equal(await completed(env), 3, "the directory has them now");

  await shard.index(insert("d", OLD + HOUR));
  await keepHours(env, "demo", "ann", 0);
  context.mock.timers.tick(HOUR);
  assert.equal(await completed(env), 4, "a shard that comes back counts what is new");
});
