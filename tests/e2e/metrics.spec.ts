// GET /metrics: who may read it, and that its numbers are those of what happened.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Agent, message, toolCall, until } from "./client.ts";
import { ONLY_D1, startWorker, type Database, type Worker } from "./harness.ts";
import { Metrics } from "./metrics.ts";
import { agents, HOUR_MS, hourOf, SECRETS } from "./overview.ts";
import { Sink } from "./sink.ts";

const OPS = { "x-api-key": SECRETS.KEY_OPS };
const run = async (database: Database, sql: string, ...values: unknown[]): Promise<unknown> => database.prepare(sql).bind(...values).run();

describe("metrics", () => {
  let worker: Worker;
  let sink: Sink;
  before(async () => {
    sink = await Sink.open();
    // A dataset of Analytics Engine is a binding with this method.
    const analytics = `import { WorkerEntrypoint } from "cloudflare:workers";
      export default class extends WorkerEntrypoint {
        async writeDataPoint(point) { await fetch("${sink.url}/points", { method: "POST", body: JSON.stringify(point) }); }
      }`;
    worker = await startWorker({ vars: { ...SECRETS, AGENTS: agents("open", "other"), METRICS: "true" }, services: { ANALYTICS: analytics } });
  });
  after(async () => {
    await worker.stop();
    sink.close();
  });

  const read = async (headers: Record<string, string> = {}): Promise<Metrics> => Metrics.read(worker.url, headers);

  test("count tasks exactly, by state, with their durations", async () => {
    const open = new Agent(`${worker.url}/open`);
    for (let n = 0; n < 5; n += 1) await open.sendForTask("hello");
    await open.sendForTask("fail");
    await open.sendForTask("ask");
    const metrics = await until(() => read(), (found) => found.value("a2a_task_duration_seconds_count", { agent: "open", state: "completed" }) === 5);
    assert.equal(metrics.value("a2a_task_duration_seconds_count", { agent: "open", state: "failed" }), 1);
    assert.equal(metrics.value("a2a_task_duration_seconds_bucket", { agent: "open", state: "completed", le: "+Inf" }), 5);
    assert.equal(metrics.value("a2a_tasks_unfinished", { agent: "open", state: "input_required" }), 1);
    const buckets = metrics.all("a2a_task_duration_seconds_bucket", { agent: "open", state: "completed" }).map(({ value }) => value);
    assert.deepEqual(buckets, [...buckets].sort((a, b) => a - b), "buckets are sums of those below them");
  });

  test("count requests, runs, webhooks and errors by outcome", async () => {
    const other = new Agent(`${worker.url}/other`);
    const { id } = await other.sendForTask("hello");
    for (let n = 0; n < 3; n += 1) await other.getTask(id);
    await assert.rejects(other.getTask("none"));
    assert.equal((await fetch(`${worker.url}/other/tasks/none`, { headers: { "a2a-version": "1.0" } })).status, 404);
    const metrics = await until(() => read(), (found) => found.value("a2a_requests_seconds_count", { agent: "other", operation: "GetTask", outcome: "ok" }) === 3);
    const requests = (operation: string, outcome: string): number | undefined => metrics.value("a2a_requests_seconds_count", { agent: "other", operation, outcome });
    assert.deepEqual([requests("SendMessage", "ok"), requests("/{agent}", "-32001"), requests("/{agent}/*", "404")], [1, 1, 1]);
    assert.equal(metrics.value("a2a_runs_seconds_count", { agent: "other", ending: "returned" }), 1);
    assert.ok((metrics.value("a2a_runs_seconds_sum", { agent: "other", ending: "returned" }) ?? -1) >= 0);
  });

  test("are written to Analytics Engine as points", async () => {
    await new Agent(`${worker.url}/other`).sendForTask("hello");
    type Point = { indexes: string[]; blobs: string[]; doubles: number[] };
    const points = async (): Promise<Point[]> => sink.arrivals("/points").map((arrival) => arrival.json<Point>());
    const isRun = ({ blobs }: Point): boolean => blobs.join(" ") === "runs other returned";
    const found = (await until(points, (all) => all.some(isRun))).find(isRun);
    assert.deepEqual([found?.indexes, found?.doubles[0]], [["other"], 1]);
    assert.ok((found?.doubles[1] ?? -1) >= 0);
  });

  test("survive the process, as far as they were added", async () => {
    const count = async (): Promise<number> => (await read()).value("a2a_requests_seconds_count", { agent: "other", operation: "GetTask", outcome: "ok" }) ?? 0;
    const known = await count();
    assert.ok(known >= 3);
    await worker.kill9();
    await worker.restart();
    assert.equal(await count(), known);
  });

  // In objects, tests/js/metrics.test.mjs has it.
  test("keep the tasks of hours that are deleted", ONLY_D1, async () => {
    const completed = async (): Promise<number> => (await read()).value("a2a_task_duration_seconds_count", { agent: "open", state: "completed" }) ?? 0;
    const before = await completed();
    const index = await worker.index();
    const ended = Date.now() - 9 * 24 * HOUR_MS;
    const insert = `INSERT INTO tasks (owner, agent, status_ms, id, context_id, state, generation, head, history, duration_ms)
      VALUES ('of-old', 'open', ?1, ?2, 'c', 3, 1, ?3, '', 70)`;
    // The member is found in metadata alone, and a head that is no JSON stops no row.
    const heads = ['{"metadata":{"urn:a2a-edge:failed-steps":2}}', '{"status":{"message":"urn:a2a-edge:failed-steps"}}', "urn:a2a-edge:failed-steps", "{}"];
    for (const [n, head] of heads.entries()) await run(index, insert, ended + n, `old-${n}`, head);
    // Numbers of tasks are read at most every ten seconds by an instance.
    await worker.restart();
    await until(completed, (count) => count === before + 4);
    await worker.cron();
    const { results } = await (await worker.index()).prepare("SELECT hour, number FROM task_hours WHERE agent = ?1 AND state = 3 ORDER BY hour").bind("open").run<{ hour: number; number: number }>();
    assert.deepEqual(results[0], { hour: 0, number: 4 });
    assert.ok(results.every(({ hour }) => hour === 0 || hour >= hourOf(ended) + HOUR_MS));
    await worker.restart();
    assert.equal(await completed(), before + 4, "and are counted all the same");
    assert.equal((await read()).value("a2a_tasks_with_failed_steps_total", { agent: "open", state: "completed" }), 1);
  });

  test("are for operators: each sees the agents of which it is one", async () => {
    await new Agent(`${worker.url}/guarded`, OPS).sendForTask("hello");
    const metrics = await until(() => read(OPS), (found) => found.value("a2a_requests_seconds_count", { agent: "guarded", operation: "SendMessage", outcome: "ok" }) === 1);
    assert.ok(metrics.agents().has("guarded"));
    assert.ok(!(await read()).agents().has("guarded"), "in development agents without schemes are for everybody, others are not");
    assert.equal((await fetch(`${worker.url}/metrics`, { method: "POST" })).status, 405);
  });

  test("have each label once, in the text format", async () => {
    const response = await fetch(`${worker.url}/metrics`);
    assert.equal(response.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    const metrics = new Metrics(await response.text());
    assert.equal(new Set(metrics.lines.map(({ name, labels }) => name + JSON.stringify(labels))).size, metrics.lines.length);
  });
});

test("calls of tools and webhooks are counted by tool and outcome", async () => {
  const sink = await Sink.open();
  const worker = await startWorker({ vars: { METRICS: "true", SINK: sink.url } });
  try {
    const configuration = { taskPushNotificationConfig: { url: `${sink.url}/hook` } };
    await new Agent(`${worker.url}/secrets`).call("SendMessage", { message: message(toolCall("plain")), configuration });
    const hooks = (found: Metrics): number => found.value("a2a_webhook_attempts_seconds_count", { agent: "secrets", outcome: "ok" }) ?? 0;
    const metrics = await until(() => Metrics.read(worker.url), (found) => hooks(found) >= 2);
    assert.equal(metrics.value("a2a_tool_calls_seconds_count", { agent: "secrets", tool: "plain", outcome: "ok" }), 1);
  } finally {
    await worker.stop();
    sink.close();
  }
});

test("without METRICS nothing is counted but tasks, and strangers get nothing from a deployment", async () => {
  const worker = await startWorker({ vars: { ...SECRETS, AGENTS: agents("open"), DEVELOPMENT: "false" } });
  try {
    await new Agent(`${worker.url}/guarded`, OPS).sendForTask("hello");
    const metrics = await until(() => Metrics.read(worker.url, OPS), (found) => found.value("a2a_task_duration_seconds_count", { agent: "guarded", state: "completed" }) === 1);
    assert.deepEqual(metrics.lines.filter(({ name }) => name.startsWith("a2a_requests")), []);
    for (const [headers, status] of [[{}, 401], [{ "x-api-key": SECRETS.KEY_BOB }, 403], [{ "x-api-key": "wrong-key" }, 401]] as const) {
      const response = await fetch(`${worker.url}/metrics`, { headers });
      const text = await response.text();
      assert.equal(response.status, status, text);
      assert.ok(!text.includes("a2a_"));
    }
  } finally {
    await worker.stop();
  }
});
