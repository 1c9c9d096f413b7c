// The client of agents elsewhere: a separate file, which the page loads when such an agent is opened (`../remote.ts`).
export { callOnce, findCard, follow } from "./agent.ts";
export { direct, forwarded } from "./transport.ts";
