// The entry of the Worker of this repository, laid out like that of a project. Its agents may name the example tools (src/tools/).
import agents from "#agents";
import { start } from "a2a-edge/engine";

export { TaskObject } from "a2a-edge/engine";

export default start(agents, undefined, { examples: true });
