// "a2a-edge/testing": agents and tools in a test, by the engine that is deployed, in plain Node and in simulated time.
//
// - An agent is a Worker of its own. Its files are made around the executor and checked like those of a project (`project.js`).
// - `Platform` is what Cloudflare is for the Worker: the clock, what objects and D1 store (SQLite in memory), queues, and requests to the outside,
//   which are answered by functions of the test. All of it outlives a crash.
// - `Isolate` is the memory of the Worker: an instance of the engine (`engine-module.js`), with its own global object (`globals.js`), objects, timers
//   and runs. A crash ends it: what its code still does finds no storage, no timer and no answer, and promises of its runs stay pending. The next
//   request or alarm begins another one.
// - The code of authors is called by the engine through `js/api`, as in a deployment. `engine.js` finds the isolate of a run by its number.
// - Each call of a test (`agent.js`) sends a request to the Worker and then moves the clock from timer to timer until it is answered. The clock moves
//   when nothing is under way that takes real time (`quiet.js`).
// - `survivesCrashes` (`crashes.js`) is told of each place at which the process may end, and has it end there.
//
// Not simulated: streams over HTTP and all that needs WebSockets, the cron trigger, limits of the platform, other bindings than those of a2a-edge, and
// globals that only workerd has.
import "./hooks.js";

export { testAgent } from "./agent.js";
export { survivesCrashes } from "./crashes.js";
export { callTool } from "./tools.js";
