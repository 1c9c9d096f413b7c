// What "a2a-edge" is in Node, where the code of a project is tested: the same as js/index.js, with the engines of tests (js/testing) in the place
// of that of the Worker, and without modules of the platform.
import { handlersOf } from "./api/worker.js";
import { TaskObject, bridge, environment, start } from "./testing/engine.js";

export { executor, tool } from "./api/definitions.js";
export { Failure, RunOver } from "./api/errors.js";
export { TaskObject };

/**
 * Makes the event handlers of a Worker. In Node they answer nothing, but the parts are checked as on the platform.
 *
 * @param {any} parts
 */
export const worker = (parts) => handlersOf(parts, { bridge, start, env: environment() });
