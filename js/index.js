// What a project imports from "a2a-edge": the entry of its Worker.
import { TaskObject, start } from "a2a-edge/engine";

export { TaskObject };

/**
 * Makes the event handlers of a Worker, the default export of its entry module.
 *
 * @param {{ agents: import("./index.d.ts").Agents }} parts
 */
export function worker({ agents }) {
  return start(agents);
}
