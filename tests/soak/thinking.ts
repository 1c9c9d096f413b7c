// One task of a soak whose agent asks a model that calls a tool, or an agent behind HTTP: others that never answer twice alike. What it has
// at its end is one of their answers, whole, and nothing was ordered twice.

import { Agent, RpcError, isTerminal, message, textOf, type Message, type Task } from "../e2e/client.ts";
import type { Others } from "./others.ts";
import { Random, sleep } from "./random.ts";
import { insist, type World } from "./subject.ts";

/** What a task has used, as its metadata say it. */
interface Usage {
  requests: number;
  inputTokens: number;
  outputTokens: number;
}

export class ThinkingSubject {
  readonly path: string;
  id: string | undefined;
  /** What went wrong, each beginning with `lost`, `duplicated` or `stuck`. */
  readonly wrong: string[] = [];
  readonly isAtRest = false;
  /** What it has used of the model. */
  usage: Usage | undefined;
  readonly #world: World;
  readonly #others: Others;
  readonly #random: Random;
  readonly #agent: Agent;
  readonly #said: Message;
  readonly #name: string;
  readonly #orders: number;
  readonly #cancelAfterMs: number | undefined;
  #shown = "";

  /** `endpoint` is that of an agent of kind `model`, or `http`. */
  constructor(world: World, others: Others, endpoint: string, kind: "model" | "http", seed: number, number: number) {
    this.#world = world;
    this.#others = others;
    this.#random = new Random(seed ^ Math.imul(number, 0xc2b2ae35));
    this.#name = `${kind}${number}`;
    this.path = `/${this.#name}`;
    this.#orders = kind === "model" ? this.#random.whole(0, 6) : 0;
    this.#cancelAfterMs = this.#random.chance(0.12) ? this.#random.whole(0, 1_500) : undefined;
    this.#agent = new Agent(endpoint, { "idempotency-key": `${kind} ${seed} ${number} ${Date.now()}` });
    this.#said = message(`think ${this.#name} ${this.#orders}`);
  }

  get title(): string {
    return `${this.id ?? "a task that was never answered"} (${this.path}, ${this.#orders} orders, cancel after ${this.#cancelAfterMs ?? "never"})`;
  }

  get steps(): number {
    return 0;
  }

  settle(): void {
    this.#others.forget(this.#name);
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
      this.#look(task);
      await sleep(this.#random.whole(10, 300));
    }
  }

  /** What is shown is the beginning of an answer, or of a later one. */
  #look(task: Task): void {
    this.#shown = textOf(task.artifacts?.find(({ artifactId }) => artifactId === "answer"));
    const { texts } = this.#others.asked(this.#name);
    if (this.#shown !== "" && !texts.some((text) => text.startsWith(this.#shown))) this.wrong.push(`duplicated: it shows ${this.#shown}, which no answer begins with`);
  }

  #check(task: Task | undefined): void {
    const { wrong } = this;
    if (task === undefined) {
      wrong.push("stuck: it is not found");
      return;
    }
    this.#look(task);
    this.usage = task.metadata?.["urn:a2a-edge:usage"] as Usage | undefined;
    const { texts, orders, turns, tasks } = this.#others.asked(this.#name);
    for (const [item, keys] of orders) {
      if (new Set(keys).size > 1 || keys[0] === "") wrong.push(`duplicated: ${item} was ordered under the keys ${keys.join(", ")}`);
      if (keys.length > 1 + this.#world.kills()) wrong.push(`duplicated: ${item} was ordered ${keys.length} times`);
    }
    if (turns.size > 1) wrong.push(`duplicated: it was asked under ${turns.size} keys`);
    if (tasks.size > 1) wrong.push(`duplicated: it was asked for the tasks ${[...tasks].join(", ")}`);
    if (task.status.state === "TASK_STATE_CANCELED") {
      if (this.#cancelAfterMs === undefined) wrong.push("lost: it was canceled by nobody");
      return;
    }
    if (task.status.state !== "TASK_STATE_COMPLETED") wrong.push(`lost: it is ${task.status.state} ${textOf(task.status.message)}`);
    else if (!texts.includes(this.#shown)) wrong.push(`lost: its artifact is ${this.#shown}, which is no whole answer`);
    if (orders.size !== this.#orders) wrong.push(`lost: ${orders.size} of ${this.#orders} things were ordered`);
  }

  #insist<Value>(request: () => Promise<Value>): Promise<Value | undefined> {
    return insist(this.#world, this.wrong, request);
  }
}

/** A task that has ended cannot be canceled. */
function unlessOver(error: unknown): void {
  if (!(error instanceof RpcError && error.code === -32002)) throw error;
}
