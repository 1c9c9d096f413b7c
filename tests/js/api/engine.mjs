// Runs functions of "a2a-edge" with a double of the engine, which keeps what runs say, and the outcomes of their steps, as a task does.
import { registerHooks } from "node:module";

const doubles = new URL("./fake-engine.mjs", import.meta.url).href;
registerHooks({
  resolve: (specifier, context, next) =>
    ["a2a-edge/engine", "cloudflare:workers"].includes(specifier) ? { url: doubles, shortCircuit: true } : next(specifier, context),
});

export const { Failure, RunOver, TaskObject, executor, tool, worker } = await import("../../../js/index.js");
const { started, tasks, handled, env } = await import("./fake-engine.mjs");
export { env, handled, started };

export const AGENTS = { version: "1", index: "{}", agents: {} };

/** What the engine is given for these tools and executors. */
export function functionsOf(parts) {
  worker({ agents: AGENTS, ...parts });
  return started.functions;
}

let newest = 0;

/** A task: what was said, the outcomes of steps, and how waits end. */
export class Task {
  said = [];
  steps = new Map();
  /** What `wait` answers, in order; `parks` without one. */
  woken = [];
  posted = [];
  messages = [];
  secrets = { SHOP_KEY: "a secret" };
  asked = [];
  /** Answers of other functions of the bridge, by their names. */
  answers = {};

  constructor(parts, turn = {}) {
    this.functions = functionsOf(parts);
    this.turn = {
      agent: "shop", taskId: "task-1", contextId: "context-1", number: 1, attempt: 1, resumes: false, deadline: Date.now() + 60_000, message: message("hello"),
      caller: { id: "ada", owner: "team", permissions: ["buy"] }, idempotencyKey: "key", acceptedOutputModes: [], isDevelopment: false, ...turn,
    };
  }

  /** The kind of the first executor. */
  get kind() {
    return JSON.parse(this.functions.describe()).executors[0].kind;
  }

  /** Begins an attempt. */
  begin(settings = {}, kind = this.kind) {
    const run = new Run(this);
    run.end = this.functions.execute(kind, run.number, JSON.stringify(this.turn), JSON.stringify(settings));
    return run;
  }

  /** Executes to the end; gives the error that was thrown, if any. */
  async execute(settings) {
    const run = this.begin(settings);
    const end = await run.end;
    run.over("over");
    return end === "" ? undefined : JSON.parse(end);
  }

  /** Calls `onCancel` to its end. */
  async cancel(settings = {}) {
    const run = new Run(this);
    const end = await this.functions.cancel(this.kind, run.number, JSON.stringify(this.turn), JSON.stringify(settings));
    run.over("over");
    return end === "" ? undefined : JSON.parse(end);
  }

  /** Calls a tool to its end. */
  async call(name, args = {}) {
    const run = new Run(this);
    const call = { ...this.turn, toolCallId: "2.1", message: undefined };
    const end = await this.functions.callTool(name, run.number, JSON.stringify(args), JSON.stringify(call));
    run.over("over");
    return JSON.parse(end);
  }

  /** The text of an artifact as chunks have made it. */
  artifact(id) {
    let text;
    for (const verb of this.said.filter((verb) => verb.id === id)) {
      const own = verb.text ?? verb.parts.map((part) => part.text ?? "").join("");
      text = verb.do === "artifact" ? own : text + own;
    }
    return text;
  }
}

/** A run of a task: one attempt, or a call. */
export class Run {
  #counts = new Map();
  #why;

  constructor(task) {
    this.task = task;
    this.number = ++newest;
    tasks.set(this.number, this);
  }

  /** Ends the run, as the engine does. */
  over(why) {
    this.#why = why;
    if (why !== "canceled") tasks.delete(this.number);
    this.task.functions.over(this.number, why);
  }

  answer(name, args) {
    if (this.#why !== undefined) throw `~${this.#why}`;
    this.task.asked.push([name, ...args]);
    const given = this.task.answers[name];
    if (given !== undefined) return typeof given === "function" ? given(...args) : given;
    return this[`_${name}`](...args);
  }

  _say(json) {
    const verb = JSON.parse(json);
    this.task.said.push(verb);
  }

  _progress(text) {
    this.task.said.push({ do: "working", text });
  }

  _append(id, text, last) {
    this.task.said.push({ do: "append", id, text, last });
  }

  #begin(name) {
    const nth = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, nth);
    return JSON.stringify(this.task.steps.get(`${name}#${nth}`) ?? { new: nth });
  }

  _beginStep(name) {
    return this.#begin(name);
  }

  _beginWrite(id) {
    return this.#begin(`write ${id}`);
  }

  _endStep(name, nth, isDone, outcome) {
    if (isDone && outcome.length > 1_000) {
      this.task.steps.set(`${name}#${nth}`, { failed: "too large" });
      throw `the step ${name} gave a result of ${outcome.length} bytes`;
    }
    this.task.steps.set(`${name}#${nth}`, isDone ? { done: JSON.parse(outcome) } : { failed: outcome });
  }

  _wait() {
    const by = this.task.woken.shift() ?? "parks";
    if (by === "parks") this.#why = "parked";
    return by;
  }

  _callback(name) {
    return JSON.stringify({ nth: 1, url: `https://agents.example/${name}`, expires: 1 });
  }

  _takeCall() {
    return JSON.stringify(this.task.posted.shift());
  }

  _nextMessage() {
    return Promise.resolve(JSON.stringify(this.task.messages.shift()));
  }

  _history() {
    return JSON.stringify([this.task.turn.message]);
  }

  _task() {
    if (this.task.said.length === 0) return "";
    const ids = new Set(this.task.said.flatMap(({ id }) => (id === undefined ? [] : [id])));
    return JSON.stringify({ id: this.task.turn.taskId, artifacts: [...ids].map((artifactId) => ({ artifactId, parts: [{ text: this.task.artifact(artifactId) }] })) });
  }

  _secret(name) {
    if (!(name in this.task.secrets)) throw `the secret ${name} is not set, or empty`;
    return this.task.secrets[name];
  }

  _fetchHeaders() {
    return JSON.stringify({ traceparent: "00-1-2-01" });
  }

  _recordUsage() {}
}

/** A message of a client. */
export const message = (...parts) => ({
  messageId: "m", role: "ROLE_USER", parts: parts.map((part) => (typeof part === "string" ? { text: part } : part)),
});

/** Waits until everything that can go on has gone on. */
export const settled = () => new Promise((resolve) => setImmediate(resolve));
