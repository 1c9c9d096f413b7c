// Who runs: each call into an agent, and all that follows from it, knows the platform on which the agent runs.
import { AsyncLocalStorage } from "node:async_hooks";

/**
 * Whose code runs. Without an isolate it is code of the test that the agent has called, such as the function that answers requests.
 *
 * @typedef {object} Context
 * @property {import("./platform.js").Platform} platform
 * @property {import("./isolate.js").Isolate} [isolate]
 * @property {import("./isolate.js").Run} [run] The run of an executor or a tool whose code this is.
 * @property {import("./quiet.js").Work} [work] The work of the test that is waited for.
 */

/** @type {AsyncLocalStorage<Context>} */
const contexts = new AsyncLocalStorage();

/** The context of the running code; undefined in the test itself. */
export const current = () => contexts.getStore();

/** Calls `work` in a context. @template T @param {Context} context @param {() => T} work @returns {T} */
export const within = (context, work) => contexts.run(context, work);
