// The kinds of runs that a deploy interrupts: at the end nothing is lost, and nothing is done twice but the step that was under way.

import { Agent, textOf, until, type Task } from "../e2e/client.ts";
import { resultsIn } from "../e2e/model-server.ts";
import { untilListedAsEnded } from "../e2e/runs.ts";
import { Follower, artifactOf, attemptOf, tell, undisturbed } from "../e2e/steps.ts";
import type { StreamEvent } from "../e2e/stream.ts";
import { wordsOf, type Deployment } from "./deploy.ts";
import { Run } from "./run.ts";

/** For how long a run is parked, in milliseconds: long enough to begin all runs of the kind meanwhile, also on a busy machine. */
const PARK_MS = 8_000;

const STEPS = 5;

/** The step that the sink holds when it comes first. */
const HELD = 3;

/** A run whose third step is under way, which is therefore done again. */
class StepRun extends Run {
  override async begin(): Promise<void> {
    this.deployment.sink.plan(`/${this.name}/${HELD}`, "hold");
    await super.begin();
  }

  protected async untilUnderWay(): Promise<void> {
    await this.deployment.sink.arrival(`/${this.name}/${HELD}`);
  }

  protected wrongWork(task: Task, log: StreamEvent[]): string[] {
    return [
      ...this.expected("what it did", this.done(), TWICE),
      ...this.expected("its artifact", textOf(task.artifacts?.[0]), artifactOf(STEPS)),
      ...this.expected("its log", log.map(tell).join(), undisturbed(STEPS).join()),
      ...this.expected("its attempt", String(attemptOf(task)), "2"),
    ];
  }
}

/** All steps once, and the one that was under way twice. */
const TWICE = "1@1 2@1 3@1 3@2 4@2 5@2";

/** A run that is parked for a time; the Worker is replaced meanwhile. */
class ParkedRun extends Run {
  #dueAt = Infinity;

  protected override get said(): string {
    return `park ${PARK_MS} ${this.deployment.sink.url}/${this.name}`;
  }

  protected async untilUnderWay(): Promise<void> {
    await until(() => this.agent.getTask(this.id), ({ artifacts }) => textOf(artifacts?.[0]) === artifactOf(2));
    this.#dueAt = Date.now() + PARK_MS;
  }

  override get waitedMs(): number {
    return Math.max(0, super.waitedMs - Math.max(0, this.#dueAt - this.deployment.killedAt));
  }

  protected wrongWork(task: Task): string[] {
    return this.expected("what it did", `${this.done("/before")}, ${this.done("/after")} (${attemptOf(task)})`, "1@1 2@1, 1@1 2@1 (1)");
  }
}

/** A run that waits for a callback. Its client posts while the Worker is down, and again under the same key until the post is taken, and once more. */
class CallbackRun extends Run {
  readonly answers: number[] = [];
  #url = "";

  protected override get said(): string {
    return `wait ${this.deployment.sink.url}/${this.name}`;
  }

  protected async untilUnderWay(): Promise<void> {
    this.#url = urlIn(await until(() => this.agent.getTask(this.id), (task) => urlIn(task) !== undefined)) ?? "";
  }

  override async accompany(): Promise<void> {
    await until(() => this.#post(), (status) => status === 202);
    this.answers.push(await this.#post());
  }

  async #post(): Promise<number> {
    const headers = { "content-type": "text/plain", "idempotency-key": this.name };
    const answer = await fetch(this.#url, { method: "POST", headers, body: `body of ${this.name}` }).catch(() => undefined);
    await answer?.body?.cancel();
    return answer?.status ?? 0;
  }

  protected wrongWork(task: Task): string[] {
    const bodies = (task.artifacts ?? []).filter(({ artifactId }) => artifactId.startsWith("news-body")).map(textOf);
    return [
      ...this.expected("what it did", `${this.done("/before")}, ${this.done("/after")} (${attemptOf(task)})`, "1@1 2@1, 1@1 2@1 (1)"),
      ...this.expected("what it was given", bodies.join(), `body of ${this.name}`),
      // The repeated post is known by its key, also after the end of the callback.
      ...this.expected("the answer to the repeated post", this.answers.join(), "202"),
    ];
  }
}

/** The URL of the callback that a task has told. */
function urlIn({ artifacts = [] }: Task): string | undefined {
  const data = artifacts.flatMap(({ parts }) => parts).find((part) => part.data !== undefined)?.data;
  return (data as { url?: string } | undefined)?.url;
}

/** A run that streams the answer of a model to a client, which resumes its stream. */
class StreamRun extends Run {
  #follower: Follower | undefined;

  protected override get said(): string {
    return this.name;
  }

  override async begin(): Promise<void> {
    this.#follower = Follower.sending(this.agent.endpoint, this.params);
    await this.untilUnderWay();
  }

  protected async untilUnderWay(): Promise<void> {
    await until(async () => this.#follower?.seen.some(({ data }) => data.result?.artifactUpdate !== undefined), (isTold) => isTold === true);
    this.id = this.#follower?.id ?? "";
  }

  override get progressedAt(): number | undefined {
    return this.#follower?.times.find((time) => time > this.deployment.killedAt);
  }

  protected override get seen(): StreamEvent[] {
    return this.#follower?.seen ?? [];
  }

  override async wrong(): Promise<string[]> {
    await this.#follower?.done;
    return super.wrong();
  }

  protected wrongWork(task: Task, log: StreamEvent[]): string[] {
    const asked = this.deployment.askedBy(this.name);
    const last = asked.at(-1);
    const ids = (events: StreamEvent[]): string => events.map(({ id }) => id).join();
    return [
      ...this.expected("the number of requests to its model", String(asked.length), "2"),
      ...this.expected("its text", (task.artifacts ?? []).map(textOf).join("|"), last === undefined ? "" : wordsOf(last).join("")),
      ...this.expected("what its client saw", ids(this.seen), ids(log)),
      ...((this.#follower?.streams ?? 0) > 1 ? [] : ["lost: its client did not resume"]),
    ];
  }
}

/** A run whose model has given a job to another agent, whose third step is under way. */
class LeadRun extends StepRun {
  protected override get said(): string {
    return this.name;
  }

  override get progressedAt(): number | undefined {
    return this.deployment.askedAt(this.name);
  }

  protected override wrongWork(task: Task): string[] {
    const { sink } = this.deployment;
    const asked = this.deployment.askedBy(this.name);
    const jobs = new Set(sink.arrivals(`/${this.name}`).map((arrival) => arrival.json<{ task: string }>().task));
    const told = asked.at(-1);
    return [
      ...this.expected("what its helper did", this.done(), TWICE),
      ...this.expected("the number of its helper's tasks", String(jobs.size), "1"),
      ...this.expected("the number of requests to its model", String(asked.length), "2"),
      ...this.expected("what its model was told", (told === undefined ? "" : resultsIn(told)["job"] ?? "").trim(), `[COMPLETED] ${artifactOf(STEPS)}`.trim()),
      ...((task.artifacts ?? []).map(textOf).join("|").startsWith("It was said: [COMPLETED]") ? [] : ["lost: the result of its helper"]),
    ];
  }
}

/** The kinds of runs, by the names of their agents (tests/upgrade/agents). Those that are parked for a time begin last. */
const CLASSES = { steps: StepRun, stream: StreamRun, callback: CallbackRun, lead: LeadRun, parked: ParkedRun };

export type Kind = keyof typeof CLASSES;
export const KINDS = Object.keys(CLASSES) as Kind[];

/** Begins this number of runs of each kind; resolves when all of them are where the deploy is to find them. */
export async function beginRuns(deployment: Deployment, count: number): Promise<Run[]> {
  const all: Run[] = [];
  for (const kind of KINDS) {
    const runs = Array.from({ length: count }, (_, index) => new CLASSES[kind](deployment, kind, index));
    await Promise.all(runs.map((run) => run.begin()));
    all.push(...runs);
  }
  return all;
}

/** Waits until all runs are listed as ended, which does not wake them. */
export async function untilAllEnded(deployment: Deployment, runs: Run[]): Promise<void> {
  for (const kind of KINDS) {
    const ids = runs.filter((run) => run.kind === kind).map(({ id }) => id);
    await untilListedAsEnded(ids, new Agent(`${deployment.url}/${kind}`));
  }
}
