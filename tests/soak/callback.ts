// A task whose run makes a callback, and whose URL a server is told that posts bodies to it: at any moment, also when the Worker has just been
// started again. Steps come before the callback and behind it, and whenever the run goes on it works for a while in memory before it waits
// again. A post is answered 202, or 503 with `Retry-After`, and is repeated under its key until it is taken. Each body that was posted is given
// to the run once; bodies that are posted one after the other keep their order. 404 for a callback that waits is a loss.

import { randomUUID } from "node:crypto";
import { isTerminal, message, type Message, type Task } from "../e2e/client.ts";
import { sleep } from "./random.ts";
import { PolledSubject, type World } from "./subject.ts";

/** How many bodies a callback takes at most: the agent has a rule for each number. */
export const MOST_BODIES = 4;

/** One body, and what became of its posts. */
interface Post {
  body: string;
  /** Whether an answer to a post was lost, so that the body may be taken already. */
  mayBeTaken: boolean;
  isTaken: boolean;
  /** Whether it was once said that there is no such callback. */
  wasUnknown: boolean;
}

export class CallbackSubject extends PolledSubject {
  readonly path: string;
  readonly #workMs: number;
  readonly #isOrdered: boolean;
  /** Whether nobody asks for it once the URL is known, so that nothing but a post and the alarm wakes it. */
  readonly #isLeftAlone: boolean;
  readonly #posts: Post[];
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
    this.#posts = Array.from({ length: count }, (_, index) => ({ body: `${this.name} ${index + 1}`, mayBeTaken: false, isTaken: false, wasUnknown: false }));
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
    if (!this.#isOrdered) await Promise.all(this.#posts.map((post) => this.#post(url, post)));
    else for (const post of this.#posts) await this.#post(url, post);
  }

  get #isOver(): boolean {
    return this.#hasEnded || this.world.isOver();
  }

  async #post(url: string, post: Post): Promise<void> {
    await sleep(this.random.whole(0, 1_500));
    const headers = { "content-type": "text/plain", "idempotency-key": randomUUID() };
    while (!post.isTaken && !this.#isOver) {
      const answer = await fetch(url, { method: "POST", headers, body: post.body }).then(async ({ status, headers, body }) => {
        await body?.cancel();
        return { status, retryAfter: headers.get("retry-after") };
      }).catch(() => undefined);
      if (answer === undefined || answer.status === 500) post.mayBeTaken = true;
      else if (answer.status === 202) post.isTaken = true;
      else if (answer.status === 404) post.wasUnknown = true;
      else this.expect(answer.status === 503 && answer.retryAfter !== null, `lost: a post was answered ${answer.status}, Retry-After ${answer.retryAfter}`);
      if (!post.isTaken) await sleep(this.random.whole(5, 60));
    }
  }

  protected checkWork(task: Task): void {
    const steps = (place: string) => this.world.sink.arrivals(this.path).filter(({ path }) => path.split("/")[2] === place).map(({ path }) => Number(path.split("/")[3]));
    for (const place of ["before", "after"]) this.checkOrder(`step ${place} the callback`, steps(place));
    const given = bodiesOf(task);
    const posted = this.#posts.map(({ body }) => body);
    this.expect(new Set(given).size === given.length, `duplicated: it was given ${given.join(", ")}`);
    this.expect(given.every((body) => posted.includes(body)), `duplicated: it was given ${given.join(", ")}`);
    if (this.#isOrdered) this.expect(given.join() === posted.slice(0, given.length).join(), `lost: it was given ${given.join(", ")} in this order`);
    if (task.status.state === "TASK_STATE_CANCELED") return;
    for (const { body, isTaken, mayBeTaken, wasUnknown } of this.#posts) {
      const isGiven = given.includes(body);
      if (isTaken) this.expect(isGiven, `lost: ${body} was taken and is not given`);
      // One whose answer was lost may be posted again when the callback is used up and over.
      if (wasUnknown) this.expect(mayBeTaken && isGiven && !isTaken, `lost: a post of ${body} was answered 404`);
    }
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
