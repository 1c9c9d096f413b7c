// A task of an agent of kind `model`, which orders things by a tool and then tells a text. The model never answers twice alike: the artifact is
// one of its answers, whole; nothing is ordered under two keys, and what was ordered is not ordered again but at a kill. What the task has used
// is at least what those answers cost that it went on from, and at most what all cost.

import type { Kind } from "../../scripts/lib/soak-kinds.mjs";
import { message, textOf, type Message, type Task } from "../e2e/client.ts";
import { PolledSubject, type World } from "./subject.ts";

/** A task whose agent asks the model. */
export abstract class ThinkingSubject extends PolledSubject {
  #counted: number | undefined;
  protected shown = "";

  constructor(world: World, kind: Kind, number: number) {
    super(world, kind, `soak-${kind}`, number);
  }

  /** The jobs of the model, see plan.ts. */
  protected abstract readonly plan: string[];

  protected get said(): Message {
    return message([this.name, ...this.plan].join(" "));
  }

  get done(): number {
    return this.#counted ?? this.world.others.asked(this.name).requests;
  }

  settle(): void {
    this.#counted = this.done;
    this.world.others.forget(this.name);
  }

  /** What is shown is the beginning of an answer, or of a later one. */
  protected override look(task: Task): void {
    this.shown = textOf(task.artifacts?.find(({ artifactId }) => artifactId === "answer"));
    const { texts } = this.world.others.asked(this.name);
    if (this.shown !== "" && !texts.some((text) => text.startsWith(this.shown))) this.wrong.push(`duplicated: it shows ${this.shown}, which no answer begins with`);
  }

  protected checkResult(task: Task): void {
    if (!this.expectCompleted(task)) return;
    this.expect(this.world.others.asked(this.name).texts.includes(this.shown), `lost: its artifact is ${this.shown}, which is no whole answer`);
    this.#checkUsage();
  }

  #checkUsage(): void {
    const { requests, costs, taken, isEstimated } = this.world.others.asked(this.name);
    const used = this.usage ?? { requests: 0, inputTokens: 0, outputTokens: 0 };
    const needed = new Set([...taken, Number(/\d+/.exec(this.shown)?.[0])]);
    const isRight = (name: "inputTokens" | "outputTokens") => {
      const sum = (numbers: Iterable<number>) => [...numbers].reduce((sum, number) => sum + (costs.get(number)?.[name] ?? 0), 0);
      return used[name] >= sum(needed) && (isEstimated || used[name] <= sum(costs.keys()));
    };
    this.expect(used.requests >= needed.size && used.requests - (used.repeated?.requests ?? 0) <= requests, `lost: ${used.requests} requests were counted, of ${needed.size} to ${requests}`);
    for (const name of ["inputTokens", "outputTokens"] as const) this.expect(isRight(name), `lost: ${used[name]} ${name} were counted of what the model has taken`);
  }
}

export class ModelSubject extends ThinkingSubject {
  protected readonly plan: string[];

  constructor(world: World, number: number) {
    super(world, "model", number);
    this.plan = Array.from({ length: this.random.whole(0, 4) }, () => "order");
  }

  protected get shape(): string {
    return `${this.plan.length} orders`;
  }

  protected checkWork(): void {
    checkOrders(this, this.world, this.kills);
  }

  protected override checkResult(task: Task): void {
    super.checkResult(task);
    const { orders, told } = this.world.others.asked(this.name);
    if (task.status.state !== "TASK_STATE_COMPLETED") return;
    this.expect(orders.size === this.plan.length, `lost: ${orders.size} of ${this.plan.length} things were ordered`);
    for (const [place, text] of told) this.expect(text === `${this.name}_${place} is ordered`, `lost: the model was told ${JSON.stringify(text)}`);
  }
}

/** Notes what is wrong with what was ordered for a task: each thing under one key, and again at a kill alone. */
export function checkOrders({ name, wrong }: { name: string; wrong: string[] }, world: World, kills: number): void {
  for (const [item, keys] of world.others.asked(name).orders) {
    if (new Set(keys).size > 1 || keys[0] === "") wrong.push(`duplicated: ${item} was ordered under the keys ${keys.join(", ")}`);
    if (keys.length > 1 + kills) wrong.push(`duplicated: ${item} was ordered ${keys.length} times`);
  }
}
