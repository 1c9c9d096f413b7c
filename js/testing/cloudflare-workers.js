// `cloudflare:workers` for code of a project that is tested in Node.
import { current } from "./context.js";

/** The base class of objects. */
export class DurableObject {
  /** @param {unknown} ctx @param {unknown} env */
  constructor(ctx, env) {
    this.ctx = ctx;
    this.env = env;
  }
}

/** The base class of entrypoints. */
export class WorkerEntrypoint extends DurableObject {}

/** The base class of workflows. */
export class WorkflowEntrypoint extends DurableObject {}

/** The base class of what is passed by RPC. */
export class RpcTarget {}

/** The environment of the agent whose code asks. @type {any} */
export const env = new Proxy({}, {
  get: (_, name) => Reflect.get(environment(), name),
  has: (_, name) => Reflect.has(environment(), name),
  ownKeys: () => Reflect.ownKeys(environment()),
  getOwnPropertyDescriptor: (_, name) => {
    const found = Reflect.getOwnPropertyDescriptor(environment(), name);
    return found && { ...found, configurable: true };
  },
});

/** @returns {object} */
const environment = () => current()?.isolate?.project ?? {};

/** @param {Promise<unknown>} promise */
export function waitUntil(promise) {
  void Promise.resolve(promise).catch(() => {});
}
