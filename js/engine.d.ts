// The types of "a2a-edge/engine", the module of WebAssembly with its JavaScript. Projects import "a2a-edge" instead.
import type { Agents, Handlers } from "./index.d.ts";

export { TaskObject } from "./index.d.ts";

/** Starts the Worker with its agents. With `examples`, agent files may name the example tools of the repository. */
export function start(agents: Agents, options?: { examples?: boolean }): Handlers;
