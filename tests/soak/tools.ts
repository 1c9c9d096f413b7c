// A task of an agent of kind `tools`, whose message calls several: one that posts, some times in a row, and one that orders from a shop under a key.
// Each call gives one artifact, in their order; each post came once but at a kill, and nothing was ordered under two keys.

import { message, textOf, type Message, type Part, type Task } from "../e2e/client.ts";
import { checkOrders } from "./model.ts";
import { PolledSubject, type World } from "./subject.ts";

export class ToolsSubject extends PolledSubject {
  readonly path: string;
  /** How often it posts, or that it orders, in turn. */
  readonly #calls: (number | "order")[];
  #counted: number | undefined;

  constructor(world: World, number: number) {
    super(world, "tools", "soak-tools", number);
    this.path = `/${this.name}`;
    this.#calls = Array.from({ length: this.random.whole(1, 4) }, () => (this.random.chance(0.4) ? ("order" as const) : this.random.whole(1, 5)));
  }

  protected get shape(): string {
    return `calls ${this.#calls.join(", ")}`;
  }

  protected get said(): Message {
    const parts = this.#calls.flatMap((call, index): Part[] => {
      if (call === "order") return [{ data: { tool: "order", arguments: { item: `${this.name}_${index}` } } }];
      return this.#posts(call).map((step) => ({ data: { tool: "post", arguments: { name: this.name, call: String(index), step } } }));
    });
    return message({ parts });
  }

  /** The numbers of posts in a row, from 1 on. */
  #posts(count: number): string[] {
    return Array.from({ length: count }, (_, index) => String(index + 1));
  }

  get done(): number {
    const { orders } = this.world.others.asked(this.name);
    return this.#counted ?? this.world.sink.arrivals(this.path).length + [...orders.values()].flat().length;
  }

  settle(): void {
    this.#counted = this.done;
    this.world.sink.forget(this.path);
    this.world.others.forget(this.name);
  }

  protected checkWork(task: Task): void {
    checkOrders(this, this.world, this.kills);
    const places = this.world.sink.arrivals(this.path).map(({ path }) => path.split("/").slice(2).map(Number));
    // The number of each step over all calls.
    const before = this.#calls.map((_, index) => this.#calls.slice(0, index).reduce<number>((sum, call) => sum + (call === "order" ? 0 : call), 0));
    this.checkOrder("step", places.map(([call = 0, step = 0]) => (before[call] ?? 0) + step));
    if (task.status.state !== "TASK_STATE_COMPLETED") return;
    const { orders } = this.world.others.asked(this.name);
    const ordered = this.#calls.flatMap((call, index) => (call === "order" ? [`${this.name}_${index}`] : []));
    this.expect([...orders.keys()].join() === ordered.join(), `lost: ${[...orders.keys()].join()} was ordered of ${ordered.join()}`);
  }

  protected checkResult(task: Task): void {
    if (!this.expectCompleted(task)) return;
    const shown = (task.artifacts ?? []).map(textOf).join("; ");
    const expected = this.#calls.flatMap((call, index) => (call === "order" ? `${this.name}_${index} is ordered` : this.#posts(call).map(() => "ok"))).join("; ");
    this.expect(shown === expected, `lost: its artifacts are ${JSON.stringify(shown)}, not ${JSON.stringify(expected)}`);
  }
}
