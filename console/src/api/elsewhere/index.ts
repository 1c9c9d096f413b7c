// The client of agents elsewhere, a file of its own that the page loads when one is opened (`../remote.ts`).
export { callOnce, findCard, follow } from "./agent.ts";
export { direct, forwarded } from "./transport.ts";
