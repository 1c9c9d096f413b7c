// Kills the Worker again and again while tasks of many kinds are under way. Started by scripts/soak.mjs, which builds
// first, with the seed, the number of kills and the number of tasks at a time.

import { Agent, isTerminal, type Task } from "../e2e/client.ts";
import { startWorker, testAgents } from "../e2e/harness.ts";
import { Sink } from "../e2e/sink.ts";
import { FrontSubject } from "./front.ts";
import { Others } from "./others.ts";
import { Random, sleep } from "./random.ts";
import { Subject, type World } from "./subject.ts";
import { ThinkingSubject } from "./thinking.ts";

/** How long tasks have to end once the Worker is left alone. */
const PATIENCE_MS = 60_000;
const PROGRESS_MS = 10_000;

const [seed = 1, wanted = 1000, atOnce = 12] = process.argv.slice(2).map(Number);
const random = new Random(seed);
process.stdout.write(`seed ${seed}: ${wanted} kills, ${atOnce} tasks at a time\n`);

const sink = await Sink.open();
const slow = new Random(seed ^ 0x5bd1e995);
sink.otherwise = async () => {
  if (slow.chance(0.7)) await sleep(slow.whole(0, 40));
  return {};
};
// As often as a task may be interrupted here is no failure.
const remote = await startWorker({ vars: { RUN_TIMEOUT_MS: "900000" } });
const others = await Others.open(seed);
const vars = {
  AGENTS: withSpeaker(), NEXT_URL: `${remote.url}/faults`, MODEL_URL: `${others.url}/v1`, MODEL_KEY: "no-key-is-asked-for", SINK: others.url,
  KEEP_ALIVE_MS: "400", MAX_ATTEMPTS: "1000", RUN_TIMEOUT_MS: "900000",
};
const worker = await startWorker({ vars });
const agent = new Agent(`${worker.url}/faults`);

let kills = 0;
let isKilling = true;
let deadline = Infinity;
const listedAsEnded = new Set<string>();
const world: World = {
  endpoint: agent.endpoint,
  sink,
  kills: () => kills,
  isOver: () => Date.now() > deadline,
  async untilListedAsEnded(id) {
    while (!listedAsEnded.has(id) && !world.isOver()) await sleep(50);
  },
};

type AnySubject = Subject | FrontSubject | ThinkingSubject;
const subjects: AnySubject[] = [];
const alive = new Set<AnySubject>();
const begun = Date.now();

/** The agents of the tests, and `speaker`: one behind HTTP. */
function withSpeaker(): string {
  const { agents, ...built } = JSON.parse(testAgents) as { agents: { slug: string }[] };
  const table = { url: `${others.url}/turn`, attempts: 10, event_interval_ms: 20 };
  const speaker = { ...agents.find(({ slug }) => slug === "faults"), slug: "speaker", default: false, executor: { kind: "http", table, run: {} } };
  return JSON.stringify({ ...built, agents: [...agents, speaker] });
}

/** Every fourth place has tasks of a front, one of a model, one of an agent behind HTTP. */
function subjectAt(place: number, number: number): AnySubject {
  if (place % 4 === 3) return new FrontSubject(world, `${worker.url}/front`, seed, number);
  if (place % 4 === 2) return new ThinkingSubject(world, others, `${worker.url}/thinker`, "model", seed, number);
  if (place % 4 === 1) return new ThinkingSubject(world, others, `${worker.url}/speaker`, "http", seed, number);
  return new Subject(world, seed, number);
}

/** Keeps as many tasks under way as wanted, until the killing is over. */
async function keepBusy(_: unknown, place: number): Promise<void> {
  while (isKilling) {
    const subject = subjectAt(place, subjects.length + 1);
    subjects.push(subject);
    alive.add(subject);
    await subject.live();
    subject.settle();
    alive.delete(subject);
  }
}

/** Reads the newest pages of the listing, for those that must not be asked for. */
async function keepListing(): Promise<void> {
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

async function kill(): Promise<void> {
  kills += 1;
  await worker.kill9();
  await worker.restart();
}

/** Kills at a random moment, as it is answered, or shortly after the start before; sometimes evicts a task that rests. */
async function disturb(): Promise<void> {
  if (random.chance(0.15)) {
    const resting = [...alive].find((subject) => subject.isAtRest)?.id;
    if (resting !== undefined) await worker.evict(resting, random.pick(["hibernate", "close"])).catch(() => undefined);
  }
  if (random.chance(0.1)) await others.restart();
  await sleep(random.whole(0, 900));
  if (random.chance(0.5)) await sink.next(1_000);
  if (random.chance(0.3)) await sleep(random.whole(0, 45));
  await kill();
  while (kills < wanted && random.chance(0.15)) {
    await sleep(random.whole(0, 120));
    await kill();
  }
}

function progress(): string {
  const steps = subjects.reduce((sum, subject) => sum + subject.steps, 0);
  const wrong = (kind: string) => subjects.filter((subject) => subject.wrong.some((line) => line.startsWith(kind))).length;
  const tasks = subjects.filter(({ id }) => id !== undefined).length;
  return `kills ${kills}, tasks ${tasks}, steps ${steps}, lost ${wrong("lost")}, duplicated ${wrong("duplicated")}, stuck ${wrong("stuck")}`;
}

/** What is wrong with the sums of usage in D1, which are to be what the tasks say that they have used. */
async function wrongSums(): Promise<string | undefined> {
  const usages = subjects.flatMap((subject) => (subject instanceof ThinkingSubject && subject.usage !== undefined ? [subject.usage] : []));
  const told = { requests: 0, inputTokens: 0, outputTokens: 0 };
  for (const usage of usages) for (const name of ["requests", "inputTokens", "outputTokens"] as const) told[name] += usage[name];
  const sql = "SELECT coalesce(sum(requests), 0) AS requests, coalesce(sum(input_tokens), 0) AS inputTokens, coalesce(sum(output_tokens), 0) AS outputTokens FROM usage WHERE agent = 'thinker'";
  const until = Date.now() + PATIENCE_MS;
  for (;;) {
    const [sums] = (await (await worker.d1()).prepare(sql).run<typeof told>()).results;
    if (JSON.stringify(sums) === JSON.stringify(told)) return undefined;
    if (Date.now() > until) return `the sums of usage are ${JSON.stringify(sums)}, and the tasks have used ${JSON.stringify(told)}`;
    await sleep(200);
  }
}

const reporting = setInterval(() => process.stdout.write(`${Math.round((Date.now() - begun) / 1000)} s: ${progress()}, ${alive.size} under way\n`), PROGRESS_MS);
const living = Promise.all(Array.from({ length: atOnce }, keepBusy));
const listing = keepListing();
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

const failed = subjects.filter(({ wrong }) => wrong.length > 0);
for (const { title, wrong } of failed) process.stdout.write(`\n${title}\n${wrong.map((line) => `    ${line}\n`).join("")}`);
if (uncounted !== undefined) process.stdout.write(`\n${uncounted}\n`);
process.stdout.write(`\n${progress()}\n`);
process.exit(failed.length > 0 || uncounted !== undefined ? 1 : 0);
