// Kills the Worker again and again while tasks of many kinds are under way. Started by scripts/soak.mjs, which builds
// first, with the seed, the number of kills, the number of tasks at a time and the kinds of executors.

import { fileURLToPath } from "node:url";
import { Agent, isTerminal, type Task } from "../e2e/client.ts";
import { USUAL_KINDS, kindsIn } from "../../scripts/lib/soak-kinds.mjs";
import { startWorker } from "../e2e/harness.ts";
import { checked } from "../e2e/product.ts";
import { Sink } from "../e2e/sink.ts";
import { THINKING, soakAgents, subjects as subjectsOf, units } from "./kinds.ts";
import { Lender } from "./lender.ts";
import { Others } from "./others.ts";
import { Random, sleep } from "./random.ts";
import type { Subject, World } from "./subject.ts";

/** How long tasks have to end once the Worker is left alone. */
const PATIENCE_MS = 60_000;
const PROGRESS_MS = 10_000;
/** Longer than a start takes, so that requests come to tasks whose alarm has not fired yet. */
const KEEP_ALIVE_MS = "1500";
/** What a start takes on a machine that has nothing else to do, or longer. */
const USUAL_START_MS = 1_000;

const [seed = 1, wanted = 1000, atOnce = 12] = process.argv.slice(2, 5).map(Number);
const kinds = kindsIn(process.argv[5] ?? USUAL_KINDS.join());
if (kinds === undefined) throw new Error(`there are no such kinds: ${process.argv[5]}`);
const random = new Random(seed);
process.stdout.write(`seed ${seed}: ${wanted} kills, ${atOnce} tasks at a time of ${kinds.join(", ")}\n`);

const sink = await Sink.open();
const slow = new Random(seed ^ 0x5bd1e995);
sink.otherwise = async () => {
  if (slow.chance(0.7)) await sleep(slow.whole(0, 40));
  return {};
};
const [others, lender] = await Promise.all([Others.open(seed), Lender.open(seed)]);
const vars = {
  AGENTS: soakAgents(sink.url), MODEL_URL: `${others.url}/v1`, MODEL_KEY: "no-key-is-asked-for", SINK: others.url, STEPS: sink.url, LENDER_URL: lender.url,
  // As often as a task may be interrupted here is no failure.
  RUN_TIMEOUT_MS: "900000",
};
const entry = { entry: fileURLToPath(new URL("entry.ts", import.meta.url)), agents: checked(fileURLToPath(new URL("../..", import.meta.url))) };
const remote = await startWorker({ ...entry, vars });
const far = { NEXT_URL: `${remote.url}/faults`, FAR_URL: `${remote.url}/soak-far` };
const worker = await startWorker({ ...entry, vars: { ...vars, ...far, KEEP_ALIVE_MS, MAX_ATTEMPTS: "1000" } });

let kills = 0;
let isKilling = true;
let deadline = Infinity;
const listedAsEnded = new Set<string>();
const world: World = {
  seed, worker, remote, sink, others, lender,
  kills: () => kills,
  isOver: () => Date.now() > deadline,
  async untilListedAsEnded(id) {
    while (!listedAsEnded.has(id) && !world.isOver()) await sleep(50);
  },
};

const subjects: Subject[] = [];
const alive = new Set<Subject>();
const begun = Date.now();

/** The kinds take turns. */
function makeSubject(number: number): Subject {
  const kind = kinds?.[number % kinds.length] ?? "scripts";
  return new subjectsOf[kind](world, number);
}

/** Keeps as many tasks under way as wanted, until the killing is over. */
async function keepBusy(): Promise<void> {
  while (isKilling) {
    const number = subjects.length + 1;
    const subject = makeSubject(number);
    subjects.push(subject);
    alive.add(subject);
    await subject.live();
    subject.settle();
    alive.delete(subject);
  }
}

/** Reads the newest pages of the listing of an agent, for those tasks that must not be asked for. */
async function keepListing(agent: Agent): Promise<void> {
  while (alive.size > 0 || isKilling) {
    let pageToken: string | undefined;
    for (let page = 0; page < 3; page += 1) {
      const answer = await agent.call<{ tasks: Task[]; nextPageToken?: string }>("ListTasks", { pageSize: 100, pageToken }).catch(() => undefined);
      for (const { id, status } of answer?.tasks ?? []) if (isTerminal(status.state)) listedAsEnded.add(id);
      pageToken = answer?.nextPageToken || undefined;
      if (pageToken === undefined) break;
    }
    await sleep(300);
  }
}

/** How long the newest start took. On a busy machine tasks need longer, too, to get any further between two kills. */
let startMs = 0;

async function kill(): Promise<void> {
  kills += 1;
  await worker.kill9();
  const begun = Date.now();
  await worker.restart();
  startMs = Date.now() - begun;
}

/** Kills at a random moment, as it is answered, or shortly after the start before; sometimes evicts a task that rests. */
async function disturb(): Promise<void> {
  if (random.chance(0.15)) {
    const resting = [...alive].find((subject) => subject.isAtRest)?.id;
    if (resting !== undefined) await worker.evict(resting, random.pick(["hibernate", "close"])).catch(() => undefined);
  }
  if (random.chance(0.1)) await others.restart();
  await sleep(random.whole(0, 900) * Math.max(1, startMs / USUAL_START_MS));
  if (random.chance(0.5)) await sink.next(1_000);
  if (random.chance(0.3)) await sleep(random.whole(0, 45));
  await kill();
  while (kills < wanted && random.chance(0.15)) {
    await sleep(random.whole(0, 120));
    await kill();
  }
}

/** How many of these subjects there are, how much was done for them, and how many came out wrong. */
function totals(of: Subject[], unit: string): string {
  const done = of.reduce((sum, subject) => sum + subject.done, 0);
  const wrong = (how: string) => of.filter((subject) => subject.wrong.some((line) => line.startsWith(how))).length;
  const tasks = of.filter(({ id }) => id !== undefined).length;
  const counted = of.flatMap(({ repeated }) => repeated ?? []);
  const repeated = counted.length === 0 ? "" : `, repeated at a kill ${counted.reduce((sum, count) => sum + count, 0)}`;
  return `tasks ${tasks}, ${unit} ${done}${repeated}, lost ${wrong("lost")}, duplicated ${wrong("duplicated")}, stuck ${wrong("stuck")}`;
}

const progress = (): string => `kills ${kills}, ${totals(subjects, "steps")}`;

/** What is wrong with the sums of usage in D1, which are to be what the tasks say that they have used. */
async function wrongSums(): Promise<string | undefined> {
  const usages = subjects.flatMap((subject) => (subject.usage !== undefined ? [subject.usage] : []));
  const told = { requests: 0, inputTokens: 0, outputTokens: 0 };
  for (const usage of usages) for (const name of ["requests", "inputTokens", "outputTokens"] as const) told[name] += usage[name];
  const sql = "SELECT coalesce(sum(requests), 0) AS requests, coalesce(sum(input_tokens), 0) AS inputTokens, coalesce(sum(output_tokens), 0) AS outputTokens FROM usage WHERE agent IN (?, ?)";
  const until = Date.now() + PATIENCE_MS;
  for (;;) {
    const [sums] = (await (await worker.index()).prepare(sql).bind(...THINKING).run<typeof told>()).results;
    if (JSON.stringify(sums) === JSON.stringify(told)) return undefined;
    if (Date.now() > until) return `the sums of usage are ${JSON.stringify(sums)}, and the tasks have used ${JSON.stringify(told)}`;
    await sleep(200);
  }
}

const reporting = setInterval(() => process.stdout.write(`${Math.round((Date.now() - begun) / 1000)} s: ${progress()}, ${alive.size} under way\n`), PROGRESS_MS);
const living = Promise.all(Array.from({ length: atOnce }, keepBusy));
const listing = Promise.all(["faults", "soak-callback", "soak-functions"].map((slug) => keepListing(new Agent(`${worker.url}/${slug}`))));
while (kills < wanted) await disturb();
isKilling = false;
deadline = Date.now() + PATIENCE_MS;
await Promise.race([living, sleep(PATIENCE_MS + 45_000)]);
for (const subject of alive) if (!subject.wrong.some((line) => line.startsWith("stuck"))) subject.wrong.push("stuck: it did not come to its end");
clearInterval(reporting);
const uncounted = await wrongSums();
await Promise.race([listing, sleep(1_000)]);
await Promise.all([worker.stop(), remote.stop(), others.close()]);
sink.close();
lender.close();

const failed = subjects.filter(({ wrong }) => wrong.length > 0);
for (const { title, wrong } of failed) process.stdout.write(`\n${title}\n${wrong.map((line) => `    ${line}\n`).join("")}`);
if (uncounted !== undefined) process.stdout.write(`\n${uncounted}\n`);
process.stdout.write("\n");
for (const kind of kinds) process.stdout.write(`${kind}: ${totals(subjects.filter((subject) => subject.kind === kind), units[kind])}\n`);
process.stdout.write(`${progress()}\n`);
process.exit(failed.length > 0 || uncounted !== undefined ? 1 : 0);
