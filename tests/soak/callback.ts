// A task whose run makes a callback, and whose URL a server is told that posts bodies to it: at any moment, also when the Worker has just been
// started again. Steps come before the callback and behind it, and whenever the run goes on it works for a while in memory before it waits
// again. A post is answered 202, or 503 with `Retry-After`, and is repeated under its key until it is taken. Each body that was posted is given
// to the run once; bodies that are posted one after the other keep their order. 404 for a callback that waits is a loss.

import { isTerminal, message, type Message, type Task } from "../e2e/client.ts";
import { Posting } from "./posts.ts";
import { sleep } from "./random.ts";
import { PolledSubject, type World } from "./subject.ts";

/** How many bodies a callback takes at most: the agent has a rule for each number. */
export const MOST_BODIES = 4;

export class CallbackSubject extends PolledSubject {
  readonly path: string;
  readonly #workMs: number;
  readonly #isOrdered: boolean;
  /** Whether nobody asks for it once the URL is known, so that nothing but a post and the alarm wakes it. */
  readonly #isLeftAlone: boolean;
  readonly #posts: Posting[];
  #url: string | undefined;
  #hasEnded = false;
  #counted: number | undefined;

  constructor(world: World, number: number) {
    super(world, "callback", "soak-callback", number);
    this.path = `/${this.name}`;
    this.#workMs = this.random.whole(1, 600);
    this.#isOrdered = this.random.chance(0.5);
    this.#isLeftAlone = this.random.chance(0.7);
    const count = this.random.whole(1, MOST_BODIES);
    this.#posts = Array.from({ length: count }, (_, index) => new Posting(`${this.name} ${index + 1}`));
  }

  protected get shape(): string {
    return `${this.#posts.length} bodies, ${this.#isOrdered ? "one after the other" : "at once"}, work for ${this.#workMs} ms${this.#isLeftAlone ? ", left alone" : ""}`;
  }

  protected override get isSilent(): boolean {
    return this.#isLeftAlone && this.#url !== undefined;
  }

  protected get said(): Message {
    return message(`wait for ${this.#posts.length} working ${this.#workMs} ${this.world.sink.url}${this.path}`);
  }

  get done(): number {
    return this.#counted ?? this.#posts.filter(({ isTaken }) => isTaken).length;
  }

  settle(): void {
    this.#counted = this.done;
    this.world.sink.forget(this.path);
  }

  protected override look({ artifacts = [], status }: Task): void {
    const data = artifacts.find(({ artifactId }) => artifactId === "news")?.parts[0]?.data as { url: string } | undefined;
    if (this.#url !== undefined && data !== undefined) this.expect(data.url === this.#url, "lost: its callback has another URL");
    this.#url ??= data?.url;
    this.#hasEnded = isTerminal(status.state);
  }

  /** Posts the bodies once the URL is known. */
  protected override async accompany(): Promise<void> {
    while (this.#url === undefined) {
      if (this.#isOver) return;
      await sleep(5);
    }
    const url = this.#url;
    const deliver = (post: Posting) => post.deliver(url, this.random, () => this.#isOver);
    if (!this.#isOrdered) await Promise.all(this.#posts.map(deliver));
    else for (const post of this.#posts) await deliver(post);
  }

  get #isOver(): boolean {
    return this.#hasEnded || this.world.isOver();
  }

  protected checkWork(task: Task): void {
    const steps = (place: string) => this.world.sink.arrivals(this.path).filter(({ path }) => path.split("/")[2] === place).map(({ path }) => Number(path.split("/")[3]));
    for (const place of ["before", "after"]) this.checkOrder(`step ${place} the callback`, steps(place));
    const given = bodiesOf(task);
    const posted = this.#posts.map(({ body }) => body);
    this.expect(new Set(given).size === given.length, `duplicated: it was given ${given.join(", ")}`);
    this.expect(given.every((body) => posted.includes(body)), `duplicated: it was given ${given.join(", ")}`);
    if (this.#isOrdered) this.expect(given.join() === posted.slice(0, given.length).join(), `lost: it was given ${given.join(", ")} in this order`);
    for (const { wrong } of this.#posts) this.wrong.push(...wrong);
    if (task.status.state === "TASK_STATE_CANCELED") return;
    for (const post of this.#posts) this.wrong.push(...post.wrongFor(given.includes(post.body)));
  }

  protected checkResult(task: Task): void {
    if (!this.expectCompleted(task)) return;
    const given = bodiesOf(task);
    this.expect(given.length === this.#posts.length, `lost: it was given ${given.length} of ${this.#posts.length} bodies`);
    const steps = this.world.sink.arrivals(this.path).map(({ path }) => path.slice(this.path.length));
    for (const step of ["/before/1", "/before/2", "/after/1", "/after/2"]) this.expect(steps.includes(step), `lost: its step ${step} was never done`);
  }
}

const bodiesOf = ({ artifacts = [] }: Task): string[] =>
  artifacts.filter(({ artifactId }) => artifactId.startsWith("news-body")).map(({ parts }) => parts[0]?.text ?? "");
