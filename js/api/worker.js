// The event handlers of a Worker: those of the engine, behind those of the project.
import { envOf } from "./env.js";
import { functionsOf } from "./functions.js";
import { noteRejection } from "./link.js";
import { divide } from "./queues.js";

/** @typedef {import("../index.d.ts").Handlers} Handlers */
/**
 * @typedef {{ bridge: any, start(agents: any, functions?: any): Handlers, env: object }} Engine What the engine and the platform
 *   give.
 */

const PARTS = ["agents", "tools", "executors", "fetch", "queue"];

/**
 * @param {any} parts What `worker` takes. @param {Engine} engine
 * @returns {Handlers}
 */
export function handlersOf(parts, { bridge, start, env }) {
  const unknown = Object.keys(parts).find((name) => !PARTS.includes(name));
  if (unknown !== undefined) throw new TypeError(`worker() takes ${PARTS.join(", ")}; it was given ${JSON.stringify(unknown)}`);
  const { agents, tools = {}, executors = {}, fetch, queue } = parts;
  for (const [name, handler] of Object.entries({ fetch, queue })) {
    if (handler !== undefined && typeof handler !== "function") throw new TypeError(`${name} of worker() must be a function`);
  }
  const hasFunctions = Object.keys(tools).length > 0 || Object.keys(executors).length > 0;
  const handlers = hasFunctions ? start(agents, functionsOf({ tools, executors }, bridge, env)) : start(agents);
  if (hasFunctions) /** @type {any} */ (globalThis).addEventListener?.("unhandledrejection", noteRejection);
  const ownEnv = envOf(env);
  return {
    ...handlers,
    ...(fetch && { fetch: asked(fetch, handlers, ownEnv) }),
    ...(queue && { queue: divided(queue, handlers, ownEnv) }),
  };
}

/**
 * Asks the project's `fetch` first.
 *
 * @param {any} fetch @param {Handlers} handlers @param {object} ownEnv @returns {Handlers["fetch"]}
 */
function asked(fetch, handlers, ownEnv) {
  return async (request, env, ctx) => {
    const answer = await fetch(request, ownEnv, ctx);
    if (answer !== undefined) return answer;
    if (request.bodyUsed) {
      throw new Error("fetch of worker() has read the body of a request and passed the request on; read request.clone() instead");
    }
    return handlers.fetch(request, env, ctx);
  };
}

/**
 * Gives messages of other queues to the project's `queue`.
 *
 * @param {any} queue @param {Handlers} handlers @param {object} ownEnv @returns {Handlers["queue"]}
 */
function divided(queue, handlers, ownEnv) {
  return async (batch, env, ctx) => {
    const { own, others } = divide(/** @type {any} */ (batch));
    // Each settles its messages also where the other one fails.
    const work = [own && handlers.queue(own, env, ctx), others && (async () => queue(others, ownEnv, ctx))()];
    for (const done of await Promise.allSettled(work)) if (done.status === "rejected") throw done.reason;
  };
}
