// The entry of the Worker of this repository, laid out like that of a project.
import agents from "#agents";
import { TaskObject, worker } from "a2a-edge";
import * as tools from "./tools.ts";

export { TaskObject };
export default worker({ agents, tools });
