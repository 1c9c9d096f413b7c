// An executor of the soak and of the end-to-end tests. It does the jobs of its message one after the other: steps, texts in pieces, waits, callbacks, and messages to other agents.
import { Failure, executor, type Json, type Turn } from "a2a-edge";
import { BEGINNING, textId, type Job, type Plan, type Post } from "./jobs.ts";

/** The table `[executor.chain]`: the server of the requests. */
interface Settings {
  url: string;
}

const settings = {
  "~standard": {
    version: 1 as const,
    vendor: "tests",
    validate(value: unknown) {
      const { url } = value as Partial<Settings>;
      return typeof url === "string" ? { value: { url } } : { issues: [{ message: "must be a URL", path: ["url"] }] };
    },
  },
};

export const chain = executor<Settings>({
  settings,
  async execute(turn) {
    const plan = turn.data as unknown as Plan;
    const run = crypto.randomUUID();
    const values: Json[] = [];
    for (const [index, job] of plan.jobs.entries()) {
      const place = plan.first + index;
      turn.working(`job ${place}`);
      values.push(await perform(new Work(turn, plan, place, run), job));
    }
    if (!plan.asks) return { data: values };
    turn.artifact({ data: values }, { id: "so-far" });
    return turn.ask("And now?");
  },
});

function perform(work: Work, job: Job): Promise<Json> {
  switch (job.do) {
    case "step":
      return work.step("step");
    case "steps":
      return Promise.all(Array.from({ length: job.count }, (_, index) => work.step(`part ${index + 1}`)));
    case "write":
      return work.write(job.pieces, job.pauseMs);
    case "wait":
      return work.turn.wait(job.ms);
    case "callback":
      return work.called();
    case "remote":
      return work.answered(job.agent, job.steps);
  }
}

/** The job at a place. */
class Work {
  readonly turn: Turn<Settings>;
  readonly #plan: Plan;
  readonly #place: number;
  readonly #run: string;

  constructor(turn: Turn<Settings>, plan: Plan, place: number, run: string) {
    this.turn = turn;
    this.#plan = plan;
    this.#place = place;
    this.#run = run;
  }

  /** A step that posts to the server. Gives the nonce of the request. */
  step(name: string, more: Partial<Post> = {}): Promise<string> {
    return this.turn.step(name, async ({ idempotencyKey }) => {
      const post: Post = { task: this.turn.taskId, place: this.#place, nonce: crypto.randomUUID(), run: this.#run, ...more };
      const headers = { "idempotency-key": idempotencyKey };
      const url = `${this.turn.settings.url}/${this.#plan.name}/${this.#place}/${encodeURIComponent(name)}`;
      const answer = await this.turn.fetch(url, { method: "POST", headers, body: JSON.stringify(post) });
      if (!answer.ok) throw new Failure(`the server answered ${answer.status}`, { fault: "upstream" });
      await answer.text();
      return post.nonce;
    });
  }

  /** Writes a text that begins alike in each attempt, and whose further pieces have a nonce, so that those of two attempts differ. */
  write(pieces: number, pauseMs: number): Promise<string> {
    const nonce = crypto.randomUUID();
    const source = async (out: { write(piece: string): void }): Promise<void> => {
      out.write(BEGINNING);
      // Pieces of one turn of the event loop become one event.
      await this.turn.sleep(10);
      for (let piece = 1; piece <= pieces; piece += 1) {
        await this.turn.sleep(pauseMs);
        out.write(`<${nonce}: ${piece} of ${pieces}>`);
      }
    };
    return this.turn.write(source, { id: textId(this.#place) });
  }

  /** What was posted to a callback. */
  async called(): Promise<Json> {
    const news = this.turn.callback("news", { within: "10 minutes" });
    await this.step("tell", { notify: news.url });
    const called = await news.wait("5 minutes");
    if (called.by === "time") throw new Failure("nobody has posted within five minutes");
    return "text" in called.body ? called.body.text : "no text";
  }

  /** What an agent has answered that was told to do steps. */
  async answered(agent: string, steps: number): Promise<Json> {
    const path = `/${this.#plan.name}-${this.#place}`;
    const { outcome, text } = await this.turn.remote(agent as never).send(`steps ${steps} every 20 ${this.turn.settings.url}${path}`);
    if (outcome !== "completed") throw new Failure(`${agent}: ${outcome} ${text}`, { fault: "upstream" });
    return text;
  }
}
