// One task of a soak whose agent is a front of a remote one, which is never killed: what is lost or done twice is the front's doing.

import { Agent, RpcError, isTerminal, message, textOf, type Message, type Task } from "../e2e/client.ts";
import { artifactOf, wrongSteps, type StepCall } from "../e2e/steps.ts";
import { Random, sleep } from "./random.ts";
import { insist, type World } from "./subject.ts";

/** One task, and the one of the remote agent behind it. */
export class FrontSubject {
  readonly path: string;
  id: string | undefined;
  /** What went wrong, each beginning with `lost`, `duplicated` or `stuck`. */
  readonly wrong: string[] = [];
  readonly isAtRest = false;
  readonly #world: World;
  readonly #random: Random;
  readonly #agent: Agent;
  readonly #said: Message;
  readonly #steps: number;
  readonly #cancelAfterMs: number | undefined;
  readonly #key: string;
  #counted: number | undefined;

  constructor(world: World, endpoint: string, seed: number, number: number) {
    this.#world = world;
    this.#random = new Random(seed ^ Math.imul(number, 0x85ebca6b));
    this.path = `/front-${number}`;
    this.#steps = this.#random.whole(2, 20);
    const pauseMs = this.#random.whole(1, Math.floor(2_500 / this.#steps));
    this.#cancelAfterMs = this.#random.chance(0.15) ? this.#random.whole(0, 1_500) : undefined;
    this.#key = `front ${seed} ${number} ${Date.now()}`;
    this.#agent = new Agent(endpoint, { "idempotency-key": this.#key });
    this.#said = message(`steps ${this.#steps} every ${pauseMs} ${world.sink.url}${this.path}`);
  }

  get title(): string {
    return `${this.id ?? "a task that was never answered"} (${this.path}, a front, cancel after ${this.#cancelAfterMs ?? "never"})`;
  }

  get steps(): number {
    return this.#counted ?? this.#world.sink.arrivals(this.path).length;
  }

  settle(): void {
    this.#counted = this.steps;
    this.#world.sink.forget(this.path);
  }

  async live(): Promise<void> {
    this.id = (await this.#insist(() => this.#agent.sendForTask(this.#said, { returnImmediately: true })))?.id;
    const { id } = this;
    if (id === undefined) return;
    if (this.#cancelAfterMs !== undefined) {
      await sleep(this.#cancelAfterMs);
      await this.#insist(() => this.#agent.cancelTask(id).catch(unlessOver));
    }
    for (;;) {
      const task = await this.#insist(() => this.#agent.getTask(id));
      if (task === undefined || isTerminal(task.status.state)) return this.#check(task);
      await sleep(this.#random.whole(10, 300));
    }
  }

  async #check(task: Task | undefined): Promise<void> {
    const { wrong } = this;
    if (task === undefined) {
      wrong.push("stuck: it is not found");
      return;
    }
    const isCanceled = task.status.state === "TASK_STATE_CANCELED";
    // A remote task that is canceled takes a moment for it, and one that is not would go on.
    if (isCanceled) await sleep(3_000);
    const arrivals = this.#world.sink.arrivals(this.path);
    wrong.push(...wrongSteps(arrivals, isCanceled ? (arrivals.at(-1)?.json<StepCall>().step ?? 0) : this.#steps));
    const tasks = new Set(arrivals.map((arrival) => arrival.json<StepCall>().task));
    if (tasks.size > 1) wrong.push(`duplicated: there are ${tasks.size} remote tasks`);
    if (isCanceled) {
      if (this.#cancelAfterMs === undefined) wrong.push("lost: it was canceled by nobody");
      return;
    }
    if (task.status.state !== "TASK_STATE_COMPLETED") wrong.push(`lost: it is ${task.status.state} ${textOf(task.status.message)}`);
    if (textOf(task.artifacts?.[0]) !== artifactOf(this.#steps)) wrong.push(`lost: its artifact is ${JSON.stringify(textOf(task.artifacts?.[0]))}`);
  }

  #insist<Value>(request: () => Promise<Value>): Promise<Value | undefined> {
    return insist(this.#world, this.wrong, request);
  }
}

/** A task that has ended cannot be canceled. */
function unlessOver(error: unknown): void {
  if (!(error instanceof RpcError && error.code === -32002)) throw error;
}
