// The agent of a test, as a test sees it.
import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { isFailure, isRunOver } from "../api/errors.js";
import { millis } from "../api/durations.js";
import { isOwnName } from "../api/env.js";
import { worker } from "../node.js";
import { CallError, Client, isAsking, isEnded, messageParts, shown, shownReply } from "./client.js";
import { McpServers } from "./mcp-servers.js";
import { Platform } from "./platform.js";
import { KIND, callerVariables, checkedAgents, executorTables } from "./project.js";
import { Remotes } from "./remotes.js";

/** @typedef {import("./index.d.ts").TestOptions<any>} TestOptions */
/** @typedef {import("./index.d.ts").TestTask} TestTask */

const OPTIONS = ["settings", "secrets", "env", "caller", "remotes", "mcp", "fetch"];

/** How long a call lets simulated time pass for a run that goes on. */
const PATIENCE_MS = 60_000;

/** The state key of agents of tests: it seals credentials. */
const STATE_KEY = Buffer.alloc(32, 7).toString("base64");

/** How agents begin that are made within `beginning`. @type {AsyncLocalStorage<{ seed: number, now: number }>} */
const given = new AsyncLocalStorage();

/** How many agents the process has made. */
let made = 0;

/**
 * Has the agents that `make` makes begin alike.
 *
 * @template T @param {{ seed: number, now: number }} begin @param {() => Promise<T>} make
 * @returns {Promise<T>}
 */
export const beginning = (begin, make) => given.run(begin, make);

/** What is inside of agents, for `survivesCrashes`. @type {WeakMap<object, { platform: Platform, results(): Promise<TestTask[]> }>} */
const insides = new WeakMap();

/** @param {object} agent */
export function insideOf(agent) {
  const inside = insides.get(agent);
  if (inside === undefined) throw new TypeError("this is no agent of testAgent()");
  return inside;
}

/**
 * Makes an agent with an executor.
 *
 * @param {any} executor @param {TestOptions} [options]
 */
export async function testAgent(executor, options = {}) {
  if (typeof executor?.execute !== "function") throw new TypeError("testAgent() takes an executor: executor({ execute(turn) { … } })");
  const settings = options.settings ?? {};
  const { platform, caller } = await started({ executors: { [KIND]: executor }, tables: executorTables(settings), options });
  const agent = new Agent(platform, new Client(platform, caller));
  insides.set(agent, { platform, results: () => agent.results() });
  return agent;
}

/**
 * A platform with a Worker that has one agent.
 *
 * @param {{ executors?: Record<string, any>, tools?: Record<string, any>, tables: string, options: TestOptions }} parts
 */
export async function started({ executors = {}, tools = {}, tables, options }) {
  const unknown = Object.keys(options).find((name) => !OPTIONS.includes(name));
  if (unknown !== undefined) throw new TypeError(`there is no option ${JSON.stringify(unknown)}; there are: ${OPTIONS.join(", ")}`);
  const { secrets = {}, env = {}, caller, remotes = {}, mcp = {}, fetch: answer } = options;
  made += 1;
  const { seed, now } = given.getStore() ?? { seed: made, now: Date.now() };
  const agents = checkedAgents({ executor: tables, caller, remotes: Object.keys(remotes), mcp: Object.keys(mcp), now });
  const [agentsElsewhere, mcpServers] = [new Remotes(remotes), new McpServers(mcp)];
  const token = randomUUID();
  /** @type {Platform} */
  const platform = new Platform({
    entry: () => worker({ agents, tools: noted(platform, tools), executors: noted(platform, executors) }),
    variables: { ...OWN_VARIABLES, DEV_TOKEN: token, ...callerVariables },
    env: { ...named(secrets, "secrets"), ...named(env, "env") },
    answer,
    elsewhere: (request) => agentsElsewhere.answer(request) ?? mcpServers.answer(request),
    seed,
    now,
  });
  await refuseMisfit(platform, token);
  return { platform, caller };
}

const OWN_VARIABLES = { DEVELOPMENT: "true", STATE_KEY };

/** Variables of the engine may be set, such as RUN_TIMEOUT_MS, but not its bindings. */
const BINDINGS = ["TASKS", "DB", "WEBHOOKS", "DEAD_LETTERS", "DELETIONS", "ASSETS"];

/** @param {Record<string, unknown>} values @param {string} option */
function named(values, option) {
  const binding = BINDINGS.find((name) => Object.hasOwn(values, name));
  if (binding !== undefined) throw new TypeError(`${option}.${binding} belongs to a2a-edge, which test agents bring`);
  const own = option === "secrets" ? Object.keys(values).find(isOwnName) : undefined;
  if (own !== undefined) throw new TypeError(`secrets.${own} belongs to a2a-edge, and runs do not see it; set it by the option env`);
  return values;
}

/** Functions that tell the platform which errors they have thrown. @param {Platform} platform @param {Record<string, any>} functions */
function noted(platform, functions) {
  return Object.fromEntries(Object.entries(functions).map(([name, one]) => [name, { ...one, execute: noting(platform, one) }]));
}

/** @param {Platform} platform @param {any} owner */
function noting(platform, owner) {
  const note = (/** @type {unknown} */ error) => {
    if (!isFailure(error) && !isRunOver(error)) platform.noteThrown(error);
    throw error;
  };
  return (/** @type {unknown[]} */ ...args) => {
    try {
      const result = owner.execute(...args);
      return result instanceof Promise ? result.catch(note) : result;
    } catch (error) {
      return note(error);
    }
  };
}

/** Throws if the Worker cannot serve the agent: settings or a tool do not fit. @param {Platform} platform @param {string} token */
async function refuseMisfit(platform, token) {
  const headers = { authorization: `Bearer ${token}` };
  const { status, text } = await platform.request(() => new Request("https://agent.test/_dev/agents", { headers }));
  if (status !== 200) throw new Error(`the Worker does not start: ${text}\n${platform.log.slice(-5).join("\n")}`);
  const [misfit] = JSON.parse(text).unusable;
  if (misfit !== undefined) throw new Error(misfit.reason);
}

class Agent {
  #platform;
  #client;
  /** The ids of all tasks. @type {Set<string>} */
  #tasks = new Set();
  /** The id of the last task. @type {string | undefined} */
  #taskId;
  /** What is known of it. @type {TestTask | undefined} */
  #last;

  /** @param {Platform} platform @param {Client} client */
  constructor(platform, client) {
    this.#platform = platform;
    this.#client = client;
  }

  get fetched() {
    return this.#platform.fetched;
  }

  /** @param {import("../index.d.ts").Content} content @param {import("./index.d.ts").SendOptions} [options] */
  async send(content, { metadata, acceptedOutputModes, webhook } = {}) {
    const last = this.#taskId === undefined ? this.#last : await this.#look();
    const goesOn = last !== undefined && !isEnded(last.state);
    const messageId = this.#client.nextMessageId();
    const message = {
      messageId, role: "ROLE_USER", parts: messageParts(content),
      ...(goesOn && { taskId: last.id }), ...(last?.contextId && { contextId: last.contextId }),
    };
    const configuration = { ...(acceptedOutputModes && { acceptedOutputModes }), ...(webhook && { taskPushNotificationConfig: { url: webhook } }) };
    const answer = await this.#client.call("SendMessage", { message, configuration, ...(metadata && { metadata }) }, goesOn ? undefined : messageId);
    this.#taskId = answer.task?.id;
    if (this.#taskId !== undefined) this.#tasks.add(this.#taskId);
    this.#last = answer.task === undefined ? shownReply(answer.message) : shown(answer.task);
    await this.#settle();
    return this.#told();
  }

  async cancel() {
    const id = this.#known();
    try {
      await this.#client.call("CancelTask", { id });
    } catch (error) {
      // It was canceled before a crash, and is asked for again.
      if (!(error instanceof CallError && (await this.#look()).state === "canceled")) throw error;
    }
    await this.#goOn();
    return this.#told();
  }

  /** @param {import("../index.d.ts").Duration} time */
  async pass(time) {
    await this.#platform.pass(this.#platform.clock.now + millis(time));
    return this.#told();
  }

  /** @param {string} [beforeEndOf] */
  async crash(beforeEndOf) {
    if (beforeEndOf === undefined) return this.#platform.crash();
    const { watch } = this.#platform;
    this.#platform.watch = (place) => {
      const isHere = place.kind === "end" && place.name === beforeEndOf;
      if (isHere) this.#platform.watch = watch;
      return (watch?.(place) ?? false) || isHere;
    };
  }

  /** @param {string} url @param {import("../index.d.ts").Json} body */
  async post(url, body) {
    const isTaken = await this.#client.post(url, body);
    if (this.#taskId !== undefined) {
      await this.#goOn();
      await this.#told();
    }
    return isTaken;
  }

  task() {
    this.#known();
    return /** @type {TestTask} */ (this.#last);
  }

  /** All tasks and replies, once their runs have ended, ask, or have nothing to do for a minute. */
  async results() {
    if (this.#taskId !== undefined) await this.#goOn();
    const tasks = [];
    for (const id of this.#tasks) tasks.push(await this.#look(id));
    return this.#last?.state === "replied" ? [...tasks, this.#last] : tasks;
  }

  /** Lets the run go on until it has ended, asks, or has nothing to do for a minute. */
  async #goOn() {
    const end = this.#platform.clock.now + PATIENCE_MS;
    await this.#platform.pass(end, async () => {
      const { state } = await this.#look();
      return isEnded(state) || isAsking(state);
    });
    await this.#settle();
  }

  /** Lets what is due now be done, such as notifications. */
  #settle() {
    return this.#platform.pass(this.#platform.clock.now);
  }

  #known() {
    if (this.#taskId !== undefined) return this.#taskId;
    const hasReplied = this.#last !== undefined;
    throw new Error(`there is no task${hasReplied ? ": the agent has replied with a message" : " yet: send a message first"}`);
  }

  /** A task as the Worker tells it. */
  async #look(id = this.#known()) {
    const task = shown(await this.#client.call("GetTask", { id }));
    if (id === this.#taskId) this.#last = task;
    return task;
  }

  /** The task, unless a function has thrown an error since the test was told last. @returns {Promise<TestTask>} */
  async #told() {
    const task = this.#taskId === undefined && this.#last !== undefined ? this.#last : await this.#look();
    const [error] = this.#platform.errors.splice(0);
    if (error !== undefined) throw error;
    return task;
  }
}
