// The alerts and the dashboard of docs/monitoring/: each alert is silent while all is well, and fires for the fault that it is for.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Agent, until, untilEnded } from "./client.ts";
import { ONLY_D1, startWorker, type Worker } from "./harness.ts";
import { Metrics } from "./metrics.ts";
import { ModelServer, failing, say } from "./model-server.ts";
import { evaluate, type Scrape, type Vector } from "./promql.ts";
import { blockObject } from "./sabotage.ts";
import { Sink } from "./sink.ts";

const file = (name: string): string => readFileSync(new URL(`../../docs/monitoring/${name}`, import.meta.url), "utf8");
const alerts = new Map([...file("alerts.yml").matchAll(/- alert: (\w+)\n(?: +#.*\n)* +expr: (.*)\n/g)].map(([, name = "", expression = ""]) => [name, expression]));

let worker: Worker;
let sink: Sink;
let model: ModelServer;
let storage: string;
let scrapes: Scrape[];
before(async () => {
  [sink, model] = await Promise.all([Sink.open(), ModelServer.start()]);
  storage = mkdtempSync(join(tmpdir(), "a2a-edge-alerts-"));
  const limits = { WEBHOOK_ATTEMPTS: "1", WEBHOOK_RETRY_MS: "1000", MAX_ATTEMPTS: "1", INDEX_WAIT_MS: "100" };
  worker = await startWorker({ persist: storage, vars: { METRICS: "true", SINK: sink.url, MODEL_URL: model.url, MODEL_KEY: "key-of-the-model", ...limits } });
});
after(async () => {
  await worker.stop();
  sink.close();
  model.stop();
  rmSync(storage, { recursive: true, force: true });
});

const agent = (slug: string): Agent => new Agent(`${worker.url}/${slug}`);

/** Reads the metrics, a minute after the last time. An instance shows the numbers of tasks for some seconds; with `isAnew` another one reads them. */
async function scrape(isAnew = false): Promise<Scrape> {
  if (isAnew) {
    // The process adds what it has counted before it ends.
    await Metrics.read(worker.url);
    await worker.restart();
  }
  const taken = { at: (scrapes.at(-1)?.at ?? 0) + 60, metrics: await Metrics.read(worker.url) };
  scrapes.push(taken);
  return taken;
}

const firing = (name: string): Vector => evaluate(alerts.get(name) ?? assert.fail(name), scrapes);

/** Causes a fault twice, since a counter that is new counts from its first value on, and returns what fires then. */
async function afterFault(name: string, fault: () => Promise<unknown>, isAnew = false): Promise<Vector> {
  scrapes = [];
  await scrape();
  await scrape();
  assert.deepEqual(firing(name), [], "it is silent before");
  for (const _ of [1, 2]) {
    await fault();
    await scrape(isAnew);
  }
  return firing(name);
}

const six = (work: () => Promise<unknown>): Promise<unknown> => Promise.all(Array.from({ length: 6 }, work));
const agents = (vector: Vector): (string | undefined)[] => vector.map(({ labels }) => labels["agent"]);

describe("an alert", () => {
  before(async () => {
    model.answerWith(() => say(["well"]));
    await six(() => agent("demo").sendForTask("hello"));
    await agent("thinker").sendForTask("hello");
  });

  test("fires for tasks that fail", async () => {
    assert.deepEqual(agents(await afterFault("A2aTasksFail", () => six(() => agent("demo").sendForTask("fail")), true)), ["demo"]);
  });

  test("fires for requests that the server does not answer", async () => {
    const { id } = await agent("demo").sendForTask("hello");
    await worker.stop();
    blockObject(storage, id);
    await worker.restart();
    assert.deepEqual(agents(await afterFault("A2aRequestsFail", () => six(() => agent("demo").getTask(id).catch(() => {})))), ["demo"]);
  });

  test("fires for runs that crash", async () => {
    const crash = async (): Promise<unknown> => agent("faults").sendForTask("panic later").catch(() => {});
    assert.deepEqual(agents(await afterFault("A2aRunsInterrupted", () => six(crash))), ["faults"]);
  });

  test("fires for a model that refuses", async () => {
    const refused = (): Promise<unknown> => six(async () => untilEnded(agent("thinker"), (await agent("thinker").sendForTask("go", { returnImmediately: true })).id));
    model.answerWith(() => failing(401, "no"));
    assert.deepEqual(agents(await afterFault("A2aModelFails", refused)), ["thinker"]);
  });

  test("fires for webhooks whose notifications were given up", async () => {
    sink.otherwise = ({ path }) => (path.startsWith("/gone") ? { status: 410 } : {});
    // A webhook that is suspended stays so: nobody has to do anything twice.
    const hooked = async (): Promise<void> => {
      await agent("demo").call("SendMessage", {
        message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: "hello" }] },
        configuration: { taskPushNotificationConfig: { url: `${sink.url}/gone` } },
      });
      const listed = async (): Promise<number> => (await (await worker.index()).prepare("SELECT id FROM webhooks").bind().run()).results.length;
      await until(listed, (count) => count > 0);
    };
    assert.deepEqual(agents(await afterFault("A2aWebhooksSuspended", hooked, true)), ["demo"]);
  });

  // The index in objects fails with the objects themselves.
  test("fires for an index that takes no rows", ONLY_D1, async () => {
    const rename = async (from: string, to: string): Promise<unknown> => (await worker.d1()).prepare(`ALTER TABLE ${from} RENAME TO ${to}`).bind().run();
    const fired = await afterFault("A2aIndexFails", async () => {
      await rename("tasks", "away");
      await six(() => agent("demo").sendForTask("hello"));
      await rename("away", "tasks");
    });
    assert.equal(fired.length, 1);
  });
});

test("there are six alerts, and each was tried", () => assert.equal(alerts.size, 6));

test("the queries of the dashboard have numbers", async () => {
  const { panels } = JSON.parse(file("grafana.json")) as { panels: { title: string; targets: { expr: string }[] }[] };
  scrapes = [];
  const busy = async (): Promise<void> => {
    model.answerWith(() => say(["well"]));
    await six(() => agent("demo").sendForTask("hello"));
    await agent("demo").sendForTask("ask");
    await agent("thinker").sendForTask("go");
  };
  await busy();
  await scrape(true);
  await busy();
  await scrape(true);
  const without = panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, evaluate(expr.replaceAll("$agent", ".*"), scrapes)] as const)).filter(([, vector]) => vector.length === 0);
  // These are empty where no agent calls tools or agents, and nothing has failed.
  const mayBeEmpty = ["Calls of tools and agents a minute", "Attempts at webhooks a minute", "Part of the tasks that fail, or have failed steps", "Errors in the log a minute", "Webhooks in trouble"];
  assert.deepEqual(without.map(([title]) => title).filter((title) => !mayBeEmpty.includes(title)), []);
});
