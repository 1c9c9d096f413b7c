// A run that a deploy interrupts, with what must have happened at its end whatever its kind.

import { Agent, message, textOf, until, type Message, type Task } from "../e2e/client.ts";
import { doneBy, logOf, wrongLog } from "../e2e/steps.ts";
import type { StreamEvent } from "../e2e/stream.ts";
import type { Deployment } from "./deploy.ts";

/** Every fourth run of a kind has a webhook. */
const HOOKED = 4;

/** How many events a webhook may get again after a crash (docs/webhooks.md). */
const MOST_REPEATED = 10;

export abstract class Run {
  readonly deployment: Deployment;
  /** Its kind, which is the name of its agent. */
  readonly kind: string;
  readonly name: string;
  readonly agent: Agent;
  readonly #hook: string | undefined;
  /** The id of its task, once it is known. */
  id = "";

  constructor(deployment: Deployment, kind: string, number: number) {
    this.deployment = deployment;
    this.kind = kind;
    this.name = `${kind}-${number}`;
    this.agent = new Agent(`${deployment.url}/${kind}`);
    this.#hook = number % HOOKED === 0 ? `/hook-${this.name}` : undefined;
  }

  /** What its agent is asked. */
  protected get said(): string {
    return `steps ${this.deployment.sink.url}/${this.name}`;
  }

  protected get params(): { message: Message; configuration: { returnImmediately: true; taskPushNotificationConfig?: object } } {
    const { sink } = this.deployment;
    const hook = this.#hook === undefined ? {} : { taskPushNotificationConfig: { url: `${sink.url}${this.#hook}` } };
    return { message: message(this.said), configuration: { returnImmediately: true, ...hook } };
  }

  /** Begins the task; resolves when the run is where the deploy is to find it. */
  async begin(): Promise<void> {
    this.id = (await this.agent.call<{ task: Task }>("SendMessage", this.params)).task.id;
    await this.untilUnderWay();
  }

  protected abstract untilUnderWay(): Promise<void>;

  /** What its client does once the Worker is being replaced. */
  async accompany(): Promise<void> {}

  /** How long after the kill it first did something that others have noticed; without the time for which it would have waited anyway. */
  get waitedMs(): number {
    return Math.max(0, (this.progressedAt ?? Number.NaN) - this.deployment.killedAt);
  }

  /** When others noticed that it went on after the kill; undefined if nobody has. */
  get progressedAt(): number | undefined {
    return this.deployment.cameAt(`/${this.name}`);
  }

  /** What is wrong with the ended run. */
  async wrong(): Promise<string[]> {
    const task = await this.agent.getTask(this.id);
    const log = await logOf(this.agent.endpoint, this.id);
    const wrong = [...wrongLog(log, this.seen), ...(await this.#wrongHook(log)), ...this.wrongWork(task, log)];
    if (task.status.state !== "TASK_STATE_COMPLETED") wrong.push(`lost: it is ${task.status.state} ${textOf(task.status.message)}`);
    return wrong.map((line) => `${this.name}: ${line}`);
  }

  /** The events that a client has seen. */
  protected get seen(): StreamEvent[] {
    return [];
  }

  protected abstract wrongWork(task: Task, log: StreamEvent[]): string[];

  /** Its webhook gets each event in its order; after the kill it begins again some events before, under the same ids. */
  async #wrongHook(log: StreamEvent[]): Promise<string[]> {
    if (this.#hook === undefined) return [];
    const { sink } = this.deployment;
    const hook = this.#hook;
    const came = (): number[] => sink.arrivals(hook).map(({ headers }) => Number(headers["a2a-generation"]));
    const generations = await until(async () => came(), (all) => all.includes(log.length));
    const ids = new Set(sink.arrivals(hook).map(({ headers }) => headers["webhook-id"])).size;
    // Where it does not go on with the next event: how many it gets again.
    const repeats = generations.map((generation, index) => (generations[index - 1] ?? 0) + 1 - generation).filter((count) => count !== 0);
    const isWhole = ids === log.length && generations.length === log.length + (repeats[0] ?? 0);
    if (isWhole && repeats.length <= 1 && repeats.every((count) => count > 0 && count <= MOST_REPEATED)) return [];
    return [`lost or duplicated: its webhook got ${generations.join()} of ${log.length} events, under ${ids} ids`];
  }

  /** The posts of the steps below a path of the sink, such as `3@2` for step 3 in the second attempt. */
  protected done(below = ""): string {
    return doneBy(this.deployment.sink.arrivals(`/${this.name}${below}`)).join(" ");
  }

  protected expected(what: string, is: string, expected: string): string[] {
    return is === expected ? [] : [`${what} was ${is}, not ${expected}`];
  }
}
