// Connects the platform with the glue that wasm-bindgen generates; this is the beginning of the engine, the bundle that the entry module
// of every Worker imports.
//
// After an abort the glue replaces the WebAssembly instance by a new one. Objects of the old instance are then useless,
// so a Durable Object is created again inside of the object that the platform holds. The `worker` crate counts the
// instances in `state.instanceId`. ABORTS is a constant of the bundle: true in builds in which a panic aborts.
import { DurableObject } from "cloudflare:workers";
import { __wbg_reset_state as replaceInstance, __worker_init_state as initState } from "./index.js";

// The default of ten lines is too short to show where a panic comes from.
Error.stackTraceLimit = 100;

const state = initState();

/**
 * Makes the function that starts a Worker with its agents and its functions, and gives its event handlers. `give` and `giveFunctions` pass both to the
 * module. The module and the checker that wrote the agents are of one version of a2a-edge; otherwise the Worker does not start.
 *
 * A bundler that puts changed modules into a running Worker (Vite) starts it again. An instance has what it was started with, so it is replaced then; tasks
 * under way resume, as after a deploy.
 */
export function starter(version, { give, giveFunctions }, events) {
  let isStarted = false;
  return (agents, functions) => {
    if (typeof agents?.index !== "string") {
      throw new Error('The agents are missing: pass the default export of "#agents", the file .a2a-edge/agents.js, which npx a2a-edge build writes.');
    }
    const own = version();
    if (agents.version !== own) {
      throw new Error(`The agents were checked by a2a-edge ${agents.version}, but this Worker is a2a-edge ${own}. Run: npm install, and then: npx a2a-edge build`);
    }
    if (isStarted) renewInstance();
    isStarted = true;
    give(agents);
    giveFunctions(functions);
    return handlers(events);
  };
}

/** The Worker's event handlers. */
const handlers = (events) => entered(events);

/** The same functions of the module, each called as `enter` calls it. */
export function entered(functions) {
  const entries = Object.entries(functions);
  return Object.fromEntries(entries.map(([name, call]) => [name, (...args) => enter(() => call(...args))]));
}

/** The class whose objects the platform creates; each contains an object of `Class`. */
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
      // The other methods belong to wasm-bindgen.
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

/**
 * Calls into the instance. An instance that a panic has aborted is replaced before the call; an abort is detected after
 * it.
 */
function enter(call) {
  if (!ABORTS) return call();
  if (state.criticalError) renewInstance();
  try {
    const answer = call();
    return typeof answer?.then === "function" ? answer.then(undefined, fail) : answer;
  } catch (error) {
    return fail(error);
  }
}

function renewInstance() {
  replaceInstance();
  state.criticalError = false;
  state.instanceId += 1;
}

function fail(error) {
  note(error);
  throw error;
}

function note(error) {
  if (error instanceof WebAssembly.RuntimeError) state.criticalError = true;
}

if (ABORTS) addEventListener("error", (event) => note(event.error));
