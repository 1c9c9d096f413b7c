// The operations whose costs are stored, and their current costs.

import { Agent, followUp, message, until, type Task } from "../../tests/e2e/client.ts";
import { agentsWith, IdentityProvider, jwt, type Issuer } from "../../tests/e2e/identity-provider.ts";
import { Sink } from "../../tests/e2e/sink.ts";
import { testAgents } from "../../tests/e2e/harness.ts";
import { EventStream, sendStreaming, subscribe } from "../../tests/e2e/stream.ts";
import { measure, startCounting, type Counts, type Operation } from "../counted.ts";
import { startAnswering } from "../answering.ts";
import { startEffects } from "../effects.ts";
import type { Worker } from "../workers.ts";
import { differences, KEPT, type Kept, type Table } from "./table.ts";

/** The number of streams in the operation about streams. */
const STREAMS = 10;

/** How often an operation with different costs is measured again: on a busy machine, a slow task may write one row more. */
const TRIES = 11;

/** How often all of them are, together: after a change of the product, many differ however often they are measured. */
const TRIES_OF_ALL = 36;

/** A measured operation, with a function that measures it again. */
interface Measured {
  name: string;
  kept: Kept;
  again: () => Promise<Kept>;
}

/** Runs all operations, many at the same time; then measures those with unexpected costs again, one by one. */
export async function measureAll(expected: Table = {}): Promise<Table> {
  const sink = await Sink.open();
  const provider = await IdentityProvider.open();
  const issuer = provider.issuer("guarded");
  const effects = await startEffects();
  const answering = await startAnswering();
  const workers: Worker[] = [];
  const inTurn = async (worker: Worker, operations: Operation[]): Promise<Measured[]> => {
    const taken: Measured[] = [];
    for (const operation of operations) {
      const again = async (): Promise<Kept> => rounded(await measure(worker, operation));
      taken.push({ name: operation.name, kept: await measureOne(again, expected[operation.name]), again });
    }
    return taken;
  };
  try {
    // The Workers start one after the other, because the harness assigns processes to Workers by their order. Afterwards all
    // work at the same time.
    const started = async (vars: Record<string, string> = {}): Promise<Worker> => {
      const worker = await startCounting(vars);
      workers.push(worker);
      return worker;
    };
    const [short, long, forgetful] = [await started(), await started(), await started({ RETENTION_MS: "1" })];
    const guarded = await started({ AGENTS: agentsWith({ guarded: { sso: jwt(issuer) } }) });
    const remote = await started();
    const front = await started({ NEXT_URL: `${remote.url}/demo`, AGENTS: withFrontOfDemo() });
    const asking = await started(answering.vars);
    const taken = await Promise.all([
      inTurn(short, operations(short, effects.url, sink)),
      inTurn(guarded, [...withTokens(guarded, issuer), ...byKnown(guarded, issuer.token())]),
      inTurn(long, [chunks(long)]),
      inTurn(forgetful, [deletion(forgetful)]),
      inTurn(front, fronts(front)),
      inTurn(asking, elsewhere(asking)),
    ]);
    let left = TRIES_OF_ALL;
    for (const one of taken.flat()) left -= await measureUntil(one, expected[one.name], Math.min(left, TRIES));
    return Object.fromEntries(taken.flat().map(({ name, kept }) => [name, kept]));
  } finally {
    for (const worker of workers) await worker.stop();
    await effects.close();
    await answering.close();
    provider.close();
    sink.close();
  }
}

/** Without an expected value, the smaller of two measurements. */
async function measureOne(once: () => Promise<Kept>, expected: Kept | undefined): Promise<Kept> {
  const kept = await once();
  if (expected !== undefined) return kept;
  const again = await once();
  return Object.fromEntries(KEPT.map((name) => [name, Math.min(kept[name], again[name])])) as Kept;
}

/** Measures again until the costs are as expected, at most `tries` times; returns how often that was. */
async function measureUntil(one: Measured, expected: Kept | undefined, tries: number): Promise<number> {
  let done = 0;
  while (expected !== undefined && done < tries && differences(one.name, expected, one.kept).length > 0) {
    one.kept = await one.again();
    done++;
  }
  return done;
}

function rounded(counts: Counts): Kept {
  return Object.fromEntries(KEPT.map((name) => [name, Number(counts[name].toFixed(1))])) as Kept;
}

/** The suffix of an operation by a caller whose token was used before. */
export const KNOWN = ", by a token seen before";

/**
 * Some of the operations, by a caller whose token's signature was checked before. Their costs are the same as without a token.
 */
function byKnown({ url }: Worker, token: string): Operation[] {
  const headers = { authorization: `Bearer ${token}` };
  const agent = new Agent(`${url}/guarded`, headers);
  const count = 3;
  const streamed = async (): Promise<unknown> => (await EventStream.open(agent.endpoint, "SendStreamingMessage", { message: message("hello") }, headers)).rest();
  return [
    { name: `SendMessage, a task of 4 events${KNOWN}`, count, work: () => agent.sendForTask("hello") },
    { name: `GetTask${KNOWN}`, count, prepare: () => agent.sendForTask("hello"), work: ({ id }) => agent.getTask(id) },
    { name: `CancelTask${KNOWN}`, count, prepare: () => agent.sendForTask("ask"), work: ({ id }) => agent.cancelTask(id) },
    { name: `SendStreamingMessage, a task of 4 events${KNOWN}`, count, work: streamed },
  ];
}

/** The agents of the tests, and `inside`, a front of the agent `demo` of the same Worker. */
function withFrontOfDemo(): string {
  const { agents, ...built } = JSON.parse(testAgents) as { agents: { slug: string; executor: { table: object } }[] };
  const inside = agents.filter(({ slug }) => slug === "front").map((front) => ({ ...front, slug: "inside", executor: { ...front.executor, table: { ...front.executor.table, remote: "demo" } } }));
  return JSON.stringify({ ...built, agents: [...agents, ...inside] });
}

/**
 * Tasks of agents that pass their messages on: to an agent of another Worker, whose costs do not count, and to an agent of this
 * Worker.
 */
function fronts({ url }: Worker): Operation[] {
  const count = 3;
  const passed = (slug: string) => (): Promise<Task> => new Agent(`${url}/${slug}`).sendForTask("hello");
  return [
    { name: "SendMessage to a front of a remote agent, a task of 4 events", count, work: passed("front") },
    { name: "SendMessage to a front of an agent of the same Worker, a task of 4 events", count, work: passed("inside") },
  ];
}

/** Turns of agents that call other servers, which answer at once. */
function elsewhere({ url }: Worker): Operation[] {
  const count = 3;
  const asked = (slug: string) => (): Promise<Task> => new Agent(`${url}/${slug}`).sendForTask("hello");
  return [
    { name: "SendMessage to an agent that asks a model once", count, work: asked("thinker") },
    { name: "SendMessage to an agent behind HTTP", count, work: asked("speaker") },
  ];
}

/** The streamed task of this operation takes seconds. */
function chunks({ url }: Worker): Operation {
  const work = async (): Promise<unknown> => (await sendStreaming(`${url}/demo`, "count 20 every 400")).rest();
  return { name: "a streamed task of 20 chunks", count: 1, isLong: true, prepare: () => new Agent(`${url}/demo`).sendForTask("hello"), work };
}

/** The deletion of tasks, in a Worker that does not keep finished tasks. */
function deletion(worker: Worker): Operation {
  // As many as a message of the queue deletes.
  const tasks = 100;
  const work = async (): Promise<void> => {
    for (let sent = 0; sent < tasks; sent++) await new Agent(`${worker.url}/demo`).sendForTask("hello");
    await worker.cron();
    const listed = (await worker.d1()).prepare("SELECT count(*) AS number FROM tasks");
    await until(async () => (await listed.run<{ number: number }>()).results[0]?.number, (number) => number === 0);
  };
  return { name: "the same, deleted after its retention", count: 1, tasks, work };
}

/** Operations of callers with tokens; the keys are known after the first token. */
function withTokens({ url }: Worker, issuer: Issuer): Operation[] {
  const agent = (token: string): Agent => new Agent(`${url}/guarded`, { authorization: `Bearer ${token}` });
  const token = issuer.token();
  const prepare = (): Promise<Task> => agent(token).sendForTask("hello");
  return [
    { name: "GetTask, with a JWT that was seen before", count: 3, prepare, work: ({ id }) => agent(token).getTask(id) },
    { name: "GetTask, with a JWT that is new", count: 3, prepare, work: ({ id }) => agent(issuer.token()).getTask(id) },
  ];
}

function operations(worker: Worker, effectsUrl: string, sink: Sink): Operation[] {
  const demo = new Agent(`${worker.url}/demo`);
  const faults = new Agent(`${worker.url}/faults`);
  const count = 3;
  const notified = async (agent: Agent, text: string, events: number): Promise<void> => {
    const path = `/${crypto.randomUUID()}`;
    await agent.call("SendMessage", { message: message(text), configuration: { taskPushNotificationConfig: { url: sink.url + path } } });
    await sink.arrival(path, events);
  };
  const followed = async (): Promise<void> => {
    const { id } = await demo.sendForTask("hold 900", { returnImmediately: true });
    const streams = await Promise.all(Array.from({ length: STREAMS }, () => subscribe(demo.endpoint, id)));
    await Promise.all(streams.map((stream) => stream.rest()));
  };
  return [
    { name: "the card", count, work: () => fetch(`${worker.url}/.well-known/agent-card.json`).then((response) => response.text()) },
    { name: "SendMessage, answered with a message", count, work: () => demo.send("message") },
    { name: "SendMessage, a task of 4 events", count, work: () => demo.sendForTask("hello") },
    { name: "SendMessage, a task that asks", count, work: () => demo.sendForTask("ask") },
    { name: "SendMessage, the answer to it", count, prepare: () => demo.sendForTask("ask"), work: (task) => demo.sendForTask(followUp(task, "red")) },
    { name: "GetTask", count, prepare: () => demo.sendForTask("hello"), work: ({ id }) => demo.getTask(id) },
    {
      name: "GetTask, object not in memory",
      count,
      prepare: async () => {
        const task = await demo.sendForTask("hello");
        await worker.evict(task.id);
        return task;
      },
      work: ({ id }) => demo.getTask(id),
    },
    { name: "CancelTask", count, prepare: () => demo.sendForTask("ask"), work: ({ id }) => demo.cancelTask(id) },
    { name: "ListTasks, a page of 20", count, work: () => demo.listTasks({ pageSize: 20 }) },
    { name: "SendStreamingMessage, a task of 4 events", count, work: async () => (await sendStreaming(demo.endpoint, "hello")).rest() },
    { name: `a task with ${STREAMS} streams`, count: 2, work: followed },
    { name: "a task of 10 steps", count, work: () => faults.sendForTask(`steps 10 ${effectsUrl}`) },
    { name: "a task of 4 events with a webhook", count, work: () => notified(demo, "hello", 4) },
    { name: "a task of 10 steps with a webhook", count, work: () => notified(faults, `steps 10 ${effectsUrl}`, 2) },
  ];
}
