// "a2a-edge/testing": agents and tools in a test, by the engine of the Worker, in simulated time.
import "./hooks.js";

export { testAgent } from "./agent.js";
export { survivesCrashes } from "./crashes.js";
export { callTool } from "./tools.js";
