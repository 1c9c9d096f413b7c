// What tasks of a soak have in common, whatever their agents are: how one begins, is canceled, and comes to its end.

import { Agent, RpcError, isTerminal, textOf, type Message, type Task } from "../e2e/client.ts";
import type { Kind } from "../../scripts/lib/soak-kinds.mjs";
import type { Worker } from "../e2e/harness.ts";
import type { Sink } from "../e2e/sink.ts";
import type { Lender } from "./lender.ts";
import type { Others } from "./others.ts";
import { Random, sleep } from "./random.ts";

/** What a subject may use. */
export interface World {
  readonly seed: number;
  /** The Worker that is killed. */
  readonly worker: Worker;
  /** One that never is, with the same agents. */
  readonly remote: Worker;
  /** Where steps are posted to. */
  readonly sink: Sink;
  /** The model, the shop and the agent behind HTTP. */
  readonly others: Others;
  /** The MCP server. */
  readonly lender: Lender;
  /** How often the Worker was killed so far. */
  kills(): number;
  /** Whether waiting has no sense any more. */
  isOver(): boolean;
  /** Waits until this task is listed as ended, which does not wake it; or until it is over. */
  untilListedAsEnded(id: string): Promise<void>;
}

/** What tasks have used of models, as their metadata say it. */
export interface Usage {
  requests: number;
  inputTokens: number;
  /** What of it is for requests whose answers came to nothing. */
  repeated?: { requests: number };
  outputTokens: number;
}

/** One task. */
export abstract class Subject {
  readonly kind: Kind;
  /** Nobody else's; servers know the task by it. */
  readonly name: string;
  id: string | undefined;
  /** What went wrong, each beginning with `lost`, `duplicated` or `stuck`. */
  readonly wrong: string[] = [];
  /** Whether it waits for its client and nobody has a request about it open. */
  isAtRest = false;
  /** What it has used of the model, if its agent asks one. */
  usage: Usage | undefined;
  /** How many pieces of its work were repeated, if its kind counts that. */
  repeated: number | undefined;
  protected readonly world: World;
  protected readonly random: Random;
  readonly #killsBefore: number;

  constructor(world: World, kind: Kind, number: number) {
    this.world = world;
    this.kind = kind;
    this.name = `${kind}${number}`;
    this.random = new Random(world.seed ^ Math.imul(number, SALTS[kind]));
    this.#killsBefore = world.kills();
  }

  /** What it is, in a line. */
  abstract get title(): string;
  /** How much was done for it by others: steps, calls, bodies, answers. */
  abstract get done(): number;
  /** From its beginning to its end, and then checks it. */
  abstract live(): Promise<void>;
  /** Forgets what is known of it but how much was done. */
  abstract settle(): void;

  /** How often the Worker was killed since it began. */
  protected get kills(): number {
    return this.world.kills() - this.#killsBefore;
  }

  /** The key under which its message is sent. */
  protected get key(): string {
    return `${this.name} ${this.world.seed} ${begun}`;
  }

  /** Tries until there is an answer; undefined if it is over before. A refusal is noted in `wrong`. */
  protected async insist<Value>(request: () => Promise<Value>): Promise<Value | undefined> {
    while (!this.world.isOver()) {
      try {
        return await request();
      } catch (error) {
        if (error instanceof RpcError && error.code !== -32603) {
          this.wrong.push(`lost: a request was answered with ${error.code} ${error.message}`);
          return undefined;
        }
        await sleep(20);
      }
    }
    return undefined;
  }

  protected expect(isRight: boolean, wrong: string): void {
    if (!isRight) this.wrong.push(wrong);
  }
}

/** A task that is begun under a key, canceled perhaps, and looked at until it has ended. */
export abstract class PolledSubject extends Subject {
  protected readonly agent: Agent;
  /** When it is canceled, if it is. */
  protected readonly cancelAfterMs: number | undefined;

  /** `slug` is that of its agent. */
  constructor(world: World, kind: Kind, slug: string, number: number) {
    super(world, kind, number);
    this.agent = new Agent(`${world.worker.url}/${slug}`);
    this.cancelAfterMs = this.random.chance(0.12) ? this.random.whole(0, 1_500) : undefined;
  }

  get title(): string {
    return `${this.id ?? "a task that was never answered"} (${this.name}, ${this.shape}, cancel after ${this.cancelAfterMs ?? "never"})`;
  }

  /** What is special about it. */
  protected abstract get shape(): string;
  /** What it is told. */
  protected abstract get said(): Message;
  /** Notes what is wrong with it as it is shown before its end. */
  protected look(_task: Task): void {}
  /** Does what its client does when it asks something. */
  protected async answer(_task: Task): Promise<void> {}
  /** Notes what is wrong with what was done for it, however it has ended. */
  protected abstract checkWork(task: Task): void | Promise<void>;
  /** Notes what is wrong with how it is completed. */
  protected abstract checkResult(task: Task): void;

  async live(): Promise<void> {
    const keyed = new Agent(this.agent.endpoint, { "idempotency-key": this.key });
    const { said } = this;
    this.id = (await this.insist(() => keyed.sendForTask(said, { returnImmediately: true })))?.id;
    const { id } = this;
    if (id === undefined) return;
    const living = this.accompany();
    if (this.cancelAfterMs !== undefined) {
      await sleep(this.cancelAfterMs);
      await this.insist(() => this.agent.cancelTask(id).catch(unlessOver));
    }
    const task = await this.#untilEnded(id);
    if (task !== undefined) this.look(task);
    await living;
    if (task === undefined || !isTerminal(task.status.state)) {
      this.wrong.push(`stuck: it is ${task?.status.state ?? "not found"}`);
      return;
    }
    this.usage = task.metadata?.["urn:a2a-edge:usage"] as Usage | undefined;
    await this.checkWork(task);
    if (task.status.state === "TASK_STATE_CANCELED") {
      this.expect(this.cancelAfterMs !== undefined, "lost: it was canceled by nobody");
      return;
    }
    this.checkResult(task);
  }

  /** Whether nobody asks for it now, so that nothing but what it waits for wakes it. */
  protected get isSilent(): boolean {
    return false;
  }

  /** What happens to it beside its client. */
  protected async accompany(): Promise<void> {}

  async #untilEnded(id: string): Promise<Task | undefined> {
    for (;;) {
      if (this.isSilent) await this.world.untilListedAsEnded(id);
      const task = await this.insist(() => this.agent.getTask(id));
      if (task === undefined || isTerminal(task.status.state)) return task;
      this.look(task);
      if (task.status.state === "TASK_STATE_INPUT_REQUIRED") await this.answer(task);
      await sleep(this.random.whole(10, 300));
    }
  }

  protected expectCompleted(task: Task): boolean {
    const isCompleted = task.status.state === "TASK_STATE_COMPLETED";
    this.expect(isCompleted, `lost: it is ${task.status.state} ${textOf(task.status.message)}`);
    return isCompleted;
  }

  /**
   * Notes what is wrong with work that is done piece by piece, given the numbers of the pieces from 1 on as their server saw them: each comes
   * after the one before it, and none is done again but the one that was under way at a kill.
   */
  protected checkOrder(what: string, numbers: number[]): void {
    let before = 0;
    for (const number of numbers) {
      const isRight = number === before || number === before + 1;
      this.expect(isRight, `${number <= before ? "duplicated" : "lost"}: ${what} ${number} came after ${before}`);
      before = number;
    }
    const repeated = numbers.length - new Set(numbers).size;
    this.repeated = (this.repeated ?? 0) + repeated;
    this.expect(repeated <= this.kills, `duplicated: ${what} was repeated ${repeated} times, at ${this.kills} kills`);
  }
}

/** A task that has ended cannot be canceled. */
export function unlessOver(error: unknown): void {
  if (!(error instanceof RpcError && error.code === -32002)) throw error;
}

/** Another run of the same seed begins other tasks. */
const begun = Date.now();

/** Lets tasks of different kinds choose differently. */
const SALTS: Record<Kind, number> = {
  scripts: 0x9e3779b1, tools: 0x27d4eb2f, model: 0xc2b2ae35, coordinator: 0x165667b1, http: 0xcc9e2d51, callback: 0x1b873593, remote: 0x85ebca6b, mcp: 0xe6546b64,
  functions: 0xff51afd7,
};
