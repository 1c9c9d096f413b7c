// The time to the first answer (the card): of a new process, and of a further isolate in a process that runs.

import type { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { request } from "node:http";
import { checked } from "../../tests/e2e/product.ts";
import { ENTRY, PLAIN, functionAgents } from "../functions.ts";
import { card } from "../http.ts";
import { IsolateHost, type Source } from "../isolates.ts";
import { EMPTY_WASM, builtFolder, root, startBuilt, startVariant, type Worker } from "../workers.ts";
import { inTurn, persistent, type Measured, type Named, type Outcome, type Role } from "./contest.ts";

/** A round takes about a second, so there are more of them than of other contests. */
const TIMES = 3;

/** A Worker without work, with everything that the tests' harness requires. */
const EMPTY = {
  "index.js": `import { DurableObject } from "cloudflare:workers";
    export class TaskObject extends DurableObject {}
    export default { fetch: () => new Response("empty") };`,
  "index_bg.wasm": EMPTY_WASM,
};

/** What is started: the empty Worker is the floor. */
interface Starter extends Named {
  start: () => Promise<Worker>;
  source: Source;
}

function starters(against: string | undefined): Starter[] {
  const agents = functionAgents();
  // The agents are those of bench/functions.ts, of which the default one answers.
  const built = (role: Role, name: string, entry: string, folder: string): Starter => ({
    role,
    name,
    start: () => startBuilt({ AGENTS: agents }, folder, undefined, { entry, agents: checked(root) }),
    source: { folder, entry, vars: { AGENTS: agents, DEVELOPMENT: "false" } },
  });
  return [
    built("ours", "a2a-edge without functions", PLAIN, builtFolder),
    built("ours", "a2a-edge with functions in TypeScript", ENTRY, builtFolder),
    ...(against === undefined ? [] : [built("against", against, PLAIN, against)]),
    { role: "floor", name: "a Worker that does nothing", start: () => startVariant(EMPTY), source: { text: EMPTY["index.js"] } },
  ];
}

/** From the start of a new workerd process, which has nothing cached, to the first answer. */
export async function processes(against: string | undefined, rounds: number): Promise<Outcome> {
  const workers = new Map<Starter, Worker>();
  try {
    const all = starters(against);
    for (const starter of all) {
      const worker = await starter.start();
      workers.set(starter, worker);
      await worker.kill9();
      await firstAnswer(worker);
    }
    const answer = async (starter: Starter): Promise<Measured> => {
      const worker = workers.get(starter);
      if (worker === undefined) throw new Error(`${starter.name} was not started`);
      return { firstMs: await persistent(starter.name, () => firstAnswer(worker), () => worker.kill9()) };
    };
    return await inTurn(all, TIMES * rounds, answer);
  } finally {
    for (const worker of workers.values()) await worker.stop();
  }
}

/** From the request for a Worker of which its process has no isolate yet, to the first answer. */
export async function isolates(against: string | undefined, rounds: number): Promise<Outcome> {
  const all = starters(against);
  const hosts = new Map<Starter, IsolateHost>();
  try {
    for (const starter of all) {
      const host = await IsolateHost.start(starter.source);
      hosts.set(starter, host);
      await host.firstAnswer();
    }
    return await inTurn(all, TIMES * rounds, async (starter) => ({ firstMs: (await hosts.get(starter)?.firstAnswer()) ?? NaN }));
  } finally {
    for (const host of hosts.values()) await host.stop();
  }
}

/** Starts a Worker that was ended, sends requests until it answers, and ends it again. */
async function firstAnswer(worker: Worker): Promise<number> {
  // A child's command line is only known after its announcement.
  const children: { child: ChildProcess; at: number }[] = [];
  const onChild = (event: unknown): void => {
    children.push({ child: (event as { process: ChildProcess }).process, at: performance.now() });
  };
  subscribe("child_process", onChild);
  try {
    const starting = worker.restart();
    const { url } = card(worker.url);
    while (!(await answers(url))) await new Promise((resolve) => setTimeout(resolve, 1));
    const answeredAt = performance.now();
    await starting;
    const begun = children.find(({ child }) => child.spawnfile.includes("workerd"))?.at;
    if (begun === undefined) throw new Error("workerd was not found among the processes started");
    return answeredAt - begun;
  } finally {
    unsubscribe("child_process", onChild);
    await worker.kill9();
  }
}

function answers(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const sent = request(url, { agent: false }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode === 200));
    });
    sent.on("error", () => resolve(false)).end();
  });
}
