// A task of an agent of kind `script`, which works in steps. At its end its log and its artifact are those of a run that nothing disturbed,
// each step was done once but the one that was under way at a kill, and each client has seen each event once.

import { Agent, RpcError, followUp, isTerminal, message, textOf, type Message, type Task } from "../e2e/client.ts";
import { Follower, artifactOf, attemptOf, logOf, tell, undisturbed, wrongLog, wrongSteps, type StepCall } from "../e2e/steps.ts";
import { sleep } from "./random.ts";
import { Subject, type World } from "./subject.ts";

/** What a task is to be, decided before it begins. */
interface Shape {
  steps: number;
  pauseMs: number;
  /** Whether it asks something after its steps. */
  asks: boolean;
  /** Whether the answer comes while the steps are under way, and not only when it is asked for. */
  answersEarly: boolean;
  /** Under which key it is sent, and how often again. */
  key: string | undefined;
  repeats: number;
  followers: ("persistent" | "fleeting")[];
  /** Whether clients ask for it; otherwise nobody does before it is listed as ended. */
  isPolled: boolean;
  cancelAfterMs: number | undefined;
}

export class ScriptSubject extends Subject {
  readonly path: string;
  #counted: number | undefined;
  readonly #shape: Shape;
  readonly #agent: Agent;
  readonly #keyed: Agent;
  readonly #said: Message;
  #answer: Message | undefined;
  #followers: [Follower, "persistent" | "fleeting"][] = [];
  #polled = "";
  #cancel: "none" | "tried" | "canceled" | "refused" = "none";

  constructor(world: World, number: number) {
    super(world, "scripts", number);
    this.path = `/${this.name}`;
    this.#shape = this.#choose(this.key);
    const { steps, pauseMs, asks, key } = this.#shape;
    this.#agent = new Agent(`${world.worker.url}/faults`);
    this.#keyed = key === undefined ? this.#agent : new Agent(this.#agent.endpoint, { "idempotency-key": key });
    const url = `${world.sink.url}${this.path}`;
    this.#said = message(asks ? `ask after ${steps} ${url}` : pauseMs > 0 ? `steps ${steps} every ${pauseMs} ${url}` : `steps ${steps} ${url}`);
  }

  #choose(key: string): Shape {
    const random = this.random;
    const asks = random.chance(0.2);
    const isKeyed = random.chance(0.4);
    const isSilent = !asks && random.chance(0.35);
    const followers = isSilent ? 0 : random.whole(0, 2);
    const steps = random.whole(2, 20);
    return {
      steps,
      // A run that goes on pauses again behind each step that is done, and must get further than that between two kills.
      pauseMs: random.chance(0.6) ? random.whole(1, Math.floor(500 / steps)) : 0,
      asks,
      answersEarly: random.chance(0.5),
      key: isKeyed ? key : undefined,
      repeats: isKeyed && !isSilent ? random.whole(0, 3) : 0,
      followers: Array.from({ length: followers }, () => random.pick(["persistent", "persistent", "fleeting"] as const)),
      isPolled: !isSilent,
      cancelAfterMs: !isSilent && random.chance(0.12) ? random.whole(0, 1500) : undefined,
    };
  }

  /** What it is, in a line. */
  get title(): string {
    return `${this.id ?? "a task that was never answered"} (${this.path}, ${JSON.stringify(this.#shape)})`;
  }

  /** Forgets what is known of its steps but their number. */
  settle(): void {
    this.#counted = this.done;
    this.world.sink.forget(this.path);
  }

  /** How many steps were done for it. */
  get done(): number {
    return this.#counted ?? this.world.sink.arrivals(this.path).length;
  }

  /** From its beginning to its end, and then checks it. */
  async live(): Promise<void> {
    await this.#begin();
    if (this.id === undefined) return;
    const { followers, repeats, asks, isPolled, cancelAfterMs } = this.#shape;
    const { endpoint } = this.#agent;
    const id = this.id;
    this.#followers = followers.map((kind) => [Follower[kind](endpoint, id), kind]);
    const repeating = Array.from({ length: repeats }, () => this.#repeat());
    const canceling = cancelAfterMs === undefined ? undefined : this.#cancelAfter(cancelAfterMs);
    if (asks) await this.#converse();
    if (isPolled) await this.#untilEnded();
    else await this.world.untilListedAsEnded(id);
    await Promise.all([...repeating, canceling]);
    await this.check();
    for (const [follower] of this.#followers) follower.leave();
  }

  /** Sends the message. Without a key that is tried once, and may leave no task, or one that only the sink knows of. */
  async #begin(): Promise<void> {
    const send = () => this.#keyed.sendForTask(this.#said, { returnImmediately: true });
    if (this.#shape.key !== undefined) this.id = (await this.insist(send))?.id;
    else this.id = await send().then(({ id }) => id, () => undefined);
    if (this.id !== undefined) return;
    await sleep(3_000);
    this.id = this.world.sink.arrivals(this.path)[0]?.json<StepCall>().task;
  }

  /** Sends the message once more, under its key. */
  async #repeat(): Promise<void> {
    await sleep(this.random.whole(0, 2_000));
    const task = await this.insist(() => this.#keyed.sendForTask(this.#said, { returnImmediately: true }));
    if (task !== undefined && task.id !== this.id) this.wrong.push(`duplicated: a repeated send began ${task.id}`);
  }

  async #cancelAfter(milliseconds: number): Promise<void> {
    await sleep(milliseconds);
    this.#cancel = "tried";
    const outcome = await this.insist(() =>
      this.#agent.cancelTask(this.id ?? "").catch((error: unknown) => {
        if (error instanceof RpcError && error.code === -32002) return "refused" as const;
        throw error;
      }),
    );
    if (outcome !== undefined) this.#cancel = outcome === "refused" ? "refused" : "canceled";
  }

  /** Answers what the task asks, before it does or when it does; sometimes twice. */
  async #converse(): Promise<void> {
    const { answersEarly } = this.#shape;
    const isReady = ({ status }: Task) => answersEarly || status.state === "TASK_STATE_INPUT_REQUIRED" || isTerminal(status.state);
    const task = await this.#poll(isReady);
    if (task === undefined || isTerminal(task.status.state)) return;
    this.isAtRest = task.status.state === "TASK_STATE_INPUT_REQUIRED";
    await sleep(this.random.whole(0, 800));
    this.isAtRest = false;
    this.#answer = followUp(task, "blue");
    const answer = this.#answer;
    for (let times = this.random.whole(1, 2); times > 0; times -= 1) {
      await this.insist(() =>
        this.#agent.sendForTask(answer, { returnImmediately: true }).catch((error: unknown) => {
          // It was canceled meanwhile.
          if (error instanceof RpcError && error.code === -32004) return undefined;
          throw error;
        }),
      );
    }
  }

  async #untilEnded(): Promise<void> {
    await this.#poll(({ status }) => isTerminal(status.state));
  }

  /** Asks for the task until it fits or it is over. What was once shown of its artifact must stay. */
  async #poll(fits: (task: Task) => boolean): Promise<Task | undefined> {
    for (;;) {
      const task = await this.insist(() => this.#agent.getTask(this.id ?? ""));
      if (task === undefined) return undefined;
      const text = textOf(task.artifacts?.[0]);
      if (!text.startsWith(this.#polled)) this.wrong.push(`lost: the artifact was ${JSON.stringify(this.#polled)} and is ${JSON.stringify(text)}`);
      this.#polled = text;
      if (fits(task)) return task;
      await sleep(this.random.whole(10, 300));
    }
  }


  /** Notes everything that is wrong with the task. */
  async check(): Promise<void> {
    const id = this.id ?? "";
    const task = await this.insist(() => this.#agent.getTask(id));
    if (task === undefined || !isTerminal(task.status.state)) {
      this.wrong.push(`stuck: it is ${task?.status.state ?? "not found"}`);
      return;
    }
    const log = await this.insist(() => logOf(this.#agent.endpoint, id));
    if (log === undefined) {
      this.wrong.push("stuck: its log cannot be read");
      return;
    }
    for (const [follower, kind] of this.#followers) if (kind === "persistent") await follower.done;

    const { steps, asks } = this.#shape;
    const { wrong } = this;
    const arrivals = this.world.sink.arrivals(this.path);
    const isCanceled = task.status.state === "TASK_STATE_CANCELED";
    wrong.push(...wrongLog(log, ...this.#followers.map(([follower]) => follower.seen)));
    wrong.push(...wrongSteps(arrivals, isCanceled ? (arrivals.at(-1)?.json<StepCall>().step ?? 0) : steps));
    if (arrivals.some((arrival) => arrival.json<StepCall>().task !== id)) wrong.push("duplicated: its steps were done by two tasks");
    if (attemptOf(task) > 1 + this.world.kills()) wrong.push(`duplicated: there were ${attemptOf(task)} attempts`);

    const isExpected = isCanceled ? this.#cancel === "tried" || this.#cancel === "canceled" : task.status.state === "TASK_STATE_COMPLETED" && this.#cancel !== "canceled";
    if (!isExpected) wrong.push(`lost: it is ${task.status.state} ${textOf(task.status.message)} (cancel: ${this.#cancel})`);
    const told = log.map(tell);
    const expected = asks ? [...undisturbed(steps).slice(0, -1), "INPUT_REQUIRED And now?", "WORKING", "answer += blue", "COMPLETED"] : undisturbed(steps);
    if (isCanceled) {
      const isPrefix = told.slice(0, -1).every((words, index) => words === expected[index]);
      if (!isPrefix || told.at(-1) !== "CANCELED") wrong.push(`lost: its log is ${told.join(", ")}`);
    } else {
      if (told.join() !== expected.join()) wrong.push(`${told.length > expected.length ? "duplicated" : "lost"}: its log is ${told.join(", ")}`);
      if (textOf(task.artifacts?.[0]) !== artifactOf(steps)) wrong.push(`lost: its artifact is ${JSON.stringify(textOf(task.artifacts?.[0]))}`);
    }
    for (const [follower, kind] of this.#followers) {
      const ids = follower.seen.map((event) => event.id);
      const count = kind === "persistent" ? log.length : ids.length;
      for (let index = 0; index < Math.max(ids.length, count); index += 1) {
        if (ids[index] !== index + 1) {
          wrong.push(`${(ids[index] ?? Infinity) <= index ? "duplicated" : "lost"}: a client saw ${ids.join(" ")} of ${log.length}`);
          break;
        }
      }
    }
    const answers = (task.history ?? []).filter(({ messageId }) => messageId === this.#answer?.messageId).length;
    if (this.#answer !== undefined && !isCanceled && answers !== 1) wrong.push(`${answers > 1 ? "duplicated" : "lost"}: the client's answer is in the history ${answers} times`);
  }
}
