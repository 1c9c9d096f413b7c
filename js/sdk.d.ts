// The types of "a2a-edge/sdk".
import type { AgentExecutor } from "@a2a-js/sdk/server";
import type { Env, Executor, Turn } from "./index.d.ts";

/**
 * Makes an executor of an `AgentExecutor` of `@a2a-js/sdk` 1.3 or later, unchanged.
 *
 * ```ts
 * import { fromSdk } from "a2a-edge/sdk";
 *
 * export default worker({ agents, executors: { drawing: fromSdk(() => new DrawingAgent()) } });
 * ```
 *
 * `make` is called for each turn. Its events become those of the task: a message is a direct message, a status that ends the turn
 * ends it, and what is published behind that does not count. An executor that returns without such a status fails its task. When
 * the task is canceled, or its time is up, `cancelTask` is called, and `execute` has five seconds to return.
 *
 * In a follow-up, `requestContext.task` is the task with its artifacts and history. Referenced tasks are not loaded. Bytes of
 * `raw` parts are a `Uint8Array`, as in servers of the SDK; `nodejs_compat` is not needed.
 *
 * An executor of the SDK has no steps, so `recovery` is `fail` unless `restart` is given: then an interrupted turn is executed
 * again from the start, and artifacts that begin again replace those of before.
 */
export function fromSdk(make: (env: Env, turn: Turn) => AgentExecutor, options?: { recovery?: "fail" | "restart" }): Executor<{}>;
