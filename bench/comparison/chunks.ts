// A streamed answer of many chunks: the rows that it writes, how long a chunk is held, and the processor time of a stream.

import { Agent, request, type IncomingMessage } from "node:http";
import { checked } from "../../tests/e2e/product.ts";
import { message } from "../../tests/e2e/client.ts";
import { around } from "../around.ts";
import { startAgents, startSdk } from "../baselines/start.ts";
import { timesIn } from "../chunk.ts";
import { settled, startCounting } from "../counted.ts";
import { percentile } from "../figures.ts";
import { ENTRY, functionAgents } from "../functions.ts";
import { builtFolder, root, startBuilt, type Worker } from "../workers.ts";
import { computing, type Entrant, type Measured, type Role } from "./contest.ts";

const CHUNKS = 500;
const EVERY_MS = 20;
const TEXT = `chunks ${CHUNKS} every ${EVERY_MS}`;

/** So many streams are open at the same time: one alone takes too little processor time to be measured. */
const STREAMS = 8;

/** A Worker whose executor gives chunks, and a copy of it that counts rows. */
interface Giver {
  role: Role;
  name: string;
  start: () => Promise<Worker>;
  counting: () => Promise<Worker>;
  endpoint: (worker: Worker) => string;
}

const counted = (bundle: string): string => around(bundle, "counting.js", "countedFront", "countedObject");

function givers(against: string | undefined): Giver[] {
  const built = (role: Role, name: string, folder: string): Giver => ({
    role,
    name,
    start: () => startBuilt({ AGENTS: functionAgents() }, folder, undefined, { entry: ENTRY, agents: checked(root) }),
    counting: () => startCounting({ AGENTS: functionAgents(), DEVELOPMENT: "false" }, ENTRY, folder),
    endpoint: ({ url }) => `${url}/chunking`,
  });
  const endpoint = ({ url }: Worker): string => `${url}/`;
  return [
    built("ours", "a2a-edge, an executor in TypeScript", builtFolder),
    ...(against === undefined ? [] : [built("against", against, against)]),
    { role: "alternative", name: "TypeScript", start: () => startSdk(), counting: () => startSdk({}, counted), endpoint },
    { role: "agents", name: "`agents`", start: () => startAgents(), counting: () => startAgents(counted), endpoint },
  ];
}

/** The entrants: streams of 500 chunks, of which 50 are given in a second. */
export const chunkEntrants = (against: string | undefined): Entrant[] => givers(against).map((giver): Entrant => ({ ...giver, prepare: (worker) => prepare(giver, worker) }));

async function prepare(giver: Giver, worker: Worker): Promise<() => Promise<Measured>> {
  const rows = await rowsOf(giver);
  const work = async (): Promise<Measured> => {
    const [taken, cpuMs] = await computing(worker, () => Promise.all(Array.from({ length: STREAMS }, () => holds(giver.endpoint(worker)))));
    const first = taken.map(([delay = NaN]) => delay);
    return { rowsPerChunk: rows / CHUNKS, firstMs: percentile(first, 50), longestMs: Math.max(...taken.flat()), cpuMs: cpuMs / STREAMS };
  };
  await work();
  return work;
}

/** The rows that the object of one such task writes, all in all. */
async function rowsOf({ counting, endpoint }: Giver): Promise<number> {
  const worker = await counting();
  try {
    const before = await settled(worker);
    await holds(endpoint(worker));
    return (await settled(worker)).objectRowsWritten - before.objectRowsWritten;
  } finally {
    await worker.stop();
  }
}

/** How long each chunk of a new stream was held, in milliseconds: from the time in its text to its arrival. */
async function holds(endpoint: string): Promise<number[]> {
  const agent = new Agent({ keepAlive: false });
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendStreamingMessage", params: { message: message(TEXT) } });
  const headers = { "content-type": "application/json", "a2a-version": "1.0" };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(endpoint, { method: "POST", headers, agent }, resolve).on("error", reject).end(body);
  });
  const taken: number[] = [];
  let unfinished = "";
  for await (const piece of response.setEncoding("utf8")) {
    const now = Date.now();
    const events = (unfinished + String(piece)).split("\n\n");
    unfinished = events.pop() ?? "";
    for (const event of events) taken.push(...timesIn(event).map((time) => now - time));
  }
  if (taken.length !== CHUNKS) throw new Error(`a stream of ${endpoint} had ${taken.length} of ${CHUNKS} chunks, and ended with ${unfinished.slice(-300)}`);
  return taken;
}
