// A task of an agent of kind `remote`: a front of an agent of a Worker that is never killed, so what is lost or done twice is the front's doing.
// There is one remote task behind it, whose steps were done once each; the artifact is that of the remote task, and a question is answered once.

import { followUp, message, textOf, type Message, type Task } from "../e2e/client.ts";
import { artifactOf, wrongSteps, type StepCall } from "../e2e/steps.ts";
import { unlessCanceled } from "./http.ts";
import { sleep } from "./random.ts";
import { PolledSubject, type World } from "./subject.ts";

export class RemoteSubject extends PolledSubject {
  readonly path: string;
  readonly #steps: number;
  readonly #asks: boolean;
  readonly #pauseMs: number;
  #hasAnswered = false;
  #counted: number | undefined;

  constructor(world: World, number: number) {
    super(world, "remote", "front", number);
    this.path = `/${this.name}`;
    this.#steps = this.random.whole(2, 20);
    this.#asks = this.random.chance(0.25);
    this.#pauseMs = this.random.whole(1, Math.floor(2_500 / this.#steps));
  }

  protected get shape(): string {
    return `${this.#steps} steps${this.#asks ? " and a question" : ""}`;
  }

  protected get said(): Message {
    const url = `${this.world.sink.url}${this.path}`;
    return message(this.#asks ? `ask after ${this.#steps} ${url}` : `steps ${this.#steps} every ${this.#pauseMs} ${url}`);
  }

  get done(): number {
    return this.#counted ?? this.world.sink.arrivals(this.path).length;
  }

  settle(): void {
    this.#counted = this.done;
    this.world.sink.forget(this.path);
  }

  protected override async answer(task: Task): Promise<void> {
    if (this.#hasAnswered) return;
    this.#hasAnswered = true;
    const said = followUp(task, "blue");
    await this.insist(() => this.agent.sendForTask(said, { returnImmediately: true }).catch(unlessCanceled));
  }

  protected async checkWork(task: Task): Promise<void> {
    const isCanceled = task.status.state === "TASK_STATE_CANCELED";
    // A remote task that is canceled takes a moment for it, and one that is not would go on.
    if (isCanceled) await sleep(3_000);
    const arrivals = this.world.sink.arrivals(this.path);
    this.wrong.push(...wrongSteps(arrivals, isCanceled ? (arrivals.at(-1)?.json<StepCall>().step ?? 0) : this.#steps));
    const tasks = new Set(arrivals.map((arrival) => arrival.json<StepCall>().task));
    this.expect(tasks.size <= 1, `duplicated: there are ${tasks.size} remote tasks`);
  }

  protected checkResult(task: Task): void {
    if (!this.expectCompleted(task)) return;
    const shown = (task.artifacts ?? []).map((artifact) => `${artifact.artifactId}: ${textOf(artifact)}`).join("; ");
    const expected = `steps: ${artifactOf(this.#steps)}${this.#asks ? "; answer: blue" : ""}`;
    this.expect(shown === expected, `lost: its artifacts are ${JSON.stringify(shown)}`);
  }
}
