// The entry module of a project without functions.
import agents from "#agents";
import { TaskObject, worker } from "a2a-edge";

export { TaskObject };
export default worker({ agents });
