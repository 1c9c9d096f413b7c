// `node_modules/.bin/node tests/peers/agents/measure.mjs`: steps of a2a-edge beside those of the package `agents`, for docs/comparison.md: what a step takes, how
// many rows it writes, what is uploaded, and when a run goes on whose process was killed. Needs a build, and `npm ci` in this folder.
import { subscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { checkTexts } from "../../../scripts/lib/checker.mjs";
import { root } from "../../docs/markdown.mjs";

const require = createRequire(createRequire(import.meta.url).resolve("wrangler"));
const { Miniflare, NoOpLog, convertV4MiniflareOptions } = require("miniflare");
const { unstable_splitSqlQuery: statementsOf } = createRequire(import.meta.url)("wrangler");

const ROUNDS = 15;
const STEPS = 100;
const AGENT = `name = "Steps"
description = "Takes steps."
version = "1.0.0"
default = true

[[skills]]
id = "step"
name = "Step"
description = "Send data."
tags = ["test"]

[executor]
kind = "steps"
`;

const folder = mkdtempSync(join(tmpdir(), "a2a-edge-agents-"));
const here = (name) => join(import.meta.dirname, name);

/** The Worker of a file as one module, bundled as wrangler does. */
async function bundled(name) {
  const agents = {
    name: "agents",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^#agents$/ }, () => ({ path: "agents", namespace: "agents" }));
      onLoad({ filter: /./, namespace: "agents" }, () => ({ contents: `export default ${JSON.stringify(checkedAgents())}` }));
    },
  };
  const { outputFiles: [file] } = await build({
    entryPoints: [here(name)], bundle: true, format: "esm", write: false, conditions: ["workerd", "worker", "browser"], external: ["cloudflare:*", "node:*", "*.wasm"],
    plugins: [agents], alias: { "a2a-edge": join(root, "js", "index.js"), "a2a-edge/engine": join(root, "build", "engine.js") },
  });
  return file.text.replace(/"[^"]*index_bg\.wasm"/, '"./index_bg.wasm"');
}

function checkedAgents() {
  const { agents, problems } = checkTexts({ texts: { "agents/steps.toml": AGENT }, joins: true, now: Date.now() });
  if (agents === undefined) throw new Error(problems.map(({ shown }) => shown).join("\n"));
  return agents;
}

const workerd = [];
subscribe("child_process", ({ process: child }) => workerd.push(child));

/** A Worker in a process of its own; its storage outlives it. */
async function start(options, storage) {
  const platform = { name: "steps", compatibilityDate: "2026-11-17", compatibilityFlags: ["nodejs_compat", "queue_consumer_no_wait_for_wait_until"] };
  const miniflare = new Miniflare({
    ...convertV4MiniflareOptions({ ...platform, ...options, modulesRoot: folder, resourcePersistencePath: join(folder, storage) }),
    log: new NoOpLog(), handleStructuredLogs: () => {},
  });
  const url = await miniflare.ready;
  const child = workerd.findLast(({ spawnfile }) => spawnfile.includes("workerd"));
  return { miniflare, url, kill: async () => (child.kill("SIGKILL"), await miniflare.dispose().catch(() => {})) };
}

const post = async (url, body) => {
  const answer = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return JSON.parse(text);
};

/** How each of the two is made, and what it is asked. */
const SUBJECTS = {
  "a2a-edge": {
    async options() {
      const script = await bundled("a2a-edge.js");
      const wasm = readFileSync(join(root, "build", "index_bg.wasm"));
      const modules = [
        { type: "ESModule", path: join(folder, "index.js"), contents: script }, { type: "CompiledWasm", path: join(folder, "index_bg.wasm"), contents: wasm },
      ];
      const queues = Object.fromEntries(["WEBHOOKS", "DEAD_LETTERS", "DELETIONS"].map((name) => [name, { queueName: name.toLowerCase() }]));
      const durableObjects = { TASKS: { className: "TaskObject", useSQLite: true } };
      return { options: { modules, durableObjects, d1Databases: { DB: "steps" }, queueProducers: queues, bindings: { DEVELOPMENT: "true" } }, upload: [script, wasm] };
    },
    async prepare({ miniflare }) {
      const database = await miniflare.getD1Database("DB");
      const migrations = readdirSync(join(root, "migrations")).filter((name) => name.endsWith(".sql")).sort();
      const statements = migrations.flatMap((name) => statementsOf(readFileSync(join(root, "migrations", name), "utf8")));
      await database.batch(statements.map((statement) => database.prepare(statement)));
    },
    async run(url, input) {
      const { task } = await this.send(url, input, {});
      if (task.status.state !== "TASK_STATE_COMPLETED") throw new Error(JSON.stringify(task));
      return async () => (await (await fetch(new URL(`/?rows-of=${task.id}`, url))).json()).rows;
    },
    begin(url, input) {
      return this.send(url, input, { returnImmediately: true });
    },
    send: (url, data, configuration) =>
      post(new URL("/steps/message:send", url), { message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ data }] }, configuration }),
  },
  agents: {
    async options() {
      const script = await bundled("agents.js");
      return { options: { modules: [{ type: "ESModule", path: join(folder, "agents.js"), contents: script }], durableObjects: { STEPS: { className: "Steps", useSQLite: true } } }, upload: [script] };
    },
    prepare() {},
    async run(url, input) {
      const { rows } = await post(url, { do: "run", name: crypto.randomUUID(), ...input });
      return () => rows;
    },
    begin: (url, input) => post(url, { do: "begin", name: "killed", ...input }),
  },
};

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** How long a run takes from outside, and how many rows it writes. */
async function timed(subject, url, count) {
  const times = [];
  let rows;
  for (let round = 0; round < ROUNDS; round += 1) {
    const begun = performance.now();
    const rowsOf = await subject.run(url, { count, url: "" });
    times.push(performance.now() - begun);
    rows = await rowsOf();
  }
  return { ms: median(times), rows };
}

/**
 * A run of 20 steps of 0.3 s each whose process is killed in the tenth; the process is started again, and nothing asks for the run. Tells after how many
 * seconds the run went on, and how many steps were begun twice; undefined if it did not go on within two minutes.
 */
async function killed(subject, options, name) {
  const begun = [];
  const server = createServer(({ url }, response) => {
    begun.push({ step: url.slice(1), at: Date.now() });
    setTimeout(() => response.end(), 300);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${server.address().port}`;
  const first = await start(options, `killed-${name}`);
  await subject.prepare(first);
  await subject.begin(first.url, { count: 20, url });
  while (begun.length < 10) await new Promise((resolve) => setTimeout(resolve, 20));
  await first.kill();
  const again = await start(options, `killed-${name}`);
  const restarted = Date.now();
  for (const deadline = restarted + 120_000; begun.at(-1).step !== "20" && Date.now() < deadline;) await new Promise((resolve) => setTimeout(resolve, 100));
  const next = begun.find(({ at }) => at >= restarted);
  server.close().closeAllConnections();
  await again.kill();
  return next && { seconds: (next.at - restarted) / 1000, twice: begun.length - new Set(begun.map(({ step }) => step)).size };
}

for (const [name, subject] of Object.entries(SUBJECTS)) {
  const { options, upload } = await subject.options();
  const worker = await start(options, name);
  await subject.prepare(worker);
  await timed(subject, worker.url, 1);
  const [one, many] = [await timed(subject, worker.url, 1), await timed(subject, worker.url, STEPS + 1)];
  await worker.kill();
  const bytes = upload.reduce((all, part) => all + gzipSync(part).length, 0);
  console.log(`${name}: upload ${Math.round(bytes / 1024)} KiB gzip; a run of one step ${one.ms.toFixed(1)} ms and ${one.rows} rows; each further step ${((1000 * (many.ms - one.ms)) / STEPS).toFixed(0)} µs and ${((many.rows - one.rows) / STEPS).toFixed(2)} rows`);
  console.log(`    killed in step 10 of 20, and nothing asks: ${JSON.stringify(await killed(subject, options, name)) ?? "did not go on within two minutes"}`);
}
rmSync(folder, { recursive: true, force: true });
process.exit();
