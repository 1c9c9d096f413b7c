// A task of an agent of kind `tools` whose tools are those of an MCP server. Each call gives one artifact, in their order, which is one of the
// server's answers. A call of a tool that may be repeated is repeated at a kill alone; one that may not be is made once at most, and where nobody
// knows whether it was carried out the task fails, says so, and makes no further calls.

import { message, textOf, type Message, type Task } from "../e2e/client.ts";
import { LENT, type LentTool } from "./lender.ts";
import { PolledSubject, type World } from "./subject.ts";

export class McpSubject extends PolledSubject {
  readonly #calls: LentTool[];
  #counted: number | undefined;

  constructor(world: World, number: number) {
    super(world, "mcp", "soak-mcp", number);
    this.#calls = Array.from({ length: this.random.whole(1, 6) }, () => this.random.pick(["look", "look", "put", "put", "fire"] as const));
  }

  protected get shape(): string {
    return `calls ${this.#calls.join(", ")}`;
  }

  protected get said(): Message {
    return message({ parts: this.#calls.map((tool, index) => ({ data: { tool, arguments: { task: this.name, number: index + 1 } } })) });
  }

  get done(): number {
    return this.#counted ?? this.world.lender.calls(this.name).length;
  }

  settle(): void {
    this.#counted = this.done;
    this.world.lender.forget(this.name);
  }

  protected checkWork(): void {
    const calls = this.world.lender.calls(this.name);
    this.checkOrder("call", calls.map(({ number }) => number));
    for (const [index, tool] of this.#calls.entries()) {
      const count = calls.filter(({ number }) => number === index + 1).length;
      this.expect(count <= 1 || LENT[tool].mayBeRepeated, `duplicated: call ${index + 1} of ${tool} was made ${count} times`);
    }
  }

  protected checkResult(task: Task): void {
    const isUnknown = this.#isUnknown(task);
    const calls = this.world.lender.calls(this.name);
    const shown = task.artifacts ?? [];
    for (const [index, artifact] of shown.slice(0, isUnknown ? -1 : undefined).entries()) {
      const [number, tool] = [index + 1, this.#calls[index]];
      this.expect(artifact.artifactId === (index === 0 ? `${tool}-result` : `${tool}-result-${number}`), `lost: artifact ${number} is ${artifact.artifactId}`);
      const answers = calls.filter((call) => call.number === number).map(({ answer }) => answer);
      this.expect(answers.includes(textOf(artifact)), `lost: artifact ${number} is ${textOf(artifact)}, which is no answer to call ${number}`);
    }
    if (isUnknown) return;
    if (this.expectCompleted(task)) this.expect(shown.length === this.#calls.length, `lost: there are ${shown.length} artifacts of ${this.#calls.length}`);
  }

  /** Whether it has failed since nobody knows whether its last call was carried out, which is right at a kill. */
  #isUnknown({ status, artifacts = [] }: Task): boolean {
    const says = /it is not known whether the MCP server lender has carried it out/.test(textOf(status.message));
    if (status.state !== "TASK_STATE_FAILED" || !says) return false;
    const number = artifacts.length;
    const tool = this.#calls[number - 1];
    this.expect(this.kills > 0 && tool !== undefined && !LENT[tool].mayBeRepeated, `lost: call ${number} of ${tool} is said to be unknown, at ${this.kills} kills`);
    const last = this.world.lender.calls(this.name).at(-1)?.number ?? 0;
    this.expect(last <= number, `duplicated: call ${last} was made behind the one that is unknown`);
    return true;
  }
}
