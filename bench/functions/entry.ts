// The entry module of a project with functions in TypeScript, as the benchmarks serve it.
import agents from "#agents";
import { TaskObject, worker } from "a2a-edge";
import * as tools from "../../src/tools.ts";
import * as executors from "./executors.ts";

export { TaskObject };
export default worker({ agents, tools, executors });
