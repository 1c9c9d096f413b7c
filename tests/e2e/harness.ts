// Runs the built Worker in workerd for a spec file, on a real loopback port, configured by wrangler.toml. The agents are those of tests/agents,
// in place of the embedded ones, since agents/ may contain anything.
//
// The harness uses the Miniflare that wrangler depends on, so that tests, `npm start` and a deploy have the same runtime. A spec starts a
// Worker in `before` and stops it in `after`. If `after` is not reached, a watchdog process ends workerd and removes the temporary files as
// soon as the test process has ended, which ends together with its runner.

import { spawn, type ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire, enableCompileCache } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { developmentModule } from "../../scripts/lib/development.mjs";
import { leaksIn, secretsOf, type Secret } from "../../scripts/lib/leaks.mjs";
import { freePort } from "../../scripts/lib/port.mjs";
import { entry, hasEngine, type Agents } from "./product.ts";

/** The options of `startWorker`. */
export interface WorkerOptions {
  /** The folder of the build. Default: that which `A2A_BUILD_DIR` names, relative to this repository, or `build`. */
  build?: string;
  /** A folder for Durable Objects and D1 that outlives this Worker. Default: a temporary one that `stop` removes. */
  persist?: string;
  /** The port that the Worker listens on. Default: a free one. */
  port?: number;
  /**
   * Variables in addition to `DEVELOPMENT=true`, `AGENTS` (the agents of tests/agents), and a long `INDEX_WAIT_MS`. Those of wrangler.toml are
   * not used.
   */
  vars?: Record<string, string>;
  /** The agents of the entry module, which are served where the variable `AGENTS` is empty. Default: those of this repository. */
  agents?: Agents;
  /** The path of an entry module in TypeScript. Default: the one of this repository, with the tools of src/tools.ts. */
  entry?: string;
  /** Rate limits by the names of their bindings; the period is in seconds. A restart resets their counts. */
  rateLimits?: Record<string, { limit: number; period: 10 | 60 }>;
  /** Compatibility flags in addition to those of wrangler.toml, for Workers other than the build. */
  compatibilityFlags?: string[];
  /** True to run a second Worker at the same time, with the same D1 database: see `Worker.twin`. */
  hasTwin?: boolean;
  /**
   * Other Workers bound to it, by the names of the bindings: their JavaScript, one module each. A Worker with `run` in place of `fetch` can
   * replace Workers AI. They may import `cloudflare:workers`.
   */
  services?: Record<string, string>;
  /**
   * True to serve the static assets, like wrangler does by wrangler.toml; a path selects another folder of assets. Without it, the Worker gets
   * every request.
   */
  assets?: boolean | string;
  /** True to wrap the Worker with the modules of dev/, like `npm start`: they record requests, and carry out faults. */
  hasDev?: boolean;
  /** True to record the statements of D1 and the messages to agents, for `Worker.statements` and `Worker.given`. */
  notes?: boolean;
}

/** A statement that D1 has run for a Worker. */
export interface NotedStatement {
  /** With placeholders instead of values. */
  sql: string;
  rowsRead: number;
  rowsWritten: number;
}

/** One line that the Worker logged. */
export interface LogLine {
  level: string;
  message: string;
}

/** A running Worker. */
export interface Worker {
  /** The origin of the Worker without a trailing slash, such as `http://127.0.0.1:40123`; stays the same over `restart`. */
  readonly url: string;
  /**
   * The origin of the Worker's twin, if there is one: a Worker of the same build with the same variables, in its own isolate, with its own
   * objects and queues, but the same D1 database. The twin is killed and restarted together with this Worker, and then has another port.
   */
  readonly twin: string;
  /** The process of workerd. */
  readonly pid: number;
  /** Everything that the Worker has logged so far, oldest first, also before a restart. */
  readonly logs: readonly LogLine[];
  /** Ends workerd with SIGKILL, like a crash of the machine. `restart` starts the Worker again. */
  kill9(): Promise<void>;
  /** Starts the Worker again with the same storage and port; a running Worker is stopped first. Memory is lost, rows are kept. */
  restart(): Promise<void>;
  /**
   * Drops a task's object from memory, like the platform does with an idle object. The open requests of the object must have ended. The sockets
   * of its followers stay open, or with "close" are lost as in a deploy.
   */
  evict(taskId: string, webSockets?: "close" | "hibernate"): Promise<void>;
  /** Fires the cron trigger, and waits for its end. */
  cron(): Promise<void>;
  /** Puts a text into the queue of this binding, without the Worker. */
  enqueue(binding: string, text: string): Promise<void>;
  /**
   * The tables of the index that have the rows of this owner, in D1 or in an object of the owner, the first by default, accessed without the Worker. Default: callers without
   * credentials; the place from which the Worker reads. "directory" is that of the objects of all owners. Usable until the Worker is stopped or restarted.
   */
  index(owner?: string, kind?: "d1" | "objects" | "directory", shard?: number): Promise<Database>;
  /** The D1 database of the Worker, accessed without the Worker. Usable until the Worker is stopped or restarted. */
  d1(): Promise<Database>;
  /** The statements that D1 has run since the last start, oldest first. Only with `notes`. */
  statements(): Promise<NotedStatement[]>;
  /** The ids of the messages that agents have received since the last start, oldest first. Only with `notes`. */
  given(): Promise<string[]>;
  /** Ends the Worker and removes its temporary files. May be called twice. */
  stop(): Promise<void>;
}

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The folder of the build that Workers have by default. */
export const buildDir = join(root, process.env["A2A_BUILD_DIR"] ?? "build");

const agentsBeside = (build: string): string => readFileSync(join(build, "test-agents.json"), "utf8");

/** The agents of tests/agents in the embedded form. */
export const testAgents = agentsBeside(buildDir);

/** Long enough that the task of every answered send or cancel is listed, even on a busy machine. */
const INDEX_WAIT_MS = "30000";

/** The folder in which a run of all specs collects its logs, and the secrets to search in them (scripts/lib/leaks.mjs). */
const runFolder = process.env["A2A_RUN_FOLDER"];

/** The secrets of this process. */
const secrets: Secret[] = [];

/** Registers a secret of a test, which must not occur in any log. Variables of Workers with secret names are registered anyway. */
export function secret(name: string, value: string): string {
  secrets.push({ name, value });
  note("secrets", `${JSON.stringify({ name, value })}\n`);
  return value;
}

function note(file: "log" | "secrets", text: string): void {
  if (runFolder !== undefined) appendFileSync(join(runFolder, `${file}-${process.pid}.${file === "log" ? "txt" : "jsonl"}`), text);
}

/** Bodies of up to this many characters are always read by the Worker (js/hop.js). */
const READ_CHARS = 64 * 1024;

// A large body gets a connection of its own: if the Worker refuses it unread, workerd closes the connection, and another request that was just
// sent over this connection would fail.
const plainFetch = globalThis.fetch;
globalThis.fetch = (input, init = {}) => {
  if (typeof init.body !== "string" || init.body.length <= READ_CHARS) return plainFetch(input, init);
  const headers = new Headers(init.headers);
  headers.set("connection", "close");
  return plainFetch(input, { ...init, headers });
};

/** Where the Workers have their index (the setting INDEX): "d1" or "objects"; undefined for the default. */
export const INDEX = process.env["A2A_INDEX"];

/** The options of a test about statements of D1. */
export const ONLY_D1 = { skip: INDEX === "objects" ? "the index is in objects" : false };

/** Starts a Worker with its D1 migrations applied. */
export async function startWorker(options: WorkerOptions = {}): Promise<Worker> {
  const build = options.build ?? buildDir;
  const storage = options.persist ?? mkdtempSync(join(tmpdir(), "a2a-edge-test-"));
  const ownStorage = options.persist === undefined;
  // The URL of the scripted model of dev/ contains the port, and a Worker that is started again has the same one.
  const port = options.port ?? await freePort();
  const model: Record<string, string> = options.hasDev ? { DEV_MODEL_URL: `http://127.0.0.1:${port}/_dev/model` } : {};
  const index: Record<string, string> = INDEX === undefined ? {} : { INDEX };
  const vars: Record<string, string> = { DEVELOPMENT: "true", AGENTS: agentsBeside(build), INDEX_WAIT_MS, ...index, ...model, ...options.vars };
  const rateLimits = Object.fromEntries(Object.entries(options.rateLimits ?? {}).map(([name, simple]) => [name, { namespace_id: name, simple }]));
  const logs: LogLine[] = [];
  for (const { name, value } of secretsOf(vars)) secret(name, value);

  const settings = { build, storage, ownStorage, vars, rateLimits, compatibilityFlags: options.compatibilityFlags ?? [], hasTwin: options.hasTwin ?? false, services: options.services ?? {}, assets: options.assets ?? false, hasDev: options.hasDev ?? false, notes: options.notes ?? false, entryText: await entryText(build, options), logs };
  let instance: Instance | undefined = await launch({ ...settings, port });
  const { url } = instance;

  const end = async (): Promise<void> => {
    const ending = instance;
    instance = undefined;
    await ending?.dispose();
  };

  const noted = async <Noted>(what: string): Promise<Noted[]> => {
    if (!settings.notes) throw new Error("this Worker was started without notes");
    return (await (await fetch(`${url}/_test/${what}`)).json()) as Noted[];
  };

  return {
    url,
    logs,
    get twin() {
      if (instance?.twin === undefined) throw new Error("there is no twin, or it is not running");
      return instance.twin;
    },
    get pid() {
      if (instance?.workerd.pid === undefined) throw new Error("the worker is not running");
      return instance.workerd.pid;
    },
    async kill9() {
      instance?.workerd.kill("SIGKILL");
      await end();
    },
    async restart() {
      await end();
      instance = await launch({ ...settings, port });
    },
    async evict(taskId, webSockets = "hibernate") {
      if (instance === undefined) throw new Error("the worker is not running");
      await instance.miniflare.unsafeEvictDurableObject(config.name, taskClass, { id: taskId, webSockets });
    },
    async cron() {
      const answer = await fetch(`${url}/cdn-cgi/local/scheduled`);
      if (!answer.ok) throw new Error(`the cron trigger failed: ${answer.status} ${await answer.text()}`);
    },
    async enqueue(binding, text) {
      if (instance === undefined) throw new Error("the worker is not running");
      const queue = await instance.miniflare.getQueueProducer(binding);
      await queue.send(text, { contentType: "text" });
    },
    async d1() {
      if (instance === undefined) throw new Error("the worker is not running");
      return instance.miniflare.getD1Database("DB");
    },
    async index(owner = "anonymous", kind = vars["INDEX"], shard = 0) {
      if (instance === undefined) throw new Error("the worker is not running");
      if (kind !== "objects" && kind !== "directory") return instance.miniflare.getD1Database("DB");
      const objects = await instance.miniflare.getDurableObjectNamespace("TASKS");
      return databaseOf(objects.get(objects.idFromName(JSON.stringify({ index: kind === "directory" ? [] : [owner, shard] }))));
    },
    statements: () => noted<NotedStatement>("statements"),
    given: () => noted<string>("given"),
    async stop() {
      await end();
      // If no run of all specs searches the logs, each spec searches its own.
      if (runFolder === undefined) {
        const leaks = leaksIn(logs.map(({ message }) => message).join("\n"), secrets);
        if (leaks.length > 0) throw new Error(`the log holds secrets: ${leaks.join(", ")}`);
      }
      if (ownStorage) rmSync(storage, { recursive: true, force: true });
    },
  };
}

async function entryText(build: string, { entry: path, agents }: WorkerOptions): Promise<string | undefined> {
  if (!hasEngine(build)) return undefined;
  return entry(build, path, agents);
}

interface Launch {
  build: string;
  storage: string;
  ownStorage: boolean;
  vars: Record<string, string>;
  rateLimits: Record<string, { namespace_id: string; simple: { limit: number; period: number } }>;
  compatibilityFlags: string[];
  hasTwin: boolean;
  services: Record<string, string>;
  assets: boolean | string;
  hasDev: boolean;
  notes: boolean;
  /** The entry module; undefined where the build is one module. */
  entryText: string | undefined;
  logs: LogLine[];
  port: number;
}

interface Instance {
  miniflare: Miniflare;
  workerd: ChildProcess;
  url: string;
  twin: string | undefined;
  dispose(): Promise<void>;
}

/** One launch at a time; otherwise two launches could not assign the processes. */
let launching: Promise<unknown> = Promise.resolve();

function launch(settings: Launch): Promise<Instance> {
  const instance = launching.then(() => launchNow(settings));
  launching = instance.catch(() => undefined);
  return instance;
}

async function launchNow({ build, storage, ownStorage, vars, rateLimits, compatibilityFlags, hasTwin, services, assets: served, hasDev, notes, entryText, logs, port }: Launch): Promise<Instance> {
  // Without the variables of wrangler.toml and .dev.vars, which may contain anything.
  const { modulesRules: _, bindings: __, assets, ...worker } = config.workerOptions;
  const module = (type: string, name: string) => ({ type, path: join(build, name), contents: readFileSync(join(build, name)) });
  // Each module imports the following one.
  const before = (name: string, contents: string) => ({ type: "ESModule", path: join(build, name), contents });
  const development = hasDev ? [before("development.js", await developmentModule())] : [];
  const product = entryText === undefined ? [module("ESModule", "index.js")] : [before("index.js", entryText), module("ESModule", "engine.js")];
  const noting = readFileSync(join(root, "tests", "e2e", "noting.js"), "utf8");
  const noted = notes ? [before("noting.js", hasDev ? noting.replaceAll("./index.js", "./development.js") : noting)] : [];
  const one = {
    ...worker,
    name: config.name,
    rootPath: root,
    modulesRoot: build,
    modules: [...noted, ...development, ...product, module("CompiledWasm", "index_bg.wasm")],
    compatibilityFlags: [...(worker.compatibilityFlags ?? []), ...compatibilityFlags],
    bindings: vars,
    ratelimits: rateLimits,
    ...(served !== false && { assets: { ...assets, ...(typeof served === "string" && { directory: served }) } }),
    serviceBindings: Object.fromEntries(Object.keys(services).map((binding) => [binding, { name: serviceName(binding) }])),
  };
  const { compatibilityDate } = config.workerOptions;
  const bound = Object.entries(services).map(([binding, script]) => ({
    name: serviceName(binding), compatibilityDate, modulesRoot: root,
    modules: [{ type: "ESModule", path: join(root, "service.js"), contents: script }],
  }));
  const options = miniflareModule.convertV4MiniflareOptions({
    workers: [one, ...(hasTwin ? [twinOf(one)] : []), ...bound],
    host: "127.0.0.1",
    port,
    cf: false,
    unsafeTriggerHandlers: true,
    resourcePersistencePath: storage,
  });

  // Miniflare does not expose the process of its workerd; Node's own report of new processes does.
  const children: ChildProcess[] = [];
  const onChild = (event: unknown): void => void children.push((event as { process: ChildProcess }).process);
  subscribe("child_process", onChild);
  try {
    const miniflare = new miniflareModule.Miniflare({
      ...options,
      log: new miniflareModule.NoOpLog(),
      handleStructuredLogs: ({ level, message }: LogLine) => {
        logs.push({ level, message });
        note("log", `${message}\n`);
        if (process.env["A2A_LOGS"]) process.stderr.write(`[worker ${level}] ${message}\n`);
      },
    });
    const url = await miniflare.ready;
    const workerd = children.find((child) => child.spawnfile.includes("workerd"));
    if (workerd?.pid === undefined) throw new Error("workerd was not found among the processes started");
    const watchdog = watch(workerd.pid, ownStorage ? storage : "");
    const instance: Instance = {
      miniflare,
      workerd,
      url: url.origin,
      twin: hasTwin ? (await miniflare.unsafeGetDirectURL(TWIN)).origin : undefined,
      async dispose() {
        await miniflare.dispose();
        if (workerd.exitCode === null && workerd.signalCode === null) await once(workerd, "exit");
        watchdog.kill("SIGKILL");
      },
    };
    await migrate(miniflare, storage);
    return instance;
  } finally {
    unsubscribe("child_process", onChild);
  }
}

/** The same Worker under another name, with its own port and queues. */
function twinOf<One extends Pick<WorkerConfig, "queueProducers" | "queueConsumers">>(one: One): One & { name: string } {
  const own = (queue: string): string => `${queue}-${TWIN}`;
  const producers = Object.entries(one.queueProducers).map(([binding, producer]) => [binding, { ...producer, queueName: own(producer.queueName) }]);
  const consumers = Object.entries(one.queueConsumers).map(([queue, { deadLetterQueue, ...consumer }]) => [
    own(queue), { ...consumer, ...(deadLetterQueue !== undefined && { deadLetterQueue: own(deadLetterQueue) }) },
  ]);
  const queues = { queueProducers: Object.fromEntries(producers), queueConsumers: Object.fromEntries(consumers) };
  return { ...one, ...queues, name: TWIN, unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }] };
}

const TWIN = "twin";

/** The name of the Worker behind a binding. */
const serviceName = (binding: string): string => `service-${binding.toLowerCase()}`;

/** Applies the migrations that this storage has not seen yet. */
async function migrate(miniflare: Miniflare, storage: string): Promise<void> {
  const folder = join(root, "migrations");
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".sql")).sort() : [];
  const record = join(storage, "migrations.json");
  const applied: string[] = existsSync(record) ? (JSON.parse(readFileSync(record, "utf8")) as string[]) : [];
  const pending = files.filter((name) => !applied.includes(name));
  if (pending.length === 0) return;

  const database = await miniflare.getD1Database("DB");
  for (const name of pending) {
    const statements = wranglerModule.unstable_splitSqlQuery(readFileSync(join(folder, name), "utf8"));
    await database.batch(statements.map((statement) => database.prepare(statement)));
  }
  mkdirSync(storage, { recursive: true });
  writeFileSync(record, JSON.stringify(files));
}

/** Ends `pid` and removes `folder` (if any) when this process has ended: then its end of the pipe closes. */
function watch(pid: number, folder: string): ChildProcess {
  const script = 'read -r _; kill -KILL "$0"; sleep 0.2; [ -z "$1" ] || rm -rf "$1"';
  const watchdog = spawn("sh", ["-c", script, String(pid), folder], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  watchdog.unref();
  return watchdog;
}

// The used part of wrangler's and Miniflare's interfaces. Their own declarations need packages that are not installed.

interface Miniflare {
  readonly ready: Promise<URL>;
  dispose(): Promise<void>;
  unsafeGetDirectURL(worker: string): Promise<URL>;
  getD1Database(binding: string): Promise<Database>;
  getDurableObjectNamespace(binding: string): Promise<{ idFromName(name: string): unknown; get(id: unknown): Shard }>;
  getQueueProducer(binding: string): Promise<{ send(body: unknown, options: { contentType: string }): Promise<void> }>;
  unsafeEvictDurableObject(script: string, className: string, object: { id: string; webSockets: "close" | "hibernate" }): Promise<void>;
}

/** An object of the index: a shard of an owner, or the directory (js/index-shard.js). */
interface Shard {
  index(request: [sql: string, values: unknown[], place?: []]): Promise<{ rows: object[] }>;
}

/** The tables of an object of the index, like those of D1. */
function databaseOf(shard: Shard): Database {
  const prepare = (sql: string, values: unknown[] = []): Statement => ({
    bind: (...bound) => prepare(sql, bound),
    async run<Row>() {
      // A read leaves an object without tables as it is.
      const { rows } = await shard.index(sql.startsWith("SELECT") ? [sql, values] : [sql, values, []]);
      return { results: [...rows] as Row[], meta: { rows_read: 0, rows_written: 0 } };
    },
  });
  return { prepare: (sql) => prepare(sql), batch: (statements) => Promise.all(statements.map((statement) => statement.run())) };
}

/** The part of a D1 database that tests use. */
export interface Database {
  prepare(statement: string): Statement;
  batch(statements: Statement[]): Promise<unknown>;
}

/** A statement of a `Database`. */
export interface Statement {
  bind(...values: unknown[]): Statement;
  run<Row = Record<string, unknown>>(): Promise<{ results: Row[]; meta: { rows_read: number; rows_written: number } }>;
}

interface MiniflareModule {
  Miniflare: new (options: object) => Miniflare;
  NoOpLog: new () => object;
  convertV4MiniflareOptions(options: object): object;
}

interface WranglerModule {
  unstable_readConfig(args: { config: string }): { name: string };
  unstable_getMiniflareWorkerOptions(path: string): { workerOptions: WorkerConfig };
  unstable_splitSqlQuery(sql: string): string[];
}

interface WorkerConfig {
  compatibilityDate: string;
  compatibilityFlags?: string[];
  modulesRules: unknown;
  bindings: Record<string, unknown>;
  assets?: object;
  durableObjects: Record<string, { className: string }>;
  queueProducers: Record<string, { queueName: string }>;
  queueConsumers: Record<string, { deadLetterQueue?: string }>;
}

const runner = process.ppid;
setInterval(() => process.ppid === runner || process.exit(1), 1000).unref();

// Loading both takes a second, with the cache a third of that.
enableCompileCache();
const require = createRequire(import.meta.url);
const wranglerModule = require("wrangler") as WranglerModule;
const miniflareModule = createRequire(require.resolve("wrangler/package.json"))("miniflare") as MiniflareModule;
const configPath = join(root, "wrangler.toml");
const config = {
  name: wranglerModule.unstable_readConfig({ config: configPath }).name,
  workerOptions: wranglerModule.unstable_getMiniflareWorkerOptions(configPath).workerOptions,
};
const taskClass = config.workerOptions.durableObjects["TASKS"]?.className ?? "TaskObject";
