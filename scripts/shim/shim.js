// Connects the platform with the glue that wasm-bindgen generates; this is the beginning of the engine, the bundle that the entry module
// of every Worker imports.
//
// A panic ends the call in which it occurs, and restarts the Durable Object whose call that is; panics of executors are caught before (src/panic.rs). The
// WebAssembly instance is replaced only if a panic has made it unusable, and when the Worker is started again. Objects of the old instance are then
// useless, so a Durable Object is created again inside of the object that the platform holds. The `worker` crate counts the instances in
// `state.instanceId`.
import { DurableObject } from "cloudflare:workers";
import { __wbg_reset_state as replaceInstance, __worker_init_state as initState } from "./index.js";

// The default of ten lines is too short to show where a panic comes from.
Error.stackTraceLimit = 100;

const state = initState();

/** Connects the exports of the glue with the platform, by the functions of js/panic.js. */
export function connect(glue, { giveInstance, noteStop, recover, restart }) {
  giveInstance(glue);

  function renewInstance() {
    replaceInstance();
    state.instanceId += 1;
    giveInstance(glue);
  }

  /** Answers an event of the platform, which occurs while no other call is under way. `stopped` is called if a panic has stopped the call. */
  function enter(call, stopped = () => {}) {
    if (!recover()) renewInstance();
    try {
      return call();
    } catch (error) {
      if (noteStop(error)) stopped();
      throw error;
    }
  }

  return {
    /**
     * Makes the function that starts a Worker with its agents and its functions, and gives its event handlers. `give` and `giveFunctions` pass both to the
     * module. The module and the checker that wrote the agents are of one version of a2a-edge; otherwise the Worker does not start.
     *
     * A bundler that puts changed modules into a running Worker (Vite) starts it again. An instance has what it was started with, so it is replaced then;
     * tasks under way resume, as after a deploy.
     */
    starter({ give, giveFunctions }, events) {
      let isStarted = false;
      return (agents, functions) => {
        if (typeof agents?.index !== "string") {
          throw new Error('The agents are missing: pass the default export of "#agents", the file .a2a-edge/agents.js, which npx a2a-edge build writes.');
        }
        const own = glue.engineVersion();
        if (agents.version !== own) {
          throw new Error(`The agents were checked by a2a-edge ${agents.version}, but this Worker is a2a-edge ${own}. Run: npm install, and then: npx a2a-edge build`);
        }
        if (isStarted) renewInstance();
        isStarted = true;
        give(agents);
        giveFunctions(functions);
        return Object.fromEntries(events.map((name) => [name, (...args) => enter(() => glue[name](...args))]));
      };
    },

    /** The class whose objects the platform creates; each contains an object of the class with this name. */
    durable(name) {
      const Class = glue[name];
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
              return enter(() => this.#current()[name](...args), () => restart(this.ctx));
            };
          }
        }
      }
      return Hosted;
    },
  };
}

