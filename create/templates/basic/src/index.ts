import agents from "#agents";
import { TaskObject, worker } from "a2a-edge";
import { orders } from "./orders.ts";
import { find_place } from "./tools.ts";

export { TaskObject };
export default worker({ agents, tools: { find_place }, executors: { orders } });
