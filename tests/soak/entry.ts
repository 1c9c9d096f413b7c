// The entry module of the Workers of a soak: the tools that the agents of tests/agents name, and the executor in TypeScript.
import agents from "#agents";
import { TaskObject, worker } from "a2a-edge";
import * as tools from "../../src/tools.ts";
import { chain } from "../functions/chain.ts";

export { TaskObject };
export default worker({ agents, tools, executors: { chain } });
