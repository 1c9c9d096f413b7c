// A double of "a2a-edge/engine" and of "cloudflare:workers": what `worker` gives to the engine is kept, and a task answers the bridge.

/** What the last call of `start` got. */
export const started = {};

/** The environment of the Worker. */
export const env = { DB: "a database", TASKS: "a namespace", SIGNING_JWK: "a key", FILES: "a bucket", SHOP_URL: "https://shop.example" };

export class TaskObject {}

/** Calls that reached the engine's own handlers. */
export const handled = [];

export function start(agents, functions) {
  Object.assign(started, { agents, functions });
  const handler = (name) => async (event, given) => {
    handled.push([name, event, given]);
    return new Response(`${name} of the engine`);
  };
  return { fetch: handler("fetch"), queue: handler("queue"), scheduled: handler("scheduled") };
}

/** The tasks by the numbers of their runs. */
export const tasks = new Map();

/** As the engine's: each function finds its run by the number, and refuses a run that is over. */
export const bridge = new Proxy({}, {
  get: (_, name) => (number, ...args) => {
    const run = tasks.get(number);
    if (run === undefined) throw "~over";
    return run.answer(name, args);
  },
});
