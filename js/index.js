// What a project imports from "a2a-edge": the entry of its Worker, its tools and its executors.
import { TaskObject, bridge, start } from "a2a-edge/engine";
import { env } from "cloudflare:workers";
import { handlersOf } from "./api/worker.js";

export { executor, tool } from "./api/definitions.js";
export { Failure, RunOver } from "./api/errors.js";
export { TaskObject };

/**
 * Makes the event handlers of a Worker, the default export of its entry module.
 *
 * @param {any} parts
 */
export const worker = (parts) => handlersOf(parts, { bridge, start, env });
