// Durable steps of a2a-edge beside those of Cloudflare's agents SDK: what they take and write, and when a run goes on whose process was killed.

import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { checked } from "../tests/e2e/product.ts";
import { around } from "./around.ts";
import { startAgents } from "./baselines/start.ts";
import { computing, inTurn } from "./comparison/contest.ts";
import { mediansOf } from "./comparison/compared.ts";
import { settled, startCounting } from "./counted.ts";
import { digits, milliseconds, type Effort, type Section } from "./figures.ts";
import { ENTRY, functionAgents } from "./functions.ts";
import { Connections, call, send } from "./http.ts";
import { message } from "../tests/e2e/client.ts";
import { Cores } from "./processor.ts";
import { root, startBuilt, type Worker } from "./workers.ts";

const MANY = 101;
const WARM_UP_MS = 3_000;

/** The steps of a run that is killed; each is a request that takes so long, and the process is killed in one of them. */
const KILLED = { steps: 20, inStep: 10, everyMs: 300, patienceMs: 60_000 };

interface Subject {
  role: "ours" | "agents";
  name: string;
  start: () => Promise<Worker>;
  counting: () => Promise<Worker>;
  endpoint: (worker: Worker) => string;
}

const SUBJECTS: Subject[] = [
  {
    role: "ours",
    name: "a2a-edge",
    start: () => startBuilt({ AGENTS: functionAgents() }, undefined, undefined, { entry: ENTRY, agents: checked(root) }),
    counting: () => startCounting({ AGENTS: functionAgents(), DEVELOPMENT: "false" }, ENTRY),
    endpoint: ({ url }) => `${url}/repeating`,
  },
  {
    role: "agents",
    name: "`agents` 0.32",
    start: () => startAgents(),
    counting: () => startAgents((bundle) => around(bundle, "counting.js", "countedFront", "countedObject")),
    endpoint: ({ url }) => `${url}/`,
  },
];

export async function steps({ rounds, sliceMs, isQuick }: Effort): Promise<Section> {
  using cores = new Cores();
  const workers = new Map<Subject, Worker>();
  try {
    using connection = new Connections(1);
    const exchange = (subject: Subject, count: number) => send(subject.endpoint(workers.get(subject) as Worker), () => `steps ${count}`);
    for (const subject of SUBJECTS) {
      const worker = await subject.start();
      workers.set(subject, worker);
      cores.giveTo(worker.pid);
      for (const count of [1, MANY]) await connection.repeat(exchange(subject, count), WARM_UP_MS);
    }
    const outcome = await inTurn(SUBJECTS, 2 * rounds, async (subject) => {
      const worker = workers.get(subject) as Worker;
      const [one, oneCpuMs] = await computing(worker, () => connection.repeat(exchange(subject, 1), 2 * sliceMs));
      const [many, manyCpuMs] = await computing(worker, () => connection.repeat(exchange(subject, MANY), 2 * sliceMs));
      const [cpuMs, allMs] = [oneCpuMs / one.count, manyCpuMs / many.count];
      return { ms: one.p50, cpuMs, stepMicros: (1_000 * (many.p50 - one.p50)) / (MANY - 1), stepCpuMicros: (1_000 * (allMs - cpuMs)) / (MANY - 1) };
    });
    const medians = outcome.map((taken) => mediansOf(taken.rounds));
    const row = (title: string, show: (index: number) => string): string[] => [title, ...SUBJECTS.map((_, index) => show(index))];
    const figure = (index: number, name: string): number => medians[index]?.[name] ?? NaN;
    const rows = [
      row("a run of one step, from outside", (index) => milliseconds(figure(index, "ms"))),
      row("its CPU", (index) => milliseconds(figure(index, "cpuMs"))),
      row("each further step", (index) => `${digits(figure(index, "stepMicros"))} µs`),
      row("its CPU, of each further step", (index) => `${digits(figure(index, "stepCpuMicros"))} µs`),
    ];
    const written: { one: number; further: number }[] = [];
    for (const subject of SUBJECTS) written.push(await rowsOf(subject));
    rows.push(row("rows that the object writes for a run of one step", (index) => digits(written[index]?.one ?? NaN)));
    rows.push(row("rows for each further step", (index) => digits(written[index]?.further ?? NaN)));
    if (!isQuick) {
      const killed: string[] = [];
      for (const subject of SUBJECTS) killed.push(await afterKill(subject));
      rows.push(row(`its process is killed in step ${KILLED.inStep} of ${KILLED.steps}, and nobody asks for the run`, (index) => killed[index] ?? ""));
    }
    return {
      title: "Steps",
      text:
        "A blocking send whose run takes steps, with one connection: of a2a-edge `turn.step` in an executor in TypeScript, of Cloudflare's agents SDK `step.do` of `agents/tasks` " +
        "(`bench/baselines/agents/worker.js`). A run of a2a-edge is also a task of A2A, with a row in D1 that lists it; a run of the other also writes its durable stream. The rows are those " +
        "of the object's SQLite, with 1 for each alarm that is set.",
      columns: ["", ...SUBJECTS.map(({ name }) => name)],
      rows,
    };
  } finally {
    for (const worker of workers.values()) await worker.stop();
  }
}

async function rowsOf({ counting, endpoint }: Subject): Promise<{ one: number; further: number }> {
  const worker = await counting();
  try {
    using connection = new Connections(1);
    const rows = async (count: number): Promise<number> => {
      const before = await settled(worker);
      await connection.once(send(endpoint(worker), () => `steps ${count}`));
      return (await settled(worker)).objectRowsWritten - before.objectRowsWritten;
    };
    await rows(1);
    const one = await rows(1);
    return { one, further: ((await rows(MANY)) - one) / (MANY - 1) };
  } finally {
    await worker.stop();
  }
}

/** Kills the process of a run; tells when the run went on by itself, and how many steps were begun twice. */
async function afterKill({ start, endpoint }: Subject): Promise<string> {
  const begun: { step: string; at: number }[] = [];
  const server = createServer(({ url = "" }, response) => {
    begun.push({ step: url.slice(1), at: Date.now() });
    setTimeout(() => response.end(), KILLED.everyMs);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const worker = await start();
  try {
    using connection = new Connections(1);
    const text = `steps ${KILLED.steps} http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const params = { message: message(text), configuration: { returnImmediately: true } };
    await connection.once(call(endpoint(worker), "SendMessage", () => params, "task"));
    const until = async (isReached: () => boolean, deadline: number): Promise<void> => {
      while (!isReached() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
    };
    await until(() => begun.length >= KILLED.inStep, Date.now() + KILLED.patienceMs);
    await worker.kill9();
    const before = begun.length;
    await worker.restart();
    const restarted = Date.now();
    await until(() => begun.some(({ step }) => step === String(KILLED.steps)), restarted + KILLED.patienceMs);
    const next = begun[before];
    if (next === undefined) return `it did not go on within ${KILLED.patienceMs / 1_000} s`;
    return `it went on by itself after ${digits((next.at - restarted) / 1_000)} s; steps done twice: ${begun.length - new Set(begun.map(({ step }) => step)).size}`;
  } finally {
    await worker.stop();
    server.close();
    server.closeAllConnections();
  }
}
