// A task of an executor in TypeScript (tests/functions/chain.ts), which does the jobs of its messages one after the other. Each step was done once,
// but one that was under way at a kill, which is repeated by a later run under the same key. A text that is written piece by piece has pieces of one attempt
// alone, whenever somebody reads it. The values of the jobs reach the result: those of the requests that came last, the whole texts, what was posted
// to the callbacks, and what the other agents answered, each of which has one task. Each note of progress is in the log once.

import { isTerminal, message, textOf, type Artifact, type Message, type Task } from "../e2e/client.ts";
import type { Arrival } from "../e2e/sink.ts";
import { artifactOf, Follower, logOf, tell, wrongLog, wrongSteps, type StepCall } from "../e2e/steps.ts";
import { BEGINNING, textId, type Job, type Plan, type Post } from "../functions/jobs.ts";
import { unlessCanceled } from "./http.ts";
import { Posting } from "./posts.ts";
import { sleep } from "./random.ts";
import { PolledSubject, type World } from "./subject.ts";

/** A job with its place. */
type Placed = Job & { place: number };

/** The agent of a Worker that is not killed, by the name that the killed one has for it. */
const REMOTE = "soak-elsewhere";

export class FunctionSubject extends PolledSubject {
  readonly #path: string;
  readonly #plans: Plan[];
  readonly #jobs: Placed[];
  /** Whether nobody asks for it before it is listed as ended, so that nothing but its waits, its callbacks and the alarm wakes it. */
  readonly #isLeftAlone: boolean;
  readonly #isFollowed: boolean;
  readonly #posts = new Map<number, Posting>();
  #follower: Follower | undefined;
  #hasAnswered = false;
  #hasEnded = false;
  #counted: number | undefined;

  constructor(world: World, number: number) {
    super(world, "functions", "soak-functions", number);
    this.#path = `/${this.name}`;
    const asks = this.random.chance(0.25);
    const turns = asks ? [this.random.whole(1, 4), this.random.whole(1, 4)] : [this.random.whole(1, 8)];
    let first = 1;
    this.#plans = turns.map((count, index) => {
      const plan = { name: this.name, first, jobs: Array.from({ length: count }, () => this.#chooseJob()), asks: index < turns.length - 1 };
      first += count;
      return plan;
    });
    this.#jobs = this.#plans.flatMap(({ first, jobs }) => jobs.map((job, index) => ({ ...job, place: first + index })));
    for (const { do: what, place } of this.#jobs) if (what === "callback") this.#posts.set(place, new Posting(`${this.name} ${place}`));
    this.#isLeftAlone = !asks && this.random.chance(0.35);
    this.#isFollowed = !this.#isLeftAlone && this.random.chance(0.4);
  }

  #chooseJob(): Job {
    const { random } = this;
    switch (random.pick(["step", "step", "step", "steps", "write", "write", "wait", "callback", "remote"] as const)) {
      case "step": return { do: "step" };
      case "steps": return { do: "steps", count: random.whole(2, 4) };
      case "write": return { do: "write", pieces: random.whole(1, 12), pauseMs: random.whole(0, 40) };
      case "wait": return { do: "wait", ms: random.whole(0, 800) };
      case "callback": return { do: "callback" };
      case "remote": return { do: "remote", agent: REMOTE, steps: random.whole(1, 6) };
    }
  }

  protected get shape(): string {
    const told = ({ jobs }: Plan) => jobs.map(({ do: what }) => what).join(", ");
    return `${this.#plans.map(told).join("; asks; ")}${this.#isLeftAlone ? "; left alone" : ""}${this.#isFollowed ? "; followed" : ""}`;
  }

  protected override get isSilent(): boolean {
    return this.#isLeftAlone;
  }

  protected get said(): Message {
    return message({ parts: [{ data: this.#plans[0] }] });
  }

  get done(): number {
    return this.#counted ?? this.world.sink.arrivals(this.#path).length;
  }

  settle(): void {
    this.#counted = this.done;
    this.#follower?.leave();
    this.world.sink.forget(this.#path);
    for (const { place } of this.#ofKind("remote")) this.world.sink.forget(this.#remotePath(place));
  }

  protected override async answer({ id }: Task): Promise<void> {
    if (this.#hasAnswered) return;
    this.#hasAnswered = true;
    const said = message({ taskId: id, parts: [{ data: this.#plans[1] }] });
    await this.insist(() => this.agent.sendForTask(said, { returnImmediately: true }).catch(unlessCanceled));
  }

  /** Follows it, and posts to each callback as soon as its URL was given to the server. */
  protected override async accompany(): Promise<void> {
    if (this.#isFollowed) this.#follower = Follower.persistent(this.agent.endpoint, this.id ?? "");
    const isOver = () => this.#hasEnded || this.world.isOver();
    await Promise.all([...this.#posts].map(async ([place, posting]) => {
      for (;;) {
        const url = this.#requests(place)[0]?.json<Post>().notify;
        if (url !== undefined) return posting.deliver(url, this.random, isOver);
        if (isOver()) return;
        await sleep(5);
      }
    }));
  }

  /** Each text is one of one attempt. */
  protected override look({ artifacts = [], status }: Task): void {
    this.#hasEnded = isTerminal(status.state);
    for (const { place, pieces } of this.#ofKind("write")) {
      const shown = textOf(artifacts.find(({ artifactId }) => artifactId === textId(place)));
      const nonce = /<([^:>]+):/.exec(shown)?.[1] ?? "";
      this.expect(textOfPieces(nonce, pieces).startsWith(shown), `duplicated: job ${place} shows ${shown}, with pieces of two attempts`);
    }
  }

  protected async checkWork(task: Task): Promise<void> {
    const isCanceled = task.status.state === "TASK_STATE_CANCELED";
    this.#checkSteps();
    for (const [place, posting] of this.#posts) {
      const urls = new Set(this.#requests(place).map((request) => request.json<Post>().notify));
      this.expect(urls.size <= 1, `lost: the callback of job ${place} had the URLs ${[...urls].join(", ")}`);
      this.wrong.push(...posting.wrong);
    }
    // A remote task that is canceled takes a moment for it.
    if (isCanceled && this.#ofKind("remote").length > 0) await sleep(3_000);
    for (const { place, steps } of this.#ofKind("remote")) this.#checkRemote(place, isCanceled ? undefined : steps);
    await this.#checkLog(isCanceled);
  }

  /** A step follows the one before it, is repeated by another run alone, and keeps its key. */
  #checkSteps(): void {
    const arrivals = this.world.sink.arrivals(this.#path);
    const steps = this.#jobs.filter(({ do: what }) => what === "step" || what === "callback" || what === "steps").map(({ place }) => place);
    const isAlone = (place: number) => this.#jobs[place - 1]?.do !== "steps";
    const places = arrivals.map((arrival) => arrival.json<Post>().place);
    // Steps that are done at once are in any order among themselves.
    this.checkOrder("step", places.filter((place, index) => isAlone(place) || places[index - 1] !== place).map((place) => steps.indexOf(place) + 1));
    const keys = new Map<string, string>();
    for (const [path, requests] of grouped(arrivals, ({ path }) => path)) {
      const of = (member: (request: Arrival) => unknown) => new Set(requests.map(member)).size;
      this.expect(of((request) => request.json<Post>().run) === requests.length, `duplicated: ${path} was done twice by one run`);
      this.expect(requests.length <= 1 + this.kills, `duplicated: ${path} was done ${requests.length} times, at ${this.kills} kills`);
      const key = String(requests[0]?.headers["idempotency-key"]);
      this.expect(of(({ headers }) => headers["idempotency-key"]) === 1, `duplicated: ${path} was done under several keys`);
      this.expect(!keys.has(key), `lost: ${path} was done under the key of ${keys.get(key)}`);
      keys.set(key, path);
      if (!isAlone(requests[0]?.json<Post>().place ?? 0)) this.repeated = (this.repeated ?? 0) + requests.length - 1;
    }
    this.expect(new Set(arrivals.map((arrival) => arrival.json<Post>().task)).size <= 1, "duplicated: its steps were done by two tasks");
  }

  /** The other agent has one task, whose steps were done once each. */
  #checkRemote(place: number, steps: number | undefined): void {
    const arrivals = this.world.sink.arrivals(this.#remotePath(place));
    const tasks = new Set(arrivals.map((arrival) => arrival.json<StepCall>().task));
    this.expect(tasks.size <= 1, `duplicated: job ${place} has ${tasks.size} tasks of the other agent`);
    this.wrong.push(...wrongSteps(arrivals, steps ?? arrivals.at(-1)?.json<StepCall>().step ?? 0).map((line) => `${line} (job ${place})`));
  }

  /** The log has each note of progress once, in order, and clients have seen it. */
  async #checkLog(isCanceled: boolean): Promise<void> {
    const log = await this.insist(() => logOf(this.agent.endpoint, this.id ?? ""));
    if (log === undefined) return void this.wrong.push("stuck: its log cannot be read");
    await this.#follower?.done;
    const seen = this.#follower?.seen;
    this.wrong.push(...wrongLog(log, ...(seen === undefined ? [] : [seen])));
    this.expect(seen === undefined || seen.map(({ id }) => id).join() === log.map(({ id }) => id).join(), `lost: a client saw ${seen?.map(({ id }) => id).join(" ")} of ${log.length}`);
    const told = log.map(tell).filter((words) => words.startsWith("WORKING job ")).map((words) => Number(words.split(" ")[2]));
    const expected = this.#jobs.map(({ place }) => place).slice(0, isCanceled ? told.length : undefined);
    this.expect(told.join() === expected.join(), `${told.length > expected.length ? "duplicated" : "lost"}: it told of the jobs ${told.join(", ")}`);
  }

  protected checkResult(task: Task): void {
    if (!this.expectCompleted(task)) return;
    const { artifacts = [] } = task;
    const find = (id: string): Artifact | undefined => artifacts.find(({ artifactId }) => artifactId === id);
    const expected = [...this.#ofKind("write").map(({ place }) => textId(place)), ...this.#plans.map(({ asks }) => (asks ? "so-far" : "result"))];
    this.expect(artifacts.map(({ artifactId }) => artifactId).sort().join() === expected.sort().join(), `lost: its artifacts are ${artifacts.map(({ artifactId }) => artifactId).join()}`);
    const values = this.#plans.flatMap(({ asks }) => (find(asks ? "so-far" : "result")?.parts[0]?.data ?? []) as unknown[]);
    this.expect(values.length === this.#jobs.length, `lost: there are ${values.length} values of ${this.#jobs.length} jobs`);
    for (const job of this.#jobs) {
      const value = values[job.place - 1];
      const right = this.#valueOf(job, textOf(find(textId(job.place))));
      this.expect(flat(value) === flat(right), `lost: the value of job ${job.place}, ${job.do}, is ${JSON.stringify(value)}, not ${JSON.stringify(right)}`);
      if (job.do === "write") this.expect(String(value).endsWith(`: ${job.pieces} of ${job.pieces}>`), `lost: the text of job ${job.place} is ${JSON.stringify(value)}`);
      if (job.do === "callback") this.wrong.push(...(this.#posts.get(job.place)?.wrongFor(value === right) ?? []));
    }
  }

  /** What the value of a job is to be, given the text that it has written, if it writes one. */
  #valueOf(job: Placed, text: string): unknown {
    const nonces = (path: string) => this.#requests(job.place).filter((arrival) => arrival.path.endsWith(path)).at(-1)?.json<Post>().nonce;
    switch (job.do) {
      case "step": return nonces("/step");
      case "steps": return Array.from({ length: job.count }, (_, index) => nonces(`/part%20${index + 1}`));
      case "write": return text;
      case "wait": return "time";
      case "callback": return this.#posts.get(job.place)?.body;
      case "remote": return artifactOf(job.steps);
    }
  }

  #requests(place: number): Arrival[] {
    return this.world.sink.arrivals(`${this.#path}/${place}`);
  }

  #remotePath(place: number): string {
    return `${this.#path}-${place}`;
  }

  #ofKind<What extends Job["do"]>(what: What): Extract<Placed, { do: What }>[] {
    return this.#jobs.filter((job): job is Extract<Placed, { do: What }> => job.do === what);
  }
}

/** A text of so many pieces, written by one attempt. */
function textOfPieces(nonce: string, pieces: number): string {
  return BEGINNING + Array.from({ length: pieces }, (_, index) => `<${nonce}: ${index + 1} of ${pieces}>`).join("");
}

/** JSON without the white space in texts, of which the text of an answer may have another. */
const flat = (value: unknown): string => JSON.stringify(value, (_, member: unknown) => (typeof member === "string" ? member.split(/\s+/).filter(Boolean).join(" ") : member));

function grouped<Item>(items: Item[], by: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) groups.set(by(item), [...(groups.get(by(item)) ?? []), item]);
  return groups;
}
