// One life of the Worker: an instance of the engine with all that it has in memory. A crash ends it, and the next request or alarm has a new one.
import { within } from "./context.js";
import { D1Database } from "./d1.js";
import { newEngine } from "./engine-module.js";
import { register, taking } from "./engine.js";
import { scopeOf } from "./globals.js";
import { DurableObjectNamespace, objectContext } from "./objects.js";
import { queueNames } from "./queues.js";

/** What functions of the bridge throw where the run is over; of a run that has ended so, no promise settles any more. */
const GONE = "~parked";

/** A run of an executor or a tool, as the harness sees it. */
export class Run {
  /** The steps that have begun and not ended, each with its number among those of its name. @type {Map<string, import("./platform.js").Step>} */
  openSteps = new Map();

  /** @param {number} number @param {string} key What is the same for all attempts at the same work, and for nothing else. */
  constructor(number, key) {
    this.number = number;
    this.key = key;
  }
}

export class Isolate {
  isAlive = true;
  platform;
  /** The environment of the engine. */
  env;
  /** The environment of the project. */
  project;
  handlers;
  #engine;
  #number;
  /** @type {Map<string, any>} */
  #objects = new Map();
  /** @type {Map<number, Run>} */
  #runs = new Map();
  /** @type {Set<number>} */
  #timers = new Set();
  /** @type {any} */
  #functions;
  /** @type {() => void} */
  #die = () => {};

  /** Settles when the isolate has ended. @type {Promise<undefined>} */
  died = new Promise((resolve) => {
    this.#die = () => resolve(undefined);
  });

  /** `ctx` of events. */
  event = {
    waitUntil: (/** @type {Promise<unknown>} */ promise) => void Promise.resolve(promise).catch((error) => this.platform.noteLog([error])),
    passThroughOnException() {},
  };

  /** @param {import("./platform.js").Platform} platform @param {import("./platform.js").Parts} parts */
  constructor(platform, { variables, env, entry }) {
    this.platform = platform;
    this.#number = register(this);
    this.project = env;
    this.env = {
      ...variables,
      ...env,
      DB: new D1Database(this, platform.database),
      TASKS: new DurableObjectNamespace(this),
      ...Object.fromEntries(queueNames.map((name) => [name, platform.queues.binding(this, name)])),
    };
    this.#engine = this.within(() => newEngine(scopeOf(this), { DurableObject, waitUntil: this.event.waitUntil, env: this.env }));
    const start = (/** @type {unknown} */ agents, /** @type {any} */ functions) => this.#engine.start(agents, functions && this.#joined(functions));
    this.handlers = this.within(() => taking({ start, env }, entry));
  }

  /** Ends everything that the isolate has in memory. Nothing of it has an effect any more. */
  end() {
    this.isAlive = false;
    for (const timer of this.#timers) this.platform.clock.clear(timer);
    this.#objects.clear();
    // No promise of a run settles any more, so that its function does not go on.
    for (const number of this.#runs.keys()) this.#functions?.over(this.#outer(number), GONE.slice(1));
    this.#runs.clear();
    this.#die();
  }

  /**
   * A promise that settles as another one, but not after the end of the isolate.
   *
   * @template T @param {Promise<T> | T} promise
   * @returns {Promise<T>}
   */
  alive(promise) {
    return new Promise((resolve, reject) => {
      Promise.resolve(promise).then((value) => this.isAlive && resolve(value), (error) => this.isAlive && reject(error));
    });
  }

  /** Calls into the isolate. @template T @param {() => T} work @param {Run} [run] @returns {T} */
  within(work, run) {
    return within(run === undefined ? { platform: this.platform, isolate: this } : { platform: this.platform, isolate: this, run }, work);
  }

  /** Sets a timer that ends with the isolate. @param {() => void} work @param {unknown} ms @returns {number} */
  setTimer(work, ms) {
    if (!this.isAlive) return 0;
    const id = this.platform.clock.set(() => {
      this.#timers.delete(id);
      work();
    }, ms);
    this.#timers.add(id);
    this.platform.quiet.note();
    return id;
  }

  /** The object with this id. @param {string} hex */
  object(hex) {
    let object = this.#objects.get(hex);
    if (object === undefined) {
      object = new this.#engine.TaskObject(objectContext(this, hex), this.env);
      this.#objects.set(hex, object);
    }
    return object;
  }

  /** Restarts the object with this id: the next call creates it again. @param {string} hex */
  forget(hex) {
    this.#objects.delete(hex);
  }

  /**
   * Calls a function of the bridge for a run.
   *
   * @param {string} name @param {number} number The number of the run in this isolate. @param {any[]} args
   */
  call(name, number, args) {
    if (!this.isAlive) throw GONE;
    const { platform } = this;
    platform.quiet.note();
    const run = this.#runs.get(number);
    if (name === "endStep" && run !== undefined) this.#beforeEnd(run, args);
    if (name === "progress" && args[0] !== undefined) platform.progress.push(args[0]);
    const answer = /** @type {any} */ (this.#engine.bridge)[name](number, ...args);
    if (name === "beginStep" && run !== undefined) this.#afterBegin(run, args[0], answer);
    if (name === "beginWrite" && run !== undefined) this.#afterBegin(run, `write ${args[0]}`, answer);
    return answer instanceof Promise ? this.alive(answer) : answer;
  }

  /** @param {Run} run @param {any[]} args */
  #beforeEnd(run, [name, nth]) {
    this.platform.reach({ kind: "end", name }, this);
    if (!this.isAlive) throw GONE;
    this.platform.endStep(run, name, nth);
  }

  /** @param {Run} run @param {string} name @param {string} answer */
  #afterBegin(run, name, answer) {
    const { new: nth } = JSON.parse(answer);
    if (nth === undefined) return;
    this.platform.beginStep(run, name, nth);
    this.platform.reach({ kind: "begin", name }, this);
    if (!this.isAlive) throw GONE;
  }

  /** The functions of the project as the engine of this isolate calls them. @param {any} functions */
  #joined(functions) {
    this.#functions = functions;
    return {
      describe: () => functions.describe(),
      checkSettings: (/** @type {string} */ kind, /** @type {string} */ settings) => functions.checkSettings(kind, settings),
      execute: (/** @type {string} */ kind, /** @type {number} */ number, /** @type {string} */ turn, /** @type {string} */ settings) =>
        this.#begin(number, turnKey(turn), (outer) => functions.execute(kind, outer, turn, settings)),
      cancel: (/** @type {string} */ kind, /** @type {number} */ number, /** @type {string} */ turn, /** @type {string} */ settings) =>
        this.#begin(number, `${turnKey(turn)} cancel`, (outer) => functions.cancel(kind, outer, turn, settings)),
      callTool: (/** @type {string} */ name, /** @type {number} */ number, /** @type {string} */ args, /** @type {string} */ call) =>
        this.#begin(number, JSON.parse(call).idempotencyKey, (outer) => functions.callTool(name, outer, args, call)),
      over: (/** @type {number} */ number, /** @type {string} */ why) => {
        if (why !== "canceled") this.#runs.delete(number);
        functions.over(this.#outer(number), why);
      },
    };
  }

  /** @param {number} number @param {string} key @param {(outer: number) => string | Promise<string>} call */
  #begin(number, key, call) {
    const run = new Run(number, key);
    this.#runs.set(number, run);
    const end = this.within(() => call(this.#outer(number)), run);
    this.platform.quiet.note();
    if (typeof end === "string") return this.#ended(end);
    return this.alive(end.then((text) => this.#ended(text)));
  }

  /** @param {string} end */
  #ended(end) {
    if (this.isAlive) this.platform.functionEnded(end);
    return end;
  }

  /** The number by which all code outside of the engine knows a run: those of two isolates differ. @param {number} number */
  #outer(number) {
    return this.#number + number;
  }
}

/** The key of the work of a turn. @param {string} json */
function turnKey(json) {
  const { taskId, number } = JSON.parse(json);
  return `${taskId} turn ${number}`;
}

/** The class of `cloudflare:workers` from which the class of the objects is derived. */
class DurableObject {
  /** @param {unknown} ctx @param {unknown} env */
  constructor(ctx, env) {
    this.ctx = ctx;
    this.env = env;
  }
}
