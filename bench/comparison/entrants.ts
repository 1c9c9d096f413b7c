// The entrants of the comparison, by the kind of their work.

import { call, Connections, send, type Exchange } from "../http.ts";
import { Agent } from "../../tests/e2e/client.ts";
import { startAgents, startFloors, startSdk } from "../baselines/start.ts";
import { builtFolder, startBuilt, type Worker } from "../workers.ts";
import { computing, type Entrant, type Measured, type Role } from "./contest.ts";

/** A Worker that is asked for streams, and its endpoint. */
export interface StreamSpeaker {
  role: Role;
  name: string;
  start: () => Promise<Worker>;
  endpoint: (worker: Worker) => string;
}

/** A Worker with the protocol. */
export interface Speaker extends StreamSpeaker {
  /** Copies the entrant's finished task `id` in D1 until there are `count` tasks. */
  fill: (worker: Worker, id: string, count: number) => Promise<unknown>;
}

/** This build, another build if there is one, and the alternative. */
export function speakers(against: string | undefined): Speaker[] {
  const built = (role: Role, name: string, folder: string): Speaker => ({
    role,
    name,
    start: () => startBuilt({}, folder),
    endpoint: ({ url }) => `${url}/demo`,
    fill: (worker, id, count) => insert(worker, COPIES, id, count),
  });
  return [
    built("ours", "a2a-edge", builtFolder),
    ...(against === undefined ? [] : [built("against", against, against)]),
    sdk("TypeScript", {}),
  ];
}

/** The alternative. */
export function sdk(name: string, vars: Record<string, string>): Speaker {
  return {
    role: "alternative",
    name,
    start: () => startSdk(vars),
    endpoint: ({ url }) => `${url}/`,
    fill: (worker, id, count) => insert(worker, SDK_COPIES, id, count),
  };
}

/** Cloudflare's agents SDK, for streams. */
export const agents: StreamSpeaker = { role: "agents", name: "`agents`", start: () => startAgents(), endpoint: ({ url }) => `${url}/` };

/**
 * How often an exchange is repeated. The number is fixed, not the time, so that all entrants make the same number of objects: what an object costs grows with the
 * number of objects that the process has made.
 */
export interface Repetition {
  connections: number;
  /** The number of exchanges in a round. */
  count: number;
  /** The number of exchanges before the first round. */
  warmUp: number;
}

/** Repetitions that take 1 to 2 seconds, after some that take 6 or more. */
export const SENDS: Repetition = { connections: 16, count: 400, warmUp: 2_500 };
export const READS: Repetition = { connections: 16, count: 2_500, warmUp: 15_000 };
export const LISTS: Repetition = { connections: 1, count: 600, warmUp: 4_000 };

/** A quarter of a repetition, if the benchmark is quick. */
export const shortened = (repetition: Repetition, isQuick: boolean): Repetition =>
  isQuick ? { ...repetition, count: repetition.count / 4, warmUp: repetition.warmUp / 4 } : repetition;

/** A Worker that repeatedly answers an exchange: processor time of a request, requests per second, and the median latency. */
export function repeating(of: Pick<Entrant, "role" | "name" | "start">, exchangeOf: (worker: Worker) => Promise<Exchange>, { connections, count, warmUp }: Repetition): Entrant {
  return {
    role: of.role,
    name: of.name,
    start: of.start,
    async prepare(worker) {
      const exchange = await exchangeOf(worker);
      const pool = new Connections(connections);
      await pool.times(exchange, warmUp);
      return async (): Promise<Measured> => {
        const [{ perSecond, p50 }, cpuMs] = await computing(worker, () => pool.times(exchange, count));
        return { cpuMs: cpuMs / count, perSecond, p50 };
      };
    },
  };
}

/** The cost of the platform alone for a path of floors.js. With `rows`, its table in D1 has that many rows. */
export function floor(name: string, path: string, repetition: Repetition, rows = 0): Entrant {
  const exchange = async (worker: Worker): Promise<Exchange> => {
    if (rows > 0) await insert(worker, FLOOR_ROWS, STORED, rows);
    return { url: worker.url + path, body: BODY, answer: path === "/d1-page" ? "[" : "jsonrpc" };
  };
  return repeating({ role: "floor", name, start: startFloors }, exchange, repetition);
}

/** The id of a new finished task. */
export async function finishedTask(endpoint: string): Promise<string> {
  return (await new Agent(endpoint).sendForTask("hello")).id;
}

/** A finished task as any server stores it: as JSON, whose quotes cost something each time that D1 passes it on as JSON. As long as one of a2a-edge. */
const STORED = JSON.stringify({
  id: "0".repeat(64),
  contextId: "0".repeat(36),
  status: { state: "TASK_STATE_COMPLETED", timestamp: "2026-01-01T00:00:00.000Z" },
  history: [{ messageId: "0".repeat(36), contextId: "0".repeat(36), taskId: "0".repeat(64), role: "ROLE_USER", parts: [{ text: "hello" }] }],
});

/** As long as the body of a send. */
const BODY = send("", () => "hello").body ?? (() => "");

async function insert(worker: Worker, statement: string, first: string, count: number): Promise<void> {
  await (await worker.d1()).prepare(`WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?2 - 1) ${statement}`).bind(first, count).run();
}

/** One task in each second, as the tasks of a caller that sends them one after the other. */
const COPIES = `INSERT INTO tasks (owner, agent, status_ms, id, context_id, state, generation, head, history)
  SELECT owner, agent, status_ms - (?2 - n) * 1000, printf('%064x', n), 'context-' || (n % 1000), state, generation,
    replace(head, id, printf('%064x', n)), replace(history, id, printf('%064x', n))
  FROM tasks, numbers WHERE id = ?1`;

const SDK_COPIES = `INSERT INTO listed (id, context_id, state, changed, body)
  SELECT printf('%064x', n), 'context-' || (n % 1000), state, printf('2026-01-01T00:00:00.%03dZ', n % 1000),
    replace(body, id, printf('%064x', n))
  FROM listed, numbers WHERE id = ?1`;

const FLOOR_ROWS = "INSERT INTO floor (id, body) SELECT printf('%064x', n), ?1 FROM numbers";

/** A page of a listing. */
export function pageOf(endpoint: string, pageSize: number, total: number): Exchange {
  return call(endpoint, "ListTasks", () => ({ pageSize }), `"totalSize":${total}`);
}

/** A task by its id. */
export function getTask(endpoint: string, id: string): Exchange {
  return call(endpoint, "GetTask", () => ({ id }), "TASK_STATE_COMPLETED");
}
