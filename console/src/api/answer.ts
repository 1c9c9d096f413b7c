// The answer to a question of a task: it reaches the task only while that question is still open.
import { localEndpoint } from "./endpoint.ts";
import { GENERATION_EXTENSION, generationOf } from "./follow.ts";
import { Problem } from "./problem.ts";
import { isWaiting, type Part, type SendMessageResponse, type Task } from "./types.ts";

/** The error code, and the reason, of a task that is at another generation than the caller expects (docs/generation.md). */
const MISMATCH = "GENERATION_MISMATCH";

/** Thrown in place of sending: the question is not open any more. */
export class AnsweredMeanwhile extends Problem {
  constructor() {
    super("The question is no longer open: it was answered, or the task has gone on.");
  }
}

/** An answer that may have to be sent again: a repetition has the same id, and the same generation. */
export class PendingAnswer {
  readonly #agent: string;
  readonly #task: Task;
  readonly #parts: readonly Part[];
  readonly #messageId = crypto.randomUUID();
  #generation: number | undefined;

  /** `task` is the task with the shown question. */
  constructor(agent: string, task: Task, parts: readonly Part[]) {
    [this.#agent, this.#task, this.#parts] = [agent, task, parts];
  }

  /** True if this is the same answer, so that the server has it at most once. */
  isOf(parts: readonly Part[]): boolean {
    return JSON.stringify(parts) === JSON.stringify(this.#parts);
  }

  /** Sends the answer, and returns the task after it. @throws {Problem} */
  async send(): Promise<Task | undefined> {
    const { id, contextId } = this.#task;
    const endpoint = localEndpoint(this.#agent);
    this.#generation ??= await this.#open(id);
    const message = { messageId: this.#messageId, role: "ROLE_USER", parts: this.#parts, taskId: id, ...(contextId === undefined ? {} : { contextId }) };
    const headers = this.#generation === 0 ? {} : { "if-generation-match": String(this.#generation) };
    try {
      const { task } = await endpoint.call<SendMessageResponse>("SendMessage", { message, configuration: { returnImmediately: true } }, { headers });
      return task;
    } catch (error) {
      throw error instanceof Problem && error.reason === MISMATCH ? new AnsweredMeanwhile() : error;
    }
  }

  /** The generation at which the shown question is open; 0 if the agent does not tell generations. @throws {Problem} if it is not open. */
  async #open(id: string): Promise<number> {
    const options = { headers: { "a2a-extensions": GENERATION_EXTENSION } };
    const now = await localEndpoint(this.#agent).call<Task>("GetTask", { id, historyLength: 0 }, options);
    const { state, timestamp } = this.#task.status;
    if (!isWaiting(now.status.state) || now.status.state !== state || now.status.timestamp !== timestamp) throw new AnsweredMeanwhile();
    return generationOf(now);
  }
}
