// A task of an agent of kind `http`, whose program tells a text as an artifact that grows, never twice the same, and may ask something before that.
// Each of its artifacts is one of the texts, whole; each turn is asked for under one key, and all of them for one task.

import { followUp, message, textOf, type Message, type Task } from "../e2e/client.ts";
import { PolledSubject, type World } from "./subject.ts";

export class HttpSubject extends PolledSubject {
  readonly #asks: boolean;
  #hasAnswered = false;
  #counted: number | undefined;

  constructor(world: World, number: number) {
    super(world, "http", "soak-http", number);
    this.#asks = this.random.chance(0.25);
  }

  protected get shape(): string {
    return this.#asks ? "asks" : "does not ask";
  }

  protected get said(): Message {
    return message(this.#asks ? `${this.name} asks` : this.name);
  }

  get done(): number {
    return this.#counted ?? this.world.others.asked(this.name).texts.length;
  }

  settle(): void {
    this.#counted = this.done;
    this.world.others.forget(this.name);
  }

  protected override async answer(task: Task): Promise<void> {
    if (this.#hasAnswered) return;
    this.#hasAnswered = true;
    const said = followUp(task, this.name);
    await this.insist(() => this.agent.sendForTask(said, { returnImmediately: true }).catch(unlessCanceled));
  }

  /** What is shown is the beginning of an answer, or of a later one. */
  protected override look(task: Task): void {
    const { texts } = this.world.others.asked(this.name);
    for (const artifact of task.artifacts ?? []) {
      const shown = textOf(artifact);
      if (!texts.some((text) => text.startsWith(shown))) this.wrong.push(`duplicated: it shows ${shown}, which no answer begins with`);
    }
  }

  protected checkWork(): void {
    const { turns, tasks } = this.world.others.asked(this.name);
    for (const [turn, keys] of turns) this.expect(keys.size === 1, `duplicated: turn ${turn} was asked for under ${keys.size} keys`);
    this.expect(turns.size <= (this.#asks ? 2 : 1), `duplicated: it was asked for ${turns.size} turns`);
    this.expect(tasks.size <= 1, `duplicated: it was asked for the tasks ${[...tasks].join(", ")}`);
  }

  protected checkResult(task: Task): void {
    if (!this.expectCompleted(task)) return;
    const { texts } = this.world.others.asked(this.name);
    const ids = (task.artifacts ?? []).map(({ artifactId }) => artifactId);
    this.expect(ids.join() === (this.#asks ? "draft,answer" : "answer"), `lost: its artifacts are ${ids.join()}`);
    for (const artifact of task.artifacts ?? []) this.expect(texts.includes(textOf(artifact)), `lost: its artifact is ${textOf(artifact)}, which is no whole answer`);
  }
}

/** A task that was canceled takes no answer. */
export function unlessCanceled(error: unknown): undefined {
  if ((error as { code?: number }).code === -32004) return undefined;
  throw error;
}
