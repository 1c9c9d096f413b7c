// A task of a coordinator: a model that gives jobs to another agent of the same Worker, which is killed with it, and to one elsewhere. Each job is
// one task of the other agent, whose steps were done once each; its result is told to the model whole, questions are answered in the same task,
// and when ours is canceled none of theirs is left.

import { Agent, isTerminal, type Task } from "../e2e/client.ts";
import { wrongSteps, type StepCall } from "../e2e/steps.ts";
import { ThinkingSubject } from "./model.ts";
import { sleep } from "./random.ts";
import type { World } from "./subject.ts";

interface Job {
  who: "near" | "far";
  what: "steps" | "ask";
  steps: number;
  path: string;
}

export class CoordinatorSubject extends ThinkingSubject {
  readonly #jobs: Job[];

  constructor(world: World, number: number) {
    super(world, "coordinator", number);
    this.#jobs = Array.from({ length: this.random.whole(1, 2) }, (_, index) => ({
      who: this.random.pick(["near", "far"] as const),
      what: this.random.pick(["steps", "steps", "ask"] as const),
      steps: this.random.whole(1, 6),
      path: `/${this.name}-${index + 1}`,
    }));
  }

  protected get plan(): string[] {
    return this.#jobs.map(({ who, what, steps, path }) => `${who}:${what}:${steps}:${this.world.sink.url}${path}`);
  }

  protected get shape(): string {
    return this.#jobs.map(({ who, what, steps }) => `${who} ${what} ${steps}`).join(", ");
  }

  override settle(): void {
    super.settle();
    for (const { path } of this.#jobs) this.world.sink.forget(path);
  }

  protected async checkWork(task: Task): Promise<void> {
    for (const { who, steps, path } of this.#jobs) {
      const tasks = () => [...new Set(this.world.sink.arrivals(path).map((arrival) => arrival.json<StepCall>().task))];
      this.expect(tasks().length <= 1, `duplicated: ${path} was done by ${tasks().length} tasks`);
      for (const id of tasks()) await this.#expectOver(who, id);
      const arrivals = this.world.sink.arrivals(path);
      const last = arrivals.at(-1)?.json<StepCall>().step ?? 0;
      this.wrong.push(...wrongSteps(arrivals, task.status.state === "TASK_STATE_COMPLETED" ? steps : last).map((line) => `${line} (${path})`));
      const attempts = Math.max(0, ...arrivals.map((arrival) => arrival.json<StepCall>().attempt));
      this.expect(who === "near" || attempts <= 1, `duplicated: ${path} was done in ${attempts} attempts`);
    }
  }

  /** A task that another agent was given ends with ours. */
  async #expectOver(who: "near" | "far", id: string): Promise<void> {
    const agent = new Agent(`${(who === "near" ? this.world.worker : this.world.remote).url}/soak-${who}`);
    for (const until = Date.now() + PATIENCE_MS; ; ) {
      const task = await this.insist(() => agent.getTask(id));
      if (task === undefined || isTerminal(task.status.state)) return;
      if (Date.now() > until) {
        this.wrong.push(`stuck: the task ${id} of ${who} is ${task.status.state}`);
        return;
      }
      await sleep(100);
    }
  }

  protected override checkResult(task: Task): void {
    super.checkResult(task);
    if (task.status.state !== "TASK_STATE_COMPLETED") return;
    const { told } = this.world.others.asked(this.name);
    for (const [index, { what, steps }] of this.#jobs.entries()) {
      const numbers = Array.from({ length: steps }, (_, number) => `${number + 1} ok\n`).join("");
      const last = told.get(what === "ask" ? `${index + 1}+` : `${index + 1}`);
      const expected = `[COMPLETED] ${numbers}${what === "ask" ? "blue" : ""}`;
      this.expect(flat(last) === flat(expected), `lost: the model was told ${JSON.stringify(last)} of job ${index + 1}, not ${JSON.stringify(expected)}`);
    }
  }
}

const flat = (text = ""): string => text.split(/\s+/).filter(Boolean).join(" ");

/** How long a task of another agent may take to end behind ours. */
const PATIENCE_MS = 30_000;
