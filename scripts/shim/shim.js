// What stands between the platform and the glue that wasm-bindgen makes; the bundle of every Worker begins here.
//
// After an abort the glue puts a new WebAssembly instance in the place of the old one. Objects of the old instance are
// then useless, so a Durable Object is made anew inside of the one that the platform holds. The `worker` crate counts
// the instances in `state.instanceId`. ABORTS is a constant of the bundle: true in builds in which a panic aborts.
import { DurableObject } from "cloudflare:workers";
import { __wbg_reset_state as replaceInstance, __worker_init_state as initState } from "./index.js";

// Ten lines are too few to see where a panic comes from.
Error.stackTraceLimit = 100;

const state = initState();

/** The Worker's event handlers. */
export function handlers(functions) {
  const entries = Object.entries(functions);
  return Object.fromEntries(entries.map(([name, call]) => [name, (event, env, ctx) => enter(() => call(event, env, ctx))]));
}

/** The class that the platform makes objects of; each has one of `Class` inside. */
export function durable(Class) {
  class Hosted extends DurableObject {
    #args;
    #inner;
    #instanceId;

    constructor(...args) {
      super(...args);
      this.#args = args;
      enter(() => this.#current());
    }

    #current() {
      if (this.#instanceId !== state.instanceId) {
        this.#inner = new Class(...this.#args);
        this.#instanceId = state.instanceId;
      }
      return this.#inner;
    }

    static {
      // Of what is there, these belong to wasm-bindgen.
      const own = (name) => name !== "constructor" && name !== "free" && !name.startsWith("__");
      for (const name of Object.getOwnPropertyNames(Class.prototype).filter(own)) {
        Hosted.prototype[name] = function (...args) {
          return enter(() => this.#current()[name](...args));
        };
      }
    }
  }
  return Hosted;
}

/** Calls into the instance; one that a panic has aborted is replaced before and noticed after the call. */
function enter(call) {
  if (!ABORTS) return call();
  if (state.criticalError) {
    replaceInstance();
    state.criticalError = false;
    state.instanceId += 1;
  }
  try {
    const answer = call();
    return typeof answer?.then === "function" ? answer.then(undefined, fail) : answer;
  } catch (error) {
    return fail(error);
  }
}

function fail(error) {
  note(error);
  throw error;
}

function note(error) {
  if (error instanceof WebAssembly.RuntimeError) state.criticalError = true;
}

if (ABORTS) addEventListener("error", (event) => note(event.error));
